"""Quantization: integers or narrow floats with scales and zero points."""

from __future__ import annotations

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32, F64, I8, I32, I64, U8, Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.conversions import cast_scalar
from layout_mlir.onnx_import.operators.products import multiply, multiply_integers, of_columns, of_rows
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, divide
from layout_mlir.onnx_import.values import Bytes, Scalar, Tensor


# ------------------------------------------------------------------- elements

def quantize_scalar(s: Scalars, x: Scalar, zero: Scalar | None, element: Element, saturate: bool = True) -> Scalar:
    """Quantizes a float in units of the scale: rounds ties to even, adds the zero point, and clamps to the element
    type."""
    assert x.element is not None
    if element.is_float:
        if zero is not None and element.bits < 8:
            x = s.add(x, s.cast(zero, x.element))
        return cast_scalar(s, x, element, saturate)
    x = s.round_even(x)
    if zero is not None:
        x = s.add(x, s.cast(zero, x.element))
    return s.cast(s.clamp(x, element.lowest, element.highest), element)


def dequantize_scalar(s: Scalars, x: Scalar, scale: Scalar, zero: Scalar | None) -> Scalar:
    """Returns (x - zero) * scale in f32, or in f64 if the scale is f64."""
    assert x.element is not None and scale.element is not None
    element = F64 if scale.element is F64 else F32
    if zero is not None and x.element.is_integer:
        wide = I32 if x.element.bits <= 32 else I64
        x = s.sub(s.cast(x, wide), s.cast(zero, wide))
    return s.mul(s.cast(x, element), s.cast(scale, element))


# -------------------------------------------------------------------- granularity

def aligned_with(b: Builder, node: Node, x: Tensor, scale: Tensor) -> tuple[list[Size], Tensor]:
    """Returns a shape of x in which a scale or zero point broadcasts, and the scale or zero point in its shape there.
    It has one element for all of x, for each index of a dim, or for each block along a dim."""
    if scale.count == 1 and not node.attribute("block_size", 0):
        return list(x.shape), b.reshape(scale, [])
    axis = node.axis(1, x.rank)
    if scale.rank == 1 and not node.attribute("block_size", 0):
        return list(x.shape), b.reshape(scale, [*scale.shape, *[1] * (x.rank - axis - 1)])
    block = int(node.attribute("block_size", 0))
    if block <= 0 or scale.rank != x.rank:
        node.refuse("the shape of its scale must be that of one scale, of one dim or of blocks")
    size, count = x.shape[axis], scale.shape[axis]
    before, after = list(x.shape[:axis]), list(x.shape[axis + 1:])
    in_blocks = b.reshape(scale, [*before, count, 1, *after])
    if divide(size, block) == count:
        return [*before, count, block, *after], in_blocks
    repeated = b.reshape(b.broadcast_to(in_blocks, [*before, count, block, *after]), [*before, count * block, *after])
    return list(x.shape), b.slice(repeated, [0] * x.rank, x.shape)


