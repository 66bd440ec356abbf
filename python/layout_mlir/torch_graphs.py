"""Lowers FX graphs of PyTorch's ATen operations to linalg on tensors, by torch-mlir.

The graphs are those of AOTAutograd: functional, with a fake tensor for each value. Weights become resources of the
module, whose bytes stay in the memory of PyTorch's tensors.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy
import torch
from numpy.typing import NDArray
from torch import fx
from torch.fx.passes.shape_prop import TensorMetadata
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras import fx_importer
from torch_mlir.passmanager import PassManager

_PIPELINE = ("builtin.module(func.func(torch-match-quantized-custom-ops), "
             "torchdynamo-export-to-torch-backend-pipeline{"
             "backend-legal-ops=aten.flatten.using_ints,aten.unflatten.int extra-library=}, "
             "torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true})")

# What NumPy lacks is passed as unsigned integers of its width.
_STORED = {torch.bfloat16: torch.uint16, torch.float8_e4m3fn: torch.uint8, torch.float8_e5m2: torch.uint8}


class NotLowered(Exception):
    """A graph that torch-mlir does not lower to linalg, with its reason."""


@dataclasses.dataclass
class Lowered:
    """The module of a graph, as text without the bytes of its weights, and its weights by the names of resources."""

    text: str
    weights: dict[str, NDArray[Any]]
    # The numbers of the placeholders of the graph that are inputs of the function.
    inputs: list[int]


def to_array(value: Any) -> NDArray[Any]:
    """Returns the elements of a tensor, without a copy, or an integer as an array without dims."""
    if not isinstance(value, torch.Tensor):
        return np.asarray(value, np.int64)
    stored = _STORED.get(value.dtype)
    array: NDArray[Any] = (value.detach().view(stored) if stored else value).numpy(force=True)
    return array


def to_tensor(array: NDArray[Any], dtype: torch.dtype) -> torch.Tensor:
    """Returns a tensor in the memory of an array, whose elements have the width of `dtype`."""
    if array.dtype.isbuiltin != 1:  # a dtype of ml_dtypes
        array = array.view(f"u{array.dtype.itemsize}")
    tensor = torch.from_numpy(array)
    return tensor if tensor.dtype == dtype else tensor.view(dtype)


# ------------------------------------------------------------------- the graph to import

def _get_symbol(value: Any) -> Any:
    return value.node.expr if isinstance(value, torch.SymInt) else None


def _find_dim(placeholders: Mapping[fx.Node, fx.Node], size: Any) -> tuple[fx.Node, int] | None:
    """Returns the copy of a tensor among `placeholders` and its dim with the dynamic size `size`, or None."""
    for old, new in placeholders.items():
        fake = old.meta.get("val")
        for dim, each in enumerate(fake.shape if isinstance(fake, torch.Tensor) else ()):
            if isinstance(each, torch.SymInt) and _get_symbol(each) == _get_symbol(size):
                return new, dim
    return None


def _call(graph: fx.Graph, target: Any, args: tuple[Any, ...], value: Any) -> fx.Node:
    node = graph.call_function(target, args)
    node.meta["val"] = value
    return node


def _copy_placeholders(graph: fx.Graph, module: fx.GraphModule, part: fx.Graph,
                       given: Sequence[torch.Tensor | None]) -> tuple[dict[fx.Node, fx.Node], list[int]]:
    """Copies the placeholders of `part` to `graph`: a given tensor as an attribute of `module`, and an integer as the
    size of a tensor that has it. Returns the copies by placeholder, and the numbers of those that are inputs."""
    copies: dict[fx.Node, fx.Node] = {}
    inputs, integers = [], []
    for number, node in enumerate(part.find_nodes(op="placeholder")):
        tensor = given[number]
        if tensor is not None:
            setattr(module, node.name, tensor)
        elif isinstance(node.meta["val"], torch.Tensor):
            copies[node] = graph.node_copy(node)
            inputs.append(number)
        elif isinstance(node.meta["val"], (int, torch.SymInt)):
            integers.append((number, node))
        else:
            raise NotLowered(f"operand {node.name} is neither a tensor nor an integer")
    # All placeholders precede the operations.
    found = {node: _find_dim(copies, node.meta["val"]) or graph.placeholder(node.name) for _, node in integers}
    for number, node in integers:
        size, value = found[node], node.meta["val"]
        if isinstance(size, fx.Node):
            size.meta["tensor_meta"] = TensorMetadata((), torch.int64, False, (), None, False, {})
            copies[node] = _call(graph, torch.ops.aten._local_scalar_dense.default, (size,), value)
            inputs.append(number)
        else:
            copies[node] = _call(graph, torch.ops.aten.sym_size.int, size, value)
    return copies, inputs


_VIEWS = (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default, torch.ops.aten.reshape.default)


def _group(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[int, int, int, int]] | None:
    """Returns the smallest ranges of dims (begin and end in `before`, begin and end in `after`) with equal numbers of
    elements, or None if they cannot be proven equal."""
    def multiply(sizes: Sequence[Any]) -> Any:
        return sympy.expand(sympy.Mul(*(each.node.expr if isinstance(each, torch.SymInt) else each for each in sizes)))

    groups, i, j = [], 0, 0
    while i < len(before) and j < len(after):
        ends = sorted(itertools.product(range(i + 1, len(before) + 1), range(j + 1, len(after) + 1)), key=sum)
        found = next((end for end in ends if multiply(before[i:end[0]]) == multiply(after[j:end[1]])), None)
        if not found:
            return None
        groups.append((i, found[0], j, found[1]))
        i, j = found
    if multiply(before[i:]) != 1 or multiply(after[j:]) != 1:
        return None
    first, _, other, _ = groups.pop()
    return [*groups, (first, len(before), other, len(after))]


def _copy_view(graph: fx.Graph, node: fx.Node, copies: Callable[[fx.Node], fx.Node]) -> fx.Node:
    """Copies a reshape of dynamic sizes as operations that join or split dims. torch-mlir would guess from the static
    sizes which dims of `aten.view` belong together."""
    source, sizes = node.args
    before, after = source.meta["val"].shape, node.meta["val"].shape
    groups = _group(before, after)
    assert groups, "explain_view finds other reshapes"
    value, shape, dtype = copies(source), list(before), node.meta["val"].dtype

    def call(target: Any, args: tuple[Any, ...]) -> fx.Node:
        # A fake tensor would simplify the symbolic sizes, which is slow. Only which sizes are dynamic matters.
        result = graph.call_function(target, args)
        result.meta["tensor_meta"] = TensorMetadata(tuple(shape), dtype, False, (), None, False, {})
        return result

    wanted = fx.map_arg(sizes, copies)
    for begin, end, other, last in reversed(groups):
        if end - begin > 1:
            dynamic = [size for size in shape[begin:end] if isinstance(size, torch.SymInt)]
            shape[begin:end] = dynamic[:1] or [math.prod(shape[begin:end])]  # any symbol is a dynamic size
            value = call(torch.ops.aten.flatten.using_ints, (value, begin, end - 1))
        shape[begin:begin + 1] = after[other:last]
        if last - other > 1:
            value = call(torch.ops.aten.unflatten.int, (value, begin, wanted[other:last]))
    return value


def _is_dynamic_view(node: fx.Node) -> bool:
    return node.target in _VIEWS and any(isinstance(each, torch.SymInt) for each in node.meta["val"].shape)


def explain_view(node: fx.Node) -> str:
    """Returns the reason why a reshape is not lowered, or an empty string for other operations."""
    if not _is_dynamic_view(node):
        return ""
    before, after = node.all_input_nodes[0].meta["val"].shape, node.meta["val"].shape
    return "" if _group(before, after) else f"which dims of {tuple(before)} make those of {tuple(after)} is not known"


def _rebuild(part: fx.Graph, given: Sequence[torch.Tensor | None]) -> tuple[fx.GraphModule, list[int]]:
    """Returns the graph of `part` as torch-mlir imports it, and the numbers of the placeholders that are inputs."""
    module, graph = fx.GraphModule(torch.nn.Module(), fx.Graph()), fx.Graph()
    copies, inputs = _copy_placeholders(graph, module, part, given)

    def get_copy(node: fx.Node) -> fx.Node:
        # The importer binds each attribute node once, at its first use.
        if node.op == "placeholder" and node not in copies:
            return graph.create_node("get_attr", node.name)
        if node.op == "get_attr":
            setattr(module, str(node.target), getattr(part.owning_module, str(node.target)))
            return graph.create_node("get_attr", str(node.target))
        return copies[node]

    for node in part.nodes:
        if node.op == "call_function" and _is_dynamic_view(node):
            copies[node] = _copy_view(graph, node, get_copy)
        elif node.op in ("call_function", "output"):
            copies[node] = graph.node_copy(node, get_copy)
    module.graph = graph
    return module, inputs


# ---------------------------------------------------------------------------- lowering

class _Weights(fx_importer.FxImporterHooks):
    """Imports tensors as resources in the memory of the tensors."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.values: dict[int, Any] = {}

    def resolve_literal(self, gni: Any, literal: Any, info: Any) -> Any:
        if not isinstance(literal, torch.Tensor) or literal.numel() <= 1:
            return None
        if id(literal) not in self.values:
            name = f"weight{len(self.arrays)}"
            self.arrays[name] = np.ascontiguousarray(to_array(literal))
            value = ir.DenseResourceElementsAttr.get_from_buffer(
                self.arrays[name], name, fx_importer.create_mlir_tensor_type(literal))
            self.values[id(literal)] = literal, ir.Operation.create(
                "torch.vtensor.literal", results=[gni._cc.tensor_to_vtensor_type(literal)],
                attributes={"value": value}).result
        return self.values[id(literal)][1]


