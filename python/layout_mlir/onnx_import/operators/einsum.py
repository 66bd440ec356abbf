"""Einsum: sums of products over named dims."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.products import contract, sum_own
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size
from layout_mlir.onnx_import.values import Scalar, Tensor
from layout_mlir.onnx_import.windows import sum_element

# The names of the dims of an operand or the result: letters, and negative numbers for ellipsis dims, of which the last
# is -1.
Names = list[Hashable]


def parse(node: Node, ranks: Sequence[int]) -> tuple[list[Names], Names]:
    """Returns the dim names of the operands and of the result."""
    equation = str(node.attribute("equation")).replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        node.refuse(f"its equation '{equation}' has {len(terms)} operands, not {len(ranks)}")
    operands: list[Names] = []
    for term, rank in zip(terms, ranks):
        before, dots, after = term.partition("...")
        hidden = rank - len(before) - len(after)
        if hidden < 0 or (hidden and not dots):
            node.refuse(f"'{term}' of its equation does not have the rank {rank} of the operand")
        operands.append([*before, *range(-hidden, 0), *after])
    hidden = max((sum(isinstance(name, int) for name in names) for names in operands), default=0)
    if arrow:
        before, dots, after = right.partition("...")
        # Ellipsis dims that the result lacks are summed.
        return operands, [*before, *(range(-hidden, 0) if dots else ()), *after]
    letters = [name for names in operands for name in names if isinstance(name, str)]
    return operands, [*range(-hidden, 0), *sorted(name for name in set(letters) if letters.count(name) == 1)]


def take_diagonals(b: Builder, x: Tensor, names: Names) -> tuple[Tensor, Names]:
    """Extracts the diagonal over dims with the same name."""
    unique = list(dict.fromkeys(names))
    if len(unique) == len(names):
        return x, names
    def body(s: Scalars, *indices: Scalar) -> Scalar:
        return b.extract(s, x, [indices[unique.index(name)] for name in names])

    b.use(x)
    return b.make(body, [x.shape[names.index(name)] for name in unique], x.element), unique


def drop_ones(b: Builder, x: Tensor, names: Names, sizes: dict[Hashable, Size]) -> tuple[Tensor, Names]:
    """Drops dims of size 1 that other operands broadcast; expands dims that may be 1 at run time."""
    kept = [dim for dim, name in enumerate(names) if x.shape[dim] != 1 or sizes[name] == 1]
    x = b.reshape(x, [x.shape[dim] for dim in kept])
    return b.broadcast_to(x, [sizes[names[dim]] for dim in kept]), [names[dim] for dim in kept]


@operator("Einsum")
def einsum(b: Builder, node: Node, *xs: Tensor) -> Tensor:
    terms, result = parse(node, [x.rank for x in xs])
    operands = [take_diagonals(b, x, names) for x, names in zip(xs, terms)]
    shapes: dict[Hashable, list[Size]] = {}
    for x, names in operands:
        for name, size in zip(names, x.shape):
            shapes.setdefault(name, []).append(size)
    if missing := [str(name) for name in result if name not in shapes]:
        node.refuse(f"no operand of its equation has the dim '{missing[0]}'")
    sizes = {name: b.broadcast_shape([[size] for size in known])[0] for name, known in shapes.items()}
    given = [drop_ones(b, x, names, sizes) for x, names in operands]
    element = sum_element(xs[0].element)
    total, names = given[0]
    for number, (x, own) in enumerate(given[1:], 2):
        needed = {*result, *(name for _, later in given[number:] for name in later)}
        kept = [name for name in dict.fromkeys([*names, *own]) if name in needed]
        if number == len(given):
            kept = [name for name in result if name in kept]
        total, names = contract(b, total, names, x, own, kept, element), kept
    total, names = sum_own(b, total, names, set(result), element)
    total = b.transpose(total, [names.index(name) for name in result])
    return b.cast(total, xs[0].element)
