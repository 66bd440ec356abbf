// RUN: layout-opt %s -split-input-file --npu-slice-dynamic-batch --canonicalize | FileCheck %s
// Check that a program over a dynamic batch becomes a program for one index if all indices are independent, regardless
// of the dim that is the batch.

// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%{{.*}}: tensor<1x8xf32> {npu.slice}, %{{.*}}: tensor<8x4xf32>) -> (tensor<1x4xf32> {npu.slice})
// CHECK: linalg.matmul ins({{.*}} : tensor<1x8xf32>, tensor<8x4xf32>) outs({{.*}} : tensor<1x4xf32>)
// CHECK-NOT: ?
func.func @rows(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x4xf32> {
  %i = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %i : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Five rows per index, which are transposed and back.

// CHECK-LABEL: func.func @collapsed
// CHECK-SAME: (%[[X:.*]]: tensor<1x5x8xf32> {npu.slice}) -> (tensor<5x8xf32> {npu.slice})
// CHECK: tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<1x5x8xf32> into tensor<5x8xf32>
// CHECK: linalg.transpose ins({{.*}} : tensor<5x8xf32>) outs({{.*}} : tensor<8x5xf32>)
// CHECK: linalg.exp ins({{.*}} : tensor<8x5xf32>)
// CHECK-NOT: ?
func.func @collapsed(%x: tensor<?x5x8xf32>) -> tensor<?x8xf32> {
  %i = arith.constant 0 : index
  %five = arith.constant 5 : index
  %n = tensor.dim %x, %i : tensor<?x5x8xf32>
  %rows = arith.muli %n, %five : index
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x5x8xf32> into tensor<?x8xf32>
  %e = tensor.empty(%rows) : tensor<8x?xf32>
  %t = linalg.transpose ins(%c : tensor<?x8xf32>) outs(%e : tensor<8x?xf32>) permutation = [1, 0]
  %y = linalg.exp ins(%t : tensor<8x?xf32>) outs(%e : tensor<8x?xf32>) -> tensor<8x?xf32>
  %g = tensor.empty(%rows) : tensor<?x8xf32>
  %r = linalg.transpose ins(%y : tensor<8x?xf32>) outs(%g : tensor<?x8xf32>) permutation = [1, 0]
  return %r : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%{{.*}}: tensor<1x8xf32> {npu.slice}) -> (tensor<1x2x5xf32> {npu.slice})
// CHECK: tensor.extract_slice {{.*}} : tensor<1x8xf32> to tensor<1x3xf32>
// CHECK: tensor.concat dim(1) {{.*}} -> tensor<1x6xf32>
// CHECK: tensor.pad
// CHECK: tensor.expand_shape {{.*}} : tensor<1x10xf32> into tensor<1x2x5xf32>
// CHECK-NOT: ?
func.func @parts(%x: tensor<?x8xf32>) -> tensor<?x2x5xf32> {
  %i = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %i : tensor<?x8xf32>
  %a = tensor.extract_slice %x[0, 1] [%n, 3] [1, 1] : tensor<?x8xf32> to tensor<?x3xf32>
  %b = tensor.concat dim(1) %a, %a : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x6xf32>
  %p = tensor.pad %b low[0, 1] high[0, 3] {
    ^bb0(%j: index, %k: index):
      tensor.yield %zero : f32
  } : tensor<?x6xf32> to tensor<?x10xf32>
  %r = tensor.expand_shape %p [[0], [1, 2]] output_shape [%n, 2, 5] : tensor<?x10xf32> into tensor<?x2x5xf32>
  return %r : tensor<?x2x5xf32>
}

// -----

// A row of each index is inserted into a new dim.

// CHECK-LABEL: func.func @inserted
// CHECK: tensor.insert_slice {{.*}} : tensor<1xf32> into tensor<3x1xf32>
// CHECK-NOT: ?
func.func @inserted(%x: tensor<?xf32>) -> tensor<?x3xf32> {
  %i = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %i : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<3x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x?xf32>) -> tensor<3x?xf32>
  %s = tensor.insert_slice %x into %f[1, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<3x?xf32>
  %g = tensor.empty(%n) : tensor<?x3xf32>
  %r = linalg.transpose ins(%s : tensor<3x?xf32>) outs(%g : tensor<?x3xf32>) permutation = [1, 0]
  return %r : tensor<?x3xf32>
}

// -----

// Sizes as an import computes them: as i64, the maximum of two equal sizes, and comparisons of equal sizes. A body that
// reads the first index, if there is only one, reads its own index.

// CHECK-LABEL: func.func @imported
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x8xf32> {npu.slice}) -> (tensor<1x4x8xf32> {npu.slice})
// CHECK: linalg.exp
// CHECK: %[[S:.*]] = tensor.expand_shape
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[S]] : tensor<1x4x8xf32>, tensor<1x4x8xf32>)
// CHECK-NOT: tensor.extract
// CHECK-NOT: ?
// CHECK: return
func.func @imported(%x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %four = arith.constant 4 : index
  %zero = arith.constant 0 : i64
  %less = arith.constant -1 : i64
  %n = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %wide = arith.index_cast %n : index to i64
  %is = arith.cmpi sge, %wide, %zero : i64
  cf.assert %is, "no negative size"
  %other = arith.cmpi ne, %wide, %less : i64
  cf.assert %other, "a size"
  %again = arith.index_cast %wide : i64 to index
  %larger = arith.maxui %n, %again : index
  %smaller = arith.minsi %larger, %again : index
  %twice = arith.addi %n, %smaller : index
  %rows = arith.addi %twice, %twice : index
  %e = tensor.empty(%rows) : tensor<?x8xf32>
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  %y = linalg.exp ins(%c : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %half = arith.divui %rows, %four : index
  %s = tensor.expand_shape %y [[0, 1], [2]] output_shape [%half, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  %f = tensor.empty(%n) : tensor<?x4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x4x8xf32>) outs(%f : tensor<?x4x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %isOne = arith.cmpi eq, %n, %c1 : index
    %at = arith.select %isOne, %c0, %a : index
    %w = tensor.extract %s[%at, %b, %four] : tensor<?x4x8xf32>
    %t = arith.mulf %v, %w : f32
    linalg.yield %t : f32
  } -> tensor<?x4x8xf32>
  return %r : tensor<?x4x8xf32>
}

// -----

// The maximum of two sizes is the size of five rows per index.

// CHECK-LABEL: func.func @larger
// CHECK-SAME: (%{{.*}}: tensor<1x5x8xf32> {npu.slice}) -> (tensor<5x8xf32> {npu.slice})
// CHECK: linalg.exp ins({{.*}} : tensor<5x8xf32>) outs({{.*}} : tensor<5x8xf32>)
// CHECK-NOT: ?
func.func @larger(%x: tensor<?x5x8xf32>) -> tensor<?x8xf32> {
  %i = arith.constant 0 : index
  %five = arith.constant 5 : index
  %n = tensor.dim %x, %i : tensor<?x5x8xf32>
  %rows = arith.muli %n, %five : index
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x5x8xf32> into tensor<?x8xf32>
  %larger = arith.maxsi %n, %rows : index
  %e = tensor.empty(%larger) : tensor<?x8xf32>
  %y = linalg.exp ins(%c : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Static sizes stay.

// CHECK-LABEL: func.func @known(%{{.*}}: tensor<2x8xf32>) -> tensor<2x8xf32>
func.func @known(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  return %x : tensor<2x8xf32>
}
