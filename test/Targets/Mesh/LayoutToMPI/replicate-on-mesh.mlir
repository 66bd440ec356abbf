// RUN: layout-opt %s --layout-mesh-replicate --split-input-file --verify-diagnostics | FileCheck %s

// Check that a plain tensor becomes whole on every device; layouts on the mesh stay, and conversions between equal
// types are removed.

// CHECK-DAG: #[[ROWS:.*]] = #layout.mesh<[x = 2], {{\[\[}}x], []]>
// CHECK-DAG: #[[WHOLE:.*]] = #layout.mesh<[x = 2], {{\[\[}}], []]>
// CHECK: func.func @f(%[[A:.*]]: tensor<4x?xf32, #[[WHOLE]]>, %[[B:.*]]: tensor<4x4xf32, #[[ROWS]]>) -> (tensor<4x4xf32, #[[WHOLE]]>, tensor<4x4xf32, #[[WHOLE]]>)
// CHECK: %[[C:.*]] = arith.constant dense<{{.*}}> : tensor<4x4xf32, #[[WHOLE]]>
// CHECK: %[[D:.*]] = layout.convert %[[B]]
// CHECK-NOT: layout.convert
// CHECK: return %[[D]], %[[C]]
#rows = #layout.mesh<[x = 2], [[x], []]>
#whole = #layout.mesh<[x = 2], [[], []]>
module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 16>>} {
  func.func @f(%a: tensor<4x?xf32>, %b: tensor<4x4xf32, #rows>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %c = arith.constant dense<1.0> : tensor<4x4xf32>
    %0 = layout.convert %b : tensor<4x4xf32, #rows> to tensor<4x4xf32, #whole>
    %1 = layout.convert %0 : tensor<4x4xf32, #whole> to tensor<4x4xf32>
    return %1, %c : tensor<4x4xf32>, tensor<4x4xf32>
  }
}

// -----

// A layout in the memory of one device becomes that of the copies; tensors that no device stores stay.

// CHECK-DAG: #[[$COLUMNS:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-DAG: #[[$LOCAL:.*]] = #layout.mesh<[x = 2], {{\[\[}}], []], local = #[[$COLUMNS]]>
// CHECK-DAG: #[[$NPU:.*]] = #layout.map<(d0, d1) -> npu(
// CHECK-LABEL: func.func @local(
// CHECK-SAME: %{{.*}}: tensor<4x4xf32, #[[$LOCAL]]>, %{{.*}}: tensor<8x8xf32, #[[$NPU]]>) -> tensor<4x4xf32, #[[$LOCAL]]>
#columns = #layout.map<(i, j) -> buffer(j, i)>
#npu = #layout.map<(i, j) -> npu(npu = i mod 4, offset = [i floordiv 4, j])>
module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 16>>} {
  func.func @local(%a: tensor<4x4xf32, #columns>, %b: tensor<8x8xf32, #npu>) -> tensor<4x4xf32, #columns> {
    return %a : tensor<4x4xf32, #columns>
  }
}

// -----

// expected-error @below {{'layout.target' on the module is not a #layout.mesh_target: state one, or assign layouts for one first}}
module {
  func.func @f(%a: tensor<4xf32>) {
    return
  }
}

// -----

module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 16>>} {
  // expected-error @below {{'func.func' op is only declared, and takes or returns tensors: its definition relies on its types; define it in this module}}
  func.func private @g(tensor<4xf32>)
}
