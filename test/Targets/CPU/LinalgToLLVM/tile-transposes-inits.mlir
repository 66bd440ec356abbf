// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-cpu-bufferize,func.func(layout-cpu-tile-transposes),canonicalize)" | FileCheck %s

// A transposition overwrites its whole result, so the previous elements are not
// needed, but other readers of them still are.
// CHECK-LABEL: func.func @init_that_others_read
// CHECK: %[[INIT:.*]] = memref.alloc
// CHECK: linalg.fill {{.*}} outs(%[[INIT]]
// CHECK: %[[FRESH:.*]] = memref.alloc
// CHECK: %[[RESULT:.*]] = memref.reinterpret_cast %[[FRESH]]
// CHECK: vector.store %{{.*}}, %[[RESULT]]
// CHECK: return %[[FRESH]], %[[INIT]]
func.func @init_that_others_read(%x: tensor<8x8xf32>, %v: f32) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%v : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.transpose ins(%x : tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) permutation = [1, 0]
  return %r, %init : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// The memory of an argument is not overwritten either, as entry points require.
// CHECK-LABEL: func.func @argument
// CHECK: %[[FRESH:.*]] = memref.alloc
// CHECK: %[[RESULT:.*]] = memref.reinterpret_cast %[[FRESH]]
// CHECK: vector.store %{{.*}}, %[[RESULT]]
// CHECK: return %[[FRESH]]
func.func @argument(%x: tensor<8x8xf32>, %init: tensor<8x8xf32> {bufferization.writable = false}) -> tensor<8x8xf32> {
  %r = linalg.transpose ins(%x : tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) permutation = [1, 0]
  return %r : tensor<8x8xf32>
}

// -----

// A diagonal is not a transposition, and neither is an op that repeats
// elements.
// CHECK-LABEL: func.func @no_copies
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: vector
func.func @no_copies(%x: tensor<8x8x8xf32>, %y: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j, i)>, affine_map<(i, j) -> (j, i)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  %f = tensor.empty() : tensor<8x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  return %r, %s : tensor<8x8xf32>, tensor<8x8xf32>
}
