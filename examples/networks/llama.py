"""Llama 3 8B: the prefill of a prompt, and the loop that decodes token by token."""

# Grattafiori et al., "The Llama 3 Herd of Models", 2024, table 3; rotary positions: Su et al.,
# "RoFormer", 2021; grouped queries: Ainslie et al., "GQA", 2023.

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .builder import Builder
from .network import Network
from .options import EncoderOptions, OptionError, StructureOptions, TokenOptions, again, option
from .text import Dim, Scalars, Value

EPSILON = 1e-5
ROPE_BASE = 500000.0
BRANCH_GAIN = 0.5
# Maps new keys and values [batch, groups, places, d] to those to attend to.
Remember = Callable[[Value, Value], tuple[Value, Value]]


@dataclass
class DecodeOptions(EncoderOptions, TokenOptions):
    sequence: int | None = again(TokenOptions, "sequence", 512)
    layers: int = again(EncoderOptions, "layers", 32)
    hidden: int = again(EncoderOptions, "hidden", 4096)
    heads: int = again(EncoderOptions, "heads", 32)
    groups: int = option(8, "heads of keys and values, each for several of queries")
    intermediate: int = again(EncoderOptions, "intermediate", 14336)
    vocabulary: int = again(TokenOptions, "vocabulary", 128256)
    positions: int = again(TokenOptions, "positions", 8192)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("groups")
        if self.heads % self.groups:
            raise OptionError(f"{self.groups} groups do not divide {self.heads} heads")
        if self.head % 2:
            raise OptionError(f"rotary positions need an even width of heads, not {self.head}")

    @property
    def head(self) -> int:
        return self.hidden // self.heads


@dataclass
class Options(DecodeOptions, StructureOptions):
    decode: bool = option(False, "@decode too, the loop of the other network, on the same weights",
                          bool)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.decode and self.structure == "loops":
            raise OptionError("a loop over stacked weights shares none with @decode: "
                              "--decode goes with --structure flat or calls")


def attend_to_itself(keys: Value, values: Value) -> tuple[Value, Value]:
    return keys, values


def _linear(b: Builder, x: Value, features: int, name: str, gain: float = 1.0) -> Value:
    return b.linear(x, features, name, bias=False, gain=gain, transposed=True)


def rotations(b: Builder, options: DecodeOptions, first: Dim, count: Dim) -> list[Value]:
    """Returns the cosines and sines of `count` positions from `first`, as rows of tables."""
    half = options.head // 2
    speeds = ROPE_BASE ** (-np.arange(half) / half)
    rows = options.positions if options.sequence is None else options.sequence
    angles = np.tile(np.arange(rows)[:, None] * speeds[None, :], 2)
    return [b.slice(name, b.table(f"rope.{name}", function(angles)), (first, 0),
                    (count, options.head))
            for name, function in (("cos", np.cos), ("sin", np.sin))]


def _rotated(b: Builder, x: Value, cos: Value, sin: Value, name: str) -> Value:
    """Rotates [.., places, d]; the halves of d are the coordinates of points."""
    half = x.shape[3] // 2
    with b.scope(name):
        low, high = (b.slice(part, x, (0, 0, 0, at), (*x.shape[:3], half))
                     for part, at in (("low", 0), ("high", half)))
        negative = b.pointwise("negative", [high], lambda s, a: s.op("arith.negf", a))
        turned = b.concat("turned", [negative, low], 3)
        return b.pointwise("rotated", [x, (cos, (2, 3)), turned, (sin, (2, 3))],
                           lambda s, a, c, t, n: s.add(s.mul(a, c), s.mul(t, n)))


def _repeated(b: Builder, x: Value, times: int, name: str) -> Value:
    """Expands [batch, groups, places, d] to [batch * groups * times, places, d]."""
    n, groups, places, d = x.shape
    y = b.pointwise(f"{name}.repeated", [(x, (0, 1, 3, 4))], lambda s, a: a,
                    (n, groups, times, places, d))
    return b.collapse(f"{name}.heads", y, [[0, 1, 2], [3], [4]])


def _causal(b: Builder, scores: Value, now: str | None) -> Value:
    """Masks scores of positions after `now`, or after the position of the row if `now` is None."""
    def mask(s: Scalars, a: str) -> str:
        row = s.index(1) if now is None else now
        seen = s.line(f"arith.cmpi ule, {s.index(2)}, {row} : index")
        return s.line(f"arith.select {seen}, {a}, {s.constant(-math.inf)} : f32")

    return b.pointwise("causal", [scores], mask)


def causal_attention(b: Builder, options: DecodeOptions, x: Value, cos: Value, sin: Value,
                     remember: Remember, now: str | None) -> Value:
    n, places, width = x.shape

    def project(name: str, heads: int) -> Value:
        y = _linear(b, x, heads * options.head, name)
        y = b.expand(f"{name}.heads", y, [n], [places], [heads, options.head])
        return b.transpose(f"{name}.transpose", y, (0, 2, 1, 3))

    q = _rotated(b, project("query", options.heads), cos, sin, "q")
    k = _rotated(b, project("key", options.groups), cos, sin, "k")
    k, v = remember(k, project("value", options.groups))
    times = options.heads // options.groups
    q = b.collapse("q.flat", q, [[0, 1], [2], [3]])
    k = b.transpose("k.transpose", _repeated(b, k, times, "k"), (0, 2, 1))
    scale = 1 / math.sqrt(options.head)
    scores = b.pointwise("scaled", [b.matmul("scores", q, k)],
                         lambda s, a: s.mul(a, s.constant(scale)))
    probabilities = b.softmax(_causal(b, scores, now), "probabilities")
    y = b.matmul("context", probabilities, _repeated(b, v, times, "v"))
    y = b.expand("context.heads", y, [n, options.heads], [places], [options.head])
    y = b.transpose("context.transpose", y, (0, 2, 1, 3))
    y = b.collapse("context.merged", y, [[0], [1], [2, 3]])
    return _linear(b, y, width, "output", BRANCH_GAIN)


