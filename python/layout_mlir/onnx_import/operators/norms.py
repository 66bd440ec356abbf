"""Normalization by statistics of a batch, an image, a channel group, a row, or adjacent channels.

The variance is the mean square of the centered elements, computed in a second pass. Statistics of narrow floats are
computed in f32.
"""

from __future__ import annotations

from collections.abc import Sequence

from layout_mlir.onnx_import.batch_norms import is_training, known_scaling
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BY_CODE, F32, I32, Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.pools import power, root
from layout_mlir.onnx_import.scalars import Body, Scalars
from layout_mlir.onnx_import.sizes import Size, is_static, product
from layout_mlir.onnx_import.values import Scalar, Tensor
from layout_mlir.onnx_import.windows import map_dims, sum_element

# -------------------------------------------------------------------- statistics


def _sum_of(b: Builder, body: Body, axes: Sequence[int], element: Element, x: Tensor,
            *others: tuple[Tensor, Sequence[int]]) -> Tensor:
    """Returns the sum of `body(s, *elements)` over axes of x, which the result lacks; the dims of other tensors are the
    given dims of x."""
    kept = [dim for dim in range(x.rank) if dim not in axes]

    def write(dims: Sequence[int]) -> str:
        return ", ".join(f"d{dim}" for dim in dims)

    def inner(s: Scalars, *elements: Scalar) -> Scalar:
        term = body(s, *elements[:-1])
        assert isinstance(term, Scalar)
        return s.add(elements[-1], term)

    result, = b.generic(inner, [(x, write(range(x.rank))), *((tensor, write(dims)) for tensor, dims in others)],
                        [(b.fill([x.shape[dim] for dim in kept], element, 0), write(kept))],
                        ["reduction" if dim in axes else "parallel" for dim in range(x.rank)])
    return result


def _divided(b: Builder, sums: Tensor, count: Size) -> Tensor:
    """Divides sums by the number of elements."""
    if is_static(count):
        return b.elementwise(lambda s, total: s.div(total, float(count)), sums)
    number = Scalar(b.size(count), None)
    return b.elementwise(lambda s, total: s.div(total, s.cast(number, sums.element)), sums)


def _moments(b: Builder, x: Tensor, axes: Sequence[int], element: Element) -> tuple[Tensor, Tensor]:
    """Returns the mean and the variance over axes, which the results lack."""
    kept, count = [dim for dim in range(x.rank) if dim not in axes], product([x.shape[dim] for dim in axes])
    mean = _divided(b, _sum_of(b, lambda s, a: s.cast(a, element), axes, element, x), count)

    def square(s: Scalars, a: Scalar, mean: Scalar) -> Scalar:
        centered = s.sub(s.cast(a, element), mean)
        return s.mul(centered, centered)

    return mean, _divided(b, _sum_of(b, square, axes, element, x, (mean, kept)), count)


def _inverse_root(b: Builder, variance: Tensor, epsilon: float) -> Tensor:
    return b.elementwise(lambda s, v: s.div(1.0, s.sqrt(s.add(v, epsilon))), variance)


# ---------------------------------------------------------------------- by channel


def _affine(b: Builder, x: Tensor, factor: Tensor, shift: Tensor, dims: Sequence[int]) -> Tensor:
    """Returns x * factor + shift, where the dims of factor and shift are the given dims of x."""
    element = factor.element
    return map_dims(b, lambda s, a, f, c: s.cast(s.add(s.mul(s.cast(a, element), f), c), x.element), x, (factor, dims),
                    (shift, dims))


@operator("BatchNormalization")
def batch_normalization(b: Builder, node: Node, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor,
                        variance: Tensor) -> list[Tensor]:
    if x in node.importer.normalized:  # folded into its convolution
        return [x]
    epsilon = float(node.attribute("epsilon", 1e-5))
    attributes = {"training_mode": node.attribute("training_mode", 0)}
    training = is_training(attributes, node.opset, sum(node.has_output(number) for number in range(node.output_count)))
    by_feature = node.opset < 9 and not node.attribute("spatial", 1)
    flat = b.reshape(x, [*x.shape, 1]) if x.rank == 1 else x
    dims = list(range(1, flat.rank)) if by_feature else [1]
    element = sum_element(x.element)
    parameters = [scale, bias, mean, variance]
    if by_feature:
        parameters = [b.reshape(each, flat.shape[1:]) for each in parameters]
    if training:
        return _train(b, node, flat, parameters, dims, element)
    known = known_scaling([each.array for each in parameters], epsilon)
    if known is not None:
        factor, shift = (b.constant(array, element) for array in known)
    else:
        factor, shift = _scaling(b, [b.cast(each, element) for each in parameters], epsilon)
    return [b.reshape(_affine(b, flat, factor, shift, dims), x.shape)]


