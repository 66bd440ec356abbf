"""Operators that read elements at given indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import I64
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.shapes import scalar_of_sizes
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size
from layout_mlir.onnx_import.values import Scalar, Tensor


def dims(numbers: Sequence[int]) -> str:
    """Returns the results of an indexing map, "d0, d2" for the loop numbers 0 and 2."""
    return ", ".join(f"d{number}" for number in numbers)


# -------------------------------------------------------------------------- Gather


def gather(b: Builder, x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """Gathers slices of a tensor. Each row of the last dim is copied as a whole, because its position depends on other
    dims."""
    shape = [*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]]
    first, last = axis, axis + indices.rank

    def body(s: Scalars, *parts: Scalar) -> Scalar:
        *index, place = parts
        wrapped = b.wrapped_index(s, place, x.shape[axis])
        return b.extract(s, x, [*index[:first], wrapped, *index[last:]])

    b.use(x), b.size(x.shape[axis])
    return b.make(body, shape, x.element, [(indices, dims(range(first, last)))])


def _find_run(indices: NDArray[Any]) -> int | None:
    """Returns the step of constant indices that are equally spaced and ascending, and all of which count from the same
    end; else None."""
    flat = indices.reshape(-1)
    if flat.size == 0:
        return None
    steps = set(np.diff(flat).tolist()) or {1}
    step = steps.pop()
    return int(step) if not steps and step > 0 and (flat[0] >= 0 or flat[-1] < 0) else None


def _gather_constant(b: Builder, node: Node, x: Tensor, indices: NDArray[Any], axis: int) -> Tensor | None:
    """Returns a slice of a tensor for constant, equally spaced indices, or None."""
    size = x.shape[axis]
    if isinstance(size, int):
        if ((indices < -size) | (indices >= size)).any():
            node.refuse(f"an index is out of range for a dim of size {size}")
        indices = np.where(indices < 0, indices + size, indices)
    step = _find_run(indices)
    if step is None:
        return None
    first, last, count = int(indices.reshape(-1)[0]), int(indices.reshape(-1)[-1]), indices.size
    offset: Size = first if first >= 0 else size + first
    needed = last + 1 if first >= 0 else -first
    if not isinstance(size, int) and b.is_less(size, needed) is not False:
        b.check(b.emit(f"arith.cmpi sge, {b.size(size)}, {b.size(needed)} : index"), "an index is out of range")
    offsets: list[Size] = [0] * x.rank
    offsets[axis] = offset
    part = b.slice(x, offsets, [*x.shape[:axis], count, *x.shape[axis + 1:]],
                   [step if dim == axis else 1 for dim in range(x.rank)])
    return b.reshape(part, [*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]])


@operator("Gather")
def gather_node(b: Builder, node: Node, x: Tensor, indices: Tensor) -> Tensor:
    return gather_best(b, node, x, indices, node.axis(0, x.rank))


def gather_best(b: Builder, node: Node, x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """Gathers slices of a tensor, if possible without reading constant indices at run time."""
    known, array = x.known_integers(), indices.array
    if known is not None and x.rank == 1 and array is not None and indices.rank <= 1 and (
            (array >= -len(known)) & (array < len(known))).all():
        if indices.rank == 0:
            return scalar_of_sizes(b, known[int(array)], x.element)
        return b.integers([known[int(place)] for place in array], x.element)
    if array is not None:
        part = _gather_constant(b, node, x, array.astype(np.int64), axis)
        if part is not None:
            return part
    return gather(b, x, indices, axis)


@operator("GatherElements")
def gather_elements(b: Builder, node: Node, x: Tensor, indices: Tensor) -> Tensor:
    axis = node.axis(0, x.rank)

    def body(s: Scalars, *parts: Scalar) -> Scalar:
        *index, place = parts
        index[axis] = b.wrapped_index(s, place, x.shape[axis])
        return b.extract(s, x, index)

    b.use(x), b.size(x.shape[axis])
    return b.make(body, indices.shape, x.element, [(indices, dims(range(x.rank)))])


def split_points(b: Builder, node: Node, indices: Tensor) -> list[Tensor]:
    """Splits the last dim of `indices` into one tensor for each coordinate."""
    depth = indices.shape[-1] if indices.rank else None
    if not isinstance(depth, int):
        node.refuse("the number of coordinates, which is the last size of its indices, is dynamic")
    zeros: list[Size] = [0] * (indices.rank - 1)
    return [b.reshape(b.slice(indices, [*zeros, number], [*indices.shape[:-1], 1]), indices.shape[:-1])
            for number in range(depth)]


@operator("GatherND")
def gather_nd(b: Builder, node: Node, x: Tensor, indices: Tensor) -> Tensor:
    batch = int(node.attribute("batch_dims", 0))
    points = split_points(b, node, indices)
    lead, end = indices.rank - 1, batch + len(points)
    if end > x.rank:
        node.refuse(f"points of {len(points)} coordinates are not in a tensor of rank {x.rank}")
    for own, size in zip(indices.shape[:batch], x.shape):
        b.match_sizes(own, size, "its data and indices differ in a batch dim")
    shape = [*indices.shape[:-1], *x.shape[end:]]

    def body(s: Scalars, *parts: Scalar) -> Scalar:
        index, places = parts[:len(shape)], parts[len(shape):]
        wrapped = [b.wrapped_index(s, place, x.shape[batch + number]) for number, place in enumerate(places)]
        return b.extract(s, x, [*index[:batch], *wrapped, *index[lead:]])

    b.use(x)
    for size in x.shape:
        b.size(size)
    return b.make(body, shape, x.element, [(point, dims(range(lead))) for point in points])


@operator("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor(b: Builder, node: Node, x: Tensor, indices: Tensor) -> Tensor:
    result = gather(b, x, b.reshape(indices, [indices.count]), x.rank - 1)
    return b.unsqueeze(result, [0]) if x.rank == 1 else result


# -------------------------------------------------------------------------- OneHot


def _read_depth(b: Builder, depth: Tensor) -> Size:
    """Returns the depth of OneHot, an integer or a float, as a size."""
    known = depth.constant_scalar()
    if known is not None:
        return int(known)
    if depth.element.is_float:
        depth = b.cast(depth, I64)
    return b.size_of(depth)


@operator("OneHot")
def one_hot(b: Builder, node: Node, indices: Tensor, depth: Tensor, values: Tensor) -> Tensor:
    """Imports OneHot. An index out of range creates a row without a hot element."""
    axis = node.axis(-1, indices.rank + 1)
    count = _read_depth(b, depth)
    shape = [*indices.shape[:axis], count, *indices.shape[axis:]]
    b.match_sizes(values.shape[0], 2, "its values are not two elements")
    off, on = (b.scalar_of(b.reshape(b.slice(values, [number], [1]), [])) for number in range(2))
    around = [dim for dim in range(len(shape)) if dim != axis]

    def body(s: Scalars, *parts: Scalar) -> Scalar:
        *index, place = parts
        wrapped = b.wrapped_index(s, s.cast(place, I64) if place.element is not I64 else place, count)
        return s.select(s.equal(index[axis], wrapped), on, off)

    b.size(count)
    return b.make(body, shape, values.element, [(indices, dims(around))])
