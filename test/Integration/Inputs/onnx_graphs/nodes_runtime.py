# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random nodes of com.microsoft, as ONNX Runtime's optimizer and quantizer write them."""

import numpy as np

from nodes import Node, Unfit, _window, kind
from nodes_sums import floats

MICROSOFT = "com.microsoft"
ACTIVATIONS = {"Relu": {}, "Sigmoid": {}, "Tanh": {}, "LeakyRelu": {"alpha": 0.125},
               "HardSigmoid": {"alpha": 0.25, "beta": 0.5}}


def make(op, inputs, attributes=None, outputs=1):
    return Node(op, inputs, attributes or {}, outputs, MICROSOFT)


def scale(d):
    return np.array(d.choose(0.25, 0.5, 0.125, 1.0), "f4")


def zero(d, dtype):
    """Returns an even zero point: ONNX Runtime rounds ties after it adds the zero point."""
    return np.array(2 * d.rng.randint(0, 4) - 4 * (np.dtype(dtype).kind == "i"), dtype)


def bytes_of(d, ranks):
    """Returns the name of an 8-bit value with elements, and the value."""
    name, x = d.of(("uint8", "int8"), ranks)
    if 0 in x.shape:
        raise Unfit
    return name, x


# ------------------------------------------------------------------------ quantized

@kind()
def quantized_binary(d):
    name, x = bytes_of(d, range(5))
    other = d.broadcastable(x.shape, x.dtype)
    return make(d.choose("QLinearAdd", "QLinearMul"),
                [name, scale(d), zero(d, x.dtype), other, scale(d), zero(d, x.dtype), scale(d), zero(d, x.dtype)])


@kind()
def quantized_unary(d):
    op = d.choose("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax")
    name, x = bytes_of(d, range(1, 5))
    target = [np.array(1 / 64, "f4"), np.array(0 if x.dtype == np.uint8 else -128, x.dtype)]
    if op == "QLinearLeakyRelu":
        return make(op, [name, scale(d), zero(d, x.dtype), scale(d), zero(d, x.dtype)], {"alpha": d.choose(0.25, 0.01)})
    attributes = {"axis": d.axis(x.ndim), "opset": d.choose(12, 13)} if op == "QLinearSoftmax" else {}
    return make(op, [name, scale(d), zero(d, x.dtype), *target], attributes)


@kind(0.7)
def quantized_pool(d):
    name, x = bytes_of(d, [4])
    quantities = [scale(d), zero(d, x.dtype), scale(d), zero(d, x.dtype)]
    if d.flag():
        return make("QLinearGlobalAveragePool", [name, *quantities], {"channels_last": int(d.flag())})
    kernel = [d.rng.randint(1, min(3, size)) for size in x.shape[2:]]  # without a window, its shape is undefined
    return make("QLinearAveragePool", [name, *quantities],
                {"kernel_shape": kernel, "strides": [d.rng.randint(1, 3) for _ in kernel],
                 "pads": [d.rng.randint(0, size - 1) for size in kernel * 2], "ceil_mode": int(d.flag(0.3)),
                 "count_include_pad": int(d.flag())})


@kind(0.7)
def quantized_concat(d):
    name, x = bytes_of(d, range(1, 5))
    parts = [name, scale(d), zero(d, x.dtype)]
    for _ in range(d.rng.randint(1, 2)):
        parts += [d.array(x.shape, x.dtype), scale(d), zero(d, x.dtype)]
    return make("QLinearConcat", [scale(d), zero(d, x.dtype), *parts], {"axis": d.axis(x.ndim)})


@kind()
def quantized_gemm(d):
    name, x = bytes_of(d, [2])
    turned, n = d.flag(), d.rng.randint(1, 6)
    k = x.shape[1]
    dtype = d.choose("uint8", "int8") if x.dtype == np.uint8 else "int8"
    columns = d.flag(0.3)
    y_scale = d.array([n], "float32", 1, 3) if columns else scale(d)
    y_zero = d.array([n], dtype, 0, 4) if columns else zero(d, dtype)
    inputs = [name, scale(d), zero(d, x.dtype), d.array([n, k] if turned else [k, n], dtype, -90, 90), y_scale, y_zero]
    bias = d.array([n], "int32", -50, 50) if d.flag() else ""
    target = [scale(d), zero(d, x.dtype)] if d.flag(0.7) else []
    inputs += [bias, *target] if target or not isinstance(bias, str) else []
    return make("QGemm", inputs, {"transB": int(turned), "alpha": d.choose(1.0, 0.5)})