def _with_scales(b: Builder, node: Node, x: Tensor, scale: Tensor,
                 zero: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Returns x in a shape in which its scale and zero point broadcast, and both of these."""
    shape, aligned_scale = aligned_with(b, node, x, scale)
    return b.reshape(x, shape), aligned_scale, aligned_with(b, node, x, zero)[1] if zero is not None else None


def quantize(b: Builder, x: Tensor, scale: Tensor, zero: Tensor | None, element: Element, saturate: bool = True,
             precision: Element | None = None) -> Tensor:
    """Quantizes with a scale and zero point that broadcast. The quotient is first rounded to the type `precision`."""
    wide = F64 if F64 in (x.element, scale.element, precision) else F32

    def body(s: Scalars, x: Scalar, scale: Scalar, *zeros: Scalar) -> Scalar:
        if precision is not None:
            x, scale = s.cast(x, precision), s.cast(scale, precision)
        steps = s.div(s.cast(x, wide), s.cast(scale, wide))
        if precision is not None:
            steps = s.cast(s.cast(steps, precision), wide)
        return quantize_scalar(s, steps, zeros[0] if zeros else None, element, saturate)

    return b.elementwise(body, x, scale, *([zero] if zero is not None else []), element=element, shape=x.shape)


def dequantize(b: Builder, x: Tensor, scale: Tensor, zero: Tensor | None, element: Element) -> Tensor:
    """Dequantizes with a scale and zero point that broadcast."""
    def body(s: Scalars, x: Scalar, scale: Scalar, *zeros: Scalar) -> Scalar:
        return s.cast(dequantize_scalar(s, x, scale, zeros[0] if zeros else None), element)

    return b.elementwise(body, x, scale, *([zero] if zero is not None else []), element=element, shape=x.shape)


# ---------------------------------------------------------------------- operators

def _element_given(node: Node, name: str) -> Element | None:
    code = node.attribute(name, 0)
    return node.importer.element_of(code, f"'{name}'") if code else None


@operator("QuantizeLinear")
@operator("QuantizeLinear", domain="com.microsoft")
def quantize_linear(b: Builder, node: Node, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    element = zero.element if zero is not None else _element_given(node, "output_dtype") or U8
    rows, scales, zeros = _with_scales(b, node, x, scale, zero)
    y = quantize(b, rows, scales, zeros, element, bool(node.attribute("saturate", 1)),
                 _element_given(node, "precision"))
    return b.reshape(y, x.shape)


@operator("DequantizeLinear")
@operator("DequantizeLinear", domain="com.microsoft")
def dequantize_linear(b: Builder, node: Node, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    element = _element_given(node, "output_dtype") or scale.element
    rows, scales, zeros = _with_scales(b, node, x, scale, zero)
    result = b.reshape(dequantize(b, rows, scales, zeros, element), x.shape)
    is_aligned = scale.rank <= 1 and not node.attribute("block_size", 0)
    if not node.importer.float_products and x.element in (I8, U8) and element is scale.element is F32 and is_aligned:
        node.importer.dequantized[result] = Bytes(x, scale, zero, 0 if scale.count == 1 else node.axis(1, x.rank))
    return result


def quantize_dynamically(b: Builder, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Quantizes a tensor to u8; returns it with its scale and zero point. The scale is 1 if all elements are 0."""
    axes = list(range(x.rank))
    least = b.reduce(lambda s, acc, x: s.min(acc, x), x, axes, 0)
    most = b.reduce(lambda s, acc, x: s.max(acc, x), x, axes, 0)

    def scale_of(s: Scalars, least: Scalar, most: Scalar) -> Scalar:
        return s.select(s.equal(least, most), 1, s.div(s.sub(most, least), 255))

    def zero_of(s: Scalars, least: Scalar, scale: Scalar) -> Scalar:
        return s.cast(s.round_even(s.clamp(s.sub(0, s.div(least, scale)), 0, 255)), U8)

    scale = b.elementwise(scale_of, least, most)
    zero = b.elementwise(zero_of, least, scale, element=U8)
    return quantize(b, x, scale, zero, U8), scale, zero


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(b: Builder, node: Node, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return quantize_dynamically(b, x)


@operator("QLinearMatMul")
def qlinear_matmul(b: Builder, node: Node, x: Tensor, x_scale: Tensor, x_zero: Tensor, y: Tensor, y_scale: Tensor,
                   y_zero: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    """Imports QLinearMatMul: the exact integer product times x_scale * y_scale / scale."""
    rows, columns = of_rows(b, x_scale), of_columns(b, y_scale)
    assert rows is not None and columns is not None
    if x.element.is_float:
        product = _multiply_floats(b, x, y, of_rows(b, x_zero), of_columns(b, y_zero))
    else:
        product = multiply_integers(b, x, y, x_zero, y_zero)
    if 1 in (x.rank, y.rank) and (rows.rank or columns.rank):
        node.refuse("it has scales of rows or columns, but an input is a vector")

    def factor_of(s: Scalars, x: Scalar, y: Scalar, z: Scalar) -> Scalar:
        return s.div(s.mul(s.cast(x, F32), s.cast(y, F32)), s.cast(z, F32))

    # The scale of the result has the rank of the product, or one element.
    factor = b.elementwise(factor_of, rows, columns, of_rows(b, scale) or scale, element=F32)

    def body(s: Scalars, total: Scalar, factor: Scalar, zero: Scalar) -> Scalar:
        return quantize_scalar(s, s.mul(s.cast(total, F32), factor), zero, zero.element or U8)

    return b.elementwise(body, product, factor, of_rows(b, zero) or zero, element=zero.element, shape=product.shape)


def _multiply_floats(b: Builder, x: Tensor, y: Tensor, x_zero: Tensor | None, y_zero: Tensor | None) -> Tensor:
    def center(x: Tensor, zero: Tensor | None) -> Tensor:
        return b.elementwise(lambda s, x, *zeros: s.sub(s.cast(x, F32), s.cast(zeros[0], F32)) if zeros else s.cast(
            x, F32), x, *([zero] if zero is not None else []), element=F32, shape=x.shape)

    return multiply(b, center(x, x_zero), center(y, y_zero), F32)
