# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks forms of operators that later opsets no longer have: attributes that became inputs, broadcasting along an
axis, and element types by name. Expected values come from ONNX Runtime or the reference of the onnx package, or from
NumPy where neither has the old form."""

from __future__ import annotations

import pathlib
import sys
import unittest
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Inputs"))

from onnx_nodes import Constant, Nodes  # noqa: E402

RNG = np.random.default_rng(23)
Array = NDArray[Any]


def real(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


X = real(2, 3, 4, 5)
BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
OTHERS = {"Greater": np.greater, "Less": np.less, "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}


def statistics(*shape: int) -> list[Array]:
    return [real(*shape), real(*shape), real(*shape), np.abs(real(*shape))]


def normalized(x: Array, scale: Array, bias: Array, mean: Array, variance: Array) -> Array:
    result: Array = (x - mean) / np.sqrt(variance + np.float32(1e-5)) * scale + bias
    return result


class OldOpsets(unittest.TestCase):
    def test_broadcasting_along_an_axis(self) -> None:
        for opset in (1, 6):
            nodes = Nodes(opset)
            for op, function in {**BINARY, **OTHERS}.items():
                x, y = (X > 0, real(3, 4) > 0) if op in ("And", "Or", "Xor") else (X, real(3, 4))
                nodes.add(op, x, y, broadcast=1, axis=1, expected=[function(x, y[..., None])])
                nodes.add(op, x, y[:, 0], broadcast=1, axis=1, expected=[function(x, y[:, :1, None])])
                nodes.add(op, x, Constant(y[:1, 0]), broadcast=1, expected=[function(x, y[0, 0])])
            y = np.abs(real(3))
            nodes.add("Pow", np.abs(X), y, broadcast=1, axis=1, expected=[np.abs(X)**y[:, None, None]], atol=1e-4)
            nodes.add("PRelu", X, y, expected=[np.where(X < 0, X * y[:, None, None], X)])
            a, b, c = real(2, 3), real(3, 4), real(4)
            nodes.add("Gemm", a, b, c, broadcast=1, alpha=0.5, beta=0.25, expected=[0.5 * a @ b + 0.25 * c])
            nodes.check()

    def test_consumed_inputs(self) -> None:
        nodes = Nodes(1)
        functions = {"Relu": lambda x: np.maximum(x, 0), "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Tanh": np.tanh,
                     "Exp": np.exp, "Neg": np.negative, "Abs": np.abs, "Ceil": np.ceil}
        for op, function in functions.items():
            nodes.add(op, X, consumed_inputs=[0], expected=[function(X)])
        nodes.add("Clip", X, min=-0.5, max=0.5, consumed_inputs=[0], expected=[X.clip(-0.5, 0.5)])
        nodes.add("Clip", X, min=-0.5, expected=[X.clip(-0.5)])
        nodes.add("Reshape", X, shape=[0, -1, 5], consumed_inputs=[0], expected=[X.reshape(2, 12, 5)])
        given = statistics(3)
        nodes.add("BatchNormalization", X, *given, is_test=1, consumed_inputs=[0, 0, 0, 1, 1],
                  expected=[normalized(X, *(each[:, None, None] for each in given))])
        for opset in (6, 7):
            rest = Nodes(opset)
            given = statistics(3, 4, 5)
            rest.add("BatchNormalization", X, *given, spatial=0, expected=[normalized(X, *given)],
                     **({"is_test": 1} if opset == 6 else {}))
            rest.check()
        nodes.check()

    def test_attributes_that_became_inputs(self) -> None:
        nodes = Nodes(1)
        for to, kind in (("FLOAT", "f4"), ("INT32", "i4"), ("BOOL", "?"), ("DOUBLE", "f8"), ("FLOAT16", "f2")):
            nodes.add("Cast", X * 3, to=to, expected=[(X * 3).astype(kind)])
        nodes.add("Concat", X, X[:, :1], expected=[np.concatenate([X, X[:, :1]], 1)])
        nodes.add("Split", X, outputs=2, axis=3, split=[2, 3], expected=[X[..., :2], X[..., 2:]])
        nodes.add("Split", X, Constant(np.float32([2, 3])), outputs=2, axis=3, expected=[X[..., :2], X[..., 2:]])
        nodes.add("Tile", X, Constant(np.float32(2)), Constant(np.float32(1)), expected=[np.tile(X, (1, 2, 1, 1))])
        nodes.add("Dropout", X, is_test=1, ratio=0.3, expected=[X])
        nodes.add("Pad", X, paddings=[0, 0, 1, 2, 0, 0, 1, 0], value=0.5,
                  expected=[np.pad(X, ((0, 0), (0, 0), (1, 1), (2, 0)), constant_values=0.5)])
        nodes.add("Upsample", X, height_scale=2.0, width_scale=3.0, expected=[X.repeat(2, 2).repeat(3, 3)])
        # Without the padding, which an average does not count.
        padded = np.pad(X, ((0, 0), (0, 0), (1, 0), (0, 1)), constant_values=np.nan)
        windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 2), (2, 3))
        nodes.add("AveragePool", X, kernel_shape=[2, 2], pads=[1, 0, 0, 1], expected=[np.nanmean(windows, (4, 5))])
        nodes.add("TopK", X, outputs=2, k=2, axis=1)
        nodes.add("Slice", X, axes=[1, -1], starts=[0, -3], ends=[2, 1000])
        nodes.add("Slice", X, starts=[0, 1], ends=[2**62, -1])
        nodes.add("Squeeze", real(1, 3, 1), axes=[0])
        nodes.add("Unsqueeze", real(3, 4), axes=[0, 2])
        nodes.add("LpNormalization", X, p=1, axis=1)
        nodes.add("Softmax", X)
        nodes.add("Sum", X, X, X)
        nodes.check()

    def test_later_forms(self) -> None:
        for opset, op, operands, outputs, attributes in (
                (2, "Pad", [X], 1, {"pads": [0, 0, -1, 2, 0, 0, 1, -2], "mode": "edge"}),
                (2, "Split", [real(4, 6)], 3, {"axis": 1, "split": [1, 2, 3]}),
                (6, "Tile", [real(2, 3), Constant(np.array([2, 1]))], 1, {}),
                (6, "Cast", [X * 3], 1, {"to": 6}),
                (7, "Upsample", [X], 1, {"scales": [1.0, 1.0, 2.0, 2.0], "mode": "linear"}),
                (8, "Sum", [X, real(5), real(4, 1)], 1, {}),
                (9, "Upsample", [X, Constant(np.float32([1, 1, 2, 1.5]))], 1, {"mode": "nearest"}),
                (9, "Scatter", [real(3, 4), np.array([[1, 0]]), real(1, 2)], 1, {"axis": 1}),
                (10, "TopK", [X, Constant(np.array([2]))], 2, {"axis": -1}),
                (10, "Resize", [X, Constant(np.float32([1, 1, 0.5, 0.6]))], 1, {"mode": "linear"}),
                (10, "Dropout", [X], 2, {"ratio": 0.5}),
                (11, "Softmax", [X], 1, {"axis": -2}),
                (11, "Unsqueeze", [X], 1, {"axes": [-1]})):
            with self.subTest(opset=opset, op=op):
                nodes = Nodes(opset)
                nodes.add(op, *operands, outputs=outputs, atol=1e-5, **attributes)
                nodes.check()


if __name__ == "__main__":
    unittest.main()