def _shorten(error: Exception) -> str:
    """Returns the first diagnostic of MLIR, or else the message of the error, in one line and without operands."""
    text = str(error).strip() or type(error).__name__
    if isinstance(error, ir.MLIRError) and error.error_diagnostics:
        first = error.error_diagnostics[0]
        text = f"{first.location}: {first.message}"
    return text.splitlines()[0].partition(" that was explicitly")[0]


def lower(part: fx.Graph, given: Sequence[torch.Tensor | None]) -> Lowered:
    """Lowers a graph whose placeholders have the given tensors as fixed values, if not None. Raises NotLowered."""
    module, inputs = _rebuild(part, given)
    weights = _Weights()
    with ir.Context() as context:
        torch_dialect.register_dialect(context)
        try:
            importer = fx_importer.FxImporter(context=context, hooks=weights)
            importer.import_stateless_graph(module.graph)
            PassManager.parse(_PIPELINE).run(importer.module.operation)
        except Exception as error:  # the importer and the passes have no common base class of errors
            raise NotLowered(_shorten(error)) from error
        text = importer.module.operation.get_asm(large_resource_limit=1, enable_debug_info=True)
    return Lowered(text, weights.arrays, inputs)


def isolate(operations: Sequence[fx.Node]) -> fx.Graph:
    """Returns a graph with some operations of another graph, in their order. Its placeholders are the operands that
    others compute, and its results the tensors that others use."""
    graph = fx.Graph()
    nodes = [each for node in operations for each in (node, *_get_items(node))]
    inside, copies = set(nodes), {}
    for operand in dict.fromkeys(each for node in nodes for each in node.all_input_nodes if each not in inside):
        copies[operand] = graph.placeholder(operand.name)
        copies[operand].meta = dict(operand.meta)
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[node] for node in nodes if isinstance(node.meta["val"], torch.Tensor)
                       and (not node.users or not inside.issuperset(node.users))))
    return graph


def _get_items(node: fx.Node) -> list[fx.Node]:
    """Returns the nodes that take a tensor each from the results of an operation with several."""
    return [each for each in node.users if each.target is operator.getitem]
