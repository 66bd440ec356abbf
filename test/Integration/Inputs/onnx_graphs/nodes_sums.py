# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random nodes that multiply and add: sums by indices, integer products, norms, attention, signals and
sampling."""

import numpy as np

from nodes import Node, Unfit, _window, kind


def floats(d, ranks):
    """Returns an f32 value with elements."""
    name, x = d.of(("float32",), ranks)
    if 0 in x.shape:
        raise Unfit
    return name, x


# ---------------------------------------------------------------- sums of products

@kind()
def einsum(d):
    name, x = d.of(("float32", "float64"), range(1, 5))
    if 0 in x.shape:
        raise Unfit  # ONNX Runtime divides by 0
    letters = d.rng.sample("abcdij", x.ndim)
    kept = [letter for letter in letters if d.flag(0.6)]
    if d.flag(0.4):
        d.rng.shuffle(kept)
        return Node("Einsum", [name], {"equation": f"{''.join(letters)}->{''.join(kept)}"})
    sizes = {**dict(zip(letters, x.shape)), "z": d.rng.randint(1, 4)}
    others = d.rng.sample([*letters, "z"], d.rng.randint(1, min(3, x.ndim + 1)))
    kept += ["z"] * ("z" in others and d.flag(0.8))
    d.rng.shuffle(kept)
    other = d.array([sizes[letter] for letter in others], x.dtype)
    if d.flag(0.2) and kept[:1] == letters[:1] and letters[0] not in others:
        letters, kept = ["...", *letters[1:]], ["...", *kept[1:]]
    return Node("Einsum", [name, other], {"equation": f"{''.join(letters)},{''.join(others)}->{''.join(kept)}"})


@kind()
def integer_product(d):
    name, x = d.of(("uint8", "int8"), range(2, 5))
    if 0 in x.shape:
        raise Unfit
    n, dtype = d.rng.randint(1, 7), d.choose("uint8", "int8") if x.dtype == np.uint8 else "int8"
    other = d.array([x.shape[-1], n], dtype, -100, 100)
    zeros = [np.array(d.rng.randint(0, 5), x.dtype), np.array(d.rng.randint(0, 5), dtype)]
    if d.flag():
        return Node("MatMulInteger", [name, other, *zeros[:d.rng.randint(0, 2)]])
    scales = [np.array(d.choose(0.25, 0.5, 0.125), "f4") for _ in range(3)]
    if d.flag(0.3):
        scales[1], zeros[1] = d.array([n], "float32", 1, 4), d.array([n], dtype, 0, 4)
    target = np.array(d.rng.randint(0, 9), x.dtype)
    return Node("QLinearMatMul", [name, scales[0], zeros[0], other, scales[1], zeros[1], scales[2], target])


@kind()
def integer_convolution(d):
    name, x = d.of(("uint8", "int8"), [4])
    if 0 in x.shape:
        raise Unfit
    dtype = d.choose("uint8", "int8") if x.dtype == np.uint8 else "int8"
    group = d.choose(1, x.shape[1])
    outputs = group * d.rng.randint(1, 4)
    kernel = [d.rng.randint(1, 3) for _ in x.shape[2:]]
    weights = d.array([outputs, x.shape[1] // group, *kernel], dtype, -90, 90)
    zeros = [np.array(d.rng.randint(0, 5), x.dtype), np.array(d.rng.randint(0, 5), dtype)]
    attributes = {**_window(d, kernel), "group": group}
    if d.flag():
        return Node("ConvInteger", [name, weights, *zeros[:d.rng.randint(0, 2)]], attributes)
    scale = d.array([outputs], "float32", 1, 4) if d.flag() else np.array(0.5, "f4")
    zero = np.full(np.shape(scale), zeros[1], dtype)
    bias = [d.array([outputs], "int32", -50, 50)] if d.flag() else []
    return Node("QLinearConv", [name, np.array(0.25, "f4"), zeros[0], weights, scale, zero, np.array(0.5, "f4"),
                                np.array(d.rng.randint(0, 9), x.dtype), *bias], attributes)


@kind(1.5)
def dequantized_sum(d):
    """Draws a product or a convolution of dequantized bytes, whose x may be quantized before and whose y after."""
    if d.opset < 13:
        raise Unfit
    is_image, chain = d.flag(), []
    name, x = d.of(("uint8", "int8", "float32"), [4] if is_image else range(1, 5))
    if 0 in x.shape:
        raise Unfit

    def add(op, *inputs, **attributes):
        chain.append(Node(op, list(inputs), attributes))
        return f"@{len(chain) - 1}"

    scale = np.array(d.choose(0.25, 0.5), "f4")
    zero = np.array(d.rng.randint(0, 9), d.choose("uint8", "int8") if x.dtype == np.float32 else x.dtype)
    name = add("QuantizeLinear", name, scale, zero) if x.dtype == np.float32 else name
    names = [add("DequantizeLinear", name, scale, *([zero] if d.flag(0.8) or x.dtype == np.float32 else []))]
    count, attributes = d.rng.randint(1, 6), {}
    if is_image:
        group = d.choose(1, x.shape[1])
        kernel, count = [d.rng.randint(1, 3) for _ in range(2)], count * group
        shape, axis, attributes = [count, x.shape[1] // group, *kernel], 0, {**_window(d, kernel), "group": group}
    else:
        shape, axis = [x.shape[-1], count], 1
    is_turned = not is_image and d.flag(0.3)
    weights = d.array(shape[::-1] if is_turned else shape, d.choose("uint8", "int8"), -90, 90)
    scales = np.abs(d.array([count])) / 8 + np.float32(0.125) if d.flag() else np.array(0.125, "f4")
    zeros = [np.full(scales.shape, d.rng.randint(0, 5), weights.dtype)] if d.flag() else []
    right = add("DequantizeLinear", weights, scales, *zeros, **({"axis": 1 - axis if is_turned else axis} if scales.ndim else {}))
    names.append(right if not is_turned or x.ndim == 2 else add("Transpose", right))
    if is_image and d.flag():
        names.append(add("DequantizeLinear", d.array([count], "int32", -50, 50), np.array(0.25, "f4")))
    if is_turned and x.ndim == 2:
        result = add("Gemm", *names, transB=1, alpha=d.choose(1.0, 0.5))
    else:
        result = add("Conv" if is_image else "MatMul", *names, **attributes)
    if d.flag(0.3):
        target = np.array(4, "f4"), np.array(d.rng.randint(0, 9), "uint8")
        add("DequantizeLinear", add("QuantizeLinear", result, *target), *target)
    return chain


@kind(0.7)
def quantize_dynamically(d):
    return Node("DynamicQuantizeLinear", [floats(d, range(1, 5))[0]], outputs=3)


@kind()
def quantize_by_axis(d):
    name, x = floats(d, range(2, 5))
    if d.opset < 13:
        raise Unfit
    axis = d.axis(x.ndim)
    scale = np.abs(d.array([x.shape[axis]])) + np.float32(0.25)
    zero = d.array(scale.shape, d.choose("uint8", "int8"), 0, 9)
    return Node("QuantizeLinear", [name, scale, zero], {"axis": axis})


# --------------------------------------------------------------------------- norms

@kind()
def group_norm(d):
    name, x = floats(d, [3, 4])
    if d.opset < 21:
        raise Unfit
    groups = d.rng.choice([n for n in range(1, x.shape[1] + 1) if x.shape[1] % n == 0])
    return Node("GroupNormalization", [name, d.array([x.shape[1]]), d.array([x.shape[1]])], {"num_groups": groups})


@kind()
def rms_norm(d):
    name, x = floats(d, range(1, 5))
    if d.opset < 23:
        raise Unfit
    axis = d.axis(x.ndim)
    return Node("RMSNormalization", [name, d.array(x.shape[axis:])], {"axis": axis})


@kind(0.7)
def other_norm(d):
    name, x = floats(d, [4])
    if d.flag():
        return Node("MeanVarianceNormalization", [name])
    return Node("GlobalLpPool", [name], {"p": d.choose(1, 2)})


@kind()
def layer_norm_outputs(d):
    name, x = floats(d, range(2, 5))
    if d.opset < 17:
        raise Unfit
    axis = d.axis(x.ndim)
    rest = [d.array(x.shape[axis:]), *([d.array(x.shape[axis:])] if d.flag() else [])]
    return Node("LayerNormalization", [name, *rest], {"axis": axis, "epsilon": d.choose(1e-5, 0.1)}, outputs=3)


# ----------------------------------------------------------------------- attention

@kind(1.5)
def attention(d):
    name, x = floats(d, [4])
    if d.opset < 23:
        raise Unfit
    batch, heads, length, size = x.shape
    few = d.rng.choice([n for n in range(1, heads + 1) if heads % n == 0])
    past = d.rng.randint(0, 4)
    keys = d.array([batch, few, past or length, size]) / np.float32(2)
    values = d.array([batch, few, past or length, d.rng.randint(1, 5)])
    total = past or length
    mask = [] if d.flag() else [d.array([length, total], d.choose("bool", "float32"))]
    if mask and mask[0].dtype == bool:
        mask[0][:, 0] = True  # a row without any key is undefined
    return Node("Attention", [name, keys, values, *mask],
                {"is_causal": int(d.flag(0.3)), "softcap": d.choose(0.0, 0.0, 2.0)})


@kind()
def rotary(d):
    name, x = floats(d, [4])
    if d.opset < 23 or x.shape[3] % 2:
        raise Unfit
    half = x.shape[3] // 2
    tables = [d.array([9, half]) / np.float32(4) for _ in range(2)]
    return Node("RotaryEmbedding", [name, *tables, d.array([x.shape[0], x.shape[2]], "int64", 0, 9)],
                {"interleaved": int(d.flag())})


# ------------------------------------------------------------- signals and sampling

@kind()
def fourier(d):
    name, x = floats(d, range(2, 5))
    if d.opset < 17:
        raise Unfit
    rank = x.ndim + 1
    axis = d.rng.randrange(1, rank - 1) if rank > 2 else 0
    inverse = d.flag(0.3)
    attributes = {"inverse": int(inverse), "onesided": int(not inverse and d.flag(0.4))}
    numbers = Node("Unsqueeze", [name, d.integers([-1])])
    inputs = ["@0", np.array(d.rng.randint(1, 9), np.int64) if d.flag(0.3) else ""]
    if d.opset < 20:
        return [numbers, Node("DFT", inputs, {**attributes, "axis": axis})]
    return [numbers, Node("DFT", [*inputs, np.array(axis - rank * d.flag(0.3), np.int64)], attributes)]


@kind(0.7)
def short_fourier(d):
    name, x = floats(d, [2])
    if d.opset < 17 or x.shape[1] < 2:
        raise Unfit
    length = d.rng.randint(2, x.shape[1])
    window = d.array([length]) if d.flag(0.7) else ""
    size = [np.array(length, np.int64)] if isinstance(window, str) or d.flag() else []
    return [Node("Unsqueeze", [name, d.integers([-1])]),
            Node("STFT", ["@0", np.array(d.rng.randint(1, 3), np.int64), window, *size], {"onesided": int(d.flag(0.7))})]


@kind(0.3)
def mel_weights(d):
    if d.opset < 17:
        raise Unfit
    numbers = [np.array(d.rng.randint(2, 6), np.int64), np.array(d.choose(16, 31, 32), np.int64),
               np.array(8000, np.int64), np.array(d.choose(0.0, 20.0), "f4"), np.array(d.choose(2000.0, 4000.0), "f4")]
    return Node("MelWeightMatrix", numbers)


@kind()
def grid_sample(d):
    name, x = floats(d, [4])
    if d.opset < 16:
        raise Unfit
    grid = d.array([x.shape[0], d.rng.randint(1, 4), d.rng.randint(1, 4), 2]) / np.float32(2.75)
    modes = ("bilinear", "nearest", "bicubic") if d.opset < 20 else ("linear", "nearest", "cubic")
    return Node("GridSample", [name, grid], {"mode": d.choose(*modes), "align_corners": int(d.flag()),
                                             "padding_mode": d.choose("zeros", "border", "reflection")})


@kind(0.7)
def affine_grid(d):
    if d.opset < 20:
        raise Unfit
    count, spatial = d.rng.randint(1, 2), d.choose(2, 3)
    sizes = [count, 2, *[d.rng.randint(1, 4) for _ in range(spatial)]]
    # In a dim of size 1, ONNX Runtime has the last of both aligned corners, and the reference evaluator the first.
    return Node("AffineGrid", [d.array([count, spatial, spatial + 1]), d.integers(sizes)],
                {"align_corners": int(d.flag() and 1 not in sizes[2:])})


@kind(0.7)
def regions(d):
    name, x = floats(d, [4])
    if d.opset < 16:
        raise Unfit
    count = d.rng.randint(1, 3)
    corners = d.array([count, 2], "float32", 0, 3)
    boxes = np.concatenate([corners, corners + np.abs(d.array([count, 2])) + 1], 1).astype("f4")
    return Node("RoiAlign", [name, boxes, d.array([count], "int64", 0, x.shape[0])],
                {"output_height": d.rng.randint(1, 3), "output_width": d.rng.randint(1, 3),
                 "sampling_ratio": d.rng.randint(1, 3),  # the max mode of ONNX Runtime differs from ONNX
                 "coordinate_transformation_mode": d.choose("half_pixel", "output_half_pixel")})


@kind(0.7)
def largest_regions(d):
    name, x = floats(d, [4])
    count = d.rng.randint(1, 3)
    corners = d.array([count, 2], "float32", 0, 2)
    numbers = d.array([count, 1], "int64", 0, x.shape[0]).astype("f4")
    boxes = np.concatenate([numbers, corners, corners + np.abs(d.array([count, 2]))], 1).astype("f4")
    return Node("MaxRoiPool", [name, boxes], {"pooled_shape": [d.rng.randint(1, 3), d.rng.randint(1, 3)],
                                              "spatial_scale": d.choose(1.0, 0.5)})


@kind(0.7)
def deformed_conv(d):
    name, x = floats(d, [4])
    if d.opset < 19:
        raise Unfit
    kernel, group = [d.rng.randint(1, 3) for _ in range(2)], d.choose(1, x.shape[1])
    window = _window(d, kernel)
    taken = [size + window["pads"][dim] + window["pads"][dim + 2] - window["dilations"][dim] * (kernel[dim] - 1) - 1
             for dim, size in enumerate(x.shape[2:])]
    if min(taken) < 0:
        raise Unfit
    sizes = [size // stride + 1 for size, stride in zip(taken, window["strides"])]
    parts = d.rng.choice([n for n in range(1, x.shape[1] + 1) if x.shape[1] % n == 0])
    places, outputs = int(np.prod(kernel)), group * d.rng.randint(1, 3)
    offsets = d.array([x.shape[0], parts * 2 * places, *sizes]) / np.float32(2.75)
    bias = d.array([outputs]) if d.flag() else ""
    mask = [bias, d.array([x.shape[0], parts * places, *sizes])] if d.flag() else [bias]
    return Node("DeformConv", [name, d.array([outputs, x.shape[1] // group, *kernel]), offsets, *mask],
                {**window, "group": group, "offset_group": parts})


@kind(0.7)
def columns(d):
    if d.opset < 18:
        raise Unfit
    kernel = [d.rng.randint(1, 3) for _ in range(2)]
    sizes = [size + d.rng.randint(0, 2) for size in kernel]
    places = int(np.prod([size - part + 1 for size, part in zip(sizes, kernel)]))
    x = d.array([d.rng.randint(1, 2), d.rng.randint(1, 2) * int(np.prod(kernel)), places])
    return Node("Col2Im", [x, d.integers(sizes), d.integers(kernel)])


@kind(0.5)
def windows(d):
    if d.opset < 17:
        raise Unfit
    return Node(d.choose("HannWindow", "HammingWindow", "BlackmanWindow"), [np.array(d.rng.randint(3, 9), np.int64)],
                {"periodic": int(d.flag())})


@kind(0.5)
def determinant(d):
    name, x = floats(d, range(2, 5))
    if x.shape[-1] != x.shape[-2]:
        raise Unfit
    return Node("Det", [name])


@kind(0.7)
def loss(d):
    name, x = floats(d, range(2, 5))
    if d.opset < 12:
        raise Unfit
    op, classes = d.choose("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"), x.shape[1]
    labels = d.array([x.shape[0], *x.shape[2:]], "int64", 0, classes)
    weights = [np.abs(d.array([classes])) + np.float32(1)] if d.flag() else []
    return Node(op, [name, labels, *weights], {"reduction": d.choose("none", "mean", "sum")})
