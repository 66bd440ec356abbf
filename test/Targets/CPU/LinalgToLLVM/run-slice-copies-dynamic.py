# RUN: %python %s
# Check that slices of dynamic sizes are copied at once if they cover whole rows, and otherwise element by element.
import itertools

import numpy as np

import layout_mlir

PROGRAM = """
func.func @main(%x: tensor<TX>, %y: tensor<TY>) -> (tensor<TZ>, tensor<TX>, tensor<TX>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<TX>
  %h = tensor.dim %x, %c2 : tensor<TX>
  %w = tensor.dim %x, %c3 : tensor<TX>
  %z = tensor.concat dim(1) %x, %y : (tensor<TX>, tensor<TY>) -> tensor<TZ>
  %whole = tensor.extract_slice %z[0, 1, 0, 0, 0] [%n, 2, %h, %w, 8] [1, 1, 1, 1, 1] : tensor<TZ> to tensor<TX>
  %rows = arith.ceildivsi %h, %c2 : index
  %half = tensor.extract_slice %z[0, 2, 0, 0, 0] [%n, 2, %rows, %w, 8] [1, 1, 1, 1, 1] : tensor<TZ> to tensor<TX>
  return %z, %whole, %half : tensor<TZ>, tensor<TX>, tensor<TX>
}
"""
TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "f64": np.float64, "i1": np.bool_}
RUNS = [(1, 3, 3), (0, 3, 3), (1, 0, 5), (1, 1, 7), (3, 5, 1), (2, 17, 13)]

for (element, dtype), threads in itertools.product(TYPES.items(), (1, 2)):
    text = PROGRAM
    for name, channels in (("TX", 2), ("TY", 3), ("TZ", 5)):
        text = text.replace(name, f"?x{channels}x?x?x8x{element}")
    program = layout_mlir.compile(text, threads=threads)
    for batch, height, width in RUNS:
        z = np.random.default_rng(0).integers(0, 2, (batch, 5, height, width, 8)).astype(dtype)
        results = program(np.ascontiguousarray(z[:, :2]), np.ascontiguousarray(z[:, 2:]))
        for result, expected in zip(results, (z, z[:, 1:3], z[:, 2:4, :(height + 1) // 2]), strict=True):
            np.testing.assert_array_equal(result, expected)
