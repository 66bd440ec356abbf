// Check that reductions that differ only in their init are decided separately: a reduction whose init is NaN, or is a
// tensor that was not created for it, has no partial sums. Decided programs can be lowered.

// RUN: layout-opt %s --split-input-file --layout-assign | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-assign --layout-mesh-replicate --layout-verify --convert-layout-to-mpi -o /dev/null

// CHECK-LABEL: func.func @numbers(
// CHECK: linalg.reduce {{.*}} outs({{.*}} : tensor<2xf32, #{{.*}}partial>)
// CHECK: linalg.reduce {{.*}} outs({{.*}} : tensor<2xf32>)
module attributes {layout.target = #layout.mesh_target<axes = [x = 4], device = #layout.cpu<lanes = 4>, byte_cost = [0], message_cost = [0]>} {
  func.func @numbers(%a: tensor<2x640xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %least = arith.constant 0xFF800000 : f32
    %nan = arith.constant 0x7FC00000 : f32
    %e = tensor.empty() : tensor<2xf32>
    %i = linalg.fill ins(%least : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %r = linalg.reduce { arith.maxnumf } ins(%a : tensor<2x640xf32>) outs(%i : tensor<2xf32>) dimensions = [1]
    %f = tensor.empty() : tensor<2xf32>
    %j = linalg.fill ins(%nan : f32) outs(%f : tensor<2xf32>) -> tensor<2xf32>
    %s = linalg.reduce { arith.maxnumf } ins(%a : tensor<2x640xf32>) outs(%j : tensor<2xf32>) dimensions = [1]
    return %r, %s : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// CHECK-LABEL: func.func @fresh(
// CHECK: linalg.matmul {{.*}} -> tensor<2x3xf32, #{{.*}}partial>
// CHECK: linalg.matmul {{.*}} -> tensor<2x3xf32>
module attributes {layout.target = #layout.mesh_target<axes = [x = 4], device = #layout.cpu<lanes = 4>, byte_cost = [0], message_cost = [0]>} {
  func.func @fresh(%a: tensor<2x640xf32>, %b: tensor<640x3xf32>, %c: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x3xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
    %r = linalg.matmul ins(%a, %b : tensor<2x640xf32>, tensor<640x3xf32>) outs(%i : tensor<2x3xf32>) -> tensor<2x3xf32>
    %s = linalg.matmul ins(%a, %b : tensor<2x640xf32>, tensor<640x3xf32>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
    return %r, %s : tensor<2x3xf32>, tensor<2x3xf32>
  }
}
