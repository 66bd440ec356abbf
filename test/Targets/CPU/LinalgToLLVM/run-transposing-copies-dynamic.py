# RUN: %python %s
# Check copies between two orders with dynamic rows or columns: fewer than a tile, as many, one more, several tiles, and
# none, with one thread and with two.
import itertools

import numpy as np

import layout_mlir

PROGRAM = """
func.func @main(%x: tensor<TX>) -> tensor<TY> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %h = tensor.dim %x, %c1 : tensor<TX>
  %w = tensor.dim %x, %c2 : tensor<TX>
  %e = tensor.empty(SIZES) : tensor<TY>
  %t = linalg.transpose ins(%x : tensor<TX>) outs(%e : tensor<TY>) permutation = PERMUTATION
  return %t : tensor<TY>
}
"""
TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "f64": np.float64}
# The source, the result, their sizes, and the order of dims.
ORDERS = [("4x?x?x16", "4x16x?x?", "%h, %w", (0, 3, 1, 2)), ("3x?x?x5", "3x5x?x?", "%h, %w", (0, 3, 1, 2)),
          ("16x?x?", "?x?x16", "%h, %w", (1, 2, 0)), ("2x?x?", "2x?x?", "%w, %h", (0, 2, 1)),
          ("3x?x?", "?x?x3", "%w, %h", (2, 1, 0))]
EXTENTS = [(0, 3), (3, 0), (1, 1), (5, 2), (2, 3), (7, 16), (16, 17), (4, 33), (33, 70), (65, 130)]
KNOWN = {"4x?x?x16": (4, 16), "3x?x?x5": (3, 5), "16x?x?": (16,), "2x?x?": (2,), "3x?x?": (3,)}

for (source, result, sizes, order), (element, dtype) in itertools.product(ORDERS, TYPES.items()):
    text = PROGRAM.replace("TX", f"{source}x{element}").replace("TY", f"{result}x{element}")
    text = text.replace("SIZES", sizes).replace("PERMUTATION", str(list(order)))
    programs = [layout_mlir.compile(text, threads=threads) for threads in (1, 2)]
    for height, width in EXTENTS:
        first, *last = KNOWN[source]
        shape = (first, height, width, *last)
        x = np.random.default_rng(0).integers(-100, 100, shape).astype(dtype)
        for program in programs:
            np.testing.assert_array_equal(program(x), x.transpose(order), err_msg=f"{source} {element} {height}x{width}")
