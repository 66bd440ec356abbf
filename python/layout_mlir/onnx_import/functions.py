"""Expands operators by their ONNX functions, and evaluates nodes on constants."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.node import ImportFailure, describe
from layout_mlir.onnx_import.reference import load_evaluator
from layout_mlir.onnx_import.values import Tensor, Value

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto


@dataclasses.dataclass
class Expansion:
    """The nodes that define an operator, and the versions of their operator sets."""
    nodes: list[NodeProto]
    opsets: dict[str, int]


def find_schema(node: NodeProto, opset: int) -> Any:
    """Returns the OpSchema, or None if there is none. onnx's type hints lack the functions of a schema."""
    from onnx import defs

    try:
        return defs.get_schema(node.op_type, opset, node.domain)
    except defs.SchemaError:
        return None


def _find_function(schema: Any, node: NodeProto, types: Sequence[TypeProto], opset: int) -> FunctionProto | None:
    """Returns the newest function up to the opset, or None; some depend on the node and its input types."""
    from onnx import FunctionProto

    plain = max((each for each in schema.function_opset_versions if each <= opset), default=0)
    dependent = max((each for each in schema.context_dependent_function_opset_versions if each <= opset), default=0)
    if plain > dependent:
        text = schema.get_function_with_opset_version(plain)
    elif dependent:
        text = schema.get_context_dependent_function_with_opset_version(
            dependent, node.SerializeToString(), [each.SerializeToString() for each in types])
    else:
        return None
    function: FunctionProto = FunctionProto.FromString(text)
    return function


def _bind(node: NodeProto, names: Callable[[str], str], attributes: Mapping[str, AttributeProto]) -> None:
    """Renames the values of a function's node and binds its attributes, also in subgraphs."""
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
            for each in [*graph.input, *graph.output, *graph.initializer]:
                each.name = names(each.name)
            del graph.value_info[:]
        bound.append(type(attribute).FromString(attribute.SerializeToString()))
    del node.attribute[:]
    node.attribute.extend(bound)


def expand(node: NodeProto, types: Sequence[TypeProto], opsets: Mapping[str, int]) -> Expansion | None:
    """Returns the nodes of the function that defines a node's operator, or None if ONNX has no function for it."""
    from onnx import NodeProto

    domain = "" if node.domain == "ai.onnx" else node.domain
    opset = opsets.get(domain, 1)
    schema = find_schema(node, opset)
    if schema is None or not (schema.has_function or schema.has_context_dependent_function):
        return None
    function = _find_function(schema, node, types, opset)
    if function is None:
        return None
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
    versions = {**opsets, **{each.domain: each.version for each in function.opset_import}}
    return Expansion(result, versions)


# Operators of which no two inputs must have equal types.
INDEPENDENT = {"Dropout", "Expand", "Gather", "GatherElements", "GatherND", "OneHot", "ReduceMean", "ReduceSum", "Reshape",
               "Squeeze", "TopK", "Unsqueeze"}


@functools.cache
def _find_type_names(operator: str, opset: int, domain: str, of_outputs: bool = False) -> tuple[str, ...]:
    """Returns the type parameters of an operator's inputs or outputs; the last one applies to all variadic ones."""
    from onnx import defs

    try:
        schema = defs.get_schema(operator, opset, domain)
    except defs.SchemaError:
        return ()
    return tuple(each.type_str if each.is_homogeneous else ""
                 for each in (schema.outputs if of_outputs else schema.inputs))


def check_types(node: NodeProto, inputs: Sequence[Value | None], opset: int) -> None:
    """Raises ImportFailure if two inputs have different element types where ONNX requires equal ones."""
    # The schemas take longer to load than a small model.
    if node.op_type in INDEPENDENT or len({value.element for value in inputs if isinstance(value, Tensor)}) < 2:
        return
    names = _find_type_names(node.op_type, opset, "" if node.domain == "ai.onnx" else node.domain)
    seen: dict[str, tuple[str, Tensor]] = {}
    for number, (label, value) in enumerate(zip(node.input, inputs)):
        name = names[min(number, len(names) - 1)] if names else ""
        if not isinstance(value, Tensor) or not name or "(" in name:
            continue
        other, first = seen.setdefault(name, (label, value))
        if first.element != value.element:
            raise ImportFailure(describe(node, f"its inputs '{other}' and '{label}' have elements of types {first.element} "
                                         f"and {value.element}, which must be equal"))


