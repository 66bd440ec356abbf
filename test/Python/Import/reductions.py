# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks ONNX operators that reduce, sort or accumulate for axes of all forms, ties, NaN and empty dims."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402

RNG = np.random.default_rng(5)


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
              "ReduceLogSumExp", "ReduceSumSquare"]
TIES = np.array([[3, 1, 3, 1], [np.nan, 5, 5, np.nan], [-np.inf] * 4, [np.inf, 1, np.inf, 2]], np.float32)


class Reductions(unittest.TestCase):
    def test_axes(self) -> None:
        nodes, x = Nodes(18), np.abs(f32(2, 3, 4)) + 0.1
        for op in REDUCTIONS:
            nodes.add(op, x, Constant(i64(-1, 0)), dynamic=True)
            nodes.add(op, x, Constant(i64(1)), keepdims=0)
            nodes.add(op, x, i64(2, -3), keepdims=0)
            nodes.add(op, x, i64(1))
            nodes.add(op, x)
            nodes.add(op, x, Constant(i64()), keepdims=0)
            nodes.add(op, np.array(2, np.float32))
            nodes.add(op, (x * 2).astype(np.float16), Constant(i64(1)))
        # ONNX Runtime returns all of these unchanged.
        for op, expected in (("ReduceSum", x), ("ReduceSumSquare", x * x), ("ReduceL2", x),
                             ("ReduceLogSum", np.log(x))):
            nodes.add(op, x, Constant(i64()), noop_with_empty_axes=1, expected=[expected])
            nodes.add(op, x, noop_with_empty_axes=1, expected=[expected])
        nodes.check()

    def test_values(self) -> None:
        nodes, integers = Nodes(18), RNG.integers(-50, 50, (3, 5))
        for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceSumSquare"):
            nodes.add(op, integers.astype(np.int32), Constant(i64(1)))
            nodes.add(op, integers.astype(np.int64), Constant(i64(0)), keepdims=0)
        nodes.add("ReduceMax", np.array([[200, 3]], np.uint8))
        nodes.add("ReduceL2", np.array([[3, 4]], np.int32))
        # Sums of many narrow floats are not rounded in between.
        many = np.full((1, 5000), 1.1, np.float16)
        nodes.add("ReduceMean", many, expected=[np.array([[1.1]], np.float16)])
        for op, neutral in (("ReduceSum", 0), ("ReduceProd", 1), ("ReduceMax", -np.inf), ("ReduceMin", np.inf),
                            ("ReduceLogSumExp", -np.inf), ("ReduceLogSum", -np.inf), ("ReduceL2", 0)):
            nodes.add(op, np.zeros((2, 0, 4), np.float32), Constant(i64(1)),
                      expected=[np.full((2, 1, 4), neutral, np.float32)])
        for row, result in (([800, 801], 801.3133), ([-np.inf, -np.inf], -np.inf), ([np.inf, 1], np.inf),
                            ([np.nan, 1], np.nan)):
            nodes.add("ReduceLogSumExp", np.array(row, np.float32), keepdims=0, expected=[np.array(result, np.float32)])
        nodes.add("ReduceMax", np.float32([[1, np.nan]]), expected=[np.float32([[np.nan]])])
        nodes.check()
        nodes = Nodes(20)
        for op in ("ReduceMax", "ReduceMin"):
            nodes.add(op, np.array([[True, False], [True, True]]), Constant(i64(1)))
        nodes.check()
        nodes = Nodes(11)
        nodes.add("ReduceMean", f32(2, 3, 4), axes=[-1, 0])
        nodes.add("ReduceSum", f32(2, 3, 4), keepdims=0)
        nodes.check()

    def test_places(self) -> None:
        nodes = Nodes(13)
        for last in (0, 1):
            for op, function in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
                flipped = function(TIES[:, ::-1], axis=1)
                expected = 3 - flipped if last else function(TIES, axis=1)
                nodes.add(op, TIES, axis=-1, keepdims=0, select_last_index=last, expected=[expected])
                nodes.add(op, TIES[:1], axis=0, select_last_index=last, dynamic=True)
                nodes.add(op, np.array([[255, 255, 0, 0]], np.uint8), axis=1, select_last_index=last)
                nodes.add(op, np.array([[-128, -128, 127]], np.int8), axis=1, select_last_index=last)
        nodes.add("ArgMax", np.array(3, np.float32), expected=[np.array(0)])
        nodes.check()

    def test_softmax(self) -> None:
        x = f32(2, 3, 4) * 30
        for opset in (11, 13):
            nodes = Nodes(opset)
            for op in ("Softmax", "LogSoftmax", "Hardmax"):
                nodes.add(op, x)
                nodes.add(op, x, axis=-2, dynamic=True)
                nodes.add(op, x, axis=0)
                nodes.add(op, TIES[:1, :3], axis=1)
            nodes.add("Softmax", x.astype(np.float16))
            nodes.add("Softmax", x.astype(np.float64))
            nodes.check()

    def test_running_sums(self) -> None:
        nodes, x = Nodes(14), f32(3, 4, 2)
        for attributes in ({}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}):
            nodes.add("CumSum", x, Constant(np.array(1, np.int32)), **attributes)
            nodes.add("CumSum", x, np.array(-1, np.int64), **attributes)
            nodes.add("CumSum", RNG.integers(-9, 9, (4, 3)), Constant(i64(-2)), dynamic=True, **attributes)
        nodes.add("CumSum", np.zeros((2, 0), np.float32), Constant(i64(1)))
        nodes.check()
        nodes = Nodes(26)
        nodes.add("CumProd", x, Constant(i64(0)), expected=[np.cumprod(x, 0)])
        nodes.add("CumProd", x, Constant(i64(2)), reverse=1, exclusive=1,
                  expected=[np.stack([x[..., 1], np.ones_like(x[..., 1])], -1)])
        nodes.check()

    def test_best(self) -> None:
        x = RNG.integers(-9, 9, (3, 40)).astype(np.float32)
        for opset in (10, 11):
            nodes = Nodes(opset)
            for k in (1, 5, 33, 40):
                nodes.add("TopK", x, Constant(i64(k)), outputs=2, dynamic=k == 5)
                nodes.add("TopK", x.T, Constant(i64(k)), axis=0, outputs=2)
            nodes.add("TopK", x, i64(7), outputs=2)
            nodes.check()
        nodes = Nodes(11)
        for k in (5, 33):
            nodes.add("TopK", x.astype(np.int64), Constant(i64(k)), largest=0, outputs=2)
        nodes.add("TopK", x, i64(20), largest=0, outputs=2, dynamic=True)
        nodes.check()


if __name__ == "__main__":
    unittest.main(verbosity=2)
