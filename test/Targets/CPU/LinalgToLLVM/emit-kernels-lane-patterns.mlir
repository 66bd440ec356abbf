// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels),canonicalize,cse)" | FileCheck %s

// Lanes that repeat a pattern of elements: one load of eight elements, from the
// first on or up to the last one, so that no load ends after the row.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c10
// CHECK: %[[EVEN:.*]] = vector.transfer_read %{{.*}}[%[[FIRST]]], {{.*}} vector<8xi32>
// CHECK: vector.shuffle %[[EVEN]], %[[EVEN]] [0, 2, 4, 6, 0, 2, 4, 6]
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c2
// CHECK: %[[ODD:.*]] = vector.transfer_read %{{.*}}[%[[SECOND]]], {{.*}} vector<8xi32>
// CHECK: vector.shuffle %[[ODD]], %[[ODD]] [1, 3, 5, 7, 1, 3, 5, 7]
#even = affine_map<(n, q) -> (n * 10 + (q mod 4) * 2)>
#odd = affine_map<(n, q) -> (n * 10 + (q mod 4) * 2 + 3)>
#all = affine_map<(n, q) -> (n, q)>
func.func @repeated(%x: tensor<40xi32>, %r: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %y = linalg.generic {indexing_maps = [#even, #odd, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : tensor<40xi32>, tensor<40xi32>) outs(%r : tensor<4x8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %n = arith.addi %a, %b : i32
    linalg.yield %n : i32
  } -> tensor<4x8xi32>
  return %y : tensor<4x8xi32>
}

// -----

// The row has no eighth element.
// CHECK-LABEL: func.func @shifted
// CHECK: %[[ROW:.*]] = vector.transfer_read {{.*}} vector<7xi32>
// CHECK: vector.shuffle %[[ROW]], %[[ROW]] [0, 0, 1, 1, 5, 5, 6, 6]
#blocks = affine_map<(q) -> ((q floordiv 4) * 5 + (q mod 4) floordiv 2)>
#row = affine_map<(q) -> (q)>
func.func @shifted(%x: tensor<7xi32>, %r: tensor<8xi32>) -> tensor<8xi32> {
  %y = linalg.generic {indexing_maps = [#blocks, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<7xi32>) outs(%r : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %n = arith.addi %a, %a : i32
    linalg.yield %n : i32
  } -> tensor<8xi32>
  return %y : tensor<8xi32>
}

// -----

// More elements than lanes: a load for each half.
// CHECK-LABEL: func.func @far_apart
// CHECK: %[[LOW:.*]] = vector.transfer_read {{.*}} vector<4xi32>
// CHECK: %[[A:.*]] = vector.shuffle %[[LOW]], %[[LOW]] [0, 2, 1, 3]
// CHECK: %[[HIGH:.*]] = vector.transfer_read {{.*}} vector<4xi32>
// CHECK: %[[B:.*]] = vector.shuffle %[[HIGH]], %[[HIGH]] [0, 2, 1, 3]
// CHECK: vector.shuffle %[[A]], %[[B]] [0, 1, 2, 3, 4, 5, 6, 7]
#halves = affine_map<(q) -> ((q floordiv 4) * 9 + (q mod 2) * 2 + (q mod 4) floordiv 2)>
#line = affine_map<(q) -> (q)>
func.func @far_apart(%x: tensor<20xi32>, %r: tensor<8xi32>) -> tensor<8xi32> {
  %y = linalg.generic {indexing_maps = [#halves, #line], iterator_types = ["parallel"]}
      ins(%x : tensor<20xi32>) outs(%r : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %n = arith.addi %a, %a : i32
    linalg.yield %n : i32
  } -> tensor<8xi32>
  return %y : tensor<8xi32>
}
