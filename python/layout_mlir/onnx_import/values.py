"""Values of a graph during import: tensors, sequences of tensors, optionals, and scalars in the body of an op."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.elements import BOOL, Element
from layout_mlir.onnx_import.sizes import Size, is_static, product

# The limit for elements of an integer tensor that are tracked individually, as those of a shape.
MOST_TRACKED = 64


def type_of(shape: Sequence[Size | None], element: Element | str) -> str:
    """Returns the MLIR type of a tensor; sizes that are dynamic or None are written as `?`."""
    return "tensor<" + "".join(f"{size if isinstance(size, int) else '?'}x" for size in shape) + f"{element}>"


@dataclasses.dataclass(eq=False)
class Tensor:
    """A tensor value.

    `name` is its SSA value, or None for a constant without a use. `array` holds the elements of a constant. `integers`
    holds the elements of a small integer tensor in row-major order, each an int or a dynamic size: results of Shape and
    of arithmetic on sizes. `is_of_sizes` is true if the elements depend on sizes of inputs only. `may_be_scalar` is true
    if it has one element and at run time possibly a lower rank: the result of an If whose branches return ranks 0 and 1.
    """
    element: Element
    shape: tuple[Size, ...]
    name: str | None = None
    array: NDArray[Any] | None = None
    integers: tuple[Size, ...] | None = None
    is_of_sizes: bool = False
    may_be_scalar: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> str:
        return type_of(self.shape, self.element)

    @property
    def is_static(self) -> bool:
        """True if all sizes are static."""
        return all(map(is_static, self.shape))

    @property
    def count(self) -> Size:
        """The number of elements."""
        return product(self.shape)

    def known_integers(self) -> tuple[Size, ...] | None:
        """Returns the elements as ints and sizes, or None if they are not known at import."""
        if self.integers is not None:
            return self.integers
        if self.array is not None and self.array.size <= MOST_TRACKED and (
                self.element.is_integer or self.element is BOOL):
            return tuple(int(each) for each in self.array.reshape(-1))
        return None

    def constant_scalar(self) -> Any:
        """Returns the element of a constant with one element as a Python number, else None."""
        if self.array is not None and self.array.size == 1:
            return self.array.reshape(-1)[0].item()
        return None


@dataclasses.dataclass(frozen=True)
class Bytes:
    """8-bit integers with their scales and zero points: one, or one for each index of the dim `axis`. A zero point of
    None is 0."""
    values: Tensor
    scale: Tensor
    zero: Tensor | None
    axis: int = 0


@dataclasses.dataclass(eq=False)
class Sequence_:
    """A sequence of known length."""
    items: list[Tensor]


@dataclasses.dataclass(eq=False)
class Optional_:
    """An optional that is known to hold a value or to be empty."""
    value: Tensor | Sequence_ | None


Value = Union[Tensor, Sequence_, Optional_]


class Forbidden(ValueError):
    """Raised for inputs or attributes that an operator does not allow; the message says why."""


def describe_type(value: Value | None) -> str:
    """Returns the type of an input of a node, for messages."""
    if isinstance(value, Tensor):
        return value.type
    return {Sequence_: "a sequence", Optional_: "an optional"}.get(type(value), "none")


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A scalar SSA value in the body of an op. `element` is None for a value of type index."""
    name: str
    element: Element | None

    @property
    def type(self) -> str:
        return self.element.mlir if self.element else "index"


def as_tensor_array(array: Any, element: Element) -> NDArray[Any]:
    """Returns `array` as a contiguous array of the element type."""
    return np.ascontiguousarray(np.asarray(array, dtype=element.dtype)).reshape(np.shape(array))


def depends_on_sizes(tensor: Tensor) -> bool:
    """Returns true if the elements of a tensor depend on sizes of inputs only, or are constants."""
    return tensor.is_of_sizes or tensor.array is not None or tensor.integers is not None
