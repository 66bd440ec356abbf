// Check that layout-prepare-for-npu is the part of layout-to-npu before the layout assignment, also on a chip on which
// the product is split.

// REQUIRES: target-npu
// RUN: layout-opt %s --layout-to-npu -o %t.whole.mlir
// RUN: layout-opt %s --layout-prepare-for-npu -o %t.prepared.mlir
// RUN: FileCheck %s < %t.prepared.mlir
// RUN: layout-opt %t.prepared.mlir --layout-assign --convert-layout-to-npu --npu-spill-tensors --npu-order-constants --npu-overlap-transfers --npu-compute-moves --npu-assign-addresses -o %t.parts.mlir
// RUN: diff %t.whole.mlir %t.parts.mlir

// CHECK-NOT: npu_scatter
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: npu_scatter
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 3072, eu_bytes = 32>>} {
  func.func @main(%x: tensor<64x16xf32>, %y: tensor<16x32xf32>) -> tensor<64x32xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<64x32xf32>
    %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
    %r = linalg.matmul ins(%x, %y : tensor<64x16xf32>, tensor<16x32xf32>) outs(%start : tensor<64x32xf32>) -> tensor<64x32xf32>
    return %r : tensor<64x32xf32>
  }
}
