// Check i1 elements, which occupy a byte each in memory and a bit each in vectors.

// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; r = np.random.default_rng(1); [np.save(f'{t}.{k}.npy', r.standard_normal((3, 37)).astype('f4')) for k in 'xy']" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, y, a, b, c = (np.load(f'{t}.{k}.npy') for k in 'xyabc'); g = x > y; print(np.array_equal(a, np.where(np.arange(37) % 3 == 0, x, y)), np.array_equal(b, g.any(axis=0)), np.array_equal(c, np.where(g.T, x.T, 0)))" %t | FileCheck %s
// CHECK: True True True

func.func @main(%x: tensor<3x37xf32>, %y: tensor<3x37xf32>) -> (tensor<3x37xf32>, tensor<37xi8>, tensor<37x3xf32>) {
  %m = arith.constant dense<[true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true]> : tensor<37xi1>
  %e = tensor.empty() : tensor<3x37xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%m, %x, %y : tensor<37xi1>, tensor<3x37xf32>, tensor<3x37xf32>) outs(%e : tensor<3x37xf32>) {
  ^bb0(%c: i1, %p: f32, %q: f32, %o: f32):
    %s = arith.select %c, %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<3x37xf32>
  // Read twice, so that it is stored in memory.
  %g = arith.cmpf ogt, %x, %y : tensor<3x37xf32>
  %false = arith.constant false
  %eb = tensor.empty() : tensor<37xi1>
  %fb = linalg.fill ins(%false : i1) outs(%eb : tensor<37xi1>) -> tensor<37xi1>
  %any = linalg.reduce ins(%g : tensor<3x37xi1>) outs(%fb : tensor<37xi1>) dimensions = [0]
    (%in: i1, %acc: i1) { %z = arith.ori %in, %acc : i1 linalg.yield %z : i1 }
  %b = arith.extui %any : tensor<37xi1> to tensor<37xi8>
  %zero = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<37x3xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%g, %x : tensor<3x37xi1>, tensor<3x37xf32>) outs(%ec : tensor<37x3xf32>) {
  ^bb0(%k: i1, %p: f32, %o: f32):
    %s = arith.select %k, %p, %zero : f32
    linalg.yield %s : f32
  } -> tensor<37x3xf32>
  return %a, %b, %c : tensor<3x37xf32>, tensor<37xi8>, tensor<37x3xf32>
}
