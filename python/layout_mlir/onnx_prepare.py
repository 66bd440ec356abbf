"""Prepares an ONNX model for the import.

  - Functions of the model's own are put in place of their calls.
  - Initializers leave the list of inputs: they are weights.
  - ConstantOfShape and Constant nodes become initializers, Dropout nodes nothing.
  - With `reseed`, every floating-point weight gets seeded random values that keep
    activations in range: the models that the onnx package carries for its tests
    have constant weights and thus degenerate results.
  - The graph is named `main`, a node without a name after its result. The model
    is converted to opset 17, and all shapes are inferred; computations on
    constants and on sizes that are known become constants (onnx_shapes.py).
  - What would be imported wrongly and has another form gets it (onnx_rewrites.py,
    onnx_functions.py).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_functions import replace_by_function
from layout_mlir.onnx_refusals import describe
from layout_mlir.onnx_rewrites import Refused, rewrite
from layout_mlir.onnx_shapes import fold_constants, is_known

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

    # The nodes that take a tensor, and as which operand.
    _Consumers = dict[str, list[tuple[NodeProto, int]]]

OPSET = 17


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """The nodes of the graph and of the graphs in their attributes."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                yield from _nodes(inner)


def _used_names(graph: GraphProto) -> set[str]:
    """What nodes take, those in subgraphs included, which see the names around them."""
    return ({name for node in _nodes(graph) for name in node.input}
            | {output.name for output in graph.output}
            | {output.name for node in _nodes(graph) for attribute in node.attribute
               for inner in [attribute.g, *attribute.graphs] for output in inner.output})


def _constant_nodes_to_initializers(graph: GraphProto) -> None:
    """Folds Constant and ConstantOfShape nodes with known shapes."""
    from onnx import numpy_helper

    known = {tensor.name: tensor for tensor in graph.initializer}
    kept = []
    for node in graph.node:
        attributes = {a.name: a for a in node.attribute}
        if node.op_type == "Constant" and "value" in attributes:
            array = numpy_helper.to_array(attributes["value"].t)
        elif node.op_type == "ConstantOfShape" and node.input[0] in known:
            shape = numpy_helper.to_array(known[node.input[0]])
            fill = (numpy_helper.to_array(attributes["value"].t).reshape(-1)[0]
                    if "value" in attributes else np.float32(0))
            array = np.full(shape, fill)
        else:
            kept.append(node)
            continue
        tensor = numpy_helper.from_array(array, node.output[0])
        known[tensor.name] = tensor
        graph.initializer.append(tensor)
    del graph.node[:]
    graph.node.extend(kept)


def _dropout_to_identity(graph: GraphProto) -> None:
    """Inference drops nothing; the converter refuses some forms of Dropout."""
    used = _used_names(graph)
    for node in graph.node:
        training = len(node.input) > 2 and node.input[2]
        mask = len(node.output) > 1 and node.output[1] in used
        if node.op_type == "Dropout" and not training and not mask:
            node.op_type = "Identity"
            del node.attribute[:], node.input[1:], node.output[1:]


def _drop_unused_initializers(graph: GraphProto) -> None:
    used = _used_names(graph)
    for number in reversed(range(len(graph.initializer))):
        if graph.initializer[number].name not in used:
            del graph.initializer[number]


_VIEWS = {"Unsqueeze", "Squeeze", "Reshape", "Identity"}


def _role(consumers: _Consumers, name: str) -> tuple[NodeProto, int] | None:
    """What a weight is for: (operator, index of the operand), seen through views."""
    for node, index in consumers.get(name, []):
        if node.op_type in _VIEWS and index == 0:
            role = _role(consumers, node.output[0])
            if role:
                return role
        else:
            return node, index
    return None


def _draw(rng: np.random.Generator, role: tuple[NodeProto, int] | None, shape: tuple[int, ...],
          consumers: _Consumers) -> NDArray[Any]:
    """Random values for a weight in that role."""
    if role is None:
        return rng.standard_normal(shape)
    node, index = role
    op = node.op_type
    attributes = {a.name: a for a in node.attribute}
    if op in ("Conv", "ConvTranspose") and index == 1:
        fan_in = int(np.prod(shape[1:]))
        return rng.standard_normal(shape) * math.sqrt(2 / fan_in)
    if op in ("Gemm", "MatMul") and index in (0, 1):
        transposed = op == "Gemm" and "transB" in attributes and attributes["transB"].i
        fan_in = shape[-1] if transposed else shape[-2]
        return rng.standard_normal(shape) * math.sqrt(1 / fan_in)
    if op == "BatchNormalization" and index in (1, 4):  # scale and variance
        # The end of a residual branch is scaled down, or the sums would grow.
        ends_branch = any(consumer.op_type in ("Add", "Sum")
                          for consumer, _ in consumers.get(node.output[0], []))
        return rng.uniform(0.8, 1.2, shape) * (0.25 if index == 1 and ends_branch else 1)
    if op in ("Mul", "Div"):
        return rng.uniform(0.8, 1.2, shape)
    return rng.standard_normal(shape) * 0.1  # biases, means, shifts


