// Check the errors for unsupported shard annotations.
// RUN: layout-opt %s --layout-mesh-import-shardings --split-input-file --verify-diagnostics

shard.grid @grid(shape = 4)
func.func @dynamic_halo(%a: tensor<8xf32>, %size: i64) -> tensor<8xf32> {
  // expected-error@below {{'shard.sharding' op has halos of dynamic sizes: messages need static sizes}}
  %s = shard.sharding @grid split_axes = [[0]] halo_sizes = [1, %size] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @offsets(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'shard.sharding' op has blocks of other sizes than ceil(size / devices), which #layout.mesh does not support: remove the offsets}}
  %s = shard.sharding @grid split_axes = [[0]] sharded_dims_offsets = [0, 1, 3, 5, 8] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error@below {{'shard.grid' op has a dynamic size: messages need a static number of devices}}
shard.grid @grid(shape = 4x?)
func.func @unknown(%a: tensor<8xf32>) -> tensor<8xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @computed(%a: tensor<8xf32>) -> tensor<8xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %sum = arith.addf %a, %a : tensor<8xf32>
  // expected-error@below {{'shard.shard' op shards a computed value: only arguments of functions and values that are already sharded can have shardings here}}
  %0 = shard.shard %sum to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @computes(%a: tensor<8xf32>) {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  // expected-error@below {{'arith.addf' op computes with a tensor that is sharded: only resharding is imported}}
  %1 = arith.addf %0, %0 : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 4)
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  // expected-error@below {{dim 0, which it splits, has a dynamic size}}
  %0 = shard.shard %a to %s : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

#tiles = #layout.blocked<"A" to "A4a">
shard.grid @grid(shape = 4)
func.func @stored(%a: tensor<8xf32, #tiles>) {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  // expected-error@below {{which already has a layout: state the sharding as #layout.mesh there, or remove the layout}}
  %0 = shard.shard %a to %s : tensor<8xf32, #tiles>
  return
}

// -----

#parts = #layout.partial<#layout.mesh<[x = 4], [[]]>, sum, [x]>
shard.grid @grid(shape = 4)
func.func @parts(%a: tensor<8xf32, #parts>) {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  // expected-error@below {{which already has a layout}}
  %0 = shard.shard %a to %s : tensor<8xf32, #parts>
  return
}

// -----

shard.grid @grid(shape = 4)
// expected-error@below {{'func.func' op is called, and its shardings change its type: inline it first}}
func.func @called(%a: tensor<8xf32>) -> tensor<8xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @calls(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @called(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

shard.grid @grid(shape = 16)
func.func @negative_halo(%a: tensor<40xf32>) -> tensor<40xf32> {
  %s = shard.sharding @grid split_axes = [[0]] halo_sizes = [-1, 1] : !shard.sharding
  // expected-error@below {{the halo [-1, 1] of dim 0 is invalid: each side has 0 to 2147483647 indices}}
  %0 = shard.shard %a to %s : tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @update(%a: tensor<8xf32>) -> tensor<8xf32> {
  %s = shard.sharding @grid split_axes = [[0]] halo_sizes = [1, 1] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  // expected-error@below {{'shard.update_halo' op computes with a tensor that is sharded: only resharding is imported}}
  %1 = shard.update_halo %0 on @grid split_axes = [[0]] halo_sizes = [1, 1] : tensor<8xf32>
  return %1 : tensor<8xf32>
}
