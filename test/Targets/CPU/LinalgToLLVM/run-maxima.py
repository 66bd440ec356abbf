# RUN: %python %s
# Check maxima and minima along rows and columns against numpy: with NaN in every position, rows of NaN and infinities,
# accumulators that start at NaN, infinity or a number, ragged and empty rows, static and dynamic sizes. A softmax of a
# row with NaN is NaN.
import itertools

import numpy as np

from layout_mlir import compile as compile_program

OPS = {"maxnumf": np.fmax, "minnumf": np.fmin, "maximumf": np.maximum, "minimumf": np.minimum}
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


def reductions(element, shape, axis):
    """Returns a module that reduces a tensor along an axis by each op, from the accumulators of an operand."""
    kinds = ["parallel", "parallel"]
    kinds[axis] = "reduction"
    x, result = f"tensor<{'x'.join(shape)}x{element}>", f"tensor<{shape[1 - axis]}x{element}>"
    parts = [f"""
  %{op} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ({'ji'[axis]})>],
      iterator_types = ["{kinds[0]}", "{kinds[1]}"]}} ins(%x : {x}) outs(%init : {result}) {{
  ^bb0(%in: {element}, %acc: {element}):
    %m = arith.{op} %in, %acc : {element}
    linalg.yield %m : {element}
  }} -> {result}""" for op in OPS]
    types = ", ".join([result] * len(OPS))
    return f"""func.func @main(%x: {x}, %init: {result}) -> ({types}) {{{''.join(parts)}
  return {', '.join('%' + op for op in OPS)} : {types}
}}"""


def softmax(element, shape):
    x = f"tensor<{'x'.join(map(str, shape))}x{element}>"
    return f"""func.func @main(%x: {x}) -> {x} {{
  %e = tensor.empty() : {x}
  %r = linalg.softmax dimension(1) ins(%x : {x}) outs(%e : {x}) -> {x}
  return %r : {x}
}}"""


def samples(rows, columns, dtype, rng):
    """Returns a matrix with a NaN on the diagonal, and rows of NaN, of -inf, of inf, and of both and NaN."""
    x = rng.standard_normal((rows, columns)).astype(dtype)
    np.fill_diagonal(x[5:], np.nan)
    for row, value in zip(x, (np.nan, -np.inf, np.inf, 0, -0.0)):
        row[:] = value
    x[3, ::2] = -np.inf
    x[3, 1::2] = np.nan
    return x


def check(program, x, axis, text):
    for start in (np.nan, -np.inf, np.inf, 0.5):
        init = np.full(x.shape[1 - axis], start, x.dtype)
        for (op, expected), got in zip(OPS.items(), program(x, init)):
            wanted = expected.reduce(np.concatenate([x, np.expand_dims(init, axis)], axis), axis)
            np.testing.assert_array_equal(got, wanted, f"{op} {text} {x.shape} {axis} {start}")


SIZES = [(21, 16), (17, 13), (9, 1), (6, 67), (8, 0)]
rng = np.random.default_rng(0)
for (element, dtype), axis in itertools.product(DTYPES.items(), (0, 1)):
    dynamic = compile_program(reductions(element, ["?", "?"], axis))
    for rows, columns in SIZES:
        x = samples(rows, columns, dtype, rng) if columns else np.zeros((rows, 0), dtype)
        check(dynamic, x, axis, f"dynamic {element}")
        if element == "f32":
            check(compile_program(reductions(element, [str(rows), str(columns)], axis)), x, axis, "static")

for element, columns in itertools.product(("f32", "f64"), (1, 67)):
    x = samples(21, columns, DTYPES[element], rng)
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(1, keepdims=True))
        wanted = e / e.sum(1, keepdims=True)
    np.testing.assert_allclose(compile_program(softmax(element, x.shape))(x), wanted, rtol=3e-6)