@kind()
def product_to_floats(d):
    if d.flag():
        name, x = bytes_of(d, range(2, 5))
        dtype = d.choose("uint8", "int8") if x.dtype == np.uint8 else "int8"
        n = d.rng.randint(1, 6)
        bias = [d.array([n])] if d.flag() else []
        return make("MatMulIntegerToFloat", [name, d.array([x.shape[-1], n], dtype, -90, 90), scale(d), scale(d),
                                             zero(d, x.dtype), zero(d, dtype), *bias])
    name, x = floats(d, range(2, 5))
    n, dtype = d.rng.randint(1, 6), d.choose("uint8", "int8")
    bias = [d.array([n])] if d.flag() else []
    return make("DynamicQuantizeMatMul", [name, d.array([x.shape[-1], n], dtype, -90, 90), scale(d), zero(d, dtype),
                                          *bias])


@kind(0.7)
def few_bits(d):
    name, x = floats(d, range(2, 4))
    n, k, block = d.rng.randint(1, 6), x.shape[-1], 16
    blocks = -(-k // block)
    packed = d.array([n, blocks, block // 2], "uint8", 0, 256)
    zeros = [d.array([n * -(-blocks // 2)], "uint8", 0, 256)] if d.flag() else []
    return make("MatMulNBits", [name, packed, np.abs(d.array([n * blocks])) / np.float32(8), *zeros],
                {"K": k, "N": n, "bits": 4, "block_size": block})


@kind(0.4)
def quantized_where(d):
    name, x = bytes_of(d, range(1, 5))
    condition = d.broadcastable(x.shape, "bool")
    return make("QLinearWhere", [condition, name, scale(d), zero(d, x.dtype), d.broadcastable(x.shape, x.dtype),
                                 scale(d), zero(d, x.dtype), scale(d), zero(d, x.dtype)])


@kind(0.4)
def channels_last_pool(d):
    name, x = bytes_of(d, range(3, 6))
    kernel = [d.rng.randint(1, min(3, size)) for size in x.shape[1:-1]]  # without a window, its shape is undefined
    return make("NhwcMaxPool", [name], {"kernel_shape": kernel, "strides": [d.rng.randint(1, 3) for _ in kernel],
                                        "pads": [d.rng.randint(0, size - 1) for size in kernel * 2]})


@kind(0.4)
def quantized_rows(d):
    rows, blocks = d.rng.randint(1, 6), d.rng.randint(1, 3)
    places = d.array([d.rng.randint(1, 3) for _ in range(d.rng.randint(0, 2))], d.choose("int32", "int64"), -rows, rows)
    zeros = [d.array([rows, blocks], "uint8", 0, 256)] if d.flag() else []
    return make("GatherBlockQuantized", [d.array([rows, 16 * blocks], "uint8", 0, 256), places,
                                         d.array([rows, blocks]), *zeros], {"block_size": 16, "bits": 8, "quantize_axis": d.choose(1, -1)})


@kind(0.5)
def quantized_attention(d):
    name, x = bytes_of(d, [3])
    width = x.shape[-1]
    scales = [np.array(1 / 16, "f4"), np.array(1 / 32, "f4")]
    mask = [d.array(x.shape[:2], "int32", 0, 2)] if d.flag() else [""]
    return make("QAttention", [name, d.array([width, 3 * width], d.choose("uint8", "int8"), -90, 90),
                               d.array([3 * width]), *scales, *mask, zero(d, x.dtype)],
                {"num_heads": d.rng.choice([heads for heads in (1, 2, 3) if width % heads == 0]),
                 "unidirectional": int(d.flag())})


# --------------------------------------------------------------------------- algebra

@kind(0.4)
def distances(d):
    name, x = floats(d, [2])
    return make("CDist", [name, d.array([d.rng.randint(1, 6), x.shape[1]])],
                {"metric": d.choose("euclidean", "sqeuclidean")})


@kind(0.3)
def inverse(d):
    name, x = floats(d, range(2, 5))
    if x.shape[-1] != x.shape[-2]:
        raise Unfit
    return [Node("Add", [name, np.eye(x.shape[-1], dtype="f4") * np.float32(32)]), make("Inverse", ["@0"])]


@kind(0.4)
def new_dim(d):
    name, x = d.of(("float32", "int32", "uint8", "int8"))
    return make("ExpandDims", [name, np.array(d.rng.randint(-x.ndim - 1, x.ndim), "i4")])


# --------------------------------------------------------------------------- fusions

@kind()
def fused_gelu(d):
    op = d.choose("Gelu", "QuickGelu", "BiasGelu", "FastGelu")
    name, x = floats(d, range(1, 5))
    bias = [d.array([x.shape[-1]])] if op == "BiasGelu" or op == "FastGelu" and d.flag() else []
    return make(op, [name, *bias], {"alpha": d.choose(1.702, 1.0)} if op == "QuickGelu" else {})


@kind()
def fused_matmul(d):
    name, x = floats(d, range(2, 5))
    turned_a, turned_b = d.flag(), d.flag()
    k, n = x.shape[-2 if turned_a else -1], d.rng.randint(1, 6)
    other = d.array([*x.shape[:-2], *([n, k] if turned_b else [k, n])])
    return make(d.choose("FusedMatMul", "TransposeMatMul"), [name, other], {"transA": int(turned_a), "transB": int(turned_b),
                                               "alpha": d.choose(1.0, 0.5)})


@kind(0.7)
def fused_gemm(d):
    name, x = floats(d, [2])
    turned, n, op = d.flag(), d.rng.randint(1, 6), d.rng.choice(list(ACTIVATIONS))
    bias = [d.array(d.choose([n], [1, n], [x.shape[0], 1]))] if d.flag() else []
    given = {f"activation_{key}": value for key, value in ACTIVATIONS[op].items()}
    return make("FusedGemm", [name, d.array([n, x.shape[1]] if turned else [x.shape[1], n]), *bias],
                {"transB": int(turned), "alpha": d.choose(1.0, 0.5), "activation": op, **given})


@kind(0.7)
def fused_conv(d):
    name, x = floats(d, [4])
    kernel, op = [d.rng.randint(1, 3) for _ in x.shape[2:]], d.rng.choice(list(ACTIVATIONS))
    group = d.choose(1, x.shape[1])
    outputs = group * d.rng.randint(1, 4)
    bias = [d.array([outputs])] if d.flag() else []
    return make("FusedConv", [name, d.array([outputs, x.shape[1] // group, *kernel]), *bias],
                {**_window(d, kernel), "group": group, "activation": op,
                 **({"activation_params": list(ACTIVATIONS[op].values())} if ACTIVATIONS[op] else {})})


@kind()
def skip_norm(d):
    name, x = floats(d, [3])
    size = x.shape[-1]
    # ONNX Runtime does not check at run time that the sizes of both are equal.
    skip = name if d.has_dynamic_dims else d.array(x.shape)
    if d.flag():
        rest = [d.array([size]), d.array([size]) if d.flag() else "", d.array([size])]
        return make("SkipLayerNormalization", [name, skip, *rest[:d.rng.randint(1, 3)]],
                    {"epsilon": d.choose(1e-12, 0.125)})
    rest = [d.array([size]), *([d.array([size])] if d.flag() else [])]
    return make("SkipSimplifiedLayerNormalization", [name, skip, *rest], {"epsilon": d.choose(1e-5, 0.125)})


@kind(0.5)
def embed_norm(d):
    batch, length, size = d.rng.randint(1, 3), d.rng.randint(1, 5), d.rng.randint(1, 6)
    has_segments = d.flag()
    tables = [d.array([7, size]), d.array([length + d.rng.randint(0, 3), size]), d.array([2, size])]
    ids, segments = d.array([batch, length], "int32", 0, 7), d.array([batch, length], "int32", 0, 2)
    mask = [d.array([batch, length], "int32", 0, 2)] if d.flag() else []
    return make("EmbedLayerNormalization", [ids, segments if has_segments else "", *tables[:2],
                                            tables[2] if has_segments else "", d.array([size]), d.array([size]), *mask],
                {"epsilon": d.choose(1e-12, 0.125)}, outputs=2)


@kind(0.5)
def quantized_lstm(d):
    name, x = floats(d, [3])
    hidden, both = d.rng.randint(1, 4), d.flag(0.3)
    directions, dtype = 1 + both, d.choose("uint8", "int8")
    weights = [d.array([directions, rows, 4 * hidden], dtype, -90, 90) for rows in (x.shape[2], hidden)]
    bias = d.array([directions, 8 * hidden]) / np.float32(8) if d.flag() else ""
    quantities = []
    for _ in weights:
        quantities += [np.full([directions], 1 / 256, "f4"), np.full([directions], d.rng.randint(0, 4), dtype)]
    return make("DynamicQuantizeLSTM", [name, *weights, bias, "", "", "", "", *quantities],
                {"hidden_size": hidden, "direction": "bidirectional" if both else d.choose("forward", "reverse")}, 2)


@kind()
def attention(d):
    name, x = floats(d, [3])
    batch, rows, width = x.shape
    attributes = {"num_heads": d.rng.choice([heads for heads in (1, 2, 3) if width % heads == 0]),
                  "unidirectional": int(d.flag())}
    if d.flag():
        mask = [d.array(shape, "int32", 0, 2) for shape in ([batch, rows], [batch, rows, rows]) if d.flag()][:1]
        return make("Attention", [name, d.array([width, 3 * width]), d.array([3 * width]), *mask], attributes)
    keys = d.rng.randint(1, 4)
    return make("MultiHeadAttention", [name, d.array([batch, keys, width]), d.array([batch, keys, width])], attributes)
