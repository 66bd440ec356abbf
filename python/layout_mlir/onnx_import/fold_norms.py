"""Folds batch norms by constants into the filters of the convolution before them.

    Conv(x, w, b), then BatchNormalization(.., scale, shift, mean, variance)
        -> Conv(x, w * f, (b - mean) * f + shift)   with f = scale / sqrt(variance + epsilon), by output channel

The convolution has no other use, and its filters are floats of the type of the norm.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


def fold_norms(graph: GraphProto) -> tuple[list[NodeProto], dict[str, NDArray[Any]]]:
    """Returns the nodes of a graph without the norms that are folded, and the new constants by name."""
    from onnx import numpy_helper

    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            constants[node.output[0]] = node.attribute[0].t
    uses = collections.Counter(_used_names(graph))
    places: dict[str, int] = {}
    nodes: list[NodeProto] = []
    made: dict[str, NDArray[Any]] = {}
    for node in graph.node:
        place = places.get(node.input[0]) if node.input else None
        if place is None or not _can_fold(node, nodes[place], constants, uses):
            places.update((name, len(nodes)) for name in node.output)
            nodes.append(node)
            continue
        arrays = {name: numpy_helper.to_array(constants[name])
                  for name in [*node.input[1:], *filter(None, nodes[place].input[1:])]}
        nodes[place], folded = _fold(node, nodes[place], arrays)
        made.update(folded)
        places[node.output[0]] = place
    return nodes, made


def _used_names(graph: GraphProto) -> list[str]:
    """Returns the names that nodes use, those in inner graphs included, and those of results; with repetitions."""
    names = [output.name for output in graph.output]
    for node in graph.node:
        names += node.input
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                names += _used_names(inner)
    return names


def _can_fold(node: NodeProto, convolution: NodeProto, constants: Mapping[str, Any], uses: Mapping[str, int]) -> bool:
    attributes = {each.name: each.i for each in node.attribute}
    if (node.op_type != "BatchNormalization" or convolution.op_type != "Conv" or attributes.get("training_mode")
            or attributes.get("spatial", 1) != 1 or any(node.output[1:]) or uses[node.input[0]] != 1):
        return False
    needed = [*node.input[1:], *filter(None, convolution.input[1:])]
    # A convolution into which a norm was folded is followed by no other one in practice, and stays.
    return all(name in constants for name in needed) and len(
        {constants[name].data_type for name in needed}) == 1 and constants[needed[0]].data_type in (1, 11)


def _fold(node: NodeProto, convolution: NodeProto, arrays: Mapping[str, NDArray[Any]]
          ) -> tuple[NodeProto, dict[str, NDArray[Any]]]:
    """Returns the convolution with the norm in its filters, and its constants by name."""
    scale, shift, mean, variance = (arrays[name] for name in node.input[1:5])
    epsilon = next((each.f for each in node.attribute if each.name == "epsilon"), 1e-5)
    factor = scale / np.sqrt(variance + np.array(epsilon, variance.dtype))
    weights = arrays[convolution.input[1]]
    has_bias = len(convolution.input) > 2 and convolution.input[2]
    bias = arrays[convolution.input[2]] if has_bias else np.zeros_like(mean)
    names = [f"{node.output[0]}/{kind}" for kind in ("weights", "bias")]
    made = (weights * factor.reshape(-1, *[1] * (weights.ndim - 1)), (bias - mean) * factor + shift)
    result = type(node).FromString(convolution.SerializeToString())
    del result.input[1:]
    result.input.extend(names)
    result.output[0] = node.output[0]
    return result, dict(zip(names, made))
