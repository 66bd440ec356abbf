# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks elementwise ONNX operators for all element types, special values, old opsets and dynamic sizes."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402

RNG = np.random.default_rng(3)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, 2.5, -2.5, 1e-20, 100.0, -100.0], np.float32)
UNARY = ["Abs", "Neg", "Sign", "Reciprocal", "Exp", "Erf", "Sigmoid", "Tanh", "Floor", "Ceil", "Round", "Sqrt", "Log",
         "Asinh", "Atan", "Softsign", "Relu", "Elu", "Selu", "Celu", "HardSigmoid", "Softplus", "LeakyRelu",
         "ThresholdedRelu", "IsNaN", "IsInf", "Shrink", "Mish", "HardSwish", "Gelu"]


def integers(dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, shape, dtype, endpoint=True)


class Elementwise(unittest.TestCase):
    def test_functions(self) -> None:
        nodes = Nodes(21)
        for op in UNARY:
            x = SPECIAL[3:] if op in ("Softplus", "Mish", "HardSwish", "Gelu", "Sign") else SPECIAL
            nodes.add(op, x, dynamic=op in UNARY[::2])
            if op not in ("Celu", "Softsign", "Mish"):
                nodes.add(op, RNG.standard_normal((2, 3)).astype(np.float16))
        for op in ("Sin", "Cos", "Tan", "Asin", "Acos", "Sinh", "Cosh", "Atanh"):
            nodes.add(op, RNG.uniform(-0.9, 0.9, (3, 5)).astype(np.float32))
        nodes.add("Acosh", RNG.uniform(1, 9, (5,)))
        nodes.add("Gelu", RNG.standard_normal((4,)).astype(np.float32), approximate="tanh")
        nodes.add("Elu", SPECIAL, alpha=0.3)
        nodes.add("Selu", SPECIAL[1:], alpha=2.0, gamma=3.0)
        nodes.add("Celu", SPECIAL[3:], alpha=2.0)
        nodes.add("HardSigmoid", SPECIAL, alpha=0.5, beta=0.1)
        nodes.add("Shrink", integers("int8", 9), lambd=20.0, bias=5.0)
        nodes.add("IsInf", SPECIAL, detect_negative=0)
        nodes.add("IsInf", SPECIAL, detect_positive=0, detect_negative=0)
        nodes.add("Sign", integers("uint8", 9))
        nodes.add("Sign", np.array([np.nan, -0.0], np.float32), expected=[np.array([np.nan, 0], np.float32)])
        nodes.add("Abs", np.array([-128, 127], np.int8))
        nodes.check()

    def test_integers(self) -> None:
        nodes = Nodes(21)
        for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            x, y = integers(dtype, 3, 4), integers(dtype, 4)
            y[y == 0] = 3
            for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "BitwiseXor", "BitwiseAnd"):
                nodes.add(op, x, y)
            nodes.add("Mod", x, y, fmod=1, expected=[np.fmod(x, y)])
            for op in ("Less", "GreaterOrEqual", "Equal"):
                nodes.add(op, x, Constant(np.full((), 100, dtype)))
            nodes.add("Clip", x, np.array(7, dtype), Constant(np.array(99, dtype)))
            nodes.add("BitwiseNot", x)
        for direction in ("LEFT", "RIGHT"):
            nodes.add("BitShift", integers("uint8", 8), RNG.integers(0, 8, 8, "uint8"), direction=direction)
        nodes.add("Pow", np.array([-2, 3, 7], np.int32), np.array([3, 2, 0], np.int32))
        nodes.add("Pow", np.array([-2, 3, 7], np.int64), Constant(np.array(2, np.int64)))
        nodes.check()

    def test_shifts_of_signed_integers(self) -> None:
        nodes = Nodes(28)
        x, y = np.array([-9, -9, 9, 9, -9], np.int8), np.array([1, 9, 1, -1, -1], np.int8)
        nodes.add("BitShift", x, y, direction="RIGHT", expected=[np.array([-5, -1, 4, 0, -1], np.int8)])
        nodes.add("BitShift", x, y, direction="LEFT", expected=[np.array([-18, 0, 18, 0, 0], np.int8)])
        floats = np.array([0.0, -0.0, 5.5, -5.5, 5.5, 3.0], np.float32)
        divisors = np.array([-2.0, 2.0, -2.0, 2.0, np.inf, -np.inf], np.float32)
        nodes.add("Mod", floats, divisors, expected=[np.array([-0.0, 0.0, -0.5, 0.5, 5.5, -np.inf], np.float32)])
        nodes.check()

    def test_broadcasting(self) -> None:
        nodes = Nodes(21)
        x, y, z = (RNG.standard_normal(shape).astype(np.float32) for shape in ((2, 1, 4), (3, 1), (1,)))
        for dynamic in (False, True):
            for op in ("Max", "Min", "Sum", "Mean"):
                nodes.add(op, x, y, z, dynamic=dynamic)
            nodes.add("Where", y > 0, x, y, dynamic=dynamic)
            nodes.add("And", y > 0, x > 0, dynamic=dynamic)
            nodes.add("PRelu", x, np.float32([0.5]), dynamic=dynamic)
            nodes.add("Add", x[:0], Constant(y), dynamic=dynamic)
            nodes.add("Sub", np.array(3, np.float32), x, dynamic=dynamic)
        nodes.add("Max", np.float32([np.nan, 1]), np.float32([1, np.nan]))
        nodes.add("Pow", x, Constant(np.array(0.5, np.float32)))
        nodes.add("Pow", SPECIAL, Constant(np.array(0.5, np.float32)))
        nodes.add("Pow", SPECIAL, Constant(np.array(2, np.int64)))
        nodes.add("Pow", SPECIAL[5:9], np.array([3, 2, -1, 0], np.int64))
        nodes.add("Mod", x, y, fmod=1)
        nodes.add("Clip", SPECIAL[3:], None, Constant(np.array(1, np.float32)))
        nodes.add("Clip", SPECIAL[1:], Constant(np.array(2, np.float32)), Constant(np.array(1, np.float32)))
        nodes.add("Equal", SPECIAL, SPECIAL)
        nodes.check()

    def test_old_opsets(self) -> None:
        x, y = RNG.standard_normal((2, 3, 4)).astype(np.float32), RNG.standard_normal((3,)).astype(np.float32)
        nodes = Nodes(6)
        column = y.reshape(3, 1)
        nodes.add("Add", x, y, broadcast=1, axis=1, expected=[x + column])
        nodes.add("Mul", x, x[0, 0], broadcast=1, expected=[x * x[0, 0]])
        nodes.add("PRelu", x, y, expected=[np.where(x < 0, x * column, x)])
        nodes.add("Clip", SPECIAL, min=-1.0, expected=[np.clip(SPECIAL, -1, np.finfo(np.float32).max)])
        nodes.add("Dropout", x, is_test=1, expected=[x])
        nodes.add("Cast", x, to=7, expected=[x.astype(np.int64)])
        nodes.check()

    def test_casts(self) -> None:
        nodes = Nodes(21)
        floats = np.array([0.0, -0.0, 1.9, -1.9, 100.4, np.nan], np.float32)
        for code in (2, 3, 4, 5, 6, 7, 12, 13):
            nodes.add("Cast", floats[2:5] * (1 if code in (3, 5, 6, 7) else -np.sign(-floats[2:5])), to=code)
        for code in (1, 9, 10, 11, 16):
            nodes.add("Cast", floats, to=code)
            for dtype in ("int8", "uint8", "uint32", "int64", "bool", "float16"):
                x = RNG.integers(0, 2, 6).astype(dtype) if dtype in ("bool", "float16") else integers(dtype, 6)
                nodes.add("Cast", x, to=code)
        nodes.add("Cast", integers("int32", 7), to=3)
        nodes.add("CastLike", floats, np.zeros(1, np.float16))
        for code in (17, 18, 19, 20):
            for saturate in (0, 1):
                x = np.array([np.nan, np.inf, -np.inf, 1e6, -1e6, 0.3, 240.0, 3.0625, 447.9], np.float32)
                nodes.add("Cast", x, to=code, saturate=saturate)
        nodes.check()

    def test_reinterpretation(self) -> None:
        nodes = Nodes(26)
        nodes.add("BitCast", SPECIAL, to=6, expected=[SPECIAL.view(np.int32)])
        nodes.add("BitCast", integers("int8", 5), to=2)
        nodes.check()

    def test_dropout_and_constants(self) -> None:
        nodes = Nodes(21)
        x = RNG.standard_normal((2, 3)).astype(np.float32)
        nodes.add("Dropout", x, Constant(np.array(0.5, np.float32)), Constant(np.array(False)), outputs=2,
                  expected=[x, np.ones((2, 3), bool)])
        nodes.add("Dropout", x, Constant(np.array(0, np.float32)), Constant(np.array(True)), expected=[x])
        nodes.add("Identity", x)
        nodes.add("ConstantOfShape", np.array([2, 3], np.int64))
        nodes.check()


if __name__ == "__main__":
    unittest.main(verbosity=2)
