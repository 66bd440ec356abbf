"""A module under construction: functions, regions, weights and inputs."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import numpy as np

from . import weights as w
from .text import Dim, Function, Value, number_text, results, tensor_type, types
from .weights import Weight


class Module:
    """The current function is `function`; ops are appended to its current region.

    Layers have names, and `scope` adds a prefix to names. Weights are identified by their whole path, ops by the part
    of it within their function, so that the text of a function does not depend on its callers.
    """

    def __init__(self, name: str, seed: int = 0, weights: str = "random",
                 runnable: bool = False) -> None:
        self.name = name
        self.seed = seed
        self.runnable = runnable
        self.function = Function()
        self._weights_as = weights
        self._scope: list[str] = []
        self._local_scope = 0  # the length of the scope outside of the function
        self._weight_source: Callable[[Weight], Value] = self._weight_of_main
        self._functions: dict[str, str] = {}  # {text: symbol}
        self._maps: dict[str, str] = {}
        self._drawn: dict[str, Callable[[], np.ndarray]] = {}  # {resource: function that returns its data}
        self._constants: dict[str, Value] = {}
        self._inputs: list[Callable[[dict[str, int]], np.ndarray]] = []
        self._results: list[Value] = []
        self._others: list[tuple[str, Function, list[Value]]] = []  # public functions other than main

    # ------------------------------------------------------------------- text

    def path(self, layer: str) -> str:
        """Returns the path of a layer within the function."""
        return ".".join([*self._scope[self._local_scope:], layer])

    def full_path(self, layer: str) -> str:
        return ".".join([*self._scope, layer])

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        self._scope.append(name)
        yield
        self._scope.pop()

    @contextmanager
    def other_function(self, symbol: str) -> Iterator[None]:
        """Inside the `with` block, ops, inputs and results belong to a public function other than main. It shares
        main's weights: weights of the same name are one resource."""
        if self._weights_as == "arguments":
            raise ValueError(f"@main and @{symbol} share no weights that are arguments")
        outer = self.function, self._constants, self._inputs, self._results
        self.function, self._constants, self._inputs, self._results = Function(), {}, [], []
        yield
        self._others.append((symbol, self.function, self._results))
        self.function, self._constants, self._inputs, self._results = outer

    @contextmanager
    def region(self) -> Iterator[list[str]]:
        """Appends ops to the yielded list instead of the body."""
        outer, self.function.body = self.function.body, []
        yield self.function.body
        self.function.body = outer

    def map(self, text: str) -> str:
        """Returns the alias of an affine map."""
        return self._maps.setdefault(text, f"#map{len(self._maps)}")

    def emit(self, layer: str, operation: str, shape: Sequence[Dim],
             element: str = "f32") -> Value:
        """Appends an op with one result, at the location of the layer."""
        path = self.path(layer)
        value = Value(self.function.fresh(path), tuple(shape), element)
        self.function.body.append(f'{value.name} = {operation} loc("{path}")')
        return value

    def emit_many(self, layer: str, operation: str, like: Sequence[Value]) -> list[Value]:
        """Appends an op with results of the types of `like`."""
        path = self.path(layer)
        if len(like) == 1:
            return [self.emit(layer, operation, like[0].shape, like[0].element)]
        name = self.function.fresh(path)
        self.function.body.append(f'{name}:{len(like)} = {operation} loc("{path}")')
        return [Value(f"{name}#{i}", v.shape, v.element) for i, v in enumerate(like)]

    # ------------------------------------------------------------------ sizes

    def product(self, *dims: Dim) -> Dim:
        """Returns the product of extents; equal products have the same name, regardless of how they are computed."""
        number, dynamic = 1, []
        for dim in dims:
            factor, names = self.function.factors_of(dim)
            number *= factor
            dynamic += names
        if not dynamic:
            return number
        factors = sorted(dynamic) + ([] if number == 1 else [self.function.index(number)])
        name = factors[0]
        for factor in factors[1:]:
            stem = f"{name}_x_{factor}".replace("%", "")
            name = self.function.once(stem, f"arith.muli {name}, {factor} : index")
        self.function.factors[name] = number, dynamic
        return name

    def total(self, *dims: Dim) -> Dim:
        """Returns the sum of extents, at most one of which is dynamic."""
        number = sum(d for d in dims if isinstance(d, int))
        dynamic = [d for d in dims if isinstance(d, str)]
        if not dynamic or number == 0:
            return dynamic[0] if dynamic else number
        stem = f"{dynamic[0]}_plus_{number}".replace("-", "minus_").replace("%", "")
        return self.function.once(
            stem, f"arith.addi {dynamic[0]}, {self.function.index(number)} : index")

    def index(self, dim: Dim) -> str:
        """Returns the extent as an operand."""
        return self.function.index(dim) if isinstance(dim, int) else dim

    # ---------------------------------------------------------------- weights

    def normal(self, layer: str, shape: Sequence[int], deviation: float) -> Weight:
        return w.normal(self.seed, self.full_path(layer), shape, deviation)

    def uniform(self, layer: str, shape: Sequence[int], low: float, high: float) -> Weight:
        return w.uniform(self.seed, self.full_path(layer), shape, low, high)

    def weight(self, weight: Weight) -> Value:
        """Returns the weight as an operand."""
        return self._weight_source(weight)

    def _weight_of_main(self, weight: Weight) -> Value:
        if weight.name in self._constants:
            raise ValueError(f"two weights are called {weight.name}")
        if self._weights_as == "arguments":
            value = Value(self.function.fresh(weight.name), weight.shape, weight.element)
            self.function.argument(value)
            self._inputs.append(lambda _: weight.draw())
        elif self._weights_as == "splat":
            number = number_text(weight.splat(self.seed), weight.element)
            value = self._constant(weight.name, f"dense<{number}>", weight.shape, weight.element)
        else:
            value = self._resource(weight.name, weight.shape, weight.element, weight.draw)
        self._constants[weight.name] = value
        return value

    def _constant(self, name: str, literal: str, shape: Sequence[int], element: str) -> Value:
        value = Value(self.function.fresh(name), tuple(shape), element)
        self.function.prologue.append(f"{value.name} = arith.constant {literal} : {value.type}")
        return value

    def _resource(self, name: str, shape: Sequence[int], element: str,
                  draw: Callable[[], np.ndarray]) -> Value:
        self._drawn[name] = draw
        return self._constant(name, f"dense_resource<{name}>", shape, element)

    def table(self, name: str, array: np.ndarray) -> Value:
        """Returns constants of the architecture, e.g. positions, which are not weights. Each function that uses them
        has its own constant."""
        element = {"f": "f32", "i": "i64"}[array.dtype.kind]
        array = array.astype({"f32": np.float32, "i64": np.int64}[element])
        path = f"table.{name}"
        self._drawn.setdefault(path, lambda: array)
        name = self.function.once(
            path, f"arith.constant dense_resource<{path}> : {tensor_type(array.shape, element)}")
        return Value(name, array.shape, element)

    # ------------------------------------------------------- inputs and results

    def input(self, name: str, shape: Sequence[Dim], element: str = "f32", below: int = 0) -> Value:
        """Adds an argument of main: normally distributed f32, or integers below `below`. A dynamic extent is a name,
        e.g. "%batch"."""
        def draw(extents: list[int]) -> np.ndarray:
            if element == "i64":
                return w.draw_integers(self.seed, name, extents, below)
            return w.draw_normal(self.seed, name, extents, 1.0)

        return self._argument(name, shape, element, draw)

    def _argument(self, name: str, shape: Sequence[Dim], element: str,
                  draw: Callable[[list[int]], np.ndarray]) -> Value:
        """Adds an argument of main; `draw` returns an example of it for the given extents."""
        self._inputs.append(lambda sizes: draw(
            [sizes[d.lstrip("%")] if isinstance(d, str) else d for d in shape]))
        return self.function.argument(Value("%" + name, tuple(shape), element))

    def output(self, *values: Value) -> None:
        self._results = list(values)

    def example_inputs(self, sizes: dict[str, int] | None = None) -> list[np.ndarray]:
        """Returns seeded arguments of main; `sizes` has the values of dynamic extents by name."""
        return [draw(sizes or {}) for draw in self._inputs]

    # ------------------------------------------------------------------ whole

    def write(self, file: TextIO) -> None:
        """Writes the module as text."""
        for text, alias in self._maps.items():
            file.write(f"{alias} = {text}\n")
        file.write(f"module @{self.name} {{\n")
        for text, symbol in self._functions.items():
            file.write(f"  func.func private @{symbol}{textwrap.indent(text, '  ').lstrip()}\n")
        for symbol, function, returned in [("main", self.function, self._results), *self._others]:
            signature = f"({types(function.arguments)}) -> {results(returned)}"
            attributes = (f" attributes {{llvm.emit_c_interface, layout.signature = {signature}}}"
                          if self.runnable else "")
            file.write(f"  func.func @{symbol}({function.signature()}) -> "
                       f"{results(returned)}{attributes} {{\n"
                       f"{textwrap.indent(function.text(returned), '    ')}\n  }}\n")
        file.write("}\n")
        w.write_resources(file, self._drawn)


def signature_of(function: Function, returned: Sequence[Value]) -> str:
    """Returns the text of a function after its symbol."""
    return (f"({function.signature()}) -> {results(returned)} {{\n"
            f"{textwrap.indent(function.text(returned), '  ')}\n}}")
