// RUN: layout-opt %s --npu-legalize-linalg --canonicalize --split-input-file | FileCheck %s
// Check that rows of a constant at data-dependent positions become a product with ones and zeros.

// CHECK-DAG: #[[ONES:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[TABLE:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @rows
// CHECK: linalg.generic {indexing_maps = [#[[ONES]], #[[TABLE]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-NOT: tensor.extract
func.func @rows(%ids: tensor<4xi32>) -> tensor<4x3xf32> {
  %t = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%at, %j] : tensor<2x3xf32>
    linalg.yield %v : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

// A product with zeros does not give the row if there is an infinity, and a tensor that is not a constant may have one:
// the rows are operands.
// CHECK-LABEL: func.func @infinite
// CHECK-NOT: tensor.extract %
// CHECK-COUNT-2: arith.select
// CHECK-NOT: tensor.extract %
// CHECK: return
func.func @infinite(%ids: tensor<4xi32>, %x: tensor<2xf32>) -> tensor<4xf32> {
  %t = arith.constant dense<[1.0, 0x7F800000]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %v = tensor.extract %t[%at] : tensor<2xf32>
    %w = tensor.extract %x[%at] : tensor<2xf32>
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// With two data-dependent dims, the rows are those of both; a read at a static index is a slice.
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[IDS:.*]]: tensor<4x2xi32>, %[[X:.*]]: tensor<2x3x5x7xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 6] [2, 3, 5, 1] [1, 1, 1, 1] : tensor<2x3x5x7xf32> to tensor<2x3x5xf32>
// CHECK-COUNT-5: arith.select
// CHECK-NOT: arith.select
// CHECK-NOT: tensor.extract %
// CHECK: return
func.func @two(%ids: tensor<4x2xi32>, %x: tensor<2x3x5x7xf32>) -> tensor<4x5xf32> {
  %six = arith.constant 6 : index
  %e = tensor.empty() : tensor<4x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, 0)>, affine_map<(a, b) -> (a, 1)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%ids, %ids : tensor<4x2xi32>, tensor<4x2xi32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%i: i32, %j: i32, %o: f32):
    %first = arith.index_cast %i : i32 to index
    %second = arith.index_cast %j : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %x[%first, %second, %k, %six] : tensor<2x3x5x7xf32>
    linalg.yield %v : f32
  } -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// -----

// More rows than are selected one by one: both halves of the words become f32, and the products become words again.
// CHECK-LABEL: func.func @many(
// CHECK-SAME: %[[IDS:.*]]: tensor<4xi32>, %[[X:.*]]: tensor<65xf32>
// CHECK-NOT: tensor.extract %
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<65xf32>) outs(%{{.*}} : tensor<65xi32>)
// CHECK: arith.shrui %{{.*}}, %c16_i32
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<65xf32>) outs(%{{.*}} : tensor<65xi32>)
// CHECK: arith.shli %{{.*}}, %c16_i32
// CHECK: arith.shrui %{{.*}}, %c16_i32
// CHECK-COUNT-2: ins(%{{.*}}, %{{.*}} : tensor<4x65xf32>, tensor<65xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: arith.shli %{{.*}}, %c16_i32
// CHECK: arith.ori
// CHECK: arith.bitcast %{{.*}} : i32 to f32
// CHECK: return
func.func @many(%ids: tensor<4xi32>, %x: tensor<65xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %v = tensor.extract %x[%at] : tensor<65xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A product with ones and zeros would yield +0 for -0.
// CHECK-LABEL: func.func @negative_zero(
// CHECK: arith.select
func.func @negative_zero(%ids: tensor<4xi32>) -> tensor<4xf32> {
  %t = arith.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %v = tensor.extract %t[%at] : tensor<2xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Two indices are one of the rows that both select, and the loop of an index that
// is one of the table, too, is a batch of the product.
// CHECK-DAG: #[[ONES:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[TABLE:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func.func @two_of_many(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<9x5x13xf32>
// CHECK: arith.mulf %{{.*}}, %cst
// CHECK: arith.addf
// CHECK: linalg.transpose ins(%[[X]] : tensor<9x5x13xf32>) outs(%{{.*}} : tensor<9x13x5xf32>) permutation = [0, 2, 1]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<9x13x5xf32> into tensor<117x5xf32>
// CHECK-COUNT-2: indexing_maps = [#[[ONES]], #[[TABLE]],
func.func @two_of_many(%ids: tensor<4x5xi32>, %x: tensor<9x5x13xf32>) -> tensor<4x5xf32> {
  %e = tensor.empty() : tensor<4x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, 0)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%ids, %ids : tensor<4x5xi32>, tensor<4x5xi32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%i: i32, %j: i32, %o: f32):
    %first = arith.index_cast %i : i32 to index
    %last = arith.index_cast %j : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %x[%first, %k, %last] : tensor<9x5x13xf32>
    linalg.yield %v : f32
  } -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// -----

// No words of 32 bits: not rewritten.
// CHECK-LABEL: func.func @wide(
// CHECK: tensor.extract %
func.func @wide(%ids: tensor<4xi32>, %x: tensor<65xf64>) -> tensor<4xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xi32>) outs(%e : tensor<4xf64>) {
  ^bb0(%id: i32, %o: f64):
    %at = arith.index_cast %id : i32 to index
    %v = tensor.extract %x[%at] : tensor<65xf64>
    linalg.yield %v : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}
