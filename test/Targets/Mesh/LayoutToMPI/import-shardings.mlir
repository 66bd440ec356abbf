// RUN: layout-opt %s --layout-mesh-import-shardings --split-input-file --verify-diagnostics | FileCheck %s
// RUN: layout-opt %s --layout-mesh-import-shardings --split-input-file --verify-diagnostics | layout-opt --split-input-file --convert-layout-to-mpi -o /dev/null
// Check that upstream's sharding annotations become layouts on a mesh; a change of sharding becomes a conversion.

shard.grid @grid(shape = 2x2)

// CHECK-DAG: #[[X_Y:.*]] = #layout.mesh<[a0 = 2, a1 = 2], {{\[\[}}a0], [a1]]>
// CHECK-DAG: #[[Y_X:.*]] = #layout.mesh<[a0 = 2, a1 = 2], {{\[\[}}a1], [a0]]>
// CHECK-DAG: #[[HALO:.*]] = #layout.mesh<[a0 = 2, a1 = 2], {{\[\[}}a0, a1], []], halos = {{\[\[}}1, 2], [0, 0]]>
// CHECK-DAG: #[[XY:.*]] = #layout.mesh<[a0 = 2, a1 = 2], {{\[\[}}a0, a1], []]>

// CHECK-LABEL: func.func @swap(
// CHECK-SAME: %[[A:.*]]: tensor<8x8xf32, #[[X_Y]]>) -> tensor<8x8xf32, #[[Y_X]]> {
// CHECK-NEXT: %[[R:.*]] = layout.convert %[[A]] : tensor<8x8xf32, #[[X_Y]]> to tensor<8x8xf32, #[[Y_X]]>
// CHECK-NEXT: return %[[R]]
func.func @swap(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %from = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %to = shard.sharding @grid split_axes = [[1], [0]] : !shard.sharding
  %0 = shard.shard %a to %from : tensor<8x8xf32>
  %1 = shard.shard %0 to %to annotate_for_users : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @same_and_all(
// CHECK-SAME: %[[A:.*]]: tensor<10x6xf16, #[[XY]]>)
// CHECK-NEXT: %[[R:.*]] = layout.convert
// CHECK-NEXT: return %[[A]], %[[R]]
func.func @same_and_all(%a: tensor<10x6xf16>) -> (tensor<10x6xf16>, tensor<10x6xf16>) {
  %s = shard.sharding @grid split_axes = [[0, 1]] : !shard.sharding
  %all = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<10x6xf16>
  %1 = shard.shard %0 to %s annotate_for_users : tensor<10x6xf16>
  %2 = shard.shard %0 to %all annotate_for_users : tensor<10x6xf16>
  return %1, %2 : tensor<10x6xf16>, tensor<10x6xf16>
}

// Halos of the split dims.

// CHECK-LABEL: func.func @halos(
// CHECK-SAME: %[[A:.*]]: tensor<8x8xf32, #[[HALO]]>) -> tensor<8x8xf32, #[[XY]]> {
// CHECK-NEXT: %[[R:.*]] = layout.convert %[[A]] : tensor<8x8xf32, #[[HALO]]> to tensor<8x8xf32, #[[XY]]>
// CHECK-NEXT: return %[[R]]
func.func @halos(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %from = shard.sharding @grid split_axes = [[0, 1]] halo_sizes = [1, 2] : !shard.sharding
  %to = shard.sharding @grid split_axes = [[0, 1]] : !shard.sharding
  %0 = shard.shard %a to %from : tensor<8x8xf32>
  %1 = shard.shard %0 to %to annotate_for_users : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
