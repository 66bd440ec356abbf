// RUN: layout-opt %s --layout-mesh-export-shardings | FileCheck %s
// RUN: layout-opt %s --layout-mesh-export-shardings | layout-opt --layout-mesh-import-shardings | FileCheck %s --check-prefix=BACK

// Check that exported shardings are imported again as the original layouts.

#rows = #layout.mesh<[a0 = 2, a1 = 2], [[a0], []]>
#columns = #layout.mesh<[a0 = 2, a1 = 2], [[], [a1, a0]]>
#whole = #layout.mesh<[a0 = 2, a1 = 2], [[], []]>
#halo = #layout.mesh<[a0 = 2, a1 = 2], [[a0], []], halos = [[2, 1], [0, 0]]>

// CHECK-NOT: layout.
// CHECK: module {
// CHECK: shard.grid @mesh(shape = 2x2)
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[A:.*]]: tensor<10x6xf32>, %[[B:.*]]: tensor<10x6xf32>) -> (tensor<10x6xf32>, tensor<10x6xf32>)
// CHECK-DAG: %[[ROWS:.*]] = shard.sharding @mesh split_axes = {{\[\[}}0], []] : !shard.sharding
// CHECK-DAG: %[[ON:.*]] = shard.shard %[[A]] to %[[ROWS]] : tensor<10x6xf32>
// CHECK-DAG: %[[COLUMNS:.*]] = shard.sharding @mesh split_axes = {{\[\[}}], [1, 0]] : !shard.sharding
// CHECK: %[[TO:.*]] = shard.shard %[[ON]] to %[[COLUMNS]] annotate_for_users : tensor<10x6xf32>
// CHECK: return %[[TO]]
// BACK-DAG: #[[ROWS:.*]] = #layout.mesh<[a0 = 2, a1 = 2], {{\[\[}}a0], []]>
// BACK-DAG: #[[COLUMNS:.*]] = #layout.mesh<[a0 = 2, a1 = 2], {{\[\[}}], [a1, a0]]>
// BACK-DAG: #[[HALO:.*]] = #layout.mesh<[a0 = 2, a1 = 2], {{\[\[}}a0], []], halos = {{\[\[}}2, 1], [0, 0]]>
// BACK-DAG: #[[WHOLE:.*]] = #layout.mesh<[a0 = 2, a1 = 2], {{\[\[}}], []]>
// BACK: func.func @two(%[[A:.*]]: tensor<10x6xf32, #[[ROWS]]>, %[[B:.*]]: tensor<10x6xf32, #[[WHOLE]]>)
// BACK-SAME: -> (tensor<10x6xf32, #[[COLUMNS]]>, tensor<10x6xf32, #[[WHOLE]]>)
// BACK: %[[TO:.*]] = layout.convert %[[A]]
// BACK: return %[[TO]], %[[B]]
module attributes {layout.assignment = {conversion_cost = 1 : i64, cost = 1 : i64, lower_bound = 1 : i64},
                   layout.target = #layout.mesh_target<axes = [a0 = 2, a1 = 2], device = #layout.cpu<lanes = 16>>} {
  func.func @two(%a: tensor<10x6xf32, #rows>, %b: tensor<10x6xf32, #whole>) -> (tensor<10x6xf32, #columns>, tensor<10x6xf32, #whole>) {
    %0 = layout.convert %a : tensor<10x6xf32, #rows> to tensor<10x6xf32, #columns>
    return %0, %b : tensor<10x6xf32, #columns>, tensor<10x6xf32, #whole>
  }

  // CHECK-LABEL: func.func @halo(
  // CHECK-SAME: %[[A:.*]]: tensor<10x6xf32>) -> tensor<10x6xf32>
  // CHECK-DAG: %[[ROWS:.*]] = shard.sharding @mesh split_axes = {{\[\[}}0], []] : !shard.sharding
  // CHECK-DAG: %[[ON:.*]] = shard.shard %[[A]] to %[[ROWS]] : tensor<10x6xf32>
  // CHECK-DAG: %[[HALO:.*]] = shard.sharding @mesh split_axes = {{\[\[}}0], []] halo_sizes = [2, 1] : !shard.sharding
  // CHECK: shard.shard %[[ON]] to %[[HALO]] annotate_for_users : tensor<10x6xf32>
  // BACK: func.func @halo(%{{.*}}: tensor<10x6xf32, #[[ROWS]]>) -> tensor<10x6xf32, #[[HALO]]>
  func.func @halo(%a: tensor<10x6xf32, #rows>) -> tensor<10x6xf32, #halo> {
    %0 = layout.convert %a : tensor<10x6xf32, #rows> to tensor<10x6xf32, #halo>
    return %0 : tensor<10x6xf32, #halo>
  }
}