def _reseed(graph: GraphProto, seed: int) -> None:
    from onnx import numpy_helper

    consumers: _Consumers = {}
    for node in graph.node:
        for index, name in enumerate(node.input):
            consumers.setdefault(name, []).append((node, index))
    for tensor in graph.initializer:
        old = numpy_helper.to_array(tensor)
        if not np.issubdtype(old.dtype, np.floating) or old.size == 1:
            continue  # sizes, axes, and scalar parameters keep their meaning
        rng = np.random.default_rng([seed, zlib.crc32(tensor.name.encode())])
        new = _draw(rng, _role(consumers, tensor.name), old.shape, consumers)
        tensor.CopyFrom(numpy_helper.from_array(
            np.asarray(new, dtype=old.dtype), tensor.name))


def _is_imported_wrongly(node: NodeProto) -> bool:
    """The import of attention ends without a message; that of a Gelu by tanh has another square root
    of 2 / pi from the fourth digit on. Axes of a normalization have to become constant."""
    return node.op_type in ("Attention", "RotaryEmbedding", "RMSNormalization") or (
        node.op_type == "Gelu" and any(each.s == b"tanh" for each in node.attribute))


def _is_weight(tensor: TensorProto) -> bool:
    """Whether a tensor decides no shape: many numbers that are not integers."""
    from onnx import helper

    kind = helper.tensor_dtype_to_np_dtype(tensor.data_type)
    return math.prod(tensor.dims) >= 1024 and np.issubdtype(kind, np.floating)


def find_weights(graph: GraphProto) -> dict[str, TensorProto]:
    """The weights, by name."""
    return {tensor.name: tensor for tensor in graph.initializer if _is_weight(tensor)}


def take_weights(graph: GraphProto) -> dict[str, TensorProto]:
    """Makes the weights the last inputs: a library then does not copy them with the graph."""
    from onnx import helper

    weights = find_weights(graph)
    rest = [tensor for tensor in graph.initializer if tensor.name not in weights]
    del graph.initializer[:]
    graph.initializer.extend(rest)
    graph.input.extend(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
                       for tensor in weights.values())
    return weights


def _put_weights(graph: GraphProto, weights: Mapping[str, TensorProto]) -> None:
    """Makes initializers of the inputs that are weights."""
    used = _used_names(graph)
    inputs = [value for value in graph.input if value.name not in weights]
    del graph.input[:]
    graph.input.extend(inputs)
    graph.initializer.extend(tensor for name, tensor in weights.items() if name in used)


def _infer(model: ModelProto) -> ModelProto:
    """The model with all shapes inferred."""
    from onnx import shape_inference

    return shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)


def settle(model: ModelProto, is_function: Callable[[NodeProto], bool] = _is_imported_wrongly) -> ModelProto:
    """The model with all shapes inferred, constants computed, and the functions of their operators in
    place of some nodes: each of these may be what another one needs."""
    import onnx

    weights = take_weights(model.graph)
    while True:
        model = _infer(model)
        if not replace_by_function(model, is_function) and not fold_constants(model, weights):
            break
        _constant_nodes_to_initializers(model.graph)
    rewrite(model, weights)
    _drop_unused_initializers(model.graph)
    model = _infer(model)
    onnx.checker.check_model(model)
    _put_weights(model.graph, weights)
    return model


# Some of ONNX Runtime's own operators are taken.
_DOMAINS = {"", "ai.onnx", "com.microsoft"}


def prepare(model: ModelProto, reseed: int | None = None) -> ModelProto:
    """The model as described at the top; `reseed` is a seed or None."""
    import onnx
    from onnx import checker, inliner, shape_inference, version_converter  # noqa: F401

    if model.functions:
        model = inliner.inline_local_functions(model)
    for node in _nodes(model.graph):
        if node.domain not in _DOMAINS:
            raise Refused(describe(node, "ONNX does not define it"))
    graph = model.graph
    for value in [*graph.output, *graph.value_info]:  # some exporters write -1 for an open size
        for dim in value.type.tensor_type.shape.dim:
            if not is_known(dim):
                dim.ClearField("dim_value")
    # From version 4 of the format on, a weight need not be listed as an input.
    model.ir_version = max(model.ir_version, 8)
    if not any(imported.domain in ("", "ai.onnx") for imported in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid("", OPSET))
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    del graph.input[:]
    graph.input.extend(inputs)
    _constant_nodes_to_initializers(graph)
    _dropout_to_identity(graph)
    _drop_unused_initializers(graph)
    if reseed is not None:
        _reseed(graph, reseed)
    if any(imported.domain in ("", "ai.onnx") and imported.version < OPSET
           for imported in model.opset_import):
        model = onnx.version_converter.convert_version(model, OPSET)
        # The converter makes Constant nodes of attributes that became inputs.
        _constant_nodes_to_initializers(model.graph)
    model.graph.name = "main"
    for node in _nodes(model.graph):  # messages and locations name nodes
        node.name = node.name or next(filter(None, node.output), "")
    return settle(model)
