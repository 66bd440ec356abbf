"""Operators that compute each element from one element of each input."""

from __future__ import annotations

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.values import Tensor


@operator("Relu")
def relu(b: Builder, node: Node, x: Tensor) -> Tensor:
    return b.elementwise(lambda s, x: s.max(x, 0), x)


@operator("Add")
def add(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    return b.elementwise(lambda s, x, y: s.add(x, y), x, y)
