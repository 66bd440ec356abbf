"""Poolings: the maximum, the mean or a norm of the elements under a window.

Floats in one or two spatial dims are pooled by named linalg ops, others by a linalg.generic with the same loops.
Padding is the least value for a maximum, and 0 for a sum. A mean divides by the number of elements that count, by a
table for each dim in which the number varies.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import I64, Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, is_static, product
from layout_mlir.onnx_import.values import Scalar, Tensor
from layout_mlir.onnx_import.windows import (Window, map_dims, pad_for, read_integers, read_window, sum_element,
                                             window_attributes, window_map)

_NAMED = {(1, "max"): "linalg.pooling_ncw_max", (2, "max"): "linalg.pooling_nchw_max",
          (1, "sum"): "linalg.pooling_ncw_sum", (2, "sum"): "linalg.pooling_nchw_sum"}


def _read_window(b: Builder, node: Node, x: Tensor) -> Window:
    kernel = read_integers(node, "kernel_shape", x.rank - 2, 1)
    if not node.has("kernel_shape"):
        node.refuse("it has no attribute 'kernel_shape'")
    return read_window(b, node, x.shape[2:], kernel)


def _slide(b: Builder, body: Callable[..., Scalar], x: Tensor, window: Window, into: Tensor) -> Tensor:
    """Reduces the window elements by `body(s, accumulator, element)`."""
    count = window.rank
    output = ", ".join(f"d{dim}" for dim in range(2 + count))
    elements = ", ".join(f"d{2 + count + dim}" for dim in range(count))
    result, = b.generic(lambda s, a, _, total: body(s, total, a),
                        [(x, window_map(window, ["d0", "d1"], 2, 2 + count)),
                         (b.empty(window.kernel, x.element), elements)],
                        [(into, output)], ["parallel"] * (2 + count) + ["reduction"] * count)
    return result


def pool(b: Builder, kind: str, x: Tensor, window: Window, element: Element) -> Tensor:
    """Returns the maximum ("max") or the sum ("sum") at each window position of a padded tensor."""
    into = b.fill([*x.shape[:2], *window.output], element, element.lowest if kind == "max" else 0)
    if 0 in window.output:
        return into
    name = _NAMED.get((window.rank, kind))
    if name is None or x.element.is_unsigned or x.element.kind == "b":
        combine = (lambda s, acc, a: s.max(acc, a)) if kind == "max" else (
            lambda s, acc, a: s.add(acc, s.cast(a, element)))
        return _slide(b, combine, x, window, into)
    return b.named(name, [x, b.empty(window.kernel, x.element)], into, window_attributes(window))


# ------------------------------------------------------------------------ maxima


@operator("MaxPool")
def max_pool(b: Builder, node: Node, x: Tensor) -> list[Tensor]:
    window = _read_window(b, node, x)
    padded = pad_for(b, x, window, x.element.lowest)
    largest = pool(b, "max", padded, window, x.element)
    if not node.has_output(1):
        return [largest]
    return [largest, _places(b, x, padded, largest, window, bool(node.attribute("storage_order", 0)))]


def _places(b: Builder, x: Tensor, padded: Tensor, largest: Tensor, window: Window, by_columns: bool) -> Tensor:
    """Returns the position of each maximum in the whole tensor: the least position with the maximum value, which does
    not depend on the order of the loops. With `by_columns`, positions count with the first spatial dim contiguous."""
    count = window.rank
    first = window_map(window, ["d0", "d1"], 2, 2 + count)
    elements = ", ".join(f"d{2 + count + dim}" for dim in range(count))
    output = ", ".join(f"d{dim}" for dim in range(2 + count))

    sizes = [Scalar(b.size(size), None) for size in x.shape[2:]]
    low = [Scalar(b.size(size), None) for size in window.low]

    def body(s: Scalars, a: Scalar, _: Scalar, top: Scalar, least: Scalar) -> Scalar:
        hit = s.equal(a, top)
        if x.element.is_float:
            hit = s.bit_or(hit, s.compare("ne", a, a))
        place = s.constant(0, None)
        for dim in range(count):
            step = s.mul(b.index(s, 2 + dim), window.strides[dim])
            at = s.sub(s.add(step, s.mul(b.index(s, 2 + count + dim), window.dilations[dim])), low[dim])
            if window.is_padded:
                hit = s.bit_and(hit, s.bit_and(s.compare("ge", at, 0), s.less(at, sizes[dim])))
            place = s.add(s.mul(place, sizes[dim]), at)
        return s.min(least, s.select(hit, s.cast(place, I64), I64.highest))

    inputs = [(padded, first), (b.empty(window.kernel, x.element), elements), (largest, output)]
    places, = b.generic(body, inputs, [(b.fill(largest.shape, I64, I64.highest), output)],
                        ["parallel"] * (2 + count) + ["reduction"] * count)
    return _absolute_places(b, places, x, by_columns)


def _absolute_places(b: Builder, places: Tensor, x: Tensor, by_columns: bool) -> Tensor:
    """Converts row-major positions in a plane of spatial dims to positions in the whole tensor. With `by_columns`, the
    first spatial dim is contiguous."""
    channels, plane = Scalar(b.size(x.shape[1]), None), Scalar(b.size(product(x.shape[2:])), None)
    sizes = [Scalar(b.size(size), None) for size in x.shape[2:]]

    def body(s: Scalars, place: Scalar) -> Scalar:
        image = s.add(s.mul(b.index(s, 0), channels), b.index(s, 1))
        rest, turned = s.index_of(place), s.constant(0, None)
        if not by_columns:
            turned = rest
        else:
            for size in reversed(sizes):
                turned = s.add(s.mul(turned, size), s.rem(rest, size))
                rest = s.div(rest, size)
        return s.cast(s.add(s.mul(image, plane), turned), I64)

    return b.elementwise(body, places)


@operator("GlobalMaxPool")
def global_max_pool(b: Builder, node: Node, x: Tensor) -> Tensor:
    return b.reduce_max(x, range(2, x.rank), keepdims=True)


# -------------------------------------------------------------------------- means


def _count_elements(b: Builder, window: Window, dim: int, size: Size, with_padding: bool,
                    element: Element) -> Tensor | float:
    """Returns the number of elements that count at each window position in one dim, as floats, or a single number if it
    is constant."""
    low, high = (0, window.low[dim] + size + window.high[dim]) if with_padding else (window.low[dim],
                                                                                    window.low[dim] + size)
    kernel = window.kernel[dim]
    assert isinstance(kernel, int)
    if window.beyond[dim] == 0 and (with_padding or (window.low[dim] == 0 and window.high[dim] == 0)):
        return float(kernel)
    output = window.output[dim]
    if is_static(output) and is_static(low) and is_static(high):
        places = np.arange(output)[:, None] * window.strides[dim]
        places = places + np.arange(kernel) * window.dilations[dim]
        counts = ((places >= low) & (places < high)).sum(1)
        return float(counts[0]) if len(set(counts)) == 1 else b.constant(counts.astype(element.dtype), element)
    begin, end = Scalar(b.size(low), None), Scalar(b.size(high), None)

    def body(s: Scalars, place: Scalar) -> Scalar:
        start, step = s.mul(place, window.strides[dim]), window.dilations[dim]
        # The numbers of elements before `begin` and before `end`, among `kernel` elements at a distance of `step`.
        by = s.constant(step, None).name
        before, until = (s.clamp(s.op(f"arith.ceildivsi {s.sub(limit, start).name}, {by} : index", None), 0, kernel)
                         for limit in (begin, end))
        return s.cast(s.sub(until, before), element)

    return b.make(body, [output], element)


def average(b: Builder, x: Tensor, window: Window, with_padding: bool) -> Tensor:
    """Returns the mean at each window position."""
    element = sum_element(x.element)
    sums = pool(b, "sum", pad_for(b, x, window, 0), window, element)
    counts = [_count_elements(b, window, dim, x.shape[2 + dim], with_padding, element) for dim in range(window.rank)]
    fixed = float(np.prod([count for count in counts if not isinstance(count, Tensor)]))
    tables = [(count, [2 + dim]) for dim, count in enumerate(counts) if isinstance(count, Tensor)]

    def body(s: Scalars, total: Scalar, *factors: Scalar) -> Scalar:
        count = s.constant(fixed, element)
        for number, factor in enumerate(factors):
            count = factor if number == 0 and fixed == 1 else s.mul(count, factor)
        return s.cast(s.div(total, count), x.element)

    return map_dims(b, body, sums, *tables, element=x.element)


@operator("AveragePool")
def average_pool(b: Builder, node: Node, x: Tensor) -> Tensor:
    window = _read_window(b, node, x)
    if node.opset < 19 and not node.attribute("ceil_mode", 0):  # elements that are cut off count as padding
        window.high, window.beyond = [a + c for a, c in zip(window.high, window.beyond)], [0] * window.rank
    return average(b, x, window, bool(node.attribute("count_include_pad", 0)))


@operator("GlobalAveragePool")
def global_average_pool(b: Builder, node: Node, x: Tensor) -> Tensor:
    sizes, count = x.shape[2:], x.rank - 2
    if all(map(is_static, sizes)):
        none: list[Size] = [0] * count
        return average(b, x, Window(list(sizes), [1] * count, [1] * count, none, none, none, [1] * count), True)
    element = sum_element(x.element)
    sums = b.reduce(lambda s, acc, a: s.add(acc, s.cast(a, element)), x, range(2, x.rank), 0, keepdims=True,
                    element=element)
    number = Scalar(b.size(product(sizes)), None)
    return b.elementwise(lambda s, total: s.cast(s.div(total, s.cast(number, element)), x.element), sums,
                         element=x.element)


# -------------------------------------------------------------------------- norms


def power(s: Scalars, x: Scalar, p: float) -> Scalar:
    """Returns |x| to the power p."""
    if p == 1:
        return s.abs(x)
    return s.mul(x, x) if p == 2 else s.pow(s.abs(x), p)


def root(s: Scalars, x: Scalar, p: float) -> Scalar:
    """Returns the p-th root of x."""
    if p == 1:
        return x
    return s.sqrt(x) if p == 2 else s.pow(x, 1 / p)


@operator("LpPool")
def lp_pool(b: Builder, node: Node, x: Tensor) -> Tensor:
    window, p, element = _read_window(b, node, x), float(node.attribute("p", 2)), sum_element(x.element)
    powers = b.elementwise(lambda s, a: power(s, s.cast(a, element), p), x, element=element)
    sums = pool(b, "sum", pad_for(b, powers, window, 0), window, element)
    return b.elementwise(lambda s, total: s.cast(root(s, total, p), x.element), sums, element=x.element)


@operator("GlobalLpPool")
def global_lp_pool(b: Builder, node: Node, x: Tensor) -> Tensor:
    p, element = float(node.attribute("p", 2)), sum_element(x.element)
    sums = b.reduce(lambda s, acc, a: s.add(acc, power(s, s.cast(a, element), p)), x, range(2, x.rank), 0,
                    keepdims=True, element=element)
    return b.elementwise(lambda s, total: s.cast(root(s, total, p), x.element), sums, element=x.element)
