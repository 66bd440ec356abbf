// Check that an elementwise op follows a type that states both a split and a layout of its blocks.

// RUN: layout-opt %s --layout-assign | FileCheck %s

// CHECK-LABEL: func.func @slice(
// CHECK: %[[STATED:.*]] = math.exp %{{.*}} : tensor<1x32x4x4xf32, #{{.*}}>
// CHECK-NEXT: tensor.extract_slice %[[STATED]]{{.*}} : tensor<1x32x4x4xf32, #{{.*}}> to tensor<1x32x2x4xf32, #{{.*}}>
// If a tile has all remaining columns, blocks are stored row-major, and a slice still has the layout of its operand.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:.*]]: tensor<64x32xf32, #[[TILES:.*]]>) -> tensor<64x16xf32, #[[ROWS:.*]]>
// CHECK-NEXT: %[[SLICE:.*]] = tensor.extract_slice %[[X]]{{.*}} : tensor<64x32xf32, #[[TILES]]> to tensor<64x16xf32, #[[TILES]]>
// CHECK-NEXT: %[[SAME:.*]] = layout.convert %[[SLICE]] : tensor<64x16xf32, #[[TILES]]> to tensor<64x16xf32, #[[ROWS]]>
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[SAME]] : tensor
// CHECK: math.exp
#tiled = #layout.map<(a, b, c, d) -> buffer(a, b floordiv 4, c, d, b mod 4)>
#tiles = #layout.map<(a, b) -> buffer(a floordiv 4, b floordiv 16, a mod 4, b mod 16)>
#blocks = #layout.mesh<[x = 4], [[], [x], [], []], local = #tiled>
#columns = #layout.mesh<[x = 4], [[x], []], local = #tiles>
module attributes {layout.target = #layout.mesh_target<axes = [x = 4], device = #layout.cpu<lanes = 4>, byte_cost = [1], message_cost = [1000]>} {
  func.func @slice(%x: tensor<1x32x4x4xf32>) -> tensor<1x32x2x4xf32> attributes {layout.flexible_abi} {
    %0 = math.exp %x {layout.operand_layouts = [#blocks], layout.result_layouts = [#blocks]} : tensor<1x32x4x4xf32>
    %1 = tensor.extract_slice %0[0, 0, 0, 0] [1, 32, 2, 4] [1, 1, 1, 1] : tensor<1x32x4x4xf32> to tensor<1x32x2x4xf32>
    return %1 : tensor<1x32x2x4xf32>
  }
  func.func @columns(%x: tensor<64x32xf32>) -> tensor<64x16xf32> attributes {layout.flexible_abi, layout.argument_layouts = [[#columns]]} {
    %0 = tensor.extract_slice %x[0, 16] [64, 16] [1, 1] : tensor<64x32xf32> to tensor<64x16xf32>
    %1 = math.exp %0 : tensor<64x16xf32>
    return %1 : tensor<64x16xf32>
  }
}
