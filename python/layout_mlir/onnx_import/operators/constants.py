"""Operators with constant results."""

from __future__ import annotations

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.values import MOST_TRACKED, Tensor

_NUMBERS = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}


@operator("Constant")
def constant(b: Builder, node: Node) -> Tensor:
    for name, dtype in _NUMBERS.items():
        if node.has(name):
            return b.constant(np.array(node.attribute(name), dtype))
    if node.has("value"):
        return node.importer.constant_of(node.attribute("value"))
    if node.has("sparse_value"):
        return node.importer.dense_of(node.attribute("sparse_value"))
    node.refuse("it has strings, which no target supports")


@operator("ConstantOfShape")
def constant_of_shape(b: Builder, node: Node, shape: Tensor) -> Tensor:
    rank, = shape.shape
    if not isinstance(rank, int):
        node.refuse("the rank of its result is unknown")
    sizes = [b.size_of(shape, dim) for dim in range(rank)]
    given = node.importer.constant_of(node.attribute("value")) if node.has("value") else None
    element = given.element if given is not None else F32
    value = given.constant_scalar() if given is not None else 0
    static = [size for size in sizes if isinstance(size, int)]
    if len(static) == rank and np.prod(static) <= MOST_TRACKED:
        return b.constant(np.full(static, value, element.dtype), element)
    return b.fill(sizes, element, value)
