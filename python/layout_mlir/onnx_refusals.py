"""Says which node of a model the import does not take, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

_LOCATION = re.compile(r'(?:error|note): "((?:[^"\\]|\\.)*)"')


def _advise(node: NodeProto) -> str:
    if node.domain not in ("", "ai.onnx"):
        return (f"the domain '{node.domain}' is not ONNX's: export the model without the operators of one "
                "runtime, for example before it is optimized for that")
    return ("export the model in another opset or with the operator written as others, or cut it before or "
            "after the node (onnx.utils.extract_model)")


def describe(node: NodeProto, reason: object) -> str:
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    return f"node '{node.name or next(iter(node.output), '')}' ({operator}) is not imported: {reason}\n({_advise(node)})"


def _alone(model: ModelProto, node: NodeProto, types: Mapping[str, ValueInfoProto]) -> ModelProto:
    """A model of one node; what is constant stays so."""
    from onnx import helper

    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    names = list(dict.fromkeys(filter(None, node.input)))
    graph = helper.make_graph(
        [node], "main", [types[name] for name in names if name not in weights],
        [types[name] for name in node.output if name],
        [weights[name] for name in names if name in weights])
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def _signature(node: NodeProto, types: Mapping[str, ValueInfoProto],
               weights: Mapping[str, tuple[int, ...]]) -> tuple[object, ...]:
    """What the import of a node depends on."""
    copy = type(node)()
    copy.CopyFrom(node)
    copy.name = ""
    del copy.input[:], copy.output[:]
    return (copy.SerializeToString(), *(weights.get(name) or (name in types and types[name].type.SerializeToString())
                                        for name in [*node.input, *node.output]))


def find_refused(model: ModelProto, message: str, lower: Callable[[ModelProto], object]) -> NodeProto | None:
    """The node that a message of the passes means: the one that it is located at, or else the first
    that is refused alone. None where that cannot be told. `lower` makes a module of a model."""
    nodes: dict[str, NodeProto] = {node.name: node for node in model.graph.node}
    located = [name for name in _LOCATION.findall(message) if name in nodes and name]
    if located:
        return nodes[located[0]]
    if "no answer within" in message:  # nor would the node give one
        return None
    types = {value.name: value for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]}
    weights = {tensor.name: (tensor.data_type, *tensor.dims) for tensor in model.graph.initializer}
    tried = set()
    node: NodeProto
    for node in model.graph.node:
        signature = _signature(node, types, weights)
        whole = all(name in types or name in weights for name in [*node.input, *node.output] if name)
        if signature in tried or not whole or any(each.HasField("g") for each in node.attribute):
            continue
        tried.add(signature)
        try:
            lower(_alone(model, node, types))
        except Exception:  # in whatever way it refuses all of the model
            return node
    return None
