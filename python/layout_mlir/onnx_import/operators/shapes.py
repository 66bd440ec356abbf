"""Shapes, and operators that change the shape of a tensor but not the order of its elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from layout_mlir.onnx_import.axes import find_dims, sizes_of_kept
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BY_CODE, F64, I64, Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, Symbol, is_static, product
from layout_mlir.onnx_import.values import MOST_TRACKED, Scalar, Tensor


def scalar_of_sizes(b: Builder, value: Size, element: Element = I64) -> Tensor:
    """Returns a tensor of rank 0 with a size."""
    return b.reshape(b.integers([value], element), [])


@operator("Shape")
def shape(b: Builder, node: Node, x: Tensor) -> Tensor:
    return b.integers(x.shape[slice(node.attribute("start", 0), node.attribute("end"))])


@operator("Size")
def size(b: Builder, node: Node, x: Tensor) -> Tensor:
    return scalar_of_sizes(b, x.count)


# ------------------------------------------------------------------------- reshape


def read_sizes(b: Builder, node: Node, tensor: Tensor) -> tuple[list[Size], bool]:
    """Returns the elements of a 1-D tensor as sizes, and whether they are read at run time, so that they may be
    negative."""
    known = tensor.known_integers()
    if known is not None:
        return list(known), False
    count = tensor.shape[0] if tensor.rank else 1
    if not isinstance(count, int):
        node.refuse("the number of dims is unknown: the length of its shape input is dynamic; state it (shapes= or "
                    "--shape)")
    return [b.size_of(tensor, number) for number in range(count)], True


def _resolve(b: Builder, x: Tensor, sizes: Sequence[Size], zero_copies: bool) -> list[Size]:
    """Returns the shape for sizes read at run time, any of which may be 0 or -1."""
    copied = [b.choose("eq", value, 0, x.shape[dim], value) if zero_copies and dim < x.rank else value
              for dim, value in enumerate(sizes)]
    rest = product([b.choose("eq", value, -1, 1, value) for value in copied])
    inferred = b.floor_divide(x.count, b.maximum(rest, 1))
    return [b.choose("eq", value, -1, inferred, value) for value in copied]


@operator("Reshape")
def reshape(b: Builder, node: Node, x: Tensor, given: Tensor | None = None) -> Tensor:
    sizes: list[Size]
    if given is None:
        sizes, is_data = list(node.attribute("shape", [])), False
    else:
        sizes, is_data = read_sizes(b, node, given)
    zero_copies = not node.attribute("allowzero", 0)
    if is_data:
        return b.reshape(x, _resolve(b, x, sizes, zero_copies))
    for dim, value in enumerate(sizes):
        if value == 0 and zero_copies:
            if dim >= x.rank:
                node.refuse(f"size {dim} of the new shape copies a dim that the input of rank {x.rank} does not have")
            sizes[dim] = x.shape[dim]
    if sizes.count(-1) > 1 or any(isinstance(value, int) and value < -1 for value in sizes):
        node.refuse(f"{sizes} is not a shape")
    if x.is_static and all(map(is_static, sizes)):
        _check_count(node, x, sizes)
    return b.reshape(x, sizes)


def _check_count(node: Node, x: Tensor, sizes: Sequence[Size]) -> None:
    rest, count = product([value for value in sizes if value != -1]), x.count
    assert isinstance(rest, int) and isinstance(count, int)
    fits = count % rest == 0 if -1 in sizes and rest else count == rest
    if not fits:
        node.refuse(f"a tensor of shape {list(x.shape)} cannot have the shape {list(sizes)}")


@operator("Flatten")
def flatten(b: Builder, node: Node, x: Tensor) -> Tensor:
    axis = int(node.attribute("axis", 1))
    if not -x.rank <= axis <= x.rank:
        node.refuse(f"axis {axis} is out of range for rank {x.rank}")
    return b.flatten(x, axis + x.rank if axis < 0 else axis)


def checked_axes(node: Node, axes: Sequence[int], rank: int) -> list[int]:
    """Returns nonnegative axes; rejects duplicates and axes out of range."""
    if any(not -rank <= axis < rank for axis in axes):
        node.refuse(f"axes {list(axes)} are out of range for rank {rank}")
    result = [axis % rank for axis in axes]
    if len(set(result)) < len(result):
        node.refuse(f"an axis is repeated in {list(axes)}")
    return result


@operator("Squeeze")
def squeeze(b: Builder, node: Node, x: Tensor, _axes: Tensor | None = None) -> Tensor:
    """Imports Squeeze. Without axes, the dims of size 1 are removed. The rank of the result is static, so a dynamic dim
    is kept, with a check that its size is not 1."""
    if _axes is not None and _axes.known_integers() is None:
        if not isinstance(_axes.count, int):
            node.refuse("the number of its axes is unknown")
        return b.reshape(x, sizes_of_kept(b, find_dims(b, _axes, x.rank), x, x.rank - _axes.count))
    given = node.integers("axes", 1)
    if given is None:
        axes = [dim for dim, value in enumerate(x.shape) if value == 1]
        for value in x.shape:
            if not is_static(value):
                b.check(b.emit(f"arith.cmpi ne, {b.size(value)}, {b.size(1)} : index"),
                        f"node '{node.proto.name}' (Squeeze) states no axes, and a dynamic size is 1")
    else:
        axes = checked_axes(node, given, x.rank)
    for axis in axes:
        if x.shape[axis] != 1 and is_static(x.shape[axis]):
            node.refuse(f"dim {axis} has size {x.shape[axis]}, not 1")
        b.check_equal(x.shape[axis], 1, "a size other than 1 is squeezed")
    if any(x.shape[axis] != 1 for axis in axes):
        x = b.cast_shape(x, [1 if dim in axes else value for dim, value in enumerate(x.shape)])
    return b.reshape(x, [value for dim, value in enumerate(x.shape) if dim not in axes])


@operator("Unsqueeze")
def unsqueeze(b: Builder, node: Node, x: Tensor, given: Tensor | None = None) -> Tensor:
    if given is not None and given.known_integers() is None:
        return _unsqueeze_by_values(b, node, x, given)
    axes = node.integers("axes", 1)
    if axes is None:
        node.refuse("it has no axes")
    return b.unsqueeze(x, checked_axes(node, axes, x.rank + len(axes)))


def _unsqueeze_by_values(b: Builder, node: Node, x: Tensor, axes: Tensor) -> Tensor:
    """Inserts dims at positions that are known at run time."""
    if not isinstance(axes.count, int):
        node.refuse("the number of its axes is unknown")
    s, before = b.scalars, b.scalars.constant(0, None)
    sizes: list[Size] = []
    for is_new in find_dims(b, axes, x.rank + axes.count):
        size = s.constant(1, None)
        for dim, own in enumerate(x.shape):
            size = s.select(s.bit_and(s.invert(is_new), s.equal(before, dim)), Scalar(b.size(own), None), size)
        sizes.append(Symbol(size.name))
        before = s.add(before, s.index_of(s.invert(is_new)))
    return b.reshape(x, sizes)


@operator("Expand")
def expand(b: Builder, node: Node, x: Tensor, given: Tensor) -> Tensor:
    sizes, _ = read_sizes(b, node, given)
    target = b.broadcast_shape([x.shape, sizes])
    for size, wanted in zip(reversed(sizes), reversed(target)):
        if size not in (1, wanted):
            s, own = b.scalars, Scalar(b.size(size), None)
            b.check(s.bit_or(s.equal(own, 1), s.equal(own, Scalar(b.size(wanted), None))).name, "sizes do not broadcast")
    known = x.known_integers()
    if known is not None and len(known) == 1 and len(target) == 1 and (
            isinstance(target[0], int) and target[0] <= MOST_TRACKED):
        return b.integers(list(known) * target[0], x.element)
    return b.broadcast_to(x, target)


# ------------------------------------------------------------------- made of shapes


def _count_integers(b: Builder, start: Tensor, limit: Tensor, delta: Tensor) -> Size:
    """Returns max(ceil((limit - start) / delta), 0)."""
    known = [each.known_integers() for each in (start, limit, delta)]
    first, last, step = (each[0] if each else b.size_of(tensor)
                         for each, tensor in zip(known, (start, limit, delta)))
    distance = last - first
    if isinstance(step, int) and step < 0:
        distance, step = -distance, -step
    count = b.ceil_divide(distance, step)
    is_size = known[0] is not None and known[1] is not None
    return count if is_size and isinstance(step, int) and b.is_less(distance, 0) is False else b.maximum(count, 0)


def _count_floats(b: Builder, start: Tensor, limit: Tensor, delta: Tensor) -> Size:
    """Returns max(ceil((limit - start) / delta), 0)."""
    s = b.scalars
    first, last, step = (b.scalar_of(tensor) for tensor in (start, limit, delta))
    steps = s.div(s.cast(s.sub(last, first), F64), s.cast(step, F64))
    return b.maximum(Symbol(s.cast(s.cast(s.ceil(steps), I64), None).name), 0)


@operator("Range")
def range_(b: Builder, node: Node, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    if delta.constant_scalar() == 0:
        node.refuse("its step is 0")
    if not start.element.is_integer:
        count = _count_floats(b, start, limit, delta)
    else:
        count = _count_integers(b, start, limit, delta)
        first, step = start.known_integers(), delta.known_integers()
        if first is not None and step is not None and isinstance(count, int) and count <= MOST_TRACKED:
            return b.integers([first[0] + step[0] * number for number in range(count)], start.element)
    first_value, step_value = b.scalar_of(start), b.scalar_of(delta)

    def body(s: Scalars, i: Scalar) -> Scalar:
        return s.add(first_value, s.mul(s.cast(i, start.element), step_value))

    return b.make(body, [count], start.element)


@operator("EyeLike")
def eye_like(b: Builder, node: Node, x: Tensor) -> Tensor:
    element = BY_CODE[node.attribute("dtype", x.element.code)]
    offset = node.attribute("k", 0)
    rows, columns = x.shape
    if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= 1 << 16:
        return b.constant(np.eye(rows, columns, k=offset), element)

    def body(s: Scalars, i: Scalar, j: Scalar) -> Scalar:
        return s.cast(s.equal(s.add(i, offset), j), element)

    return b.make(body, x.shape, element)
