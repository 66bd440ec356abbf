"""Compares the results of run-bf16.mlir with numpy, which rounds as the standard defines."""

import sys

import numpy as np


def load(name):
    return (np.load(f"{sys.argv[1]}.{name}.npy").astype(np.uint32) << 16).view(np.float32)


def rounded(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    even = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return np.where(np.isnan(x), np.float32(np.nan), even.astype(np.uint32).view(np.float32))


x, y = load("x"), load("y")
np.testing.assert_array_equal(load("p"), np.pad(x, ((0, 0), (1, 1)), constant_values=1))
np.testing.assert_array_equal(load("m"), np.fmin(x, y))
exact = np.exp(x.astype(np.float64)).astype(np.float32)
np.testing.assert_allclose(load("e"), rounded(exact), rtol=2**-7)
# Rounded once: by way of f32 the second and the fourth would be halfway between two neighbors.
np.testing.assert_array_equal(np.load(f"{sys.argv[1]}.n.npy"),
                              [1, 1 + 2**-7, -1 - 2**-7, 1 + 2**-7, np.inf, -0.0, np.nan, -np.inf, 3.5])
