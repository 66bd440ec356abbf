// RUN: layout-opt %s --layout-cpu-check-indices --canonicalize --split-input-file | FileCheck %s

// Check that an index check is a reduction over the loop of the index only, in the type of the data.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[NONE:.*]] = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[TABLE:.*]]: tensor<10x4xf32>, %[[IDS:.*]]: tensor<8xi32>
// CHECK-DAG: %[[SIZE:.*]] = arith.constant 10 : i64
// CHECK-DAG: %[[LAST:.*]] = arith.constant 9 : i32
// CHECK: %[[SIGNS:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[NONE]]], iterator_types = ["reduction"]} ins(%[[IDS]] : tensor<8xi32>) outs(%{{.*}} : tensor<i32>)
// CHECK-NEXT: ^bb0(%[[I:.*]]: i32, %[[O:.*]]: i32):
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[LAST]], %[[I]] : i32
// CHECK-NEXT: %[[SIGN:.*]] = arith.ori %[[I]], %[[LEFT]] : i32
// CHECK-NEXT: %[[OR:.*]] = arith.ori %[[SIGN]], %[[O]] : i32
// CHECK-NEXT: linalg.yield %[[OR]] : i32
// CHECK: %[[SOME:.*]] = tensor.extract %[[SIGNS]][] : tensor<i32>
// CHECK-NEXT: %[[OUTSIDE:.*]] = arith.cmpi slt, %[[SOME]], %{{.*}} : i32
// CHECK-NEXT: scf.if %[[OUTSIDE]] {
// CHECK: %[[MOST:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[NONE]]], iterator_types = ["reduction"]} ins(%[[IDS]] : tensor<8xi32>) outs(%{{.*}} : tensor<i32>)
// CHECK-NEXT: ^bb0(%[[I:.*]]: i32, %[[M:.*]]: i32):
// CHECK-NEXT: %[[L:.*]] = arith.maxui %[[I]], %[[M]] : i32
// CHECK-NEXT: linalg.yield %[[L]] : i32
// CHECK: %[[FOUND:.*]] = tensor.extract %[[MOST]][] : tensor<i32>
// CHECK-NEXT: %[[INDEX:.*]] = arith.extsi %[[FOUND]] : i32 to i64
// CHECK-NEXT: %[[HOLDS:.*]] = arith.cmpi ult, %[[INDEX]], %[[SIZE]] : i64
// CHECK-NEXT: cpu.assert_index %[[HOLDS]], %[[INDEX]], %[[SIZE]] dim 0 node "emb"
// CHECK-NEXT: }
// CHECK-NEXT: linalg.generic
// CHECK-NOT: cpu.assert_index
func.func @rows(%t: tensor<10x4xf32>, %ids: tensor<8xi32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<8xi32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%id: i32, %o: f32):
    %i = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%i, %j] : tensor<10x4xf32>
    linalg.yield %v : f32
  } -> tensor<8x4xf32> loc("emb")
  return %r : tensor<8x4xf32>
}

// -----

// The final index is checked: negative indices are wrapped
// before.
// CHECK-LABEL: func.func @wrapped
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK: arith.cmpi slt
// CHECK: arith.addi
// CHECK: %[[I:.*]] = arith.select
// CHECK: arith.maxui %[[I]], %{{.*}} : i64
// CHECK: cpu.assert_index
// CHECK: linalg.generic
// CHECK-NOT: cpu.assert_index
func.func @wrapped(%t: tensor<10xf32>, %u: tensor<10xf32>, %ids: tensor<8xi64>) -> tensor<8xf32> {
  %zero = arith.constant 0 : i64
  %n = arith.constant 10 : i64
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<8xi64>) outs(%e : tensor<8xf32>) {
  ^bb0(%id: i64, %o: f32):
    %is = arith.cmpi slt, %id, %zero : i64
    %more = arith.addi %id, %n : i64
    %w = arith.select %is, %more, %id : i64
    %i = arith.index_cast %w : i64 to index
    %v = tensor.extract %t[%i] : tensor<10xf32>
    // The same index into a tensor of the same size needs no second check.
    %x = tensor.extract %u[%i] : tensor<10xf32>
    %s = arith.addf %v, %x : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Proven in bounds: by clamps, here and in the producer, by constant tensors,
// by the remainder, by the type, by loops, also for dynamic sizes.
// CHECK-LABEL: func.func @proven
// CHECK-NOT: cpu.assert_index
func.func @proven(%t: tensor<10xf32>, %d: tensor<?xf32>, %b: tensor<256xf32>, %ids: tensor<8xi32>, %u: tensor<8xi8>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %nine = arith.constant 9 : i32
  %n = tensor.dim %d, %c0 : tensor<?xf32>
  %known = arith.constant dense<[9, 0, 3, 4, 5, 9, 1, 2]> : tensor<8xi64>
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<8xi32>
  %clamped = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<8xi32>) outs(%f : tensor<8xi32>) {
  ^bb0(%id: i32, %o: i32):
    %lo = arith.maxsi %id, %zero : i32
    %hi = arith.minsi %lo, %nine : i32
    linalg.yield %hi : i32
  } -> tensor<8xi32>
  %wide = tensor.expand_shape %clamped [[0, 1]] output_shape [2, 4] : tensor<8xi32> into tensor<2x4xi32>
  %flat = tensor.collapse_shape %wide [[0, 1]] : tensor<2x4xi32> into tensor<8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%flat, %known, %ids, %u : tensor<8xi32>, tensor<8xi64>, tensor<8xi32>, tensor<8xi8>) outs(%e : tensor<8xf32>) {
  ^bb0(%id: i32, %k: i64, %any: i32, %byte: i8, %o: f32):
    %i0 = arith.index_cast %id : i32 to index
    %v0 = tensor.extract %t[%i0] : tensor<10xf32>
    %i1 = arith.index_cast %k : i64 to index
    %v1 = tensor.extract %t[%i1] : tensor<10xf32>
    %at = arith.index_cast %any : i32 to index
    %i3 = arith.index_castui %byte : i8 to index
    %v3 = tensor.extract %b[%i3] : tensor<256xf32>
    %l = linalg.index 0 : index
    %v4 = tensor.extract %t[%l] : tensor<10xf32>
    %abs = arith.maxsi %at, %c0 : index
    %i5 = arith.remui %abs, %n : index
    %v5 = tensor.extract %d[%i5] : tensor<?xf32>
    %s0 = arith.addf %v0, %v1 : f32
    %s1 = arith.addf %s0, %v3 : f32
    %s2 = arith.addf %s1, %v4 : f32
    %s3 = arith.addf %s2, %v5 : f32
    linalg.yield %s3 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A nested lookup checks each index, in order. Loops that only linalg.index
// reads are those of the op.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: %[[T:.*]]: tensor<3x4xf32>, %[[IDS:.*]]: tensor<?x2xi32>, %[[J:.*]]: tensor<5xi64>
// CHECK: linalg.generic {{.*}} ins(%[[J]] : tensor<5xi64>)
// CHECK: cpu.assert_index {{.*}} dim 0
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[J]] : tensor<5xi64>)
// CHECK: tensor.extract %[[IDS]]
// CHECK: arith.ori
// CHECK: cpu.assert_index {{.*}} dim 1
// CHECK: linalg.generic
// CHECK-NOT: cpu.assert_index
func.func @nested(%t: tensor<3x4xf32>, %ids: tensor<?x2xi32>, %j: tensor<5xi64>) -> tensor<3x5xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%j : tensor<5xi64>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%in: i64, %o: f32):
    %a = linalg.index 0 : index
    %k = arith.index_cast %in : i64 to index
    %x = tensor.extract %ids[%k, %c0] : tensor<?x2xi32>
    %y = arith.index_cast %x : i32 to index
    %v = tensor.extract %t[%a, %y] : tensor<3x4xf32>
    linalg.yield %v : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// -----

