"""Operators that convert elements, and those that return what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layout_mlir.onnx_import import tracked
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL, F8E8M0, F32, I32, I64, Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.values import Scalar, Tensor, Value


def saturates(element: Element) -> bool:
    """Returns true if Cast clamps to the element type unless `saturate` is 0: floats of 8 bits and a sign."""
    return element.is_float and element.bits == 8 and element is not F8E8M0


def largest_finite(element: Element) -> float:
    """Returns the largest finite value of a float type."""
    import ml_dtypes

    finfo: Callable[..., Any] = ml_dtypes.finfo
    return float(finfo(element.dtype).max)


def cast_scalar(s: Scalars, x: Scalar, element: Element, saturate: bool = True) -> Scalar:
    """Converts as ONNX's Cast, which clamps to the finite values of floats of 8 bits."""
    if not saturate or not saturates(element) or x.element == element:
        return s.cast(x, element)
    largest = largest_finite(element)
    wide = x if x.element and x.element.is_float and x.element.bits >= 32 else s.cast(x, F32)
    return s.cast(s.clamp(wide, -largest, largest), element)


def cast(b: Builder, node: Node, x: Tensor, element: Element, saturate: bool = True) -> Tensor:
    """Converts a tensor and keeps track of sizes."""
    if element.kind == "c" or x.element.kind == "c":
        node.refuse("complex elements are not converted")
    if F8E8M0 in (element, x.element):
        node.refuse("elements of type FLOAT8E8M0 are not computed")
    if element == x.element:
        return x
    known = None
    if element in (I32, I64) and x.element in (I32, I64):
        known = tracked.track(b, lambda a: a, [x], element)
    elif element is BOOL:
        known = tracked.track(b, lambda a: tracked.holds(b, "ne", a, 0), [x], element)
    return known or b.elementwise(lambda s, x: cast_scalar(s, x, element, saturate), x, element=element)


@operator("Cast")
def cast_to(b: Builder, node: Node, x: Tensor) -> Tensor:
    code = node.attribute("to")
    if isinstance(code, str):  # opset 1
        from onnx import TensorProto

        code = TensorProto.DataType.Value(code)
    element = node.importer.element_of(code, "the result")
    return cast(b, node, x, element, bool(node.attribute("saturate", 1)))


@operator("CastLike")
def cast_like(b: Builder, node: Node, x: Tensor, like: Tensor) -> Tensor:
    return cast(b, node, x, like.element, bool(node.attribute("saturate", 1)))


@operator("BitCast")
def bit_cast(b: Builder, node: Node, x: Tensor) -> Tensor:
    element = node.importer.element_of(node.attribute("to"), "the result")
    if "c" in (element.kind, x.element.kind):
        node.refuse("complex elements are not converted")

    def body(s: Scalars, x: Scalar) -> Scalar:
        assert x.element is not None
        if BOOL in (x.element, element):  # a byte in ONNX
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
        node.refuse("its result is random: it is in training mode, or that is known only when the program runs")
    if not node.has_output(1):
        return [x]
    return [x, b.fill(x.shape, BOOL if node.opset >= 10 else x.element, 1)]
