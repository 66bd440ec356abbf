"""Shapes of the inputs of a model: which sizes are dynamic, and those that a user states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, TensorShapeProto


class WrongShape(ValueError):
    """A shape that does not fit the model; the message says why."""


def is_known(dim: TensorShapeProto.Dimension) -> bool:
    """Returns true if a size is a number; some exporters write -1 for one that is dynamic."""
    return dim.HasField("dim_value") and dim.dim_value >= 0


def has_dynamic_sizes(graph: GraphProto) -> bool:
    """Returns true if the size of some input is dynamic."""
    return any(not is_known(dim) for value in graph.input for dim in value.type.tensor_type.shape.dim)


def set_shapes(model: ModelProto, shapes: Mapping[str | int, Sequence[int]]) -> None:
    """Gives inputs, by name or position, the shapes that are stated; raises WrongShape if one does not fit."""
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    for key, shape in shapes.items():
        names = [value.name for value in inputs]
        if key not in names and not (isinstance(key, int) and key < len(inputs)):
            raise WrongShape(f"the model has no input {key!r}: it has {', '.join(names) or 'none'}")
        value = inputs[key if isinstance(key, int) else names.index(key)]
        tensor = value.type.tensor_type
        dims = tensor.shape.dim
        if tensor.HasField("shape") and len(dims) != len(shape):
            raise WrongShape(f"input '{value.name}' has {len(dims)} dims, not {len(shape)}")
        for number, (dim, size) in enumerate(zip(dims, shape)):
            if is_known(dim) and dim.dim_value != size:
                raise WrongShape(f"dim {number} of input '{value.name}' is {dim.dim_value}, not {size}")
        sizes_by_name = {dim.dim_param: size for dim, size in zip(dims, shape) if dim.dim_param}
        del dims[:]
        for size in shape:
            dims.add().dim_value = size
        _set_named_sizes(model.graph, sizes_by_name)


def _set_named_sizes(graph: GraphProto, sizes: Mapping[str, int]) -> None:
    """Sets a size in every input that gives it the same name."""
    for value in graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
