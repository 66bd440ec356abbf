"""Regions of control flow over values: slices at one index, loops and conditionals.

    y, = count_loop(b, n, [x], lambda i, values: [step(values[0])])       scf.for
    y, = choose(b, condition, lambda: [x], lambda: [z])                   scf.if

Values may be sequences and optionals of known structure: `flatten` returns their tensors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.sizes import Expr, Size, Symbol, is_static
from layout_mlir.onnx_import.values import Optional_, Scalar, Sequence_, Tensor, Value, type_of

# The sizes of a tensor, with None for those that differ between branches or iterations.
Shape = tuple["Size | None", ...]


class Mismatch(ValueError):
    """Raised if values of two branches or iterations have no common type; the message says why."""


# ------------------------------------------------------------------------ one place of a dim


def take(b: Builder, tensor: Tensor, axis: int, place: Size) -> Tensor:
    """Returns the slice at one index of a dim, without that dim."""
    shape = tensor.shape[:axis] + tensor.shape[axis + 1:]
    if tensor.array is not None and is_static(place):
        return b.constant(tensor.array.take(place, axis), tensor.element)
    if 0 in shape:  # an offset of 0 is invalid in a dim of size 0
        return b.empty(shape, tensor.element)
    offsets, sizes = _bounds(b, tensor.shape, axis, place)
    return Tensor(tensor.element, shape, b.emit(
        f"tensor.extract_slice {b.use(tensor)}[{offsets}] [{sizes}] [{_ones(tensor.rank)}] : {tensor.type} to "
        f"{type_of(shape, tensor.element)}"))


def put(b: Builder, tensor: Tensor, into: Tensor, axis: int, place: Size) -> Tensor:
    """Returns `into` with a tensor inserted at one index of a dim, which the tensor lacks."""
    if 0 in tensor.shape:
        return into
    offsets, sizes = _bounds(b, (*tensor.shape[:axis], 1, *tensor.shape[axis:]), axis, place)
    return Tensor(into.element, into.shape, b.emit(
        f"tensor.insert_slice {b.use(tensor)} into {b.use(into)}[{offsets}] [{sizes}] [{_ones(into.rank)}] : "
        f"{tensor.type} into {into.type}"))


def _bounds(b: Builder, shape: Sequence[Size], axis: int, place: Size) -> tuple[str, str]:
    offsets = b.write_sizes([place if dim == axis else 0 for dim in range(len(shape))])
    return offsets, b.write_sizes([1 if dim == axis else size for dim, size in enumerate(shape)])


def _ones(rank: int) -> str:
    return ", ".join(["1"] * rank)


# ------------------------------------------------------------------------------ structures


def flatten(values: Sequence[Value | None]) -> list[Tensor]:
    """Returns the tensors of values, in order."""
    result: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            result.append(value)
        elif isinstance(value, Sequence_):
            result += value.items
        elif isinstance(value, Optional_):
            result += flatten([value.value])
    return result


def rebuild(values: Sequence[Value], tensors: Iterator[Tensor]) -> list[Value]:
    """Returns values with the structure of `values` and other tensors."""
    def one(value: Value) -> Value:
        if isinstance(value, Tensor):
            return next(tensors)
        if isinstance(value, Sequence_):
            return Sequence_([next(tensors) for _ in value.items])
        return Optional_(None if value.value is None else one(value.value))  # type: ignore[arg-type]

    return [one(value) for value in values]


def structure(values: Sequence[Value]) -> list[object]:
    """Returns a key that is equal for lists of values whose tensors `rebuild` may exchange."""
    def one(value: Value | None) -> object:
        if isinstance(value, Sequence_):
            return ["sequence", len(value.items)]
        return ["optional", one(value.value)] if isinstance(value, Optional_) else value is not None

    return [one(value) for value in values]


# ---------------------------------------------------------------------------------- types


def join(a: Shape, b: Shape) -> Shape:
    """Returns the common sizes of two shapes, with None where they differ."""
    return tuple(x if x is not None and x == y else None for x, y in zip(a, b))


def join_tensors(a: Tensor, b: Tensor, what: str) -> Shape:
    """Returns the common sizes of two tensors; raises Mismatch if element types or ranks differ."""
    if a.element != b.element:
        raise Mismatch(f"{what} has element types {a.element} and {b.element}")
    if a.rank != b.rank or a.may_be_scalar or b.may_be_scalar:
        ranks = f"rank {min(a.rank, b.rank)} or {max(a.rank, b.rank)}" if a.may_be_scalar or b.may_be_scalar else \
            f"rank {a.rank} and rank {b.rank}"
        raise Mismatch(f"{what} has {ranks}")
    return join(a.shape, b.shape)


def join_branches(a: Tensor, b: Tensor, number: int, joins_ranks: bool) -> tuple[Shape, bool]:
    """Returns the common sizes of a result of two branches, and true if its rank is that of the chosen branch, which
    `joins_ranks` allows for tensors of one element."""
    ranks_differ = joins_ranks and (a.rank != b.rank or a.may_be_scalar or b.may_be_scalar)
    if ranks_differ and a.element == b.element and all(size == 1 for size in (*a.shape, *b.shape)):
        return max(a.shape, b.shape, key=len), True
    return join_tensors(a, b, f"result {number} of the branches"), False


def as_type(b: Builder, tensor: Tensor, shape: Shape) -> str:
    """Casts a tensor to the type of `shape`, whose static sizes it must have at run time; returns the SSA value."""
    type_, name = type_of(shape, tensor.element), b.use(tensor)
    return name if type_ == tensor.type else b.emit(f"tensor.cast {name} : {tensor.type} to {type_}")


def is_before(size: Size, count: int) -> bool:
    """Returns true if a size only uses symbols among the first `count` SSA values, which dominate the current
    region."""
    def is_older(value: str) -> bool:
        number = value[1:].split("#")[0]
        return not number.isdigit() or int(number) < count

    return not isinstance(size, Expr) or all(is_older(symbol.value) for monomial in size.terms for symbol in monomial)


class Mark:
    """The state of a builder; `restore` removes what was written since then in the same region."""

    def __init__(self, b: Builder) -> None:
        self.builder, self.lines, self.constants = b, len(b.lines), len(b.constants)
        self.known = self._tables()

    def _tables(self) -> tuple[dict[tuple[Any, ...], str], dict[tuple[Any, ...], str], dict[str, NDArray[Any]],
                               dict[Any, str]]:
        b = self.builder
        return dict(b.scalar_constants), dict(b.array_constants), dict(b.arrays), dict(b.scopes[-1])

    def restore(self) -> None:
        b = self.builder
        del b.lines[self.lines:], b.constants[self.constants:]
        b.scalar_constants, b.array_constants, b.arrays, b.scopes[-1] = self.known


# ---------------------------------------------------------------------------------- control


def count_loop(b: Builder, count: Size, initial: Sequence[Tensor],
               body: Callable[[Symbol, list[Tensor]], Sequence[Tensor]]) -> list[Tensor]:
    """Writes scf.for with `count` iterations: `body(i, carried)` returns the next carried tensors, with the shapes of
    `initial`."""
    index, names = Symbol(b.new_name()), [b.new_name() for _ in initial]
    starts = [b.use(tensor) for tensor in initial]
    bounds = f"{b.size(0)} to {b.size(count)} step {b.size(1)}"
    with b.region() as lines:
        carried = [Tensor(tensor.element, tensor.shape, name) for tensor, name in zip(initial, names)]
        results = body(index, carried)
        write_yield(b, [(as_type(b, result, tensor.shape), tensor.type) for result, tensor in zip(results, initial)])
    types = [tensor.type for tensor in initial]
    made = write_for(b, index.value, bounds, list(zip(names, starts, types)), lines)
    return [Tensor(tensor.element, tensor.shape, name) for tensor, name in zip(initial, made)]


def write_yield(b: Builder, values: Sequence[tuple[str, str]]) -> None:
    """Writes scf.yield of (SSA value, type) pairs."""
    names, types = ", ".join(name for name, _ in values), ", ".join(type_ for _, type_ in values)
    b.emit_many(f"scf.yield {names} : {types}" if values else "scf.yield", 0)


def write_for(b: Builder, index: str, bounds: str, carried: Sequence[tuple[str, str, str]],
              lines: Sequence[str]) -> list[str]:
    """Writes scf.for with (argument, initial value, type) triples; returns the results."""
    head = f"scf.for {index} = {bounds}"
    if carried:
        head += (f" iter_args({', '.join(f'{name} = {start}' for name, start, _ in carried)}) -> "
                 f"({', '.join(type_ for *_, type_ in carried)})")
    return b.emit_many("\n".join([f"{head} {{", *lines, "}"]), len(carried))


def choose(b: Builder, condition: Scalar, then: Callable[[], Sequence[Value]],
           other: Callable[[], Sequence[Value]], joins_ranks: bool = False) -> list[Value]:
    """Writes scf.if. Sizes that differ between the branches become dynamic; raises Mismatch if element types, structures
    or ranks differ, except ranks of tensors of one element with `joins_ranks`."""
    branches: list[tuple[list[str], Sequence[Value], list[Tensor]]] = []
    for emit in (then, other):
        with b.region() as lines:
            values = emit()
            tensors = [dataclasses.replace(each, name=b.use(each), integers=each.known_integers())
                       for each in flatten(values)]
        branches.append((lines, values, tensors))
    (_, values, left), (_, others, right) = branches
    if structure(values) != structure(others):
        raise Mismatch("the branches return sequences of different lengths, or optionals of which one is empty")
    joined = [join_branches(x, y, number, joins_ranks) for number, (x, y) in enumerate(zip(left, right))]
    shapes = [shape for shape, _ in joined]
    types = [type_of(shape, tensor.element) for shape, tensor in zip(shapes, left)]
    text = [f"scf.if {condition.name}" + (f" -> ({', '.join(types)})" if types else "") + " {"]
    for number, (lines, _, tensors) in enumerate(branches):
        with b.region() as tail:
            write_yield(b, [(as_type(b, b.reshape(tensor, [1] * len(shape)) if may_be_scalar else tensor, shape), type_)
                            for tensor, (shape, may_be_scalar), type_ in zip(tensors, joined, types)])
        text += ["} else {"] * number + [*lines, *tail]
    names = b.emit_many("\n".join([*text, "}"]), len(types))
    made = []
    for name, x, y, (shape, may_be_scalar) in zip(names, left, right, joined):
        tensor = b.tensor_of(name, x.element, shape)
        tensor.may_be_scalar = may_be_scalar
        if x.integers is not None and x.integers == y.integers:
            tensor.integers = x.integers
        made.append(tensor)
    return rebuild(values, iter(made))
