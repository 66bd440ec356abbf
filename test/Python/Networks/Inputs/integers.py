"""Compares an integer network exactly with its definition, and approximately with the f32 network.

usage: integers.py FOLDER resnet50|mobilenet_v2 [OPTION..] [-- OPTION..]

The options after -- are those of the network with layouts, if they differ. Its results must equal those of plain loops,
and both those of the definition here, which only takes weights, biases and multipliers from the module (its dense
resources, by name). Also fails if a layer saturates or vanishes, or if the logits do not approximate the f32 network.
"""

import pathlib
import re
import sys

import numpy as np

from layout_mlir.tools import run_tool
from networks.__main__ import main as generate

TARGET = '#layout.cpu<lanes = 16>'
# Limits for any layer, and for the average. Half of the results of a relu are zeros, and a relu6 clips some in f32,
# too.
SATURATED, ZEROS = 0.15, 0.95
ALL_SATURATED, ALL_ZEROS = 0.03, 0.5
CORRELATION = 0.9
DTYPES = {"i8": "<i1", "i32": "<i4"}


def read_weights(path):
    """Returns {name: array} in 64 bits, in which nothing here overflows."""
    code, resources = path.read_text().split("\n{-#")
    kinds = {name: ([int(d) for d in dims.split("x")[:-1]], element) for name, dims, element in
             re.findall(r"dense_resource<([\w.]+)> : tensor<([\dx]+)(i8|i32)>", code)}
    weights = {}
    for name, blob in re.findall(r'([\w.]+): "0x([0-9a-f]+)"', resources):
        shape, element = kinds[name]
        weights[name] = np.frombuffer(bytes.fromhex(blob)[4:], DTYPES[element]).reshape(
            shape).astype(np.int64)
    return weights


class Network:
    def __init__(self, weights):
        self.weights = weights
        self.used = set()
        self.shares = []  # (layer, share of saturated values, share of zeros)

    def get(self, name):
        self.used.add(name)
        return self.weights[name]

    def has(self, name):
        return name + ".weight" in self.weights

    def clamp(self, x, low, high, layer):
        """Clamps and records saturation; only a negative `low` is the end of a range, 0 is that of an activation."""
        y = np.clip(x, low, high)
        beyond = (x > high) | ((x < low) & (low < 0))
        self.shares.append((layer, beyond.mean(), (y == 0).mean()))
        return y

    def conv(self, x, name, low, high, stride=1, depthwise=False):
        """Applies a convolution with zero padding that keeps the extents if the stride is 1."""
        weight = self.get(name + ".weight")
        kernel = weight.shape[-1]
        border = kernel // 2
        x = np.pad(x, [(0, 0), (0, 0), (border, border), (border, border)])
        height = (x.shape[2] - kernel) // stride + 1
        width = (x.shape[3] - kernel) // stride + 1
        y = np.zeros((x.shape[0], weight.shape[0], height, width), np.int64)
        for i in range(kernel):
            for j in range(kernel):
                part = x[:, :, i:i + stride * height:stride, j:j + stride * width:stride]
                part = part[:, :, :height, :width]
                y += (part * weight[:, i, j][:, None, None] if depthwise else
                      np.einsum("nchw,oc->nohw", part, weight[:, :, i, j], optimize=True))
        y += self.get(name + ".bias")[:, None, None]
        if np.abs(y).max() > np.iinfo(np.int32).max:
            sys.exit(f"{name}: the sums do not fit i32")
        y = y * self.get(name + ".multiplier")[:, None, None]
        # Rounds to nearest, with 24 fractional bits; halves upward.
        return self.clamp((y + 2 ** 23) // 2 ** 24, low, high, name)

    def max_pool(self, x):
        x = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-128)
        return np.lib.stride_tricks.sliding_window_view(
            x, (3, 3), axis=(2, 3))[:, :, ::2, ::2].max((4, 5))

    def classify(self, x):
        count = x.shape[2] * x.shape[3]
        mean = (2 * x.sum((2, 3)) + count) // (2 * count)
        self.shares.append(("pool", (mean == 127).mean(), (mean == 0).mean()))
        return mean @ self.get("fc.weight") + self.get("fc.bias")


