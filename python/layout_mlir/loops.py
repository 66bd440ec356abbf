"""Translates Python functions with loops over tensors to MLIR text.

    def running_sum(x):
        y = empty(x, shape(x))
        total = 0
        for i in range(size(x, 0)):
            total += x[i]
            y[i] = total
        return y

`translate(running_sum, [Value("%arg0", Type("f32", (None,)))], ..)` parses the function's source and emits scf.for that
carries `total` and `y`, with tensor.extract and tensor.insert. Values known at translation (attributes, ranks, static
sizes) are folded, and an `if` on such a value emits one branch.

    x[i, j], y[i, j] = v            an element, as `index`, f32 (f64 if an argument is f64) or i1
    for i in range(..)              scf.for; it carries the names that its body assigns and that existed before
    while a < b:                    scf.while, which carries names as scf.for does
    for index in indices(sizes)     a loop nest; `index` is a tuple
    for d, i in enumerate(index)    a sequence of known length is unrolled, also in [.. for d in ..]
    if, .. if .. else ..            scf.if; both branches assign the same names
    a and b, not a                  both sides are evaluated
    + - * / // < == min() ..        on integers or floats; an integer operand beside a float is converted
    return                          only as the last statement

Calls of functions of the same module are inlined. Tensors are values: `y[i] = v` rebinds `y` to a new tensor, which
bufferization turns into a store.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import inspect
import operator
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    # Declares the functions that translated code may call. A size or an element has the type of a Python number,
    # whether it is known at translation or computed by the program.
    class Tensor(Protocol):
        def __getitem__(self, index: int | Sequence[int]) -> Any: ...
        def __setitem__(self, index: int | Sequence[int], x: float) -> None: ...

    def size(x: Tensor, dim: int) -> int: ...
    def rank(x: Tensor) -> int: ...
    def shape(x: Tensor) -> tuple[int, ...]: ...
    def is_number(x: Tensor) -> bool: ...
    def empty(like: Tensor | str, sizes: Sequence[int]) -> Tensor: ...
    def first(x: Tensor, sizes: Sequence[int]) -> Tensor: ...
    def indices(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]: ...
    def integer(x: float) -> int: ...
    def real(x: float) -> float: ...
    def floor(x: float) -> float: ...
    def ceil(x: float) -> float: ...
    def roundeven(x: float) -> float: ...
    def product_of(xs: Sequence[Any]) -> Any: ...
    def all_of(xs: Sequence[bool]) -> bool: ...

_STATIC = (int, float, bool, str, tuple, list, type(None))


@dataclasses.dataclass(frozen=True)
class Type:
    """A tensor type; None is a dynamic size. `unsigned` states how integer elements are read."""
    element: str
    sizes: tuple[int | None, ...]
    unsigned: bool = False

    def __str__(self) -> str:
        return "tensor<" + "".join(f"{'?' if size is None else size}x" for size in self.sizes) + self.element + ">"


_Kind = TypeVar("_Kind", bound="Type | str")
_Kind_co = TypeVar("_Kind_co", bound="Type | str", covariant=True)


@dataclasses.dataclass(frozen=True)
class Value(Generic[_Kind_co]):
    """A tensor or scalar SSA value: its name in the text, and its type, a Type or the text of a scalar type."""
    name: str
    type: _Kind_co


# An SSA value, or a number known at translation.
_Scalar = Value[str] | int | float
_Size = Value[str] | int

# The Python function and the ops on integers and on floats.
_BINARY: dict[type[ast.AST] | str, tuple[Callable[[Any, Any], Any], str | None, str | None]] = {
    ast.Add: (operator.add, "arith.addi", "arith.addf"),
    ast.Sub: (operator.sub, "arith.subi", "arith.subf"),
    ast.Mult: (operator.mul, "arith.muli", "arith.mulf"),
    ast.Div: (operator.truediv, None, "arith.divf"),
    ast.FloorDiv: (operator.floordiv, "arith.floordivsi", None),
    ast.Mod: (operator.mod, "arith.remsi", None),  # for operands that are not negative
    ast.And: (operator.and_, "arith.andi", None),
    ast.Or: (operator.or_, "arith.ori", None),
    "min": (min, "arith.minsi", "arith.minimumf"),
    "max": (max, "arith.maxsi", "arith.maximumf"),
}
_COMPARE: dict[type[ast.cmpop], tuple[Callable[[Any, Any], Any], str, str]] = {
    ast.Lt: (operator.lt, "slt", "olt"), ast.LtE: (operator.le, "sle", "ole"),
    ast.Gt: (operator.gt, "sgt", "ogt"), ast.GtE: (operator.ge, "sge", "oge"),
    ast.Eq: (operator.eq, "eq", "oeq"), ast.NotEq: (operator.ne, "ne", "une"),
}
_UNARY = {"floor": "math.floor", "ceil": "math.ceil", "roundeven": "math.roundeven"}


class _Writer:
    """Emits ops. Operands and results are SSA values, or Python values if known at translation."""

    def __init__(self, float_type: str, new_name: Callable[[], str], location: str) -> None:
        self.float, self.new_name, self.location = float_type, new_name, location
        self.lines: list[str] = []

    def emit_all(self, text: str, types: Sequence[_Kind]) -> list[Value[_Kind]]:
        if not types:
            self.lines.append(text + self.location)
            return []
        name = self.new_name()
        self.lines.append(f"{name}:{len(types)} = {text}{self.location}")
        return [Value(f"{name}#{number}", type) for number, type in enumerate(types)]

    def emit(self, text: str, type: _Kind) -> Value[_Kind]:
        return self.emit_all(text, [type])[0]

    def value(self, x: Value[_Kind] | int | float) -> Value[_Kind | str]:
        """Returns an SSA value; a Python number becomes a constant."""
        if isinstance(x, bool):
            return self.emit(f"arith.constant {str(x).lower()}", "i1")
        if isinstance(x, int):
            return self.emit(f"arith.constant {x} : index", "index")
        if isinstance(x, float):
            return self.emit(f"arith.constant {x:.17e} : {self.float}", self.float)
        return x

    def as_float(self, x: _Scalar) -> Value[str]:
        x = self.value(x)
        if x.type == "index":
            word = self.emit(f"arith.index_cast {x.name} : index to i64", "i64")
            return self.emit(f"arith.sitofp {word.name} : i64 to {self.float}", self.float)
        return x

    def as_index(self, x: _Scalar) -> Value[str]:
        """Converts a bit or an integral float to index."""
        x = self.value(x)
        if x.type == "i1":
            return self.emit(f"arith.index_castui {x.name} : i1 to index", "index")
        if x.type == self.float:
            word = self.emit(f"arith.fptosi {x.name} : {self.float} to i64", "i64")
            return self.emit(f"arith.index_cast {word.name} : i64 to index", "index")
        return x

    def same(self, a: _Scalar, b: _Scalar) -> tuple[Value[str], Value[str]]:
        """Converts both operands to one type: to float if either is a float."""
        a, b = self.value(a), self.value(b)
        return (self.as_float(a), self.as_float(b)) if self.float in (a.type, b.type) else (a, b)

    def binary(self, kind: type[ast.AST] | str, a: Any, b: Any) -> Any:
        function, on_integers, on_floats = _BINARY[kind]
        if isinstance(a, _STATIC) and isinstance(b, _STATIC):
            return function(a, b)
        if on_integers is None:
            a, b = self.as_float(a), self.as_float(b)
        a, b = self.same(a, b)
        name = on_floats if a.type == self.float else on_integers
        return self.emit(f"{name} {a.name}, {b.name} : {a.type}", a.type)

    def compare(self, kind: type[ast.cmpop], a: Any, b: Any) -> Any:
        function, on_integers, on_floats = _COMPARE[kind]
        if isinstance(a, _STATIC) and isinstance(b, _STATIC):
            return function(a, b)
        a, b = self.same(a, b)
        name, predicate = ("arith.cmpf", on_floats) if a.type == self.float else ("arith.cmpi", on_integers)
        return self.emit(f"{name} {predicate}, {a.name}, {b.name} : {a.type}", "i1")

    # ------------------------------------------------------------------- tensors

    def load(self, tensor: Value[Type], indices: Sequence[_Size]) -> Value[str]:
        element = tensor.type.element
        places = ", ".join(self.value(index).name for index in indices)
        x = self.emit(f"tensor.extract {tensor.name}[{places}] : {tensor.type}", element)
        if element in ("f16", "bf16", "f32", "f64"):
            return x if element == self.float else self.emit(
                f"arith.extf {x.name} : {element} to {self.float}", self.float)
        if element == "i1" or not element.startswith("i"):  # narrow floats and complex numbers are only moved
            return x
        cast = "index_castui" if tensor.type.unsigned else "index_cast"
        return self.emit(f"arith.{cast} {x.name} : {element} to index", "index")

    def store(self, x: _Scalar, tensor: Value[Type], indices: Sequence[_Size]) -> Value[Type]:
        element = tensor.type.element
        x = self.as_float(x) if element in ("f16", "bf16", "f32", "f64") else self.value(x)
        if x.type != element:
            cast = "arith.truncf" if x.type == self.float else "arith.index_cast"
            x = self.emit(f"{cast} {x.name} : {x.type} to {element}", element)
        places = ", ".join(self.value(index).name for index in indices)
        return self.emit(f"tensor.insert {x.name} into {tensor.name}[{places}] : {tensor.type}", tensor.type)

    def size(self, tensor: Value[Type], dim: int) -> _Size:
        known = tensor.type.sizes[dim]
        if known is not None:
            return known
        return self.emit(f"tensor.dim {tensor.name}, {self.value(dim % len(tensor.type.sizes)).name} : "
                         f"{tensor.type}", "index")

    def empty(self, like: Value[Type] | str, sizes: Sequence[_Size]) -> Value[Type]:
        """Emits tensor.empty; `like` is a tensor with the element type, or its name."""
        element = like.type.element if isinstance(like, Value) else like
        known = tuple(size if isinstance(size, int) else None for size in sizes)
        result = Type(element, known, isinstance(like, Value) and like.type.unsigned)
        named = ", ".join(size.name for size in sizes if not isinstance(size, int))
        return self.emit(f"tensor.empty({named}) : {result}", result)

    def first(self, tensor: Value[Type], sizes: Sequence[_Size]) -> Value[Type]:
        """Extracts the leading `sizes` elements of each dim."""
        known = tuple(size if isinstance(size, int) else None for size in sizes)
        result = dataclasses.replace(tensor.type, sizes=known)
        named = ", ".join(str(size) if isinstance(size, int) else size.name for size in sizes)
        zeros, ones = (", ".join([each] * len(sizes)) for each in "01")
        return self.emit(f"tensor.extract_slice {tensor.name}[{zeros}] [{named}] [{ones}] : {tensor.type} to "
                         f"{result}", result)

    # ------------------------------------------------- what the functions may call

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Returns the functions that translated code may call, by name."""
        found: dict[str, Callable[..., Any]] = {
            "size": self.size, "empty": self.empty, "first": self.first,
            "rank": lambda x: len(x.type.sizes),
            "shape": lambda x: tuple(self.size(x, d) for d in range(len(x.type.sizes))),
            "is_number": lambda x: x.type.element != "i1",
            "integer": self.as_index, "real": self.as_float,
            "min": lambda *xs: functools.reduce(lambda a, b: self.binary("min", a, b), xs),
            "max": lambda *xs: functools.reduce(lambda a, b: self.binary("max", a, b), xs),
        }
        for name, kind, start in ("product_of", ast.Mult, 1), ("all_of", ast.And, True):
            found[name] = functools.partial(self._all, kind, start)
        for name, op in _UNARY.items():
            found[name] = functools.partial(self._unary, op)
        return found

    def _all(self, kind: type[ast.AST], start: int, xs: Sequence[Any]) -> Any:
        return functools.reduce(lambda a, b: self.binary(kind, a, b), xs) if xs else start

    def _unary(self, op: str, x: _Scalar) -> Value[str]:
        x = self.as_float(x)
        return self.emit(f"{op} {x.name} : {self.float}", self.float)


