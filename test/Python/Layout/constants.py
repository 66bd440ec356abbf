# RUN: %python %s
# Check that constants take their elements from arrays, for each type, and that mismatching arrays are errors.
import re

import numpy as np

from layout_mlir import LayoutError, attach_constants, compile, run_pipeline

MODULE = """func.func @main() -> tensor<{type}> {{
  %w = arith.constant dense_resource<w> : tensor<{type}>
  return %w : tensor<{type}>
}}"""


def attach(type, **arrays):
    return attach_constants(MODULE.format(type=type), arrays)


def refused(type, **arrays):
    try:
        attach(type, **arrays)
    except LayoutError as error:
        return str(error)
    raise AssertionError(f"{type} takes {arrays}")


rng = np.random.default_rng(1)
for dtype, name in (("f4", "f32"), ("f8", "f64"), ("f2", "f16"), ("i1", "i8"), ("i2", "i16"), ("i4", "i32"), ("i8", "i64")):
    for shape in ((3, 5), (1,), (0, 4), (2, 1, 7), (), (300, 301)):
        array = (rng.standard_normal(shape) * 100).astype(dtype)
        module = attach("x".join([*map(str, shape), name]), w=array)
        (result,) = [compile(module)()]
        assert result.dtype == array.dtype and np.array_equal(result, array), (dtype, shape)

# The bits are used unchanged; a view of another type of that size is accepted.
bits = rng.standard_normal(8).astype("f4").view("u4") & 0xFFFF0000
text = run_pipeline(attach("8xbf16", w=(bits >> 16).astype("u2")), "", bytecode=False)
stated = re.search(r"dense<\[(.*)\]>", text)[1].split(", ")
assert np.allclose(np.array(stated, "f4"), bits.view("f4"), rtol=1e-5), text

# One element is a splat only if the constant has one element.
assert "'w'" in refused("4xf32", w=np.ones(1, "f4"))
assert "'w'" in refused("4xf32", w=np.ones(3, "f4"))
assert "'w'" in refused("4xf32", w=np.ones(4, "f8"))
assert "'w'" in refused("2x2xf32", w=np.ones((2, 2), "f4").T[:, ::-1])
assert "'w'" in refused("4x4xf32", w=np.ones((4, 8), "f4")[:, ::2])
assert "'w'" in refused("3x2xf32", w=np.asfortranarray(np.ones((3, 2), "f4")))

# Constants without an array stay unchanged, and unused arrays are ignored.
assert "dense_resource<w>" in run_pipeline(attach("4xf32", v=np.ones(4, "f4")), "", bytecode=False)