def resnet50(net, x):
    x = net.max_pool(net.conv(x, "conv1", 0, 127, 2))
    for stage in (1, 2, 3, 4):
        block = 0
        while net.has(f"layer{stage}.{block}.conv1"):
            name = f"layer{stage}.{block}."
            stride = 2 if stage > 1 and block == 0 else 1
            y = net.conv(x, name + "conv1", 0, 127)
            y = net.conv(y, name + "conv2", 0, 127, stride)
            y = net.conv(y, name + "conv3", -128, 127)
            if net.has(name + "downsample.0"):
                x = net.conv(x, name + "downsample.0", -128, 127, stride)
            x = net.clamp(x + y, 0, 127, name + "sum")
            block += 1
    return net.classify(x)


def mobilenet_v2(net, x):
    """Evaluates the network; after a relu6 the unit of a number is 1/16."""
    x = net.conv(x, "stem", 0, 96, 2)
    for stage, first_stride in enumerate((1, 2, 2, 2, 1, 2, 1), 1):
        block = 0
        while net.has(f"stage{stage}.{block}.depthwise"):
            name = f"stage{stage}.{block}."
            stride = first_stride if block == 0 else 1
            y = net.conv(x, name + "expand", 0, 96) if net.has(name + "expand") else x
            y = net.conv(y, name + "depthwise", 0, 96, stride, depthwise=True)
            y = net.conv(y, name + "project", -128, 127)
            same = stride == 1 and x.shape == y.shape
            x = net.clamp(x + y, -128, 127, name + "sum") if same else y
            block += 1
    return net.classify(net.conv(x, "last", 0, 96))


def check_shares(shares):
    mean = np.mean([share[1:] for share in shares], axis=0)
    for layer, saturated, zeros in [*shares, ("all", *mean)]:
        print(f"{layer}: {saturated:.2%} saturated, {zeros:.2%} zeros")
        if saturated > SATURATED or zeros > ZEROS:
            sys.exit(f"{layer} says nothing")
    if mean[0] > ALL_SATURATED or mean[1] > ALL_ZEROS:
        sys.exit("the layers say little")


def correlation(a, b):
    """Returns the correlation; for several images, that of their differences from the mean."""
    if len(a) > 1:
        a, b = a - a.mean(0), b - b.mean(0)
    return np.corrcoef(a.ravel(), b.ravel())[0, 1]


def main(folder, network, *options):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    cut = options.index("--") if "--" in options else len(options)
    plain = [network, *options[:cut]]
    laid_out = [network, *options[cut + 1:]] if cut < len(options) else plain
    # Sizes of dynamic extents only apply to the inputs, which are written once.
    other = [option for option in laid_out if not option.startswith("--input-")]
    generate([*plain, "--element", "i8", "-o", str(folder / "before.mlir"),
              "--input-npy", str(folder / "i8.npy")])
    generate([*other, "--element", "i8", "-o", str(folder / "after.mlir")])
    generate([*plain, "-o", str(folder / "real.mlir"), "--input-npy", str(folder / "f32.npy")])
    for name, lowering in (("before", "--layout-linalg-to-llvm"),
                           ("after", f"--layout-to-cpu=target={{{TARGET}}}"),
                           ("real", "--layout-linalg-to-llvm")):
        run_tool("layout-opt", folder / f"{name}.mlir", lowering, "--emit-bytecode",
                 "-o", folder / f"{name}.mlirbc")
        run_tool("layout-run", folder / f"{name}.mlirbc", "--opt-level=0",
                 f"--input={folder}/{'f32' if name == 'real' else 'i8'}.npy",
                 f"--output={folder}/{name}.npy")

    net = Network(read_weights(folder / "before.mlir"))
    expected = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2}[network](
        net, np.load(folder / "i8.npy").astype(np.int64))
    check_shares(net.shares)
    if unused := set(net.weights) - net.used:
        sys.exit(f"weights that the definition does not use: {sorted(unused)}")
    for name in ("before", "after"):
        actual = np.load(folder / f"{name}.npy")
        if actual.dtype != np.int32 or not np.array_equal(actual, expected):
            sys.exit(f"{name}: {actual.dtype} {actual.shape}, {(actual != expected).mean():.0%} of "
                     "the logits are not those of the definition")
    real = np.load(folder / "real.npy")
    similarity = correlation(expected, real)
    print(f"{expected.size} logits are exact; correlation with those in f32 {similarity:.3f}")
    # Fails for NaN, too.
    if not similarity > CORRELATION:
        sys.exit("the logits are others than in f32")


if __name__ == "__main__":
    main(*sys.argv[1:])
