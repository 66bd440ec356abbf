// Check bodies with assertions (without index checks): consumers of their result do not split them, an unused one still
// asserts, and a failing one ends the program.

// RUN: layout-opt %s --layout-linalg-to-llvm=check-indices=false -o %t.mlir
// RUN: layout-opt %s --layout-to-cpu="target={#layout.cpu<lanes = 16>} check-indices=false" -o %t.laid-out.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; r = np.random.default_rng(9); np.save(f'{t}.x.npy', r.standard_normal((3, 5)).astype('f4')); i = r.integers(0, 5, (3, 4)); np.save(f'{t}.i.npy', i); i[2, 3] = 5; np.save(f'{t}.bad.npy', i)" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.i.npy --output=%t.y.npy
// RUN: layout-run %t.laid-out.mlir --input=%t.x.npy --input=%t.i.npy --output=%t.z.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, i, y, z = (np.load(f'{t}.{k}.npy') for k in 'xiyz'); w = -np.take_along_axis(x, i, axis=1); print(np.array_equal(y, w), np.array_equal(z, w))" %t | FileCheck %s --check-prefix=SAME
// SAME: True True
// RUN: not layout-run %t.mlir --input=%t.x.npy --input=%t.bad.npy --output=%t.bad.y.npy 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not layout-run %t.laid-out.mlir --input=%t.x.npy --input=%t.bad.npy --output=%t.bad.y.npy 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not layout-run %t.mlir --function=dead --input=%t.x.npy --input=%t.bad.npy --output=%t.bad.y.npy 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: an assertion does not hold: index must be smaller than dim size
// RUN: layout-run %t.mlir --function=dead --input=%t.x.npy --input=%t.i.npy --output=%t.y.npy

// One assertion each.
// RUN: layout-opt %s --layout-linalg-to-llvm="outline-kernels=false check-indices=false" | FileCheck %s
// CHECK-LABEL: llvm.func @main
// CHECK: llvm.call @abort
// CHECK-NOT: llvm.call @abort
// CHECK-LABEL: llvm.func @dead
// CHECK: llvm.call @abort
// CHECK-NOT: llvm.call @abort

#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<3x5xf32>, %i: tensor<3x4xi64>) -> tensor<3x4xf32> {
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<3x4xi64>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%in: i64, %out: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %in : i64 to index
    %2 = arith.cmpi slt, %1, %c5 : index
    cf.assert %2, "index must be smaller than dim size"
    %v = tensor.extract %x[%0, %1] : tensor<3x5xf32>
    linalg.yield %v : f32
  } -> tensor<3x4xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<3x4xf32>
  return %q : tensor<3x4xf32>
}

func.func @dead(%x: tensor<3x5xf32>, %i: tensor<3x4xi64>) -> tensor<3x5xf32> {
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<3x4xf32>
  %dead = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<3x4xi64>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%in: i64, %out: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %in : i64 to index
    %2 = arith.cmpi slt, %1, %c5 : index
    cf.assert %2, "index must be smaller than dim size"
    %v = tensor.extract %x[%0, %1] : tensor<3x5xf32>
    linalg.yield %v : f32
  } -> tensor<3x4xf32>
  return %x : tensor<3x5xf32>
}
