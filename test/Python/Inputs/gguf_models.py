"""Writes GGUF files with the gguf package from random weights, and evaluates them with numpy by the definition of the
network: gguf's decoded weights, float32, no caches, one attention for all positions."""

import dataclasses

import gguf
import numpy as np

KINDS = gguf.GGMLQuantizationType
# The first bytes of the f16 numbers of a block, of formats that gguf decodes only, and what they are for random codes of
# mean 0 in relation to each other: the scale of scales, and that of minimums.
SUPERS = {"Q2_K": {80: 1.0, 82: 1.5}, "Q3_K": {108: 1.0}, "Q4_K": {0: 1.0, 2: 7.5}, "Q5_K": {0: 1.0, 2: 15.5},
          "Q6_K": {208: 1.0}}


@dataclasses.dataclass
class Sizes:
    arch: str = "llama"
    layers: int = 2
    width: int = 64
    hidden: int = 96
    heads: int = 4
    groups: int = 2
    head: int = 16
    value: int = 16
    rotated: int = 16
    vocabulary: int = 61
    context: int = 64
    epsilon: float = 1e-5
    base: float = 10000.0
    factor: float = 1.0
    tied: bool = False
    biases: tuple = ()
    frequencies: bool = False


def encode(rng, values, kind):
    """Returns the bytes of rows of values in a format, or random blocks of a similar spread if gguf does not
    quantize to the format."""
    if kind not in SUPERS:
        return gguf.quantize(values, KINDS[kind])
    block, size = gguf.GGML_QUANT_SIZES[KINDS[kind]]
    rows, columns = values.shape
    blocks = rng.integers(0, 256, (rows, columns // block, size), np.uint8)
    for at, factor in SUPERS[kind].items():
        blocks[..., at:at + 2] = np.frombuffer(np.float16(factor).tobytes(), np.uint8)
    scale = rng.uniform(0.7, 1.3, blocks.shape[:2]) * values.std() / gguf.dequantize(blocks[:8].reshape(-1, size * (
        columns // block)), KINDS[kind]).std()
    for at, factor in SUPERS[kind].items():
        blocks[..., at:at + 2] = (scale * factor).astype(np.float16)[..., None].view(np.uint8)
    return blocks.reshape(rows, -1)


def list_matrices(s):
    """Returns the shapes of the matrices of a network, rows first."""
    shapes = {"token_embd.weight": (s.vocabulary, s.width)}
    if not s.tied:
        shapes["output.weight"] = s.vocabulary, s.width
    for i in range(s.layers):
        shapes |= {f"blk.{i}.{name}.weight": shape for name, shape in {
            "attn_q": (s.heads * s.head, s.width), "attn_k": (s.groups * s.head, s.width),
            "attn_v": (s.groups * s.value, s.width), "attn_output": (s.width, s.heads * s.value),
            "ffn_gate": (s.hidden, s.width), "ffn_up": (s.hidden, s.width), "ffn_down": (s.width, s.hidden)}.items()}
    return shapes


def make_writer(path, s, skipped=()):
    """Returns a writer with the metadata of a network, except the keys `skipped`."""
    writer = gguf.GGUFWriter(path, s.arch)
    numbers = {"block_count": s.layers, "embedding_length": s.width, "feed_forward_length": s.hidden,
               "context_length": s.context, "attention.head_count": s.heads, "attention.head_count_kv": s.groups,
               "attention.key_length": s.head, "attention.value_length": s.value, "rope.dimension_count": s.rotated}
    for key, number in numbers.items():
        if key not in skipped:
            writer.add_uint32(f"{s.arch}.{key}", number)
    floats = {"attention.layer_norm_rms_epsilon": s.epsilon, "rope.freq_base": s.base}
    if s.factor != 1:
        writer.add_string(f"{s.arch}.rope.scaling.type", "linear")
        floats["rope.scaling.factor"] = s.factor
    for key, number in floats.items():
        if key not in skipped:
            writer.add_float32(f"{s.arch}.{key}", number)
    return writer


def make_tensors(s, choose, seed=0):
    """Returns {name: (array, format)}; `choose(name)` is the format of a matrix."""
    rng = np.random.default_rng(seed)
    tensors = {}
    for name, (rows, columns) in list_matrices(s).items():
        kind = choose(name)
        values = (rng.standard_normal((rows, columns)) * 1.5 / np.sqrt(columns)).astype("f4")
        tensors[name] = encode(rng, values, kind), kind
        if name.startswith("blk.") and name.split(".")[2] in s.biases:
            tensors[name.replace(".weight", ".bias")] = rng.standard_normal(rows).astype("f4"), "F32"
    norms = ["output_norm.weight", *(f"blk.{i}.{name}_norm.weight" for i in range(s.layers) for name in ("attn", "ffn"))]
    for name in norms:
        tensors[name] = rng.uniform(0.5, 1.5, s.width).astype("f4"), "F32"
    if s.frequencies:
        tensors["rope_freqs.weight"] = rng.uniform(1, 8, s.rotated // 2).astype("f4"), "F32"
    return tensors


def finish(writer, tensors):
    for name, (array, kind) in tensors.items():
        writer.add_tensor(name, array, raw_dtype=KINDS[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write(path, s, choose, seed=0):
    """Writes a model; returns {name: decoded values}."""
    tensors = make_tensors(s, choose, seed)
    finish(make_writer(path, s), tensors)
    return {name: gguf.dequantize(array, KINDS[kind]).astype("f4") for name, (array, kind) in tensors.items()}


def norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(epsilon)) * weight


def rotate(s, weights, x):
    """Turns pairs of each head of [tokens, heads, values], as complex numbers."""
    half = s.rotated // 2
    speeds = s.base ** (-2.0 * np.arange(half) / s.rotated) / weights.get("rope_freqs.weight", 1.0) / s.factor
    turns = np.exp(1j * np.arange(len(x))[:, None, None] * speeds)
    real, imaginary = (slice(0, s.rotated, 2), slice(1, s.rotated, 2)) if s.arch == "llama" else (
        slice(0, half), slice(half, s.rotated))
    turned = (x[..., real] + 1j * x[..., imaginary]) * turns
    result = x.copy()
    result[..., real], result[..., imaginary] = turned.real, turned.imag
    return result


def evaluate(s, weights, tokens):
    """Returns the logits after each token."""
    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", np.float32(0))

    x = weights["token_embd.weight"][np.asarray(tokens)]
    count = len(tokens)
    future = np.triu(np.ones((count, count), bool), 1)
    for i in range(s.layers):
        y = norm(x, weights[f"blk.{i}.attn_norm.weight"], s.epsilon)
        q, k, v = (linear(y, f"blk.{i}.attn_{name}").reshape(count, heads, -1)
                   for name, heads in (("q", s.heads), ("k", s.groups), ("v", s.groups)))
        q, k = rotate(s, weights, q), rotate(s, weights, k)
        k, v = (np.repeat(each, s.heads // s.groups, axis=1) for each in (k, v))
        scores = np.einsum("thd,phd->htp", q, k) / np.float32(np.sqrt(s.head))
        scores = np.where(future, -np.inf, scores)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        y = np.einsum("htp,phd->thd", scores / scores.sum(-1, keepdims=True), v).reshape(count, -1)
        x = x + linear(y, f"blk.{i}.attn_output")
        y = norm(x, weights[f"blk.{i}.ffn_norm.weight"], s.epsilon)
        gate, up = linear(y, f"blk.{i}.ffn_gate"), linear(y, f"blk.{i}.ffn_up")
        x = x + linear(gate / (1 + np.exp(-gate)) * up, f"blk.{i}.ffn_down")
    return norm(x, weights["output_norm.weight"], s.epsilon) @ weights.get(
        "output.weight", weights["token_embd.weight"]).T


def generate(s, weights, tokens, count):
    """Returns the `count` most likely tokens after `tokens`, one after the other."""
    made = []
    for _ in range(count):
        made.append(int(np.argmax(evaluate(s, weights, [*tokens, *made])[-1])))
    return made
