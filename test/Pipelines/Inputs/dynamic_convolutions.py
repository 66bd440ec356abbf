"""Writes the inputs of run-dynamic-convolutions.mlir, and checks its results with numpy.

usage: dynamic_convolutions.py (inputs | check) DIRECTORY
"""

import os
import sys

import numpy as np

SHAPES = {
    "three": {"x": (2, 3, 11, 9)},
    "nhwc": {"x": (2, 5, 7, 16), "w": (32, 16, 1, 1)},
    "stated": {"x": (1, 32, 5, 6)},
    "stem": {"x": (2, 16, 9, 12), "w": (32, 16, 3, 3)},
    "cut": {"x": (1, 32, 6, 5)},
}


def conv(x, w, stride=1):
    height = (x.shape[2] - w.shape[2]) // stride + 1
    width = (x.shape[3] - w.shape[3]) // stride + 1
    result = np.zeros((x.shape[0], w.shape[0], height, width))
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            part = x[:, :, i:i + stride * height:stride, j:j + stride * width:stride]
            result += np.tensordot(part, w[:, :, i, j], axes=(1, 1)).transpose(0, 3, 1, 2)
    return result


def three(x):
    x = conv(x, np.full((16, 3, 3, 3), 0.5))
    x = conv(x, np.full((32, 16, 3, 3), 0.25))
    return conv(x, np.full((32, 32, 1, 1), 0.125))


def nhwc(x, w):
    return conv(x.transpose(0, 3, 1, 2), w)


def stated(x):
    return conv(x, np.full((32, 32, 1, 1), 0.5))


def stem(x, w):
    x = conv(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), w, stride=2) + 0.5
    x = x / (1 + np.exp(-x))
    return conv(x, np.full((32, 32, 1, 1), 0.125)) + 0.5


def cut(x):
    return stated(x)[:, :, :-2]


def main(command, directory):
    rng = np.random.default_rng(11)
    same = 0
    for name, shapes in SHAPES.items():
        inputs = {key: rng.standard_normal(shape).astype(np.float32)
                  for key, shape in shapes.items()}
        if command == "inputs":
            for key, value in inputs.items():
                np.save(os.path.join(directory, f"{name}.{key}.npy"), value)
            continue
        wanted = globals()[name](**{key: value.astype(np.float64)
                                    for key, value in inputs.items()})
        found = np.load(os.path.join(directory, f"{name}.y.npy"))
        if found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-4, atol=1e-4):
            same += 1
        else:
            print(f"{name} differs")
    print(f"{same} of {len(SHAPES)} as in numpy")


main(*sys.argv[1:])
