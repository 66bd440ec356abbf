"""The parts of a module's text: typed values, maps, regions, functions."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# An extent: a number, or the SSA name of an index if it is dynamic.
Dim = int | str


def tensor_type(shape: Sequence[Dim], element: str = "f32") -> str:
    extents = "".join(f"{'?' if isinstance(d, str) else d}x" for d in shape)
    return f"tensor<{extents}{element}>"


@dataclass(frozen=True)
class Value:
    """A tensor. Equal dynamic extents have equal names."""

    name: str
    shape: tuple[Dim, ...]
    element: str = "f32"

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> str:
        return tensor_type(self.shape, self.element)


def names(values: Sequence[Value]) -> str:
    return ", ".join(value.name for value in values)


def types(values: Sequence[Value]) -> str:
    return ", ".join(value.type for value in values)


def results(values: Sequence[Value]) -> str:
    """Returns the result types of a function or a loop."""
    return types(values) if len(values) == 1 else f"({types(values)})"


def number_text(value: float, element: str = "f32") -> str:
    if element != "f32":
        return str(int(value))
    if math.isinf(value):
        return "0x7F800000" if value > 0 else "0xFF800000"
    return f"{value:.8e}"


def affine_map(loops: int, subscripts: Sequence[int | str | None]) -> str:
    """Returns an affine map. Subscripts are loops, expressions, e.g. "d2 floordiv 2", or None for 0."""
    expressions = ["0" if s is None else f"d{s}" if isinstance(s, int) else s for s in subscripts]
    return (f"affine_map<({', '.join(f'd{i}' for i in range(loops))}) -> "
            f"({', '.join(expressions)})>")


class Scalars:
    """The scalar ops of a region; each method returns the name of its result."""

    def __init__(self, function: "Function") -> None:
        self.lines: list[str] = []
        self._function = function

    def line(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def op(self, operation: str, *operands: str, element: str = "f32") -> str:
        return self.line(f"{operation} {', '.join(operands)} : {element}")

    def constant(self, value: float, element: str = "f32") -> str:
        return self._function.scalar(value, element)

    def index(self, loop: int) -> str:
        return self.line(f"linalg.index {loop} : index")

    def add(self, a: str, b: str) -> str:
        return self.op("arith.addf", a, b)

    def sub(self, a: str, b: str) -> str:
        return self.op("arith.subf", a, b)

    def mul(self, a: str, b: str) -> str:
        return self.op("arith.mulf", a, b)

    def div(self, a: str, b: str) -> str:
        return self.op("arith.divf", a, b)

    def max(self, a: str, b: str) -> str:
        return self.op("arith.maximumf", a, b)

    def min(self, a: str, b: str) -> str:
        return self.op("arith.minimumf", a, b)

    def exp(self, a: str) -> str:
        return self.op("math.exp", a)


@dataclass
class Function:
    """A function under construction. The prologue has constants and sizes, each once, which are valid in the whole
    function."""

    arguments: list[Value] = field(default_factory=list)
    prologue: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    # For an extent that is a product: its constant factor and the names of its other factors.
    factors: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _known: dict[str, str] = field(default_factory=dict)

    def fresh(self, stem: str) -> str:
        """Returns an SSA name that is new in the function."""
        name = base = "%" + re.sub(r"\W", "_", stem)
        count = 0
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def once(self, stem: str, operation: str) -> str:
        """Returns the result of an op in the prologue, which is added on first use."""
        if operation not in self._known:
            self._known[operation] = self.fresh(stem)
            self.prologue.append(f"{self._known[operation]} = {operation}")
        return self._known[operation]

    def index(self, number: int) -> str:
        return self.once(f"c{number}", f"arith.constant {number} : index")

    def scalar(self, value: float, element: str = "f32") -> str:
        return self.once("cst", f"arith.constant {number_text(value, element)} : {element}")

    def factors_of(self, dim: Dim) -> tuple[int, list[str]]:
        return (dim, []) if isinstance(dim, int) else self.factors.get(dim, (1, [dim]))

    def argument(self, value: Value) -> Value:
        """Adds an argument; its named extents are computed by tensor.dim."""
        self.arguments.append(value)
        self._taken.add(value.name)
        for position, dim in enumerate(value.shape):
            if isinstance(dim, str) and dim not in self._taken:
                self._taken.add(dim)
                self.prologue.append(
                    f"{dim} = tensor.dim {value.name}, {self.index(position)} : {value.type}")
        return value

    def text(self, returned: Sequence[Value]) -> str:
        """Returns the text from the first line of the body to the return."""
        last = f"return {names(returned)} : {types(returned)}"
        return "\n".join([*self.prologue, *self.body, last])

    def signature(self) -> str:
        return ", ".join(f"{a.name}: {a.type}" for a in self.arguments)
