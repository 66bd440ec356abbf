"""Sequences and optionals. Their lengths and the selected elements are known at import."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.regions import Mismatch, choose, take
from layout_mlir.onnx_import.sizes import Size, is_static
from layout_mlir.onnx_import.values import Optional_, Scalar, Sequence_, Tensor, Value

def _items(node: Node, value: Value | None) -> list[Tensor]:
    if isinstance(value, Optional_):
        value = value.value
    if not isinstance(value, Sequence_):
        node.refuse("its input is not a sequence of a length known at import")
    return value.items


def _place(node: Node, position: Tensor, count: int, past_end: int = 0) -> int:
    """Returns a position in a sequence of `count` elements as a nonnegative number; `past_end` is 1 if it may equal the
    length. Rejects a position that is out of range or unknown at import."""
    known = position.known_integers()
    if known is None or not is_static(known[0]):
        node.refuse("its position is unknown at import")
    if not -count <= known[0] < count + past_end:
        node.refuse(f"position {known[0]} is out of range for a sequence of length {count}")
    return known[0] + count if known[0] < 0 else known[0]


@operator("SequenceEmpty")
def sequence_empty(b: Builder, node: Node) -> Sequence_:
    return Sequence_([])


@operator("SequenceConstruct")
def sequence_construct(b: Builder, node: Node, *items: Tensor) -> Sequence_:
    return Sequence_(list(items))


@operator("SequenceInsert")
def sequence_insert(b: Builder, node: Node, sequence: Value, item: Tensor, position: Tensor | None = None) -> Sequence_:
    items = list(_items(node, sequence))
    items.insert(len(items) if position is None else _place(node, position, len(items), 1), item)
    return Sequence_(items)


@operator("SequenceErase")
def sequence_erase(b: Builder, node: Node, sequence: Value, position: Tensor | None = None) -> Sequence_:
    items = list(_items(node, sequence))
    del items[len(items) - 1 if position is None else _place(node, position, len(items))]
    return Sequence_(items)


@operator("SequenceAt")
def sequence_at(b: Builder, node: Node, sequence: Value, position: Tensor) -> Tensor:
    items = _items(node, sequence)
    place = b.size_of(position)
    if is_static(place):
        return items[_place(node, position, len(items))]
    place = b.choose("slt", place, 0, place + len(items), place)
    # As an unsigned number, a negative place is a large one.
    b.check(b.emit(f"arith.cmpi ult, {b.size(place)}, {b.size(len(items))} : index"), "its position is outside of the sequence")
    try:
        return _select(b, items, place)
    except Mismatch as error:
        node.refuse(f"its position depends on data, and elements of its sequence differ: {error}")


def _select(b: Builder, items: Sequence[Tensor], place: Size) -> Tensor:
    """Returns the item at a place that is only known at run time."""
    if len(items) == 1:
        return items[0]
    is_first = Scalar(b.emit(f"arith.cmpi eq, {b.size(place)}, {b.size(0)} : index"), BOOL)
    item, = choose(b, is_first, lambda: [items[0]], lambda: [_select(b, items[1:], place - 1)])
    assert isinstance(item, Tensor)
    return item


@operator("SequenceLength")
def sequence_length(b: Builder, node: Node, sequence: Value) -> Tensor:
    return b.constant(np.array(len(_items(node, sequence)), np.int64))


@operator("ConcatFromSequence")
def concat_from_sequence(b: Builder, node: Node, sequence: Value) -> Tensor:
    items = _items(node, sequence)
    if not items:
        node.refuse("its sequence is empty")
    is_new = bool(node.attribute("new_axis", 0))
    axis = node.axis(0, items[0].rank + is_new)
    return b.concat([b.unsqueeze(item, [axis]) if is_new else item for item in items], axis)


@operator("SplitToSequence")
def split_to_sequence(b: Builder, node: Node, x: Tensor, split: Tensor | None = None) -> Sequence_:
    axis = node.axis(0, x.rank)
    if split is None:
        count = x.shape[axis]
        if not is_static(count):
            node.refuse("the number of its parts is unknown at import")
        if not node.attribute("keepdims", 1):
            return Sequence_([take(b, x, axis, place) for place in range(count)])
        return Sequence_(_parts(b, x, axis, [1] * count))
    sizes = split.known_integers()
    if split.rank == 0:
        size, count = sizes[0] if sizes else b.size_of(split), x.shape[axis]
        if not is_static(size) or not is_static(count):
            node.refuse("the number of its parts is unknown at import")
        sizes = tuple(min(size, count - start) for start in range(0, count, size))
    if sizes is None:
        if not is_static(split.shape[0]):
            node.refuse("the number of its parts is unknown at import")
        sizes = tuple(b.size_of(split, number) for number in range(split.shape[0]))
    return Sequence_(_parts(b, x, axis, sizes))


def _parts(b: Builder, x: Tensor, axis: int, sizes: Sequence[Size]) -> list[Tensor]:
    parts, start = [], 0  # type: list[Tensor], Size
    for size in sizes:
        parts.append(b.slice(x, [start if dim == axis else 0 for dim in range(x.rank)],
                             [size if dim == axis else each for dim, each in enumerate(x.shape)]))
        start = start + size
    return parts


@operator("SequenceMap")
def sequence_map(b: Builder, node: Node, sequence: Value, *others: Value) -> Sequence[Sequence_]:
    count = len(_items(node, sequence))
    rows = [node.importer.import_subgraph(
        node.attribute("body"), [value.items[number] if isinstance(value, Sequence_) else value
                                 for value in (sequence, *others)]) for number in range(count)]
    results: list[list[Tensor]] = [[] for _ in range(node.output_count)]
    for row in rows:
        for result, value in zip(results, row):
            if not isinstance(value, Tensor):
                node.refuse("a result of its body is not a tensor")
            result.append(value)
    return [Sequence_(result) for result in results]


@operator("Optional")
def optional(b: Builder, node: Node, value: Tensor | Sequence_ | None = None) -> Optional_:
    return Optional_(value)


@operator("OptionalHasElement")
def optional_has_element(b: Builder, node: Node, value: Value | None = None) -> Tensor:
    has = value is not None and (not isinstance(value, Optional_) or value.value is not None)
    return b.constant(has, BOOL)


@operator("OptionalGetElement")
def optional_get_element(b: Builder, node: Node, value: Value) -> Value:
    if not isinstance(value, Optional_):
        return value
    if value.value is None:
        node.refuse("its optional is empty")
    return value.value
