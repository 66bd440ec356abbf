// RUN: layout-opt %s --split-input-file --layout-assign | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-assign --layout-mesh-replicate --layout-verify -o /dev/null
// RUN: sed 's/lanes = [0-9]*/lanes = 1/' %s | layout-opt --split-input-file --layout-assign --layout-mesh-replicate --layout-mesh-export-shardings -o /dev/null

// One token reads large weights: columns are split, then rows, and one sum is reduced, as in Megatron.

// CHECK-DAG: #[[COLUMNS:.*]] = #layout.mesh<[t = 4], {{\[\[}}], [t]]>
// CHECK-DAG: #[[ROWS:.*]] = #layout.mesh<[t = 4], {{\[\[}}t], []]>
// CHECK-DAG: #[[WHOLE:.*]] = #layout.mesh<[t = 4], {{\[\[}}], []]>
// CHECK-DAG: #[[PARTS:.*]] = #layout.partial<#[[WHOLE]], sum, [t]>
// CHECK: layout.assignment = {conversion_cost = {{[0-9]+}} : i64, cost = [[COST:[0-9]+]] : i64, lower_bound = [[COST]] : i64, memory_bytes = {{[0-9]+}} : i64}
// CHECK-LABEL: func.func @mlp(
// CHECK-SAME: %[[X:.*]]: tensor<1x256xf32>) -> tensor<1x256xf32>
// CHECK: linalg.matmul ins(%[[X]], %{{.*}} : tensor<1x256xf32>, tensor<256x1024xf32, #[[COLUMNS]]>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x1024xf32, #[[COLUMNS]]>)
// CHECK: math.tanh
// CHECK: linalg.fill {{.*}} -> tensor<1x256xf32, #[[PARTS]]>
// CHECK: linalg.matmul ins({{.*}} : tensor<1x1024xf32, #[[COLUMNS]]>, tensor<1024x256xf32, #[[ROWS]]>){{.*}} -> tensor<1x256xf32, #[[PARTS]]>
// CHECK: layout.convert %{{.*}} : tensor<1x256xf32, #[[PARTS]]> to tensor<1x256xf32>
// CHECK-NOT: layout.convert
module attributes {layout.target = #layout.mesh_target<axes = [t = 4], device = #layout.cpu<lanes = 16>, message_cost = [1000]>} {
  func.func @mlp(%x: tensor<1x256xf32>) -> tensor<1x256xf32> {
    %up = arith.constant dense<0.5> : tensor<256x1024xf32>
    %down = arith.constant dense<0.25> : tensor<1024x256xf32>
    %zero = arith.constant 0.0 : f32
    %0 = tensor.empty() : tensor<1x1024xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x1024xf32>) -> tensor<1x1024xf32>
    %2 = linalg.matmul ins(%x, %up : tensor<1x256xf32>, tensor<256x1024xf32>) outs(%1 : tensor<1x1024xf32>) -> tensor<1x1024xf32>
    %3 = math.tanh %2 : tensor<1x1024xf32>
    %4 = tensor.empty() : tensor<1x256xf32>
    %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<1x256xf32>) -> tensor<1x256xf32>
    %6 = linalg.matmul ins(%3, %down : tensor<1x1024xf32>, tensor<1024x256xf32>) outs(%5 : tensor<1x256xf32>) -> tensor<1x256xf32>
    return %6 : tensor<1x256xf32>
  }
}

// -----

// If messages are expensive, every device computes everything.

// CHECK-LABEL: func.func @expensive(
// CHECK-NOT: #layout
// CHECK: return
module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 16>, message_cost = [100000000]>} {
  func.func @expensive(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = math.exp %x : tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}

// -----

// Heads are blocks of columns: a split propagates through the reshape. Rows that 6 heads do not divide are not split.

// CHECK-LABEL: func.func @heads(
// CHECK: tensor.expand_shape {{.*}} : tensor<7x36xf32, #[[$COLUMNS:.*]]> into tensor<7x6x6xf32, #[[$HEADS:.*]]>
module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 16>, byte_cost = [1], message_cost = [0]>} {
  func.func @heads(%x: tensor<7x36xf32>) -> tensor<7x6x6xf32> attributes {layout.flexible_abi} {
    %0 = math.exp %x : tensor<7x36xf32>
    %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [7, 6, 6] : tensor<7x36xf32> into tensor<7x6x6xf32>
    %2 = math.exp %1 : tensor<7x6x6xf32>
    return %2 : tensor<7x6x6xf32>
  }
}

// -----

// Splits and layouts of blocks are chosen together: output channels are split over the devices and tiled by their
// lanes, over which the next convolution sums.

// CHECK-DAG: #[[TILED:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 4, d2, d3, d1 mod 4)>
// CHECK-DAG: #[[BLOCKS:.*]] = #layout.mesh<[x = 4], {{\[\[}}], [x], [], []], local = #[[TILED]]>
// CHECK-LABEL: func.func @blocks(
// CHECK: linalg.conv_2d_nchw_fchw {{.*}} -> tensor<1x32x2x2xf32, #[[BLOCKS]]>
// CHECK: linalg.conv_2d_nchw_fchw ins({{.*}} : tensor<1x32x2x2xf32, #[[BLOCKS]]>
module attributes {layout.target = #layout.mesh_target<axes = [x = 4], device = #layout.cpu<lanes = 4>, byte_cost = [1], message_cost = [0]>} {
  func.func @blocks(%x: tensor<1x32x3x3xf32>) -> tensor<1x32x1x1xf32> {
    %zero = arith.constant 0.0 : f32
    %w0 = arith.constant dense<1.0> : tensor<32x32x2x2xf32>
    %e0 = tensor.empty() : tensor<1x32x2x2xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
    %0 = linalg.conv_2d_nchw_fchw ins(%x, %w0 : tensor<1x32x3x3xf32>, tensor<32x32x2x2xf32>) outs(%z0 : tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
    %w1 = arith.constant dense<2.0> : tensor<32x32x2x2xf32>
    %e1 = tensor.empty() : tensor<1x32x1x1xf32>
    %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xf32>
    %1 = linalg.conv_2d_nchw_fchw ins(%0, %w1 : tensor<1x32x2x2xf32>, tensor<32x32x2x2xf32>) outs(%z1 : tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xf32>
    return %1 : tensor<1x32x1x1xf32>
  }
}

// -----

// Rows of a table are looked up on the devices that need them, by the indices of the whole tensor.

// CHECK-LABEL: func.func @lookup(
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<64x64xf32, #{{.*}}>)
// CHECK: tensor.extract {{.*}} : tensor<9x64xf32>
module attributes {layout.target = #layout.mesh_target<axes = [x = 4], device = #layout.cpu<lanes = 4>, byte_cost = [0], message_cost = [0]>} {
  func.func @lookup(%table: tensor<9x64xf32>, %rows: tensor<64xindex>) -> tensor<64x64xf32> attributes {layout.flexible_abi} {
    %e = tensor.empty() : tensor<64x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%rows : tensor<64xindex>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%i: index, %y: f32):
      %j = linalg.index 1 : index
      %v = tensor.extract %table[%i, %j] : tensor<9x64xf32>
      linalg.yield %v : f32
    } -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}