def _name(node: ast.expr) -> str:
    assert isinstance(node, ast.Name), ast.dump(node)
    return node.id


def _assigned(statements: Sequence[ast.stmt]) -> list[str]:
    """Returns the names that statements assign, in source order."""
    names = {}

    def collect(target: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for each in target.elts:
                collect(each)
        else:
            names[_name(target.value if isinstance(target, ast.Subscript) else target)] = True

    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                collect(node.targets[0])
            elif isinstance(node, ast.AugAssign):
                collect(node.target)
    return list(names)


class _Interpreter:
    """Executes the statements of one function: known values are computed, other operations are emitted."""

    def __init__(self, writer: _Writer, function: Callable[..., Any],
                 arguments: tuple[Sequence[Any], Mapping[str, Any]]) -> None:
        self.writer, self.globals = writer, function.__globals__
        definition, = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        assert isinstance(definition, ast.FunctionDef)
        self.statements = definition.body
        bound = inspect.signature(function).bind(*arguments[0], **arguments[1])
        bound.apply_defaults()
        self.names: dict[str, Any] = dict(bound.arguments)

    def run(self) -> Any:
        return self.block(self.statements)

    def block(self, statements: Sequence[ast.stmt]) -> Any:
        for statement in statements:
            if isinstance(statement, ast.Return):
                return statement.value and self.value(statement.value)
            getattr(self, f"do_{type(statement).__name__}")(statement)
        return None

    # ---------------------------------------------------------------- statements

    def do_Expr(self, statement: ast.Expr) -> None:
        pass  # a docstring

    def assign(self, target: ast.expr, x: Any) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for each, part in zip(target.elts, x):
                self.assign(each, part)
        elif isinstance(target, ast.Subscript):
            name = _name(target.value)
            self.names[name] = self.writer.store(x, self.names[name], self.places(target.slice))
        else:
            self.names[_name(target)] = x

    def do_Assign(self, statement: ast.Assign) -> None:
        self.assign(statement.targets[0], self.value(statement.value))

    def do_AugAssign(self, statement: ast.AugAssign) -> None:
        target = ast.copy_location(type(statement.target)(**{**vars(statement.target), "ctx": ast.Load()}),
                                   statement.target)
        self.assign(statement.target, self.writer.binary(type(statement.op), self.value(target),
                                                         self.value(statement.value)))

    def inside(self, statements: Sequence[ast.stmt]) -> tuple[list[str], dict[str, Any]]:
        """Executes a block; returns the lines that it emits and the values of names after it, and restores the current
        names."""
        names, lines = dict(self.names), self.writer.lines
        self.writer.lines = []
        self.block(statements)
        written, after = self.writer.lines, self.names
        self.names, self.writer.lines = names, lines
        return written, after

    def do_For(self, statement: ast.For) -> None:
        match statement.iter:
            case ast.Call(func=ast.Name(id="range"), args=args):
                bounds = [self.value(each) for each in args]
                low, high = bounds if len(bounds) == 2 else (0, bounds[0])
                self.loop(low, high, statement.body, lambda i: self.step(statement, i))
            case ast.Call(func=ast.Name(id="indices"), args=[sizes]):
                self.nest(statement, self.value(sizes), ())
            case sequence:
                for each in list(self.value(sequence)):
                    self.step(statement, each)

    def step(self, statement: ast.For, x: Any) -> None:
        """Executes the body of a loop once, with `x` assigned to the loop's target."""
        self.assign(statement.target, x)
        self.block(statement.body)

    def nest(self, statement: ast.For, sizes: Sequence[_Size], index: tuple[Value[str], ...]) -> None:
        """Emits a loop for each size, around the body."""
        if len(index) == len(sizes):
            self.step(statement, index)
        else:
            self.loop(0, sizes[len(index)], statement.body, lambda i: self.nest(statement, sizes, (*index, i)))

    def loop(self, low: _Size, high: _Size, body: Sequence[ast.stmt], inner: Callable[[Value[str]], None]) -> None:
        """Emits scf.for from `low` to `high` in steps of 1; `inner` gets the induction variable and emits the body. The
        loop carries the names that `body` assigns and that exist before it."""
        writer = self.writer
        low, high, step = writer.value(low), writer.value(high), writer.value(1)
        carried = [name for name in _assigned(body) if name in self.names]
        initial = self.parts(carried)
        i = Value(writer.new_name(), "index")
        written, arguments, last = self.region(carried, initial, lambda: inner(i))
        types = [value.type for value in initial]
        pairs = ", ".join(f"{a.name} = {b.name}" for a, b in zip(arguments, initial))
        carries = f" iter_args({pairs}) -> ({', '.join(map(str, types))})" if carried else ""
        text = [f"scf.for {i.name} = {low.name} to {high.name} step {step.name}{carries} {{", *written,
                _yield(last), "}"]
        self.bind(carried, writer.emit_all("\n".join(text), types))

    def do_While(self, statement: ast.While) -> None:
        """Emits scf.while, which carries the names that its body assigns and that exist before it."""
        carried = [name for name in _assigned(statement.body) if name in self.names]
        initial, conditions = self.parts(carried), []
        test, before, same = self.region(carried, initial, lambda: conditions.append(self.value(statement.test)))
        body, after, last = self.region(carried, initial, lambda: self.block(statement.body))
        types = ", ".join(str(value.type) for value in initial)
        pairs = ", ".join(f"{a.name} = {b.name}" for a, b in zip(before, initial))
        names, arguments = ", ".join(x.name for x in same), ", ".join(f"{x.name}: {x.type}" for x in after)
        text = [f"scf.while ({pairs}) : ({types}) -> ({types}) {{", *test,
                f"scf.condition({conditions[0].name}) {names} : {types}", "} do {", f"^bb0({arguments}):", *body,
                _yield(last), "}"]
        self.bind(carried, self.writer.emit_all("\n".join(text), [value.type for value in initial]))

    def parts(self, names: Sequence[str]) -> list[Value[Type | str]]:
        """Returns the SSA values of names, one for each element of a tuple."""
        return [self.writer.value(part) for name in names
                for part in (self.names[name] if isinstance(self.names[name], tuple) else [self.names[name]])]

    def bind(self, names: Sequence[str], parts: Sequence[Value[Any]]) -> None:
        """Assigns SSA values to names, one for each element of a tuple."""
        rest = iter(parts)
        for name in names:
            old = self.names[name]
            self.names[name] = tuple(next(rest) for _ in old) if isinstance(old, tuple) else next(rest)

    def region(self, carried: Sequence[str], initial: Sequence[Value[Type | str]],
               inner: Callable[[], None]) -> tuple[list[str], list[Value[Type | str]], list[Value[Type | str]]]:
        """Returns the lines that `inner` emits with an argument for each of the `initial` values of the names
        `carried`, these arguments, and the values after it. Restores the current names."""
        before, lines = dict(self.names), self.writer.lines
        arguments = [Value(self.writer.new_name(), value.type) for value in initial]
        self.bind(carried, arguments)
        self.writer.lines = []
        inner()
        last = [self.like(part, value) for part, value in zip(self.parts(carried), initial)]
        written, self.writer.lines, self.names = self.writer.lines, lines, before
        return written, arguments, last

    def like(self, x: Any, other: Value[Type | str]) -> Value[Type | str]:
        return self.writer.as_float(x) if other.type == self.writer.float else self.writer.value(x)

    def do_If(self, statement: ast.If) -> None:
        condition = self.value(statement.test)
        if not isinstance(condition, Value):
            self.block(statement.body if condition else statement.orelse)
            return
        (then, after), (other, otherwise) = self.inside(statement.body), self.inside(statement.orelse)
        names = [name for name in _assigned([statement]) if name in after and name in otherwise]
        values = self.choose(condition, (then, [after[name] for name in names]),
                             (other, [otherwise[name] for name in names]))
        self.names.update(zip(names, values))

    def choose(self, condition: Value[str],
               *branches: tuple[Sequence[str], Sequence[Any]]) -> list[Value[Type | str]]:
        """Emits scf.if from the (lines, values) of each branch; returns its results."""
        writer, blocks = self.writer, []
        given: list[Value[Type | str]] = []
        is_float = [any(isinstance(x, float) or isinstance(x, Value) and x.type == writer.float for x in pair)
                    for pair in zip(*(values for _, values in branches))]
        lines = writer.lines
        for written, values in branches:
            writer.lines = list(written)
            given = [writer.as_float(x) if real else writer.value(x) for x, real in zip(values, is_float)]
            blocks.append([*writer.lines, _yield(given)])
        writer.lines = lines
        types = [value.type for value in given]
        head = f"scf.if {condition.name}" + (f" -> ({', '.join(map(str, types))})" if types else "")
        return writer.emit_all("\n".join([head + " {", *blocks[0], "} else {", *blocks[1], "}"]), types)

    # --------------------------------------------------------------- expressions

    def value(self, node: ast.expr) -> Any:
        return getattr(self, f"get_{type(node).__name__}")(node)

    def places(self, node: ast.expr) -> tuple[Any, ...]:
        index = self.value(node)
        return index if isinstance(index, tuple) else (index,)

    def get_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def get_Name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            return self.names[node.id]
        functions = self.writer.functions()
        if node.id in functions:
            return functions[node.id]
        return self.globals[node.id] if node.id in self.globals else getattr(builtins, node.id)

    def get_Tuple(self, node: ast.Tuple | ast.List) -> tuple[Any, ...]:
        parts = []
        for each in node.elts:
            if isinstance(each, ast.Starred):
                parts.extend(self.value(each.value))
            else:
                parts.append(self.value(each))
        return tuple(parts)

    get_List = get_Tuple

    def get_Slice(self, node: ast.Slice) -> Any:
        return slice(*(each and self.value(each) for each in (node.lower, node.upper, node.step)))

    def get_Subscript(self, node: ast.Subscript) -> Any:
        what = self.value(node.value)
        if isinstance(what, Value):
            return self.writer.load(what, self.places(node.slice))
        return what[self.value(node.slice)]

    def get_BinOp(self, node: ast.BinOp) -> Any:
        a, b = self.value(node.left), self.value(node.right)
        return self.writer.binary(type(node.op), a, b)

    def get_BoolOp(self, node: ast.BoolOp) -> Any:
        values = [self.value(each) for each in node.values]
        known = [x for x in values if not isinstance(x, Value)]
        if any(bool(x) == isinstance(node.op, ast.Or) for x in known):
            return isinstance(node.op, ast.Or)
        rest = [x for x in values if isinstance(x, Value)]
        if not rest:
            return not isinstance(node.op, ast.Or)
        return functools.reduce(lambda a, b: self.writer.binary(type(node.op), a, b), rest)

    def get_UnaryOp(self, node: ast.UnaryOp) -> Any:
        x = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.writer.compare(ast.Eq, x, False) if isinstance(x, Value) else not x
        return self.writer.binary(ast.Sub, 0, x) if isinstance(x, Value) else -x

    def get_Compare(self, node: ast.Compare) -> Any:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return (values[0] is values[1]) == isinstance(node.ops[0], ast.Is)
        parts = [self.writer.compare(type(op), a, b) for op, a, b in zip(node.ops, values, values[1:])]
        return functools.reduce(lambda a, b: self.writer.binary(ast.And, a, b), parts)

    def get_IfExp(self, node: ast.IfExp) -> Any:
        condition = self.value(node.test)
        if not isinstance(condition, Value):
            return self.value(node.body if condition else node.orelse)
        branches = []
        for each in (node.body, node.orelse):
            lines = self.writer.lines
            self.writer.lines = []
            value = self.value(each)
            branches.append((self.writer.lines, [value]))
            self.writer.lines = lines
        return self.choose(condition, *branches)[0]

    def get_ListComp(self, node: ast.ListComp) -> tuple[Any, ...]:
        generator, = node.generators
        before, results = dict(self.names), []
        for each in self.value(generator.iter):
            self.assign(generator.target, each)
            results.append(self.value(node.elt))
        self.names = before
        return tuple(results)

    def get_Call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        positional = self.get_Tuple(ast.Tuple(node.args))
        named = {each.arg or "**": self.value(each.value) for each in node.keywords}
        if inspect.isfunction(function) and function.__globals__ is self.globals:
            return _Interpreter(self.writer, function, (positional, named)).run()
        return function(*positional, **named)


def _yield(values: Sequence[Value[Type | str]]) -> str:
    if not values:
        return "scf.yield"
    return f"scf.yield {', '.join(x.name for x in values)} : {', '.join(str(x.type) for x in values)}"


def translate(function: Callable[..., Any], arguments: Sequence[Value[Type] | None], new_name: Callable[[], str],
              location: str = "", **known: Any) -> tuple[list[str], list[Value[Type]]]:
    """Returns the lines of the translated function, and its results.

    `arguments` holds SSA values, or None for an omitted argument; `known` holds the other parameters. `new_name`
    returns an unused SSA name; `location` is appended to each op. Floats are f64 if an argument has f64 elements, else
    f32."""
    is_double = any(each is not None and each.type.element == "f64" for each in arguments)
    writer = _Writer("f64" if is_double else "f32", new_name, location)
    values = _Interpreter(writer, function, (arguments, known)).run()
    return writer.lines, list(values) if isinstance(values, tuple) else [values]
