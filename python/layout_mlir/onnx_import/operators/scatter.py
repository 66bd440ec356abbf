"""Operators that write elements at given indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.indices import split_points
from layout_mlir.onnx_import.operators.shapes import read_sizes
from layout_mlir.onnx_import.regions import count_loop
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, Symbol, product
from layout_mlir.onnx_import.values import Forbidden, Scalar, Tensor

if TYPE_CHECKING:
    from layout_mlir.loops import Tensor as LoopTensor
    from layout_mlir.loops import indices, shape, size


def combine(s: Scalars, reduction: str, old: Scalar, new: Scalar) -> Scalar:
    function = {"add": s.add, "mul": s.mul, "min": s.min, "max": s.max}
    return function[reduction](old, new) if reduction in function else new


def write_block(b: Builder, into: Tensor, block: Tensor, offsets: Sequence[Size], reduction: str) -> Tensor:
    """Writes a block into `into` at offsets, or with a `reduction` other than "none" its combination with the elements
    there."""
    if reduction != "none":
        old = b.slice(into, offsets, block.shape)
        block = b.elementwise(lambda s, old, new: combine(s, reduction, old, new), old, block)
    return b.insert(block, into, offsets)


def owned(b: Builder, x: Tensor) -> Tensor:
    """Returns the tensor as an SSA value."""
    return Tensor(x.element, x.shape, b.use(x))


# ----------------------------------------------------------------------- constant indices


def find_block(points: NDArray[Any]) -> tuple[list[int], list[int]] | None:
    """Returns the offsets and sizes of the block that consists of the points (n, depth) in row-major order, or None if
    they do not form a block."""
    if not points.size:
        return None
    low, high = points.min(0), points.max(0)
    sizes = [int(each) for each in high - low + 1]
    if int(np.prod(sizes)) != len(points):
        return None
    block = np.stack([axis.reshape(-1) for axis in np.indices(sizes)], 1) + low
    return ([int(each) for each in low], sizes) if (block == points).all() else None


def _wrap_constant(node: Node, points: NDArray[Any], sizes: Sequence[Size]) -> NDArray[Any] | None:
    """Returns constant indices as nonnegative ones, or None if one is negative in a dynamic dim."""
    if not all(isinstance(each, int) for each in sizes):
        return None
    limits = np.array(sizes, np.int64)
    if ((points < -limits) | (points >= limits)).any():
        node.refuse(f"an index is out of range for sizes {list(sizes)}")
    return np.where(points < 0, points + limits, points)


# ------------------------------------------------------------------------------ ScatterND


def _write_rows(b: Builder, data: Tensor, points: Sequence[Tensor], updates: Tensor, reduction: str) -> Tensor:
    """Writes updates (n, *rows) in order at the points, whose coordinates are tensors (n)."""
    n, row = updates.shape[0], list(updates.shape[1:])
    depth = len(points)
    for point in points:
        b.use(point)
    limits = [Scalar(b.size(each), None) for each in data.shape[:depth]]
    for each in [*data.shape, *row]:
        b.size(each)
    b.use(updates)

    def body(i: Symbol, carried: list[Tensor]) -> list[Tensor]:
        s = b.scalars
        offsets: list[Size] = []
        for point, limit, each in zip(points, limits, data.shape):
            index = b.wrapped_index(s, b.extract(s, point, [Scalar(i.value, None)]), each)
            b.check(s.bit_and(s.compare("ge", index, 0), s.compare("lt", index, limit)).name,
                    "an index is out of range")
            offsets.append(Symbol(index.name))
        one = b.slice(updates, [i, *[0] * len(row)], [1, *row])
        # A block has size 1 in each coordinate.
        block = b.reshape(one, [*[1] * depth, *row])
        return [write_block(b, carried[0], block, [*offsets, *[0] * len(row)], reduction)]

    return count_loop(b, n, [data], body)[0]


@operator("ScatterND")
def scatter_nd(b: Builder, node: Node, data: Tensor, places: Tensor, updates: Tensor) -> Tensor:
    reduction = node.attribute("reduction", "none")
    points = split_points(b, node, places)
    depth, lead = len(points), places.rank - 1
    count = product(places.shape[:-1])
    if depth > data.rank:
        node.refuse(f"points of {depth} coordinates are not in a tensor of rank {data.rank}")
    row = list(data.shape[depth:])
    updates = b.match_shape(updates, [*updates.shape[:lead], *row], "updates and slices of the data differ in a size")
    if places.array is not None:
        wrapped = _wrap_constant(node, places.array.reshape(-1, depth), data.shape[:depth])
        block = find_block(wrapped) if wrapped is not None else None
        if block is not None:
            part = b.reshape(updates, [*block[1], *row])
            return write_block(b, owned(b, data), part, [*block[0], *[0] * len(row)], reduction)
    flat = b.reshape(updates, [count, *updates.shape[lead:]])
    return _write_rows(b, data, [b.reshape(point, [count]) for point in points], flat, reduction)


# ------------------------------------------------------------------------ ScatterElements


def wrap(i: int, n: int) -> int:
    """Returns a nonnegative index for one that may count from the end."""
    return i + n if i < 0 else i


def combine_in_loop(old: Any, new: Any, reduction: str) -> Any:
    if reduction == "add":
        new = old + new
    elif reduction == "mul":
        new = old * new
    elif reduction == "min":
        new = min(old, new)
    elif reduction == "max":
        new = max(old, new)
    return new


def scatter_elements_loop(data: LoopTensor, places: LoopTensor, updates: LoopTensor, axis: int,
                          reduction: str) -> LoopTensor:
    y = data
    for index in indices(shape(places)):
        to = (*index[:axis], wrap(places[index], size(data, axis)), *index[axis + 1:])
        y[to] = combine_in_loop(y[to], updates[index], reduction)
    return y


def _find_slab(node: Node, data: Tensor, places: NDArray[Any], axis: int) -> int | None:
    """Returns the offset on the axis if all rows of constant indices increase from it by 1, else None."""
    wrapped = _wrap_constant(node, places.reshape(-1, 1), [data.shape[axis]])
    if wrapped is None or not places.size:
        return None
    rows: NDArray[Any] = np.moveaxis(wrapped.reshape(places.shape), axis, -1)
    first = int(rows.reshape(-1)[0])
    return first if (rows == np.arange(first, first + rows.shape[-1])).all() else None


@operator("ScatterElements", "Scatter")
def scatter_elements(b: Builder, node: Node, data: Tensor, places: Tensor, updates: Tensor) -> Tensor:
    axis = node.axis(0, data.rank)
    reduction = node.attribute("reduction", "none")
    updates = b.match_shape(updates, places.shape, "its updates and indices differ in a size")
    for dim, (count, size) in enumerate(zip(places.shape, data.shape)):
        if dim != axis:
            b.check_at_most(count, size, f"its indices have more elements along dim {dim} than the data")
    offset = _find_slab(node, data, places.array, axis) if places.array is not None else None
    if offset is not None:
        offsets: list[Size] = [0] * data.rank
        offsets[axis] = offset
        return write_block(b, owned(b, data), updates, offsets, reduction)
    result, = b.loops(scatter_elements_loop, data, places, updates, axis=axis, reduction=reduction)
    return Tensor(data.element, data.shape, result.name)


# -------------------------------------------------------------------------- TensorScatter


def tensor_scatter_loop(cache: LoopTensor, update: LoopTensor, starts: LoopTensor, axis: int) -> LoopTensor:
    """Writes a sequence into a ring buffer, with a start for each batch."""
    y = cache
    for index in indices(shape(update)):
        place = (index[axis] + starts[index[0]]) % size(cache, axis)
        y[(*index[:axis], place, *index[axis + 1:])] = update[index]
    return y


@operator("TensorScatter")
def tensor_scatter(b: Builder, node: Node, cache: Tensor, update: Tensor, starts: Tensor | None = None) -> Tensor:
    axis = node.axis(-2, cache.rank)
    update = b.match_shape(update, [update.shape[axis] if dim == axis else size for dim, size in enumerate(cache.shape)],
                           "its update and its cache differ in a size")
    b.check_at_most(update.shape[axis], cache.shape[axis], "its update is longer than its cache")
    if starts is not None:
        starts = b.match_shape(starts, [cache.shape[0]], "it does not have a start for each batch element")
    if starts is None:
        return b.insert(update, owned(b, cache), [0] * cache.rank)
    if node.attribute("mode", "linear") == "circular":
        result, = b.loops(tensor_scatter_loop, cache, update, starts, axis=axis)
        return Tensor(cache.element, cache.shape, result.name)
    return _write_sequences(b, cache, update, starts, axis)


def _write_sequences(b: Builder, cache: Tensor, update: Tensor, starts: Tensor, axis: int) -> Tensor:
    """Writes update[i] at starts[i] along the axis of cache[i]."""
    limit = Scalar(b.size(cache.shape[axis] - update.shape[axis]), None)
    for each in [*cache.shape, *update.shape]:
        b.size(each)
    b.use(starts), b.use(update)

    def body(i: Symbol, carried: list[Tensor]) -> list[Tensor]:
        s = b.scalars
        place = s.index_of(b.extract(s, starts, [Scalar(i.value, None)]))
        b.check(s.bit_and(s.compare("ge", place, 0), s.compare("le", place, limit)).name, "an index is out of range")
        offsets: list[Size] = [i, *[0] * (cache.rank - 1)]
        part = b.slice(update, offsets, [1, *update.shape[1:]])
        offsets[axis] = Symbol(place.name)
        return [b.insert(part, carried[0], offsets)]

    return count_loop(b, update.shape[0], [cache], body)[0]


# ------------------------------------------------------------------------------ MaxUnpool


def max_unpool_loop(x: LoopTensor, places: LoopTensor, y: LoopTensor) -> LoopTensor:
    for i in range(size(x, 0)):
        y[places[i]] = x[i]
    return y


@operator("MaxUnpool")
def max_unpool(b: Builder, node: Node, x: Tensor, places: Tensor, output: Tensor | None = None) -> Tensor:
    """Imports MaxUnpool. Indices refer to the shape implied by the attributes; an output shape adds zeros after its
    elements."""
    kernel = node.attribute("kernel_shape")
    count = len(kernel)
    strides, pads = node.attribute("strides", [1] * count), node.attribute("pads", [0] * 2 * count)
    implied = [*x.shape[:2], *((value - 1) * strides[d] - pads[d] - pads[count + d] + kernel[d]
                               for d, value in enumerate(x.shape[2:]))]
    places = b.match_shape(places, x.shape, "its input and its indices differ in a size")
    into = b.fill([product(implied)], x.element, 0)
    flat, = b.loops(max_unpool_loop, b.reshape(x, [x.count]), b.reshape(places, [places.count]), into)
    y = b.reshape(Tensor(x.element, into.shape, flat.name), implied)
    if output is None:
        return y
    sizes, _ = read_sizes(b, node, output)
    return b.pad(y, [0] * y.rank, [total - value for total, value in zip(sizes, implied)], 0)
