// Check that types that state a mesh keep it in the decision, with layouts of blocks in canonical form, as the lowering
// expects.

// RUN: layout-opt %s --layout-assign | FileCheck %s
// RUN: layout-opt %s --layout-assign --layout-mesh-replicate --layout-verify --convert-layout-to-mpi -o /dev/null

// CHECK-DAG: #[[ROWS:.*]] = #layout.mesh<[x = 4], {{\[\[}}x], []]>
// CHECK-DAG: #[[TILES:.*]] = #layout.mesh<[x = 4], {{\[\[}}x], []], local = #{{.*}}>
// CHECK-DAG: #[[PARTS:.*]] = #layout.partial<#{{.*}}, sum, [x]>
// CHECK: func.func @f(%{{.*}}: tensor<10x8xf32, #[[ROWS]]>, %{{.*}}: tensor<10x8xf32, #[[TILES]]>, %{{.*}}: tensor<8x6xf32, #[[PARTS]]>)
#rows = #layout.mesh<[x = 4], [[x], []], local = #layout.blocked<"AB" to "AB">>
#tiles = #layout.mesh<[x = 4], [[x], []], local = #layout.blocked<"AB" to "AB4b">>
#parts = #layout.partial<#layout.mesh<[x = 4], [[], []]>, sum, [x]>
module attributes {layout.target = #layout.mesh_target<axes = [x = 4], device = #layout.cpu<lanes = 4>>} {
  func.func @f(%a: tensor<10x8xf32, #rows>, %b: tensor<10x8xf32, #tiles>, %p: tensor<8x6xf32, #parts>) -> tensor<10x8xf32, #tiles> {
    %0 = layout.convert %a : tensor<10x8xf32, #rows> to tensor<10x8xf32, #tiles>
    %1 = arith.addf %0, %b : tensor<10x8xf32, #tiles>
    return %1 : tensor<10x8xf32, #tiles>
  }
}
