"""Operators whose result sizes depend on values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL, I64, U8
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.indices import gather, gather_best
from layout_mlir.onnx_import.operators.movement import permute
from layout_mlir.onnx_import.sizes import product
from layout_mlir.onnx_import.values import Tensor

if TYPE_CHECKING:
    from layout_mlir.loops import Tensor as LoopTensor
    from layout_mlir.loops import empty, first, indices, integer, is_number, product_of, rank, shape, size

# ------------------------------------------------------------------- NonZero, Compress


def non_zero_loop(x: LoopTensor) -> LoopTensor:
    y, count = empty("i64", (rank(x), product_of(shape(x)))), 0
    for index in indices(shape(x)):
        for d, i in enumerate(index):
            y[d, count] = i
        count += integer(x[index] != 0 if is_number(x) else x[index])
    return first(y, (rank(x), count))


@operator("NonZero")
def non_zero(b: Builder, node: Node, x: Tensor) -> Tensor:
    if x.count == 0:
        return b.constant(np.zeros((x.rank, 0)), I64)
    result, = b.loops(non_zero_loop, x if x.rank else b.reshape(x, [1]))
    return result


@operator("Compress")
def compress(b: Builder, node: Node, x: Tensor, chosen: Tensor) -> Tensor:
    axis = node.axis(0, x.rank) if node.has("axis") else None
    if axis is None:
        x, axis = b.reshape(x, [x.count]), 0
    # A condition may be shorter than the dim; entries beyond the end of the dim are ignored.
    count = b.minimum(chosen.shape[0], x.shape[axis])
    if chosen.array is not None and (isinstance(count, int) or not chosen.array.any()):
        known = chosen.array[:count] if isinstance(count, int) else chosen.array
        return gather_best(b, node, x, b.constant(np.flatnonzero(known)), axis)
    if count != chosen.shape[0]:
        chosen = b.slice(chosen, [0], [count])
    places, = b.loops(non_zero_loop, chosen)
    return gather(b, x, b.reshape(places, [places.shape[1]]), axis)


# ------------------------------------------------------------------------------ Unique


def is_less(a: float, b: float) -> bool:
    """Compares numbers; NaN is greater than all numbers."""
    return a < b or (a == a and b != b)


def precedes(x: LoopTensor, a: int, b: int) -> bool:
    """Returns true if row a is lexicographically less than row b."""
    sign = 0
    for c in range(size(x, 1)):
        if sign == 0:
            sign = integer(is_less(x[b, c], x[a, c])) - integer(is_less(x[a, c], x[b, c]))
    return sign < 0


def sort_rows(x: LoopTensor, order: LoopTensor, n: int) -> LoopTensor:
    """Sorts the first n elements of `order`, which are row numbers, by a stable merge sort with segments of doubling
    length."""
    merged, width = empty("i64", (size(order, 0),)), 1
    for step in range(63):
        if width < n:
            for run in range((n + 2 * width - 1) // (2 * width)):
                low, middle, high = run * 2 * width, min(run * 2 * width + width, n), min((run + 1) * 2 * width, n)
                i, j = low, middle
                for k in range(low, high):
                    a, b = order[min(i, middle - 1)], order[min(j, high - 1)]
                    takes_first = i < middle and (j >= high or not precedes(x, b, a))
                    merged[k] = a if takes_first else b
                    i += integer(takes_first)
                    j += 1 - integer(takes_first)
            for k in range(n):
                order[k] = merged[k]
            width = width * 2
    return order


def unique_rows(x: LoopTensor, ordered: bool) -> tuple[LoopTensor, LoopTensor, LoopTensor]:
    """Returns the first row of each set of equal rows, the set of each row, and the number of rows in each set. With
    `ordered`, sets are sorted by their rows, otherwise by their first row number."""
    n, count = size(x, 0), 0
    order = empty("i64", (n,))
    for i in range(n):
        order[i] = i
    order = sort_rows(x, order, n)
    firsts, sets, counts = empty("i64", (n,)), empty("i64", (n,)), empty("i64", (n,))
    for k in range(n):
        if k == 0 or precedes(x, order[max(k - 1, 0)], order[k]):
            firsts[count], counts[count] = order[k], 0
            count += 1
        sets[order[k]] = count - 1
        counts[count - 1] += 1
    if not ordered:
        places, labels, sums, found = empty("i64", (n,)), empty("i64", (n,)), empty("i64", (n,)), 0
        for i in range(n):
            old = sets[i]
            if firsts[old] == i:
                places[found], labels[old], sums[found] = i, found, counts[old]
                found += 1
            sets[i] = labels[old]
        firsts, counts = places, sums
    return first(firsts, (count,)), sets, first(counts, (count,))


@operator("Unique")
def unique(b: Builder, node: Node, x: Tensor) -> list[Tensor]:
    axis = node.axis(0, x.rank) if node.has("axis") else None
    if axis is None:
        x, axis = b.reshape(x, [x.count]), 0
    others = [dim for dim in range(x.rank) if dim != axis]
    rows = b.reshape(permute(b, x, [axis, *others]), [x.shape[axis], product([x.shape[dim] for dim in others])])
    if x.element is BOOL:
        rows = b.cast(rows, U8)
    firsts, sets, counts = b.loops(unique_rows, rows, ordered=bool(node.attribute("sorted", 1)))
    return [gather(b, x, firsts, axis), firsts, Tensor(sets.element, (x.shape[axis],), sets.name), counts]


# ------------------------------------------------------------------- NonMaxSuppression


def scalar(x: LoopTensor) -> Any:
    """Returns the element of a tensor with one element."""
    return x[()] if rank(x) == 0 else x[0]


def corners(boxes: LoopTensor, b: int, i: int, centered: bool) -> tuple[list[float], list[float]]:
    """Returns the lower and upper corners of a box."""
    p = [boxes[b, i, d] for d in range(4)]
    if centered:
        low = [p[0] - p[2] / 2.0, p[1] - p[3] / 2.0]
        high = [p[0] + p[2] / 2.0, p[1] + p[3] / 2.0]
    else:
        low, high = [min(p[0], p[2]), min(p[1], p[3])], [max(p[0], p[2]), max(p[1], p[3])]
    return low, high


def overlap(boxes: LoopTensor, b: int, i: int, j: int, centered: bool) -> float:
    """Returns the intersection over union of two boxes."""
    low, high = corners(boxes, b, i, centered)
    other_low, other_high = corners(boxes, b, j, centered)
    sides = [max(min(high[d], other_high[d]) - max(low[d], other_low[d]), 0.0) for d in range(2)]
    area = (high[0] - low[0]) * (high[1] - low[1])
    other = (other_high[0] - other_low[0]) * (other_high[1] - other_low[1])
    both = sides[0] * sides[1]
    return both / (area + other - both)


def suppress(boxes: LoopTensor, scores: LoopTensor, most: LoopTensor | None, most_overlap: LoopTensor | None,
             least_score: LoopTensor | None, centered: bool) -> LoopTensor:
    """Selects the best boxes of each class that do not overlap a selected box."""
    batches, classes, n = shape(scores)
    limit = min(max(scalar(most), 0), n) if most is not None else 0
    allowed = scalar(most_overlap) if most_overlap is not None else 0.0
    found, total = empty("i64", (batches * classes * limit, 3)), 0
    for b, c in indices((batches, classes)):
        keys, order, m = empty(scores, (n, 1)), empty("i64", (n,)), 0
        for i in range(n):
            keys[i, 0] = 0.0 - scores[b, c, i]
            order[m] = i
            m += integer(scores[b, c, i] > scalar(least_score)) if least_score is not None else 1
        order, start = sort_rows(keys, order, m), total
        for r in range(m):
            if total - start < limit:
                box, free = order[r], True
                for j in range(start, total):
                    free = free and not overlap(boxes, b, found[j, 2], box, centered) > allowed
                if free:
                    found[total, 0], found[total, 1], found[total, 2] = b, c, box
                    total += 1
    return first(found, (total, 3))


@operator("NonMaxSuppression")
def non_max_suppression(b: Builder, node: Node, boxes: Tensor, scores: Tensor, most: Tensor | None = None,
                        most_overlap: Tensor | None = None, least_score: Tensor | None = None) -> Tensor:
    b.match_sizes(boxes.shape[0], scores.shape[0], "its boxes and scores differ in the number of batches")
    b.match_sizes(boxes.shape[1], scores.shape[2], "its boxes and scores differ in the number of boxes")
    b.match_sizes(boxes.shape[2], 4, "its boxes do not have 4 coordinates")
    result, = b.loops(suppress, boxes, scores, most, most_overlap, least_score,
                      centered=bool(node.attribute("center_point_box", 0)))
    return result
