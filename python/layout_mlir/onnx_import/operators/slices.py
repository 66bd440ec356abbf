"""Slice and Pad."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from layout_mlir.onnx_import.axes import check_axes
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.shapes import checked_axes, read_sizes
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size
from layout_mlir.onnx_import.values import Scalar, Tensor

# The largest size of a dim: exporters use numbers from here on for "to the end".
_END = (1 << 31) - 1

# --------------------------------------------------------------------------- Slice


@dataclasses.dataclass
class Bound:
    """A start or end of a slice: an integer, which may be read at run time."""
    value: Size
    is_data: bool

    @property
    def is_end(self) -> bool:
        return isinstance(self.value, int) and self.value >= _END

    @property
    def is_within(self) -> bool:
        """True if the bound is known to be at most the size: 0, or one that counts from the end."""
        return isinstance(self.value, int) and self.value <= 0

    def from_front(self, b: Builder, whole: Size, more: int = 0) -> Size:
        """Returns max(bound + more, 0) for the bound as a nonnegative number; `more` is 0 or 1."""
        value = self.value
        if self.is_end:
            return whole + more
        if isinstance(value, int):
            if value <= -_END:
                return 0
            return value + more if value >= 0 else b.maximum(value + whole + more, 0)
        if not self.is_data and b.is_less(value, 0) is False:
            return value + more
        place = b.choose("slt", value, 0, value + whole, value)
        # Clamping to the size does not change the slice and avoids overflow.
        return b.maximum(b.minimum(place, whole) + more, 0)


@dataclasses.dataclass
class Span:
    """The elements `first + i * step` of a dim, for i < `count`."""
    first: Size
    count: Size
    step: Size


def _count(b: Builder, bounds: tuple[Bound, Bound], distance: Size, step: Size) -> Size:
    """Returns max(ceil(distance / step), 0)."""
    is_known = not any(bound.is_data for bound in bounds) and b.is_less(distance, 0) is False
    return b.ceil_divide(distance if is_known else b.maximum(distance, 0), step)


def forward(b: Builder, whole: Size, start: Bound, end: Bound, step: Size) -> Span:
    """Returns the elements of a slice with a positive step."""
    low = start.from_front(b, whole)
    first = low if start.is_within else b.minimum(low, whole)
    if end.is_end and isinstance(start.value, int) and -_END < start.value < 0:
        return Span(first, b.ceil_divide(b.minimum(-start.value, whole), step), step)
    high = end.from_front(b, whole)
    last = high if end.is_end or end.is_within else b.minimum(high, whole)
    return Span(first, _count(b, (start, end), last - low, step), step)


def backward(b: Builder, whole: Size, start: Bound, end: Bound, step: Size) -> Span:
    """Returns the elements of a slice with the negative step -`step`. Unlike numpy, ONNX clamps a start before the
    first element to the first element."""
    behind_first = b.minimum(start.from_front(b, whole) + 1, whole)
    count = _count(b, (start, end), behind_first - end.from_front(b, whole, 1), step)
    return Span(behind_first - 1, count, -step)


def _either(b: Builder, whole: Size, start: Bound, end: Bound, step: Size) -> Span:
    """Returns the elements of a slice with a step that is known at run time."""
    b.check(b.emit(f"arith.cmpi ne, {b.size(step)}, {b.size(0)} : index"), "the step of a slice is 0")
    distance = b.maximum(step, -step)
    up, down = (find(b, whole, start, end, distance) for find in (forward, backward))
    return Span(b.choose("sgt", step, 0, up.first, down.first), b.choose("sgt", step, 0, up.count, down.count), step)


def find_span(b: Builder, node: Node, whole: Size, start: Bound, end: Bound, step: Size) -> Span:
    if step == 0:
        node.refuse("its step is 0")
    if not isinstance(step, int):
        return _either(b, whole, start, end, step)
    return forward(b, whole, start, end, step) if step > 0 else backward(b, whole, start, end, -step)


def take_spans(b: Builder, x: Tensor, spans: Sequence[Span]) -> Tensor:
    """Returns the elements of one span for each dim."""
    plain = [isinstance(span.step, int) and span.step > 0 for span in spans]
    steps = [span.step if isinstance(span.step, int) and is_plain else 1 for span, is_plain in zip(spans, plain)]
    x = b.slice(x, [span.first if is_plain else 0 for span, is_plain in zip(spans, plain)],
                [span.count if is_plain else size for span, size, is_plain in zip(spans, x.shape, plain)], steps)
    if all(plain):
        return x
    shape = [span.count for span in spans]
    known = x.known_integers()
    if known is not None and x.rank == 1 and isinstance(spans[0].first, int) and isinstance(shape[0], int) and (
            isinstance(spans[0].step, int)):
        return b.integers([known[spans[0].first + spans[0].step * i] for i in range(shape[0])], x.element)
    ends = [(b.size(span.first), b.size(span.step)) for span in spans]

    def body(s: Scalars, *index: Scalar) -> Scalar:
        return b.extract(s, x, [i if is_plain else s.add(Scalar(first, None), s.mul(i, Scalar(step, None)))
                                for i, is_plain, (first, step) in zip(index, plain, ends)])

    b.use(x)
    return b.make(body, shape, x.element)


@operator("Slice")
def slice_(b: Builder, node: Node, x: Tensor, starts: Tensor | None = None, ends: Tensor | None = None,
           axes: Tensor | None = None, steps: Tensor | None = None) -> Tensor:
    if starts is None or ends is None:
        low, high = ([Bound(value, False) for value in node.attribute(name)] for name in ("starts", "ends"))
    else:
        low, high = ([Bound(value, is_data) for value in values]
                     for values, is_data in (read_sizes(b, node, starts), read_sizes(b, node, ends)))
    given = read_sizes(b, node, steps)[0] if steps is not None else [1] * len(low)
    if axes is not None and axes.known_integers() is None:
        return _slice_any(b, node, x, axes, (low, high, given))
    places = checked_axes(node, node.integers("axes", 3, range(len(low))) or [], x.rank)
    if not len(low) == len(high) == len(places) == len(given):
        node.refuse("its starts, ends, axes and steps differ in their number")
    spans = [Span(0, size, 1) for size in x.shape]
    for axis, start, end, step in zip(places, low, high, given):
        spans[axis] = find_span(b, node, x.shape[axis], start, end, step)
    return take_spans(b, x, spans)


def spread(b: Builder, node: Node, axes: Tensor, values: Sequence[Size], rank: int, default: Size) -> list[Size]:
    """Returns the value for each dim, or the default if no axis selects it; the axes are read at run time."""
    places, _ = read_sizes(b, node, axes)
    if len(places) != len(values):
        node.refuse("its axes and the values for them differ in their number")
    check_axes(b, [place for place in places if not isinstance(place, int)], rank)
    result: list[Size] = []
    for dim in range(rank):
        chosen = default
        for place, value in zip(places, values):
            chosen = b.choose("eq", b.choose("slt", place, 0, place + rank, place), dim, value, chosen)
        result.append(chosen)
    return result


def _slice_any(b: Builder, node: Node, x: Tensor, axes: Tensor,
               given: tuple[Sequence[Bound], Sequence[Bound], Sequence[Size]]) -> Tensor:
    """Slices along axes that are read at run time."""
    low, high = ([bound.value for bound in bounds] for bounds in given[:2])
    starts, ends, steps = (spread(b, node, axes, values, x.rank, default)
                           for values, default in ((low, 0), (high, _END), (given[2], 1)))
    return take_spans(b, x, [find_span(b, node, size, Bound(start, True), Bound(end, True), step)
                             for size, start, end, step in zip(x.shape, starts, ends, steps)])


# ----------------------------------------------------------------------------- Pad


def _place(s: Scalars, mode: str, i: Scalar, low: Scalar, size: Scalar) -> Scalar:
    """Returns the index in an input dim of `size` elements from which result element i is copied, for `low` elements of
    padding before the input. `mode` is edge, wrap or reflect. `low` may exceed the size."""
    place = s.sub(i, low)
    if mode == "edge":
        return s.clamp(place, 0, s.sub(size, 1))
    if mode == "wrap":
        rest = s.rem(place, size)
        return s.select(s.less(rest, 0), s.add(rest, size), rest)
    period = s.max(s.mul(s.sub(size, 1), 2), 1)
    rest = s.rem(place, period)
    rest = s.select(s.less(rest, 0), s.neg(rest), rest)
    return s.min(rest, s.sub(period, rest))


def _repeat_outwards(b: Builder, x: Tensor, mode: str, low: Sequence[Size], high: Sequence[Size]) -> Tensor:
    """Pads with elements of the tensor."""
    padded = [before != 0 or after != 0 for before, after in zip(low, high)]
    for before, size, after in zip(low, x.shape, high):
        b.check_at_most(b.minimum(before + after, 1), size, "a dim without elements is padded with elements")
    shape = [before + size + after for before, size, after in zip(low, x.shape, high)]
    amounts = [(b.size(before), b.size(size)) for before, size in zip(low, x.shape)]

    def body(s: Scalars, *index: Scalar) -> Scalar:
        return b.extract(s, x, [_place(s, mode, i, Scalar(before, None), Scalar(size, None)) if is_padded else i
                                for i, is_padded, (before, size) in zip(index, padded, amounts)])

    b.use(x)
    return b.make(body, shape, x.element)


def _border(b: Builder, x: Tensor, mode: str, amount: int, is_low: bool) -> Tensor:
    """Returns the border of the last dim before or after a tensor; the amount is at most the size that it reads."""
    size = x.shape[-1]
    zeros: list[Size] = [0] * (x.rank - 1)
    first: Size
    if mode == "reflect":
        spans = [Span(0, each, 1) for each in x.shape[:-1]]
        return take_spans(b, x, [*spans, Span(amount if is_low else size - 2, amount, -1)])
    if mode == "wrap":
        first = size - amount if is_low else 0
        return b.slice(x, [*zeros, first], [*x.shape[:-1], amount])
    first = 0 if is_low else size - 1
    return b.broadcast_to(b.slice(x, [*zeros, first], [*x.shape[:-1], 1]), [*x.shape[:-1], amount])


def _pad_rows(b: Builder, x: Tensor, mode: str, low: Size, high: Size) -> Tensor:
    """Pads the last dim: rows are copied as a whole, and only the borders are computed by element."""
    size = x.shape[-1]
    most = {"reflect": size - 1, "wrap": size, "edge": size}[mode]
    if (isinstance(low, int) and isinstance(high, int) and isinstance(most, int)
            and (mode == "edge" and most > 0 or max(low, high) <= most)):
        parts = [_border(b, x, mode, low, True)] if low else []
        parts += [x, *([_border(b, x, mode, high, False)] if high else [])]
        return b.concat(parts, x.rank - 1)
    zeros: list[Size] = [0] * (x.rank - 1)
    return _repeat_outwards(b, x, mode, [*zeros, low], [*zeros, high])


def crop(b: Builder, node: Node, x: Tensor, low: Sequence[Size], high: Sequence[Size],
         is_data: bool) -> tuple[Tensor, list[Size], list[Size]]:
    """Removes elements before and after each dim by the negative ones of `low` and `high`. Returns the result, and the
    amounts of padding that remain. With `is_data`, amounts are read at run time and may have either sign."""
    def split(amount: Size) -> tuple[Size, Size]:
        if not is_data and b.is_less(amount, 0) is False:
            return 0, amount
        return b.maximum(-amount, 0), b.maximum(amount, 0)

    before, after = [split(amount) for amount in low], [split(amount) for amount in high]
    offsets = [cut for cut, _ in before]
    sizes = [size - first - last if first == last == 0 else b.maximum(size - first - last, 0)
             for size, (first, _), (last, _) in zip(x.shape, before, after)]
    for dim, (size, total) in enumerate(zip(x.shape, [a + c for a, c in zip(low, high)])):
        if isinstance(size, int) and isinstance(total, int) and size + total < 0:
            node.refuse(f"it removes more than the {size} elements of dim {dim}")
    return b.slice(x, offsets, sizes), [more for _, more in before], [more for _, more in after]


def _read_amounts(b: Builder, node: Node, x: Tensor, pads: Tensor | None,
                  axes: Tensor | None) -> tuple[list[Size], list[Size], bool]:
    """Returns the amounts before and after each dim, and whether they are read at run time."""
    if pads is None:
        amounts: list[Size] = list(node.attribute("pads", node.attribute("paddings", [])))
        is_data = False
    else:
        flat = b.reshape(pads, [-1]) if pads.rank != 1 else pads
        amounts, is_data = read_sizes(b, node, flat)
    if axes is not None and axes.known_integers() is None:
        half = len(amounts) // 2
        return (spread(b, node, axes, amounts[:half], x.rank, 0), spread(b, node, axes, amounts[half:], x.rank, 0),
                True)
    places = checked_axes(node, node.integers("axes", 3, range(x.rank)) or [], x.rank)
    if len(amounts) != 2 * len(places):
        node.refuse(f"{len(amounts)} pads are given for {len(places)} dims")
    low: list[Size] = [0] * x.rank
    high: list[Size] = [0] * x.rank
    for number, place in enumerate(places):
        low[place], high[place] = amounts[number], amounts[len(places) + number]
    return low, high, is_data


@operator("Pad")
def pad(b: Builder, node: Node, x: Tensor, pads: Tensor | None = None, value: Tensor | None = None,
        axes: Tensor | None = None) -> Tensor:
    mode = node.attribute("mode", "constant")
    low, high, is_data = _read_amounts(b, node, x, pads, axes)
    x, low, high = crop(b, node, x, low, high, is_data)
    if mode == "constant":
        by: Scalar | float = b.scalar_of(value) if value is not None else node.attribute("value", 0)
        return b.pad(x, low, high, by)
    if mode not in ("reflect", "edge", "wrap"):
        node.refuse(f"mode '{mode}' is unknown")
    for dim, size in enumerate(x.shape):
        if size == 0 and (low[dim] != 0 or high[dim] != 0):
            node.refuse(f"dim {dim} has no elements to repeat")
    if not x.rank:
        return x
    zeros: list[Size] = [0]
    if any(amount != 0 for amount in [*low[:-1], *high[:-1]]):
        x = _repeat_outwards(b, x, mode, [*low[:-1], *zeros], [*high[:-1], *zeros])
    return _pad_rows(b, x, mode, low[-1], high[-1]) if low[-1] != 0 or high[-1] != 0 else x
