"""Batch normalization with known statistics: x * factor + shift for each channel, or folded into the filters of the
preceding convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.elements import Element
from layout_mlir.onnx_import.node import Node
from layout_mlir.onnx_import.values import Tensor, as_tensor_array

if TYPE_CHECKING:
    from onnx import NodeProto

    from layout_mlir.onnx_import.graph import Importer

_Vector = NDArray[np.float64]


def is_training(attributes: dict[str, Any], opset: int, outputs: int) -> bool:
    """Returns true if a node normalizes by the statistics of its input, before opset 14 if it has more outputs."""
    return bool(attributes.get("training_mode", 0)) if opset >= 14 else outputs > 1


def known_scaling(parameters: list[NDArray[Any] | None], epsilon: float) -> tuple[_Vector, _Vector] | None:
    """Returns factor and shift if the parameters (scale, bias, mean, variance) are constant, else None."""
    known = [np.asarray(array, np.float64) for array in parameters if array is not None]
    if len(known) < 4:
        return None
    scale, bias, mean, variance = known
    factor = scale / np.sqrt(variance + epsilon)
    return factor, bias - mean * factor


def _scaling_after(importer: Importer, proto: NodeProto) -> tuple[_Vector, _Vector] | None:
    """Returns factor and shift of the batch normalization that is the only user of a node's result, or None."""
    from onnx import helper

    norm = importer.only_consumer(proto.output[0])
    if norm is None or norm.op_type != "BatchNormalization" or norm.domain not in ("", "ai.onnx"):
        return None
    attributes = {each.name: helper.get_attribute_value(each) for each in norm.attribute}
    if is_training(attributes, importer.opset(), sum(map(bool, norm.output))) or not attributes.get("spatial", 1):
        return None
    values = [importer.find_known(name) for name in norm.input[1:5]]
    return known_scaling([value.array if isinstance(value, Tensor) else None for value in values],
                         attributes.get("epsilon", 1e-5))


def scale_filters(node: Node, w: Tensor, bias: Tensor | None, element: Element) -> tuple[Tensor, Tensor | None, bool]:
    """Folds the following batch normalization into constant filters and bias of a convolution. Returns filters, bias,
    and true if it was folded."""
    if w.array is None or (bias is not None and bias.array is None):
        return w, bias, False
    scaling = _scaling_after(node.importer, node.proto)
    if scaling is None or scaling[0].shape != w.array.shape[:1]:
        return w, bias, False
    factor, shift = scaling
    columns = factor.reshape(-1, *[1] * (w.rank - 1))
    old = np.asarray(bias.array, np.float64) if bias is not None and bias.array is not None else 0.0
    filters = as_tensor_array(np.asarray(w.array, np.float64) * columns, element)
    sums = as_tensor_array(shift + old * factor, element)
    return (Tensor(element, tuple(filters.shape), array=filters), Tensor(element, tuple(sums.shape), array=sums), True)
