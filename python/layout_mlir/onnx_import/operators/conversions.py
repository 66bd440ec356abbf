"""Operators that convert elements, and identity operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layout_mlir.onnx_import import tracked
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL, F8E8M0, F32, F64, I32, I64, U8, Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.values import Scalar, Tensor, Value


def saturates(element: Element, saturate: bool) -> bool:
    """Returns true if Cast clamps to the element type. For signed 8-bit floats its attribute `saturate` decides;
    narrower floats always clamp, because they have neither infinity nor NaN."""
    return element.is_float and element is not F8E8M0 and (element.bits < 8 or element.bits == 8 and saturate)


def largest_finite(element: Element) -> float:
    """Returns the largest finite value of a float type."""
    import ml_dtypes

    finfo: Callable[..., Any] = ml_dtypes.finfo
    return float(finfo(element.dtype).max)


def cast_scalar(s: Scalars, x: Scalar, element: Element, saturate: bool = True, rounding: str = "up") -> Scalar:
    """Converts as ONNX's Cast. `rounding` is the attribute `round_mode`, which only applies to FLOAT8E8M0."""
    if x.element == element:
        return x
    if element is F8E8M0:
        return cast_to_exponent(s, x, saturate, rounding)
    if not saturates(element, saturate):
        return s.cast(x, element)
    largest = largest_finite(element)
    wide = x if x.element and x.element.is_float and x.element.bits >= 32 else s.cast(x, F32)
    return s.cast(s.clamp(wide, -largest, largest), element)


def cast_to_exponent(s: Scalars, x: Scalar, saturate: bool, rounding: str) -> Scalar:
    """Converts to FLOAT8E8M0, whose values are 2**-127 to 2**127 and NaN; the sign of x is ignored. With `saturate`,
    values out of range, including infinity, become the nearest value, otherwise NaN."""
    # Powers of two that are denormal in f32 are normal in f64, whose exponent starts at bit 52 with a bias of 1023.
    bits = s.op(f"arith.bitcast {s.cast(x, F64).name} : f64 to i64", I64)
    digits = s.bit_and(bits, (1 << 63) - 1)
    raised = s.add(digits, {"up": (1 << 52) - 1, "nearest": 1 << 51, "down": 0}[rounding])
    byte = s.sub(s.op(f"arith.shrui {raised.name}, {s.constant(52, I64).name} : i64", I64), 1023 - 127)
    infinity, nan = 2047 << 52, 255
    if saturate:
        byte = s.select(s.greater(digits, infinity), nan, s.clamp(byte, 0, nan - 1))
    else:
        inside = s.bit_and(s.less(byte, nan), s.bit_xor(s.less(digits, (1023 - 127) << 52), True))
        byte = s.select(inside, byte, nan)
    return s.op(f"arith.bitcast {s.cast(byte, U8).name} : i8 to {F8E8M0}", F8E8M0)


def cast(b: Builder, node: Node, x: Tensor, element: Element) -> Tensor:
    """Converts a tensor as Cast or CastLike, and tracks known sizes."""
    if element.kind == "c" or x.element.kind == "c":
        node.refuse("conversion of complex elements is not supported")
    if element == x.element:
        return x
    known = None
    if element in (I32, I64) and x.element in (I32, I64):
        known = tracked.track(b, lambda a: a, [x], element)
    elif element is BOOL:
        known = tracked.track(b, lambda a: tracked.holds(b, "ne", a, 0), [x], element)
    if known:
        return known
    saturate, rounding = bool(node.attribute("saturate", 1)), node.attribute("round_mode", "up")
    if rounding not in ("up", "down", "nearest"):
        node.refuse(f"'round_mode' is '{rounding}', not 'up', 'down' or 'nearest'")
    return b.elementwise(lambda s, x: cast_scalar(s, x, element, saturate, rounding), x, element=element)


@operator("Cast")
def cast_to(b: Builder, node: Node, x: Tensor) -> Tensor:
    code = node.attribute("to")
    if isinstance(code, str):  # opset 1
        from onnx import TensorProto

        code = TensorProto.DataType.Value(code)
    return cast(b, node, x, node.importer.element_of(code, "the result"))


@operator("CastLike")
def cast_like(b: Builder, node: Node, x: Tensor, like: Tensor) -> Tensor:
    return cast(b, node, x, like.element)


@operator("BitCast")
def bit_cast(b: Builder, node: Node, x: Tensor) -> Tensor:
    element = node.importer.element_of(node.attribute("to"), "the result")
    if "c" in (element.kind, x.element.kind):
        node.refuse("conversion of complex elements is not supported")

    def body(s: Scalars, x: Scalar) -> Scalar:
        assert x.element is not None
        if BOOL in (x.element, element):  # booleans have one byte in ONNX
            return s.cast(x, element)
        if x.type == element.mlir:
            return Scalar(x.name, element)
        return s.op(f"arith.bitcast {x.name} : {x.type} to {element}", element)

    return b.elementwise(body, x, element=element)


@operator("Identity")
def identity(b: Builder, node: Node, x: Value) -> Value:
    return x


@operator("Dropout")
def dropout(b: Builder, node: Node, x: Tensor, ratio: Tensor | None = None,
            training: Tensor | None = None) -> list[Tensor]:
    if node.opset < 7:
        trains: object = not node.attribute("is_test", 0)
    else:
        trains = training.constant_scalar() if training is not None else False
    rate = node.attribute("ratio", 0.5) if node.opset < 12 else ratio.constant_scalar() if ratio is not None else 0.5
    if trains is not False and rate != 0:
        node.refuse("its result is random: training mode is set, or is not a constant")
    if not node.has_output(1):
        return [x]
    # Before opset 12, ONNX does not define the mask of a node that copies its input; ONNX Runtime returns zeros.
    return [x, b.fill(x.shape, BOOL if node.opset >= 10 else x.element, int(node.opset >= 12))]
