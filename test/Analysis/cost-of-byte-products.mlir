// Check that a sum of i8 products counts by words of four bytes: 2 operations for each with AVX-512 VNNI, else 8.
//
// RUN: sed 's/PARAMS/vector_bits = 512, dot_product_bytes = 4/' %s > %t.vnni.mlir
// RUN: layout-opt %t.vnni.mlir --split-input-file -layout-print-cost -o %t | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: sed 's/PARAMS/vector_bits = 512, two_source_permute_bytes = 1/' %s > %t.pairs.mlir
// RUN: layout-opt %t.pairs.mlir --split-input-file -layout-print-cost -o %t | FileCheck %s --check-prefixes=CHECK,PAIRS

#target = #layout.cpu<lanes = 16, flops_per_byte = 1, PARAMS>

// 8 x 16 x 17 words, the last of which has one byte of 65. Reads are 520 + 1040 bytes, and results are read and written.
// VNNI: ops: 1, cost 6936
// PAIRS: ops: 1, cost 19992
module attributes {layout.target = #target} {
func.func @words(%x: tensor<8x65xi8>, %y: tensor<65x16xi8>, %e: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %r = linalg.matmul ins(%x, %y : tensor<8x65xi8>, tensor<65x16xi8>) outs(%e : tensor<8x16xi32>) -> tensor<8x16xi32>
  return %r : tensor<8x16xi32>
}
}

// -----

#target = #layout.cpu<lanes = 16, flops_per_byte = 1, PARAMS>

// Four operations for each of 8 x 16 x 2 products: reductions of two elements are not grouped.
// CHECK: ops: 1, cost 2096
module attributes {layout.target = #target} {
func.func @short(%x: tensor<8x2xi8>, %y: tensor<2x16xi8>, %e: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %r = linalg.matmul ins(%x, %y : tensor<8x2xi8>, tensor<2x16xi8>) outs(%e : tensor<8x16xi32>) -> tensor<8x16xi32>
  return %r : tensor<8x16xi32>
}
}

// -----

#target = #layout.cpu<lanes = 16, flops_per_byte = 1, PARAMS>

// No factor is contiguous along the reduction.
// CHECK: ops: 1, cost 35328
module attributes {layout.target = #target} {
func.func @columns(%x: tensor<64x8xi8>, %y: tensor<64x16xi8>, %e: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                                      affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %y : tensor<64x8xi8>, tensor<64x16xi8>) outs(%e : tensor<8x16xi32>) -> tensor<8x16xi32>
  return %r : tensor<8x16xi32>
}
}
