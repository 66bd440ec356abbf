"""Matrix products."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32, F64, I8, I32, U8, Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.elementwise import aligned
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, is_static, product
from layout_mlir.onnx_import.values import Bytes, Scalar, Tensor
from layout_mlir.onnx_import.windows import sum_element

# The limit for elements of a weight that is modified at import.
_MOST_FOLDED = 1 << 20


# ---------------------------------------------------------------- contractions

def contract(b: Builder, x: Tensor, x_dims: Sequence[Hashable], y: Tensor, y_dims: Sequence[Hashable],
             dims: Sequence[Hashable], element: Element) -> Tensor:
    """Returns the sum of products over the dims that are not in `dims`, the dims of the result. Dims with one name have
    one size, and no tensor has a name twice. A sum of products is one matrix product, batched over the dims that all
    three tensors have; `element` is the element type of the sums."""
    x, x_dims = sum_own(b, x, x_dims, {*y_dims, *dims}, element)
    y, y_dims = sum_own(b, y, y_dims, {*x_dims, *dims}, element)
    sums = [dim for dim in x_dims if dim not in dims]
    if not sums:
        x, y = _arrange(b, x, x_dims, dims), _arrange(b, y, y_dims, dims)
        return b.elementwise(lambda s, x, y: s.mul(s.cast(x, element), s.cast(y, element)), x, y, element=element)
    batch = [dim for dim in dims if dim in x_dims and dim in y_dims]
    rows = [dim for dim in x_dims if dim in dims and dim not in batch]
    columns = [dim for dim in y_dims if dim in dims and dim not in batch]
    sizes = {**dict(zip(y_dims, y.shape)), **dict(zip(x_dims, x.shape))}
    x, y = _group(b, x, x_dims, [batch, rows, sums]), _group(b, y, y_dims, [batch, sums, columns])
    result = b.matmul(x, y, element)
    made = [*batch, *rows, *columns]
    result = b.reshape(result, [sizes[dim] for dim in made])
    return b.transpose(result, [made.index(dim) for dim in dims])


def sum_own(b: Builder, x: Tensor, dims: Sequence[Hashable], others: set[Hashable],
            element: Element) -> tuple[Tensor, list[Hashable]]:
    """Sums over the dims that no other tensor has."""
    own = [number for number, dim in enumerate(dims) if dim not in others]
    if own:
        x = b.reduce(lambda s, acc, x: s.add(acc, s.cast(x, element)), x, own, 0, element=element)
    return x, [dim for dim in dims if dim in others]


def _arrange(b: Builder, x: Tensor, own: Sequence[Hashable], dims: Sequence[Hashable]) -> Tensor:
    """Transposes a tensor to the order of `dims`, with size 1 for dims that it lacks."""
    x = b.transpose(x, [own.index(dim) for dim in dims if dim in own])
    rest = iter(x.shape)
    return b.reshape(x, [next(rest) if dim in own else 1 for dim in dims])


def _group(b: Builder, x: Tensor, own: Sequence[Hashable],
           groups: Sequence[Sequence[Hashable]]) -> Tensor:
    """Transposes a tensor to the order of the groups and collapses each group; an empty batch group is dropped."""
    shape = x.shape
    x = b.transpose(x, [own.index(dim) for group in groups for dim in group])
    sizes = [product([shape[own.index(dim)] for dim in group]) for group in groups]
    return b.reshape(x, sizes if groups[0] else sizes[1:])


# ------------------------------------------------------------------------ MatMul

def with_vectors(b: Builder, x: Tensor, y: Tensor, function: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Applies a product of matrices, or of batches of them, to tensors that may be vectors, as numpy.matmul does."""
    wide = function(b.unsqueeze(x, [0]) if x.rank == 1 else x, b.unsqueeze(y, [1]) if y.rank == 1 else y)
    shape = list(wide.shape)
    if y.rank == 1:
        del shape[-1]
    if x.rank == 1:
        del shape[-1 if y.rank == 1 else -2]
    return b.reshape(wide, shape)


def multiply(b: Builder, x: Tensor, y: Tensor, element: Element) -> Tensor:
    """Returns the product as numpy.matmul; `element` is the element type of the sums."""
    return with_vectors(b, x, y, lambda x, y: _multiply_matrices(b, x, y, element))


def _multiply_matrices(b: Builder, x: Tensor, y: Tensor, element: Element) -> Tensor:
    if y.rank == 2 and x.rank > 2:
        rows = product(x.shape[:-1])
        return b.reshape(b.matmul(b.reshape(x, [rows, x.shape[-1]]), y, element), [*x.shape[:-1], y.shape[-1]])
    if x.shape[:-2] == y.shape[:-2]:
        return b.matmul(x, y, element)
    return _multiply_batches(b, x, y, element)


