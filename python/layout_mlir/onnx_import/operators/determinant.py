"""Determinants of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.values import Tensor

if TYPE_CHECKING:
    from layout_mlir import loops
    from layout_mlir.loops import empty, indices, integer, shape, size


def determinant(x: loops.Tensor) -> loops.Tensor:
    """Computes determinants by elimination, with the largest element of a column as pivot."""
    n, y = size(x, 0 - 1), empty(x, shape(x)[:-2])
    left = empty(x, (n, n))
    for batch in indices(shape(x)[:-2]):
        for i, j in indices((n, n)):
            left[i, j] = x[(*batch, i, j)]
        result = 1.0
        for k in range(n):
            pivot = k
            for i in range(k + 1, n):
                larger = max(left[i, k], 0.0 - left[i, k]) > max(left[pivot, k], 0.0 - left[pivot, k])
                pivot = i if larger else pivot
            for j in range(n):
                a, b = left[k, j], left[pivot, j]
                left[k, j], left[pivot, j] = b, a
            result = result * left[k, k] * (1.0 - 2.0 * integer(pivot > k))
            for i in range(k + 1, n):
                factor = left[i, k] / left[k, k] if left[k, k] != 0.0 else 0.0
                for j in range(n):
                    left[i, j] = left[i, j] - factor * left[k, j]
        y[batch] = result
    return y


@operator("Det")
def det(b: Builder, node: Node, x: Tensor) -> Tensor:
    b.match_sizes(x.shape[-2], x.shape[-1], "its matrices are not square")
    result, = b.loops(determinant, x)
    return b.cast_shape(result, x.shape[:-2])
