"""Compares layers of the network generator with their definitions in numpy.

usage: layers.py FOLDER

Writes one module whose results are layers on small random inputs, lowers and runs it, and compares each result with its
definition. Weights are arguments, so that the definitions get the same numbers without reading the module.
"""

import pathlib
import sys

import numpy as np

from layout_mlir.tools import run_tool
from networks import bert, efficientdet, llama, sd_unet, skipnet, swin
from networks.attention import attention
from networks.builder import Builder
from networks.layers import same_padding
from networks.options import CommonOptions

LIMIT = 1e-5
N, C, H, W = 2, 6, 5, 4


def windows(x, kernel, stride=(1, 1), padding=((0, 0), (0, 0)), border=0.0):
    """[n, c, h, w, kh, kw]"""
    x = np.pad(x, [(0, 0), (0, 0), *padding], constant_values=border)
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3))
    return view[:, :, ::stride[0], ::stride[1]]


def per_channel(v):
    return v[:, None, None]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def standardized(x, axes, epsilon):
    variance = x.var(axes, keepdims=True)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(variance + epsilon)


def erf(x):
    """Evaluates erf by its series."""
    term, total = x.copy(), x.copy()
    for k in range(1, 60):
        term = term * -x * x / k
        total += term / (2 * k + 1)
    return 2 / np.sqrt(np.pi) * total


def upconv(x, weight, bias):
    """Adds the filter times each pixel, not flipped, to four pixels of the result."""
    n, c, h, w = x.shape
    y = np.zeros((n, weight.shape[0], 2 * h, 2 * w))
    for i in range(2):
        for j in range(2):
            y[:, :, i::2, j::2] = np.einsum("nchw,oc->nohw", x, weight[:, :, 1 - i, 1 - j])
    return y + per_channel(bias)


def excite(x, names):
    g = names("excite")
    mean = x.mean((2, 3))
    y = mean @ g["reduce_weight"][:, :, 0, 0].T + g["reduce_bias"]
    y = (y * sigmoid(y)) @ g["expand_weight"][:, :, 0, 0].T + g["expand_bias"]
    return x * sigmoid(y)[:, :, None, None]


def heads_attend(q, k, v, allowed=None, bias=0.0):
    """Evaluates one head [places, d] without the pairs that are not allowed."""
    scores = q @ k.T / np.sqrt(q.shape[1]) + bias
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    return softmax(scores) @ v


def attend_all(x, source, g, heads):
    d = x.shape[2] // heads
    y = np.zeros_like(x)
    for n in range(x.shape[0]):
        q, k, v = (rows[n] @ g[f"{name}_weight"] + g[f"{name}_bias"]
                   for rows, name in ((x, "query"), (source, "key"), (source, "value")))
        for head in range(heads):
            part = slice(head * d, (head + 1) * d)
            y[n, :, part] = heads_attend(q[:, part], k[:, part], v[:, part])
    return y @ g["output_weight"] + g["output_bias"]


def attend_masked(x, counts, g):
    """Evaluates one head that attends only to positions that count."""
    y = np.zeros_like(x)
    for n in range(x.shape[0]):
        q, k, v = (x[n] @ g[f"{name}_weight"] + g[f"{name}_bias"]
                   for name in ("query", "key", "value"))
        y[n] = heads_attend(q, k, v, counts[n][None, :] == 1)
    return y @ g["output_weight"] + g["output_bias"]


def lstm(x, g, state, memory):
    """Returns the state after one step."""
    sums = x @ g["from_input"] + state @ g["from_state"] + g["bias"]
    let_in, keep, fresh, let_out = np.split(sums, 4, axis=1)
    memory = sigmoid(keep) * memory + sigmoid(let_in) * np.tanh(fresh)
    return sigmoid(let_out) * np.tanh(memory)


def guided_step(x, free, guided, left, after):
    """Splits x into image and noise and mixes them again."""
    noise = free + 7.5 * (guided - free)
    image = (x - (1 - left) ** 0.5 * noise) / left ** 0.5
    return after ** 0.5 * image + (1 - after) ** 0.5 * noise


def llama_attention(x, g, options):
    """Evaluates causal attention head by head, with rotations as products of complex numbers."""
    d, half = options.head, options.head // 2
    places = np.arange(x.shape[1])
    rotation = np.exp(1j * places[:, None] * llama.ROPE_BASE ** (-np.arange(half) / half))

    def rotated(rows):
        z = (rows[:, :half] + 1j * rows[:, half:]) * rotation
        return np.concatenate([z.real, z.imag], 1)

    y = np.zeros_like(x)
    for n in range(x.shape[0]):
        q, k, v = (x[n] @ g[f"{name}_weight"].T for name in ("query", "key", "value"))
        for head in range(options.heads):
            group = head // (options.heads // options.groups)
            own, shared = slice(head * d, head * d + d), slice(group * d, group * d + d)
            y[n, :, own] = heads_attend(rotated(q[:, own]), rotated(k[:, shared]), v[:, shared],
                                        places[None, :] <= places[:, None])
    return y @ g["output_weight"].T


