"""Operators with sequential dependences: cumulative sums and top-k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from layout_mlir.onnx_import.axes import check_axes
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.values import Tensor

if TYPE_CHECKING:
    from layout_mlir import loops
    from layout_mlir.loops import all_of, empty, indices, integer, rank, shape, size

# The largest k for which a list is kept sorted by insertion; larger ones use merge sort.
_MOST_INSERTED = 16


# ----------------------------------------------------------------- definitions

def scalar(x: loops.Tensor) -> Any:
    """Returns the element of a tensor with one element."""
    return x[()] if rank(x) == 0 else x[0]


def accumulate(x: loops.Tensor, axis: int, exclusive: bool, reverse: bool, multiplies: bool,
               start: float) -> loops.Tensor:
    """Accumulates the elements of each row from its first or last element."""
    y, n, around = empty(x, shape(x)), size(x, axis), (*shape(x)[:axis], *shape(x)[axis + 1:])
    for row in indices(around):
        total = start
        for i in range(n):
            at = (*row[:axis], n - 1 - i if reverse else i, *row[axis:])
            new = total * x[at] if multiplies else total + x[at]
            y[at] = total if exclusive else new
            total = new
    return y


def accumulate_along(x: loops.Tensor, axis: loops.Tensor, exclusive: bool, reverse: bool,
                     multiplies: bool) -> loops.Tensor:
    """Accumulates along a dynamic axis: computes each element from the previous one along the axis."""
    y, start = empty(x, shape(x)), 1 if multiplies else 0
    for index in indices(shape(x)):
        to = [size(x, d) - 1 - i if reverse else i for d, i in enumerate(index)]
        source = [i - (-1 if reverse else 1) * integer(scalar(axis) == d or scalar(axis) == d - rank(x))
                  for d, i in enumerate(to)]
        inside = all_of([0 <= i and i < size(x, d) for d, i in enumerate(source)])
        old = y[source] if inside else start
        new = (x[source] if inside else start) if exclusive else x[to]
        y[to] = old * new if multiplies else old + new
    return y


def goes_before(a: float, b: float, largest: bool) -> bool:
    """Compares for sorting; NaN is last."""
    better = a > b if largest else a < b
    return better or (a == a and b != b)


def top_k_by_insertion(x: loops.Tensor, k: loops.Tensor, axis: int, largest: bool,
                       count: int | None) -> tuple[loops.Tensor, loops.Tensor]:
    """Maintains a sorted list for each row; equal elements keep their order."""
    count = count if count is not None else scalar(k)
    n, around = size(x, axis), (*shape(x)[:axis], *shape(x)[axis + 1:])
    values = empty(x, (*shape(x)[:axis], count, *shape(x)[axis + 1:]))
    places = empty("i64", (*shape(x)[:axis], count, *shape(x)[axis + 1:]))
    for row in indices(around):
        filled = 0
        for i in range(n if count > 0 else 0):
            v = x[(*row[:axis], i, *row[axis:])]
            if True if filled < count else goes_before(v, values[(*row[:axis], count - 1, *row[axis:])], largest):
                here = 0
                for j in range(filled):
                    here += integer(not goes_before(v, values[(*row[:axis], j, *row[axis:])], largest))
                last = min(filled, count - 1)
                for j in range(last - here):
                    to, source = (*row[:axis], last - j, *row[axis:]), (*row[:axis], last - j - 1, *row[axis:])
                    values[to] = values[source]
                    places[to] = places[source]
                values[(*row[:axis], here, *row[axis:])] = v
                places[(*row[:axis], here, *row[axis:])] = i
                filled = last + 1
    return values, places


def top_k_by_merging(x: loops.Tensor, k: loops.Tensor, axis: int, largest: bool,
                     count: int | None) -> tuple[loops.Tensor, loops.Tensor]:
    """Sorts each row by a stable merge sort with segments of doubling length."""
    count = count if count is not None else scalar(k)
    n, around = size(x, axis), (*shape(x)[:axis], *shape(x)[axis + 1:])
    values = empty(x, (*shape(x)[:axis], count, *shape(x)[axis + 1:]))
    places = empty("i64", (*shape(x)[:axis], count, *shape(x)[axis + 1:]))
    order, merged = empty("i64", (n,)), empty("i64", (n,))
    for i in range(n):  # avoids that two empty tensors are merged into one
        merged[i] = 0
    for row in indices(around):
        for i in range(n):
            order[i] = i
        width = 1
        for step in range(63):
            if width < n:
                for run in range((n + 2 * width - 1) // (2 * width)):
                    low, middle, high = run * 2 * width, min(run * 2 * width + width, n), min((run + 1) * 2 * width, n)
                    i, j = low, middle
                    for to in range(low, high):
                        a, b = order[min(i, middle - 1)], order[min(j, high - 1)]
                        second = goes_before(x[(*row[:axis], b, *row[axis:])], x[(*row[:axis], a, *row[axis:])],
                                             largest)
                        takes_first = i < middle and (j >= high or not second)
                        merged[to] = a if takes_first else b
                        i += integer(takes_first)
                        j += 1 - integer(takes_first)
                for to in range(n):
                    order[to] = merged[to]
                width = width * 2
        for i in range(count):
            place = order[i]
            values[(*row[:axis], i, *row[axis:])] = x[(*row[:axis], place, *row[axis:])]
            places[(*row[:axis], i, *row[axis:])] = place
    return values, places


# ------------------------------------------------------------------- operators

@operator("CumSum", "CumProd")
def cumulate(b: Builder, node: Node, x: Tensor, axis: Tensor) -> Tensor:
    known = {"exclusive": bool(node.attribute("exclusive", 0)), "reverse": bool(node.attribute("reverse", 0)),
             "multiplies": node.op == "CumProd"}
    place = axis.constant_scalar()
    if place is None:
        check_axes(b, [b.size_of(b.reshape(axis, []))], x.rank)
        result, = b.loops(accumulate_along, x, axis, **known)
        return b.cast_shape(result, x.shape)
    if not -x.rank <= place < x.rank:
        node.refuse(f"axis {place} is out of range for rank {x.rank}")
    start = int(known["multiplies"])
    result, = b.loops(accumulate, x, axis=place % x.rank, start=float(start) if x.element.is_float else start, **known)
    return b.cast_shape(result, x.shape)


@operator("TopK")
def top_k(b: Builder, node: Node, x: Tensor, k: Tensor | None = None) -> list[Tensor]:
    axis = node.axis(-1, x.rank)
    if k is None:
        k = b.constant(np.array([node.attribute("k")], np.int64))
    count = b.size_of(k)
    static = count if isinstance(count, int) else None
    most = x.shape[axis]
    if static is not None and isinstance(most, int) and static > most:
        node.refuse(f"k is {static}, more than the {most} elements of a row")
    b.check(b.emit(f"arith.cmpi sle, {b.size(count)}, {b.size(most)} : index"),
            "k is larger than the number of elements of a row")
    b.check_sizes([count])
    function = top_k_by_insertion if static is not None and static <= _MOST_INSERTED else top_k_by_merging
    results = b.loops(function, x, k, axis=axis, largest=bool(node.attribute("largest", 1)), count=static)
    shape = [count if dim == axis else size for dim, size in enumerate(x.shape)]
    return [b.cast_shape(result, shape) for result in results]
