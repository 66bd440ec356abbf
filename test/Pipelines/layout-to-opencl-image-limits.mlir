// Check that a stated image that no device of the target supports is an error with its size, the limit of the target,
// and a remedy.

// REQUIRES: target-opencl
// RUN: not layout-opt %s --layout-to-opencl='target={#layout.opencl}' 2>&1 | FileCheck %s

#img = #layout.rgba_image<in_out_channel, "NCHW">
func.func @main(%x: tensor<1x4x8x40000xf32>) -> tensor<1x4x8x40000xf32> {
  // CHECK: layout-to-opencl-image-limits.mlir:[[#@LINE+1]]:8: error: {{.*}} is an image of 40000 x 8 pixels, but the target supports at most 8192 x 8192; choose another image map, or a buffer
  %c = layout.convert %x : tensor<1x4x8x40000xf32> to tensor<1x4x8x40000xf32, #img>
  %e = tensor.empty() : tensor<1x4x8x40000xf32, #img>
  %y = linalg.exp ins(%c : tensor<1x4x8x40000xf32, #img>) outs(%e : tensor<1x4x8x40000xf32, #img>) -> tensor<1x4x8x40000xf32, #img>
  %r = layout.convert %y : tensor<1x4x8x40000xf32, #img> to tensor<1x4x8x40000xf32>
  return %r : tensor<1x4x8x40000xf32>
}
