"""A Reshape of a tensor with open sizes as dims that are merged or split, where its shapes say which.

IREE's passes read the sizes of such a view out of memory, so that nothing is known of the view, or take
one of two open sizes for 1. Sizes that have a name are told apart here: [n, 82, h, w] as [n, 82, ?] merges
h and w, since n stays; [n, t, 768] as [n, t, 12, 64] splits the last dim.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from layout_mlir.loops import Type
from layout_mlir.onnx_loops import tensor_type
from layout_mlir.onnx_shapes import is_known

if TYPE_CHECKING:
    from onnx import NodeProto, TypeProto

# A number or a name; what has neither equals nothing else.
_Size = int | str | object


def _sizes(proto: TypeProto) -> list[_Size]:
    return [dim.dim_value if is_known(dim) else dim.dim_param or object() for dim in proto.tensor_type.shape.dim]


def _name_rest(old: Sequence[_Size], new: Sequence[_Size]) -> list[_Size]:
    """The result's sizes, of which one without a name is the one of the source that is left, where the
    numbers of both multiply to the same."""
    left = [size for size in old if not isinstance(size, int) and size not in new]
    rest = [size for size in new if not isinstance(size, int) and size not in old]
    if len(left) != 1 or len(rest) != 1 or _known_product(old) != _known_product(new):
        return list(new)
    return [left[0] if size == rest[0] else size for size in new]


def _common(a: Sequence[_Size], b: Sequence[_Size]) -> int:
    """How many sizes are the same from the front."""
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def _known_product(sizes: Sequence[_Size]) -> int:
    return math.prod(size for size in sizes if isinstance(size, int))


def _open(sizes: Sequence[_Size]) -> int:
    """How many are no numbers."""
    return sum(not isinstance(size, int) for size in sizes)


def _type(like: Type, sizes: Sequence[_Size]) -> Type:
    return Type(like.element, tuple(size if isinstance(size, int) else None for size in sizes), like.unsigned)


def _groups(before: int, count: int, after: int) -> str:
    """Of dims in a row, of which those in the middle are one in the other shape."""
    middle = list(range(before, before + count))
    return str([*([i] for i in range(before)), middle, *([i + before + count] for i in range(after))])


def find_view(node: NodeProto, name: str, inputs: Iterable[TypeProto],
              outputs: Iterable[TypeProto]) -> tuple[str, Sequence[Type | str], Sequence[Type]] | None:
    """As find_loops: the function of a Reshape, or None."""
    if node.op_type != "Reshape" or node.domain not in ("", "ai.onnx"):
        return None
    (source, shape), (result,) = inputs, outputs
    taken, numbers = tensor_type(source), tensor_type(shape)
    if taken is None or numbers is None or not result.tensor_type.HasField("shape") or None not in taken.sizes:
        return None
    old = _sizes(source)
    new = _name_rest(old, _sizes(result))
    before = _common(old, new)
    after = _common(old[before:][::-1], new[before:][::-1])
    if before + after in (len(old), len(new)):  # what remains are dims of size 1, beside another dim
        before, after = (before, after - 1) if after else (before - 1, after)
    merged, split = old[before:len(old) - after], new[before:len(new) - after]
    # The size that these dims are as one.
    whole: _Size = object() if _open(merged) else _known_product(merged)
    if before < 0 or not _open([whole]) <= _open(split) <= 1:
        return None
    if isinstance(whole, int) and _open(split):
        rest = whole // max(_known_product(split), 1)
        split = [size if isinstance(size, int) else rest for size in split]
    flat = _type(taken, [*old[:before], whole, *old[len(old) - after:]])
    made = _type(taken, [*old[:before], *split, *old[len(old) - after:]])
    lines, value = [], "%arg0"
    if len(merged) > 1:
        lines.append(f"%flat = tensor.collapse_shape {value} {_groups(before, len(merged), after)} : {taken} into {flat}")
        value = "%flat"
    if len(split) > 1:
        sizes = []
        for number, size in enumerate(made.sizes):
            sizes.append(str(size) if size is not None else f"%size{number}")
            if size is not None:
                continue
            of = number if number < before else max(before, number - len(split) + 1)
            lines += [f"%place{number} = arith.constant {of} : index",
                      f"%size{number} = tensor.dim {value}, %place{number} : {flat}"]
            if before <= number < before + len(split):
                rest = _known_product(split)
                lines += [f"%rest = arith.constant {rest} : index", "%none = arith.constant 0 : index",
                          f"%part = arith.divui %size{number}, %rest : index",
                          f"%left = arith.remui %size{number}, %rest : index",
                          "%fits = arith.cmpi eq, %left, %none : index",
                          f'cf.assert %fits, "a size is no multiple of {rest}, by which it is divided"']
                sizes[-1] = "%part"
        lines.append(f"%split = tensor.expand_shape {value} {_groups(before, len(split), after)} "
                     f"output_shape [{', '.join(sizes)}] : {flat} into {made}")
        value = "%split"
    text = [f'func.func private @"{name}"(%arg0: {taken}, %arg1: {numbers}) -> {made} {{', *lines,
            f"return {value} : {made}", "}"]
    return "\n".join(text), [taken, numbers], [made]
