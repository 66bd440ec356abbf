// Check that an image stated by a type is an error on an NPU, because its DMA engine cannot write images.
// RUN: layout-opt %s -layout-print-cost='target={#layout.npu<chip = #npu.target<"BM1684">>}' -o /dev/null | FileCheck %s
// CHECK: 1x8x4x4xf32
// CHECK: the DMA engine has no transfers for it

#image = #layout.map<(n, c, h, w) -> image2d(x = [c floordiv 4, w], y = [n, h], lane = c mod 4)>
func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32, #image> {
  %y = layout.convert %x : tensor<1x8x4x4xf32> to tensor<1x8x4x4xf32, #image>
  return %y : tensor<1x8x4x4xf32, #image>
}
