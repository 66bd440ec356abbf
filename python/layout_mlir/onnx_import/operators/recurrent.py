"""RNN, GRU and LSTM.

One matmul before the loop multiplies the inputs of all steps by W. An iteration of scf.for has one matmul of the state
by R, or two in a GRU that resets before it, and one linalg.generic for each set of gates. Batch elements whose sequence
has ended keep their state.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from layout_mlir.onnx_import.activations import Activation, find_activations
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.regions import count_loop, put, take
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, Symbol, is_static
from layout_mlir.onnx_import.values import Scalar, Tensor


@dataclasses.dataclass
class Direction:
    """The parameters of one direction. Matrices are transposed: `w` is [input, gates * hidden]."""
    w: Tensor
    r: Tensor
    wb: Tensor | None
    rb: Tensor | None
    peepholes: Tensor | None
    activations: list[Activation]
    reverse: bool


@dataclasses.dataclass
class Now:
    """A step: its time, the slice of Y to write if sequence lengths differ, and the states before the step."""
    time: Size
    output: Tensor
    states: list[Tensor]


_Body = Callable[..., "Scalar | tuple[Scalar, ...]"]
_Step = Callable[[Now], list[Tensor]]


class Recurrent:
    """The base of the three operators. `hidden_dim` is the dim of R with the size of a state."""
    hidden_dim = 2

    def __init__(self, b: Builder, node: Node, gates: int, activations: Sequence[str], x: Tensor, w: Tensor, r: Tensor,
                 bias: Tensor | None, lengths: Tensor | None, peepholes: Tensor | None = None) -> None:
        self.b, self.node, self.gates = b, node, gates
        self.batch_first = bool(node.attribute("layout", 0))
        self.x = b.transpose(x, [1, 0, 2]) if self.batch_first else x
        self.steps, self.batch, self.width = self.x.shape
        hidden = r.shape[self.hidden_dim]
        if not is_static(hidden):
            node.refuse("its hidden size is unknown at import")
        if int(node.attribute("hidden_size", hidden)) != hidden:
            node.refuse(f"its hidden_size is {node.attribute('hidden_size')}, but its weights are for {hidden}")
        self.hidden, self.element = hidden, x.element
        self.lengths = self._lengths(lengths)
        self.clip = float(node.attribute("clip", 0.0))
        self.directions = self._directions(list(activations), w, r, bias, peepholes)

    def _lengths(self, lengths: Tensor | None) -> Tensor | None:
        """Returns the sequence lengths, or None if all sequences are full. An invalid length is an error of the program,
        or of the import if it is known."""
        if lengths is None:
            return None
        b, known, message = self.b, lengths.known_integers(), "a sequence length is negative or above the number of steps"
        if known is not None and all(each == self.steps for each in known):
            return None
        if any(b.is_less(each, 0) or b.is_less(self.steps, each) for each in known or ()):
            self.node.refuse(message)
        lengths = b.match_shape(lengths, [self.batch], "it does not have a sequence length for each batch element")
        if known is None or not all(b.is_less(each, 0) is False is b.is_less(self.steps, each) for each in known):
            steps = Scalar(b.size(self.steps), None)
            are_valid, = b.generic(
                lambda s, length, others: s.bit_and(others, s.bit_and(
                    s.compare("ge", s.index_of(length), 0), s.compare("le", s.index_of(length), steps))),
                [(lengths, "d0")], [(b.fill([], BOOL, True), "")], ["reduction"])
            b.check(b.scalar_of(are_valid).name, message)
        return lengths

    def _directions(self, defaults: list[str], w: Tensor, r: Tensor, bias: Tensor | None,
                    peepholes: Tensor | None) -> list[Direction]:
        b, node = self.b, self.node
        kind = node.attribute("direction", "forward")
        count = 2 if kind == "bidirectional" else 1
        if kind not in ("forward", "reverse", "bidirectional") or w.shape[0] != count:
            node.refuse(f"direction '{kind}' does not fit weights of {w.shape[0]} directions")
        names = node.attribute("activations") or defaults * count
        if len(names) != len(defaults) * count:
            node.refuse(f"it has {len(names)} activations, not {len(defaults) * count}")
        try:
            found = find_activations(names, node.attribute("activation_alpha") or [],
                                     node.attribute("activation_beta") or [])
        except ValueError as error:
            node.refuse(error)
        result = []
        for number in range(count):
            both, rows = bias and take(b, bias, 0, number), self.gates * self.hidden
            matrices = self.matrix(w, number), self.matrix(r, number)
            self._check_shape("W", matrices[0], self.width)
            self._check_shape("R", matrices[1], self.hidden)
            if both and is_static(both.shape[0]) and both.shape[0] != 2 * rows:
                node.refuse(f"its bias has {both.shape[0]} elements for a direction, not {2 * rows}")
            result.append(Direction(
                *matrices, both and self.part(both, 0, rows),
                both and self.part(both, rows, rows),
                peepholes and take(b, peepholes, 0, number),
                found[number * len(defaults):(number + 1) * len(defaults)], kind == "reverse" or number == 1))
        return result

    def _check_shape(self, name: str, matrix: Tensor, rows: Size) -> None:
        """Rejects the transposed weights of a direction if they do not have `rows` rows and a column for each gate of
        each state."""
        for got, wanted in zip(matrix.shape, (rows, self.gates * self.hidden)):
            if is_static(got) and is_static(wanted) and got != wanted:
                self.node.refuse(f"its weights {name} have {got} elements along a dim, but its input, hidden size and "
                                 f"number of gates require {wanted}")

    # ------------------------------------------------------------------------ pieces

    def matrix(self, weights: Tensor, number: int) -> Tensor:
        """Returns the weights of one direction, transposed."""
        return self.b.transpose(take(self.b, weights, 0, number), [1, 0])

    def multiply(self, rows: Tensor, matrix: Tensor, into: Tensor) -> Tensor:
        """Returns rows * matrix + into."""
        return self.b.named("linalg.matmul", [rows, matrix], into)

    def part(self, tensor: Tensor, start: int, count: int) -> Tensor:
        """Returns `count` elements of the last dim."""
        return self.b.slice(tensor, [0] * (tensor.rank - 1) + [start], [*tensor.shape[:-1], count])

    def gate(self, tensor: Tensor, number: int) -> Tensor:
        return self.part(tensor, number * self.hidden, self.hidden)

    def project(self, direction: Direction, bias: Tensor | None) -> Tensor:
        """Returns the inputs of all steps times W plus the bias: [steps * batch, gates * hidden]."""
        b = self.b
        flat = b.reshape(self.x, [self.steps * self.batch, self.width])
        columns = direction.w.shape[1]
        into = b.fill([flat.shape[0], columns], self.element, 0) if bias is None else self._copies(flat.shape[0], bias)
        return self.multiply(flat, direction.w, into)

    def rows_at(self, inputs: Tensor, time: Size) -> Tensor:
        """Returns the rows of one step from the result of `project`."""
        return self.b.slice(inputs, [time * self.batch, 0], [self.batch, inputs.shape[1]])

    def _copies(self, count: Size, row: Tensor) -> Tensor:
        """Returns `count` copies of a row."""
        into = self.b.empty([count, row.shape[0]], row.element)
        return self.b.generic(lambda s, x, _: x, [(row, "d1")], [(into, "d0, d1")], ["parallel"] * 2)[0]

    def add_biases(self, first: Tensor | None, second: Tensor | None) -> Tensor | None:
        if first is None or second is None:
            return first or second
        if first.array is not None and second.array is not None:
            return self.b.constant(first.array + second.array, first.element)
        return self.b.elementwise(lambda s, x, y: s.add(x, y), first, second)

    def times(self, state: Tensor, matrix: Tensor, into: Tensor | None = None) -> Tensor:
        """Returns state * matrix + into."""
        if into is None:
            into = self.b.fill([self.batch, matrix.shape[1]], self.element, 0)
        return self.multiply(state, matrix, into)

    def clipped(self, s: Scalars, x: Scalar) -> Scalar:
        return s.clamp(x, -self.clip, self.clip) if self.clip > 0 else x

    def fuse(self, body: _Body, tensors: Sequence[Tensor], into: Sequence[Tensor]) -> list[Tensor]:
        """Computes elements of tensors [batch, hidden] in place in `into`, whose old elements are the last arguments of
        the body. Other tensors have this shape, [hidden], or are the lengths."""
        maps = {2: "d0, d1", 1: "d1"}
        inputs = [(tensor, "d0" if tensor is self.lengths else maps[tensor.rank]) for tensor in tensors]
        return self.b.generic(body, inputs, [(tensor, "d0, d1") for tensor in into], ["parallel"] * 2)

    def advance(self, body: _Body, tensors: Sequence[Tensor], now: Now) -> list[Tensor]:
        """Returns the output and the new states of a step, computed in place: `body` receives the elements of the
        tensors and states. A batch element whose sequence has ended keeps its states and outputs 0."""
        if self.lengths is None:
            return self.fuse(body, tensors, now.states)
        count = len(tensors)

        def masked(s: Scalars, length: Scalar, *values: Scalar) -> tuple[Scalar, ...]:
            old = values[-len(now.states):]
            new = body(s, *values[:count], *old)
            runs = s.greater(s.index_of(length), Scalar(self.b.size(now.time), None))
            states = [s.select(runs, x, y) for x, y in zip(new if isinstance(new, tuple) else (new,), old)]
            return (s.select(runs, states[0], 0), *states)

        return self.fuse(masked, [self.lengths, *tensors], [now.output, *now.states])

    # -------------------------------------------------------------------------- loops

    def initial(self, given: Tensor | None, number: int) -> Tensor:
        """Returns the initial state of direction `number`, with the sizes of a state: a slice of `given`, or zeros if
        that is None."""
        if given is None:
            return self.b.fill([self.batch, self.hidden], self.element, 0)
        return self.b.match_shape(take(self.b, given, 1 if self.batch_first else 0, number), [self.batch, self.hidden],
                                  "an initial state does not have the sizes of the batch and of the hidden state")

    def run(self, states: Sequence[Tensor | None], make_step: Callable[[Direction], _Step]) -> list[Tensor]:
        """Writes a loop for each direction and returns the results: Y, then the last states."""
        b, sequences, last = self.b, [], []  # type: Builder, list[Tensor], list[list[Tensor]]
        for number, direction in enumerate(self.directions):
            step = make_step(direction)
            whole, *final = self._loop(direction, [self.initial(state, number) for state in states], step)
            final = [each if state is None else self._unless_empty(each) for state, each in zip(states, final)]
            sequences.append(whole)
            last.append(final)
        axis = 1 if self.batch_first else 0
        whole = b.concat([b.unsqueeze(each, [1]) for each in sequences], 1)
        return [b.transpose(whole, [2, 0, 1, 3]) if self.batch_first else whole,
                *(b.concat([b.unsqueeze(each, [axis]) for each in column], axis) for column in zip(*last))]

    def _unless_empty(self, state: Tensor) -> Tensor:
        """Returns the last state, set to 0 for a sequence of length 0 as in ONNX Runtime."""
        if self.lengths is None:
            return state
        return self.fuse(lambda s, length, old: s.select(s.greater(length, 0), old, 0), [self.lengths], [state])[0]

    def _loop(self, direction: Direction, initial: list[Tensor], step: _Step) -> list[Tensor]:
        b, has_sequence = self.b, self.node.has_output(0)
        whole = b.empty([self.steps if has_sequence else 1, self.batch, self.hidden], self.element)

        def body(i: Symbol, carried: list[Tensor]) -> list[Tensor]:
            time = self.steps - 1 - i if direction.reverse else i
            place = time if has_sequence else 0
            output = carried[0] if self.lengths is None else take(b, carried[0], 0, place)
            states = step(Now(time, output, carried[1:]))
            if self.lengths is not None:
                output, *states = states
            elif has_sequence:
                output = states[0]
            else:
                return [carried[0], *states]
            return [put(b, output, carried[0], 0, place), *states]

        return count_loop(b, self.steps, [whole, *initial], body)


# ------------------------------------------------------------------------------------- RNN


@operator("RNN")
def rnn(b: Builder, node: Node, x: Tensor, w: Tensor, r: Tensor, bias: Tensor | None = None,
        lengths: Tensor | None = None, initial: Tensor | None = None) -> list[Tensor]:
    this = Recurrent(b, node, 1, ["Tanh"], x, w, r, bias, lengths)

    def make_step(direction: Direction) -> _Step:
        inputs = this.project(direction, this.add_biases(direction.wb, direction.rb))
        function, = direction.activations

        def step(now: Now) -> list[Tensor]:
            sums = this.times(now.states[0], direction.r, this.rows_at(inputs, now.time))
            return this.advance(lambda s, x, _: function(s, this.clipped(s, x)), [sums], now)

        return step

    return this.run([initial], make_step)


# ------------------------------------------------------------------------------------- GRU


class _Gru:
    """The steps of a GRU in one direction, with gates z, r and h."""

    def __init__(self, this: Recurrent, direction: Direction, resets_after: bool) -> None:
        self.this, self.direction, self.resets_after = this, direction, resets_after
        hidden = this.hidden
        wb, rb = direction.wb, direction.rb
        self.rb_h = this.gate(rb, 2) if rb is not None and resets_after else None
        if self.rb_h is not None and rb is not None:
            zeros = this.b.constant(np.zeros(hidden), this.element)
            rb = this.b.concat([this.part(rb, 0, 2 * hidden), zeros], 0) if rb.array is None else this.b.constant(
                np.concatenate([rb.array[:2 * hidden], np.zeros(hidden)]), this.element)
        bias = this.add_biases(wb, rb)
        self.inputs = this.project(direction, bias)
        self.f, self.g = direction.activations

    def __call__(self, now: Now) -> list[Tensor]:
        inputs = self.this.rows_at(self.inputs, now.time)
        return self._after(inputs, now) if self.resets_after else self._before(inputs, now)

    def _mixed(self, s: Scalars, z: Scalar, new: Scalar, old: Scalar) -> Scalar:
        """Returns (1 - z) * new + z * old."""
        return s.add(s.mul(s.sub(1, z), new), s.mul(z, old))

    def _after(self, inputs: Tensor, now: Now) -> list[Tensor]:
        this = self.this
        sums = this.times(now.states[0], self.direction.r)

        def body(s: Scalars, xz: Scalar, xr: Scalar, xh: Scalar, hz: Scalar, hr: Scalar, hh: Scalar,
                 *rest: Scalar) -> Scalar:
            *bias, old = rest
            z, r = (self.f(s, this.clipped(s, s.add(x, h))) for x, h in ((xz, hz), (xr, hr)))
            linear = s.add(hh, bias[0]) if bias else hh
            return self._mixed(s, z, self.g(s, this.clipped(s, s.add(xh, s.mul(r, linear)))), old)

        tensors = [this.gate(each, number) for each in (inputs, sums) for number in range(3)]
        return this.advance(body, tensors if self.rb_h is None else [*tensors, self.rb_h], now)

    def _before(self, inputs: Tensor, now: Now) -> list[Tensor]:
        this, hidden, state = self.this, self.this.hidden, now.states[0]
        sums = this.times(state, this.part(self.direction.r, 0, 2 * hidden), this.part(inputs, 0, 2 * hidden))

        def gates(s: Scalars, z: Scalar, r: Scalar, old: Scalar, *into: Scalar) -> tuple[Scalar, ...]:
            return self.f(s, this.clipped(s, z)), s.mul(self.f(s, this.clipped(s, r)), old)

        into = [this.b.empty(state.shape, this.element) for _ in range(2)]
        z, reset = this.fuse(gates, [this.gate(sums, 0), this.gate(sums, 1), state], into)
        linear = this.times(reset, this.gate(self.direction.r, 2), this.gate(inputs, 2))
        return this.advance(lambda s, z, x, old: self._mixed(s, z, self.g(s, this.clipped(s, x)), old),
                            [z, linear], now)


@operator("GRU")
def gru(b: Builder, node: Node, x: Tensor, w: Tensor, r: Tensor, bias: Tensor | None = None,
        lengths: Tensor | None = None, initial: Tensor | None = None) -> list[Tensor]:
    this = Recurrent(b, node, 3, ["Sigmoid", "Tanh"], x, w, r, bias, lengths)
    resets_after = bool(node.attribute("linear_before_reset", 0))
    return this.run([initial], lambda direction: _Gru(this, direction, resets_after))


# ------------------------------------------------------------------------------------ LSTM


class Lstm:
    """The steps of an LSTM in one direction, with gates i, o, f and c, and peepholes i, o and f."""

    def __init__(self, this: Recurrent, direction: Direction) -> None:
        self.this, self.direction = this, direction
        self.inputs = this.project(direction, this.add_biases(direction.wb, direction.rb))
        self.peepholes = [] if direction.peepholes is None else [this.gate(direction.peepholes, n) for n in range(3)]
        self.couples = bool(this.node.attribute("input_forget", 0))

    def __call__(self, now: Now) -> list[Tensor]:
        this = self.this
        sums = this.times(now.states[0], self.direction.r, this.rows_at(self.inputs, now.time))
        return this.advance(self._gates, [*(this.gate(sums, n) for n in range(4)), *self.peepholes], now)

    def _gates(self, s: Scalars, i: Scalar, o: Scalar, f: Scalar, c: Scalar,
               *rest: Scalar) -> tuple[Scalar, Scalar]:
        *peepholes, _, old = rest
        (on_gates, on_cell, on_output), clipped = self.direction.activations, self.this.clipped
        if peepholes:
            i, f = s.add(i, s.mul(peepholes[0], old)), s.add(f, s.mul(peepholes[2], old))
        i = on_gates(s, clipped(s, i))
        f = s.sub(1, i) if self.couples else on_gates(s, clipped(s, f))
        cell = s.add(s.mul(f, old), s.mul(i, on_cell(s, clipped(s, c))))
        if peepholes:
            o = s.add(o, s.mul(peepholes[1], cell))
        return s.mul(on_gates(s, clipped(s, o)), on_output(s, cell)), cell


@operator("LSTM")
def lstm(b: Builder, node: Node, x: Tensor, w: Tensor, r: Tensor, bias: Tensor | None = None,
         lengths: Tensor | None = None, initial: Tensor | None = None, initial_cell: Tensor | None = None,
         peepholes: Tensor | None = None) -> list[Tensor]:
    this = Recurrent(b, node, 4, ["Sigmoid", "Tanh", "Tanh"], x, w, r, bias, lengths, peepholes)
    return this.run([initial, initial_cell], lambda direction: Lstm(this, direction))
