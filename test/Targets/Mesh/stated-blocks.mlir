// What states a split and a layout of its blocks at once is followed by an op that takes dims as they are.

// RUN: layout-opt %s --layout-assign | FileCheck %s

// CHECK-LABEL: func.func @slice(
// CHECK: %[[STATED:.*]] = math.exp %{{.*}} : tensor<1x32x4x4xf32, #{{.*}}>
// CHECK-NEXT: tensor.extract_slice %[[STATED]]{{.*}} : tensor<1x32x4x4xf32, #{{.*}}> to tensor<1x32x2x4xf32, #{{.*}}>
#tiled = #layout.map<(a, b, c, d) -> buffer(a, b floordiv 4, c, d, b mod 4)>
#blocks = #layout.mesh<[x = 4], [[], [x], [], []], local = #tiled>
module attributes {layout.target = #layout.mesh_target<axes = [x = 4], device = #layout.cpu<lanes = 4>, byte_cost = [1], message_cost = [1000]>} {
  func.func @slice(%x: tensor<1x32x4x4xf32>) -> tensor<1x32x2x4xf32> attributes {layout.flexible_abi} {
    %0 = math.exp %x {layout.operand_layouts = [#blocks], layout.result_layouts = [#blocks]} : tensor<1x32x4x4xf32>
    %1 = tensor.extract_slice %0[0, 0, 0, 0] [1, 32, 2, 4] [1, 1, 1, 1] : tensor<1x32x4x4xf32> to tensor<1x32x2x4xf32>
    return %1 : tensor<1x32x2x4xf32>
  }
}
