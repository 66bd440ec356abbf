"""Replaces nodes by the functions that define their operators, where ONNX has such."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, TypeProto


def _opset(model: ModelProto) -> int:
    version: int = next(each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))
    return version


def _schema(model: ModelProto, operator: str) -> Any:
    """The OpSchema, of which onnx's own hints leave out the functions; None where there is none."""
    from onnx import defs

    try:
        return defs.get_schema(operator, _opset(model))
    except defs.SchemaError:
        return None


def has_function(model: ModelProto, operator: str) -> bool:
    """Whether ONNX defines the operator by others."""
    schema = _schema(model, operator)
    return bool(schema and (schema.has_function or schema.has_context_dependent_function))


def _get_function(schema: Any, node: NodeProto, types: Sequence[TypeProto], opset: int) -> FunctionProto:
    """The newest function for the opset; some depend on the node and the types of its inputs."""
    from onnx import FunctionProto

    plain = max((each for each in schema.function_opset_versions if each <= opset), default=0)
    dependent = max((each for each in schema.context_dependent_function_opset_versions if each <= opset), default=0)
    if plain > dependent:
        text = schema.get_function_with_opset_version(plain)
    else:
        text = schema.get_context_dependent_function_with_opset_version(
            dependent, node.SerializeToString(), [each.SerializeToString() for each in types])
    function: FunctionProto = FunctionProto.FromString(text)
    return function


def _bind(node: NodeProto, names: Callable[[str], str], attributes: Mapping[str, AttributeProto]) -> None:
    """Renames values of a node of a function and gives attributes their values, in inner graphs too."""
    for field in (node.input, node.output):
        for number, name in enumerate(field):
            field[number] = names(name)
    bound = []
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            value = attributes.get(attribute.ref_attr_name)
            if value is None:
                continue
            name = attribute.name
            attribute.CopyFrom(value)
            attribute.name = name
        for graph in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            for inner in graph.node:
                _bind(inner, names, attributes)
            for value in [*graph.input, *graph.output, *graph.initializer]:
                value.name = names(value.name)
            del graph.value_info[:]
        bound.append(type(attribute).FromString(attribute.SerializeToString()))
    del node.attribute[:]
    node.attribute.extend(bound)


def _expand(node: NodeProto, schema: Any, types: Mapping[str, TypeProto], opset: int) -> list[NodeProto]:
    """The nodes of the function of a node."""
    from onnx import NodeProto, TypeProto

    function = _get_function(schema, node, [types.get(name, TypeProto()) for name in node.input], opset)
    attributes = {name: each.default_value for name, each in schema.attributes.items() if each.default_value.type}
    attributes.update((each.name, each) for each in node.attribute)
    prefix = node.name or next(filter(None, node.output))
    known: dict[str, str] = {inner: outer for inner, outer in zip(function.output, node.output) if outer}
    known.update(itertools.zip_longest(function.input, node.input, fillvalue=""))

    def names(name: str) -> str:
        return known.get(name, name and f"{prefix}/{name}")

    result = []
    for number, inner in enumerate(function.node):
        copy = NodeProto.FromString(inner.SerializeToString())
        copy.name = f"{prefix}/{inner.op_type}{number}"
        _bind(copy, names, attributes)
        result.append(copy)
    return result


def replace_by_function(model: ModelProto, chosen: Callable[[NodeProto], bool]) -> bool:
    """Puts in place of the nodes that are `chosen` the functions that define them; True where there
    are any. Shapes have to be inferred."""
    from onnx import helper

    types = {value.name: value.type for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]}
    types.update((tensor.name, helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims)))
                 for tensor in model.graph.initializer)
    nodes, found = [], False
    for node in model.graph.node:
        if node.domain in ("", "ai.onnx") and chosen(node) and has_function(model, node.op_type):
            nodes += _expand(node, _schema(model, node.op_type), types, _opset(model))
            found = True
        else:
            nodes.append(node)
    nodes = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return found
