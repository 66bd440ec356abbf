// RUN: layout-opt %s --layout-to-npu=reuse-holes=true | FileCheck %s

// Check seven tensors, some of 2,560 pieces: even so few are not placed in
// every order if each order takes as long as placing thousands of blocks.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-7: npu.alloc {address = {{[0-9]+}} : i64
module attributes {layout.target = #layout.npu<chip = #npu.target<"BM1684">>} {
  func.func @main(%x: tensor<4x8x5x2x8xf32>) -> tensor<4x8x5x16xf32> {
    %empty = tensor.empty() : tensor<4x8x5x2x8xf32>
    %s = linalg.softmax dimension(2) ins(%x : tensor<4x8x5x2x8xf32>) outs(%empty : tensor<4x8x5x2x8xf32>) -> tensor<4x8x5x2x8xf32>
    %r = tensor.collapse_shape %s [[0], [1], [2], [3, 4]] : tensor<4x8x5x2x8xf32> into tensor<4x8x5x16xf32>
    return %r : tensor<4x8x5x16xf32>
  }
}
