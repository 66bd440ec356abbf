// Check stored tensors with replicas, which no loop indexes.

// REQUIRES: target-opencl
// RUN: layout-opt %s --layout-assign='target={#layout.opencl}' | FileCheck %s
// RUN: layout-opt %s --layout-assign='target={#layout.cpu<lanes = 8>}' | FileCheck %s
#thrice = #layout.map<() replicate(r : 3) -> buffer(r)>
#rows = #layout.map<(a, b) replicate(r : 2) -> buffer(a, r, b)>
#lanes = #layout.map<(a, b) replicate(r : 4) -> image2d(x = b, y = a, lane = r)>

// CHECK-LABEL: func.func @scalar(
// CHECK: linalg.generic
func.func @scalar(%x: tensor<i8>) -> tensor<i8> {
  %0 = layout.convert %x : tensor<i8> to tensor<i8, #thrice>
  %1 = tensor.empty() : tensor<i8, #thrice>
  %2 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%0 : tensor<i8, #thrice>) outs(%1 : tensor<i8, #thrice>) {
  ^bb0(%a: i8, %b: i8):
    %c = arith.addi %a, %a : i8
    linalg.yield %c : i8
  } -> tensor<i8, #thrice>
  %3 = layout.convert %2 : tensor<i8, #thrice> to tensor<i8>
  return %3 : tensor<i8>
}

// CHECK-LABEL: func.func @matrix(
// CHECK: linalg.add
func.func @matrix(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #rows>
  %1 = tensor.empty() : tensor<3x5xf32, #rows>
  %2 = linalg.add ins(%0, %0 : tensor<3x5xf32, #rows>, tensor<3x5xf32, #rows>) outs(%1 : tensor<3x5xf32, #rows>) -> tensor<3x5xf32, #rows>
  %3 = layout.convert %2 : tensor<3x5xf32, #rows> to tensor<3x5xf32>
  return %3 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @image(
// CHECK: linalg.add
func.func @image(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #lanes>
  %1 = tensor.empty() : tensor<3x5xf32, #lanes>
  %2 = linalg.add ins(%0, %0 : tensor<3x5xf32, #lanes>, tensor<3x5xf32, #lanes>) outs(%1 : tensor<3x5xf32, #lanes>) -> tensor<3x5xf32, #lanes>
  %3 = layout.convert %2 : tensor<3x5xf32, #lanes> to tensor<3x5xf32>
  return %3 : tensor<3x5xf32>
}
