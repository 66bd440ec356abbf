"""Element types of ONNX tensors and their MLIR types."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Element:
    """An element type. `kind` is "f" (float), "i" (signed integer), "u" (unsigned integer), "b" (boolean) or "c"
    (complex). `mlir` is its signless MLIR type, `code` its number in TensorProto.DataType."""
    mlir: str
    kind: str
    bits: int
    code: int
    numpy: str

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, false for booleans."""
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        return self.kind == "u"

    @property
    def signed_mlir(self) -> str:
        """The MLIR type of a signature, which keeps the sign of unsigned integers."""
        return f"u{self.mlir}" if self.kind == "u" else self.mlir

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype, from ml_dtypes if numpy has none."""
        if hasattr(np, self.numpy):
            return np.dtype(self.numpy)
        import ml_dtypes

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, self.numpy))
        return dtype

    @property
    def lowest(self) -> float | int:
        """The least value: -inf for floats."""
        if self.kind == "f":
            return -np.inf
        return -(1 << (self.bits - 1)) if self.kind == "i" else 0

    @property
    def highest(self) -> float | int:
        """The largest value: inf for floats."""
        if self.kind == "f":
            return np.inf
        return (1 << (self.bits - (self.kind == "i"))) - 1

    def __str__(self) -> str:
        return self.mlir


F32 = Element("f32", "f", 32, 1, "float32")
U8 = Element("i8", "u", 8, 2, "uint8")
I8 = Element("i8", "i", 8, 3, "int8")
U16 = Element("i16", "u", 16, 4, "uint16")
I16 = Element("i16", "i", 16, 5, "int16")
I32 = Element("i32", "i", 32, 6, "int32")
I64 = Element("i64", "i", 64, 7, "int64")
BOOL = Element("i1", "b", 1, 9, "bool")
F16 = Element("f16", "f", 16, 10, "float16")
F64 = Element("f64", "f", 64, 11, "float64")
U32 = Element("i32", "u", 32, 12, "uint32")
U64 = Element("i64", "u", 64, 13, "uint64")
C64 = Element("complex<f32>", "c", 64, 14, "complex64")
C128 = Element("complex<f64>", "c", 128, 15, "complex128")
BF16 = Element("bf16", "f", 16, 16, "bfloat16")
F8E4M3FN = Element("f8E4M3FN", "f", 8, 17, "float8_e4m3fn")
F8E4M3FNUZ = Element("f8E4M3FNUZ", "f", 8, 18, "float8_e4m3fnuz")
F8E5M2 = Element("f8E5M2", "f", 8, 19, "float8_e5m2")
F8E5M2FNUZ = Element("f8E5M2FNUZ", "f", 8, 20, "float8_e5m2fnuz")
U4 = Element("i4", "u", 4, 21, "uint4")
I4 = Element("i4", "i", 4, 22, "int4")
F4E2M1 = Element("f4E2M1FN", "f", 4, 23, "float4_e2m1fn")
F8E8M0 = Element("f8E8M0FNU", "f", 8, 24, "float8_e8m0fnu")
U2 = Element("i2", "u", 2, 25, "uint2")
I2 = Element("i2", "i", 2, 26, "int2")
F6E2M3 = Element("f6E2M3FN", "f", 6, 27, "float6_e2m3fn")
F6E3M2 = Element("f6E3M2FN", "f", 6, 28, "float6_e3m2fn")

ALL = (F32, U8, I8, U16, I16, I32, I64, BOOL, F16, F64, U32, U64, C64, C128, BF16, F8E4M3FN, F8E4M3FNUZ, F8E5M2,
       F8E5M2FNUZ, U4, I4, F4E2M1, F8E8M0, U2, I2, F6E2M3, F6E3M2)
BY_CODE = {element.code: element for element in ALL}


def name_of_code(code: int) -> str:
    """Returns ONNX's name of an element type, or its number if ONNX does not define it."""
    from onnx import TensorProto

    return next((name for name, number in TensorProto.DataType.items() if number == code), str(code))


def of_dtype(dtype: np.dtype[Any]) -> Element:
    """Returns the element type of a numpy dtype; raises KeyError if ONNX has none."""
    return {element.numpy: element for element in ALL}[dtype.name]
