// Check that devices store both weights, 32768 bytes, if these fit beside 768 bytes of tensors, or else split them.

// RUN: sed s/MEMORY/33664/ %s | layout-opt --layout-assign="certificate=%t.cfn" | FileCheck %s --check-prefix=BOTH
// RUN: sed s/MEMORY/33663/ %s | layout-opt --layout-assign="certificate=%t.cfn" | FileCheck %s --check-prefix=ONE
// RUN: %python -m layout_mlir.certify %t.cfn | FileCheck %s --check-prefix=PROOF
// RUN: sed s/MEMORY/20479/ %s | layout-opt --layout-assign | FileCheck %s --check-prefix=NONE
// RUN: sed s/MEMORY/32767/ %s | layout-opt --layout-assign=weight-budget=8192 | FileCheck %s --check-prefix=NONE
// RUN: sed s/MEMORY/8191/ %s | not layout-opt --layout-assign 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: sed s/MEMORY/32767/ %s | not layout-opt --layout-assign=weight-budget=8191 2>&1 | FileCheck %s --check-prefix=OPTION

// BOTH: memory_bytes = 33664 : i64, weight_bytes = 32768 : i64
// BOTH-COUNT-2: arith.constant dense<{{.*}}> : tensor<64x64xf32>
// ONE: weight_bytes = 20480 : i64
// NONE: weight_bytes = 8192 : i64
// NONE-COUNT-2: arith.constant dense<{{.*}}> : tensor<64x64xf32, #
// PROOF: accepted, cost [[COST:[0-9]+]], at least [[COST]]
// LEAST: error: the target's 'memory': one device needs at least {{[0-9]+}} bytes at its peak, which is here, but 8191 are allowed; state arguments and results of functions as split (#layout.mesh), or give the target more devices or 'memory'
// OPTION: error: the option 'weight-budget': constants need at least 8192 bytes
module attributes {layout.target = #layout.mesh_target<axes = [t = 4], device = #layout.cpu<lanes = 16>, message_cost = [100000000], memory = MEMORY>} {
  func.func @main(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
    %a = arith.constant dense<0.5> : tensor<64x64xf32>
    %b = arith.constant dense<0.25> : tensor<64x64xf32>
    %zero = arith.constant 0.0 : f32
    %0 = tensor.empty() : tensor<1x64xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x64xf32>) -> tensor<1x64xf32>
    %2 = linalg.matmul ins(%x, %a : tensor<1x64xf32>, tensor<64x64xf32>) outs(%1 : tensor<1x64xf32>) -> tensor<1x64xf32>
    %3 = linalg.matmul ins(%2, %b : tensor<1x64xf32>, tensor<64x64xf32>) outs(%1 : tensor<1x64xf32>) -> tensor<1x64xf32>
    return %3 : tensor<1x64xf32>
  }
}