def _multiply_batches(b: Builder, x: Tensor, y: Tensor, element: Element) -> Tensor:
    """Multiplies batches; a batch dim that one operand broadcasts becomes rows or columns of the other operand."""
    batch = b.broadcast_shape([x.shape[:-2], y.shape[:-2]])
    x, x_dims = _named_batch(b, x, batch, ["m", "k"])
    y, y_dims = _named_batch(b, y, batch, ["k", "n"])
    made = [dim for dim in range(len(batch)) if dim in x_dims or dim in y_dims]
    result = contract(b, x, x_dims, y, y_dims, [*made, "m", "n"], element)
    return b.reshape(result, [*batch, *result.shape[-2:]])


def _named_batch(b: Builder, x: Tensor, batch: Sequence[Size], last: list[Hashable]) -> tuple[Tensor, list[Hashable]]:
    """Returns the tensor without batch dims of size 1, and the names of its dims."""
    missing = len(batch) - (x.rank - 2)
    shape = [size if size == 1 else batch[missing + dim] for dim, size in enumerate(x.shape[:-2])]
    x = b.broadcast_to(x, [*shape, *x.shape[-2:]])
    names: list[Hashable] = [missing + dim for dim, size in enumerate(shape) if size != 1]
    return b.reshape(x, [*[size for size in shape if size != 1], *x.shape[-2:]]), [*names, *last]


