"""The linalg ops of a convolution of a padded tensor.

A bias is the initial value of the sums, by linalg.broadcast. A grouped convolution is conv_2d_ngchw_gfchw, or a
depthwise op if each channel is a group with one filter. If linalg has no op for the number of dims, a linalg.generic
with the loops of a convolution is written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import Element
from layout_mlir.onnx_import.node import Node
from layout_mlir.onnx_import.sizes import Size, is_static
from layout_mlir.onnx_import.values import Tensor
from layout_mlir.onnx_import.windows import Window, window_attributes, window_map

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
