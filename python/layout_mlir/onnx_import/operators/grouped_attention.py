"""GroupQueryAttention of com.microsoft: several heads of queries share one head of keys and values, and each sequence
of a batch has its own number of keys in the cache."""

from __future__ import annotations

import dataclasses
import math

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import I64
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.attention import bias_term, rotate
from layout_mlir.onnx_import.operators.microsoft import MICROSOFT
from layout_mlir.onnx_import.operators.products import contract
from layout_mlir.onnx_import.operators.softmax import softmax_over
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, is_static
from layout_mlir.onnx_import.values import Forbidden, Scalar, Tensor
from layout_mlir.onnx_import.windows import sum_element

# Attributes and inputs of later versions, which are not imported.
_ATTRIBUTES = {"smooth_softmax": 0, "kv_cache_bit_width": 0, "sliding_window_cache": 0, "qk_output": 0,
               "k_quant_type": "NONE", "v_quant_type": "NONE"}
_INPUTS = ("head_sink", "k_scale", "v_scale", "q_norm_weight", "k_norm_weight")


@dataclasses.dataclass
class Lengths:
    """The numbers of keys of the sequences [B]: those before this call, and all."""
    before: Tensor
    total: Tensor


def _lengths(b: Builder, seqlens: Tensor, total: Tensor, batch: Size, queries: Size) -> Lengths:
    """Returns the lengths from those minus one, and from the largest one: a call with as many queries has no past."""
    count = Scalar(b.size(queries), None)

    def total_of(s: Scalars, x: Scalar) -> Scalar:
        return s.add(s.cast(x, I64), 1)

    def before_of(s: Scalars, x: Scalar, most: Scalar) -> Scalar:
        length = s.cast(count, I64)
        return s.select(s.equal(s.cast(most, I64), length), 0, s.sub(s.add(s.cast(x, I64), 1), length))

    lengths = b.reshape(seqlens, [batch])
    return Lengths(b.elementwise(before_of, lengths, b.reshape(total, []), element=I64),
                   b.elementwise(total_of, lengths, element=I64))


def _present(b: Builder, past: Tensor | None, x: Tensor, lengths: Lengths, size: Size) -> Tensor:
    """Returns the keys or values [B, heads, size, width] of the past [B, heads, P, width], then those of this call, x
    of shape [B, S, heads, width]. Elements after both are unspecified."""
    whole = b.transpose(x, [0, 2, 1, 3])
    old: Size = 0
    if past is not None:
        old, whole = past.shape[2], b.concat([past, whole], 2)
    offset, last = (Scalar(b.size(each), None) for each in (old, whole.shape[2] - 1))
    b.use(whole)

    def body(s: Scalars, n: Scalar, head: Scalar, key: Scalar, column: Scalar, before: Scalar) -> Scalar:
        first = s.cast(before, None)
        place = s.select(s.less(key, first), key, s.add(s.sub(key, first), offset))
        return b.extract(s, whole, [n, head, s.clamp(place, 0, last), column])

    return b.make(body, [whole.shape[0], whole.shape[1], size, whole.shape[3]], x.element, [(lengths.before, "d0")])


def _places(b: Builder, lengths: Lengths, shape: list[Size]) -> Tensor:
    """Returns the places [B, S] of the queries; those of padding are 1."""
    def body(s: Scalars, n: Scalar, query: Scalar, before: Scalar, total: Scalar) -> Scalar:
        place = s.add(before, s.cast(query, I64))
        return s.select(s.less(place, total), place, 1)

    return b.make(body, shape, I64, [(lengths.before, "d0"), (lengths.total, "d0")])


def _scores(b: Builder, node: Node, scores: Tensor, lengths: Lengths, bias: Tensor | None, scale: float) -> Tensor:
    """Returns scores [B, heads, S, T] that are scaled and capped, with the least number for keys that a query does not
    attend to."""
    cap, window = float(node.attribute("softcap", 0.0)), int(node.attribute("local_window_size", -1))
    is_causal, element = bool(node.attribute("causal", 1)), scores.element

    def body(s: Scalars, n: Scalar, head: Scalar, query: Scalar, key: Scalar, x: Scalar, before: Scalar, total: Scalar,
             *added: Scalar) -> Scalar:
        x = s.mul(x, scale)
        if cap:
            x = s.mul(s.tanh(s.div(x, cap)), cap)
        for each in added:
            x = s.add(x, s.cast(each, element))
        own, place = s.cast(key, I64), s.add(before, s.cast(query, I64))
        outside = s.greater(own, place) if is_causal else s.compare("ge", own, total)
        if window > 0:
            outside = s.bit_or(outside, s.compare("le", own, s.sub(place, window)))
        return s.select(outside, element.lowest, x)

    return b.make(body, scores.shape, element, [
        (scores, "d0, d1, d2, d3"), (lengths.before, "d0"), (lengths.total, "d0"),
        *([bias_term(bias)] if bias is not None else [])])


