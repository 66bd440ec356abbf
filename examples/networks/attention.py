"""Multi-head attention, with heads split and merged by reshapes and transposes."""

import math

from .builder import Builder
from .text import Value


def split_heads(b: Builder, x: Value, heads: int, name: str, transposed: bool = False) -> Value:
    """Reshapes [batch, places, heads * d] to [batch * heads, places, d], with the last two dims swapped if
    `transposed`."""
    n, places, width = x.shape
    with b.scope(name):
        split = b.expand("heads", x, [n], [places], [heads, width // heads])
        y = b.transpose("transpose", split, (0, 2, 3, 1) if transposed else (0, 2, 1, 3))
        return b.collapse("flat", y, [[0, 1], [2], [3]])


def merge_heads(b: Builder, x: Value, like: Value, heads: int, name: str) -> Value:
    """Reshapes [batch * heads, places, d] to [batch, places, heads * d], with batch and places of `like`."""
    n, places = like.shape[:2]
    with b.scope(name):
        split = b.expand("heads", x, [n, heads], [places], [x.shape[2]])
        y = b.transpose("transpose", split, (0, 2, 1, 3))
        return b.collapse("flat", y, [[0], [1], [2, 3]])


def attend(b: Builder, q: Value, k_transposed: Value, v: Value, mask=None) -> Value:
    """Returns softmax(q k / sqrt(d)) v; all operands are [batch * heads, ..]. `mask` maps the scaled scores to masked
    ones."""
    scale = 1 / math.sqrt(q.shape[2])
    scores = b.pointwise("scaled", [b.matmul("scores", q, k_transposed)],
                         lambda s, a: s.mul(a, s.constant(scale)))
    if mask is not None:
        scores = mask(scores)
    return b.matmul("context", b.softmax(scores, "probabilities"), v)


def attention(b: Builder, x: Value, source: Value, heads: int, bias: bool = True,
              out_bias: bool = True, mask=None, gain: float = 1.0,
              transposed_weights: bool = False) -> Value:
    """Returns multi-head attention of x to source, with three input projections and one output projection."""
    width = x.shape[2]

    def project(value: Value, name: str) -> Value:
        return b.linear(value, width, name, bias=bias, transposed=transposed_weights)

    q = split_heads(b, project(x, "query"), heads, "q")
    k = split_heads(b, project(source, "key"), heads, "k", transposed=True)
    v = split_heads(b, project(source, "value"), heads, "v")
    merged = merge_heads(b, attend(b, q, k, v, mask), x, heads, "merged")
    return b.linear(merged, width, "output", bias=out_bias, gain=gain,
                    transposed=transposed_weights)


def fused_qkv(b: Builder, x: Value, heads: int) -> tuple[Value, Value, Value]:
    """Projects x to q, transposed k, and v with one product."""
    n, places, width = x.shape
    y = b.linear(x, 3 * width, "qkv")
    y = b.expand("qkv.heads", y, [n], [places], [3, heads, width // heads])
    y = b.transpose("qkv.transpose", y, (2, 0, 3, 1, 4))

    def part(i: int, name: str) -> Value:
        one = b.slice(f"{name}.slice", y, (i, 0, 0, 0, 0), (1, *y.shape[1:]), drop=[0])
        return b.collapse(name, one, [[0, 1], [2], [3]])

    return part(0, "q"), b.transpose("k.transpose", part(1, "k"), (0, 2, 1)), part(2, "v")
