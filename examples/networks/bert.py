"""BERT-base: an encoder of token ids, with a mask for the padding of sentences."""

# Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2018; 12 layers, hidden
# size 768, 12 heads.

from dataclasses import dataclass

from .attention import attention
from .builder import Builder
from .network import Network
from .options import EncoderOptions, StructureOptions, TokenOptions, option
from .text import Value

EPSILON = 1e-12


@dataclass
class Options(EncoderOptions, TokenOptions, StructureOptions):
    hidden_input: bool = option(False, "the embedded sequence is an argument instead of the ids: "
                                "no gather, no --vocabulary", bool)


def _embedding(b: Builder, ids: Value, rows: int, hidden: int, name: str) -> Value:
    table = b.weight(b.normal(name + ".weight", (rows, hidden), 0.6))
    return b.gather(name, table, ids)


def _embedded(b: Builder, options: Options, ids: Value, kinds: Value) -> Value:
    places = ids.shape[1]
    with b.scope("embeddings"):
        x = b.elementwise("add", "sum",
                          _embedding(b, ids, options.vocabulary, options.hidden, "words"),
                          _embedding(b, kinds, 2, options.hidden, "kinds"))
        table = b.weight(b.normal("positions.weight", (options.positions, options.hidden), 0.6))
        rows = b.slice("positions", table, (0, 0), (places, options.hidden))
        x = b.pointwise("placed", [x, (rows, (1, 2))], lambda s, a, p: s.add(a, p))
        return b.layer_norm(x, "norm", EPSILON)


def mask_bias(b: Builder, mask: Value) -> Value:
    """Returns 0 for tokens that count and -1e9 for padding."""
    return b.pointwise("mask_bias", [mask], lambda s, a: s.mul(
        s.sub(s.constant(1.0), s.line(f"arith.sitofp {a} : i64 to f32")), s.constant(-1e9)))


def masked(b: Builder, scores: Value, bias: Value, heads: int) -> Value:
    """Adds the bias of each sentence to its scores [batch * heads, places, places]."""
    n, places = bias.shape
    split = b.expand("by_batch", scores, [n, heads], [places], [places])
    y = b.pointwise("masked", [split, (bias, (0, 3))], lambda s, a, m: s.add(a, m))
    return b.collapse("by_head", y, [[0, 1], [2], [3]])


def _layer(b: Builder, options: Options, x: Value, bias: Value) -> Value:
    with b.scope("attention"):
        y = attention(b, x, x, options.heads, transposed_weights=True,
                      mask=lambda scores: masked(b, scores, bias, options.heads))
        x = b.layer_norm(b.elementwise("add", "sum", y, x), "norm", EPSILON)
    with b.scope("feed_forward"):
        y = b.linear(x, options.intermediate, "intermediate", transposed=True)
        y = b.linear(b.gelu(y, "gelu"), options.hidden, "output", transposed=True, gain=2.0)
        return b.layer_norm(b.elementwise("add", "sum", y, x), "norm", EPSILON)


def _body(b: Builder, options: Options) -> None:
    sentences = (b.batch, options.places)
    if options.hidden_input:
        x = b.input("embedded", (*sentences, options.hidden))
        counts = b.input("mask", sentences, "i64", 2)
    else:
        ids = b.input("ids", sentences, "i64", options.vocabulary)
        kinds = b.input("kinds", sentences, "i64", 2)
        counts = b.input("mask", sentences, "i64", 2)
        x = _embedded(b, options, ids, kinds)
    x = b.chain("layer", [f"layer.{i}" for i in range(options.layers)], x,
                lambda x, bias: _layer(b, options, x, bias), [mask_bias(b, counts)])
    with b.scope("pooler"):
        first = b.slice("first", x, (0, 0, 0), (b.batch, 1, options.hidden), drop=[1])
        pooled = b.linear(first, options.hidden, "linear", transposed=True)
        pooled = b.pointwise("tanh", [pooled], lambda s, a: s.op("math.tanh", a))
    b.output(x, pooled)


BERT_BASE = Network(
    "bert_base", "BERT-base (Devlin et al. 2018)", Options, _body,
    {"sequence": 11, "layers": 2, "hidden": 33, "heads": 3, "intermediate": 61, "vocabulary": 97,
     "positions": 19})
