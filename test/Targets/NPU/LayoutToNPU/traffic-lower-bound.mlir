// RUN: layout-opt %s -split-input-file -verify-diagnostics --npu-tile-and-fuse --remarks-filter=npu --remark-format=emitRemark -o /dev/null
// Check the lower bound of traffic between the memories: elements that results depend on, counted once.

module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 65536, eu_bytes = 32>>} {
// 5 x 5 of 9 x 9 pixels of 8 channels, 4 x 8 weights, 4 x 5 x 5 results.
// expected-remark @below {{Least=1328}}
func.func @strided(%x: tensor<1x8x9x9xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x4x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x8x9x9xf32>, tensor<4x8x1x1xf32>) outs(%f : tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  return %r : tensor<1x4x5x5xf32>
}

// A slice of the argument, and an unused argument.
// expected-remark @below {{Least=48}}
func.func @slice(%x: tensor<4x9xf32>, %y: tensor<100xf32>) -> tensor<2x3xf32> {
  %s = tensor.extract_slice %x[1, 2] [2, 3] [1, 2] : tensor<4x9xf32> to tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.exp ins(%s : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// From the argument to the result without a core; fills load nothing.
// expected-remark @below {{Least=16}}
func.func @moved(%x: tensor<4xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}

// Equal constants count once; a splat loads nothing.
// expected-remark @below {{Least=48}}
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = arith.constant dense<5.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.add ins(%x, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = linalg.add ins(%s, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.mul ins(%t, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
}

// -----

// A window reads whole channels of the image, each of which is on one core, although rows could be distributed over
// cores: the parts fit, and none is split again.
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 128>>} {
// expected-remark @below {{Planned=26000}}
func.func @one_channel(%x: tensor<1x1x34x40xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x32x38xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x32x38xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x32x38xf32>) -> tensor<1x4x32x38xf32>
  // expected-remark @below {{Rows=4}}
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x1x34x40xf32>, tensor<4x1x3x3xf32>) outs(%start : tensor<1x4x32x38xf32>) -> tensor<1x4x32x38xf32>
  return %r : tensor<1x4x32x38xf32>
}
}
