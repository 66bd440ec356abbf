"""The ops that networks consist of; shapes follow from the operands."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from .module import Module
from .text import Dim, Scalars, Value, affine_map, names, tensor_type, types

# A tensor and the loops that index it: None stands for 0, a string for an affine expression. The default are all loops
# in order.
Subscripts = Sequence[int | str | None]
Operand = Value | tuple[Value, Subscripts]

_NEUTRAL = {"arith.addf": 0.0, "arith.maximumf": -math.inf}

# By element type of the factors: the type of sums of products, and the lowest value.
SUM_ELEMENT = {"f32": "f32", "i8": "i32"}
LOWEST = {"f32": -math.inf, "i8": -128}


def _bracketed(dims: Sequence[Dim]) -> str:
    return "[" + ", ".join(map(str, dims)) + "]"


class Ops(Module):
    # ----------------------------------------------------------- fresh storage

    def empty(self, layer: str, shape: Sequence[Dim], element: str = "f32") -> Value:
        dynamic = ", ".join(d for d in shape if isinstance(d, str))
        return self.emit(layer + ".init",
                         f"tensor.empty({dynamic}) : {tensor_type(shape, element)}", shape, element)

    def filled(self, layer: str, shape: Sequence[Dim], number: float,
               element: str = "f32") -> Value:
        init = self.empty(layer, shape, element)
        scalar = self.function.scalar(number, element)
        return self.emit(layer + ".fill", f"linalg.fill ins({scalar} : {element}) "
                         f"outs({init.name} : {init.type}) -> {init.type}", shape, element)

    # ------------------------------------------------------------------ linalg

    def named(self, operation: str, operands: Sequence[Value], init: Value, layer: str,
              attributes: str = "") -> Value:
        return self.emit(layer, f"linalg.{operation}{attributes} ins({names(operands)} : "
                         f"{types(operands)}) outs({init.name} : {init.type}) -> {init.type}",
                         init.shape, init.element)

    def elementwise(self, operation: str, layer: str, *operands: Value) -> Value:
        """Appends a named elementwise op, e.g. "add"."""
        for operand in operands:
            if operand.shape != operands[0].shape:
                raise ValueError(f"{layer}: {operands[0].shape} and {operand.shape} differ")
        return self.named(operation, operands, self.empty(layer, operands[0].shape), layer)

    def generic(self, layer: str, operands: Sequence[Operand], loops: int, init: Value,
                results: Subscripts, body: Callable[..., str]) -> Value:
        """Appends a linalg.generic; `body` gets the Scalars, the elements of the operands and that of the result. Loops
        that do not index the result are reductions."""
        pairs = [(o, tuple(range(o.rank))) if isinstance(o, Value) else o for o in operands]
        maps = [self.map(affine_map(loops, s)) for s in [*(s for _, s in pairs), results]]
        kinds = ", ".join('"parallel"' if i in results else '"reduction"' for i in range(loops))
        inputs = [value for value, _ in pairs]
        scalars = Scalars(self.function)
        elements = [f"%in{i}" for i in range(len(inputs))]
        yielded = body(scalars, *elements, "%out")
        arguments = ", ".join(f"{name}: {value.element}" for name, value in
                              [*zip(elements, inputs), ("%out", init)])
        ins = f" ins({names(inputs)} : {types(inputs)})" if inputs else ""
        lines = "".join(f"    {line}\n" for line in scalars.lines)
        return self.emit(
            layer, f"linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{kinds}]}}{ins} outs({init.name} : {init.type}) {{\n"
            f"  ^bb0({arguments}):\n{lines}    linalg.yield {yielded} : {init.element}\n"
            f"}} -> {init.type}", init.shape, init.element)

    def pointwise(self, layer: str, operands: Sequence[Operand], body: Callable[..., str],
                  shape: Sequence[Dim] | None = None, element: str = "f32") -> Value:
        """Appends a generic without reductions over `shape`, by default that of the first operand; `body` gets no
        %out."""
        if shape is None:
            shape = operands[0].shape
        rank = len(shape)
        return self.generic(layer, operands, rank, self.empty(layer, shape, element), range(rank),
                            lambda s, *elements: body(s, *elements[:-1]))

    def reduce(self, layer: str, x: Value, dims: Sequence[int], combine: str) -> Value:
        """Appends a linalg.reduce that drops the dims."""
        kept = [d for i, d in enumerate(x.shape) if i not in dims]
        init = self.filled(layer, kept, _NEUTRAL[combine])
        return self.emit(layer, f"linalg.reduce {{ {combine} }} ins({x.name} : {x.type}) "
                         f"outs({init.name} : {init.type}) dimensions = {_bracketed(dims)}", kept)

    def sum_of(self, layer: str, operands: Sequence[Operand], dims: Sequence[int],
               body: Callable[..., str]) -> Value:
        """Appends a generic that sums body(s, *elements) over dims of the first operand."""
        x = operands[0]
        kept = [i for i in range(x.rank) if i not in dims]
        return self.generic(layer, operands, x.rank,
                            self.filled(layer, [x.shape[i] for i in kept], 0.0), kept,
                            lambda s, *e: s.add(e[-1], body(s, *e[:-1])))

    def matmul(self, layer: str, x: Value, y: Value) -> Value:
        """Appends [m, k] x [k, n], or a batch of such products."""
        if x.shape[-1] != y.shape[-2] or x.shape[:-2] != y.shape[:-2]:
            raise ValueError(f"{layer}: cannot multiply {x.shape} with {y.shape}")
        init = self.filled(layer, (*x.shape[:-1], y.shape[-1]), 0.0, SUM_ELEMENT[x.element])
        return self.named("matmul" if x.rank == 2 else "batch_matmul", [x, y], init, layer)

    def transpose(self, layer: str, x: Value, permutation: Sequence[int]) -> Value:
        init = self.empty(layer, [x.shape[p] for p in permutation])
        return self.emit(layer, f"linalg.transpose ins({x.name} : {x.type}) outs({init.name} : "
                         f"{init.type}) permutation = {_bracketed(permutation)}", init.shape)

    # ------------------------------------------------------------------ tensor

    def collapse(self, layer: str, x: Value, groups: Sequence[Sequence[int]]) -> Value:
        shape = [self.product(*(x.shape[i] for i in group)) for group in groups]
        return self.emit(layer, f"tensor.collapse_shape {x.name} "
                         f"[{', '.join(map(_bracketed, groups))}] : {x.type} into "
                         f"{tensor_type(shape, x.element)}", shape, x.element)

    def expand(self, layer: str, x: Value, *digits: Sequence[Dim]) -> Value:
        """Splits each dim into the given extents."""
        shape = [d for group in digits for d in group]
        for dim, group in zip(x.shape, digits):
            if isinstance(dim, int) and dim != math.prod(group):
                raise ValueError(f"{layer}: {dim} cannot be written as {_bracketed(group)}")
        ends = np.cumsum([len(group) for group in digits])
        groups = [range(int(end) - len(group), int(end)) for end, group in zip(ends, digits)]
        return self.emit(layer, f"tensor.expand_shape {x.name} "
                         f"[{', '.join(map(_bracketed, groups))}] output_shape {_bracketed(shape)} "
                         f": {x.type} into {tensor_type(shape, x.element)}", shape, x.element)

    def pad(self, layer: str, x: Value, low: Sequence[int], high: Sequence[int],
            number: float) -> Value:
        """Pads dims with static extents."""
        if not any([*low, *high]):
            return x
        shape = [d if low[i] == high[i] == 0 else d + low[i] + high[i]
                 for i, d in enumerate(x.shape)]
        indices = ", ".join(f"%p{i}: index" for i in range(x.rank))
        return self.emit(layer + ".pad", f"tensor.pad {x.name} low{_bracketed(low)} "
                         f"high{_bracketed(high)} {{\n  ^bb0({indices}):\n"
                         f"    tensor.yield {self.function.scalar(number, x.element)} : {x.element}"
                         f"\n}} : {x.type} to {tensor_type(shape, x.element)}", shape, x.element)

    def slice(self, layer: str, x: Value, offsets: Sequence[Dim], sizes: Sequence[Dim],
              strides: Sequence[int] | None = None, drop: Sequence[int] = ()) -> Value:
        """Appends an extract_slice; `drop` are unit dims that the result omits."""
        shape = [size for i, size in enumerate(sizes) if i not in drop]
        return self.emit(layer, f"tensor.extract_slice {x.name}{_bracketed(offsets)} "
                         f"{_bracketed(sizes)} {_bracketed(strides or [1] * x.rank)} : {x.type} to "
                         f"{tensor_type(shape, x.element)}", shape, x.element)

    def insert(self, layer: str, x: Value, into: Value, offsets: Sequence[Dim],
               sizes: Sequence[Dim], strides: Sequence[int] | None = None) -> Value:
        return self.emit(layer, f"tensor.insert_slice {x.name} into {into.name}"
                         f"{_bracketed(offsets)} {_bracketed(sizes)} "
                         f"{_bracketed(strides or [1] * into.rank)} : {x.type} into {into.type}",
                         into.shape, into.element)

    def concat(self, layer: str, values: Sequence[Value], dim: int) -> Value:
        shape = list(values[0].shape)
        shape[dim] = self.total(*(value.shape[dim] for value in values))
        return self.emit(layer, f"tensor.concat dim({dim}) {names(values)} : ({types(values)}) -> "
                         f"{tensor_type(shape, values[0].element)}", shape, values[0].element)

    def element(self, layer: str, x: Value, indices: Sequence[Dim]) -> str:
        """Returns the name of one element."""
        operands = ", ".join(map(self.index, indices))
        return self.emit(layer, f"tensor.extract {x.name}[{operands}] : {x.type}", (),
                         x.element).name

    def gather(self, layer: str, table: Value, ids: Value) -> Value:
        """Returns the rows of a table for the ids; the body reads the table, as in the output of frontends."""
        shape = (*ids.shape, *table.shape[1:])

        def body(s: Scalars, row: str, *_: str) -> str:
            at = [s.line(f"arith.index_cast {row} : i64 to index"),
                  *(s.index(loop) for loop in range(ids.rank, len(shape)))]
            return s.line(f"tensor.extract {table.name}[{', '.join(at)}] : {table.type}")

        return self.pointwise(layer, [ids], body, shape)

    def gather_rows(self, layer: str, x: Value, ids: Value) -> Value:
        """Gathers rows of each x[n]: [n, places, c] and [n, k] give [n, k, c]."""
        def body(s: Scalars, row: str) -> str:
            at = [s.index(0), s.line(f"arith.index_cast {row} : i64 to index"), s.index(2)]
            return s.line(f"tensor.extract {x.name}[{', '.join(at)}] : {x.type}")

        return self.pointwise(layer, [(ids, (0, 1))], body, (*ids.shape, x.shape[2]))
