# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks that casts between numbers of 2 to 8 bits and others follow ONNX."""

import math
import pathlib
import sys
import unittest

import ml_dtypes
import numpy as np
from onnx import TensorProto

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402

# Exact, halfway and too large numbers of all types, and NaN.
NUMBERS = np.float32([0, -0.0, 0.24, 0.25, 0.26, 0.75, 1, 1.25, 1.75, 2.5, 3.5, 5, 5.1, 6, 7, -7, 7.25, 7.4, 8, 28,
                      30, -31, 1e9, -1e9, np.inf, -np.inf])
POWERS = np.concatenate([np.ldexp(np.float64([1, 1.25, 1.5, 1.75]), k) for k in (-160, -128, -127, -3, 0, 5, 126, 127,
                                                                                300)] + [[0, np.inf, np.nan]])


def to_exponent(x: float, saturate: bool, rounding: str) -> int:
    """Returns the FLOAT8E8M0 byte, which is the exponent of a power of two plus 127."""
    if math.isnan(x) or not saturate and not 2.0**-127 <= x < math.inf:
        return 255
    if math.isinf(x) or x == 0:
        return 254 if x else 0
    fraction, exponent = math.frexp(x)  # at least 1/2 and less than 1
    up = fraction > 0.5 if rounding == "up" else fraction >= 0.75 if rounding == "nearest" else False
    byte = exponent - 1 + up + 127
    return min(max(byte, 0), 254) if saturate or byte < 255 else 255


class SmallElements(unittest.TestCase):
    def test_exponents(self) -> None:
        nodes = Nodes(25)
        for rounding in ("up", "down", "nearest"):
            for saturate in (True, False):
                expected = np.array([to_exponent(x, saturate, rounding) for x in POWERS], np.uint8)
                nodes.add("Cast", POWERS, to=TensorProto.FLOAT8E8M0, round_mode=rounding, saturate=int(saturate),
                          expected=[expected.view(ml_dtypes.float8_e8m0fnu)])
        every = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu)
        nodes.add("Cast", every, to=TensorProto.FLOAT, expected=[every.astype(np.float32)])
        nodes.add("Cast", Constant(every), to=TensorProto.DOUBLE, expected=[every.astype(np.float64)])
        three = np.array([3, 5], np.int64)
        nodes.add("CastLike", three, every[:1], expected=[np.uint8([129, 130]).view(every.dtype)])
        nodes.add("CastLike", three, every[:1], round_mode="down",
                  expected=[np.uint8([128, 129]).view(every.dtype)])
        nodes.check()

    def test_floats_of_few_bits(self) -> None:
        nodes = Nodes(28)
        for code, dtype in ((TensorProto.FLOAT4E2M1, ml_dtypes.float4_e2m1fn),
                            (TensorProto.FLOAT6E2M3, ml_dtypes.float6_e2m3fn),
                            (TensorProto.FLOAT6E3M2, ml_dtypes.float6_e3m2fn)):
            every = np.arange(2**ml_dtypes.finfo(dtype).bits, dtype=np.uint8).view(dtype)
            for source in (np.float16, np.float32, np.float64, ml_dtypes.bfloat16):
                with np.errstate(over="ignore"):
                    x = NUMBERS.astype(source)
                nodes.add("Cast", x, to=code, expected=[x.astype(np.float32).astype(dtype)])
            nodes.add("Cast", Constant(NUMBERS), to=code, expected=[NUMBERS.astype(dtype)])
            nodes.add("Cast", every, to=TensorProto.FLOAT, expected=[every.astype(np.float32)])
            nodes.add("Cast", every, to=TensorProto.FLOAT8E5M2,
                      expected=[every.astype(np.float32).astype(ml_dtypes.float8_e5m2)])
            nodes.add("QuantizeLinear", NUMBERS, np.float32(2), output_dtype=code,
                      expected=[(NUMBERS / 2).astype(dtype)])
            nodes.add("DequantizeLinear", every, np.float32(3), expected=[every.astype(np.float32) * 3])
        nodes.check()

    def test_integers_of_two_bits(self) -> None:
        nodes = Nodes(25)
        wide = np.arange(-9, 9)
        for code, dtype in ((TensorProto.INT2, ml_dtypes.int2), (TensorProto.UINT2, ml_dtypes.uint2)):
            low, high = (-2, 1) if code == TensorProto.INT2 else (0, 3)
            every = np.arange(low, high + 1).astype(dtype)
            nodes.add("Cast", wide, to=code, expected=[((wide - low) % 4 + low).astype(dtype)])
            nodes.add("Cast", every, to=TensorProto.FLOAT, expected=[np.arange(low, high + 1, dtype=np.float32)])
            nodes.add("Cast", Constant(every), to=TensorProto.INT64, expected=[np.arange(low, high + 1)])
            nodes.add("QuantizeLinear", np.float32([-9, -1.5, -0.5, 0.5, 1.5, 9]), np.float32(1), every[1:2].reshape(()),
                      expected=[np.clip(np.array([-9, -2, 0, 0, 2, 9]) + low + 1, low, high).astype(dtype)])
            nodes.add("DequantizeLinear", every, np.float32(2), every[:1].reshape(()),
                      expected=[np.float32([0, 2, 4, 6])])
        nodes.check()

    def test_halves_of_doubles(self) -> None:
        # Just above and below the midpoint of two f16 numbers: rounding to f32 in between would lose the difference.
        halfway = 1 + np.float64([1, 3, 5, 7]) * 2.0**-11
        x = np.concatenate([halfway, halfway + 2.0**-40, halfway - 2.0**-40, [65519.999999, 65520, 2.0**-25, 1e300]])
        nodes = Nodes(25)
        with np.errstate(over="ignore"):
            nodes.add("Cast", x, to=TensorProto.FLOAT16, expected=[x.astype(np.float16)])
        nodes.check()


if __name__ == "__main__":
    unittest.main()
