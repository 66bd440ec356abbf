// RUN: layout-opt %s --layout-prepare-convert-elementwise | FileCheck %s
// RUN: layout-opt %s --layout-prepare-convert-elementwise=all | FileCheck %s --check-prefix=ALL

// Check that an elementwise op becomes a linalg.generic, with any ranks and
// with scalars, and stays if its layouts are stated.

#columns = #layout.map<(d0, d1) -> buffer(d1, d0)>

// CHECK-LABEL: func.func @plain
// CHECK: linalg.generic
// CHECK: arith.cmpf
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}}, %{{.*}} : i1, tensor<?x3xf32>, tensor<?x3xf32>)
// CHECK: arith.select
func.func @plain(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>, %b: i1) -> (tensor<?x3xi1>, tensor<?x3xf32>) {
  %c = arith.cmpf olt, %x, %y : tensor<?x3xf32>
  %s = arith.select %b, %x, %y : tensor<?x3xf32>
  return %c, %s : tensor<?x3xi1>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @scalar
// CHECK-NOT: linalg
// CHECK: return
func.func @scalar(%x: f32) -> f32 {
  %r = math.exp %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @stated
// CHECK: math.exp %{{.*}} : tensor<4x6xf32, #{{.*}}>
// CHECK: math.absf %{{.*}} {layout.operand_layouts = [#{{.*}}]} : tensor<4x6xf32>
// ALL-LABEL: func.func @stated
// ALL: linalg.generic
// ALL: linalg.generic
// ALL: return
func.func @stated(%x: tensor<4x6xf32, #columns>, %y: tensor<4x6xf32>) -> (tensor<4x6xf32, #columns>, tensor<4x6xf32>) {
  %e = math.exp %x : tensor<4x6xf32, #columns>
  %a = math.absf %y {layout.operand_layouts = [#columns]} : tensor<4x6xf32>
  return %e, %a : tensor<4x6xf32, #columns>, tensor<4x6xf32>
}
