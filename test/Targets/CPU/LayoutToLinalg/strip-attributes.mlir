// RUN: layout-opt %s --split-input-file --layout-strip-attributes --verify-diagnostics | FileCheck %s

// Check that named ops that compute become generic ops, while copies, fills and
// reductions keep their names. Attributes of decisions are removed.
// CHECK-NOT: layout.
// CHECK-LABEL: func.func @named
// CHECK-SAME: (%arg0: tensor<4x4xf32> {other.name = 1 : i64}, %{{.*}}: tensor<4x4xf32>)
// CHECK-NOT: linalg.add
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.fill
// CHECK: linalg.matmul
// CHECK: linalg.transpose
// CHECK: linalg.copy
module attributes {layout.assignment = {cost = 1 : i64}} {
  func.func @named(%x: tensor<4x4xf32> {layout.flexible_abi, other.name = 1 : i64}, %y: tensor<4x4xf32>)
      -> (tensor<4x4xf32> {layout.flexible_abi}) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x4xf32>
    %0 = linalg.add {layout.operand_layouts = []} ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = linalg.exp ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = linalg.matmul ins(%1, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = linalg.transpose ins(%2 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
    %4 = linalg.copy ins(%3 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %4 : tensor<4x4xf32>
  }
}

// -----

#nc4 = #layout.blocked<"NC" to "NC4c">

// expected-error @+1 {{'func.func' op has #layout.blocked<"NC" to "NC4c"> left, which no other compiler supports}}
func.func @left(%x: tensor<1x8xf32, #nc4>) -> tensor<1x8xf32> {
  // expected-error @+1 {{'layout.convert' op remains, which no other compiler supports}}
  %0 = layout.convert %x : tensor<1x8xf32, #nc4> to tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