// A read under a condition is checked under that condition.
// CHECK-LABEL: func.func @guarded
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
// CHECK: arith.maxui %[[I]]
// CHECK: cpu.assert_index
func.func @guarded(%t: tensor<10xf32>, %ids: tensor<8xi64>, %go: tensor<8xi1>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids, %go : tensor<8xi64>, tensor<8xi1>) outs(%e : tensor<8xf32>) {
  ^bb0(%id: i64, %is: i1, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %v = scf.if %is -> f32 {
      %x = tensor.extract %t[%i] : tensor<10xf32>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// In loops, the check precedes the access, or the loop if the index is loop-invariant and the loop has iterations.
// CHECK-LABEL: func.func @scatter
// CHECK-SAME: %[[X:.*]]: tensor<10xf32>, %{{.*}}: tensor<?xi64>, %[[K:.*]]: index
// CHECK: %[[KW:.*]] = arith.index_cast %[[K]] : index to i64
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[KW]], %{{.*}} : i64
// CHECK: %[[EMPTY:.*]] = arith.cmpi {{.*}}
// CHECK: %[[HOLDS:.*]] = arith.ori %[[IN]], %[[EMPTY]] : i1
// CHECK: cpu.assert_index %[[HOLDS]], %[[KW]]
// CHECK: scf.for
// CHECK: %[[ID:.*]] = tensor.extract
// CHECK: cpu.assert_index %{{.*}}, %[[ID]], %{{.*}} dim 0
// CHECK: tensor.insert
func.func @scatter(%x: tensor<10xf32>, %ids: tensor<?xi64>, %k: index) -> tensor<10xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<10xf32> {
    %id = tensor.extract %ids[%i] : tensor<?xi64>
    %at = arith.index_cast %id : i64 to index
    %v = tensor.extract %y[%k] : tensor<10xf32>
    %z = tensor.insert %v into %y[%at] : tensor<10xf32>
    scf.yield %z : tensor<10xf32>
  }
  return %r : tensor<10xf32>
}

// -----

// The last index of a slice is checked, too; an empty slice is not an access.
// CHECK-LABEL: func.func @slice
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : i64
// CHECK: %[[FIRST:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: %[[A:.*]] = arith.cmpi ult, %[[FIRST]], %[[C5]]
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST]], %[[C2]]
// CHECK: %[[INDEX:.*]] = arith.select %[[A]], %[[LAST]], %[[FIRST]]
// CHECK: %[[B:.*]] = arith.cmpi ult, %[[LAST]], %[[C5]]
// CHECK: %[[HOLDS:.*]] = arith.andi %[[A]], %[[B]]
// CHECK: cpu.assert_index %[[HOLDS]], %[[INDEX]], %[[C5]] dim 0
// CHECK: tensor.extract_slice
func.func @slice(%x: tensor<5x4xf32>, %at: tensor<i32>) -> tensor<3x4xf32> {
  %id = tensor.extract %at[] : tensor<i32>
  %i = arith.index_cast %id : i32 to index
  %r = tensor.extract_slice %x[%i, 0] [3, 4] [1, 1] : tensor<5x4xf32> to tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// A dim of size 0 has no valid index, but an op without iterations reads none.
// CHECK-LABEL: func.func @empty
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK: %[[HOLDS:.*]] = arith.ori %[[IN]], %[[NONE]] : i1
// CHECK: cpu.assert_index %[[HOLDS]]
func.func @empty(%t: tensor<?xf32>, %ids: tensor<?xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?xf32>) {
  ^bb0(%id: i64, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %v = tensor.extract %t[%i] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