def _evaluate_movement(node: NodeProto, inputs: Sequence[NDArray[Any] | None], opset: int) -> NDArray[Any] | None:
    """Returns the output of a node that moves elements, or casts integers, or None for other nodes and forms. Arguments
    that ONNX does not allow raise an error of numpy."""
    from onnx import TensorProto, helper

    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    x, *rest = [array for array in inputs if array is not None]
    if len(rest) + 1 != len(inputs):
        return None
    match node.op_type:
        case "Cast" if x.dtype.kind in "bi" and attributes["to"] in (TensorProto.INT32, TensorProto.INT64):
            return x.astype(helper.tensor_dtype_to_np_dtype(attributes["to"]))
        case "Concat" if "axis" in attributes and all(each.dtype == x.dtype for each in rest):
            return np.concatenate([x, *rest], attributes["axis"])
        case "Reshape" if len(rest) == 1 and not attributes.get("allowzero"):
            return x.reshape([x.shape[number] if size == 0 else size for number, size in enumerate(rest[0].tolist())])
        case "Slice" if opset >= 10 and len(rest) >= 3:
            starts, ends, axes, *steps = (each.tolist() for each in rest)
            places = [slice(None)] * x.ndim
            for axis, *place in zip(axes, starts, ends, *steps, strict=True):
                places[axis] = slice(*place)
            return x[tuple(places)]
        case "Transpose":
            return np.transpose(x, attributes.get("perm"))
        case "Unsqueeze":
            return np.expand_dims(x, tuple(rest[0].tolist() if rest else attributes["axes"]))
    return None


def evaluate(node: NodeProto, inputs: Sequence[NDArray[Any] | None],
             opsets: Mapping[str, int]) -> list[Any] | None:
    """Returns the outputs of a node on constants, as ONNX defines them, by its reference evaluator, or None if it fails.

    Most constants of small models are shapes, computed by movements. For these the evaluator is not loaded: that takes
    longer than the rest of the import, and 9 MB, because it imports the implementations of all operators."""
    from onnx import helper

    with contextlib.suppress(IndexError, KeyError, TypeError, ValueError):
        moved = _evaluate_movement(node, inputs, opsets.get("", opsets.get("ai.onnx", 1)))
        if moved is not None:
            return [np.asarray(moved, order="C")]
    given = {name: array for name, array in zip(node.input, inputs) if name and array is not None}
    graph = helper.make_graph(
        [node], "node",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
         for name, array in given.items()],
        [helper.make_empty_tensor_value_info(name) for name in node.output if name])
    one = helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in opsets.items()])
    try:
        results = load_evaluator(one)(list(given.values()))
    except Exception:  # arbitrary errors of the reference's operators
        return None
    return results if _has_defined_types(node, inputs, results, opsets.get("", opsets.get("ai.onnx", 1))) else None


def _has_defined_types(node: NodeProto, inputs: Sequence[NDArray[Any] | None], results: Sequence[Any],
                       opset: int) -> bool:
    """Returns false if a result of the reference evaluator does not have the element type that ONNX defines for it: some
    of its sums of int32 are int64."""
    names = _find_type_names(node.op_type, opset, "")
    known = {names[min(number, len(names) - 1)]: array.dtype
             for number, array in enumerate(inputs) if array is not None and names}
    outputs = _find_type_names(node.op_type, opset, "", of_outputs=True)
    given = iter(results)
    for number, label in enumerate(node.output):
        result = next(given) if label else None
        name = outputs[min(number, len(outputs) - 1)] if outputs else ""
        if name in known and getattr(result, "dtype", known[name]) != known[name]:
            return False
    return True
