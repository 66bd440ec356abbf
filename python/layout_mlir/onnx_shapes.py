"""Shapes of an ONNX graph: sizes that the user states, and what is constant then.

Exporters write the size of a view as nodes (Shape, Gather, Concat, Reshape), a choice by a size as
an If, and a filter bank or a window as the nodes that compute it. Where all sizes are known these
are constants, and views of constant shape are what every later step is best at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TensorShapeProto, ValueInfoProto

_MOST = 1 << 20  # elements of a tensor that is computed here
# These make many bytes out of few, which stay few.
_PACKED = {"DequantizeLinear", "Expand", "Tile"}


class WrongShape(ValueError):
    """A shape that does not fit the model; the message says why."""


def is_known(dim: TensorShapeProto.Dimension) -> bool:
    """Whether a size is a number; some exporters write -1 for one that is open."""
    return dim.HasField("dim_value") and dim.dim_value >= 0


def has_open_sizes(graph: GraphProto) -> bool:
    """Whether the size of some input is open."""
    return any(not is_known(dim) for value in graph.input for dim in value.type.tensor_type.shape.dim)


def copy(model: ModelProto) -> ModelProto:
    """A model of its own."""
    result = type(model)()
    result.CopyFrom(model)
    return result


def set_shapes(model: ModelProto, shapes: Mapping[str | int, Sequence[int]]) -> None:
    """Gives inputs, by name or position, the shapes that are stated."""
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
        names_of_sizes = {dim.dim_param: size for dim, size in zip(dims, shape) if dim.dim_param}
        del dims[:]
        for size in shape:
            dims.add().dim_value = size
        _set_named_sizes(model.graph, names_of_sizes)
    if shapes:
        # What was inferred from the open sizes.
        del model.graph.value_info[:]


def _set_named_sizes(graph: GraphProto, sizes: Mapping[str, int]) -> None:
    """The same name is the same size in every input."""
    for value in graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]


def _static_shape(value: ValueInfoProto) -> list[int] | None:
    tensor = value.type.tensor_type
    dims = tensor.shape.dim
    if not tensor.HasField("shape") or not all(map(is_known, dims)):
        return None
    return [dim.dim_value for dim in dims]


def _get_shape(node: NodeProto, shape: Sequence[int]) -> NDArray[Any]:
    """What Shape gives: a slice of the sizes."""
    attributes = {each.name: each.i for each in node.attribute}
    return np.array(shape[attributes.get("start", 0):attributes.get("end", len(shape))], np.int64)


def _evaluate(model: ModelProto, node: NodeProto, inputs: Sequence[NDArray[Any]]) -> list[Any] | None:
    """The outputs of one node on constants, or None where it cannot be computed."""
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    names = [name for name in node.input if name]
    graph = helper.make_graph(
        [node], "node",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
         for name, array in zip(names, inputs)],
        [helper.make_empty_tensor_value_info(name) for name in node.output])
    one = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    try:
        return list(ReferenceEvaluator(one).run(None, dict(zip(names, inputs))))
    except Exception:  # whatever an operator of the reference raises
        return None


def _is_small(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype != object and array.size <= _MOST


def _rename(nodes: Iterable[NodeProto], names: Mapping[str, str]) -> None:
    """In these nodes and the graphs in their attributes."""
    for node in nodes:
        for field in (node.input, node.output):
            for number, name in enumerate(field):
                field[number] = names.get(name, name)
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                _rename(inner.node, names)
                for value in inner.output:
                    value.name = names.get(value.name, value.name)


def _take_branch(node: NodeProto, is_true: bool, graph: GraphProto) -> list[NodeProto]:
    """The nodes of the branch of an If whose condition is known, under names of their own."""
    from onnx import helper

    branch = next(each.g for each in node.attribute
                  if each.name == ("then_branch" if is_true else "else_branch"))
    prefix = node.name or node.output[0]
    names = {name: f"{prefix}/{name}" for name in
             [*(name for inner in branch.node for name in inner.output if name),
              *(tensor.name for tensor in branch.initializer)]}
    _rename(branch.node, names)
    for tensor in branch.initializer:
        tensor.name = names[tensor.name]
        graph.initializer.append(tensor)
    for inner in branch.node:
        inner.name = f"{prefix}/{inner.name}"
    return [*branch.node,
            *(helper.make_node("Identity", [names.get(value.name, value.name)], [name])
              for value, name in zip(branch.output, node.output))]


def fold_constants(model: ModelProto, weights: Mapping[str, TensorProto]) -> bool:
    """Replaces computations on sizes that are known and on other constants by their results, and an
    If whose condition is one of them by the branch that it takes; True where there were any. The
    weights are constants that the model has as inputs."""
    from onnx import numpy_helper

    graph = model.graph
    constants = {tensor.name: tensor for tensor in [*graph.initializer, *weights.values()]
                 if np.prod(tensor.dims) <= _MOST}
    shapes = {value.name: _static_shape(value)
              for value in [*graph.input, *graph.value_info, *graph.output]
              if value.type.HasField("tensor_type")}
    shapes.update({tensor.name: list(tensor.dims) for tensor in graph.initializer})
    results = {value.name for value in graph.output}
    kept, folded = [], False
    for node in graph.node:
        if node.op_type == "If" and node.input[0] in constants:
            kept.extend(_take_branch(node, bool(numpy_helper.to_array(constants[node.input[0]]).all()), graph))
            folded = True
            continue
        names = [name for name in node.input if name]
        outputs = None
        if node.op_type == "Shape" and (shape := shapes.get(node.input[0])) is not None:
            outputs = [_get_shape(node, shape)]
        elif (names and node.domain in ("", "ai.onnx") and node.op_type not in _PACKED
              and all(name in constants for name in names)
              and not any(each.HasField("g") for each in node.attribute)):
            outputs = _evaluate(model, node, [numpy_helper.to_array(constants[name]) for name in names])
        if outputs is None or not all(map(_is_small, outputs)) or results & set(node.output):
            kept.append(node)
            continue
        for name, array in zip(node.output, outputs):
            constants[name] = numpy_helper.from_array(array, name)
            graph.initializer.append(constants[name])
        folded = True
    del graph.node[:]
    graph.node.extend(kept)
    return folded
