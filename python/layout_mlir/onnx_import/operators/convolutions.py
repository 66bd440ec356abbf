"""Operators of convolutions of floats, and of transposed convolutions.

A convolution of dequantized bytes is that of the bytes, with sums that are exact, times the scales.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from layout_mlir.onnx_import.batch_norms import scale_filters
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.convolution_forms import check_operands, convolve
from layout_mlir.onnx_import.operators.integer_convolutions import convolve_bytes
from layout_mlir.onnx_import.operators.products import find_bytes
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, is_static, product
from layout_mlir.onnx_import.values import Scalar, Tensor
from layout_mlir.onnx_import.windows import (Window, extent, pad_for, pad_or_crop, read_integers, read_window,
                                             split_padding, sum_element)


# --------------------------------------------------------------------- operators


@operator("Conv")
def conv(b: Builder, node: Node, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    groups = int(node.attribute("group", 1))
    check_operands(node, x, w, groups)
    if found := find_bytes(node, x, w, product(w.shape[1:]), 0):
        return convolve_bytes(b, node, *found, bias)
    window = read_window(b, node, x.shape[2:], w.shape[2:])
    w, bias, is_scaled = scale_filters(node, w, bias, w.element)
    sums = convolve(b, pad_for(b, x, window, 0), w, bias, window, groups, sum_element(x.element))
    result = b.cast(sums, x.element)
    if is_scaled:
        node.importer.normalized.add(result)
    return result


_ACTIVATIONS: dict[str, Callable[[Scalars, Scalar, Sequence[float]], Scalar]] = {
    "Relu": lambda s, x, p: s.max(x, 0),
    "Tanh": lambda s, x, p: s.tanh(x),
    "Sigmoid": lambda s, x, p: s.sigmoid(x),
    "LeakyRelu": lambda s, x, p: s.select(s.less(x, 0), s.mul(x, p[0] if p else 0.01), x),
    "Clip": lambda s, x, p: s.clamp(x, p[0], p[1]),
    "HardSigmoid": lambda s, x, p: s.clamp(s.add(s.mul(x, p[0]), p[1]), 0, 1),
}


@operator("FusedConv", domain="com.microsoft")
def fused_conv(b: Builder, node: Node, x: Tensor, w: Tensor, bias: Tensor | None = None,
               added: Tensor | None = None) -> Tensor:
    activation = str(node.attribute("activation", ""))
    if activation and activation not in _ACTIVATIONS:
        node.refuse(f"activation '{activation}' is not one of {', '.join(_ACTIVATIONS)}")
    result = conv(b, node, x, w, bias)
    if added is not None:
        result = b.elementwise(lambda s, x, z: s.add(x, z), result, added)
    if activation:
        parameters = node.attribute("activation_params", [])
        result = b.elementwise(lambda s, x: _ACTIVATIONS[activation](s, x, parameters), result)
    return result


# ---------------------------------------------------------------------- transposed


def _flip_filters(b: Builder, w: Tensor, groups: int) -> Tensor:
    """Converts the weights (channels, filters of a group, ..) of a transposed convolution to those of a convolution,
    (filters, channels of a group, ..), and mirrors each filter."""
    channels, filters = b.floor_divide(w.shape[0], groups), w.shape[1]
    spatial = tuple(range(3, w.rank + 1))
    if w.array is not None:
        parts = w.array.reshape(groups, -1, *w.array.shape[1:])
        turned = np.flip(parts.transpose(0, 2, 1, *spatial), spatial)
        return b.constant(turned.reshape(groups * w.array.shape[1], -1, *w.array.shape[2:]), w.element)

    def read(s: Scalars, f: Scalar, c: Scalar, *places: Scalar) -> Scalar:
        group = s.div(f, Scalar(b.size(filters), None))
        f = s.rem(f, Scalar(b.size(filters), None))
        c = s.add(c, s.mul(group, Scalar(b.size(channels), None)))
        turned = [s.sub(Scalar(b.size(size - 1), None), place) for size, place in zip(w.shape[2:], places)]
        return b.extract(s, w, [c, f, *turned])

    return b.make(read, [filters * groups, channels, *w.shape[2:]], w.element)


@operator("ConvTranspose")
def conv_transpose(b: Builder, node: Node, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    """Imports a transposed convolution as a convolution of the input with zeros inserted between its elements."""
    groups, count = int(node.attribute("group", 1)), x.rank - 2
    check_operands(node, x, w, groups, transposed=True)
    strides, dilations = read_integers(node, "strides", count, 1), read_integers(node, "dilations", count, 1)
    low, high = _transposed_padding(b, node, x.shape[2:], w.shape[2:])
    # The amounts around the input, whose elements are `stride` apart, include the border of the convolution.
    reach = [extent(size, dilation) for size, dilation in zip(w.shape[2:], dilations)]
    before = [size - 1 - amount for size, amount in zip(reach, low)]
    after = [size - 1 - amount for size, amount in zip(reach, high)]
    apart = [(size - 1) * stride + 1 for size, stride in zip(x.shape[2:], strides)]
    wide = _spread(b, x, apart, before, after, strides)
    output = [size + a + c - (own - 1) for size, a, c, own in zip(apart, before, after, reach)]
    window = Window(list(w.shape[2:]), [1] * count, dilations, [0] * count, [0] * count, [0] * count, output)
    sums = convolve(b, wide, _flip_filters(b, w, groups), bias, window, groups, sum_element(x.element))
    return b.cast(sums, x.element)


def _transposed_padding(b: Builder, node: Node, sizes: Sequence[Size],
                        kernel: Sequence[Size]) -> tuple[list[Size], list[Size]]:
    """Returns the amounts that the node removes before and after each spatial dim of the full result; output_padding
    reduces the amount after."""
    count, mode = len(sizes), node.attribute("auto_pad", "NOTSET")
    strides, dilations = read_integers(node, "strides", count, 1), read_integers(node, "dilations", count, 1)
    added = read_integers(node, "output_padding", count, 0)
    pads = read_integers(node, "pads", 2 * count, 0)
    shape = node.attribute("output_shape")
    if shape is None and not mode.startswith("SAME"):
        if mode == "VALID":
            pads = [0] * (2 * count)
        return list(pads[:count]), [high - more for high, more in zip(pads[count:], added)]
    low: list[Size] = []
    high: list[Size] = []
    for dim, size in enumerate(sizes):
        # In older models output_shape has all dims.
        wanted = int(shape[dim - count]) if shape is not None else size * strides[dim]
        total = (size - 1) * strides[dim] + added[dim] + extent(kernel[dim], dilations[dim]) - wanted
        first, last = split_padding(b, total, mode == "SAME_UPPER")
        low.append(first)
        high.append(last - added[dim])
    return low, high


def _spread(b: Builder, x: Tensor, apart: Sequence[Size], before: Sequence[Size], after: Sequence[Size],
            strides: Sequence[int]) -> Tensor:
    """Inserts zeros between the elements of the spatial dims, and before and after them."""
    lead: list[Size] = [0, 0]
    if all(stride == 1 for stride in strides):
        return pad_or_crop(b, x, lead + list(before), lead + list(after), 0)
    # Zeros come from the destination tensor; elements are removed from it.
    kept = [max(amount, 0) if is_static(amount) else amount for amount in before]
    rest = [max(amount, 0) if is_static(amount) else amount for amount in after]
    shape = [*x.shape[:2], *(a + size + c for a, size, c in zip(kept, apart, rest))]
    wide = b.insert(x, b.fill(shape, x.element, 0), [0, 0, *kept], [1, 1, *strides])
    return pad_or_crop(b, wide, lead + [a - c for a, c in zip(before, kept)],
                       lead + [a - c for a, c in zip(after, rest)], 0)
