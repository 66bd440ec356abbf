"""Loops of ONNX: tensors carried by iterations, and results stacked from the slices of iterations.

`run` writes scf.for if the trip count is known when the loop starts and tensors keep their sizes, and scf.while
otherwise. Carried tensors may grow: sizes that change between iterations are dynamic.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL
from layout_mlir.onnx_import.regions import (Mark, Mismatch, Shape, as_type, is_before, join_tensors, put, write_for,
                                             write_yield)
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, Symbol, product
from layout_mlir.onnx_import.values import Scalar, Tensor, type_of


@dataclasses.dataclass
class Step:
    """The results of one iteration. `condition` is true if another iteration follows; None stands for true."""
    condition: Tensor | None
    carried: list[Tensor]
    stacked: list[Tensor]


@dataclasses.dataclass(frozen=True)
class Along:
    """The dim along which results are stacked, which may be negative; with `reverse` the first iteration writes the
    last slice."""
    axis: int = 0
    reverse: bool = False


# An SSA value and its type.
_Typed = tuple[str, str]
# Computes the results of an iteration from its number and the carried tensors.
Body = Callable[[Symbol, list[Tensor]], Step]


@dataclasses.dataclass
class Loop:
    """A loop with a written body. `start` is the number of SSA values before the body."""
    index: Symbol
    names: list[str]
    shapes: list[Shape]
    step: Step
    lines: list[str]
    start: int


def run(b: Builder, trip: Size | None, condition: Tensor | None, initial: Sequence[Tensor], body: Body,
        along: Sequence[Along]) -> tuple[list[Tensor], list[Tensor]]:
    """Writes a loop of at most `trip` iterations, or any number if it is None; returns the carried tensors and the
    stacked results. The first iteration runs if `condition` holds; None stands for true."""
    trip = None if trip is None else b.maximum(trip, 0)
    loop, initial = _write_body(b, initial, body)
    again = True if loop.step.condition is None else loop.step.condition.constant_scalar()
    if again is None or trip is None:
        if again:
            raise Mismatch("the loop never ends")
        stacks: list[_Stack] = [_Grown(tensor, loop.start, each) for tensor, each in zip(loop.step.stacked, along)]
        return _write_while(b, loop, trip, condition, initial, stacks)
    count = trip if again else b.minimum(trip, 1)
    if condition is not None and condition.constant_scalar() is not True:
        count = Symbol(b.emit(f"arith.select {b.scalar_of(condition).name}, {b.size(count)}, {b.size(0)} : index"))
    stacks = [_Placed(tensor, count, each) if all(is_before(size, loop.start) for size in tensor.shape)
              else _Grown(tensor, loop.start, each) for tensor, each in zip(loop.step.stacked, along)]
    # Upstream canonicalization propagates static sizes of the initial values into scf.for.
    keeps_sizes = all(tensor.type == type_of(shape, tensor.element) for tensor, shape in zip(initial, loop.shapes))
    if keeps_sizes and not any(isinstance(stack, _Grown) for stack in stacks):
        return _write_for(b, loop, count, initial, stacks)
    return _write_while(b, loop, count, None, initial, stacks)


def _write_body(b: Builder, initial: Sequence[Tensor], body: Body) -> tuple[Loop, list[Tensor]]:
    """Writes the body repeatedly until the types of its arguments and results agree; returns the loop, and `initial` as
    SSA values. Constants that all iterations keep stay constants."""
    shapes: list[Shape] = [tensor.shape for tensor in initial]
    kept: set[int] = set()
    initial = [Tensor(tensor.element, tensor.shape, b.use(tensor), tensor.array, tensor.integers)
               for tensor in initial]
    while True:
        mark, start = Mark(b), b.count
        index, names = Symbol(b.new_name()), [b.new_name() for _ in initial]
        with b.region() as lines:
            carried = [tensor if number in kept else b.tensor_of(name, tensor.element, shape)
                       for number, (name, tensor, shape) in enumerate(zip(names, initial, shapes))]
            step = body(index, carried)
        joined = [_joined(number, shape, tensor, result)
                  for number, (shape, tensor, result) in enumerate(zip(shapes, initial, step.carried))]
        constant = {number for number, (name, tensor, result) in enumerate(zip(names, initial, step.carried))
                    if result.name == name and (tensor.array is not None or tensor.integers is not None)}
        if joined == shapes and constant <= kept:
            return Loop(index, names, shapes, step, lines, start), initial
        shapes, kept = joined, kept | constant
        mark.restore()


def _joined(number: int, shape: Shape, tensor: Tensor, result: Tensor) -> Shape:
    joined = join_tensors(tensor, result, f"carried value {number}")
    return tuple(size if size is not None and size == known else None for size, known in zip(joined, shape))


# -------------------------------------------------------------------------- stacked results


class _Stack(Protocol):
    def begin(self, b: Builder) -> list[_Typed]: ...
    def add(self, b: Builder, state: Sequence[str], place: Size, tensor: Tensor) -> list[_Typed]: ...
    def end(self, b: Builder, state: Sequence[str], count: Size) -> Tensor: ...


class _Placed:
    """A stacked result with sizes known before the loop: each iteration writes its slice."""

    def __init__(self, tensor: Tensor, count: Size, along: Along) -> None:
        self.axis, self.count, self.reverse = along.axis % (tensor.rank + 1), count, along.reverse
        self.result = Tensor(tensor.element, (*tensor.shape[:self.axis], count, *tensor.shape[self.axis:]))

    def begin(self, b: Builder) -> list[_Typed]:
        into = b.empty(self.result.shape, self.result.element)
        return [(b.use(into), into.type)]

    def add(self, b: Builder, state: Sequence[str], place: Size, tensor: Tensor) -> list[_Typed]:
        into = Tensor(tensor.element, self.result.shape, state[0])
        made = put(b, tensor, into, self.axis, self.count - 1 - place if self.reverse else place)
        return [(b.use(made), made.type)]

    def end(self, b: Builder, state: Sequence[str], count: Size) -> Tensor:
        return Tensor(self.result.element, self.result.shape, state[0])


class _Grown:
    """A stacked result with sizes known after the loop: iterations append rows to a buffer, which doubles when it is
    full. Rows are slices if their sizes are known before the loop, and elements otherwise."""

    def __init__(self, tensor: Tensor, start: int, along: Along) -> None:
        self.element, self.along = tensor.element, along
        self.shape: Shape = tuple(size if is_before(size, start) else None for size in tensor.shape)
        self.row: tuple[Size, ...] = () if None in self.shape else tensor.shape

    @property
    def type(self) -> str:
        return type_of((None, *self.row), self.element)

    def _buffer(self, b: Builder, name: str) -> Tensor:
        return Tensor(self.element, (b.dim(name, self.type, 0), *self.row), name)

    def begin(self, b: Builder) -> list[_Typed]:
        buffer = b.cast_shape(b.empty([0, *self.row], self.element), [Symbol(b.size(0)), *self.row])
        return [(b.use(buffer), self.type)] + [(b.size(0), "index")] * (1 + self.shape.count(None))

    def add(self, b: Builder, state: Sequence[str], place: Size, tensor: Tensor) -> list[_Typed]:
        used = Symbol(state[1])
        rows = b.reshape(tensor, [tensor.count]) if None in self.shape else b.unsqueeze(tensor, [0])
        needed = used + rows.shape[0]
        for size, before in zip([size for size, known in zip(tensor.shape, self.shape) if known is None], state[2:]):
            is_same = b.emit(f"arith.cmpi eq, {b.size(size)}, {before} : index")
            is_first = b.emit(f"arith.cmpi eq, {b.size(place)}, {b.scalar_constant(0, None)} : index")
            b.check(b.emit(f"arith.ori {is_same}, {is_first} : i1"), "iterations stack slices of different sizes")
        grown = b.insert(rows, self._grow(b, self._buffer(b, state[0]), used, needed), self._at(used))
        dims = [(b.size(size), "index") for size, known in zip(tensor.shape, self.shape) if known is None]
        return [(b.use(grown), self.type), (b.size(needed), "index"), *dims]

    def _at(self, row: Size) -> list[Size]:
        return [row, *[0] * len(self.row)]

    def _grow(self, b: Builder, buffer: Tensor, used: Size, needed: Size) -> Tensor:
        """Returns the buffer, or a larger copy if it has too few rows."""
        capacity = buffer.shape[0]
        is_full = b.emit(f"arith.cmpi sgt, {b.size(needed)}, {b.size(capacity)} : index")
        with b.region() as lines:
            larger = b.empty([b.maximum(capacity * 2, needed), *self.row], self.element)
            copied = b.insert(b.slice(buffer, self._at(0), [used, *self.row]), larger, self._at(0))
            write_yield(b, [(as_type(b, copied, (None, *self.row)), self.type)])
        with b.region() as otherwise:
            write_yield(b, [(b.use(buffer), self.type)])
        name = b.emit("\n".join([f"scf.if {is_full} -> ({self.type}) {{", *lines, "} else {", *otherwise, "}"]))
        return self._buffer(b, name)

    def end(self, b: Builder, state: Sequence[str], count: Size) -> Tensor:
        dims = iter(state[2:])
        shape = [count, *(Symbol(next(dims)) if size is None else size for size in self.shape)]
        result = b.slice(self._buffer(b, state[0]), self._at(0), [Symbol(state[1]), *self.row])
        if None in self.shape:
            result = b.reshape(b.match_shape(result, [product(shape)], "iterations stack slices of different sizes"), shape)
        axis = self.along.axis % result.rank
        if self.along.reverse:
            result = _reverse(b, result)
        return b.transpose(result, [*range(1, axis + 1), 0, *range(axis + 1, result.rank)])


def _reverse(b: Builder, tensor: Tensor) -> Tensor:
    def body(s: Scalars, *places: Scalar) -> Scalar:
        last = Scalar(b.size(tensor.shape[0] - 1), None)
        return b.extract(s, tensor, [s.sub(last, places[0]), *places[1:]])

    return b.make(body, tensor.shape, tensor.element)


# ------------------------------------------------------------------------------- the loops


class _State:
    """The values that iterations carry: the tensors, and the state of the stacked results."""

    def __init__(self, b: Builder, loop: Loop, initial: Sequence[Tensor], stacks: Sequence[_Stack]) -> None:
        self.loop, self.stacks, self.counts = loop, stacks, [0] * len(stacks)
        self.starts: list[_Typed] = [(as_type(b, tensor, shape), type_of(shape, tensor.element))
                                     for tensor, shape in zip(initial, loop.shapes)]
        for number, stack in enumerate(stacks):
            begun = stack.begin(b)
            self.counts[number] = len(begun)
            self.starts += begun
        self.types = [type_ for _, type_ in self.starts]
        self.names = loop.names + [b.new_name() for _ in self.starts[len(loop.names):]]

    def _split(self, names: Sequence[str]) -> list[Sequence[str]]:
        parts, at = [], len(self.loop.names)
        for count in self.counts:
            parts.append(names[at:at + count])
            at += count
        return parts

    def next(self, b: Builder) -> list[_Typed]:
        """Writes the values that the next iteration carries."""
        step = self.loop.step
        values = [(as_type(b, tensor, shape), type_)
                  for tensor, shape, type_ in zip(step.carried, self.loop.shapes, self.types)]
        for stack, state, tensor in zip(self.stacks, self._split(self.names), step.stacked):
            values += stack.add(b, state, self.loop.index, tensor)
        return values

    def finish(self, b: Builder, initial: Sequence[Tensor], names: Sequence[str],
               count: Size) -> tuple[list[Tensor], list[Tensor]]:
        carried = [tensor if result.name is not None and result.name == tensor.name
                   else b.tensor_of(name, tensor.element, shape)
                   for name, tensor, result, shape in zip(names, initial, self.loop.step.carried, self.loop.shapes)]
        return carried, [stack.end(b, state, count) for stack, state in zip(self.stacks, self._split(names))]


def _write_for(b: Builder, loop: Loop, count: Size, initial: Sequence[Tensor],
               stacks: Sequence[_Stack]) -> tuple[list[Tensor], list[Tensor]]:
    state = _State(b, loop, initial, stacks)
    with b.region() as tail:
        write_yield(b, state.next(b))
    bounds = f"{b.size(0)} to {b.size(count)} step {b.size(1)}"
    carried = [(name, start, type_) for name, (start, type_) in zip(state.names, state.starts)]
    names = write_for(b, loop.index.value, bounds, carried, [*loop.lines, *tail])
    return state.finish(b, initial, names, count)


def _write_while(b: Builder, loop: Loop, trip: Size | None, condition: Tensor | None, initial: Sequence[Tensor],
                 stacks: Sequence[_Stack]) -> tuple[list[Tensor], list[Tensor]]:
    state = _State(b, loop, initial, stacks)
    first = b.scalar_constant(True, BOOL) if condition is None else b.scalar_of(condition).name
    starts = [(b.size(0), "index"), (first, "i1"), *state.starts]
    types = ", ".join(type_ for _, type_ in starts)
    tested = [b.new_name() for _ in starts]
    with b.region() as test:
        goes_on = tested[1]
        if trip is not None:
            is_inside = b.emit(f"arith.cmpi slt, {tested[0]}, {b.size(trip)} : index")
            goes_on = b.emit(f"arith.andi {goes_on}, {is_inside} : i1")
        b.emit_many(f"scf.condition({goes_on}) {', '.join(tested)} : {types}", 0)
    with b.region() as tail:
        given = loop.step.condition
        again = b.scalar_constant(True, BOOL) if given is None else b.scalar_of(given).name
        write_yield(b, [(b.size(loop.index + 1), "index"), (again, "i1"), *state.next(b)])
    arguments = [loop.index.value, b.new_name(), *state.names]
    pairs = ", ".join(f"{name} = {start}" for name, (start, _) in zip(tested, starts))
    heads = ", ".join(f"{name}: {type_}" for name, (_, type_) in zip(arguments, starts))
    names = b.emit_many("\n".join([f"scf.while ({pairs}) : ({types}) -> ({types}) {{", *test, "} do {",
                                   f"^bb0({heads}):", *loop.lines, *tail, "}"]), len(starts))
    return state.finish(b, initial, names[2:], Symbol(names[0]))
