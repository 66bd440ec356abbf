"""Determinants and inverses of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.sizes import is_static
from layout_mlir.onnx_import.values import Tensor

if TYPE_CHECKING:
    from layout_mlir import loops
    from layout_mlir.loops import empty, indices, integer, real, shape, size


def find_pivot(left: loops.Tensor, k: int, n: int) -> int:
    """Returns the row from k on with the largest element of column k."""
    pivot = k
    for i in range(k + 1, n):
        larger = max(left[i, k], 0.0 - left[i, k]) > max(left[pivot, k], 0.0 - left[pivot, k])
        pivot = i if larger else pivot
    return pivot


def determinant(x: loops.Tensor) -> loops.Tensor:
    """Computes determinants by elimination, with the largest element of a column as pivot."""
    n, y = size(x, 0 - 1), empty(x, shape(x)[:-2])
    left = empty(x, (n, n))
    for batch in indices(shape(x)[:-2]):
        for i, j in indices((n, n)):
            left[i, j] = x[(*batch, i, j)]
        result = 1.0
        for k in range(n):
            pivot = find_pivot(left, k, n)
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


def invert(x: loops.Tensor) -> loops.Tensor:
    """Computes inverses by elimination, with the largest element of a column as pivot."""
    n, y = size(x, 0 - 1), empty(x, shape(x))
    left, right = empty(x, (n, n)), empty(x, (n, n))
    for batch in indices(shape(x)[:-2]):
        for i, j in indices((n, n)):
            left[i, j] = x[(*batch, i, j)]
            right[i, j] = real(integer(i == j))
        for k in range(n):
            pivot = find_pivot(left, k, n)
            for j in range(n):
                a, b = left[k, j], left[pivot, j]
                left[k, j], left[pivot, j] = b, a
                a, b = right[k, j], right[pivot, j]
                right[k, j], right[pivot, j] = b, a
            scale = 1.0 / left[k, k]
            for j in range(n):
                left[k, j] = left[k, j] * scale
                right[k, j] = right[k, j] * scale
            for i in range(n):
                factor = left[i, k] if i != k else 0.0
                for j in range(n):
                    left[i, j] = left[i, j] - factor * left[k, j]
                    right[i, j] = right[i, j] - factor * right[k, j]
        for i, j in indices((n, n)):
            y[(*batch, i, j)] = right[i, j]
    return y


@operator("Inverse", domain="com.microsoft")
def inverse(b: Builder, node: Node, x: Tensor) -> Tensor:
    rows, columns = x.shape[-2:]
    if is_static(rows) and is_static(columns) and rows != columns:
        node.refuse(f"its matrices are not square, but {rows} x {columns}")
    b.check_equal(rows, columns, "its matrices are not square")
    result, = b.loops(invert, x)
    return b.cast_shape(result, x.shape)
