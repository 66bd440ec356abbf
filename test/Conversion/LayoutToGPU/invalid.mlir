// RUN: layout-opt %s --convert-layout-to-gpu --split-input-file --verify-diagnostics

#sc = #layout.npu_scatter<compact, start = 0, target = #npu.target<npus = 4, eu_bytes = 128, bytes_per_npu = 1024>>
func.func @npu(%x: tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32> {
  // expected-error @+1 {{'layout.convert' cannot become a kernel that computes 'tensor<1x3x4x5xf32, #layout.npu_scatter}}
  %y = layout.convert %x : tensor<1x3x4x5xf32> to tensor<1x3x4x5xf32, #sc>
  %z = layout.convert %y : tensor<1x3x4x5xf32, #sc> to tensor<1x3x4x5xf32>
  return %z : tensor<1x3x4x5xf32>
}

// -----

func.func @channel(%x: tensor<1x3x4x5xf64>) -> tensor<1x3x4x5xf64> {
  // expected-error @+1 {{images have no channel type for f64 (f32, f16, i8, i16 and i32 have one); keep it in a buffer}}
  %y = layout.convert %x : tensor<1x3x4x5xf64> to tensor<1x3x4x5xf64, #layout.rgba_image<in_out_channel>>
  %z = layout.convert %y : tensor<1x3x4x5xf64, #layout.rgba_image<in_out_channel>> to tensor<1x3x4x5xf64>
  return %z : tensor<1x3x4x5xf64>
}

// -----

func.func @size(%x: tensor<?x3x4x5xf32>) -> tensor<?x3x4x5xf32> {
  // expected-error @+1 {{the size of its image is only known when the program runs, and may be more than the device has; keep it in a buffer}}
  %y = layout.convert %x : tensor<?x3x4x5xf32> to tensor<?x3x4x5xf32, #layout.rgba_image<in_out_channel>>
  %z = layout.convert %y : tensor<?x3x4x5xf32, #layout.rgba_image<in_out_channel>> to tensor<?x3x4x5xf32>
  return %z : tensor<?x3x4x5xf32>
}

// -----

func.func @scatter(%x: tensor<4xf32>, %to: tensor<6xf32>, %at: tensor<4x1xi32>) -> tensor<6xf32> {
  %v = tensor.expand_shape %x [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  // expected-error @+1 {{'tensor.scatter' cannot become a kernel that computes 'tensor<6xf32>': no kernel is known for this op; the way out is to rewrite it to ops that kernels know}}
  %s = tensor.scatter %v into %to[%at] scatter_dims([0]) unique : (tensor<4x1xf32>, tensor<6xf32>, tensor<4x1xi32>) -> tensor<6xf32>
  return %s : tensor<6xf32>
}

// -----

// expected-error @+1 {{'far' is only declared and takes or gives laid-out tensors, which its definition elsewhere cannot know; declare it on plain tensors}}
func.func private @far(tensor<1x3x4x5xf32, #layout.rgba_image<in_out_channel>>)

// -----

// expected-error @+1 {{'unranked' has the type 'tensor<*xf32>', which has no size that memory could have; give it a rank}}
func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}
