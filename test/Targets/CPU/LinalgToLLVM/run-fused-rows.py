# RUN: %python %s module > %t.mlir
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm -o %t.llvm.mlir
# RUN: layout-opt %t.mlir --layout-to-cpu="target={#layout.cpu<lanes = 16>}" -o %t.laid-out.mlir
# RUN: %python %s inputs %t
# RUN: layout-run %t.llvm.mlir %t.laid-out.mlir --max-rel=1e-6 --threads=2 --input=%t.x.npy --input=%t.g.npy --output=%t.s.npy --output=%t.n.npy
# RUN: layout-run %t.llvm.mlir --threads=1 --input=%t.x.npy --input=%t.g.npy --output=%t.s1.npy --output=%t.n1.npy
# RUN: %python %s compare %t
# Check softmax and layer norm of a tensor that exceeds the caches of a core, in blocks of rows: 3 x 86 rows, so that
# blocks have two rows.
import sys

import numpy as np

SHAPE = (3, 86, 1000)
TENSOR, ROWS = "tensor<3x86x1000xf32>", "tensor<3x86xf32>"
MODULE = f"""
#id = affine_map<(h, r, c) -> (h, r, c)>
#row = affine_map<(h, r, c) -> (h, r)>
#column = affine_map<(h, r, c) -> (c)>
func.func @main(%x: {TENSOR}, %gain: tensor<1000xf32>) -> ({TENSOR}, {TENSOR}) {{
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 1000.0 : f32
  %least = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : {TENSOR}
  %r = tensor.empty() : {ROWS}
  %softmax = linalg.softmax dimension(2) ins(%x : {TENSOR}) outs(%e : {TENSOR}) -> {TENSOR}
  %zeros = linalg.fill ins(%zero : f32) outs(%r : {ROWS}) -> {ROWS}
  %sum = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x : {TENSOR}) outs(%zeros : {ROWS}) {{
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  }} -> {ROWS}
  %squares = linalg.generic {{indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %sum : {TENSOR}, {ROWS}) outs(%zeros : {ROWS}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %count : f32
    %d = arith.subf %a, %m : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %q, %o : f32
    linalg.yield %s : f32
  }} -> {ROWS}
  %normal = linalg.generic {{indexing_maps = [#id, #row, #row, #column, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%x, %sum, %squares, %gain : {TENSOR}, {ROWS}, {ROWS}, tensor<1000xf32>) outs(%e : {TENSOR}) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %g: f32, %o: f32):
    %m = arith.divf %b, %count : f32
    %d = arith.subf %a, %m : f32
    %v = arith.divf %c, %count : f32
    %w = arith.addf %v, %least : f32
    %t = math.sqrt %w : f32
    %n = arith.divf %d, %t : f32
    %y = arith.mulf %n, %g : f32
    linalg.yield %y : f32
  }} -> {TENSOR}
  return %softmax, %normal : {TENSOR}, {TENSOR}
}}"""


def main(what, base=None):
    if what == "module":
        return print(MODULE)
    if what == "inputs":
        random = np.random.default_rng(11)
        np.save(base + ".x.npy", 3 * random.standard_normal(SHAPE).astype("f4"))
        np.save(base + ".g.npy", random.uniform(0.5, 2, SHAPE[2]).astype("f4"))
        return None
    x, gain = np.load(base + ".x.npy").astype("f8"), np.load(base + ".g.npy")
    exp = np.exp(x - x.max(axis=2, keepdims=True))
    normal = gain * (x - x.mean(axis=2, keepdims=True)) / np.sqrt(x.var(axis=2, keepdims=True) + 1e-5)
    for name, wanted in [("s", exp / exp.sum(axis=2, keepdims=True)), ("n", normal)]:
        found = np.load(f"{base}.{name}.npy")
        assert np.allclose(found, wanted, rtol=1e-4, atol=1e-6), name
        assert np.array_equal(found, np.load(f"{base}.{name}1.npy")), f"{name} depends on threads"
    return None


main(*sys.argv[1:])
