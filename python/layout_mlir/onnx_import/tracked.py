"""Arithmetic at import on small integer tensors with known elements, which are sizes and ints.

    add = track(b, lambda a, c: a + c, [x, y])      None if an element of x or y is not known

The result of Shape stays a list of sizes through Add, Div, Where and similar operators, so that shapes that Reshape or
Expand read are known.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL, I32, I64, Element
from layout_mlir.onnx_import.sizes import Size, divide, is_static
from layout_mlir.onnx_import.values import MOST_TRACKED, Tensor

# A function of one element of each tensor; returns None if the result is only known at run time.
Function = Callable[..., "Size | None"]


def tensor_of(b: Builder, values: Sequence[Size], shape: Sequence[Size], element: Element) -> Tensor | None:
    """Returns a tensor of the elements, or None if one is out of range of the element type."""
    static = [value for value in values if isinstance(value, int)]
    if any(not element.lowest <= value <= element.highest for value in static):
        return None
    if len(static) == len(values):
        return b.constant(np.array(static, element.dtype).reshape([size for size in shape if isinstance(size, int)]),
                          element)
    return Tensor(element, tuple(shape), integers=tuple(values))


def track(b: Builder, function: Function, tensors: Sequence[Tensor], element: Element | None = None) -> Tensor | None:
    """Returns `function` applied to the elements of tensors with broadcasting, or None if the result is not known at
    import. The result has the element type of the first tensor, unless `element` is given."""
    element = element or tensors[0].element
    known = [tensor.known_integers() for tensor in tensors]
    if element not in (I32, I64, BOOL) or all(tensor.integers is None for tensor in tensors):
        return None
    arrays: list[Any] = []
    for tensor, integers in zip(tensors, known):
        if integers is None or not tensor.is_static:
            return None
        array = np.empty(len(integers), object)
        array[:] = integers
        arrays.append(array.reshape([int(size) for size in tensor.shape if isinstance(size, int)]))
    arrays = list(np.broadcast_arrays(*arrays))
    if arrays[0].size > MOST_TRACKED:
        return None
    values = []
    for elements in zip(*(array.reshape(-1).tolist() for array in arrays)):
        value = function(*elements)
        if value is None:
            return None
        values.append(value)
    return tensor_of(b, values, arrays[0].shape, element)


def is_at_least_zero(b: Builder, a: Size) -> bool:
    """Returns true if a size is known to be nonnegative."""
    return a >= 0 if isinstance(a, int) else b.is_less(a, 0) is False


def quotient(b: Builder, a: Size, c: Size) -> Size | None:
    """Returns the quotient rounded towards zero, or None if it is not known."""
    if isinstance(a, int) and isinstance(c, int):
        return None if c == 0 else abs(a) // abs(c) * (1 if (a < 0) == (c < 0) else -1)
    exact = divide(a, c) if c != 0 else None
    if exact is not None:
        return exact
    return b.floor_divide(a, c) if c != 0 and is_at_least_zero(b, a) and is_at_least_zero(b, c) else None


def remainder(b: Builder, a: Size, c: Size, has_sign_of_divisor: bool) -> Size | None:
    if isinstance(a, int) and isinstance(c, int):
        if c == 0:
            return None
        return a % c if has_sign_of_divisor else a - c * (abs(a) // abs(c)) * (1 if (a < 0) == (c < 0) else -1)
    return b.modulo(a, c) if c != 0 and is_at_least_zero(b, a) and is_at_least_zero(b, c) else None


def absolute(b: Builder, a: Size) -> Size | None:
    if isinstance(a, int):
        return abs(a)
    return a if is_at_least_zero(b, a) else None


def holds(b: Builder, predicate: str, a: Size, c: Size) -> bool | None:
    """Returns true or false if `a predicate c` is known, with predicates of Scalars.compare, else None."""
    if predicate in ("eq", "ne"):
        difference = a - c
        differs = difference != 0 if is_static(difference) else b.is_less(a, c) or b.is_less(c, a) or None
        return None if differs is None else differs == (predicate == "ne")
    less = b.is_less(c, a) if predicate in ("gt", "le") else b.is_less(a, c)
    return None if less is None else less == (predicate in ("lt", "gt"))


def select(b: Builder, condition: Tensor, x: Tensor, y: Tensor) -> Tensor | None:
    """Returns Where with a constant condition, or None if the result is not known."""
    if condition.array is None:
        return None
    return track(b, lambda c, then, other: then if c else other, [condition, x, y], x.element)


def reduce(b: Builder, function: Callable[[Size, Size], Size], tensor: Tensor, keepdims: bool) -> Tensor | None:
    """Returns a tensor with the combination of all elements, or None if they are not known."""
    if not tensor.integers or tensor.element not in (I32, I64):
        return None
    *_, total = itertools.accumulate(tensor.integers, function)
    return tensor_of(b, [total], [1] * tensor.rank if keepdims else [], tensor.element)
