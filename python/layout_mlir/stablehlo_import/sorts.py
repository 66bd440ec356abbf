"""Writes stablehlo.sort as a stable merge sort, and chlo.top_k as such a sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layout_mlir.stablehlo_import.attributes import integer
from layout_mlir.stablehlo_import.writer import Value, Writer, element_of, shape_of, signless, tensor_of


class _Sort:
    """Writes a sort: copies each line along a dim, sorts it by merging sorted segments of 1, 2, 4 .. elements, and
    copies it back."""

    def __init__(self, op: Any) -> None:
        self.w = Writer(op)
        rank = len(shape_of(self.w.inputs[0][1]))
        self.dim = integer(op, "dimension", -1) % max(rank, 1)
        self.sizes = [self.w.size(self.w.inputs[0], dim) for dim in range(rank)]
        self.zero, self.one = self.w.index(0), self.w.index(1)

    def write(self) -> None:
        w, inputs = self.w, self.w.inputs
        if not self.sizes:
            w.replace(inputs)
            return
        self.size = self.sizes.pop(self.dim)
        known = shape_of(inputs[0][1])[self.dim]
        lines = [w.empty([self.size], [known], element_of(x[1])) for x in inputs]
        w.replace(w.nest(self.sizes, inputs, lambda at, carried: self._sort_line(at, carried, lines)))

    def _sort_line(self, at: list[Value], tensors: list[Value], lines: list[Value]) -> list[Value]:
        w = self.w

        def place(i: Value) -> list[Value]:
            return [*at[:self.dim], i, *at[self.dim:]]

        line = w.loop(self.zero, self.size, self.one, lines, lambda i, carried: [
            w.store(w.load(x, place(i)), to, [i]) for x, to in zip(tensors, carried)])
        line = self._merge_all(line)
        return w.loop(self.zero, self.size, self.one, tensors, lambda i, carried: [
            w.store(w.load(x, [i]), to, place(i)) for x, to in zip(line, carried)])

    def _merge_all(self, line: list[Value]) -> list[Value]:
        """Writes a loop over segment lengths, which double while they are less than the size."""
        w = self.w
        two = w.index(2)
        # The number of rounds is the bit width of size - 1.
        size = w.emit(f"arith.index_cast {self.size[0]} : index to i64", "i64")
        one, bits = (w.emit(f"arith.constant {number} : i64", "i64") for number in (1, 64))
        zeros = w.emit(f"math.ctlz {w.binary('subi', w.binary('maxsi', size, one), one)[0]} : i64", "i64")
        rounds = w.as_index(w.binary("subi", bits, zeros))
        scratch = [w.empty([self.size], shape_of(x[1]), element_of(x[1])) for x in line]

        def merge_round(round_: Value, carried: list[Value]) -> list[Value]:
            width = w.binary("shli", self.one, round_)
            return w.loop(self.zero, self.size, w.binary("muli", width, two), carried,
                          lambda low, inner: self._merge(low, width, inner, scratch))

        return w.loop(self.zero, rounds, self.one, line, merge_round)

    def _merge(self, low: Value, width: Value, line: list[Value], scratch: Sequence[Value]) -> list[Value]:
        """Writes the merge of two segments into the scratch lines, and copies them back."""
        w = self.w
        middle = w.binary("minsi", w.binary("addi", low, width), self.size)
        high = w.binary("minsi", w.binary("addi", middle, width), self.size)
        last = w.binary("subi", self.size, self.one)

        def choose(i: Value, carried: list[Value]) -> list[Value]:
            left, right, *merged = carried
            # An exhausted segment is read in bounds, but its element is not selected.
            at_left, at_right = w.binary("minsi", left, last), w.binary("minsi", right, last)
            lefts, rights = [w.load(x, [at_left]) for x in line], [w.load(x, [at_right]) for x in line]
            is_less = w.call([x for pair in zip(rights, lefts) for x in pair])[0]
            takes = w.binary("ori", w.compare("sge", left, middle),
                             w.binary("andi", w.compare("slt", right, high), is_less))
            stored = [w.store(w.select(takes, b, a), to, [i]) for a, b, to in zip(lefts, rights, merged)]
            return [w.select(takes, left, w.binary("addi", left, self.one)),
                    w.select(takes, w.binary("addi", right, self.one), right), *stored]

        _, _, *merged = w.loop(low, high, self.one, [low, middle, *scratch], choose)
        return w.loop(low, high, self.one, line, lambda i, carried: [
            w.store(w.load(x, [i]), to, [i]) for x, to in zip(merged, carried)])


def write_sort(op: Any) -> None:
    _Sort(op).write()


def write_top_k(op: Any) -> None:
    """Replaces a chlo.top_k by a descending sort of the elements with their indices, and a slice."""
    w = Writer(op)
    x: Value = ("%arg0", str(op.operands[0].type))
    shape, element, k = shape_of(x[1]), element_of(x[1]), integer(op, "k", 0)
    index = element_of(str(op.results[1].type))
    sizes = [w.size(x, dim) for dim in range(len(shape))]
    places = w.generate(sizes, tensor_of(shape, index), lambda at: w.emit(
        f"arith.index_cast {at[-1][0]} : index to {index}", index))
    order = "" if "i" in element else ", TOTALORDER"
    w.lines.append(f"""%sorted:2 = "stablehlo.sort"({x[0]}, {places[0]})
  <{{dimension = {len(shape) - 1} : i64, is_stable = true}}> ({{
^bb0(%a: tensor<{element}>, %b: tensor<{element}>, %c: tensor<{index}>, %d: tensor<{index}>):
  %less = stablehlo.compare GT, %a, %b{order} : (tensor<{element}>, tensor<{element}>) -> tensor<i1> {w.location}
  stablehlo.return %less : tensor<i1>
}}) : ({x[1]}, {places[1]}) -> ({x[1]}, {places[1]}) {w.location}""")
    results = []
    for number, kind in enumerate((element, index)):
        type_ = signless(tensor_of([*shape[:-1], k], kind))
        whole = w.cast((f"%sorted#{number}", tensor_of(shape, kind)), signless(tensor_of(shape, kind)))
        outer = [size[0] if known is None else str(known) for size, known in zip(sizes, shape[:-1])]
        taken = ", ".join([*outer, str(k)])
        zeros, ones = (", ".join([each] * len(shape)) for each in "01")
        results.append(w.emit(f"tensor.extract_slice {whole[0]}[{zeros}] [{taken}] [{ones}] : "
                              f"{whole[1]} to {type_}", type_))
    w.replace(results)
