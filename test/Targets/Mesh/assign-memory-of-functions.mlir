// Check that the weights of all functions share the memory of a device. Both weights fit whole into 33344 bytes.

// RUN: sed s/MEMORY/33344/ %s | layout-opt --layout-assign | FileCheck %s --check-prefix=WHOLE
// RUN: sed s/MEMORY/33343/ %s | layout-opt --layout-assign | FileCheck %s --check-prefix=SPLIT

// WHOLE: memory_bytes = 33344 : i64, weight_bytes = 32768 : i64
// WHOLE-COUNT-2: arith.constant dense<{{.*}}> : tensor<64x64xf32>
// SPLIT: weight_bytes = 20480 : i64
// SPLIT: arith.constant dense<{{.*}}> : tensor<64x64xf32, #
module attributes {layout.target = #layout.mesh_target<axes = [t = 4], device = #layout.cpu<lanes = 16>, message_cost = [100000000], memory = MEMORY>} {
  func.func @f(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
    %w = arith.constant dense<0.5> : tensor<64x64xf32>
    %zero = arith.constant 0.0 : f32
    %0 = tensor.empty() : tensor<1x64xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x64xf32>) -> tensor<1x64xf32>
    %2 = linalg.matmul ins(%x, %w : tensor<1x64xf32>, tensor<64x64xf32>) outs(%1 : tensor<1x64xf32>) -> tensor<1x64xf32>
    return %2 : tensor<1x64xf32>
  }
  func.func @g(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
    %w = arith.constant dense<0.25> : tensor<64x64xf32>
    %zero = arith.constant 0.0 : f32
    %0 = tensor.empty() : tensor<1x64xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x64xf32>) -> tensor<1x64xf32>
    %2 = linalg.matmul ins(%x, %w : tensor<1x64xf32>, tensor<64x64xf32>) outs(%1 : tensor<1x64xf32>) -> tensor<1x64xf32>
    return %2 : tensor<1x64xf32>
  }
}
