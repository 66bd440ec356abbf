"""Operators of the domain com.microsoft, written by ONNX Runtime's tools: quantized forms of ONNX operators, and
fusions of products with activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32, Element
from layout_mlir.onnx_import.node import Node, find_operator, operator
from layout_mlir.onnx_import.operators.activations import ACTIVATIONS, gelu_by_tanh, gelu_of, swish_of
from layout_mlir.onnx_import.operators.elementwise import in_f32
from layout_mlir.onnx_import.operators.products import affine, multiply, real_product, scaled, transposed
from layout_mlir.onnx_import.operators.quantization import dequantize, quantize, quantize_dynamically
from layout_mlir.onnx_import.operators.softmax import softmax_over
from layout_mlir.onnx_import.scalars import Body, Scalars
from layout_mlir.onnx_import.values import Bytes, Scalar, Tensor
from layout_mlir.onnx_import.windows import sum_element

MICROSOFT = "com.microsoft"


def run_operator(b: Builder, node: Node, name: str, x: Tensor, attributes: Sequence[str]) -> Tensor:
    """Imports an ONNX operator on a tensor, with the named attributes of the node."""
    from onnx import helper

    function = find_operator("", name)
    assert function is not None
    proto = helper.make_node(name, ["x"], [node.proto.output[0]], name=node.proto.name)
    proto.attribute.extend(each for each in node.proto.attribute if each.name in attributes)
    result: Any = function(b, Node(proto, node.importer, [x]), x)
    return result if isinstance(result, Tensor) else result[0]


def as_scalar(b: Builder, x: Tensor | None) -> Tensor | None:
    """Returns a per-tensor scale or zero point as a tensor of rank 0."""
    return b.reshape(x, []) if x is not None else None


def real(b: Builder, x: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor:
    return dequantize(b, x, b.reshape(scale, []), as_scalar(b, zero), F32)


def whole(b: Builder, y: Tensor, scale: Tensor, zero: Tensor | None, element: Element) -> Tensor:
    return quantize(b, y, b.reshape(scale, []), as_scalar(b, zero), element)


# ------------------------------------------------------------------- quantized

@operator("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def qlinear_binary(b: Builder, node: Node, x: Tensor, x_scale: Tensor, x_zero: Tensor | None, y: Tensor,
                   y_scale: Tensor, y_zero: Tensor | None, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    given = [real(b, x, x_scale, x_zero), real(b, y, y_scale, y_zero)]
    body: Body = (lambda s, x, y: s.add(x, y)) if node.op == "QLinearAdd" else (lambda s, x, y: s.mul(x, y))
    return whole(b, b.elementwise(body, *given), scale, zero, x.element)


@operator("QLinearSigmoid", "QLinearLeakyRelu", domain=MICROSOFT)
def qlinear_activation(b: Builder, node: Node, x: Tensor, x_scale: Tensor, x_zero: Tensor | None, scale: Tensor,
                       zero: Tensor | None = None) -> Tensor:
    body = ACTIVATIONS[node.op[len("QLinear"):]](node)
    return whole(b, b.elementwise(body, real(b, x, x_scale, x_zero)), scale, zero, x.element)


@operator("QLinearSoftmax", domain=MICROSOFT)
def qlinear_softmax(b: Builder, node: Node, x: Tensor, x_scale: Tensor, x_zero: Tensor | None, scale: Tensor,
                    zero: Tensor | None = None) -> Tensor:
    """Imports QLinearSoftmax as the Softmax of the opset in an attribute: below 13 over all dims from `axis` on."""
    axis = node.axis(-1 if node.attribute("opset", 13) >= 13 else 1, x.rank)
    axes = [axis] if node.attribute("opset", 13) >= 13 else list(range(axis, x.rank))
    return whole(b, softmax_over(b, real(b, x, x_scale, x_zero), axes), scale, zero, x.element)


@operator("QLinearAveragePool", domain=MICROSOFT)
def qlinear_average_pool(b: Builder, node: Node, x: Tensor, x_scale: Tensor, x_zero: Tensor | None, scale: Tensor,
                         zero: Tensor | None = None) -> Tensor:
    names = ["auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"]

    def pool(x: Tensor) -> Tensor:
        return run_operator(b, node, "AveragePool", x, names)

    return whole(b, _with_channels(b, node, real(b, x, x_scale, x_zero), pool), scale, zero, x.element)


@operator("QLinearGlobalAveragePool", domain=MICROSOFT)
def qlinear_global_average_pool(b: Builder, node: Node, x: Tensor, x_scale: Tensor, x_zero: Tensor | None,
                                scale: Tensor, zero: Tensor | None = None) -> Tensor:
    def pool(x: Tensor) -> Tensor:
        return run_operator(b, node, "GlobalAveragePool", x, [])

    return whole(b, _with_channels(b, node, real(b, x, x_scale, x_zero), pool), scale, zero, x.element)


def _with_channels(b: Builder, node: Node, x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Applies a function for tensors with channels in dim 1, transposing if the node has channels last."""
    return with_channels(b, x, function) if node.attribute("channels_last", 0) else function(x)


