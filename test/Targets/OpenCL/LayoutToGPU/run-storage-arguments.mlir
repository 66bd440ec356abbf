// Check that a function over tensors with layouts is called with arrays of their storage, here pixels [c /
// 4][w][n][h][lane]; dynamic sizes are those of the arrays.

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; [np.save(f'{t}.{k}.npy', np.random.default_rng(k).standard_normal((1, 5, k, 2 * k, 4)).astype('f4')) for k in range(3)]" %t
// RUN: %python -c "import sys; t = sys.argv[1]; open(t + '.cases', 'w').writelines(f'{t}.{k}.npy -> {t}.{k}.out.npy\n' for k in range(3))" %t
// RUN: layout-run %t.mlir --cases=%t.cases
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; print([np.array_equal(np.load(f'{t}.{k}.out.npy'), 2 * np.load(f'{t}.{k}.npy')) for k in range(3)])" %t | FileCheck %s
// CHECK: [True, True, True]

#img = #layout.rgba_image<in_out_channel, "NCHW">
func.func @main(%x: tensor<?x4x?x5xf32, #img>) -> tensor<?x4x?x5xf32, #img> {
  %y = arith.addf %x, %x : tensor<?x4x?x5xf32, #img>
  return %y : tensor<?x4x?x5xf32, #img>
}
