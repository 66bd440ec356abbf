# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks that quantized operators round as ONNX Runtime does, for scales of tensors, dims and blocks."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402

from layout_mlir.onnx_import.node import find_operator  # noqa: E402

RNG = np.random.default_rng(5)


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


DOMAIN = {"domain": "com.microsoft"}
# Halves between two integers, and saturated values.
STEPS = np.array([[-1000, -2.5, -1.5, -0.5, -0.2], [0.5, 1.5, 2.5, 254.5, 1000]], np.float32)


def u8(*shape: int) -> np.ndarray:
    return RNG.integers(0, 256, shape).astype(np.uint8)


class Quantization(unittest.TestCase):
    def test_quantize(self) -> None:
        nodes = Nodes(21)
        for dtype in ("uint8", "int8", "uint16", "int16"):
            for zero in (0, 3):
                nodes.add("QuantizeLinear", STEPS, np.float32(1), np.array(zero, dtype))
                nodes.add("QuantizeLinear", STEPS, Constant(np.array(0.5, np.float32)), Constant(np.array(zero, dtype)))
        nodes.add("QuantizeLinear", STEPS, np.float32(0.7))
        nodes.add("QuantizeLinear", STEPS, np.float32(0.7), output_dtype=3)
        nodes.add("QuantizeLinear", f32(40, 30) * 9, np.float32(0.03), np.uint8(128), dynamic=True)
        nodes.add("QuantizeLinear", f32(2, 3, 4) * 50, np.float32([1, 2, 3]), np.uint8([1, 2, 3]))
        nodes.add("QuantizeLinear", f32(2, 3, 4) * 50, np.float32([1, 2]), Constant(np.int8([-1, 2])), axis=-3,
                  dynamic=True)
        nodes.add("QuantizeLinear", (f32(3, 4) * 50).astype(np.float16), np.float16(2), np.int8(1))
        for shape, blocks in (((2, 6), (2, 3)), ((2, 5), (2, 3))):
            nodes.add("QuantizeLinear", f32(*shape) * 9, np.abs(f32(*blocks)) + 0.1, np.zeros(blocks, np.int8),
                      axis=1, block_size=2)
        for code in (17, 18, 19, 20):
            nodes.add("QuantizeLinear", STEPS, np.float32(2.0), output_dtype=code)
            nodes.add("QuantizeLinear", STEPS, np.float32(2.0), output_dtype=code, saturate=0)
        nodes.check()

    def test_quantize_integers(self) -> None:
        nodes = Nodes(13)  # later opsets require a scale of the input's type
        nodes.add("QuantizeLinear", RNG.integers(-999, 999, (3, 4)).astype(np.int32), np.float32(2.5), np.int8(1))
        nodes.check()

    def test_dequantize(self) -> None:
        nodes = Nodes(21)
        for dtype in ("uint8", "int8", "uint16", "int16"):
            info = np.iinfo(dtype)
            x = RNG.integers(info.min, info.max, (2, 3, 4), dtype, endpoint=True)
            nodes.add("DequantizeLinear", x, np.float32(0.1), np.array(info.max, dtype), dynamic=True)
            nodes.add("DequantizeLinear", x, np.float32([1, 2, 3]), np.array([1, 2, 3], dtype))
            nodes.add("DequantizeLinear", x, np.float16(0.125))
        nodes.add("DequantizeLinear", RNG.integers(-999, 999, (3, 4)).astype(np.int32), np.float32(0.5))
        nodes.add("DequantizeLinear", u8(4, 3), np.abs(f32(2, 3)), u8(2, 3), axis=0, block_size=2)
        nodes.add("DequantizeLinear", Constant(u8(5, 3)), np.abs(f32(3, 3)), axis=0, block_size=2)
        nodes.check()

    def test_dynamic(self) -> None:
        nodes = Nodes(11)
        for x in (f32(3, 4), np.abs(f32(5)) + 2, -np.abs(f32(5)), np.zeros((2, 2), np.float32)):
            nodes.add("DynamicQuantizeLinear", x, outputs=3)
        nodes.add("DynamicQuantizeLinear", f32(30, 40), outputs=3, dynamic=True)
        nodes.check()

    def test_quantized_operators(self) -> None:
        nodes, a, b = Nodes(17), (np.float32(0.05), np.uint8(120)), (np.float32(0.03), np.uint8(99))
        c = (np.float32(0.1), np.uint8(110))
        for op in ("QLinearAdd", "QLinearMul"):
            nodes.add(op, u8(2, 3, 40), *a, u8(3, 40), *b, *c, steps=1, **DOMAIN)
            nodes.add(op, u8(2, 3, 4), *map(Constant, map(np.asarray, a)), Constant(u8(1)), *b, *c, steps=1, **DOMAIN)
        nodes.add("QLinearSigmoid", u8(3, 50), *a, np.float32(1 / 256), np.uint8(0), steps=1, **DOMAIN)
        nodes.add("QLinearLeakyRelu", u8(3, 50), *a, *b, alpha=0.1, steps=1, **DOMAIN)
        nodes.add("QLinearSoftmax", u8(3, 20), np.float32(0.05), np.uint8(120), np.float32(1 / 256), np.uint8(0),
                  opset=13, axis=-1, steps=1, **DOMAIN)
        nodes.add("QLinearConcat", *c, u8(2, 3), *a, u8(2, 5), *b, axis=1, steps=1, **DOMAIN)
        for padding in ({}, {"channels_last": 1}) if find_operator("", "AveragePool") else ():
            x = u8(1, 3, 5, 3)
            nodes.add("QLinearAveragePool", x, *a, *c, kernel_shape=[2, 2], strides=[2, 1], steps=1, **padding,
                      **DOMAIN)
            nodes.add("QLinearGlobalAveragePool", x, *a, *c, steps=1, **padding, **DOMAIN)
        x, y = u8(3, 8), RNG.integers(-60, 60, (8, 5)).astype(np.int8)
        bias = RNG.integers(-999, 999, 5).astype(np.int32)
        scales, zeros = RNG.uniform(0.01, 0.02, 5).astype(np.float32), np.zeros(5, np.int8)
        nodes.add("QGemm", x, *a, y, scales, zeros, bias, *c, alpha=0.5, steps=1, **DOMAIN)
        nodes.add("QGemm", x, *a, Constant(y.T.copy()), np.float32(0.01), np.int8(3), bias, transB=1, **DOMAIN)
        nodes.add("MatMulIntegerToFloat", x, Constant(y), a[0], scales, a[1], zeros, f32(5), atol=1e-5, **DOMAIN)
        nodes.add("DynamicQuantizeMatMul", f32(3, 8), Constant(y), Constant(scales), Constant(zeros), f32(5), atol=1e-5,
                  **DOMAIN)
        nodes.add("QuantizeLinear", STEPS, np.float32(1), np.uint8(3), **DOMAIN)
        nodes.add("DequantizeLinear", u8(3, 4), np.float32([1, 2, 3]), u8(3), axis=0, **DOMAIN)
        nodes.check()


if __name__ == "__main__":
    unittest.main(verbosity=2)
