// RUN: layout-opt %s --convert-layout-to-linalg | FileCheck-22 %s
// Check that no materialization is left over.
// RUN: layout-opt %s --convert-layout-to-linalg | FileCheck-22 %s --check-prefix=CAST
// CAST-NOT: unrealized_conversion_cast

#c16 = #layout.blocked<"NCW" to "NCW16c">

// CHECK: func.func private @external(tensor<2x2x3x16xf32>) -> tensor<2x2x3x16xf32>
func.func private @external(tensor<2x17x3xf32, #c16>) -> tensor<2x17x3xf32, #c16>

// CHECK-LABEL: func.func private @callee(
// CHECK-SAME: %[[T:.*]]: tensor<2x?x3x16xf32>, %[[C:.*]]: index) -> (tensor<2x?x3x16xf32>, index)
// CHECK: return %[[T]], %[[C]]
func.func private @callee(%x: tensor<2x?x3xf32, #c16>) -> tensor<2x?x3xf32, #c16> {
  return %x : tensor<2x?x3xf32, #c16>
}

// CHECK-LABEL: func.func @caller
// CHECK: call @external(%{{.*}}) : (tensor<2x2x3x16xf32>) -> tensor<2x2x3x16xf32>
// CHECK: %[[R:.*]]:2 = call @callee(%{{.*}}, %{{.*}}) : (tensor<2x?x3x16xf32>, index) -> (tensor<2x?x3x16xf32>, index)
// CHECK: return %{{.*}}, %[[R]]#1
func.func @caller(%x: tensor<2x17x3xf32, #c16>, %y: tensor<2x?x3xf32, #c16>) -> (tensor<2x17x3xf32, #c16>, index) {
  %0 = call @external(%x) : (tensor<2x17x3xf32, #c16>) -> tensor<2x17x3xf32, #c16>
  %1 = call @callee(%y) : (tensor<2x?x3xf32, #c16>) -> tensor<2x?x3xf32, #c16>
  %c1 = arith.constant 1 : index
  %2 = tensor.dim %1, %c1 : tensor<2x?x3xf32, #c16>
  return %0, %2 : tensor<2x17x3xf32, #c16>, index
}

// CHECK-LABEL: func.func @loops
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<2x2x3x16xf32>)
// CHECK: scf.if %{{.*}} -> (tensor<2x2x3x16xf32>)
// CHECK: scf.while {{.*}} : (tensor<2x2x3x16xf32>) -> tensor<2x2x3x16xf32>
func.func @loops(%x: tensor<2x17x3xf32, #c16>, %n: index, %b: i1) -> tensor<2x17x3xf32, #c16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<2x17x3xf32, #c16>) {
    %1 = math.exp %t : tensor<2x17x3xf32, #c16>
    scf.yield %1 : tensor<2x17x3xf32, #c16>
  }
  %2 = scf.if %b -> (tensor<2x17x3xf32, #c16>) {
    scf.yield %0 : tensor<2x17x3xf32, #c16>
  } else {
    scf.yield %x : tensor<2x17x3xf32, #c16>
  }
  %3 = scf.while (%t = %2) : (tensor<2x17x3xf32, #c16>) -> tensor<2x17x3xf32, #c16> {
    scf.condition(%b) %t : tensor<2x17x3xf32, #c16>
  } do {
  ^bb0(%t: tensor<2x17x3xf32, #c16>):
    scf.yield %t : tensor<2x17x3xf32, #c16>
  }
  return %3 : tensor<2x17x3xf32, #c16>
}

// CHECK-LABEL: func.func @blocks
// CHECK: cf.cond_br %{{.*}}, ^bb1(%{{.*}} : tensor<2x2x3x16xf32>), ^bb1(%{{.*}} : tensor<2x2x3x16xf32>)
// CHECK: ^bb1(%{{.*}}: tensor<2x2x3x16xf32>)
func.func @blocks(%x: tensor<2x17x3xf32, #c16>, %y: tensor<2x17x3xf32, #c16>, %b: i1) -> tensor<2x17x3xf32, #c16> {
  cf.cond_br %b, ^bb1(%x : tensor<2x17x3xf32, #c16>), ^bb1(%y : tensor<2x17x3xf32, #c16>)
^bb1(%z: tensor<2x17x3xf32, #c16>):
  return %z : tensor<2x17x3xf32, #c16>
}

// Linalg ops on plain tensors stay, elementwise ops become linalg ops.
// CHECK-LABEL: func.func @plain
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: linalg.generic
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
func.func @plain(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.addf %0, %x : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