def _scaling(b: Builder, parameters: Sequence[Tensor], epsilon: float) -> tuple[Tensor, Tensor]:
    """Returns factor and shift for scale, bias, mean and variance that the program computes, all with one element
    type."""
    scale, bias, mean, variance = parameters
    factor = b.elementwise(lambda s, g, v: s.div(g, s.sqrt(s.add(v, epsilon))), scale, variance)
    return factor, b.elementwise(lambda s, c, m, f: s.sub(c, s.mul(m, f)), bias, mean, factor)


def _train(b: Builder, node: Node, x: Tensor, parameters: Sequence[Tensor], dims: Sequence[int],
           element: Element) -> list[Tensor]:
    """Normalizes by the statistics of the batch; returns the result, the moving statistics and, in older opsets, the
    batch statistics."""
    axes = [dim for dim in range(x.rank) if dim not in dims]
    mean, variance = _moments(b, x, axes, element)
    wide = [b.cast(each, element) for each in parameters]
    factor, shift = _scaling(b, [wide[0], wide[1], mean, variance], float(node.attribute("epsilon", 1e-5)))
    momentum = float(node.attribute("momentum", 0.9))
    moving = [b.cast(b.elementwise(lambda s, old, new: s.add(s.mul(old, momentum), s.mul(new, 1 - momentum)), old, new),
                     given.element)
              for old, new, given in zip(wide[2:], (mean, variance), parameters[2:])]
    saved = [b.cast(each, given.element) for each, given in zip((mean, variance), parameters[2:])]
    return [_affine(b, x, factor, shift, dims), *moving, *saved][:max(node.output_count, 1)]


