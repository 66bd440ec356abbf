"""Loops, branches, and repeated blocks as functions."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from . import weights as w
from .module import Module, signature_of
from .text import Dim, Function, Value, names, results, types
from .weights import Weight

STRUCTURES = ("flat", "calls", "loops")


class Control(Module):
    """`structure` selects how repeated blocks are written: in sequence, as calls of private functions that take the
    weights, or as loops over stacked weights."""

    structure: str = "flat"

    def loop(self, layer: str, count: Dim, values: Sequence[Value],
             body: Callable[[str, list[Value]], Sequence[Value]]) -> list[Value]:
        """Appends an scf.for that carries `values`; `body` gets its index and the carried values."""
        first, last, step = (self.index(dim) for dim in (0, count, 1))
        induction = self.function.fresh(f"{self.path(layer)}.i")
        carried = [replace(v, name=self.function.fresh(f"{self.path(layer)}.carried"))
                   for v in values]
        with self.region() as lines:
            yielded = body(induction, carried)
        if types(yielded) != types(values):
            raise ValueError(f"{layer}: {types(yielded)} cannot become {types(values)}")
        pairs = ", ".join(f"{c.name} = {v.name}" for c, v in zip(carried, values))
        finals = self.emit_many(
            layer, f"scf.for {induction} = {first} to {last} step {step} iter_args({pairs}) -> "
            f"({types(values)}) {{\n{_nested(lines, 'scf.yield', yielded)}\n}}", yielded)
        return [replace(v, name=final.name) for v, final in zip(yielded, finals)]

    def branch(self, layer: str, condition: str, then: Callable[[], Sequence[Value]],
               otherwise: Callable[[], Sequence[Value]]) -> list[Value]:
        """Appends an scf.if on an i1."""
        with self.region() as first:
            chosen = then()
        with self.region() as second:
            alternative = otherwise()
        if types(chosen) != types(alternative):
            raise ValueError(f"{layer}: the branches give {types(chosen)} and {types(alternative)}")
        return self.emit_many(
            layer, f"scf.if {condition} -> ({types(chosen)}) {{\n"
            f"{_nested(first, 'scf.yield', chosen)}\n}} else {{\n"
            f"{_nested(second, 'scf.yield', alternative)}\n}}", chosen)

    def chain(self, label: str, blocks: Sequence[str], x: Value,
              body: Callable[..., Value], shared: Sequence[Value] = ()) -> Value:
        """Applies body(x, *shared) once per block; the block's name is the scope of its layers. The body must not use
        other outer values."""
        if self.structure == "calls":
            for block in blocks:
                x = self._call(label, block, [x, *shared], body)
        elif self.structure == "loops" and len(blocks) > 1:
            x = self._loop_over(label, blocks, x, body, shared)
        else:
            for block in blocks:
                with self.scope(block):
                    x = body(x, *shared)
        return x

    @contextmanager
    def _inside(self, function: Function, scope: str,
                weight_source: Callable[[Weight], Value]) -> Iterator[None]:
        """Appends to `function`, with paths of layers relative to `scope`."""
        outer = self.function, self._local_scope, self._weight_source
        self.function, self._weight_source = function, weight_source
        with self.scope(scope):
            self._local_scope = len(self._scope)
            yield
        self.function, self._local_scope, self._weight_source = outer

    def _trace(self, block: str, operands: Sequence[Value],
               body: Callable[..., Value]) -> tuple[str, Value, list[Weight]]:
        """Writes the block as a function of its operands and weights. Returns its text after the symbol, its result,
        and its weights."""
        function = Function()
        captured: list[Weight] = []
        prefix = ".".join([*self._scope, block]) + "."

        def capture(weight: Weight) -> Value:
            captured.append(weight)
            stem = function.fresh(weight.name.removeprefix(prefix))
            return function.argument(Value(stem, weight.shape, weight.element))

        with self._inside(function, block, capture):
            arguments = [function.argument(replace(v, name=f"%arg{i}"))
                         for i, v in enumerate(operands)]
            result = body(*arguments)
        return signature_of(function, [result]), result, captured

    def _call(self, label: str, block: str, operands: Sequence[Value],
              body: Callable[..., Value]) -> Value:
        text, result, weights = self._trace(block, operands, body)
        stem = "_".join([*self._scope, label]).replace(".", "_")
        taken = sum(symbol.rsplit("__", 1)[0] == stem for symbol in self._functions.values())
        symbol = self._functions.setdefault(text, f"{stem}__{taken}")
        operands = [*operands, *map(self.weight, weights)]
        value = self.emit(block, f"func.call @{symbol}({names(operands)}) : ({types(operands)}) -> "
                          f"{results([result])}", result.shape, result.element)
        return replace(result, name=value.name)

    def _loop_over(self, label: str, blocks: Sequence[str], x: Value, body: Callable[..., Value],
                   shared: Sequence[Value]) -> Value:
        traces = [self._trace(block, [x, *shared], body) for block in blocks]
        if any(text != traces[0][0] for text, _, _ in traces):
            raise ValueError(f"{label}: the blocks differ, so no loop runs over them")
        prefix = ".".join([*self._scope, blocks[0]]) + "."
        stem = ".".join([*self._scope, label, "stacked", ""])
        stacks = [self.weight(w.stack(stem + column[0].name.removeprefix(prefix), column))
                  for column in zip(*(weights for _, _, weights in traces))]

        def step(index: str, carried: list[Value]) -> list[Value]:
            remaining = iter(stacks)
            with self._inside(self.function, label,
                              lambda weight: self._row(next(remaining), index, weight.name)):
                return [body(*carried, *shared)]

        return self.loop(label, len(blocks), [x], step)[0]

    def _row(self, stacked: Value, index: str, name: str) -> Value:
        shape = stacked.shape[1:]
        zeros, ones = ", 0" * len(shape), ", 1" * len(shape)
        sizes = "".join(f", {d}" for d in shape)
        row = Value("", shape, stacked.element)
        return self.emit(name.rsplit(".", 2)[-2] + ".row",
                         f"tensor.extract_slice {stacked.name}[{index}{zeros}] [1{sizes}] "
                         f"[1{ones}] : {stacked.type} to {row.type}", shape, row.element)


def _nested(lines: Sequence[str], terminator: str, values: Sequence[Value]) -> str:
    return textwrap.indent("\n".join([*lines, f"{terminator} {names(values)} : {types(values)}"]),
                           "  ")
