"""Attention of the domain com.microsoft, with heads in a dim of their own and masks that are added to the scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.indices import gather
from layout_mlir.onnx_import.operators.microsoft import MICROSOFT
from layout_mlir.onnx_import.operators.products import contract, multiply, real_product
from layout_mlir.onnx_import.operators.softmax import softmax_over
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, divide, is_static
from layout_mlir.onnx_import.values import Bytes, Forbidden, Scalar, Tensor
from layout_mlir.onnx_import.windows import sum_element

# A term of the scores: a tensor whose elements are added, and its map in d0 (batch), d1 (head), d2 (query), d3 (key).
_Term = tuple[Tensor, str]


def _heads_of(b: Builder, node: Node, x: Tensor, heads: int) -> Tensor:
    """Splits the last dim of [B, S, D] into heads: [B, S, heads, D / heads]."""
    if heads <= 0:
        node.refuse(f"its attribute 'num_heads' is {heads}")
    if not is_static(x.shape[2]):
        node.refuse("its hidden size is dynamic: state the last size of its inputs")
    width = divide(x.shape[2], heads)
    if width is None:
        raise Forbidden(f"its hidden size {x.shape[2]} is not a multiple of {heads} heads")
    return b.reshape(x, [*x.shape[:2], heads, width])


def _by_head(b: Builder, x: Tensor) -> Tensor:
    return b.transpose(x, [0, 2, 1, 3])


def _is_one(size: Size) -> bool:
    return is_static(size) and size == 1


def bias_term(bias: Tensor) -> _Term:
    """Returns the term of an attention bias [B or 1, heads or 1, S, T]."""
    return bias, ", ".join("0" if _is_one(size) else f"d{dim}" for dim, size in enumerate(bias.shape[:2])) + ", d2, d3"


def _mask_term(b: Builder, node: Node, mask: Tensor, batch: Size, keys: Size) -> _Term:
    """Returns the term of a mask, with `mask_filter_value` for keys that are not attended to. A mask of rank 1 holds
    the ends of the rows, or their ends and then their starts; others hold 1 for keys that are attended to."""
    value = float(node.attribute("mask_filter_value", -10000.0))
    if mask.rank in (2, 3):
        maps = {2: "d0, d3", 3: "d0, d2, d3"}
        return b.elementwise(lambda s, m: s.select(s.greater(m, 0), s.constant(0, F32), value), mask,
                             element=F32), maps[mask.rank]
    if mask.rank != 1:
        node.refuse(f"its mask has rank {mask.rank}, which ONNX Runtime does not compute on a CPU")
    has_starts = mask.shape[0] != batch
    if has_starts and divide(mask.shape[0], batch) != 2:
        node.refuse(f"its mask has the shape [{mask.shape[0]}] for a batch of {batch}")
    limits = [b.slice(mask, [number * batch], [batch]) for number in range(1 + has_starts)]

    def body(s: Scalars, n: Scalar, key: Scalar, end: Scalar, *start: Scalar) -> Scalar:
        place = s.cast(key, mask.element)
        outside = s.compare("ge", place, end)
        if start:
            outside = s.bit_or(outside, s.less(place, start[0]))
        return s.select(outside, s.constant(value, F32), 0)

    return b.make(body, [batch, keys], F32, [(each, "d0") for each in limits]), "d0, d3"


def attend(b: Builder, node: Node, q: Tensor, k: Tensor, v: Tensor, terms: Sequence[_Term],
           past: Size) -> tuple[Tensor, Tensor]:
    """Returns the result [B, S, heads * width] and the scores before the softmax, from queries [B, S, heads, width],
    and keys and values [B, heads, T, width]. `past` is the number of keys before those of the queries."""
    element = sum_element(q.element)
    width = q.shape[3]
    assert is_static(width)
    scale = float(node.attribute("scale", 0.0)) or 1 / math.sqrt(width)
    scores = contract(b, q, ["b", "s", "n", "h"], k, ["b", "n", "t", "h"], ["b", "n", "s", "t"], element)
    is_causal = bool(node.attribute("unidirectional", 0))
    before, last = (Scalar(b.size(each), None) for each in (past, q.shape[1] - 1)) if is_causal else (None, None)

    def body(s: Scalars, n: Scalar, head: Scalar, query: Scalar, key: Scalar, x: Scalar, *added: Scalar) -> Scalar:
        x = s.mul(x, scale)
        for each in added:
            x = s.add(x, s.cast(each, element))
        if before is None or last is None:
            return x
        # A later key counts less than any masked one. The last query attends to all keys.
        is_later = s.bit_and(s.less(query, last), s.greater(key, s.add(before, query)))
        return s.select(is_later, element.lowest, x)

    scores = b.make(body, scores.shape, element, [(scores, "d0, d1, d2, d3"), *terms])
    result = contract(b, softmax_over(b, scores, [3]), ["b", "n", "s", "t"], b.cast(v, element), ["b", "n", "t", "h"],
                      ["b", "s", "n", "h"], element)
    result = b.reshape(result, [*result.shape[:2], result.shape[2] * result.shape[3]])
    return b.cast(result, q.element), b.cast(scores, q.element)


def _after(b: Builder, past: Tensor | None, x: Tensor) -> Tensor:
    """Returns keys or values [B, heads, T, width] after those of the past."""
    return x if past is None else b.concat([past, x], 2)


def _terms(b: Builder, node: Node, mask: Tensor | None, bias: Tensor | None, batch: Size, keys: Size) -> list[_Term]:
    return [*([bias_term(bias)] if bias is not None else []),
            *([_mask_term(b, node, mask, batch, keys)] if mask is not None else [])]


# ---------------------------------------------------------------------- Attention

def _attend_packed(b: Builder, node: Node, packed: Tensor, sizes: Sequence[Size], mask: Tensor | None,
                   past: Tensor | None, bias: Tensor | None) -> list[Tensor]:
    """Returns the outputs of Attention from the queries, keys and values side by side in the last dim of `packed`."""
    heads = int(node.attribute("num_heads", 0))
    offsets = [0, sizes[0], sizes[0] + sizes[1]]
    q, k, v = (_heads_of(b, node, b.slice(packed, [0, 0, first], [*packed.shape[:2], size]), heads)
               for first, size in zip(offsets, sizes))
    k, v = _by_head(b, k), _by_head(b, v)
    before: list[Tensor | None] = [None, None]
    if past is not None:
        before = [b.reshape(b.slice(past, [number, 0, 0, 0, 0], [1, *past.shape[1:]]), past.shape[1:])
                  for number in range(2)]
    length = past.shape[3] if past is not None else 0
    k, v = (_after(b, old, x) for old, x in zip(before, (k, v)))
    result, _ = attend(b, node, q, k, v, _terms(b, node, mask, bias, packed.shape[0], k.shape[2]), length)
    if not node.has_output(1):
        return [result]
    return [result, b.concat([b.unsqueeze(each, [0]) for each in (k, v)], 0)]


def _thirds(weights: Tensor) -> list[Size]:
    """Returns the sizes of queries, keys and values that are one third of the columns of their weights each."""
    third = divide(weights.shape[1], 3)
    if third is None:
        raise Forbidden(f"its weights have {weights.shape[1]} columns, which are not those of queries, keys and values")
    return [third] * 3


def _refuse_buffers(node: Node) -> None:
    if node.attribute("past_present_share_buffer", 0):
        node.refuse("its past and present share a buffer: export the model without past_present_share_buffer")
    if node.attribute("do_rotary", 0):
        node.refuse("it rotates queries and keys itself, which ONNX Runtime does not compute on a CPU")


@operator("Attention", domain=MICROSOFT)
def attention(b: Builder, node: Node, x: Tensor, weights: Tensor, bias: Tensor | None = None,
              mask: Tensor | None = None, past: Tensor | None = None, added: Tensor | None = None,
              _length: Tensor | None = None) -> list[Tensor]:
    """Imports Attention: the queries, keys and values are one product."""
    _refuse_buffers(node)
    packed = multiply(b, x, weights, sum_element(x.element))
    if bias is not None:
        packed = b.elementwise(lambda s, x, y: s.add(x, s.cast(y, packed.element)), packed, bias)
    sizes = node.integers("qkv_hidden_sizes") or _thirds(weights)
    return _attend_packed(b, node, b.cast(packed, x.element), sizes, mask, past, added)


@operator("QAttention", domain=MICROSOFT)
def quantized_attention(b: Builder, node: Node, x: Tensor, weights: Tensor, bias: Tensor, x_scale: Tensor,
                        weight_scale: Tensor, mask: Tensor | None = None, x_zero: Tensor | None = None,
                        weight_zero: Tensor | None = None, past: Tensor | None = None) -> list[Tensor]:
    """Imports QAttention: Attention of quantized numbers, with float results."""
    _refuse_buffers(node)
    packed = real_product(b, Bytes(x, x_scale, x_zero), Bytes(weights, weight_scale, weight_zero), bias)
    return _attend_packed(b, node, packed, _thirds(weights), mask, past, None)


# ------------------------------------------------------------- MultiHeadAttention

def _with_bias(b: Builder, x: Tensor, bias: Tensor | None, first: Size) -> Tensor:
    """Adds the elements of a bias from `first` on to the heads [B, S, heads, width]."""
    if bias is None:
        return x
    part = b.reshape(b.slice(bias, [first], [x.shape[2] * x.shape[3]]), x.shape[2:])
    return b.elementwise(lambda s, x, y: s.add(x, y), x, part)


@operator("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(b: Builder, node: Node, q: Tensor, k: Tensor | None = None, v: Tensor | None = None,
                         bias: Tensor | None = None, mask: Tensor | None = None, added: Tensor | None = None,
                         past_key: Tensor | None = None, past_value: Tensor | None = None,
                         _length: Tensor | None = None, beams: Tensor | None = None) -> list[Tensor | None]:
    """Imports MultiHeadAttention. The keys and values of a cross attention may be stored by heads, [B, heads, T,
    width]."""
    heads = int(node.attribute("num_heads", 0))
    if beams is not None:
        node.refuse("its cache_indirection is for beams, which ONNX Runtime does not compute on a CPU")
    if k is None or v is None:
        node.refuse("its queries, keys and values are packed, which ONNX Runtime does not compute on a CPU")
    q, is_cross = _heads_of(b, node, q, heads), k.rank == 4
    hidden = q.shape[2] * q.shape[3]
    q = _with_bias(b, q, bias, 0)
    if not is_cross:
        k, v = (_heads_of(b, node, x, heads) for x in (k, v))
        k, v = _with_bias(b, k, bias, hidden), _with_bias(b, v, bias, hidden + hidden)
        k, v = _by_head(b, k), _by_head(b, v)
    k, v = _after(b, past_key, k), _after(b, past_value, v)
    past = past_key.shape[2] if past_key is not None else 0
    result, scores = attend(b, node, q, k, v, _terms(b, node, mask, added, q.shape[0], k.shape[2]), past)
    given: list[Tensor | None] = [result, k, v, scores]
    return given[:node.output_count]


# ---------------------------------------------------------------- RotaryEmbedding

def rotate(b: Builder, x: Tensor, cosines: Tensor, sines: Tensor, places: Tensor, interleaved: bool,
           width: Size) -> Tensor:
    """Rotates pairs of the first `width` elements of the heads [B, S, heads, head width] by the angles of their places
    [B, S]. A pair is two adjacent elements if `interleaved`, else the elements at a distance of width / 2."""
    half = divide(width, 2)
    if half is None or not is_static(half) or half == 0:
        raise Forbidden(f"its width {width} is not even")
    part = b.slice(x, [0] * 4, [*x.shape[:3], width])
    pairs = b.reshape(part, [*x.shape[:3], *([half, 2] if interleaved else [2, half])])
    one, other = (b.reshape(b.slice(pairs, [0, 0, 0, *at], [*x.shape[:3], *size]), [*x.shape[:3], half])
                  for at, size in (((([0, 0]), [half, 1]), ([0, 1], [half, 1])) if interleaved else
                                   (([0, 0], [1, half]), ([1, 0], [1, half]))))
    angles = [b.unsqueeze(gather(b, each, places, 0), [2]) for each in (cosines, sines)]
    first = b.elementwise(lambda s, x, y, c, d: s.sub(s.mul(x, c), s.mul(y, d)), one, other, *angles)
    second = b.elementwise(lambda s, x, y, c, d: s.add(s.mul(x, d), s.mul(y, c)), one, other, *angles)
    axis = 4 if interleaved else 3
    rotated = b.reshape(b.concat([b.unsqueeze(each, [axis]) for each in (first, second)], axis), part.shape)
    if width == x.shape[3]:
        return rotated
    rest = b.slice(x, [0, 0, 0, width], [*x.shape[:3], x.shape[3] - width])
    return b.concat([rotated, rest], 3)


def _places_of(b: Builder, given: Tensor, batch: Size, length: Size) -> Tensor:
    """Returns the place of each row [B, S], from all places or from the first one."""
    if given.rank == 2:
        return given

    def body(s: Scalars, n: Scalar, row: Scalar, first: Scalar) -> Scalar:
        return s.add(s.cast(row, given.element), first)

    return b.make(body, [batch, length], given.element, [(b.reshape(given, [1]), "0")])


@operator("RotaryEmbedding", domain=MICROSOFT)
def rotary_embedding(b: Builder, node: Node, x: Tensor, places: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Imports RotaryEmbedding of [B, S, D] or [B, heads, S, width]."""
    width, heads = int(node.attribute("rotary_embedding_dim", 0)), int(node.attribute("num_heads", 0))
    if x.rank == 4:
        rows = _by_head(b, x)
    else:
        size = divide(x.shape[2], heads) if heads else cosines.shape[1] * 2
        count = divide(x.shape[2], size) if size is not None else None
        if size is None or count is None:
            raise Forbidden(f"its hidden size {x.shape[2]} is not a multiple of the head size")
        rows = b.reshape(x, [*x.shape[:2], count, size])
    places = _places_of(b, places, rows.shape[0], rows.shape[1])
    result = rotate(b, rows, cosines, sines, places, bool(node.attribute("interleaved", 0)), width or rows.shape[3])
    return _by_head(b, result) if x.rank == 4 else b.reshape(result, x.shape)