@operator("InstanceNormalization")
def instance_normalization(b: Builder, node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    element = sum_element(x.element)
    mean, variance = _moments(b, x, range(2, x.rank), element)
    inverse = _inverse_root(b, variance, float(node.attribute("epsilon", 1e-5)))
    factor = map_dims(b, lambda s, r, g: s.mul(r, s.cast(g, element)), inverse, (scale, [1]))
    shift = map_dims(b, lambda s, f, m, c: s.sub(s.cast(c, element), s.mul(f, m)), factor, (mean, [0, 1]), (bias, [1]))
    return _affine(b, x, factor, shift, [0, 1])


@operator("GroupNormalization")
def group_normalization(b: Builder, node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Imports GroupNormalization. Before opset 21, scale and bias have an element for each group instead of each
    channel."""
    groups = int(node.attribute("num_groups", 1))
    element = _stash(node, x.element)
    if node.opset >= 21 and is_static(scale.shape[0]):
        x = b.match_shape(x, [x.shape[0], scale.shape[0], *x.shape[2:]], "its input does not have a channel for each scale")
    parts = b.reshape(x, [x.shape[0], groups, b.floor_divide(x.shape[1], groups), *x.shape[2:]])
    dims = [1] if node.opset < 21 else [1, 2]
    given = [each if node.opset < 21 else b.reshape(each, parts.shape[1:3]) for each in (scale, bias)]
    mean, variance = _moments(b, parts, range(2, parts.rank), element)
    inverse = _inverse_root(b, variance, float(node.attribute("epsilon", 1e-5)))

    def body(s: Scalars, a: Scalar, mean: Scalar, inverse: Scalar, g: Scalar, c: Scalar) -> Scalar:
        normal = s.cast(s.mul(s.sub(s.cast(a, element), mean), inverse), x.element)
        return s.add(s.mul(normal, g), c)

    return b.reshape(map_dims(b, body, parts, (mean, [0, 1]), (inverse, [0, 1]), (given[0], dims), (given[1], dims)),
                     x.shape)


@operator("GroupNorm", domain="com.microsoft")
def group_norm(b: Builder, node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Imports GroupNorm. Channels are last unless channels_last is 0; activation 1 is x * sigmoid(x)."""
    last, groups, activation = node.attribute("channels_last", 1), int(node.attribute("groups", 1)), node.attribute(
        "activation", 0)
    if activation not in (0, 1):
        node.refuse(f"activation {activation} is not 0 or 1")
    channel = x.rank - 1 if last else 1
    sizes = list(x.shape)
    if is_static(scale.shape[0]):
        sizes[channel] = scale.shape[0]
        x = b.match_shape(x, sizes, "its input does not have a channel for each scale")
    sizes[channel:channel + 1] = [groups, b.floor_divide(x.shape[channel], groups)]
    parts, element = b.reshape(x, sizes), sum_element(x.element)
    mean, variance = _moments(b, parts, [dim for dim in range(1, parts.rank) if dim != channel], element)
    inverse = _inverse_root(b, variance, float(node.attribute("epsilon", 1e-5)))
    given = [b.reshape(each, sizes[channel:channel + 2]) for each in (scale, bias)]

    def body(s: Scalars, a: Scalar, mean: Scalar, inverse: Scalar, g: Scalar, c: Scalar) -> Scalar:
        normal = s.mul(s.sub(s.cast(a, element), mean), inverse)
        y = s.add(s.mul(normal, s.cast(g, element)), s.cast(c, element))
        return s.cast(s.mul(y, s.sigmoid(y)) if activation else y, x.element)

    dims, both = [0, channel], [channel, channel + 1]
    result = map_dims(b, body, parts, (mean, dims), (inverse, dims), (given[0], both), (given[1], both))
    return b.reshape(result, x.shape)


# -------------------------------------------------------------------------- by row


def _stash(node: Node, element: Element) -> Element:
    """Returns the element type of statistics: the attribute stash_type, or the type of the elements if it is wider."""
    stash = BY_CODE[int(node.attribute("stash_type", 1))]
    return stash if stash.bits >= element.bits else element


def _scaled_rows(b: Builder, x: Tensor, mean: Tensor | None, inverse: Tensor, scale: Tensor | None,
                 bias: Tensor | None, axis: int) -> Tensor:
    """Returns (x - mean) * inverse * scale + bias, with scale and bias broadcast to x."""
    element, rows = inverse.element, list(range(axis))
    others: list[tuple[Tensor, Sequence[int]]] = [(inverse, rows)]
    if mean is not None:
        others.append((mean, rows))
    for given in (scale, bias):
        if given is not None:
            dims = [x.rank - given.rank + dim for dim, size in enumerate(given.shape) if size != 1]
            others.append((b.reshape(given, [size for size in given.shape if size != 1]), dims))

    def body(s: Scalars, a: Scalar, inverse: Scalar, *given: Scalar) -> Scalar:
        rest = list(given)
        wide = s.cast(a, element)
        wide = s.mul(s.sub(wide, rest.pop(0)) if mean is not None else wide, inverse)
        for tensor, combine in (scale, s.mul), (bias, s.add):
            if tensor is not None:
                wide = combine(wide, s.cast(rest.pop(0), element))
        return s.cast(wide, x.element)

    return map_dims(b, body, x, *others)


def layer_norm(b: Builder, node: Node, x: Tensor, scale: Tensor | None, bias: Tensor | None, axis: int,
               element: Element) -> list[Tensor]:
    """Returns the normalized tensor, and the mean and inverse deviation over the dims from `axis` on, kept with size
    1."""
    mean, variance = _moments(b, x, range(axis, x.rank), element)
    inverse = _inverse_root(b, variance, float(node.attribute("epsilon", 1e-5)))
    shape = [*x.shape[:axis], *[1] * (x.rank - axis)]
    result = _scaled_rows(b, x, mean, inverse, scale, bias, axis)
    stash = BY_CODE[int(node.attribute("stash_type", 1))]
    return [result, *(b.cast(b.reshape(each, shape), stash) for each in (mean, inverse))]


def rms_norm(b: Builder, node: Node, x: Tensor, scale: Tensor | None, axis: int, element: Element) -> list[Tensor]:
    """Returns the normalized tensor and the inverse root mean square."""
    def square(s: Scalars, a: Scalar) -> Scalar:
        return s.mul(s.cast(a, element), s.cast(a, element))

    squares = _sum_of(b, square, range(axis, x.rank), element, x)
    inverse = _inverse_root(b, _divided(b, squares, product(x.shape[axis:])), float(node.attribute("epsilon", 1e-5)))
    shape = [*x.shape[:axis], *[1] * (x.rank - axis)]
    return [_scaled_rows(b, x, None, inverse, scale, None, axis), b.reshape(inverse, shape)]


@operator("LayerNormalization")
def layer_normalization(b: Builder, node: Node, x: Tensor, scale: Tensor, bias: Tensor | None = None) -> list[Tensor]:
    return layer_norm(b, node, x, scale, bias, node.axis(-1, x.rank), _stash(node, x.element))[:node.output_count]


@operator("RMSNormalization")
def rms_normalization(b: Builder, node: Node, x: Tensor, scale: Tensor) -> Tensor:
    return rms_norm(b, node, x, scale, node.axis(-1, x.rank), _stash(node, x.element))[0]


def simplified_layer_normalization(b: Builder, node: Node, x: Tensor, scale: Tensor) -> list[Tensor]:
    return rms_norm(b, node, x, scale, node.axis(-1, x.rank), _stash(node, x.element))[:node.output_count]


operator("SimplifiedLayerNormalization")(simplified_layer_normalization)
operator("SimplifiedLayerNormalization", domain="com.microsoft")(simplified_layer_normalization)


def _with_skip(b: Builder, x: Tensor, skip: Tensor, bias: Tensor | None) -> Tensor:
    """Adds `skip`, which is broadcast to `x`, and a bias."""
    total = b.elementwise(lambda s, x, y: s.add(x, y), x, skip, shape=x.shape)
    return total if bias is None else b.elementwise(lambda s, x, y: s.add(x, y), total, bias)


@operator("SkipLayerNormalization", domain="com.microsoft")
def skip_layer_normalization(b: Builder, node: Node, x: Tensor, skip: Tensor, scale: Tensor,
                             shift: Tensor | None = None, bias: Tensor | None = None) -> list[Tensor]:
    """Imports SkipLayerNormalization. The last output is the sum that is normalized."""
    total = _with_skip(b, x, skip, bias)
    return [*layer_norm(b, node, total, scale, shift, x.rank - 1, sum_element(x.element)), total][:node.output_count]


@operator("SkipSimplifiedLayerNormalization", domain="com.microsoft")
def skip_simplified_layer_normalization(b: Builder, node: Node, x: Tensor, skip: Tensor, scale: Tensor,
                                        bias: Tensor | None = None) -> list[Tensor]:
    """Imports SkipSimplifiedLayerNormalization. The last output is the sum that is normalized; the second, a mean, is
    never set."""
    total = _with_skip(b, x, skip, bias)
    result, inverse = rms_norm(b, node, total, scale, x.rank - 1, sum_element(x.element))
    mean = b.fill(inverse.shape, F32, 0) if node.has_output(1) else inverse
    return [result, mean, inverse, total][:node.output_count]


# ------------------------------------------------------------------------- others


@operator("LpNormalization")
def lp_normalization(b: Builder, node: Node, x: Tensor) -> Tensor:
    """Imports LpNormalization. A row with norm 0 stays 0."""
    axis, p, element = node.axis(-1, x.rank), float(node.attribute("p", 2)), sum_element(x.element)
    norms = _sum_of(b, lambda s, a: power(s, s.cast(a, element), p), [axis], element, x)

    def body(s: Scalars, a: Scalar, total: Scalar) -> Scalar:
        norm = root(s, total, p)
        return s.cast(s.select(s.equal(norm, 0), 0, s.div(s.cast(a, element), norm)), x.element)

    return map_dims(b, body, x, (norms, [dim for dim in range(x.rank) if dim != axis]))


@operator("MeanVarianceNormalization")
def mean_variance_normalization(b: Builder, node: Node, x: Tensor) -> Tensor:
    axes = [axis % x.rank for axis in node.attribute("axes", [0, 2, 3])]
    kept, element = [dim for dim in range(x.rank) if dim not in axes], sum_element(x.element)
    mean, variance = _moments(b, x, axes, element)
    deviation = b.elementwise(lambda s, v: s.add(s.sqrt(v), 1e-9), variance)
    return map_dims(b, lambda s, a, m, d: s.cast(s.div(s.sub(s.cast(a, element), m), d), x.element), x, (mean, kept),
                    (deviation, kept))


@operator("LRN")
def lrn(b: Builder, node: Node, x: Tensor) -> Tensor:
    """Divides by a power of the sum of squares over a sliding window of adjacent channels."""
    size, element = int(node.attribute("size")), sum_element(x.element)
    alpha, beta = float(node.attribute("alpha", 1e-4)) / size, float(node.attribute("beta", 0.75))
    bias = float(node.attribute("bias", 1.0))
    squares = b.elementwise(lambda s, a: s.mul(s.cast(a, element), s.cast(a, element)), x, element=element)
    low: list[Size] = [0] * x.rank
    high: list[Size] = [0] * x.rank
    low[1], high[1] = (size - 1) // 2, size // 2
    everything = [f"d{dim}" for dim in range(x.rank)]
    window = [*everything[:1], f"d1 + d{x.rank}", *everything[2:]]
    sums, = b.generic(lambda s, a, _, total: s.add(total, a),
                      [(b.pad(squares, low, high, 0), ", ".join(window)), (b.empty([size], element), f"d{x.rank}")],
                      [(b.fill(x.shape, element, 0), ", ".join(everything))], ["parallel"] * x.rank + ["reduction"])
    return b.elementwise(lambda s, a, total: s.cast(
        s.div(s.cast(a, element), _power(s, s.add(s.mul(total, alpha), bias), beta)), x.element), x, sums)


def _power(s: Scalars, x: Scalar, exponent: float) -> Scalar:
    """Returns x to a constant power; common exponents need no logarithm."""
    if exponent == 1:
        return x
    if exponent == 0.5:
        return s.sqrt(x)
    if exponent == 0.75:
        first = s.sqrt(x)
        return s.mul(first, s.sqrt(first))
    return s.pow(x, exponent)


@operator("EmbedLayerNormalization", domain="com.microsoft")
def embed_layer_normalization(b: Builder, node: Node, ids: Tensor, segments: Tensor | None, words: Tensor,
                              positions: Tensor, segment_rows: Tensor | None, scale: Tensor, shift: Tensor,
                              mask: Tensor | None = None, places: Tensor | None = None) -> list[Tensor]:
    """Sums the embeddings of the word, its position and its segment. The second output counts the words in the mask."""
    batch, length = ids.shape
    shape, tables = [batch, length, words.shape[1]], [words, positions, segment_rows]
    sources: list[tuple[Tensor | None, Tensor | None, str]] = [
        (ids, words, "d0, d1"),
        (places, positions, "0, d1" if places is not None and places.shape[0] == 1 else "d0, d1"),
        (segments, segment_rows, "d0, d1")]
    for table in tables:
        if table is not None:
            b.use(table)
    given = [(index, where) for index, table, where in sources if index is not None and table is not None]

    def body(s: Scalars, n: Scalar, position: Scalar, column: Scalar, *indices: Scalar) -> Scalar:
        rest, total = iter(indices), None
        for index, table, _ in sources:
            if table is None:
                continue
            row = position if index is None else b.wrapped_index(s, next(rest), table.shape[0])
            element = b.extract(s, table, [row, column])
            total = element if total is None else s.add(total, element)
        assert total is not None
        return total

    total = b.make(body, shape, words.element, given)
    count = b.fill([batch], I32, 0) if mask is None else _sum_of(
        b, lambda s, m: s.cast(s.equal(m, 1), I32), [1], I32, mask)
    result = layer_norm(b, node, total, scale, shift, 2, sum_element(words.element))[0]
    return [result, count, total][:node.output_count]
