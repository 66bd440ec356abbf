// RUN: layout-opt %s --convert-layout-to-mpi --split-input-file | FileCheck %s
// Check ops on the block of a rank.

// An op without a lowering for blocks runs if all its operands and results are whole.

// CHECK-LABEL: func.func @elements(
// CHECK-SAME: %[[A:.*]]: f32) -> tensor<2xf32>
// CHECK: %[[MADE:.*]] = tensor.from_elements %[[A]], %[[A]] : tensor<2xf32>
// CHECK: return %[[MADE]] : tensor<2xf32>
#all = #layout.mesh<[x = 2], [[]]>
func.func @elements(%a: f32) -> tensor<2xf32, #all> {
  %0 = tensor.from_elements %a, %a : tensor<2xf32, #all>
  return %0 : tensor<2xf32, #all>
}

// -----

// So does a view that is not a reshape.

// CHECK-LABEL: func.func @packs(
// CHECK: linalg.pack %{{.*}} inner_dims_pos = [0] inner_tiles = [2] into %{{.*}} : tensor<8x4xf32> -> tensor<4x4x2xf32>
#all = #layout.mesh<[x = 4], [[], []]>
#tiles = #layout.mesh<[x = 4], [[], [], []]>
func.func @packs(%a: tensor<8x4xf32, #all>, %b: tensor<4x4x2xf32, #tiles>) -> tensor<4x4x2xf32, #tiles> {
  %0 = linalg.pack %a inner_dims_pos = [0] inner_tiles = [2] into %b : tensor<8x4xf32, #all> -> tensor<4x4x2xf32, #tiles>
  return %0 : tensor<4x4x2xf32, #tiles>
}

// -----

// A tensor that all devices store whole is the same tensor, whether its size is static or dynamic.

// CHECK-LABEL: func.func @size_of_whole(
// CHECK: linalg.exp ins(%{{.*}} : tensor<?x4xf32>) outs(%{{.*}} : tensor<8x4xf32>) -> tensor<8x4xf32>
#all = #layout.mesh<[x = 4], [[], []]>
func.func @size_of_whole(%a: tensor<?x4xf32>, %b: tensor<8x4xf32, #all>) -> tensor<8x4xf32, #all> {
  %0 = linalg.exp ins(%a : tensor<?x4xf32>) outs(%b : tensor<8x4xf32, #all>) -> tensor<8x4xf32, #all>
  return %0 : tensor<8x4xf32, #all>
}

// -----

// Blocks that only change their layout are converted by each rank, without messages.

// CHECK-LABEL: func.func @local(
// CHECK-SAME: %[[A:.*]]: tensor<24xf32>
// CHECK: %[[BLOCK:.*]] = tensor.expand_shape %[[A]]
// CHECK: layout.convert %[[BLOCK]] : tensor<4x6xf32> to tensor<4x6xf32, #[[$TILES:.*]]>
// CHECK-NOT: layoutMPI
// CHECK: return
#rows = #layout.mesh<[x = 2], [[x], []]>
#tiles = #layout.mesh<[x = 2], [[x], []], local = #layout.blocked<"AB" to "AB4a">>
func.func @local(%a: tensor<8x6xf32, #rows>) -> tensor<8x6xf32, #tiles> {
  %0 = layout.convert %a : tensor<8x6xf32, #rows> to tensor<8x6xf32, #tiles>
  return %0 : tensor<8x6xf32, #tiles>
}
