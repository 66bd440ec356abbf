// REQUIRES: target-npu
// RUN: layout-opt %s --mlir-print-local-scope -split-input-file --layout-assign | FileCheck %s
// Check layouts for the cores of an NPU, e.g. the loop that is distributed over
// them, aligned or compact, packed or not, and the width of matrix columns.

module attributes {layout.target = #layout.npu<chip = #npu.target<"BM1684">, launch_cost = 4096, flops_per_byte = 32>} {
// Weights are in 2IC mode, with output channels over the cores, each in one
// piece; the data, the result and the bias are aligned and start at the same
// core.
// CHECK-LABEL: func.func @conv
// CHECK-DAG: layout.convert %{{.*}} to tensor<70x8x3x3xf32, #layout.npu_scatter<strided [9, 36, 3, 1], start = 0, pack = ic2, axes = "CNHW"
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

// Columns are stored in as many channels as there are cores, with the width
// that follows.
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

// Heads are distributed over the cores, without traffic between cores.
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

// Four batches of bytes share a word if transfers have a low start cost and short rows cost only their bytes.
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 64, bytes_per_npu = 524288, eu_bytes = 128>, launch_cost = 1, flops_per_byte = 1>} {
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

// -----

module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 8, bytes_per_npu = 1024, eu_bytes = 64>, launch_cost = 1, flops_per_byte = 8>} {
// Rows with overlapping windows are not channels, even though the pooled tensor
// has them over the cores already.
// CHECK-LABEL: func.func @windows
// CHECK: linalg.pooling_nchw_max
// CHECK-NOT: axes = "{{.}}{{.}}C{{.}}"
// CHECK-SAME: -> tensor<1x7x5x4xf32, #layout.npu_scatter
func.func @windows(%x: tensor<7x6x6x1xf32>) -> tensor<1x7x5x4xf32> {
  %low = arith.constant -1.0 : f32
  %w = tensor.empty() : tensor<2x3xf32>
  %t = tensor.empty() : tensor<1x7x6x6xf32>
  %y = linalg.transpose ins(%x : tensor<7x6x6x1xf32>) outs(%t : tensor<1x7x6x6xf32>) permutation = [3, 0, 1, 2]
  %e = tensor.empty() : tensor<1x7x5x4xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x7x5x4xf32>) -> tensor<1x7x5x4xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%y, %w : tensor<1x7x6x6xf32>, tensor<2x3xf32>) outs(%f : tensor<1x7x5x4xf32>) -> tensor<1x7x5x4xf32>
  return %r : tensor<1x7x5x4xf32>
}
}

// -----

module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 3, bytes_per_npu = 2048, eu_bytes = 32>, launch_cost = 256, flops_per_byte = 8>} {
// Operands without dims are loaded into all cores and need memory there.
// CHECK-LABEL: func.func @scalar_operand
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1xi8, #layout.npu_scatter
func.func @scalar_operand(%x: tensor<1xi8>, %y: tensor<i8>) -> tensor<1xi8> {
  %e = tensor.empty() : tensor<1xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<1xi8>, tensor<i8>) outs(%e : tensor<1xi8>) {
    ^bb0(%a: i8, %b: i8, %o: i8):
      %s = arith.addi %a, %b : i8
      linalg.yield %s : i8
  } -> tensor<1xi8>
  return %r : tensor<1xi8>
}

// Every second row of rows over cores is loaded from system memory.
// CHECK-LABEL: func.func @every_other
// CHECK: tensor.extract_slice %{{.*}} : tensor<4x4xf32> to tensor<2x4xf32
func.func @every_other(%x: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %y = tensor.extract_slice %x[0, 0] [2, 4] [2, 1] : tensor<4x4xf32> to tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %r = linalg.exp ins(%y : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
}
