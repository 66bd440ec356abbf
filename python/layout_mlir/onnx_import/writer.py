"""Writes ops, constants and sizes as text; the base of the Builder.

Constants become ops when they are used, at the top of the function, so that they dominate all regions. A dynamic size
is written once for a region and the regions nested in it. The location of an op is the imported node (`at_node`).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.elements import BOOL, I64, Element, of_dtype
from layout_mlir.onnx_import.scalars import Scalars, format_number
from layout_mlir.onnx_import.sizes import Expr, Size, Symbol, divide, is_data, is_static
from layout_mlir.onnx_import.values import Forbidden, Scalar, Tensor, as_tensor_array, type_of

# Smaller constants are part of the text; others are resources.
_FEWEST_BYTES = 1024
# The size from which the text of a constant is one number, which is faster to write and read than its elements.
_FEWEST_IN_HEX = 32
# Element types that attach_constants accepts as resources.
_RESOURCES = {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64"}


def _checked(size: Size) -> tuple[str, Size]:
    """Returns the key under which a region records that a size is not negative."""
    return "is a size", size


def _is_splat(flat: NDArray[Any]) -> bool:
    """Returns true if all elements are equal."""
    return bool((flat[:16] == flat[0]).all() and (flat == flat[0]).all())


class Writer:
    """Writes the text of one function and collects the arrays that it names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: list[str] = []
        self.arrays: dict[str, NDArray[Any]] = {}
        self.locations: dict[str, str] = {}
        self.maps: dict[str, str] = {}
        self.count = 0
        self.location, self.node = self._locate(""), ""
        self.scalar_constants: dict[tuple[Any, ...], str] = {}
        self.array_constants: dict[tuple[Any, ...], str] = {}
        # SSA values of sizes, and of Tensors of sizes, by region.
        self.scopes: list[dict[Any, str]] = [{}]
        self.symbols: dict[str, Symbol] = {}
        # Maps a symbol to the two sizes of which it is the minimum.
        self.minima: dict[Symbol, tuple[Size, Size]] = {}
        # Keeps tensors alive whose id, or that of their array, is a key.
        self._kept: list[Tensor] = []

    # ------------------------------------------------------------------ the text

    def _locate(self, name: str) -> str:
        return self.locations.setdefault(name, f"#loc{len(self.locations)}")

    @contextlib.contextmanager
    def at_node(self, name: str) -> Iterator[None]:
        """Sets the location of ops written in this context to the node of that name."""
        before = self.location, self.node
        self.location, self.node = self._locate(name), name
        try:
            yield
        finally:
            self.location, self.node = before

    def new_name(self) -> str:
        self.count += 1
        return f"%{self.count - 1}"

    def emit(self, text: str) -> str:
        """Writes an op with one result; returns its SSA value."""
        name = self.new_name()
        self.lines.append(f"{name} = {text} loc({self.location})")
        return name

    def emit_many(self, text: str, count: int) -> list[str]:
        """Writes an op with `count` results; returns their SSA values."""
        if count == 0:
            self.lines.append(f"{text} loc({self.location})")
            return []
        name = self.new_name()
        self.lines.append(f"{name}:{count} = {text} loc({self.location})")
        return [name] if count == 1 else [f"{name}#{number}" for number in range(count)]

    @contextlib.contextmanager
    def region(self) -> Iterator[list[str]]:
        """Collects the lines written in this context for the region of an op, and yields their list."""
        before, self.lines = self.lines, []
        self.scopes.append({})
        try:
            yield self.lines
        finally:
            self.lines = before
            self.scopes.pop()

    def map(self, text: str) -> str:
        """Returns the alias of an affine map, given as `(d0, d1) -> (d0)`."""
        return self.maps.setdefault(text, f"#map{len(self.maps)}")

    def finish(self, name: str, arguments: Sequence[tuple[Tensor, str]], results: Sequence[Tensor],
               attributes: str) -> str:
        """Returns the module with the function. `arguments` are pairs of a Tensor and the name of the input."""
        names = [self.use(result) for result in results]
        types = ", ".join(result.type for result in results)
        head = ", ".join(f"{tensor.name}: {tensor.type} loc({self._locate(label)})" for tensor, label in arguments)
        end = f"return {', '.join(names)} : {types}" if names else "return"
        aliases = [f"{alias} = affine_map<{text}>" for text, alias in self.maps.items()]
        located = [f"{alias} = loc({json.dumps(label, ensure_ascii=False) if label else 'unknown'})"
                   for label, alias in self.locations.items()]
        return "\n".join([*aliases, "module {", f"func.func @{name}({head}) -> ({types}){attributes} {{",
                          *self.constants, *self.lines, f"{end} loc({self.location})", "} loc(#loc0)", "} loc(#loc0)",
                          *located, ""])

    # ----------------------------------------------------------------- constants

    def scalar_constant(self, value: float | bool, element: Element | None) -> str:
        """Returns the SSA value of a scalar constant; `element` is None for index."""
        text = f"arith.constant {format_number(value, element)}"
        if element is not BOOL:
            text += f" : {element or 'index'}"
        return self._constant((text,), text, self.scalar_constants)

    def _constant(self, key: tuple[Any, ...], text: str, known: dict[tuple[Any, ...], str]) -> str:
        if key not in known:
            known[key] = self.new_name()
            self.constants.append(f"{known[key]} = {text} loc({self.location})")
        return known[key]

    def constant(self, array: Any, element: Element | None = None) -> Tensor:
        """Returns a constant tensor; the element type is that of the array unless it is given."""
        if element is None:
            element = of_dtype(np.asarray(array).dtype)
        array = as_tensor_array(array, element)
        return Tensor(element, tuple(array.shape), array=array)

    def integers(self, values: Sequence[Size], element: Element = I64) -> Tensor:
        """Returns a 1-D tensor of integers, each an int or a size."""
        if all(map(is_static, values)):
            return self.constant(np.array([int(value) for value in values if isinstance(value, int)],
                                          element.dtype), element)
        return Tensor(element, (len(values),), integers=tuple(values))

    def use(self, tensor: Tensor) -> str:
        """Returns the SSA value of a tensor; writes ops if it is a constant or made of sizes."""
        if tensor.name is not None:
            return tensor.name
        if tensor.array is not None:
            return self._use_array(tensor, tensor.array)
        assert tensor.integers is not None
        known = self._find(id(tensor))
        if known is not None:
            return known
        names = []
        for value in tensor.integers:
            index = self.size(value)
            names.append(self.emit(f"arith.index_cast {index} : index to {tensor.element}"))
        name = self.emit(f"tensor.from_elements {', '.join(names)} : {tensor.type}")
        self.scopes[-1][id(tensor)] = name
        self._kept.append(tensor)
        return name

    def _use_array(self, tensor: Tensor, array: NDArray[Any]) -> str:
        key = (tensor.type, array.tobytes() if array.nbytes < _FEWEST_BYTES else id(array))
        if key in self.array_constants:
            return self.array_constants[key]
        self._kept.append(tensor)
        return self._constant(key, f"arith.constant {self._literal(tensor, array)} : {tensor.type}",
                              self.array_constants)

    def _literal(self, tensor: Tensor, array: NDArray[Any]) -> str:
        element, flat = tensor.element, array.reshape(-1)
        if array.size and element.kind != "c" and _is_splat(flat.view(f"u{flat.itemsize}")):
            return f"dense<{format_number(flat[0], element)}>"
        if array.nbytes >= _FEWEST_BYTES and element.mlir in _RESOURCES:
            name = f"constant_{len(self.arrays)}"
            self.arrays[name] = array.view(f"u{array.itemsize}")
            return f"dense_resource<{name}>"
        if not array.size:
            return "dense<>" if array.ndim else "dense<0>"

        if array.size >= _FEWEST_IN_HEX and element.mlir in _RESOURCES:
            return f'dense<"0x{flat.tobytes().hex()}">'

        def write(part: NDArray[Any]) -> str:
            if part.ndim:
                return f"[{', '.join(map(write, part))}]"
            if element.kind == "c":
                half = of_dtype(np.dtype(f"f{part.itemsize // 2}"))
                return f"({format_number(part.real, half)}, {format_number(part.imag, half)})"
            return format_number(part, element)

        return f"dense<{write(array)}>"

    def _find(self, key: Any) -> str | None:
        """Returns the SSA value of a key that was written in the current or an enclosing region, or None."""
        return next((scope[key] for scope in reversed(self.scopes) if key in scope), None)

    # --------------------------------------------------------------------- sizes

    def size(self, size: Size) -> str:
        """Returns the SSA value of a size, of type index."""
        if is_static(size):
            return self.scalar_constant(size, None)
        assert isinstance(size, Expr)
        if isinstance(size, Symbol):
            return size.value
        known = self._find(size)
        if known is not None:
            return known
        total = ""
        for monomial, factor in size.terms.items():
            parts = [symbol.value for symbol in monomial]
            if factor != 1 or not parts:
                parts.append(self.scalar_constant(factor, None))
            term = parts[0]
            for part in parts[1:]:
                term = self.emit(f"arith.muli {term}, {part} : index")
            total = self.emit(f"arith.addi {total}, {term} : index") if total else term
        self.scopes[-1][size] = total
        return total

    def write_sizes(self, sizes: Sequence[Size]) -> str:
        """Formats sizes as offsets, sizes or strides of an op, static ones as numbers."""
        return ", ".join(str(size) if is_static(size) else self.size(size) for size in sizes)

    def symbol(self, key: tuple[Any, ...], text: str, is_data: bool = False, is_signed: bool = False) -> Symbol:
        """Returns the size computed by the op `text`, which is written once for each key and region."""
        known = self._find(key)
        if known is not None:
            return self.symbols[known]
        symbol = Symbol(self.emit(text), is_data, is_signed)
        self.scopes[-1][key] = symbol.value
        self.symbols[symbol.value] = symbol
        return symbol

    def _arithmetic(self, name: str, a: Size, b: Size) -> Symbol:
        is_signed = not (any if name == "arith.maxsi" else all)(self.is_less(size, 0) is False for size in (a, b))
        return self.symbol((name, a, b), f"{name} {self.size(a)}, {self.size(b)} : index",
                           is_signed and (is_data(a) or is_data(b)), is_signed)

    def _divide(self, name: str, a: Size, b: Size) -> Symbol:
        """Divides by a size, with an assertion that it is not 0 if it depends on elements of tensors."""
        if is_data(b) and self._find((name, a, b)) is None:
            self.check(self.emit(f"arith.cmpi ne, {self.size(b)}, {self.scalar_constant(0, None)} : index"),
                       "the step of a range or the divisor of a size is 0")
        return self._arithmetic(name, a, b)

    def floor_divide(self, a: Size, b: Size) -> Size:
        """Returns a // b for b > 0."""
        if is_static(a) and is_static(b):
            return a // b
        exact = divide(a, b)
        return exact if exact is not None else self._divide("arith.floordivsi", a, b)

    def ceil_divide(self, a: Size, b: Size) -> Size:
        """Returns a / b rounded up, for b > 0."""
        if is_static(a) and is_static(b):
            return -(-a // b)
        exact = divide(a, b)
        return exact if exact is not None else self._divide("arith.ceildivsi", a, b)

    def modulo(self, a: Size, b: Size) -> Size:
        """Returns a % b for a >= 0 and b > 0."""
        if is_static(a) and is_static(b):
            return a % b
        return self._divide("arith.remsi", a, b)

    def minimum(self, a: Size, b: Size) -> Size:
        if is_static(a - b):
            return a if a - b <= 0 else b  # type: ignore[operator]
        result = self._arithmetic("arith.minsi", a, b)
        self.minima[result] = (a, b)
        return result

    def maximum(self, a: Size, b: Size) -> Size:
        if is_static(a - b):
            return a if a - b >= 0 else b  # type: ignore[operator]
        return self._arithmetic("arith.maxsi", a, b)

    def is_less(self, a: Size, b: Size) -> bool | None:
        """Returns true or false if a < b is known, or None if it is only known at run time."""
        difference = b - a
        if is_static(difference):
            return difference > 0
        if b == 0 and self._find(_checked(a)) is not None:
            return False
        if isinstance(difference, Expr) and not any(symbol.is_signed and self._find(_checked(symbol)) is None
                                                    for monomial in difference.terms for symbol in monomial):
            constant = difference.terms.get((), 0)
            factors = [factor for monomial, factor in difference.terms.items() if monomial]
            if constant > 0 and all(factor > 0 for factor in factors):
                return True
            if constant <= 0 and all(factor < 0 for factor in factors):
                return False
        return None

    def choose(self, predicate: str, a: Size, b: Size, then: Size, other: Size) -> Size:
        """Returns `then` if `a predicate b` holds, else `other`; `predicate` is one of arith.cmpi."""
        if is_static(a - b):
            known = {"eq": a - b == 0, "slt": a - b < 0, "sle": a - b <= 0,  # type: ignore[operator]
                     "sgt": a - b > 0, "sge": a - b >= 0}[predicate]  # type: ignore[operator]
            return then if known else other
        if then == other:
            return then
        condition = self.emit(f"arith.cmpi {predicate}, {self.size(a)}, {self.size(b)} : index")
        return Symbol(self.emit(f"arith.select {condition}, {self.size(then)}, {self.size(other)} : index"),
                      is_data(then) or is_data(other), any(self.is_less(each, 0) is not False for each in (then, other)))

    def dim(self, name: str, type_: str, number: int) -> Symbol:
        """Returns a size of an SSA value, by tensor.dim."""
        return self.symbol(("dim", name, number),
                           f"tensor.dim {name}, {self.scalar_constant(number, None)} : {type_}")

    def tensor_of(self, name: str, element: Element, shape: Sequence[Size | None]) -> Tensor:
        """Returns the Tensor of an SSA value; sizes that are None become symbols, by tensor.dim."""
        type_ = type_of(shape, element)
        return Tensor(element, tuple(self.dim(name, type_, number) if size is None else size
                                     for number, size in enumerate(shape)), name)

    def check(self, condition: str, message: str) -> None:
        """Writes an assertion on an i1 SSA value; its message names the current node."""
        text = f"node '{self.node}': {message}" if self.node else message
        self.emit_many(f"cf.assert {condition}, {json.dumps(text, ensure_ascii=False)}", 0)

    def check_equal(self, a: Size, b: Size, message: str) -> None:
        """Writes an assertion that two sizes are equal, unless this is known."""
        if a != b:
            self.check(self.emit(f"arith.cmpi eq, {self.size(a)}, {self.size(b)} : index"), message)

    def check_at_most(self, a: Size, b: Size, message: str) -> None:
        """Writes an assertion that a <= b, unless this is known. Raises Forbidden if a > b is known."""
        is_larger = self.is_less(b, a)
        if is_larger is None:
            self.check(self.emit(f"arith.cmpi sle, {self.size(a)}, {self.size(b)} : index"), message)
        elif is_larger:
            raise Forbidden(f"{message}: {a} and {b}")

    def check_sizes(self, sizes: Sequence[Size]) -> None:
        """Writes assertions that sizes are not negative, unless this is known."""
        for size in sizes:
            if not is_static(size) and self.is_less(size, 0) is not False:
                self.check(self.emit(f"arith.cmpi sge, {self.size(size)}, {self.scalar_constant(0, None)} : index"),
                           "a size is negative")
                self.set_checked(size)

    def set_checked(self, size: Size) -> None:
        """Records that a size is not negative where the current region continues."""
        self.scopes[-1][_checked(size)] = self.size(size)

    def scalar_of(self, tensor: Tensor) -> Scalar:
        """Returns the element of a tensor with one element."""
        known = tensor.constant_scalar()
        if known is not None and tensor.element.kind != "c":
            return Scalar(self.scalar_constant(known, tensor.element), tensor.element)
        zeros = ", ".join([self.scalar_constant(0, None)] * tensor.rank)
        return Scalar(self.emit(f"tensor.extract {self.use(tensor)}[{zeros}] : {tensor.type}"), tensor.element)

    def size_of(self, tensor: Tensor, number: int = 0) -> Size:
        """Returns an element of an integer tensor of rank 0 or 1 as a size."""
        known = tensor.known_integers()
        if known is not None:
            return known[number]
        place = f"[{self.scalar_constant(number, None)}]" if tensor.rank else "[]"
        value = Scalar(self.emit(f"tensor.extract {self.use(tensor)}{place} : {tensor.type}"), tensor.element)
        return Symbol(self.scalars.index_of(value).name, is_data=True)

    @property
    def scalars(self) -> Scalars:
        return Scalars(self)
