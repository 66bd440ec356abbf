"""Convolutions of 8-bit integers with zero points.

An unsigned input is converted to signed by flipping its sign bit, together with its zero point; padding holds the zero
point. Then sum((x - z) * w) = sum(x * w) - z * sum(w): with constant weights the second term is part of the bias, and
the convolution is one of i8 with i32 sums. Computed weights or zero points are subtracted in i32.
"""

from __future__ import annotations

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32, I8, I16, I32
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.convolutions import check_operands, convolve
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.values import Scalar, Tensor
from layout_mlir.onnx_import.windows import map_dims, pad_for, read_window


def _subtracted(b: Builder, x: Tensor, zero: Tensor | None) -> Tensor:
    """Subtracts a zero point with one element from integers."""
    if zero is None or (zero.array is not None and not zero.array.any()):
        return x
    return map_dims(b, lambda s, x, z: s.sub(x, z), x, (b.reshape(b.cast(zero, I32), []), []))


def _centered_weights(b: Builder, w: Tensor, zero: Tensor | None) -> Tensor:
    """Subtracts zero points, one or one for each filter, from weights; constant results have the narrowest type."""
    if w.array is not None and (zero is None or zero.array is not None):
        values = w.array.astype(np.int32)
        if zero is not None and zero.array is not None:
            values = values - zero.array.astype(np.int32).reshape(-1, *[1] * (w.rank - 1))
        element = next(each for each in (I8, I16) if values.size == 0 or
                       (values.min() >= each.lowest and values.max() <= each.highest))
        return b.constant(values, element)
    wide = b.cast(w, I32)
    if zero is None or zero.count == 1:
        return _subtracted(b, wide, zero)
    return map_dims(b, lambda s, x, z: s.sub(x, z), wide, (b.cast(zero, I32), [0]))


def convolve_integers(b: Builder, node: Node, x: Tensor, w: Tensor, x_zero: Tensor | None, w_zero: Tensor | None,
                      bias: Tensor | None) -> Tensor:
    """Returns the i32 sums of an integer convolution."""
    groups = int(node.attribute("group", 1))
    check_operands(node, x, w, groups)
    window = read_window(b, node, x.shape[2:], w.shape[2:])
    weights = _centered_weights(b, w, w_zero)
    zero = 0 if x_zero is None else x_zero.constant_scalar()
    known = weights.array
    if zero is None or known is None or weights.element is not I8 or (bias is not None and bias.array is None):
        wide = _subtracted(b, b.cast(x, I32), x_zero)
        return convolve(b, pad_for(b, wide, window, 0), b.cast(weights, I32), bias, window, groups, I32)
    if x.element.is_unsigned:
        x = Tensor(I8, x.shape, b.use(b.elementwise(lambda s, x: s.bit_xor(x, 128), x)))
        zero -= 128
    sums = known.astype(np.int64).sum(tuple(range(1, known.ndim))) * -int(zero)
    if bias is not None and bias.array is not None:
        sums = sums + bias.array
    padded = pad_for(b, x, window, int(zero))
    return convolve(b, padded, weights, b.constant(sums.astype(np.int32)), window, groups, I32)


@operator("ConvInteger")
def conv_integer(b: Builder, node: Node, x: Tensor, w: Tensor, x_zero: Tensor | None = None,
                 w_zero: Tensor | None = None) -> Tensor:
    return convolve_integers(b, node, x, w, x_zero, w_zero, None)


@operator("QLinearConv")
def qlinear_conv(b: Builder, node: Node, x: Tensor, x_scale: Tensor, x_zero: Tensor, w: Tensor, w_scale: Tensor,
                 w_zero: Tensor, y_scale: Tensor, y_zero: Tensor, bias: Tensor | None = None) -> Tensor:
    sums = convolve_integers(b, node, x, w, x_zero, w_zero, bias)
    scale, dims = _result_scale(b, x_scale, w_scale, y_scale)
    element = y_zero.element
    zero = b.reshape(b.cast(y_zero, F32), [])

    def body(s: Scalars, total: Scalar, by: Scalar, zero: Scalar) -> Scalar:
        wide = s.mul(s.cast(total, F32), by)
        # Zero points and limits are integers, so rounding and clamping commute.
        low, high = s.sub(float(element.lowest), zero), s.sub(float(element.highest), zero)
        rounded = s.round_even(s.clamp(wide, low, high))
        return s.cast(s.cast(s.add(rounded, zero), I32), element)

    return map_dims(b, body, sums, (scale, dims), (zero, []), element=element)


def _result_scale(b: Builder, x: Tensor, w: Tensor, y: Tensor) -> tuple[Tensor, list[int]]:
    """Returns x * w / y in f32, and its dims in the result: none, or the channels."""
    per_channel = w.count != 1
    if x.array is not None and w.array is not None and y.array is not None:
        values = x.array.reshape(-1)[0] * w.array.reshape(-1) / y.array.reshape(-1)[0]
        return b.constant(values if per_channel else values.reshape(()), F32), [1] if per_channel else []
    flat = b.reshape(w, [w.count] if per_channel else [])
    return (map_dims(b, lambda s, w, x, y: s.div(s.mul(x, w), y), flat, (b.reshape(x, []), []), (b.reshape(y, []), [])),
            [1] if per_channel else [])
