"""Evaluates the networks in plain numpy, to check what a generated module computes.

usage: reference.py NETWORK MODULE.mlir INPUT.npy OUTPUT.npy

Implements the definition of the networks, and only takes the weights from the module (its dense resources, by name).
Exits with an error if OUTPUT is not the result.
"""

import re
import sys

import numpy as np

LIMIT = 1e-4


def read_weights(path):
    """Returns {name: array}, with the shapes of the constants that use the resources."""
    with open(path) as file:
        text = file.read()
    code, resources = text.split("\n{-#")
    shapes = {name: [int(d) for d in dims.split("x")[:-1]] for name, dims in re.findall(
        r"dense_resource<([\w.]+)> : tensor<([\dx]+f32)>", code)}
    blobs = re.findall(r'([\w.]+): "0x([0-9a-f]+)"', resources)
    return {name: np.frombuffer(bytes.fromhex(blob)[4:], "<f4").reshape(shapes[name])
            for name, blob in blobs}


class Network:
    def __init__(self, weights):
        self.weights = weights
        self.used = set()

    def get(self, name):
        self.used.add(name)
        return self.weights[name].astype(np.float64)

    def has(self, name):
        return name in self.weights

    @staticmethod
    def windows(x, kernel, stride):
        w = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(2, 3))
        return w[:, :, ::stride, ::stride]

    def conv_bn(self, x, conv, bn, stride=1, padding=0, depthwise=False):
        weight = self.get(conv + ".weight")
        x = np.pad(x, [(0, 0), (0, 0), (padding,) * 2, (padding,) * 2])
        windows = self.windows(x, weight.shape[-1], stride)
        y = (np.einsum("nchwij,cij->nchw", windows, weight) if depthwise
             else np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True))
        per_channel = (-1, 1, 1)
        if self.has(bn + ".scale"):
            y = y * self.get(bn + ".scale").reshape(per_channel)
            return y + self.get(bn + ".shift").reshape(per_channel)
        return y + self.get(conv + ".bias").reshape(per_channel)

    def max_pool(self, x, kernel, stride, padding):
        x = np.pad(x, [(0, 0), (0, 0), (padding,) * 2, (padding,) * 2], constant_values=-np.inf)
        return self.windows(x, kernel, stride).max(axis=(4, 5))

    def classify(self, x):
        return x.mean(axis=(2, 3)) @ self.get("fc.weight") + self.get("fc.bias")


def relu(x):
    return np.maximum(x, 0)


def relu6(x):
    return np.clip(x, 0, 6)


def resnet50(net, x):
    x = relu(net.conv_bn(x, "conv1", "bn1", stride=2, padding=3))
    x = net.max_pool(x, 3, 2, 1)
    for stage in (1, 2, 3, 4):
        block = 0
        while net.has(f"layer{stage}.{block}.conv1.weight"):
            name = f"layer{stage}.{block}"
            stride = 2 if stage > 1 and block == 0 else 1
            y = relu(net.conv_bn(x, name + ".conv1", name + ".bn1"))
            y = relu(net.conv_bn(y, name + ".conv2", name + ".bn2", stride, 1))
            y = net.conv_bn(y, name + ".conv3", name + ".bn3")
            if net.has(name + ".downsample.0.weight"):
                x = net.conv_bn(x, name + ".downsample.0", name + ".downsample.1", stride)
            x = relu(x + y)
            block += 1
    return net.classify(x)


def mobilenet_v2(net, x):
    x = relu6(net.conv_bn(x, "stem", "stem_bn", stride=2, padding=1))
    for stage, first_stride in enumerate((1, 2, 2, 2, 1, 2, 1), 1):
        block = 0
        while net.has(f"stage{stage}.{block}.depthwise.weight"):
            name = f"stage{stage}.{block}"
            stride = first_stride if block == 0 else 1
            y = x
            if net.has(name + ".expand.weight"):
                y = relu6(net.conv_bn(y, name + ".expand", name + ".expand_bn"))
            y = relu6(net.conv_bn(y, name + ".depthwise", name + ".depthwise_bn", stride, 1, True))
            y = net.conv_bn(y, name + ".project", name + ".project_bn")
            x = x + y if stride == 1 and x.shape == y.shape else y
            block += 1
    x = relu6(net.conv_bn(x, "last", "last_bn"))
    return net.classify(x)


def main(network, module, source, output):
    net = Network(read_weights(module))
    expected = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2}[network](
        net, np.load(source).astype(np.float64))
    unused = set(net.weights) - net.used
    if unused:
        sys.exit(f"weights that the definition does not use: {sorted(unused)}")
    actual = np.load(output)
    if actual.shape != expected.shape:
        sys.exit(f"shape {actual.shape}, expected {expected.shape}")
    size = np.abs(expected).max()
    difference = np.abs(actual - expected).max() / size
    print(f"relative difference {difference:.1e}, size of the result {size:.2f}")
    # Fails for NaN, too.
    if not difference <= LIMIT:
        sys.exit("the results differ")
    if not 0.05 < size < 100:
        sys.exit("the activations vanish or explode")


if __name__ == "__main__":
    main(*sys.argv[1:])
