// RUN: layout-opt %s --layout-linalg-to-llvm | FileCheck %s --check-prefix=V3
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=x86-64-v3 | FileCheck %s --check-prefix=V3
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=x86-64-v4 | FileCheck %s --check-prefix=V4
// RUN: layout-opt %s --layout-to-cpu="target={#layout.cpu<lanes = 16>} cpu=x86-64-v4" | FileCheck %s --check-prefix=V4
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=neoverse-n1 | FileCheck %s --check-prefix=NARROW
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=neoverse-v1 | FileCheck %s --check-prefix=NARROW
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=aarch64 | FileCheck %s --check-prefix=NARROW
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=apple-m1 | FileCheck %s --check-prefix=NARROW
// Parameters of the target override those of the processor, in any order.
// RUN: layout-opt %s --layout-linalg-to-llvm="target={#layout.cpu<lanes = 16, vector_bits = 128>} cpu=x86-64-v4" | FileCheck %s --check-prefix=NARROW
// RUN: layout-opt %s --layout-linalg-to-llvm="cpu=host target={#layout.cpu<lanes = 16, vector_bits = 128>}" | FileCheck %s --check-prefix=NARROW
// RUN: layout-opt %s --layout-to-cpu="target={#layout.cpu<lanes = 16, vector_bits = 128>} cpu=x86-64-v4" | FileCheck %s --check-prefix=NARROW
// RUN: not layout-opt %s --layout-linalg-to-llvm=cpu=abacus 2>&1 | FileCheck %s --check-prefix=NONE

// V3-NOT: vector<16xf32>
// V3: vector<8xf32>
// V4-NOT: vector<8xf32>
// V4: vector<16xf32>
// NARROW-NOT: vector<8xf32>
// NARROW-NOT: vector<16xf32>
// NARROW: vector<4xf32>
// NONE: error: the option 'cpu' is "abacus": it must be one of x86-64-v3, x86-64-v4, aarch64, neoverse-n1, neoverse-v1, apple-m1, host
func.func @main(%x: tensor<64x128xf32>, %y: tensor<128x256xf32>, %z: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<64x128xf32>, tensor<128x256xf32>)
                     outs(%z : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}
