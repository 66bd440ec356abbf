"""Convolutions as named linalg ops on padded tensors.

A bias is the initial value of the sums, by linalg.broadcast. A grouped convolution is conv_2d_ngchw_gfchw, or a
depthwise op if each channel is a group with one filter. If linalg has no op for the number of dims, a linalg.generic
with the loops of a convolution is written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from layout_mlir.onnx_import.batch_norms import scale_filters
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, is_static
from layout_mlir.onnx_import.values import Scalar, Tensor
from layout_mlir.onnx_import.windows import (Window, extent, pad_for, pad_or_crop, read_integers, read_window,
                                             split_padding, sum_element, window_attributes, window_map)

_PLAIN = {1: "linalg.conv_1d_ncw_fcw", 2: "linalg.conv_2d_nchw_fchw", 3: "linalg.conv_3d_ncdhw_fcdhw"}
_DEPTHWISE = {1: "linalg.depthwise_conv_1d_ncw_cw", 2: "linalg.depthwise_conv_2d_nchw_chw",
              3: "linalg.depthwise_conv_3d_ncdhw_cdhw"}


_CHANNELS = "its input does not have the channels of its weights"


def check_operands(node: Node, x: Tensor, w: Tensor, groups: int, transposed: bool = False) -> None:
    """Rejects operands, or an attribute kernel_shape, that do not match."""
    if x.rank < 3 or w.rank != x.rank:
        node.refuse(f"its input has rank {x.rank} and its weights have rank {w.rank}: they must be equal, 3 or more")
    given = node.attribute("kernel_shape")
    if given is not None and any(is_static(size) and size != own for size, own in zip(w.shape[2:], given)):
        node.refuse(f"kernel_shape {list(given)} is not the shape of its weights, {list(w.shape[2:])}")
    channels, filters = (w.shape[0], None) if transposed else (w.shape[1] * groups, w.shape[0])
    if is_static(x.shape[1]) and is_static(channels) and x.shape[1] != channels:
        node.refuse(f"its input has {x.shape[1]} channels, but its weights are for {channels}")
    for count in (channels, filters):
        if count is not None and (groups < 1 or (is_static(count) and count % groups)):
            node.refuse(f"{groups} groups do not divide {count} channels")


# ------------------------------------------------------------------------- forms


def initial_sums(b: Builder, shape: Sequence[Size], element: Element, bias: Tensor | None) -> Tensor:
    """Returns the initial sums of a convolution: the bias of each channel, or zeros."""
    if bias is None or (bias.array is not None and not bias.array.any()):
        return b.fill(shape, element, 0)
    b.match_sizes(bias.shape[0], shape[1], "its bias does not have one element for each channel")
    bias = b.cast(bias, element) if bias.array is None else b.constant(bias.array, element)
    into = b.empty(shape, element)
    others = [dim for dim in range(len(shape)) if dim != 1]
    return Tensor(element, into.shape, b.emit(
        f"linalg.broadcast ins({b.use(bias)} : {bias.type}) outs({into.name} : {into.type}) dimensions = {others}"))


def convolve(b: Builder, x: Tensor, w: Tensor, bias: Tensor | None, window: Window, groups: int,
             element: Element) -> Tensor:
    """Returns the convolution of a padded tensor under the window, with sums in the given element type. Named linalg ops
    extend both tensors alike, so that an unsigned tensor by signed weights needs a linalg.generic."""
    shape = [x.shape[0], w.shape[0], *window.output]
    mixed = x.element.is_unsigned != w.element.is_unsigned
    if groups == 1:
        x = b.match_shape(x, [x.shape[0], w.shape[1], *x.shape[2:]], _CHANNELS)
        into = initial_sums(b, shape, element, bias)
        if window.rank in _PLAIN and not mixed:
            return b.named(_PLAIN[window.rank], [x, w], into, window_attributes(window))
        return _convolve_freely(b, x, w, into, window, grouped=False)
    if w.shape[1] == 1 and w.shape[0] == groups and window.rank in _DEPTHWISE and not mixed:
        into = initial_sums(b, shape, element, bias)
        x = b.match_shape(x, [x.shape[0], groups, *x.shape[2:]], _CHANNELS)
        return b.named(_DEPTHWISE[window.rank], [x, b.reshape(w, [groups, *w.shape[2:]])], into,
                       window_attributes(window))
    filters = b.floor_divide(w.shape[0], groups)
    w = b.match_shape(w, [filters * groups, *w.shape[1:]], "its groups do not divide its filters")
    shape[1] = w.shape[0]
    return _convolve_groups(b, x, w, initial_sums(b, shape, element, bias), window, groups)


def _convolve_groups(b: Builder, x: Tensor, w: Tensor, into: Tensor, window: Window, groups: int) -> Tensor:
    """Writes a grouped convolution."""
    if window.rank == 1:  # as an image with one row
        image = dataclasses.replace(window, kernel=[1, *window.kernel], strides=[1, *window.strides],
                                    dilations=[1, *window.dilations], output=[1, *window.output])
        rows = [b.unsqueeze(tensor, [2]) for tensor in (x, w, into)]
        return b.reshape(_convolve_groups(b, rows[0], rows[1], rows[2], image, groups), into.shape)
    filters = b.floor_divide(w.shape[0], groups)
    x = b.match_shape(x, [x.shape[0], w.shape[1] * groups, *x.shape[2:]], _CHANNELS)
    parts = [b.reshape(x, [x.shape[0], groups, w.shape[1], *x.shape[2:]]),
             b.reshape(w, [groups, filters, *w.shape[1:]])]
    sums = b.reshape(into, [into.shape[0], groups, filters, *into.shape[2:]])
    if window.rank == 2 and x.element.is_unsigned == w.element.is_unsigned:
        made = b.named("linalg.conv_2d_ngchw_gfchw", parts, sums, window_attributes(window))
    else:
        made = _convolve_freely(b, parts[0], parts[1], sums, window, grouped=True)
    return b.reshape(made, into.shape)


def _convolve_freely(b: Builder, x: Tensor, w: Tensor, into: Tensor, window: Window, grouped: bool) -> Tensor:
    """Writes a linalg.generic with the loops n, (group,) filter, positions; channel, window elements."""
    group, count = (["d1"] if grouped else []), window.rank
    first = 2 + len(group)
    channel = first + count
    elements = [f"d{channel + 1 + dim}" for dim in range(count)]
    output = ", ".join(f"d{dim}" for dim in range(channel))
    weights = ", ".join([*group, f"d{first - 1}", f"d{channel}", *elements])
    input_map = window_map(window, ["d0", *group, f"d{channel}"], first, channel + 1)
    result, = b.generic(lambda s, a, c, total: s.add(total, s.mul(s.cast(a, into.element), s.cast(c, into.element))),
                        [(x, input_map), (w, weights)], [(into, output)],
                        ["parallel"] * channel + ["reduction"] * (1 + count))
    return result


# --------------------------------------------------------------------- operators


@operator("Conv")
def conv(b: Builder, node: Node, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    groups = int(node.attribute("group", 1))
    check_operands(node, x, w, groups)
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
