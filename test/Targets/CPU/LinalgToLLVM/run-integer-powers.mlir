// Check powers with integer exponents, which have no intrinsic for vectors or 64 bits: constant ones, and ones that
// differ by element, including zero and negative ones.

// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; r = np.random.default_rng(3); np.save(f'{t}.x.npy', r.uniform(-2, 2, (5, 37)).astype('f4')); np.save(f'{t}.n.npy', r.integers(-6, 7, (5, 37)).astype('i4')); np.save(f'{t}.m.npy', r.integers(-6, 7, (5, 37)).astype('i8'))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.n.npy --input=%t.m.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy --output=%t.d.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, n, m, a, b, c, d = (np.load(f'{t}.{k}.npy').astype('f8') for k in 'xnmabcd'); print(*(np.allclose(found, wanted, rtol=1e-5) for found, wanted in ((a, x * x), (b, 1 / x**3), (c, x**n), (d, x**m))))" %t | FileCheck %s
// CHECK: True True True True

#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<5x37xf32>, %n: tensor<5x37xi32>, %m: tensor<5x37xi64>) -> (tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x37xf32>) {
  %two = arith.constant 2 : i64
  %less = arith.constant -3 : i32
  %e = tensor.empty() : tensor<5x37xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x37xf32>) outs(%e : tensor<5x37xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = math.fpowi %in, %two : f32, i64
    linalg.yield %p : f32
  } -> tensor<5x37xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x37xf32>) outs(%e : tensor<5x37xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = math.fpowi %in, %less : f32, i32
    linalg.yield %p : f32
  } -> tensor<5x37xf32>
  %c = math.fpowi %x, %n : tensor<5x37xf32>, tensor<5x37xi32>
  %d = math.fpowi %x, %m : tensor<5x37xf32>, tensor<5x37xi64>
  return %a, %b, %c, %d : tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x37xf32>
}
