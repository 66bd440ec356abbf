"""Arithmetic on scalars in the body of an op.

    def body(s, x, y):          s: Scalars; x, y: the elements
        return s.select(s.less(x, y), s.exp(x), s.constant(0, y.element))

Each method writes one arith or math op for the element type of its operands: floats, signed and unsigned integers, or
booleans. A Python number beside a Scalar becomes a constant of its element type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from layout_mlir.onnx_import.elements import BOOL, F32, I32, I64, Element
from layout_mlir.onnx_import.values import Scalar

if TYPE_CHECKING:
    from layout_mlir.onnx_import.writer import Writer

Operand = Scalar | int | float | bool

# The float types that math and arith compute directly; narrower ones are computed in f32.
_COMPUTED = {"f16", "bf16", "f32", "f64"}


def format_number(value: Any, element: Element | None) -> str:
    """Returns a number as the literal of an attribute."""
    if element is None:
        return str(int(value))
    if element.kind == "b":
        return "true" if value else "false"
    if element.is_integer:
        value = int(value)
        # A signless literal has the bit pattern of the unsigned value.
        return str(value - (1 << element.bits) if value >= 1 << (element.bits - 1) else value)
    value = float(value)
    if math.isfinite(value):
        return f"{value:.17e}"
    bits = np.array(value, element.dtype)
    return f"0x{bits.view(f'u{bits.itemsize}').item():0{2 * bits.itemsize}X}"


class Scalars:
    """Writes scalar operations through a Writer."""

    def __init__(self, builder: Writer) -> None:
        self.builder = builder

    # ------------------------------------------------------------------ operands

    def op(self, text: str, element: Element | None) -> Scalar:
        """Writes an op with one result."""
        return Scalar(self.builder.emit(text), element)

    def constant(self, value: float | bool, element: Element | None) -> Scalar:
        return Scalar(self.builder.scalar_constant(value, element), element)

    def _pair(self, a: Operand, b: Operand) -> tuple[Scalar, Scalar]:
        if isinstance(a, Scalar):
            return a, b if isinstance(b, Scalar) else self.constant(b, a.element)
        assert isinstance(b, Scalar)
        return self.constant(a, b.element), b

    def _binary(self, a: Operand, b: Operand, on_float: str, on_signed: str, on_unsigned: str = "",
                on_bool: str = "") -> Scalar:
        a, b = self._pair(a, b)
        kind = a.element.kind if a.element else "i"
        name = {"f": on_float, "i": on_signed, "u": on_unsigned or on_signed, "b": on_bool or on_signed}[kind]
        return self.op(f"{name} {a.name}, {b.name} : {a.type}", a.element)

    # ---------------------------------------------------------------- arithmetic

    def add(self, a: Operand, b: Operand) -> Scalar:
        return self._binary(a, b, "arith.addf", "arith.addi")

    def sub(self, a: Operand, b: Operand) -> Scalar:
        return self._binary(a, b, "arith.subf", "arith.subi")

    def mul(self, a: Operand, b: Operand) -> Scalar:
        return self._binary(a, b, "arith.mulf", "arith.muli")

    def div(self, a: Operand, b: Operand) -> Scalar:
        """Divides; integers round towards zero. Division by zero is undefined, as in ONNX."""
        return self._binary(a, b, "arith.divf", "arith.divsi", "arith.divui")

    def rem(self, a: Operand, b: Operand) -> Scalar:
        """Computes the remainder with the sign of the dividend, like C's fmod."""
        return self._binary(a, b, "arith.remf", "arith.remsi", "arith.remui")

    def max(self, a: Operand, b: Operand) -> Scalar:
        """Computes the maximum; NaN if either operand is NaN."""
        return self._binary(a, b, "arith.maximumf", "arith.maxsi", "arith.maxui", "arith.ori")

    def min(self, a: Operand, b: Operand) -> Scalar:
        """Computes the minimum; NaN if either operand is NaN."""
        return self._binary(a, b, "arith.minimumf", "arith.minsi", "arith.minui", "arith.andi")

    def clamp(self, x: Scalar, low: Operand, high: Operand) -> Scalar:
        return self.min(self.max(x, low), high)

    def neg(self, x: Scalar) -> Scalar:
        if x.element and x.element.is_float:
            return self.op(f"arith.negf {x.name} : {x.type}", x.element)
        return self.sub(0, x)

    def abs(self, x: Scalar) -> Scalar:
        if x.element and x.element.is_unsigned:
            return x
        name = "math.absf" if x.element and x.element.is_float else "math.absi"
        return self.op(f"{name} {x.name} : {x.type}", x.element)

    def bit_and(self, a: Operand, b: Operand) -> Scalar:
        return self._binary(a, b, "", "arith.andi")

    def bit_or(self, a: Operand, b: Operand) -> Scalar:
        return self._binary(a, b, "", "arith.ori")

    def bit_xor(self, a: Operand, b: Operand) -> Scalar:
        return self._binary(a, b, "", "arith.xori")

    def invert(self, x: Scalar) -> Scalar:
        """Inverts all bits of an integer, or a boolean."""
        return self.bit_xor(x, True if x.element is BOOL else -1)

    # ---------------------------------------------------------------- comparison

    def compare(self, predicate: str, a: Operand, b: Operand) -> Scalar:
        """Compares by `predicate`: eq, ne, lt, le, gt or ge. Comparisons with NaN are false, except ne."""
        a, b = self._pair(a, b)
        if a.element and a.element.is_float:
            name, predicate = "arith.cmpf", ("une" if predicate == "ne" else f"o{predicate}")
        else:
            name = "arith.cmpi"
            if predicate not in ("eq", "ne"):
                unsigned = a.element is not None and a.element.kind in "ub"
                predicate = ("u" if unsigned else "s") + predicate
        return self.op(f"{name} {predicate}, {a.name}, {b.name} : {a.type}", BOOL)

    def equal(self, a: Operand, b: Operand) -> Scalar:
        return self.compare("eq", a, b)

    def less(self, a: Operand, b: Operand) -> Scalar:
        return self.compare("lt", a, b)

    def greater(self, a: Operand, b: Operand) -> Scalar:
        return self.compare("gt", a, b)

    def select(self, condition: Scalar, a: Operand, b: Operand) -> Scalar:
        a, b = self._pair(a, b)
        return self.op(f"arith.select {condition.name}, {a.name}, {b.name} : {a.type}", a.element)

    # --------------------------------------------------------------------- floats

    def unary(self, name: str, x: Scalar) -> Scalar:
        """Writes a math op on a float, for example `math.exp`; narrow floats are computed in f32."""
        if x.type not in ("f32", "f64"):
            return self.cast(self.unary(name, self.cast(x, F32)), x.element)
        return self.op(f"{name} {x.name} : {x.type}", x.element)

    def exp(self, x: Scalar) -> Scalar:
        return self.unary("math.exp", x)

    def log(self, x: Scalar) -> Scalar:
        return self.unary("math.log", x)

    def sqrt(self, x: Scalar) -> Scalar:
        return self.unary("math.sqrt", x)

    def tanh(self, x: Scalar) -> Scalar:
        return self.unary("math.tanh", x)

    def erf(self, x: Scalar) -> Scalar:
        return self.unary("math.erf", x)

    def floor(self, x: Scalar) -> Scalar:
        return self.unary("math.floor", x)

    def ceil(self, x: Scalar) -> Scalar:
        return self.unary("math.ceil", x)

    def round_even(self, x: Scalar) -> Scalar:
        """Rounds to the nearest integer, ties to even."""
        return self.unary("math.roundeven", x)

    def pow(self, a: Scalar, b: Operand) -> Scalar:
        a, b = self._pair(a, b)
        if a.type not in ("f32", "f64"):
            return self.cast(self.pow(self.cast(a, F32), self.cast(b, F32)), a.element)
        return self.op(f"math.powf {a.name}, {b.name} : {a.type}", a.element)

    def sigmoid(self, x: Scalar) -> Scalar:
        return self.div(1.0, self.add(self.exp(self.neg(x)), 1.0))

    # ---------------------------------------------------------------- conversions

    def index_of(self, x: Scalar) -> Scalar:
        """Converts an integer or a boolean to index."""
        if x.element is None:
            return x
        name = "arith.index_castui" if x.element.kind in "ub" else "arith.index_cast"
        return self.op(f"{name} {x.name} : {x.type} to index", None)

    def cast(self, x: Scalar, element: Element | None) -> Scalar:
        """Converts as ONNX's Cast: floats to integers towards zero, values to booleans by `!= 0`, integers to narrower
        ones by their low bits."""
        if x.element == element:
            return x
        if element is None:
            return self.index_of(x)
        if x.element is None:
            return self.cast(self.op(f"arith.index_cast {x.name} : index to i64", I64), element)
        if element is BOOL:
            return self.compare("ne", x, 0)
        if x.element.is_float:
            return self._cast_float(x, element)
        if element.is_float:
            return self._integer_to_float(x, element)
        if x.element.bits == element.bits:
            return Scalar(x.name, element)
        name = ("arith.trunci" if x.element.bits > element.bits else
                "arith.extui" if x.element.kind in "ub" else "arith.extsi")
        return self.op(f"{name} {x.name} : {x.type} to {element}", element)

    def _integer_to_float(self, x: Scalar, element: Element) -> Scalar:
        assert x.element is not None
        if element.mlir not in _COMPUTED:
            return self._cast_float(self._integer_to_float(x, F32), element)
        name = "arith.uitofp" if x.element.kind in "ub" else "arith.sitofp"
        return self.op(f"{name} {x.name} : {x.type} to {element}", element)

    def _cast_float(self, x: Scalar, element: Element) -> Scalar:
        assert x.element is not None
        if element.is_float:
            if element.bits == x.element.bits:  # neither extends nor truncates
                return self._cast_float(self.op(f"arith.extf {x.name} : {x.type} to f32", F32), element)
            name = "arith.extf" if element.bits > x.element.bits else "arith.truncf"
            return self.op(f"{name} {x.name} : {x.type} to {element}", element)
        # Narrow integers are the low bits of a wide conversion.
        wide = I32 if element.bits < 32 else element if element.kind == "i" else I64
        if element.is_unsigned and element.bits == 64:
            return self.op(f"arith.fptoui {x.name} : {x.type} to i64", element)
        if x.element.mlir not in _COMPUTED:
            x = self._cast_float(x, F32)
        return self.cast(self.op(f"arith.fptosi {x.name} : {x.type} to {wide}", wide), element)


Body = Callable[..., "Scalar | tuple[Scalar, ...]"]

