"""Products of matrices."""

from __future__ import annotations

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.values import Tensor


@operator("MatMul")
def matmul(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    return b.matmul(x, y)
