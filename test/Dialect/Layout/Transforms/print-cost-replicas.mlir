// RUN: layout-opt %s -layout-print-cost='target={#layout.cpu<lanes = 16>}' -o /dev/null | FileCheck %s
// Check the cost of a conversion to storage with replicas, and its steps.

#twice = #layout.map<(i) replicate(r : 2) -> buffer(r, i)>

// CHECK: conversions: 2,
// CHECK: to   #layout.map<(d0) replicate(r0 : 2) -> buffer(r0, d0)>
// CHECK-NEXT: read 16, written 32, runs of 4 bytes
// CHECK-NEXT: element by element: operand 1 of type {{.*}} has replicas
// CHECK: from #layout.map<(d0) replicate(r0 : 2) -> buffer(r0, d0)>
// CHECK: read 16, written 16, runs of
func.func @replicas(%x: tensor<4xf32>) -> (tensor<4xf32, #twice>, tensor<4xf32>) {
  %0 = layout.convert %x : tensor<4xf32> to tensor<4xf32, #twice>
  %1 = layout.convert %0 : tensor<4xf32, #twice> to tensor<4xf32>
  return %0, %1 : tensor<4xf32, #twice>, tensor<4xf32>
}