def with_channels(b: Builder, x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Applies a function for tensors with channels in dim 1 to a tensor with channels in the last dim."""
    first = function(b.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)]))
    return b.transpose(first, [0, *range(2, x.rank), 1])


@operator("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(b: Builder, node: Node, scale: Tensor, zero: Tensor, *given: Tensor) -> Tensor:
    parts = [whole(b, real(b, *given[first:first + 3]), scale, zero, zero.element)
             for first in range(0, len(given), 3)]
    return b.concat(parts, node.axis(0, parts[0].rank))


@operator("QGemm", domain=MICROSOFT)
def qgemm(b: Builder, node: Node, x: Tensor, x_scale: Tensor, x_zero: Tensor, y: Tensor, y_scale: Tensor,
          y_zero: Tensor, bias: Tensor | None = None, scale: Tensor | None = None,
          zero: Tensor | None = None) -> Tensor:
    """Imports QGemm. Without a scale for the result, the result has floats."""
    x, y = transposed(b, node, x, y)
    result = real_product(b, Bytes(x, x_scale, x_zero), Bytes(y, y_scale, y_zero), bias, node.attribute("alpha", 1.0))
    return result if scale is None else whole(b, result, scale, zero, zero.element if zero is not None else x.element)


@operator("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(b: Builder, node: Node, x: Tensor, y: Tensor, x_scale: Tensor, y_scale: Tensor,
                            x_zero: Tensor | None = None, y_zero: Tensor | None = None,
                            bias: Tensor | None = None) -> Tensor:
    return real_product(b, Bytes(x, x_scale, x_zero), Bytes(y, y_scale, y_zero), bias)


@operator("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(b: Builder, node: Node, x: Tensor, y: Tensor, y_scale: Tensor, y_zero: Tensor | None = None,
                            bias: Tensor | None = None) -> Tensor:
    return real_product(b, Bytes(*quantize_dynamically(b, x)), Bytes(y, y_scale, y_zero), bias)


# ----------------------------------------------------------------------- fused

@operator("Gelu", domain=MICROSOFT)
def gelu(b: Builder, node: Node, x: Tensor) -> Tensor:
    return b.elementwise(in_f32(gelu_of), x)


@operator("QuickGelu", domain=MICROSOFT)
def quick_gelu(b: Builder, node: Node, x: Tensor) -> Tensor:
    return b.elementwise(in_f32(swish_of(node.attribute("alpha", 1.702))), x)


@operator("BiasGelu", domain=MICROSOFT)
def bias_gelu(b: Builder, node: Node, x: Tensor, bias: Tensor) -> Tensor:
    return b.elementwise(in_f32(lambda s, x, bias: gelu_of(s, s.add(x, bias))), x, bias)


@operator("FastGelu", domain=MICROSOFT)
def fast_gelu(b: Builder, node: Node, x: Tensor, bias: Tensor | None = None) -> Tensor:
    if bias is None:
        return b.elementwise(in_f32(gelu_by_tanh), x)
    return b.elementwise(in_f32(lambda s, x, bias: gelu_by_tanh(s, s.add(x, bias))), x, bias)


@operator("FusedMatMul", domain=MICROSOFT)
def fused_matmul(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    """Imports FusedMatMul: `transA` swaps the last two dims, `transBatchA` moves the first dim before the last one."""
    def arrange(x: Tensor, letter: str) -> Tensor:
        order = list(range(x.rank))
        if node.attribute(f"transBatch{letter}", 0):
            order = [*order[1:-1], 0, order[-1]]
        if node.attribute(f"trans{letter}", 0) and x.rank > 1:
            order[-2:] = order[:-3:-1]
        return b.transpose(x, order)

    element = sum_element(x.element)
    product = multiply(b, arrange(x, "A"), arrange(y, "B"), element)
    return b.cast(scaled(b, product, node.attribute("alpha", 1.0), element), x.element)


@operator("FusedGemm", domain=MICROSOFT)
def fused_gemm(b: Builder, node: Node, x: Tensor, y: Tensor, c: Tensor | None = None) -> Tensor:
    from onnx import helper

    result, name = affine(b, node, x, y, c), node.attribute("activation", "")
    if not name:
        return b.cast(result, x.element)
    if name not in ACTIVATIONS:
        node.refuse(f"its activation '{name}' is unknown")
    given = {each: node.attribute(f"activation_{each}") for each in ("alpha", "beta", "gamma")
             if node.has(f"activation_{each}")}
    proto = helper.make_node(name, ["x"], [node.proto.output[0]], **given)
    body = ACTIVATIONS[name](Node(proto, node.importer, []))
    return b.cast(b.elementwise(body, result), x.element)


@operator("MatMulNBits", domain=MICROSOFT)
def matmul_n_bits(b: Builder, node: Node, x: Tensor, packed: Tensor, scales: Tensor, zeros: Tensor | None = None,
                  groups: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """Multiplies by a weight [N, K] whose rows are blocks of packed n-bit integers, lowest bits first."""
    n, k, block, bits = (int(node.attribute(name, default)) for name, default in (
        ("N", 0), ("K", 0), ("block_size", 32), ("bits", 4)))
    if groups is not None:
        node.refuse("reordered blocks (g_idx) are not supported")
    if packed.array is None or (zeros is not None and zeros.array is None):
        node.refuse("its weight is not a constant")
    count = -(-k // block)
    values = b.constant(_unpack(packed.array.reshape(n, count, -1), bits)[:, :, :block])
    if zeros is None or zeros.array is None:
        zeros = b.constant(np.full((n, count, 1), 1 << (bits - 1), np.uint8))
    elif not zeros.element.is_float:
        zeros = b.constant(_unpack(zeros.array.reshape(n, -1), bits)[:, :count])
    scales, zeros = b.reshape(scales, [n, count, 1]), b.reshape(zeros, [n, count, 1])

    def weight_of(s: Scalars, x: Scalar, scale: Scalar, zero: Scalar) -> Scalar:
        return s.mul(s.sub(s.cast(x, F32), s.cast(zero, F32)), s.cast(scale, F32))

    weight = b.reshape(b.elementwise(weight_of, values, scales, zeros, element=F32), [n, count * block])
    weight = b.transpose(b.slice(weight, [0, 0], [n, k]), [1, 0])
    result = multiply(b, b.cast(x, F32), weight, F32)
    if bias is not None:
        result = b.elementwise(lambda s, y, bias: s.add(y, s.cast(bias, F32)), result, bias)
    return b.cast(result, x.element)


def _unpack(data: Any, bits: int) -> Any:
    """Unpacks unsigned integers from bytes, lowest bits first."""
    wide = np.unpackbits(data.astype(np.uint8), axis=-1, bitorder="little")
    parts = wide.reshape(*data.shape[:-1], -1, bits)
    return (parts * (1 << np.arange(bits))).sum(axis=-1).astype(np.uint8)
