// Check that constants may require page alignment. A bytecode file that is too
// small to be mapped is read into aligned memory.
// REQUIRES: target-opencl
// RUN: layout-opt %s --layout-linalg-to-llvm --emit-bytecode -o %t.mlirbc
// RUN: layout-opt %t.mlirbc -o %t.mlir
// RUN: layout-run %t.mlirbc --output=%t.npy | FileCheck %s
// RUN: %python -c "import numpy as np; assert (np.load(r'%t.npy') == range(5)).all()"
// RUN: not layout-translate --layout-to-opencl-package %t.mlirbc -o %t.package 2>&1 | FileCheck %s --check-prefix=PACKAGE

// CHECK: run min
// PACKAGE-NOT: is not aligned
// PACKAGE: error:
func.func @main() -> tensor<5xf32> {
  %c = arith.constant dense_resource<w> : tensor<5xf32>
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.copy ins(%c : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

{-#
  dialect_resources: { builtin: { w: "0x00100000000000000000803F000000400000404000008040" } }
#-}
