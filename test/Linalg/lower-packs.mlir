// Check that packs and unpacks are lowered to pads, slices, reshapes and transposes.
// RUN: layout-opt %s --layout-prepare-lower-packs | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: layout-opt %s --layout-prepare-lower-packs=views=false | FileCheck %s --check-prefixes=CHECK,SOME

// CHECK-LABEL: func @pads
// CHECK-NOT: linalg.pack
// CHECK: tensor.pad %{{.*}} low[0] high[2]
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
func.func @pads(%x: tensor<6xf32>, %d: tensor<2x4xf32>, %z: f32) -> tensor<2x4xf32> {
  %p = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0] inner_tiles = [4]
      into %d : tensor<6xf32> -> tensor<2x4xf32>
  return %p : tensor<2x4xf32>
}

// CHECK-LABEL: func @cuts
// CHECK-NOT: linalg.unpack
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice
func.func @cuts(%x: tensor<2x4xf32>, %d: tensor<6xf32>) -> tensor<6xf32> {
  %u = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [4] into %d : tensor<2x4xf32> -> tensor<6xf32>
  return %u : tensor<6xf32>
}

// A pack that is only a change of layout.
// CHECK-LABEL: func @view
// ALL-NOT: linalg.pack
// ALL: linalg.transpose
// SOME: linalg.pack
// SOME-NOT: linalg.transpose
func.func @view(%x: tensor<8x3xf32>, %d: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %p = linalg.pack %x inner_dims_pos = [0] inner_tiles = [4] into %d : tensor<8x3xf32> -> tensor<2x3x4xf32>
  return %p : tensor<2x3x4xf32>
}
