"""Control flow: If, Loop and Scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from layout_mlir.onnx_import import stacks
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL, I64
from layout_mlir.onnx_import.node import Node, ImportFailure, describe, operator
from layout_mlir.onnx_import.regions import Mark, Mismatch, choose, flatten, rebuild, structure, take
from layout_mlir.onnx_import.sizes import Size, Symbol, is_static
from layout_mlir.onnx_import.stacks import Along, Step
from layout_mlir.onnx_import.values import Tensor, Value, depends_on_sizes

_NO_ITERATION = "a loop has no iterations, which determine the ranks of its results"
# The iteration limit of a loop that is unrolled because its iterations do not carry common types.
_MOST_UNROLLED = 256


def known_truth(tensor: Tensor) -> bool | None:
    """Returns the value of a condition, or None if it is only known at run time."""
    known = tensor.known_integers()
    return bool(known[0]) if known is not None and len(known) == 1 and is_static(known[0]) else None


@operator("If")
def if_(b: Builder, node: Node, condition: Tensor) -> Sequence[Value]:
    def emit(name: str) -> list[Value]:
        return node.importer.import_subgraph(node.attribute(name), [], joins_ranks=True)

    if condition.count != 1 and condition.is_static:
        node.refuse(f"its condition has {condition.count} elements")
    known = known_truth(condition)
    if known is not None:
        return emit("then_branch" if known else "else_branch")
    importer, mark = node.importer, Mark(b)
    before = importer.count_assumptions()
    try:
        return choose(b, b.scalar_of(condition), lambda: emit("then_branch"), lambda: emit("else_branch"),
                      joins_ranks=not depends_on_sizes(condition))
    except Mismatch as error:
        mark.restore()
        holds = importer.assume(condition, ImportFailure(describe(
            node.proto, f"{error}: if the condition depends on sizes only, state the shapes of the inputs (shapes= or "
                        "--shape)")))
        _assert_branch(b, condition, holds, error)
        return emit("then_branch" if holds else "else_branch")
    except ImportFailure as error:
        if importer.may_assume_otherwise(before):
            raise
        mark.restore()
        importer.has_all_branches = False
        return _import_one(b, condition, emit, error)


def _import_one(b: Builder, condition: Tensor, emit: Callable[[str], list[Value]], error: ImportFailure) -> list[Value]:
    """Imports the branch that can be imported, with an assertion that the condition selects it: the other branch may
    require other input sizes. Raises the error if neither branch can be imported."""
    for name, holds in (("then_branch", True), ("else_branch", False)):
        mark = Mark(b)
        _assert_branch(b, condition, holds, error)
        try:
            return emit(name)
        except ImportFailure:
            mark.restore()
    raise error


def _assert_branch(b: Builder, condition: Tensor, holds: bool, reason: Exception) -> None:
    """Writes an assertion that the condition is `holds`. The other branch is not imported for the reason."""
    chosen = b.scalar_of(condition).name
    if not holds:
        chosen = b.emit(f"arith.xori {chosen}, {b.scalar_constant(True, BOOL)} : i1")
    b.check(chosen, f"the branch that the condition selects is not imported: {str(reason).splitlines()[0]}")


# ------------------------------------------------------------------------------------ Loop


class _Loop:
    """A Loop node, whose body is a function of the iteration number and the carried values. `first` is the number of the
    first iteration."""

    def __init__(self, b: Builder, node: Node, initial: Sequence[Value], first: int = 0) -> None:
        self.b, self.node, self.graph, self.initial = b, node, node.attribute("body"), list(initial)
        self.first = first

    def _given(self, number: int, value: Tensor) -> Tensor:
        """Returns an input of the body, reshaped if the body declares it as a tensor with one element."""
        rank = len(self.graph.input[number].type.tensor_type.shape.dim)
        return self.b.reshape(value, [1]) if rank == 1 else value

    def iterate(self, place: Size, carried: Sequence[Value]) -> tuple[Tensor, list[Value], list[Value]]:
        """Imports the body for the iteration with number `place`. Returns the condition of another iteration, the next
        carried values, and the slices to stack."""
        number = self.b.reshape(self.b.integers([place + self.first], I64), [])
        inputs = [self._given(0, number), self._given(1, self.b.constant(True, BOOL)), *carried]
        condition, *values = self.node.importer.import_subgraph(self.graph, inputs)
        if not isinstance(condition, Tensor):
            self.node.refuse("its condition is not a tensor")
        return condition, values[:len(carried)], values[len(carried):]

    def write(self, trip: Size | None, condition: Tensor | None) -> list[Value]:
        """Writes a loop that carries all tensors of the values."""
        def body(place: Symbol, tensors: list[Tensor]) -> Step:
            carried = rebuild(self.initial, iter(tensors))
            again, values, stacked = self.iterate(place, carried)
            if structure(values) != structure(self.initial):
                raise Mismatch("a loop-carried sequence or optional changes its length")
            known = known_truth(again)
            again = again if known is None else self.b.constant(known, BOOL)
            return Step(again, flatten(values), [self._slice(value) for value in stacked])

        count = len(self.graph.output) - 1 - len(self.initial)
        carried, stacked = stacks.run(self.b, trip, condition, flatten(self.initial), body, [Along()] * count)
        return [*rebuild(self.initial, iter(carried)), *stacked]

    def _slice(self, value: Value) -> Tensor:
        if not isinstance(value, Tensor):
            self.node.refuse("a stacked result is not a tensor")
        return value

    def peel(self, trip: Size | None, condition: Tensor | None) -> list[Value]:
        """Writes the first iteration before the loop: it changes the rank of a carried value. Such a loop has an
        iteration, which an assertion checks."""
        b = self.b
        if trip is not None:
            b.check_at_most(1, trip, _NO_ITERATION)
        if condition is not None:
            b.check(b.scalar_of(condition).name, _NO_ITERATION)
        again, values, rows = self.iterate(0, self.initial)
        rest = _Loop(b, self.node, values, first=1).write(
            None if trip is None else trip - 1, None if known_truth(again) else again)
        carried, stacked = rest[:len(values)], rest[len(values):]
        return [*carried, *(b.concat([b.unsqueeze(self._slice(row), [0]), self._slice(others)], 0)
                            for row, others in zip(rows, stacked))]

    def unroll(self, trip: int | None, condition: Tensor | None) -> list[Value]:
        """Unrolls the loop: imports the body once for each iteration."""
        values, rows = self.initial, []  # type: list[Value], list[list[Tensor]]
        again = condition is None or known_truth(condition)
        while again and (trip is None or len(rows) < trip):
            if len(rows) == _MOST_UNROLLED:
                raise Mismatch(f"it has more than {_MOST_UNROLLED} iterations")
            following, values, stacked = self.iterate(len(rows), values)
            again = known_truth(following)
            rows.append([self._slice(value) for value in stacked])
        if again is None:
            raise Mismatch("its condition is not a constant")
        if not rows and len(self.graph.output) > 1 + len(self.initial):
            raise Mismatch("it has no iterations, which determine the sizes of its results")
        return [*values, *(self.b.concat([self.b.unsqueeze(x, [0]) for x in column], 0) for column in zip(*rows))]


@operator("Loop")
def loop(b: Builder, node: Node, most: Tensor | None = None, condition: Tensor | None = None,
         *initial: Value) -> Sequence[Value]:
    trip = None if most is None else b.size_of(b.reshape(most, [1]))
    known = None if condition is None else known_truth(condition)
    if known is True:
        condition = None
    this, count = _Loop(b, node, initial), trip if trip is None or is_static(trip) else -1
    forms: list[Callable[[], list[Value]]] = [lambda: this.write(trip, condition)]
    if count is None or 0 <= count <= _MOST_UNROLLED:
        # A loop that carries sequences usually appends to them.
        forms.insert(all(isinstance(value, Tensor) for value in initial), lambda: this.unroll(count, condition))
    forms.append(lambda: this.peel(trip, condition))
    reason: Exception | None = None
    for form in forms:
        mark = Mark(b)
        try:
            return form()
        except (Mismatch, ImportFailure) as error:
            mark.restore()
            reason = reason or error
    if isinstance(reason, ImportFailure):
        raise reason
    node.refuse(reason)


# ------------------------------------------------------------------------------------ Scan


def _ints(node: Node, name: str, count: int) -> list[int]:
    return [int(each) for each in node.attribute(name, [0] * count)]


def _scan(b: Builder, node: Node, states: Sequence[Tensor], inputs: Sequence[Tensor], axes: Sequence[int],
          along: Sequence[Along]) -> tuple[list[Tensor], list[Tensor]]:
    graph: Any = node.attribute("body")
    backwards = _ints(node, "scan_input_directions" if node.opset >= 9 else "directions", len(inputs))
    trip = inputs[0].shape[axes[0]]
    for tensor, axis in zip(inputs, axes):
        if is_static(trip) and is_static(tensor.shape[axis]) and trip != tensor.shape[axis]:
            raise Mismatch(f"inputs are scanned over {trip} and over {tensor.shape[axis]} elements")
        b.check_equal(trip, tensor.shape[axis], "inputs of a scan differ in their sizes")

    def body(place: Symbol, carried: list[Tensor]) -> Step:
        slices = [take(b, tensor, axis, trip - 1 - place if reverse else place)
                  for tensor, axis, reverse in zip(inputs, axes, backwards)]
        values = node.importer.import_subgraph(graph, [*carried, *slices])
        tensors = [value for value in values if isinstance(value, Tensor)]
        if len(tensors) < len(values):
            raise Mismatch("a result of its body is not a tensor")
        return Step(None, tensors[:len(states)], tensors[len(states):])

    return stacks.run(b, trip, None, states, body, along)


@operator("Scan")
def scan(b: Builder, node: Node, *values: Tensor | None) -> Sequence[Tensor]:
    given = [value for value in values if value is not None]
    count = int(node.attribute("num_scan_inputs"))
    try:
        if node.opset < 9:
            return _scan_batches(b, node, values[0], given[1 if values[0] is not None else 0:], count)
        states, inputs = given[:-count], given[-count:]
        outputs = node.output_count - len(states)
        axes = [axis % tensor.rank for axis, tensor in zip(_ints(node, "scan_input_axes", count), inputs)]
        along = [Along(axis, bool(reverse)) for axis, reverse in
                 zip(_ints(node, "scan_output_axes", outputs), _ints(node, "scan_output_directions", outputs))]
        carried, stacked = _scan(b, node, states, inputs, axes, along)
        return [*carried, *stacked]
    except Mismatch as error:
        node.refuse(error)


def _scan_batches(b: Builder, node: Node, lengths: Tensor | None, given: Sequence[Tensor],
                  count: int) -> Sequence[Tensor]:
    """Writes a Scan of opset 8, which scans each element of a batch separately."""
    if lengths is not None:
        node.refuse("its sequences differ in length (input 'sequence_lens')")
    states, outputs = len(given) - count, node.output_count - len(given) + count

    def body(place: Symbol, carried: list[Tensor]) -> Step:
        rows = [take(b, tensor, 0, place) for tensor in given]
        results = _scan(b, node, rows[:states], rows[states:], [0] * count, [Along()] * outputs)
        return Step(None, [], [*results[0], *results[1]])

    return stacks.run(b, given[0].shape[0], None, [], body, [Along()] * node.output_count)[1]


