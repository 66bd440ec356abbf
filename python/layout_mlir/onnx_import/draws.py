"""Random inputs on which a model is compared with a runtime."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.elements import BY_CODE, name_of_code
from layout_mlir.onnx_import.shapes import has_dynamic_sizes, is_known

if TYPE_CHECKING:
    from onnx import GraphProto, ValueInfoProto

# The values tried for dynamic sizes, and the ranges of integers, in order.
_SIZES = [3, 16, 64, 224]
# Those of images and sequences, for models whose windows are larger than the sizes drawn first.
LARGER_SIZES = [16, 64, 224]
# Those tried after them for windows that are still larger, as those of sounds are.
LARGEST_SIZES = [1024, 16384]
_RANGES = [(-8, 8), (0, 2), (1, 2), (0, 1)]
_ELEMENTS = 1 << 26  # the limit of an input; excludes several dynamic sizes of 224
_STATIC_ELEMENTS = 1 << 28  # the limit of an input whose sizes are static


class NotCompared(RuntimeError):
    """Raised if results cannot be compared; the message says why."""


@dataclasses.dataclass(frozen=True)
class _Sizes:
    """The values of dynamic sizes: of the first dim of an input, of dims before static ones, and of the others."""
    first: int
    inner: int
    last: int


def _shape(value: ValueInfoProto, sizes: _Sizes, symbols: dict[Any, int]) -> list[int]:
    """Returns the shape of an input. `symbols` keeps the value of each dynamic size by name, so that sizes with one name
    are equal."""
    dims = value.type.tensor_type.shape.dim

    def choose(number: int) -> int:
        return sizes.first if number == 0 else sizes.inner if _is_inner(value, number) else sizes.last

    return [dim.dim_value if is_known(dim) else symbols.setdefault(dim.dim_param or (value.name, number), choose(number))
            for number, dim in enumerate(dims)]


def _is_inner(value: ValueInfoProto, number: int) -> bool:
    """Returns true if a dim is dynamic and the dims after it, of which there is one, are static. It may be a batch, as
    in the state of a recurrent network."""
    dims = value.type.tensor_type.shape.dim
    return number > 0 and not is_known(dims[number]) and number + 1 < len(dims) and all(map(is_known, dims[number + 1:]))


def _find_cases(graph: GraphProto) -> dict[str, list[int]]:
    """Returns the integers that the graph compares inputs to, for example the sampling rates of a speech model."""
    from onnx import numpy_helper

    constants = {tensor.name: tensor for tensor in graph.initializer}
    constants |= {node.output[0]: each.t for node in graph.node if node.op_type == "Constant"
                  for each in node.attribute if each.name == "value"}
    inputs = {value.name for value in graph.input} - set(constants)
    cases: dict[str, list[int]] = {}
    for node in graph.node:
        pairs = [node.input, node.input[::-1]] if node.op_type == "Equal" else []
        for name, constant in pairs:
            if name in inputs and constant in constants:
                array = numpy_helper.to_array(constants[constant])
                cases.setdefault(name, []).extend(map(int, array.reshape(-1) if array.size == 1 else []))
    return {name: values for name, values in cases.items() if values}


def _draw(graph: GraphProto, rng: np.random.Generator, sizes: _Sizes, low: int, high: int,
          case: Mapping[str, int]) -> list[NDArray[Any]]:
    """Draws random inputs. Integers are at least `low` and less than `high`. Each element of an input in `case` has the
    given value instead."""
    from onnx import TensorProto, helper

    inputs: list[NDArray[Any]] = []
    symbols: dict[Any, int] = {}
    for value in graph.input:
        if not value.type.HasField("tensor_type"):
            raise NotCompared(f"input '{value.name}' is not a tensor")
        code = value.type.tensor_type.elem_type
        if code not in BY_CODE and code != TensorProto.STRING:
            raise NotCompared(f"input '{value.name}' has elements of type {name_of_code(code)}")
        dtype = helper.tensor_dtype_to_np_dtype(code)
        if dtype == object:
            raise NotCompared(f"input '{value.name}' holds strings")
        shape = _shape(value, sizes, symbols)
        array: NDArray[Any]
        if value.name in case:
            array = np.full(shape, case[value.name])
        elif dtype.kind in "iu":
            array = rng.integers(max(low, 0) if dtype.kind == "u" else low, high, shape)
        elif dtype.kind == "b":
            array = rng.integers(0, 2, shape)
        elif dtype.kind == "c":
            array = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        else:
            array = rng.standard_normal(shape)
        inputs.append(np.asarray(array).astype(dtype))
    return inputs


def _most_elements(graph: GraphProto, sizes: _Sizes) -> int:
    """Returns the number of elements of the largest input."""
    return max((math.prod(_shape(value, sizes, {})) for value in graph.input), default=0)


def draw_inputs(graph: GraphProto, seed: int, first: int | None = None,
                values_of_sizes: Sequence[int] = _SIZES) -> Iterator[list[NDArray[Any]]]:
    """Yields random inputs to try: with different dynamic sizes, ranges of integers, and values that the graph compares
    inputs to, if it has such inputs. `first` is the value of a dynamic first size, for example the batch."""
    types = [value.type.tensor_type for value in graph.input]
    dynamic = has_dynamic_sizes(graph)
    if not dynamic and _most_elements(graph, _Sizes(1, 1, 1)) > _STATIC_ELEMENTS:
        raise NotCompared(f"an input has more than {_STATIC_ELEMENTS} elements, more than are drawn: export the model "
                          "for a smaller input")
    integers = any(each.elem_type in (2, 3, 4, 5, 6, 7, 12, 13) for each in types)
    values = _find_cases(graph)
    longest = max(map(len, values.values()), default=0)
    cases: list[dict[str, int]] = [{name: each[number % len(each)] for name, each in values.items()}
                                   for number in range(longest)]
    has_inner = any(_is_inner(value, number) for value in graph.input for number in range(
        len(value.type.tensor_type.shape.dim)))
    tried = []
    for size in values_of_sizes if dynamic else values_of_sizes[:1]:
        tried += [_Sizes(first or size, size, size)] + [_Sizes(1, 1, size)] * has_inner
    if dynamic:
        tried += [_Sizes(first or size, 1, 1) for size in values_of_sizes]
    for sizes in tried:
        if dynamic and _most_elements(graph, sizes) > _ELEMENTS:
            continue
        for case in [*cases, {}]:
            for low, high in _RANGES if integers else _RANGES[:1]:
                yield _draw(graph, np.random.default_rng(seed), sizes, low, high, case)