def _heads(b: Builder, node: Node, q: Tensor, k: Tensor | None, v: Tensor | None) -> list[Tensor]:
    """Returns queries, keys and values by heads, [B, S, heads, width], from three tensors or one."""
    heads, shared = int(node.attribute("num_heads", 0)), int(node.attribute("kv_num_heads", 0))
    size = q.shape[2]
    parts = heads if k is not None else heads + 2 * shared
    if heads <= 0 or shared <= 0 or heads % shared:
        node.refuse(f"its {heads} heads of queries do not share {shared} heads of keys")
    if not is_static(size) or size % parts:
        raise Forbidden(f"its hidden size {size} is not a multiple of {parts} heads")
    width = size // parts
    counts = [heads, shared, shared]
    if k is None or v is None:
        offsets = [0, heads * width, (heads + shared) * width]
        given = [b.slice(q, [0, 0, offset], [*q.shape[:2], count * width]) for offset, count in zip(offsets, counts)]
    else:
        given = [q, k, v]
    return [b.reshape(x, [*x.shape[:2], count, width]) for x, count in zip(given, counts)]


@operator("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(b: Builder, node: Node, q: Tensor, k: Tensor | None, v: Tensor | None,
                          past_key: Tensor | None, past_value: Tensor | None, seqlens: Tensor, total: Tensor,
                          cosines: Tensor | None = None, sines: Tensor | None = None, places: Tensor | None = None,
                          bias: Tensor | None = None, *others: Tensor | None) -> list[Tensor]:
    for name, default in _ATTRIBUTES.items():
        if node.attribute(name, default) not in (default, "NONE"):
            node.refuse(f"its attribute '{name}' is not supported")
    for name, each in zip(_INPUTS, others):
        if each is not None:
            node.refuse(f"its input '{name}' is not supported")
    q, k, v = _heads(b, node, q, k, v)
    batch, queries, heads, width = q.shape
    lengths = _lengths(b, seqlens, total, batch, queries)
    if node.attribute("do_rotary", 0):
        if cosines is None or sines is None:
            raise Forbidden("it has no cos_cache or sin_cache for do_rotary")
        places = _places(b, lengths, [batch, queries]) if places is None else places
        interleaved = bool(node.attribute("rotary_interleaved", 0))
        q, k = (rotate(b, x, cosines, sines, places, interleaved, cosines.shape[1] * 2) for x in (q, k))
    size = b.size_of(b.reshape(total, []))
    size = size if past_key is None else b.maximum(past_key.shape[2], size)
    k, v = (_present(b, past, x, lengths, size) for past, x in ((past_key, k), (past_value, v)))
    element, shared = sum_element(q.element), k.shape[1]
    assert isinstance(heads, int) and isinstance(shared, int) and isinstance(width, int)
    grouped = b.reshape(q, [batch, queries, shared, heads // shared, width])
    scores = contract(b, grouped, ["b", "s", "g", "r", "h"], k, ["b", "g", "t", "h"], ["b", "g", "r", "s", "t"],
                      element)
    scale = float(node.attribute("scale", 0.0)) or 1 / math.sqrt(width)
    scores = _scores(b, node, b.reshape(scores, [batch, heads, queries, size]), lengths, bias, scale)
    probabilities = b.reshape(softmax_over(b, scores, [3]), [batch, shared, heads // shared, queries, size])
    result = contract(b, probabilities, ["b", "g", "r", "s", "t"], b.cast(v, element), ["b", "g", "t", "h"],
                      ["b", "s", "g", "r", "h"], element)
    return [b.cast(b.reshape(result, [batch, queries, heads * width]), q.element), k, v][:node.output_count]
