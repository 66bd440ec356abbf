// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-tile-transposes),canonicalize,cse)" | FileCheck %s

// Tiles of 8x16: 16 rows in, two squares of 8 rows in 3 rounds, 16 rows out.
// The last tile of 21 starts at 13.
// CHECK-LABEL: func.func @ragged
// CHECK: arith.minsi
// CHECK-COUNT-16: vector.transfer_read {{.*}} vector<8xf32>
// CHECK-COUNT-48: vector.shuffle {{.*}} vector<8xf32>, vector<8xf32>
// CHECK-COUNT-16: vector.transfer_write {{.*}} vector<8xf32>
func.func @ragged(%x: tensor<32x21xf32>) -> tensor<21x32xf32> {
  %e = tensor.empty() : tensor<21x32xf32>
  %r = linalg.transpose ins(%x : tensor<32x21xf32>) outs(%e : tensor<21x32xf32>) permutation = [1, 0]
  return %r : tensor<21x32xf32>
}

// -----

// The fastest dim stays: nothing to transpose in registers.
// CHECK-LABEL: func.func @rows
// CHECK: linalg.transpose
func.func @rows(%x: tensor<4x6x16xf32>) -> tensor<6x4x16xf32> {
  %e = tensor.empty() : tensor<6x4x16xf32>
  %r = linalg.transpose ins(%x : tensor<4x6x16xf32>) outs(%e : tensor<6x4x16xf32>) permutation = [1, 0, 2]
  return %r : tensor<6x4x16xf32>
}

// -----

// CHECK-LABEL: func.func @too_small
// CHECK: linalg.transpose
func.func @too_small(%x: tensor<3x64xf32>) -> tensor<64x3xf32> {
  %e = tensor.empty() : tensor<64x3xf32>
  %r = linalg.transpose ins(%x : tensor<3x64xf32>) outs(%e : tensor<64x3xf32>) permutation = [1, 0]
  return %r : tensor<64x3xf32>
}

// -----

// Positions that are sums of dims: 32 channels in two tiles of 16.
// CHECK-LABEL: func.func @sums
// CHECK-COUNT-16: vector.transfer_read {{.*}} vector<8xf32>
// CHECK: vector.shuffle
// CHECK-COUNT-16: vector.transfer_write {{.*}} vector<8xf32>
// CHECK-NOT: linalg
func.func @sums(%x: tensor<32x8xf32>) -> tensor<2x8x16xf32> {
  %e = tensor.empty() : tensor<2x8x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c1, w, c0) -> (c1 * 16 + c0, w)>, affine_map<(c1, w, c0) -> (c1, w, c0)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<32x8xf32>) outs(%e : tensor<2x8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x8x16xf32>
  return %r : tensor<2x8x16xf32>
}

// -----

// The same element is next on both sides: vectors are copied.
// CHECK-LABEL: func.func @runs
// CHECK-COUNT-1: vector.transfer_read {{.*}} vector<8xf32>
// CHECK-NOT: vector.shuffle
// CHECK: vector.transfer_write {{.*}} vector<8xf32>
// CHECK-NOT: linalg
func.func @runs(%x: tensor<8x32xf32>) -> tensor<2x8x16xf32> {
  %e = tensor.empty() : tensor<2x8x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c1, w, c0) -> (w, c1 * 16 + c0)>, affine_map<(c1, w, c0) -> (c1, w, c0)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<8x32xf32>) outs(%e : tensor<2x8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x8x16xf32>
  return %r : tensor<2x8x16xf32>
}

// -----

// The result is walked in the order in which it lies, whatever the order of the
// terms of a position: 3 rows of 5 first.
// CHECK-LABEL: func.func @order_of_terms
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK: scf.for {{.*}} to %[[C3]]
// CHECK: scf.for {{.*}} to %[[C5]]
// CHECK: vector.shuffle
func.func @order_of_terms(%x: tensor<3x5x8x8xf32>) -> tensor<15x8x8xf32> {
  %e = tensor.empty() : tensor<15x8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (b + a * 5, j, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x5x8x8xf32>) outs(%e : tensor<15x8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<15x8x8xf32>
  return %r : tensor<15x8x8xf32>
}
