"""Convolutions of 8-bit integers with zero points.

If weights and zero points are constant and the weights without their zero points fit i8, an unsigned input is converted
to signed by flipping its sign bit, together with its zero point; padding holds the zero point. Then
sum((x - z) * w) = sum(x * w) - z * sum(w): the second term is part of the bias, and the convolution is one of i8 with
i32 sums. Other convolutions are those of an unsigned input by signed weights, and terms of zero points are subtracted
from their sums.
"""

from __future__ import annotations

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32, I8, I32, U8
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.convolution_forms import check_operands, convolve
from layout_mlir.onnx_import.operators.pools import pool
from layout_mlir.onnx_import.operators.products import sums_over, with_sign
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.values import Bytes, Scalar, Tensor
from layout_mlir.onnx_import.windows import Window, map_dims, pad_for, read_window


def _subtract_product(b: Builder, total: Tensor, zero: tuple[Tensor, list[int]],
                      sums: tuple[Tensor, list[int]]) -> Tensor:
    """Subtracts zero points times sums, both with the dims of `total` that they have."""
    return map_dims(b, lambda s, total, zero, sums: s.sub(total, s.mul(zero, sums)), total, zero, sums)


def _sum_windows(b: Builder, x: Tensor, zero: Tensor | None, window: Window, groups: int) -> Tensor:
    """Returns the i32 sums of x minus a zero point over each window and the channels of each group, [n, group, ..]."""
    channels = b.reshape(x, [x.shape[0], groups, b.floor_divide(x.shape[1], groups), *x.shape[2:]])
    sums = b.reshape(sums_over(b, channels, 2, zero), [x.shape[0], groups, *x.shape[2:]])
    return pool(b, "sum", pad_for(b, sums, window, 0), window, I32)


def _convolve_unsigned(b: Builder, x: Tensor, w: Tensor, x_zero: Tensor | None, w_zero: Tensor | None,
                       bias: Tensor | None, window: Window, groups: int) -> Tensor:
    """Returns the sums of an unsigned x by a signed w minus their i32 zero points r and c, one c or one for each filter:

        sum (x - r) (w - c) = sum x w - r sum w - c sum (x - r)

    Padding holds r."""
    padding: int | Scalar = 0
    if x_zero is not None:
        padding = b.scalar_of(b.cast(x_zero, U8))
    total = convolve(b, pad_for(b, x, window, padding), w, bias, window, groups, I32)
    if x_zero is not None:
        flat = b.reshape(w, [w.shape[0], -1])
        total = _subtract_product(b, total, (x_zero, []), (b.reshape(sums_over(b, flat, 1), [w.shape[0]]), [1]))
    if w_zero is None:
        return total
    sums, shape = _sum_windows(b, x, x_zero, window, groups), total.shape
    if groups == 1:
        zeros = (w_zero, []) if w_zero.rank == 0 else (b.reshape(w_zero, [shape[1]]), [1])
        sums = b.reshape(sums, [shape[0], *shape[2:]])
        return _subtract_product(b, total, zeros, (sums, [0, *range(2, len(shape))]))
    # Filters of a group share the sums of windows.
    split = [shape[0], groups, b.floor_divide(shape[1], groups), *shape[2:]]
    zeros = (w_zero, []) if w_zero.rank == 0 else (b.reshape(w_zero, split[1:3]), [1, 2])
    split_total = _subtract_product(b, b.reshape(total, split), zeros, (sums, [0, 1, *range(3, len(split))]))
    return b.reshape(split_total, shape)


def convolve_integers(b: Builder, node: Node, x: Tensor, w: Tensor, x_zero: Tensor | None, w_zero: Tensor | None,
                      bias: Tensor | None) -> Tensor:
    """Returns the i32 sums of an integer convolution."""
    groups = int(node.attribute("group", 1))
    check_operands(node, x, w, groups)
    window = read_window(b, node, x.shape[2:], w.shape[2:])
    if w_zero is not None:
        w_zero = b.reshape(w_zero, [] if w_zero.count == 1 else [w.shape[0], *[1] * (w.rank - 1)])
    weights, w_zero = with_sign(b, w, w_zero, I8)
    zero = 0 if x_zero is None else x_zero.constant_scalar()
    known = weights.array
    if zero is None or known is None or w_zero is not None or (bias is not None and bias.array is None):
        x, x_zero = with_sign(b, x, x_zero and b.reshape(x_zero, []), U8)
        return _convolve_unsigned(b, x, weights, x_zero, w_zero, bias, window, groups)
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


def convolve_bytes(b: Builder, node: Node, x: Bytes, w: Bytes, bias: Tensor | None) -> Tensor:
    """Returns the convolution of dequantized bytes in f32: the exact sums of the bytes times the scales."""
    sums = convolve_integers(b, node, x.values, w.values, x.zero, w.zero, None)
    scale, dims = _result_scale(b, x.scale, w.scale, b.constant(np.ones((), np.float32)))

    def body(s: Scalars, total: Scalar, by: Scalar, *bias: Scalar) -> Scalar:
        wide = s.mul(s.cast(total, F32), by)
        return s.add(wide, bias[0]) if bias else wide

    added = [(bias, [1])] if bias is not None else []
    return map_dims(b, body, sums, (scale, dims), *added, element=F32)


def _result_scale(b: Builder, x: Tensor, w: Tensor, y: Tensor) -> tuple[Tensor, list[int]]:
    """Returns x * w / y in f32, and its dims in the result: none, or the channels."""
    per_channel = w.count != 1
    if x.array is not None and w.array is not None and y.array is not None:
        values = x.array.reshape(-1)[0] * w.array.reshape(-1) / y.array.reshape(-1)[0]
        return b.constant(values if per_channel else values.reshape(()), F32), [1] if per_channel else []
    flat = b.reshape(w, [w.count] if per_channel else [])
    return (map_dims(b, lambda s, w, x, y: s.div(s.mul(x, w), y), flat, (b.reshape(x, []), []), (b.reshape(y, []), [])),
            [1] if per_channel else [])
