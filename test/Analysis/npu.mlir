// RUN: layout-opt %s -split-input-file --layout-assign | FileCheck %s
// Layouts for the units of a chip: which loop is spread over them, aligned or
// compact, packed or not, and how wide the channels of a matrix are.

module attributes {layout.target = #layout.target<kind = "npu", lanes = 32, npu = #npu.target<"BM1684">, launch_cost = 4096, flops_per_byte = 32>} {
// Weights are compact and in 2IC-mode, their output channels over the units; the
// data, the result and the bias are aligned and start at one unit.
// CHECK-LABEL: func.func @conv
// CHECK-DAG: layout.convert %{{.*}} to tensor<70x8x3x3xf32, #layout.npu_scatter<compact, start = 0, pack = ic2, axes = "CNHW"
// CHECK-DAG: layout.convert %{{.*}} to tensor<2x8x10x9xf32, #layout.npu_scatter<aligned, start = 0, target
// CHECK-DAG: layout.convert %{{.*}} to tensor<70xf32, #layout.npu_scatter<aligned, start = 0, axes = "C"
// CHECK: linalg.conv_2d_nchw_fchw {{.*}} -> tensor<2x70x8x7xf32, #layout.npu_scatter<aligned, start = 0, target
func.func @conv(%x: tensor<2x8x10x9xf32>, %w: tensor<70x8x3x3xf32>, %b: tensor<70xf32>) -> tensor<2x70x8x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x70x8x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x70x8x7xf32>) -> tensor<2x70x8x7xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x8x10x9xf32>, tensor<70x8x3x3xf32>) outs(%f : tensor<2x70x8x7xf32>) -> tensor<2x70x8x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %b : tensor<2x70x8x7xf32>, tensor<70xf32>) outs(%e : tensor<2x70x8x7xf32>) {
    ^bb0(%a: f32, %s: f32, %o: f32):
      %p = arith.addf %a, %s : f32
      linalg.yield %p : f32
  } -> tensor<2x70x8x7xf32>
  return %r : tensor<2x70x8x7xf32>
}

// Columns in as many channels as there are units, as wide as that asks for.
// CHECK-LABEL: func.func @matmul
// CHECK-DAG: to tensor<128x768xf32, #layout.npu_scatter<matrix 12, start = 0
// CHECK-DAG: to tensor<768x3072xf32, #layout.npu_scatter<matrix 48, start = 0
// CHECK: linalg.matmul {{.*}} -> tensor<128x3072xf32, #layout.npu_scatter<matrix 48, start = 0
func.func @matmul(%x: tensor<128x768xf32>, %w: tensor<768x3072xf32>) -> tensor<128x3072xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x3072xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x3072xf32>) -> tensor<128x3072xf32>
  %r = linalg.matmul ins(%x, %w : tensor<128x768xf32>, tensor<768x3072xf32>) outs(%f : tensor<128x3072xf32>) -> tensor<128x3072xf32>
  return %r : tensor<128x3072xf32>
}

// Heads over the units: nothing goes over the network.
// CHECK-LABEL: func.func @heads
// CHECK: linalg.batch_matmul {{.*}} -> tensor<64x32x32xf32, #layout.npu_scatter<aligned, start = 0, axes = "CHW"
func.func @heads(%x: tensor<64x32x48xf32>, %w: tensor<64x48x32xf32>) -> tensor<64x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32x32xf32>) -> tensor<64x32x32xf32>
  %r = linalg.batch_matmul ins(%x, %w : tensor<64x32x48xf32>, tensor<64x48x32xf32>) outs(%f : tensor<64x32x32xf32>) -> tensor<64x32x32xf32>
  return %r : tensor<64x32x32xf32>
}

}

// -----

// Four batches of bytes in a word each, where transfers start at little cost.
module attributes {layout.target = #layout.target<kind = "npu", lanes = 32, npu = #npu.target<"BM1684">, launch_cost = 1, flops_per_byte = 1>} {
// CHECK-LABEL: func.func @bytes
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x64x7x7xi8, #layout.npu_scatter<aligned, start = 0, pack = n4
func.func @bytes(%x: tensor<8x64x7x7xi8>, %y: tensor<8x64x7x7xi8>) -> tensor<8x64x7x7xi8> {
  %e = tensor.empty() : tensor<8x64x7x7xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<8x64x7x7xi8>, tensor<8x64x7x7xi8>) outs(%e : tensor<8x64x7x7xi8>) {
    ^bb0(%a: i8, %s: i8, %o: i8):
      %p = arith.maxsi %a, %s : i8
      linalg.yield %p : i8
  } -> tensor<8x64x7x7xi8>
  return %r : tensor<8x64x7x7xi8>
}
}
