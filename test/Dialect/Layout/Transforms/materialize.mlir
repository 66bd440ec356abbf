// Check that a decision written by hand is applied unchanged.
// RUN: layout-opt %s -layout-materialize | FileCheck %s

#columns = #layout.map<(i, j) -> buffer(j, i)>
#tiles = #layout.blocked<"IJ" to "IJ4j">

// One conversion for both users, right after the value; family attributes
// resolve to the map.
// CHECK: #[[BA:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-LABEL: func @convert_once
// CHECK-SAME: %[[X:.*]]: tensor<6x8xf32>
// CHECK-NEXT: %[[C:.*]] = layout.convert %[[X]] : tensor<6x8xf32> to tensor<6x8xf32, #[[BA]]>
// CHECK-NEXT: %[[A:.*]] = math.absf %[[C]] : tensor<6x8xf32, #[[BA]]>
// CHECK-NEXT: %[[B:.*]] = math.exp %[[C]] : tensor<6x8xf32, #[[BA]]>
// CHECK-NEXT: %[[D:.*]] = layout.convert %[[B]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]] : tensor<6x8xf32, #[[BA]]>
// CHECK-NEXT: %[[E:.*]] = layout.convert %[[S]]
// CHECK-NEXT: return %[[E]], %[[D]]
func.func @convert_once(%x: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %a = math.absf %x {layout.operand_layouts = [#columns], layout.result_layouts = [#columns]} : tensor<6x8xf32>
  %b = math.exp %x {layout.operand_layouts = [#columns], layout.result_layouts = [#columns]} : tensor<6x8xf32>
  %s = arith.addf %a, %b {layout.operand_layouts = [#columns, #columns], layout.result_layouts = [#columns]} : tensor<6x8xf32>
  return %s, %b : tensor<6x8xf32>, tensor<6x8xf32>
}

// New storage is created in the required layout, once per layout; the plain
// storage stays for the user that needs it.
// CHECK-LABEL: func @sources
// CHECK-NOT: layout.convert
// CHECK: %[[F:.*]] = linalg.fill {{.*}} -> tensor<6x8xf32>{{$}}
// CHECK-NOT: layout.convert
// CHECK: linalg.fill {{.*}} -> tensor<6x8xf32, #[[BA]]>
// CHECK: return %[[F]]
func.func @sources(%v: f32, %y: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %e = tensor.empty() : tensor<6x8xf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %a = math.absf %f {layout.operand_layouts = [#columns], layout.result_layouts = [#columns]} : tensor<6x8xf32>
  %b = math.exp %a {layout.operand_layouts = [#columns], layout.result_layouts = [#columns]} : tensor<6x8xf32>
  return %f, %b : tensor<6x8xf32>, tensor<6x8xf32>
}

// CHECK-LABEL: func @constant
// CHECK: %[[K:.*]] = arith.constant dense<1.0
// CHECK-NEXT: layout.convert %[[K]]
func.func @constant() -> tensor<6x8xf32> {
  %k = arith.constant dense<1.0> : tensor<6x8xf32>
  %a = math.absf %k {layout.operand_layouts = [#tiles], layout.result_layouts = [#tiles]} : tensor<6x8xf32>
  return %a : tensor<6x8xf32>
}
