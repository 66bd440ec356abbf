// Check reshapes by dynamic sizes, read from a buffer, by the lanes of an image, under padding, and with an integer
// division.

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; r = np.random.default_rng(1); [np.save(f'{t}.{k}.npy', r.integers(1, 99, s).astype('i4')) for k, s in enumerate([(3, 7, 6), (1, 1, 6), (1, 5, 6), (5, 1, 6), (0, 4, 6)])]" %t
// RUN: %python -c "import sys; t = sys.argv[1]; open(t + '.cases', 'w').writelines(f'{t}.{k}.npy -> ' + ' '.join(f'{t}.{k}.{r}.npy' for r in range(4)) + '\n' for k in range(5))" %t
// RUN: layout-run %t.mlir --cases=%t.cases
// RUN: %python %S/Inputs/check_reshapes.py %t | FileCheck %s
// CHECK-COUNT-5: True True True True

#flt = #layout.rgba_image<conv2d_filter>
func.func @main(%x: tensor<?x?x6xi32>) -> (tensor<?x6xi32>, tensor<?x?x3x2xi32>, tensor<?xi32>, tensor<?x1x2x3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = tensor.dim %x, %c0 : tensor<?x?x6xi32>
  %m = tensor.dim %x, %c1 : tensor<?x?x6xi32>
  %d = arith.addi %x, %x : tensor<?x?x6xi32>

  // Collapsed, and expanded again.
  %a = tensor.collapse_shape %d [[0, 1], [2]] : tensor<?x?x6xi32> into tensor<?x6xi32>
  %s = arith.muli %a, %a : tensor<?x6xi32>
  %b = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [%n, %m, 3, 2] : tensor<?x6xi32> into tensor<?x?x3x2xi32>

  // One position before the first element, and two after the last one.
  %f = tensor.collapse_shape %d [[0, 1, 2]] : tensor<?x?x6xi32> into tensor<?xi32>
  %p = tensor.pad %f low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %one : i32
  } : tensor<?xi32> to tensor<?xi32>

  // Rows to channels of an image.
  %nm = arith.muli %n, %m : index
  %r = tensor.expand_shape %a [[0, 1], [2, 3]] output_shape [%nm, 1, 2, 3] : tensor<?x6xi32> into tensor<?x1x2x3xi32>
  %t = layout.convert %r : tensor<?x1x2x3xi32> to tensor<?x1x2x3xi32, #flt>
  %e = tensor.empty(%nm) : tensor<?x1x2x3xi32, #flt>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t : tensor<?x1x2x3xi32, #flt>) outs(%e : tensor<?x1x2x3xi32, #flt>) {
  ^bb0(%v: i32, %o: i32):
    %c100 = arith.constant 100 : i32
    %w = arith.divsi %c100, %v : i32
    linalg.yield %w : i32
  } -> tensor<?x1x2x3xi32, #flt>
  %y = layout.convert %q : tensor<?x1x2x3xi32, #flt> to tensor<?x1x2x3xi32>
  return %s, %b, %p, %y : tensor<?x6xi32>, tensor<?x?x3x2xi32>, tensor<?xi32>, tensor<?x1x2x3xi32>
}
