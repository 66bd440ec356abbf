// RUN: layout-opt %s --layout-mesh-export-shardings | FileCheck %s

// Check that a product with a split reduction is annotated with the sharding of its reduced result.

#k = #layout.mesh<[a0 = 4], [[], [a0]]>
#rows = #layout.mesh<[a0 = 4], [[a0], []]>
#whole = #layout.mesh<[a0 = 4], [[], []]>
#parts = #layout.partial<#whole, sum, [a0]>

// CHECK-LABEL: func.func @product(
// CHECK: %[[SUM:.*]] = linalg.matmul
// CHECK-SAME: -> tensor<3x5xf32>
// CHECK: %[[ALL:.*]] = shard.sharding @mesh split_axes = {{\[\[}}], []]
// CHECK: %[[TO:.*]] = shard.shard %[[SUM]] to %[[ALL]] : tensor<3x5xf32>
// CHECK: return %[[TO]]
func.func @product(%a: tensor<3x8xf32, #k>, %b: tensor<8x5xf32, #rows>) -> tensor<3x5xf32, #whole> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x5xf32, #parts>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x5xf32, #parts>) -> tensor<3x5xf32, #parts>
  %sum = linalg.matmul ins(%a, %b : tensor<3x8xf32, #k>, tensor<8x5xf32, #rows>) outs(%init : tensor<3x5xf32, #parts>) -> tensor<3x5xf32, #parts>
  %0 = layout.convert %sum : tensor<3x5xf32, #parts> to tensor<3x5xf32, #whole>
  return %0 : tensor<3x5xf32, #whole>
}