def _layer(b: Builder, options: DecodeOptions, x: Value, cos: Value, sin: Value,
           remember: Remember, now: str | None = None) -> Value:
    with b.scope("attention"):
        y = b.rms_norm(x, "norm", EPSILON)
        y = causal_attention(b, options, y, cos, sin, remember, now)
        x = b.elementwise("add", "sum", x, y)
    with b.scope("mlp"):
        y = b.rms_norm(x, "norm", EPSILON)
        gate = b.silu(_linear(b, y, options.intermediate, "gate"), "silu")
        y = b.elementwise("mul", "gated", gate, _linear(b, y, options.intermediate, "up"))
        y = _linear(b, y, options.hidden, "down", BRANCH_GAIN)
        return b.elementwise("add", "sum", x, y)


def _logits(b: Builder, options: DecodeOptions, x: Value) -> Value:
    """Returns the logits of the last position."""
    n, places, width = x.shape
    last = b.slice("last", b.rms_norm(x, "norm", EPSILON), (0, b.total(places, -1), 0),
                   (n, 1, width), drop=[1])
    return _linear(b, last, options.vocabulary, "head")


def _embeddings(b: Builder, options: DecodeOptions) -> Value:
    return b.weight(b.normal("embeddings", (options.vocabulary, options.hidden), 1.0))


def _prefill(b: Builder, options: Options) -> None:
    if options.decode:
        with b.other_function("decode"):
            _decode(b, options)
    ids = b.input("ids", (b.batch, options.places), "i64", options.vocabulary)
    x = b.gather("embedded", _embeddings(b, options), ids)
    cos, sin = rotations(b, options, 0, options.places)
    x = b.chain("layer", [f"layer.{i}" for i in range(options.layers)], x,
                lambda x, cos, sin: _layer(b, options, x, cos, sin, attend_to_itself),
                [cos, sin])
    b.output(_logits(b, options, x))


def _most_likely(b: Builder, logits: Value) -> Value:
    """Returns the first index of the maximum of each row."""
    rows, count = logits.shape
    top = b.reduce("top", logits, [1], "arith.maximumf")
    none = b.filled("none", (rows,), count, "i64")

    def first(s: Scalars, a: str, top: str, least: str) -> str:
        here = s.line(f"arith.index_cast {s.index(1)} : index to i64")
        is_top = s.line(f"arith.cmpf oeq, {a}, {top} : f32")
        chosen = s.line(f"arith.select {is_top}, {here}, {least} : i64")
        return s.op("arith.minsi", chosen, least, element="i64")

    return b.generic("most_likely", [logits, (top, (0,))], 2, none, (0,), first)


def _decode(b: Builder, options: DecodeOptions) -> None:
    """Decodes greedily: each token after the first one is the most likely successor."""
    tokens = b.input("tokens", (b.batch, options.places), "i64", options.vocabulary)
    table = _embeddings(b, options)
    shape = (b.batch, options.groups, options.places, options.head)
    caches = [b.filled(f"layer.{i}.{kind}_cache", shape, 0.0)
              for i in range(options.layers) for kind in "kv"]
    logits = b.filled("logits", (b.batch, options.vocabulary), 0.0)

    def step(now: str, carried: list[Value]) -> list[Value]:
        tokens, _, *caches = carried
        token = b.slice("token", tokens, (0, now), (b.batch, 1))
        x = b.gather("embedded", table, token)
        cos, sin = rotations(b, options, now, 1)

        def remember_in(layer: int) -> Remember:
            def remember(*fresh: Value) -> tuple[Value, ...]:
                for i, value in enumerate(fresh, 2 * layer):
                    caches[i] = b.insert("cached", value, caches[i], (0, 0, now, 0), value.shape)
                return tuple(caches[2 * layer:2 * layer + 2])
            return remember

        for i in range(options.layers):
            with b.scope(f"layer.{i}"):
                x = _layer(b, options, x, cos, sin, remember_in(i), now)
        logits = _logits(b, options, x)
        following = b.emit("following", f"arith.addi {now}, {b.index(1)} : index", ()).name
        tokens = b.insert("tokens", _most_likely(b, logits), tokens, (0, following), (b.batch, 1))
        return [tokens, logits, *caches]

    results = b.loop("decode", b.total(options.places, -1), [tokens, logits, *caches], step)
    b.output(*results[:2])


_SMALL = {"sequence": 7, "layers": 2, "hidden": 36, "heads": 6, "groups": 3, "intermediate": 61,
          "vocabulary": 97, "positions": 19}
LLAMA3_8B = Network("llama3_8b", "Llama 3 8B, prefill (Grattafiori et al. 2024)", Options, _prefill,
                    _SMALL)
LLAMA3_8B_DECODE = Network(
    "llama3_8b_decode", "Llama 3 8B, greedy decoding as a loop that carries the caches",
    DecodeOptions, _decode, _SMALL)
