# RUN: %python %s module > %t.mlir
# RUN: %python %s inputs %t
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm -o %t.v3.mlir
# RUN: layout-run %t.v3.mlir --cases=%t.cases
# RUN: %python %s compare %t
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm=cpu=host -o %t.host.mlir
# RUN: layout-run %t.host.mlir --cases=%t.cases
# RUN: %python %s compare %t
# Compare sums of byte products with NumPy's: of rows of a slice, which are no view as words, of a vector, of equal
# weights, and of no columns.
import sys

import numpy as np

MODULE = """
func.func @main(%x: tensor<6x16xi8>, %w: tensor<8x5xi8>, %v: tensor<8xi8>) -> (tensor<6x5xi32>, tensor<5xi32>, tensor<6x0xi32>, tensor<6x8xi32>) {
  %z = arith.constant 0 : i32
  %s = tensor.extract_slice %x[0, 3] [6, 8] [1, 1] : tensor<6x16xi8> to tensor<6x8xi8>
  %e = tensor.empty() : tensor<6x5xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<6x5xi32>) -> tensor<6x5xi32>
  %r = linalg.matmul ins(%s, %w : tensor<6x8xi8>, tensor<8x5xi8>) outs(%f : tensor<6x5xi32>) -> tensor<6x5xi32>
  %e1 = tensor.empty() : tensor<5xi32>
  %f1 = linalg.fill ins(%z : i32) outs(%e1 : tensor<5xi32>) -> tensor<5xi32>
  %c = arith.constant dense<[[1,2,3,4,5],[-1,2,3,4,5],[1,-2,3,4,5],[1,2,-3,4,5],[1,2,3,-128,5],[1,2,3,4,127],[1,2,3,4,5],[1,2,3,4,5]]> : tensor<8x5xi8>
  %r1 = linalg.vecmat ins(%v, %c : tensor<8xi8>, tensor<8x5xi8>) outs(%f1 : tensor<5xi32>) -> tensor<5xi32>
  %c0 = arith.constant dense<> : tensor<8x0xi8>
  %e2 = tensor.empty() : tensor<6x0xi32>
  %f2 = linalg.fill ins(%z : i32) outs(%e2 : tensor<6x0xi32>) -> tensor<6x0xi32>
  %r2 = linalg.matmul ins(%s, %c0 : tensor<6x8xi8>, tensor<8x0xi8>) outs(%f2 : tensor<6x0xi32>) -> tensor<6x0xi32>
  %p = arith.constant dense<-7> : tensor<8x8xi8>
  %e3 = tensor.empty() : tensor<6x8xi32>
  %f3 = linalg.fill ins(%z : i32) outs(%e3 : tensor<6x8xi32>) -> tensor<6x8xi32>
  %r3 = linalg.matmul ins(%s, %p : tensor<6x8xi8>, tensor<8x8xi8>) outs(%f3 : tensor<6x8xi32>) -> tensor<6x8xi32>
  return %r, %r1, %r2, %r3 : tensor<6x5xi32>, tensor<5xi32>, tensor<6x0xi32>, tensor<6x8xi32>
}
"""

random = np.random.default_rng(0)
X, W, V = (random.integers(-128, 128, shape).astype("i1") for shape in ((6, 16), (8, 5), 8))
C = np.array([[1, 2, 3, 4, 5], [-1, 2, 3, 4, 5], [1, -2, 3, 4, 5], [1, 2, -3, 4, 5], [1, 2, 3, -128, 5],
              [1, 2, 3, 4, 127], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]])


def main(what, base=None):
    if what == "module":
        print(MODULE)
        return
    rows = X[:, 3:11].astype("i4")
    wanted = [rows @ W.astype("i4"), V.astype("i4") @ C, np.zeros((6, 0), "i4"), rows @ np.full((8, 8), -7)]
    paths = [f"{base}.{number}.npy" for number in range(len(wanted))]
    if what == "compare":
        for path, right in zip(paths, wanted):
            found = np.load(path)
            assert found.shape == right.shape and (found == right).all(), (path, found, right)
        return
    for name, array in (("x", X), ("w", W), ("v", V)):
        np.save(f"{base}.{name}.npy", array)
    with open(base + ".cases", "w") as file:
        file.write(f"{base}.x.npy {base}.w.npy {base}.v.npy -> {' '.join(paths)}\n")


main(*sys.argv[1:])
