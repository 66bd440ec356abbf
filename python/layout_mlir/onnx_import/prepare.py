"""Prepares an ONNX model for the import.

  - Nodes are sorted such that each one is behind those that compute its operands, also captured ones.
  - The domain "ai.onnx" becomes "", its other name.
  - Calls of model-local functions are inlined, with the default values of their attributes.
  - Initializers are removed from the list of inputs.
  - With `reseed`, every floating-point weight gets seeded random values that keep
    activations in range: the models in the onnx package's tests have constant
    weights and thus degenerate results.
  - A node without a name is named after its first output, and a graph without a name is named "graph".
"""

from __future__ import annotations

import graphlib
import heapq
import math
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.errors import ImportFailed
from layout_mlir.onnx_import.graph import subgraphs, uses_of, walk
from layout_mlir.onnx_import.node import name_node
from layout_mlir.onnx_import.shapes import inputs_of, is_known

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

    # The nodes that use a tensor, with the operand number.
    _Consumers = dict[str, list[tuple[NodeProto, int]]]

# The opset of a model that does not state one.
_OPSET = 17
VIEWS = {"Unsqueeze", "Squeeze", "Reshape", "Identity"}


def _role(consumers: _Consumers, name: str) -> tuple[NodeProto, int] | None:
    """Returns the node that uses a weight, possibly through views, and the operand number, or None if there is none."""
    for node, index in consumers.get(name, []):
        if node.op_type in VIEWS and index == 0:
            role = _role(consumers, node.output[0])
            if role:
                return role
        else:
            return node, index
    return None


def _draw(rng: np.random.Generator, role: tuple[NodeProto, int] | None, shape: tuple[int, ...],
          consumers: _Consumers) -> NDArray[Any]:
    """Returns random values for a weight that keep activations in range. `role` is the node that uses the weight and
    the operand number, or None."""
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
    if op in ("BatchNormalization", "LayerNormalization") and index in (1, 4):  # scale and variance
        # The end of a residual branch is scaled down, or sums would grow.
        ends_branch = op == "BatchNormalization" and any(
            consumer.op_type in ("Add", "Sum") for consumer, _ in consumers.get(node.output[0], []))
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
        tensor.CopyFrom(numpy_helper.from_array(np.asarray(new, dtype=old.dtype), tensor.name))


def without_weights(model: ModelProto) -> ModelProto:
    """Returns a copy for libraries that check the model or infer its types. Large weights are inputs, which saves copies
    of them. Outputs have no types: the checker requires shapes, which exporters omit and the import infers."""
    from onnx import helper

    graph = model.graph
    copy = type(model)(**{field.name: value for field, value in model.ListFields() if field.name != "graph"})
    copy.graph.MergeFrom(type(graph)(**{field.name: value for field, value in graph.ListFields()
                                        if field.name not in ("initializer", "output")}))
    for tensor in graph.initializer:
        if math.prod(tensor.dims) < 1024:
            copy.graph.initializer.append(tensor)
        else:
            copy.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    copy.graph.output.extend(helper.make_tensor_value_info(value.name, 1, []) for value in graph.output)
    return copy


def _rename_domain(model: ModelProto) -> None:
    """Replaces the domain "ai.onnx" by "", which the onnx package expects."""
    for part in [model, *model.functions]:
        own = {each.domain for each in part.opset_import}
        imports = [each for each in part.opset_import if each.domain != "ai.onnx" or "" not in own]
        for each in imports:
            each.domain = "" if each.domain == "ai.onnx" else each.domain
        kept = [type(each).FromString(each.SerializeToString()) for each in imports]
        del part.opset_import[:]
        part.opset_import.extend(kept)
    for graph in [model.graph, *model.functions]:
        for node in walk(graph):
            node.domain = "" if node.domain == "ai.onnx" else node.domain


def _sort(graph: GraphProto | FunctionProto) -> None:
    """Sorts the nodes of a graph and of its subgraphs topologically, and keeps their order otherwise. Raises ImportFailed
    if nodes use each other's outputs in a cycle."""
    nodes = list(graph.node)
    producers: dict[str, int] = {}
    for number, node in enumerate(nodes):
        for name in node.output:
            producers.setdefault(name, number)
        for inner in subgraphs(node):
            _sort(inner)
    sorter = graphlib.TopologicalSorter({number: {producers[name] for name in uses_of(node) if name in producers}
                                         for number, node in enumerate(nodes)})
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        cycle = " -> ".join(name_node(nodes[number]) for number in error.args[1])
        raise ImportFailed(f"the model is not valid: nodes use each other's outputs in a cycle: {cycle}\n"
                           "(compute a value of an earlier iteration in the body of a Loop or Scan)") from error
    order: list[int] = []
    ready: list[int] = []
    while sorter.is_active():
        for number in sorter.get_ready():
            heapq.heappush(ready, number)
        order.append(heapq.heappop(ready))
        sorter.done(order[-1])
    if order != list(range(len(nodes))):
        del graph.node[:]
        graph.node.extend(nodes[number] for number in order)


def _state_defaults(model: ModelProto) -> None:
    """Adds the default values of the attributes of model-local functions to the calls, which the inliner ignores."""
    defaults = {(each.domain, each.name, each.overload): each.attribute_proto for each in model.functions}
    for graph in [model.graph, *model.functions]:
        for node in walk(graph):
            given = {each.name for each in node.attribute}
            node.attribute.extend(each for each in defaults.get((node.domain, node.op_type, node.overload), ())
                                  if each.name not in given)


def prepare(model: ModelProto, reseed: int | None = None) -> ModelProto:
    """Returns the prepared model; `reseed` is a seed or None. Raises ImportFailed, or an error of the onnx package if a
    function cannot be inlined."""
    from onnx import helper, inliner

    for part in [model.graph, *model.functions]:
        _sort(part)
    _rename_domain(model)
    if model.functions:
        _state_defaults(model)
        model = inliner.inline_local_functions(model)
    for node in walk(model.graph):
        node.name = node.name or next(filter(None, node.output), "")
    graph = model.graph
    graph.name = graph.name or "graph"
    for value in [*graph.output, *graph.value_info]:
        for dim in value.type.tensor_type.shape.dim:
            if not is_known(dim):
                dim.ClearField("dim_value")
    # Since version 4 of the format, weights need not be inputs.
    model.ir_version = max(model.ir_version, 8)
    if not any(imported.domain in ("", "ai.onnx") for imported in model.opset_import):
        model.opset_import.append(helper.make_opsetid("", _OPSET))
    inputs = inputs_of(graph)
    del graph.input[:]
    graph.input.extend(inputs)
    if reseed is not None:
        _reseed(graph, reseed)
    return model
