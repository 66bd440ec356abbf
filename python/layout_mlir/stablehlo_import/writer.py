"""Writes loops over tensors as MLIR text that replaces a StableHLO op.

A Writer writes the body of a function with one argument for each operand of the op. `replace` parses the text, moves
its ops before the op, and inlines the op's region at the calls of `@region`. Elements are signless in the loops:
unsigned operands and results are cast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from layout_mlir.stablehlo_import.walk import all_ops

# An SSA value: its name in the text and its type.
Value = tuple[str, str]


def signless(type_: str) -> str:
    """Returns the type with a signless element type."""
    element = element_of(type_)
    return tensor_of(shape_of(type_), element[1:]) if element.startswith("ui") else type_


def element_of(type_: str) -> str:
    """Returns the element type of a ranked tensor type."""
    inner = type_.removeprefix("tensor<").removesuffix(">").split(",")[0]
    return re.sub(r"^(?:(?:\d+|\?)x)*", "", inner).strip()


def shape_of(type_: str) -> list[int | None]:
    """Returns the sizes of a ranked tensor type, None for dynamic ones."""
    sizes = re.match(r"tensor<((?:(?:\d+|\?)x)*)", type_)
    return [None if size == "?" else int(size) for size in sizes[1].split("x")[:-1]] if sizes else []


def tensor_of(sizes: Sequence[int | None], element: str) -> str:
    return "tensor<" + "".join(f"{'?' if size is None else size}x" for size in sizes) + element + ">"


class Writer:
    """Writes the loops that replace `op`; `inputs` are its operands with signless elements."""

    def __init__(self, op: Any) -> None:
        self.op = op
        self.location = str(op.location)
        self.lines: list[str] = []
        self.arguments = [f"%arg{number}: {operand.type}" for number, operand in enumerate(op.operands)]
        self.region: str = ""
        self._count = 0
        self.inputs = [self.cast((f"%arg{number}", str(operand.type)), signless(str(operand.type)))
                       for number, operand in enumerate(op.operands)]

    # ------------------------------------------------------------------- single ops

    def emit(self, text: str, type_: str) -> Value:
        self._count += 1
        self.lines.append(f"%v{self._count} = {text} {self.location}")
        return f"%v{self._count}", type_

    def cast(self, x: Value, type_: str) -> Value:
        """Casts a tensor to another signedness of its elements, or to other static sizes."""
        if x[1] == type_:
            return x
        if element_of(x[1]) != element_of(type_):
            middle = tensor_of(shape_of(x[1]), element_of(type_))
            x = self.emit(f"stablehlo.bitcast_convert {x[0]} : ({x[1]}) -> {middle}", middle)
        return x if x[1] == type_ else self.emit(f"tensor.cast {x[0]} : {x[1]} to {type_}", type_)

    def index(self, number: int) -> Value:
        return self.emit(f"arith.constant {number} : index", "index")

    def binary(self, name: str, a: Value, b: Value) -> Value:
        return self.emit(f"arith.{name} {a[0]}, {b[0]} : {a[1]}", a[1])

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        return self.emit(f"arith.cmpi {predicate}, {a[0]}, {b[0]} : {a[1]}", "i1")

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        return self.emit(f"arith.select {condition[0]}, {a[0]}, {b[0]} : {a[1]}", a[1])

    def size(self, tensor: Value, dim: int) -> Value:
        known = shape_of(tensor[1])[dim]
        if known is not None:
            return self.index(known)
        return self.emit(f"tensor.dim {tensor[0]}, {self.index(dim)[0]} : {tensor[1]}", "index")

    def empty(self, sizes: Sequence[Value], static: Sequence[int | None], element: str) -> Value:
        type_ = tensor_of(static, element)
        dynamic = ", ".join(value[0] for value, size in zip(sizes, static) if size is None)
        return self.emit(f"tensor.empty({dynamic}) : {type_}", type_)

    def load(self, tensor: Value, indices: Sequence[Value]) -> Value:
        places = ", ".join(index[0] for index in indices)
        return self.emit(f"tensor.extract {tensor[0]}[{places}] : {tensor[1]}", element_of(tensor[1]))

    def store(self, x: Value, tensor: Value, indices: Sequence[Value]) -> Value:
        places = ", ".join(index[0] for index in indices)
        return self.emit(f"tensor.insert {x[0]} into {tensor[0]}[{places}] : {tensor[1]}", tensor[1])

    def as_index(self, x: Value) -> Value:
        return self.emit(f"arith.index_cast {x[0]} : {x[1]} to index", "index")

    def to_indices(self, number: int) -> Value:
        """Converts an integer operand to i64; unsigned values above the largest i64 are clamped to it."""
        x = f"%arg{number}", str(self.op.operands[number].type)
        element = element_of(x[1])
        if element == "ui64":
            zero, most = (self.emit(f"stablehlo.constant dense<{bound}> : tensor<ui64>", "tensor<ui64>")
                          for bound in (0, 2**63 - 1))
            x = self.emit(f"stablehlo.clamp {zero[0]}, {x[0]}, {most[0]} : "
                          f"(tensor<ui64>, {x[1]}, tensor<ui64>) -> {x[1]}", x[1])
        wide = tensor_of(shape_of(x[1]), "i64")
        return x if element == "i64" else self.emit(f"stablehlo.convert {x[0]} : ({x[1]}) -> {wide}", wide)

    # ---------------------------------------------------------------------- regions

    def generate(self, sizes: Sequence[Value], type_: str, write: Callable[[list[Value]], Value]) -> Value:
        """Writes a linalg.generic that computes each element of a tensor; `write` receives its indices."""
        return self._generic(sizes, type_, None, [], lambda: write(
            [self.emit(f"linalg.index {dim} : index", "index") for dim in range(len(sizes))]))

    def broadcast(self, x: Value, dims: Sequence[int], sizes: Sequence[Value], type_: str) -> Value:
        """Writes a linalg.generic that broadcasts `x`, whose dims are `dims` of the result."""
        return self._generic(sizes, type_, x, dims, lambda: ("%in", element_of(type_)))

    def convert(self, x: Value, type_: str, write: Callable[[], Value]) -> Value:
        """Writes a linalg.generic that computes each element from that of `x`, which is %in."""
        sizes = [self.size(x, dim) for dim in range(len(shape_of(x[1])))]
        return self._generic(sizes, type_, x, range(len(sizes)), write)

    def _generic(self, sizes: Sequence[Value], type_: str, x: Value | None, dims: Sequence[int],
                 write: Callable[[], Value]) -> Value:
        element = element_of(type_)
        into = self.empty(sizes, shape_of(type_), element)
        all_dims = ", ".join(f"d{dim}" for dim in range(len(sizes)))
        maps = ([", ".join(f"d{dim}" for dim in dims)] if x else []) + [all_dims]
        written = ", ".join(f"affine_map<({all_dims}) -> ({each})>" for each in maps)
        parallel = ", ".join(['"parallel"'] * len(sizes))
        self._count += 1
        name = f"%g{self._count}"
        self.lines.append(f"{name} = linalg.generic {{indexing_maps = [{written}], iterator_types = [{parallel}]}} "
                          + (f"ins({x[0]} : {x[1]}) " if x else "") + f"outs({into[0]} : {type_}) {{\n"
                          f"^bb0({f'%in: {element_of(x[1])}, ' if x else ''}%out: {element}):")
        y = write()
        self.lines += [f"linalg.yield {y[0]} : {y[1]}", f"}} -> {type_} {self.location}"]
        return name, type_

    def _body(self, values: Sequence[Value], write: Callable[[], Sequence[Value]], end: str) -> list[str]:
        """Returns the lines that `write` emits, with the terminator."""
        outer, self.lines = self.lines, []
        results = write()
        names, types = ", ".join(x[0] for x in results), ", ".join(x[1] for x in results)
        inner, self.lines = self.lines, outer
        assert len(results) == len(values)
        return [*inner, f"{end} {names} : {types} {self.location}"]

    def _results(self, text: str, values: Sequence[Value], lines: Sequence[str]) -> list[Value]:
        self._count += 1
        name = f"%v{self._count}"
        self.lines += [f"{name}:{len(values)} = {text} {{", *lines]
        return [(f"{name}#{number}", x[1]) for number, x in enumerate(values)]

    def loop(self, low: Value, high: Value, step: Value, carried: Sequence[Value],
             write: Callable[[Value, list[Value]], Sequence[Value]]) -> list[Value]:
        """Writes an scf.for; `write` receives the induction variable and the carried values, and returns the next
        ones."""
        self._count += 1
        at = self._count
        inside = [(f"%c{at}_{number}", x[1]) for number, x in enumerate(carried)]
        lines = self._body(carried, lambda: write((f"%i{at}", "index"), inside), "scf.yield")
        pairs = ", ".join(f"{name[0]} = {x[0]}" for name, x in zip(inside, carried))
        types = ", ".join(x[1] for x in carried)
        results = self._results(f"scf.for %i{at} = {low[0]} to {high[0]} step {step[0]} "
                                f"iter_args({pairs}) -> ({types})", carried, lines)
        self.lines.append(f"}} {self.location}")
        return results

    def nest(self, sizes: Sequence[Value], carried: Sequence[Value],
             write: Callable[[list[Value], list[Value]], Sequence[Value]]) -> list[Value]:
        """Writes a loop nest from 0 to `sizes`; `write` receives all induction variables."""
        if not sizes:
            return list(write([], list(carried)))
        zero, one = self.index(0), self.index(1)
        return self.loop(zero, sizes[0], one, carried, lambda i, values: self.nest(
            sizes[1:], values, lambda rest, inner: write([i, *rest], inner)))

    def when(self, condition: Value | None, otherwise: Sequence[Value],
             write: Callable[[], Sequence[Value]]) -> list[Value]:
        """Writes an scf.if whose else branch yields `otherwise`; calls `write` directly if there is no condition."""
        if condition is None:
            return list(write())
        lines = self._body(otherwise, write, "scf.yield")
        other = self._body(otherwise, lambda: otherwise, "scf.yield")
        types = ", ".join(x[1] for x in otherwise)
        results = self._results(f"scf.if {condition[0]} -> ({types})", otherwise, lines)
        self.lines += ["} else {", *other, f"}} {self.location}"]
        return results

    def call(self, elements: Sequence[Value]) -> list[Value]:
        """Writes the op's region, applied to scalar elements, and returns its results as scalars."""
        block = self.op.regions[0].blocks[0]
        types = [str(argument.type) for argument in block.arguments]
        results = [str(x.type) for x in list(block.operations)[-1].operands]
        tensors = []
        for x, type_ in zip(elements, types):
            tensor = self.emit(f"tensor.from_elements {x[0]} : tensor<{x[1]}>", f"tensor<{x[1]}>")
            tensors.append(self.cast(tensor, type_))
        self.region = f"func.func private @region({', '.join(types)}) -> ({', '.join(results)})"
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"{name}:{len(results)} = func.call @region({', '.join(x[0] for x in tensors)}) : "
                          f"({', '.join(types)}) -> ({', '.join(results)}) {self.location}")
        return [self.load(self.cast((f"{name}#{number}", type_), signless(type_)), [])
                for number, type_ in enumerate(results)]

    # ------------------------------------------------------------------------- the end

    def replace(self, results: Sequence[Value]) -> None:
        """Replaces the op by the written ops; `results` become its results."""
        types = [str(result.type) for result in self.op.results]
        values = [self.cast(x, type_) for x, type_ in zip(results, types)]
        self.lines.append(f"func.return {', '.join(x[0] for x in values)} : {', '.join(types)}")
        text = "\n".join([self.region, f"func.func @loops({', '.join(self.arguments)}) -> ({', '.join(types)}) {{",
                          *self.lines, "}"])
        _splice(self.op, text)


def _move(block: Any, arguments: Sequence[Any], target: Any) -> None:
    """Moves the ops of a block before `target` and replaces its results by the operands of the terminator."""
    for argument, value in zip(block.arguments, arguments):
        argument.replace_all_uses_with(value)
    *ops, end = [op.operation for op in block.operations]
    for op in ops:
        op.move_before(target)
    for result, value in zip(target.results, list(end.operands)):
        result.replace_all_uses_with(value)


def _splice(op: Any, text: str) -> None:
    from iree.compiler import ir

    parsed = ir.Module.parse(text, op.context)
    function = next(each for each in parsed.body.operations if each.attributes["sym_name"].value == "loops")
    calls = [each for each in all_ops(function.operation) if each.name == "func.call"]
    _move(function.regions[0].blocks[0], list(op.operands), op)
    for call in calls:
        _move(op.regions[0].blocks[0], list(call.operands), call)
        call.erase()
    op.erase()
