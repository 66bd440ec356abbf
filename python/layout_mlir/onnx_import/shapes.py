"""Shapes of a model's inputs: finds dynamic sizes, and sets the shapes that a user states.

An input that is a sequence is replaced by one input for each stated shape, `name[0]`, `name[1]`, .. An optional input
has a value if its shape is stated, and is empty otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Union, cast

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorShapeProto, TypeProto, ValueInfoProto

# The shape of a tensor, the shapes of a sequence's tensors, or None for an empty optional.
Shape = Union[Sequence[int], Sequence[Sequence[int]], None]


class WrongShape(ValueError):
    """Raised if a shape does not fit the model; the message says why."""


def is_known(dim: TensorShapeProto.Dimension) -> bool:
    """Returns true if a size is static; some exporters write -1 for a dynamic size."""
    return dim.HasField("dim_value") and dim.dim_value >= 0


def has_dynamic_sizes(graph: GraphProto) -> bool:
    """Returns true if an input has a dynamic size."""
    return any(not is_known(dim) for value in graph.input for dim in value.type.tensor_type.shape.dim)


def inputs_of(graph: GraphProto) -> list[ValueInfoProto]:
    """Returns the inputs of a graph, excluding weights."""
    weights = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in weights]


def set_shapes(model: ModelProto, shapes: Mapping[str | int, Shape]) -> None:
    """Sets the shapes of inputs, by name or position; raises WrongShape if one does not fit."""
    graph = model.graph
    inputs = inputs_of(graph)
    names = [value.name for value in inputs]
    parts: dict[str, list[ValueInfoProto]] = {}
    nodes: list[NodeProto] = []
    for key, shape in shapes.items():
        if key not in names and not (isinstance(key, int) and key < len(inputs)):
            raise WrongShape(f"the model has no input {key!r}: inputs are {', '.join(names) or 'none'}")
        value = inputs[key if isinstance(key, int) else names.index(key)]
        if value.type.HasField("tensor_type"):
            _set_shape(graph, value, shape)
        else:
            parts[value.name], made = _split(value.name, value.type, shape)
            nodes += made
    if parts:
        kept = [each for value in graph.input for each in parts.get(value.name, [value])]
        whole = [*nodes, *graph.node]
        del graph.input[:], graph.node[:]
        graph.input.extend(kept)
        graph.node.extend(whole)


def _set_shape(graph: GraphProto, value: ValueInfoProto, shape: Shape) -> None:
    tensor = value.type.tensor_type
    dims = tensor.shape.dim
    sizes = _sizes(value.name, shape)
    if tensor.HasField("shape") and len(dims) != len(sizes):
        raise WrongShape(f"input '{value.name}' has {len(dims)} dims, not {len(sizes)}")
    for number, (dim, size) in enumerate(zip(dims, sizes)):
        if is_known(dim) and dim.dim_value != size:
            raise WrongShape(f"dim {number} of input '{value.name}' is {dim.dim_value}, not {size}")
    sizes_by_name = {dim.dim_param: size for dim, size in zip(dims, sizes) if dim.dim_param}
    del dims[:]
    for size in sizes:
        dims.add().dim_value = size
    _set_named_sizes(graph, sizes_by_name)


def _sizes(name: str, shape: Shape) -> list[int]:
    if shape is None or not all(isinstance(size, int) for size in shape):
        raise WrongShape(f"input '{name}' is a tensor: state one shape for it")
    return [size for size in shape if isinstance(size, int)]


def _split(name: str, kind: TypeProto, shape: Shape) -> tuple[list[ValueInfoProto], list[NodeProto]]:
    """Returns the tensors of a sequence or optional input, and the nodes that construct the input from them."""
    from onnx import helper

    if kind.HasField("optional_type"):
        inner = kind.optional_type.elem_type
        if shape is None:
            return [], [helper.make_node("Optional", [], [name], name, type=inner)]
        if inner.HasField("tensor_type"):
            part = helper.make_tensor_value_info(f"{name}.value", inner.tensor_type.elem_type, _sizes(name, shape))
            return [part], [helper.make_node("Optional", [part.name], [name], name)]
        parts, nodes = _split(f"{name}.value", inner, shape)
        return parts, [*nodes, helper.make_node("Optional", [f"{name}.value"], [name], name)]
    if shape is None or any(isinstance(each, int) for each in shape):
        raise WrongShape(f"input '{name}' is a sequence: state a shape for each of its tensors")
    element = kind.sequence_type.elem_type.tensor_type.elem_type
    parts = [helper.make_tensor_value_info(f"{name}[{number}]", element, _sizes(name, cast("Sequence[int]", each)))
             for number, each in enumerate(shape)]
    if not parts:
        return [], [helper.make_node("SequenceEmpty", [], [name], name, dtype=element)]
    return parts, [helper.make_node("SequenceConstruct", [part.name for part in parts], [name], name)]


def _set_named_sizes(graph: GraphProto, sizes: Mapping[str, int]) -> None:
    """Sets a size in every input in which it has this name."""
    for value in graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
