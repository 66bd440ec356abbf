# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks that products and convolutions of dequantized bytes are computed on the bytes, and equal those of the numbers."""

from __future__ import annotations

import copy
import itertools
import pathlib
import tempfile
import unittest
import warnings
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import layout_mlir
from layout_mlir.onnx_import import lower_to_text, prepare_checked
from layout_mlir.onnx_import.compare import run_oracle

RNG = np.random.default_rng(7)


def draw(dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, shape, dtype, endpoint=True)


def run(model: onnx.ModelProto, *inputs: np.ndarray) -> np.ndarray:
    """Compiles a model, by which its import is compared with ONNX Runtime, and runs it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        onnx.save(model, path)
        with warnings.catch_warnings():  # ONNX Runtime refuses some
            warnings.simplefilter("ignore")
            return np.asarray(layout_mlir.compile(str(path))(*inputs))


class Model:
    """A model whose result is that of one node on dequantized operands; the first one is an input."""

    def __init__(self, opset: int = 21) -> None:
        self.opset, self.nodes, self.weights = opset, [], []
        self.inputs: dict[str, np.ndarray] = {}
        self.dims: list[Any] = []

    def constant(self, array: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def input(self, array: np.ndarray, dims: list[Any] | None = None) -> str:
        name = f"x{len(self.inputs)}"
        self.inputs[name] = array
        self.dims.append(dims or list(array.shape))
        return name

    def dequantize(self, name: str, scale: Any, zero: Any = None, **attributes: Any) -> str:
        made = f"d{len(self.nodes)}"
        given = [scale if isinstance(scale, str) else self.constant(np.float32(scale))]
        given += [] if zero is None else [self.constant(zero)]
        self.nodes.append(helper.make_node("DequantizeLinear", [name, *given], [made], **attributes))
        return made

    def op(self, kind: str, *names: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, names, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def build(self) -> onnx.ModelProto:
        given = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims)
                 for (name, array), dims in zip(self.inputs.items(), self.dims)]
        result = helper.make_tensor_value_info(self.nodes[-1].output[0], TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "graph", given, [result], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)


class ProductsOfBytes(unittest.TestCase):
    def check(self, model: Model, is_exact: bool = True) -> None:
        built = model.build()
        text, _ = lower_to_text(prepare_checked(copy.deepcopy(built)))
        sums = [line for line in text.splitlines() if "linalg." in line and "-> tensor<" in line]
        of_floats = [line for line in sums if ("matmul" in line or "conv" in line) and "i32>" not in line.split("->")[-1]]
        self.assertEqual(not of_floats, is_exact, text)
        got = np.asarray(run(built, *model.inputs.values()))
        want = np.asarray(ReferenceEvaluator(built).run(None, model.inputs)[0])
        self.assertEqual(got.shape, want.shape)
        finite = np.abs(want[np.isfinite(want)]).max(initial=1e-30)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * finite)

    def test_products(self) -> None:
        for left, right, zero in itertools.product(("uint8", "int8"), ("uint8", "int8"), (None, 5)):
            for shape, weights, axis in (((3, 7), (7, 5), 1), ((2, 3, 9), (9, 4), -1), ((6,), (6, 3), 1),
                                         ((2, 1, 3, 5), (4, 5, 2), None), ((4, 6), (6,), None), ((1, 1), (1, 1), 1),
                                         ((0, 6), (6, 2), 1)):
                model = Model()
                x = model.dequantize(model.input(draw(left, *shape)), 0.02, None if zero is None else np.array(zero, left))
                count = weights[axis] if axis is not None else None
                scale = 0.01 if count is None else RNG.uniform(0.01, 0.05, count)
                zeros = None if zero is None else np.full(() if count is None else (count,), zero, right)
                y = model.dequantize(model.constant(draw(right, *weights)), scale, zeros,
                                     **({} if axis is None else {"axis": axis}))
                model.op("MatMul", x, y)
                self.check(model)

    def test_transposed_weights(self) -> None:
        model = Model()
        x = model.dequantize(model.input(draw("uint8", 5, 11), ["n", 11]), 0.02, np.uint8(128))
        w = model.dequantize(model.constant(draw("int8", 4, 11)), RNG.uniform(0.01, 0.05, 4), np.zeros(4, np.int8), axis=0)
        model.op("MatMul", x, model.op("Transpose", w, perm=[1, 0]))
        self.check(model)

    def test_gemm(self) -> None:
        for left, right in itertools.product((0, 1), (0, 1)):
            model = Model()
            x = model.dequantize(model.input(draw("uint8", *((8, 3) if left else (3, 8)))), 0.03, np.uint8(100))
            w = model.dequantize(model.constant(draw("int8", *((5, 8) if right else (8, 5)))), RNG.uniform(0.01, 0.05, 5),
                                 None, axis=0 if right else 1)
            c = model.dequantize(model.constant(draw("int16", 5).astype(np.int32)), 0.001)
            model.op("Gemm", x, w, c, transA=left, transB=right, alpha=0.5, beta=2.0)
            self.check(model)

    def test_convolutions(self) -> None:
        for shape, weights, zero, attributes in (
                ((1, 3, 9, 8), (4, 3, 3, 3), None, {"pads": [1, 1, 1, 1]}),
                ((2, 4, 7, 7), (4, 1, 3, 3), None, {"group": 4, "strides": [2, 2], "pads": [1, 0, 1, 2]}),
                ((1, 4, 6, 5), (6, 2, 2, 2), 3, {"group": 2, "dilations": [2, 1]}),
                ((2, 3, 12), (5, 3, 4), None, {"strides": [3], "pads": [2, 1]}),
                ((1, 2, 4, 5, 3), (3, 2, 2, 2, 2), None, {"pads": [1, 1, 1, 0, 0, 0]})):
            for left, right, has_bias in itertools.product(("uint8", "int8"), ("uint8", "int8"), (False, True)):
                model = Model()
                x = model.dequantize(model.input(draw(left, *shape)), 0.02, np.array(17, left))
                zeros = None if zero is None else np.full(weights[0], zero, right)
                names = [x, model.dequantize(model.constant(draw(right, *weights)), RNG.uniform(0.01, 0.05, weights[0]),
                                             zeros, axis=0)]
                if has_bias:
                    names.append(model.dequantize(model.constant(draw("int16", weights[0]).astype(np.int32)), 0.0004))
                model.op("Conv", *names, **attributes)
                self.check(model)

    def test_both_uses(self) -> None:
        """The dequantized input is also a result of its own."""
        model = Model()
        x = model.dequantize(model.input(draw("int8", 4, 4)), 0.25, np.int8(-3))
        y = model.op("MatMul", x, model.dequantize(model.constant(draw("int8", 4, 4)), 0.125))
        model.op("Add", x, y)
        self.check(model)

    def test_sums_of_floats(self) -> None:
        """What is not exact in 32 bits, or has scales along the sum, or scales that the run computes."""
        def operands(count: int, **attributes: Any) -> tuple[Model, str]:
            model = Model()
            return model, model.input(draw("uint8", 2, count))

        model, x = operands(33026)
        model.op("MatMul", model.dequantize(x, 0.01), model.dequantize(model.constant(draw("int8", 33026, 1)), 0.01))
        self.check(model, is_exact=False)
        model, x = operands(6)
        model.op("MatMul", model.dequantize(x, 0.01), model.dequantize(
            model.constant(draw("int8", 6, 3)), RNG.uniform(0.01, 0.05, 6), axis=0))
        self.check(model, is_exact=False)
        model, x = operands(6)
        model.op("MatMul", model.dequantize(x, RNG.uniform(0.01, 0.05, 6), axis=1), model.dequantize(
            model.constant(draw("int8", 6, 3)), 0.01))
        self.check(model, is_exact=False)
        model, x = operands(6)
        model.op("MatMul", model.dequantize(x, 0.01), model.dequantize(
            model.constant(draw("int8", 6, 3)), RNG.uniform(0.01, 0.05, (2, 3)), axis=0, block_size=3))
        self.check(model, is_exact=False)
        model, x = operands(6)
        scale = model.input(np.array(0.5, np.float32))
        model.op("MatMul", model.dequantize(x, scale), model.dequantize(model.constant(draw("int8", 6, 3)), 0.01))
        self.check(model, is_exact=False)
        model, x = operands(6)
        model.op("MatMul", model.dequantize(x, 3e38), model.dequantize(model.constant(draw("int8", 6, 3)), 1e-38))
        self.check(model, is_exact=False)
        model, x = operands(6)
        model.op("MatMul", model.dequantize(x, np.inf), model.dequantize(model.constant(draw("int8", 6, 3)), 0.01))
        built = model.build()
        with np.errstate(invalid="ignore"):
            want = np.asarray(ReferenceEvaluator(built).run(None, model.inputs)[0])
        np.testing.assert_array_equal(np.asarray(run(built, *model.inputs.values())), want)

    def test_last_step(self) -> None:
        """A result that is quantized after other values are may differ from the runtime's by one step."""
        model = Model()
        step, zero = model.constant(np.float32(0.5)), model.constant(np.uint8(128))
        y = model.input(RNG.standard_normal((64, 48)).astype(np.float32) * 10)
        for _ in range(3):
            q = model.op("DequantizeLinear", model.op("QuantizeLinear", y, step, zero), step, zero)
            y = model.op("MatMul", q, model.dequantize(model.constant(draw("int8", 48, 48)), 0.01))
        q = model.op("DequantizeLinear", model.op("QuantizeLinear", y, step, zero), step, zero)
        model.op("Reshape", q, model.constant(np.array([48, 64])))
        prepared = prepare_checked(model.build())
        oracle = run_oracle(prepared, [list(model.inputs.values())])
        self.assertGreaterEqual(oracle.rounding[0], 0.5)


if __name__ == "__main__":
    unittest.main()
