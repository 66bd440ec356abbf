// Check that a program that measures its kernels reports their times, sorted, and their rates.

// RUN: split-file --leading-lines %s %t
// RUN: %python -c "import numpy as np; np.save(r'%t/x.npy', np.ones((64, 64), np.float32))"
// RUN: layout-opt %t/two.mlir --layout-linalg-to-llvm=profile -o %t/two.llvm.mlir
// RUN: layout-run %t/two.llvm.mlir --input=%t/x.npy --repeat=3 --json=%t/two.json | FileCheck %s --check-prefix=TABLE
// RUN: FileCheck %s --input-file=%t/two.json --check-prefix=JSON
// RUN: not layout-run %t/rows.mlir 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not layout-run %t/global.mlir 2>&1 | FileCheck %s --check-prefix=GLOBAL

//--- two.mlir
// TABLE: two.llvm.mlir: compile
// TABLE-NEXT: {{[0-9.]+}} us {{.*}} % {{.*}} Gop/s  product
// TABLE-NEXT: {{[0-9.]+}} us {{.*}} % {{.*}} Gop/s  twice
// TABLE-NOT: us
// JSON: "kernels":[{"min_seconds":{{[0-9.e-]+}},"name":"product","operations":524288},{"min_seconds":{{[0-9.e-]+}},"name":"twice","operations":4096}]
func.func @main(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%x, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32> loc("product")
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<64x64xf32> loc("twice")
  return %p, %t : tensor<64x64xf32>, tensor<64x64xf32>
}

//--- rows.mlir
// ROWS: rows.mlir:[[#@LINE+1]]:1: error: has a 'layout.profile' that layout-cpu-profile-kernels did not write
module attributes {layout.profile = ["a", 7]} {
  llvm.mlir.global external @layout_profile() : !llvm.array<4 x i64>
  llvm.func @main() attributes {layout.signature = () -> ()} { llvm.return }
  llvm.func @_mlir_ciface_main() { llvm.return }
}

//--- global.mlir
// GLOBAL: global.mlir:[[#@LINE+1]]:1: error: has a 'layout.profile' that layout-cpu-profile-kernels did not write: it must be an array with a name for every two elements of the global 'layout_profile'
module attributes {layout.profile = ["a", "b"]} {
  llvm.mlir.global external @layout_profile() : !llvm.array<2 x i64>
  llvm.func @main() attributes {layout.signature = () -> ()} { llvm.return }
  llvm.func @_mlir_ciface_main() { llvm.return }
}