@operator("MatMul")
def matmul(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    if found := find_bytes(node, x, y, x.shape[-1], -1):
        return real_product(b, *found)
    return b.cast(multiply(b, x, y, sum_element(x.element)), x.element)


def scaled(b: Builder, x: Tensor, factor: float, element: Element) -> Tensor:
    """Returns a tensor times a number, computed at import if the tensor is constant."""
    if factor == 1:
        return x
    if x.array is not None and x.array.size <= _MOST_FOLDED and x.element.is_float and x.element == element:
        return b.constant(x.array * np.array(factor, x.element.dtype), x.element)

    def body(s: Scalars, x: Scalar) -> Scalar:
        wide = x.element if x.element is not None and x.element.is_float else F64
        return s.cast(s.mul(s.cast(x, wide), factor), element)

    return b.elementwise(body, x, element=element)


def transposed(b: Builder, node: Node, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the factors of a Gemm, transposed as its attributes say."""
    return (b.transpose(x, [1, 0]) if node.attribute("transA", 0) else x,
            b.transpose(y, [1, 0]) if node.attribute("transB", 0) else y)


def affine(b: Builder, node: Node, x: Tensor, y: Tensor, c: Tensor | None) -> Tensor:
    """Returns alpha * x * y + beta * c in the element type of the sums, with the attributes of Gemm."""
    element = sum_element(x.element)
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    sum_dim, column_dim = 0 if node.attribute("transA", 0) else 1, 0 if node.attribute("transB", 0) else 1
    if found := find_bytes(node, x, y, x.shape[sum_dim], column_dim):
        values = transposed(b, node, found[0].values, found[1].values)
        left, right = (dataclasses.replace(each, values=own) for each, own in zip(found, values))
        result = real_product(b, left, right, None, alpha)
    else:
        x, y = transposed(b, node, x, y)
        if y.array is not None and y.element == element and element.is_float:
            y, alpha = scaled(b, y, alpha, element), 1.0
        result = scaled(b, b.matmul(x, y, element), alpha, element)
    if c is None or beta == 0:
        return result
    c = scaled(b, c, beta, element)
    return b.elementwise(lambda s, y, c: s.add(y, s.cast(c, element)), result, c, shape=result.shape)


@operator("Gemm")
def gemm(b: Builder, node: Node, x: Tensor, y: Tensor, c: Tensor | None = None) -> Tensor:
    if c is not None:
        c = aligned(b, node, x, c)
    return b.cast(affine(b, node, x, y, c), x.element)


# ----------------------------------------------------------------------- integers

def with_sign(b: Builder, x: Tensor, zero: Tensor | None, element: Element) -> tuple[Tensor, Tensor | None]:
    """Returns 8-bit integers of the type `element`, U8 or I8, and their zero points in i32, or None if these are 0. A
    flipped sign bit shifts both by 128. Constants without their zero points are returned if they fit the type."""
    constants = x.array is not None and (zero is None or zero.array is not None)
    if constants and x.array is not None:
        values = x.array.astype(np.int16) - (0 if zero is None or zero.array is None else zero.array.astype(np.int16))
        if values.size == 0 or (values.min() >= element.lowest and values.max() <= element.highest):
            return b.constant(values, element), None
    shift = 0 if x.element is element else 128 if element is U8 else -128
    if x.array is not None:
        x = b.constant(x.array.astype(np.int16) + shift, element)
    elif shift:
        x = Tensor(element, x.shape, b.use(b.elementwise(lambda s, x: s.bit_xor(x, 128), x)))
    if zero is None:
        return x, b.constant(np.array(shift), I32) if shift else None
    if zero.array is not None:
        shifted = zero.array.astype(np.int32) + shift
        return x, b.constant(shifted, I32) if shifted.any() else None
    return x, b.elementwise(lambda s, zero: s.add(s.cast(zero, I32), shift), zero, element=I32)


def sums_over(b: Builder, x: Tensor, axis: int, zero: Tensor | None = None) -> Tensor:
    """Returns the i32 sums over an axis, which stays with size 1, of integers minus zero points that broadcast."""
    if x.array is not None and zero is None:
        return b.constant(x.array.sum(axis, keepdims=True, dtype=np.int32), I32)
    if zero is not None:
        x = b.elementwise(lambda s, x, zero: s.sub(s.cast(x, I32), zero), x, zero, element=I32, shape=x.shape)
    return b.reduce(lambda s, total, x: s.add(total, s.cast(x, I32)), x, [axis], 0, keepdims=True, element=I32)


def of_rows(b: Builder, x: Tensor | None) -> Tensor | None:
    """Returns per-row scales or zero points so that they broadcast; one for all rows has rank 0."""
    if x is None or x.rank > 1:
        return x
    return b.reshape(x, []) if x.count == 1 else b.unsqueeze(x, [1])


def of_columns(b: Builder, x: Tensor | None) -> Tensor | None:
    if x is None or x.count != 1:
        return x
    return b.reshape(x, [])


def multiply_integers(b: Builder, x: Tensor, y: Tensor, x_zero: Tensor | None, y_zero: Tensor | None) -> Tensor:
    """Returns the i32 product of 8-bit integers minus their zero points. It is the product of the unsigned x and the
    signed y, which processors have instructions for, minus what the zero points r of rows and c of columns contribute:

        sum (x - r) (y - c) = sum x y - r sum y - c sum (x - r)

    All sums are exact modulo 2^32."""
    def multiply_matrices(x: Tensor, y: Tensor) -> Tensor:
        x, rows = with_sign(b, x, of_rows(b, x_zero), U8)
        y, columns = with_sign(b, y, of_columns(b, y_zero), I8)
        total = _multiply_matrices(b, x, y, I32)
        for zero, sums in ((rows, rows and sums_over(b, y, -2)), (columns, columns and sums_over(b, x, -1, rows))):
            if zero is not None and sums is not None:
                total = b.elementwise(lambda s, total, zero, sums: s.sub(total, s.mul(zero, sums)), total, zero, sums,
                                      shape=total.shape)
        return total

    return with_vectors(b, x, y, multiply_matrices)


def real_product(b: Builder, x: Bytes, y: Bytes, bias: Tensor | None = None, alpha: float = 1.0) -> Tensor:
    """Returns the product of quantized matrices as floats. An integer bias is added to the sums, a float bias to the
    product."""
    total = multiply_integers(b, x.values, y.values, x.zero, y.zero)
    if bias is not None and bias.element.is_integer:
        total = b.elementwise(lambda s, total, bias: s.add(total, bias), total, bias, shape=total.shape)
    factor = b.elementwise(lambda s, x, y: s.mul(s.mul(x, y), alpha), b.reshape(x.scale, []),
                           of_columns(b, y.scale) or y.scale)
    result = b.elementwise(lambda s, total, factor: s.mul(s.cast(total, F32), factor), total, factor, element=F32,
                           shape=total.shape)
    if bias is None or bias.element.is_integer:
        return result
    return b.elementwise(lambda s, y, bias: s.add(y, bias), result, bias)


def find_bytes(node: Node, x: Tensor, y: Tensor, count: Size, dim: int) -> tuple[Bytes, Bytes] | None:
    """Returns what both factors of sums of `count` products were dequantized from, if y is constant, the i32 sums of the
    products of bytes are exact, x has one scale and y one or one for each index of a dim that is not summed over, and no
    dequantized number overflows. Returns None otherwise."""
    left, right = (node.importer.dequantized.get(each) for each in (x, y))
    if left is None or right is None or right.values.array is None or not is_static(count) or count * 255**2 >= 2**31:
        return None
    is_scaled = right.scale.count == 1 or (y.rank > 1 and right.axis == dim % y.rank)
    scales = [each.scale.array for each in (left, right)]
    with np.errstate(over="ignore"):
        is_finite = all(each is not None and np.isfinite(each * np.float32(255)).all() for each in scales)
    return (left, right) if left.scale.count == 1 and is_scaled and is_finite else None


@operator("MatMulInteger")
def matmul_integer(b: Builder, node: Node, x: Tensor, y: Tensor, x_zero: Tensor | None = None,
                   y_zero: Tensor | None = None) -> Tensor:
    return multiply_integers(b, x, y, x_zero, y_zero)
