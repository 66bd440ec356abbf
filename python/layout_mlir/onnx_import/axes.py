"""Axes that the program computes: one condition for each dim, and sizes that depend on it."""

from __future__ import annotations

from collections.abc import Sequence

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL
from layout_mlir.onnx_import.sizes import Size, Symbol
from layout_mlir.onnx_import.values import Scalar, Tensor


def check_axes(b: Builder, axes: Sequence[Size], rank: int) -> None:
    """Writes assertions that axes, which may be negative, are those of a tensor of the rank."""
    for axis in axes:
        s, place = b.scalars, Scalar(b.size(axis), None)
        b.check(s.bit_and(s.compare("ge", place, -rank), s.compare("lt", place, rank)).name,
                f"an axis is out of range for rank {rank}")


def find_dims(b: Builder, axes: Tensor, rank: int) -> list[Scalar]:
    """Returns for each dim the condition that it is one of the axes, which may be negative. Their number is static."""
    assert isinstance(axes.count, int)
    s = b.scalars
    sizes = [b.size_of(axes, number) for number in range(axes.count)]
    check_axes(b, sizes, rank)
    places = [Scalar(b.size(size), None) for size in sizes]
    found = []
    for dim in range(rank):
        is_axis = s.constant(False, BOOL)
        for place in places:
            is_axis = s.bit_or(is_axis, s.bit_or(s.equal(place, dim), s.equal(place, dim - rank)))
        found.append(is_axis)
    return found


def sizes_of_kept(b: Builder, removed: Sequence[Scalar], x: Tensor, count: int) -> list[Size]:
    """Returns the sizes of the `count` dims that are not removed, in order."""
    s = b.scalars
    sizes, before = [s.constant(1, None)] * count, s.constant(0, None)
    for is_removed, size in zip(removed, x.shape):
        whole, is_kept = Scalar(b.size(size), None), s.invert(is_removed)
        for number in range(count):
            sizes[number] = s.select(s.bit_and(is_kept, s.equal(before, number)), whole, sizes[number])
        before = s.add(before, s.index_of(is_kept))
    return [Symbol(size.name) for size in sizes]