def window_attention(x, g, heads, window, shift):
    """Evaluates attention of every position to the positions in its window, where the window borders are shifted
    without wrapping around."""
    n, h, w, c = x.shape
    d = c // heads
    qkv = x @ g["qkv_weight"] + g["qkv_bias"]
    grid = [(i, j) for i in range(h) for j in range(w)]
    cell = lambda i, j: ((i + window - shift) // window, (j + window - shift) // window)
    allowed = np.array([[cell(*a) == cell(*b) for b in grid] for a in grid])
    size = 2 * window - 1
    row = lambda a, b: (a[0] - b[0] + window - 1) * size + a[1] - b[1] + window - 1
    y = np.zeros_like(x)
    for i in range(n):
        flat = qkv[i].reshape(h * w, 3, heads, d)
        for head in range(heads):
            bias = np.array([[g["bias_table"][row(a, b), head] if cell(*a) == cell(*b) else 0
                              for b in grid] for a in grid])
            part = heads_attend(*(flat[:, k, head] for k in range(3)), allowed, bias)
            y[i, :, :, head * d:(head + 1) * d] = part.reshape(h, w, d)
    return y @ g["output_weight"] + g["output_bias"]


def build(b):
    """Returns {name: (value, its definition as a function of the arguments)}."""
    x = b.input("x", (N, C, H, W))
    rows = b.input("rows", (N, 7, 12))
    other = b.input("other", (N, 3, 12))
    grid = b.input("grid", (N, 4, 8, 6))
    ids = b.input("ids", (N, 3), "i64", 5)
    counts = b.input("counts", (N, 7), "i64", 2)
    state, memory, part = (b.input(name, shape) for name, shape in (
        ("state", (1, 10)), ("memory", (1, 10)), ("part", (1, 10))))
    options = llama.Options(sequence=7, hidden=12, heads=6, groups=3)

    def scoped(name, make):
        with b.scope(name):
            return make()

    def scalar(name):
        return b.element(name, b.weight(b.uniform(name, (1,), 0.1, 0.9)), [0])

    silu = b.silu(x, "silu")
    same = same_padding(x, 3, 2)
    w = lambda a, name: a[name + "_weight"]
    return {
        "conv": (b.conv(x, 7, (3, 2), "conv", stride=(2, 1), padding=((1, 0), (0, 2)), bias=True),
                 lambda a, g: np.einsum("nchwij,ocij->nohw", windows(
                     a["x"], (3, 2), (2, 1), ((1, 0), (0, 2))), w(a, "conv"))
                 + per_channel(a["conv_bias"])),
        "depthwise": (b.conv(x, C, 3, "depthwise", padding=1, depthwise=True),
                      lambda a, g: np.einsum("nchwij,cij->nchw", windows(
                          a["x"], (3, 3), padding=((1, 1), (1, 1))), w(a, "depthwise"))),
        "max_pool": (b.max_pool(x, 3, 2, same, "max_pool"), lambda a, g: windows(
            a["x"], (3, 3), (2, 2), ((1, 1), (0, 1)), -np.inf).max((4, 5))),
        "average_pool": (b.average_pool(x, 3, 1, "average_pool", padding=1), lambda a, g: windows(
            a["x"], (3, 3), padding=((1, 1), (1, 1))).mean((4, 5))),
        "upsample": (b.upsample(x, 2, "upsample"),
                     lambda a, g: a["x"].repeat(2, axis=2).repeat(2, axis=3)),
        "gathered": (b.upsample(x, 2, "gathered", gather=True),
                     lambda a, g: a["x"].repeat(2, axis=2).repeat(2, axis=3)),
        "upconv": (b.upconv(x, 3, "upconv"),
                   lambda a, g: upconv(a["x"], w(a, "upconv"), a["upconv_bias"])),
        "excite": (b.excite(x, 3, "excite"), lambda a, g: excite(a["x"], g)),
        "silu": (silu, lambda a, g: a["x"] * sigmoid(a["x"])),
        "gelu": (b.gelu(x, "gelu"), lambda a, g: a["x"] / 2 * (1 + erf(a["x"] / np.sqrt(2)))),
        "group_norm": (b.group_norm(x, 3, "group_norm", 1e-5), lambda a, g: standardized(
            a["x"].reshape(N, 3, -1), 2, 1e-5).reshape(a["x"].shape)
            * per_channel(g("group_norm")["scale"]) + per_channel(g("group_norm")["shift"])),
        "layer_norm": (b.layer_norm(rows, "layer_norm", 1e-3), lambda a, g: standardized(
            a["rows"], 2, 1e-3) * g("layer_norm")["scale"] + g("layer_norm")["shift"]),
        "rms_norm": (b.rms_norm(rows, "rms_norm", 1e-3), lambda a, g: a["rows"] / np.sqrt(
            (a["rows"] ** 2).mean(2, keepdims=True) + 1e-3) * g("rms_norm")["scale"]),
        "softmax": (b.softmax(rows, "softmax"), lambda a, g: softmax(a["rows"])),
        "linear": (b.linear(rows, 5, "linear", transposed=True),
                   lambda a, g: a["rows"] @ w(a, "linear").T + a["linear_bias"]),
        "gather": (b.gather("gather", b.weight(b.normal("table", (5, 4), 1.0)), ids),
                   lambda a, g: a["table"][a["ids"]]),
        "gather_rows": (b.gather_rows("gather_rows", rows, ids),
                        lambda a, g: np.stack([r[i] for r, i in zip(a["rows"], a["ids"])])),
        "attention": (scoped("attention", lambda: attention(b, rows, other, 3)),
                      lambda a, g: attend_all(a["rows"], a["other"], g("attention"), 3)),
        "masked": (scoped("masked", lambda: attention(
            b, rows, rows, 1, mask=lambda scores: bert.masked(
                b, scores, bert.mask_bias(b, counts), 1))),
            lambda a, g: attend_masked(a["rows"], a["counts"], g("masked"))),
        "lstm": (skipnet.Gates.get(b).step(b, part, state, memory)[0],
                 lambda a, g: lstm(a["part"], g("gates"), a["state"], a["memory"])),
        "weighted_sum": (scoped("weighted_sum", lambda: efficientdet.weighted_sum(b, [x, silu])),
                         lambda a, g: np.tensordot(
                             g("weighted_sum")["weights"] / (
                                 g("weighted_sum")["weights"].sum() + 1e-4),
                             np.stack([a["x"], a["x"] * sigmoid(a["x"])]), 1)),
        "step": (sd_unet.guided_step(b, x, silu, x, scalar("left"), scalar("after"), 7.5),
                 lambda a, g: guided_step(a["x"], a["x"] * sigmoid(a["x"]), a["x"], a["left"],
                                          a["after"])),
        "causal": (scoped("causal", lambda: llama.causal_attention(
            b, options, rows, *llama.rotations(b, options, 0, 7), llama.attend_to_itself,
            None)),
            lambda a, g: llama_attention(a["rows"], g("causal"), options)),
        "window": (scoped("window", lambda: swin.window_attention(b, grid, 2, 2, 0)),
                   lambda a, g: window_attention(a["grid"], g("window"), 2, 2, 0)),
        "shifted": (scoped("shifted", lambda: swin.window_attention(b, grid, 3, 4, 2)),
                    lambda a, g: window_attention(a["grid"], g("shifted"), 3, 4, 2)),
    }


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    b = Builder("layers", CommonOptions(weights="arguments"))
    cases = build(b)
    b.output(*(value for value, _ in cases.values()))
    with open(folder / "layers.mlir", "w") as file:
        b.write(file)
    arrays = b.example_inputs()
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
    run_tool("layout-opt", folder / "layers.mlir", "--layout-linalg-to-llvm", "--emit-bytecode",
             "-o", folder / "layers.mlirbc")
    run_tool("layout-run", folder / "layers.mlirbc", "--opt-level=0",
             *(f"--input={folder}/in{i}.npy" for i in range(len(arrays))),
             *(f"--output={folder}/{name}.npy" for name in cases))

    arguments = {argument.name[1:]: array if array.dtype.kind == "i" else array.astype(np.float64)
                 for argument, array in zip(b.function.arguments, arrays)}
    inside = lambda scope: {name[len(scope) + 1:]: array for name, array in arguments.items()
                            if name.startswith(scope + "_")}
    failed = []
    for name, (_, definition) in cases.items():
        expected, actual = definition(arguments, inside), np.load(folder / f"{name}.npy")
        good = expected.shape == actual.shape
        difference = np.abs(expected - actual).max() / np.abs(expected).max() if good else np.inf
        # Fails for NaN, too.
        if not difference <= LIMIT:
            failed.append(name)
        print(f"{name}: {actual.shape}, relative difference {difference:.1e}")
    if failed:
        sys.exit(f"not as defined: {', '.join(failed)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
