# REQUIRES: triton
# RUN: %python %s
"""Checks that linear layouts are the inverse of Triton's own, on every point of the hardware."""
# Triton maps registers, lanes and warps to an index. If it stores an index in several places, ours names one of them.

import itertools
import math
import random

from layout_mlir import Layout
from triton._C.libtriton.linear_layout import LinearLayout

SEED = 20261


def rank(vectors):
    """Returns the rank over GF(2); vectors are bit sets."""
    reduced = []
    for vector in vectors:
        for known in reduced:
            vector = min(vector, vector ^ known)
        if vector:
            reduced.append(vector)
    return len(reduced)


def make(rng):
    """Returns bases that span a random shape, some with copies, split into registers, lanes and warps."""
    bits = [rng.randint(0, 3) for _ in range(rng.randint(1, 3))]
    total = sum(bits)
    while True:
        columns = [rng.randrange(2**total) for _ in range(total + rng.choice((0, 0, 1)))]
        if rank(columns) == total:
            break

    def split(vector):
        coordinates = []
        for count in bits:
            coordinates.append(vector % 2**count)
            vector >>= count
        return coordinates

    bases = [split(vector) for vector in columns]
    cuts = sorted(rng.randint(0, len(bases)) for _ in range(2))
    parts = bases[:cuts[0]], bases[cuts[0]:cuts[1]], bases[cuts[1]:]
    return [2**count for count in bits], dict(zip(("register", "lane", "warp"), parts))


def compare(shape, bases):
    text = " ".join(f"{name}={basis}".replace(" ", "") for name, basis in bases.items())
    layout = Layout.from_notation("triton", f"{text} : {shape}".replace(", ", ","))
    names = [f"dim{d}" for d in range(len(shape))]
    theirs = LinearLayout.from_bases(list(bases.items()), names, shape, True)
    for index in itertools.product(*map(range, shape)):
        place = layout.address(index, shape)
        found = theirs.apply({name: place[name] for name in bases})
        assert tuple(found[name] for name in names) == index, \
            f"seed {SEED}: {text} : {shape} has {index} at {place}, where Triton has {found}"
    assert bool(layout.is_injective(tuple(shape))) is True
    return math.prod(shape)


def main():
    rng = random.Random(SEED)
    points = sum(compare(*make(rng)) for _ in range(200))
    assert points > 4000, points
    print(points, "points agree")


main()
