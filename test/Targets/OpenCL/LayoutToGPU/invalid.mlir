// Check the errors of the lowering to GPU kernels.
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
  // expected-error @+1 {{images have no channel type for f64, only for f32 (CL_FLOAT), f16 (CL_HALF_FLOAT), i8, i16 or i32 (CL_SIGNED_INT); keep it in a buffer}}
  %y = layout.convert %x : tensor<1x3x4x5xf64> to tensor<1x3x4x5xf64, #layout.rgba_image<in_out_channel>>
  %z = layout.convert %y : tensor<1x3x4x5xf64, #layout.rgba_image<in_out_channel>> to tensor<1x3x4x5xf64>
  return %z : tensor<1x3x4x5xf64>
}

// -----

func.func @lanes(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{does not put 4 lanes into a pixel; choose one that does, such as #layout.rgba_image, or a buffer}}
  %y = layout.convert %x : tensor<6xf32> to tensor<6xf32, #layout.map<(a) -> image2d(x = a floordiv 2, y = 0, lane = a mod 2)>>
  %z = layout.convert %y : tensor<6xf32, #layout.map<(a) -> image2d(x = a floordiv 2, y = 0, lane = a mod 2)>> to tensor<6xf32>
  return %z : tensor<6xf32>
}

// -----

func.func @element(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'arith.truncf' cannot become a kernel that computes 'tensor<3xbf16>': device memory does not support elements of type bf16, only f16, f32, f64, i8, i16, i32 or i64; convert them to one of these on the host}}
  %y = arith.truncf %x : tensor<3xf32> to tensor<3xbf16>
  %z = layout.convert %y : tensor<3xbf16> to tensor<3xbf16, #layout.blocked<"A" to "A2a">>
  %w = arith.extf %z : tensor<3xbf16, #layout.blocked<"A" to "A2a">> to tensor<3xf32, #layout.blocked<"A" to "A2a">>
  %r = layout.convert %w : tensor<3xf32, #layout.blocked<"A" to "A2a">> to tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// Storage does not determine how many of the 4 * n channels exist.
func.func @sizes(%x: tensor<1x?x4x5x4xf32>) -> tensor<1x?x4x5xf32> {
  // expected-error @+1 {{its sizes do not follow from its storage; make them static, or pass the logical tensor and convert it}}
  %y = layout.storage_view %x : tensor<1x?x4x5x4xf32> to tensor<1x?x4x5xf32, #layout.blocked<"NCHW" to "NCHW4c">>
  %z = layout.convert %y : tensor<1x?x4x5xf32, #layout.blocked<"NCHW" to "NCHW4c">> to tensor<1x?x4x5xf32>
  return %z : tensor<1x?x4x5xf32>
}

// -----

func.func @scatter(%x: tensor<4xf32>, %to: tensor<6xf32>, %at: tensor<4x1xi32>) -> tensor<6xf32> {
  %v = tensor.expand_shape %x [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  // expected-error @+1 {{'tensor.scatter' cannot become a kernel that computes 'tensor<6xf32>': no kernel supports this op; rewrite it with ops that kernels support}}
  %s = tensor.scatter %v into %to[%at] scatter_dims([0]) unique : (tensor<4x1xf32>, tensor<6xf32>, tensor<4x1xi32>) -> tensor<6xf32>
  return %s : tensor<6xf32>
}

// -----

// expected-error @+1 {{'far' is only declared, but takes or returns tensors with layouts, which its definition cannot expect; declare it on plain tensors}}
func.func private @far(tensor<1x3x4x5xf32, #layout.rgba_image<in_out_channel>>)

// -----

// expected-error @+1 {{'unranked' has the type 'tensor<*xf32>', which has no size in memory; give it a rank}}
func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}

// -----

// An image that the target does not support is an error, also if it was stated.
module attributes {layout.target = #layout.opencl<image2d_max_width = 16384, image2d_max_height = 16384>} {
  func.func @limit(%x: tensor<1x760x1352x64xf32>) -> tensor<1x760x1352x64xf32> {
    // expected-error @+1 {{is an image of 21632 x 760 pixels, but the target supports at most 16384 x 16384; choose another image map, or a buffer}}
    %y = layout.convert %x : tensor<1x760x1352x64xf32> to tensor<1x760x1352x64xf32, #layout.rgba_image<in_out_channel>>
    %z = layout.convert %y : tensor<1x760x1352x64xf32, #layout.rgba_image<in_out_channel>> to tensor<1x760x1352x64xf32>
    return %z : tensor<1x760x1352x64xf32>
  }
}

// -----

// expected-error @+1 {{'layout.target' is 7 : i64: it must be a target, such as #layout.cpu<lanes = 16>}}
module attributes {layout.target = 7} {
}

// -----

// expected-error @+1 {{'layoutClLaunch' is a name of the OpenCL runtime; rename the function}}
func.func @layoutClLaunch(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Pipelines verify their input; this size may be the result of folding.

func.func @less_than_nothing() -> tensor<4x?xf32> {
  %size = arith.constant -1 : index
  // expected-error @+1 {{'tensor.empty' op takes -1 elements of dim 1, but a size is at least 0; correct the constant}}
  %0 = tensor.empty(%size) : tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
