# REQUIRES: pycute
# RUN: %python %s
"""Checks CuTe layouts against pycute, on every point."""
# Compositions are not compared: pycute truncates them silently, and its left inverse of (4,2):(1,5) is wrong.

import itertools
import math
import random

import numpy as np
import pycute
from layout_mlir import Layout

SEED = 20260


def spell(tree):
    return f"({','.join(map(spell, tree))})" if isinstance(tree, tuple) else str(tree)


def make(rng):
    """Returns nested shapes and strides that are a permuted row of digits, with occasional gaps."""
    modes = [(5000,)]
    while math.prod(map(math.prod, modes)) > 4096:
        modes = [tuple(rng.choice((1, 2, 3, 4, 5, 8)) for _ in range(rng.randint(1, 3)))
                 for _ in range(rng.randint(1, 3))]
    places = [(m, d) for m, mode in enumerate(modes) for d in range(len(mode))]
    rng.shuffle(places)
    strides = [[0] * len(mode) for mode in modes]
    next_stride = 1
    for m, d in places:
        strides[m][d] = next_stride
        next_stride *= modes[m][d] * rng.choice((1, 1, 1, 2, 3))
    unwrap = lambda mode: mode[0] if len(mode) == 1 else tuple(mode)
    return tuple(map(unwrap, modes)), tuple(map(unwrap, strides))


def compare(text, expected, shape):
    points = math.prod(shape)
    numbers = np.arange(points, dtype=np.int32).reshape(shape)
    stored = Layout.from_notation("cute", text, element="i32").pack(numbers).reshape(-1)
    for index in itertools.product(*map(range, shape)):
        wanted = expected(*index)
        assert stored[wanted] == numbers[index], \
            f"seed {SEED}: {text} at {index} is not at {wanted}, where CuTe has it"
    return points


def main():
    rng = random.Random(SEED)
    points = 0
    for _ in range(300):
        shape, stride = make(rng)
        layout = pycute.Layout(shape, stride)
        sizes = tuple(pycute.product(mode) for mode in shape)
        points += compare(f"{spell(shape)}:{spell(stride)}", lambda *i: layout(*i), sizes)
    for _ in range(100):
        # Powers of two, so that a swizzle is a permutation.
        bits = [rng.randint(1, 3) for _ in range(rng.randint(2, 3))]
        shape = tuple(2**b for b in bits)
        order = rng.sample(range(len(bits)), len(bits))
        stride = [0] * len(bits)
        for place, mode in enumerate(order):
            stride[mode] = 2 ** sum(bits[m] for m in order[:place])
        total = sum(bits)
        # pycute recurses endlessly if nothing is shifted.
        mask = rng.randint(1, total // 2)
        shift = rng.randint(mask, total - mask)
        base = rng.randint(0, total - mask - shift)
        swizzled = pycute.ComposedLayout(pycute.Swizzle(mask, base, shift), 0,
                                         pycute.Layout(shape, tuple(stride)))
        points += compare(f"Sw<{mask},{base},{shift}> o 0 o {spell(shape)}:{spell(tuple(stride))}",
                          lambda *i: swizzled(*i), shape)
    assert points > 10_000, points
    print(points, "points agree")


main()
