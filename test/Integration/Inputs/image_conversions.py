"""Checks random conversions between buffers and images on an OpenCL device, pixel by pixel.

A program is a walk: a tensor is converted from linear memory through images of random kinds and back, and all pixels in
between are returned and compared with image_table.py. A walk with dynamic sizes is compiled once and runs on many
random shapes; a walk with static sizes is a separate program. Every round of walks covers every kind with every type.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np
from image_table import BUFFERS, KINDS, TYPES, can_hold, random_array, tensor_type

from layout_mlir.tools import run_tool

LONGEST = 4  # kinds of a walk


class Walk:
    """A program of len(kinds) + 1 conversions; sizes are static if `shape` states them."""

    def __init__(self, rng, kinds, element, shape):
        self.names, self.element, self.shape = kinds, element, tuple(shape)
        self.kinds = [KINDS.get(name) or BUFFERS[name] for name in kinds]
        self.paddings = [rng.choice([None, 0, 5]) for _ in kinds]

    def types(self):
        plain = tensor_type(self.shape, self.element)
        stored = [tensor_type(kind.stored_axes(self.shape), self.element) for kind in self.kinds]
        return plain, stored

    def module(self):
        plain, stored = self.types()
        lines, value, before = [], "%x", plain
        for k, (kind, padding) in enumerate(zip(self.kinds, self.paddings)):
            after = tensor_type(self.shape, self.element, kind, padding)
            lines.append(f"%v{k} = layout.convert {value} : {before} to {after}")
            lines.append(f"%p{k} = layout.storage_view %v{k} : {after} to {stored[k]}")
            value, before = f"%v{k}", after
        lines.append(f"%y = layout.convert {value} : {before} to {plain}")
        names = ", ".join([*(f"%p{k}" for k in range(len(stored))), "%y"])
        results = ", ".join([*stored, plain])
        return (f"func.func @main(%x: {plain}) -> ({results}) {{\n  " + "\n  ".join(lines)
                + f"\n  return {names} : {results}\n}}\n")

    def check(self, array, results):
        """Returns the number of compared positions."""
        compared = 0
        for name, kind, padding, got in zip(self.names, self.kinds, self.paddings, results):
            want = kind.store(array, padding or 0)
            got = got.reshape(want.shape)
            if padding is None:  # unspecified padding is not compared
                got = np.where(kind.is_padding(array.shape), want, got)
            compared += want.size
            if not np.array_equal(got, want):
                sys.exit(f"{np.count_nonzero(got != want)} positions of {name} differ: {self.said(array)}")
        if not np.array_equal(results[-1], array):
            sys.exit(f"the tensor differs after the way back: {self.said(array)}")
        return compared + array.size

    def check_points(self, array, case, results):
        """Checks elements of the test vectors, in pixels [x, y, lane]."""
        pixels = results[0].reshape(*case["image"], 4)
        for index, place in case["points"]:
            if pixels[tuple(place)] != array[tuple(index)]:
                sys.exit(f"{index} is not at {place}: {self.said(array)}")

    def said(self, array):
        steps = " ".join(f"{name}({'undef' if padding is None else padding})"
                         for name, padding in zip(self.names, self.paddings))
        return f"{array.shape} x {self.element} through {steps}"

    def run(self, arrays, directory, cases=()):
        """Returns the numbers of conversions and of compared positions."""
        (directory / "in.mlir").write_text(self.module())
        run_tool("layout-opt", directory / "in.mlir", "--layout-cpu-prepare-entry-points",
                 "--convert-layout-to-gpu", "--lower-affine", "--canonicalize", "--cse",
                 "--layout-gpu-to-opencl", "-o", directory / "out.mlir")
        lines, outputs = [], []
        for k, array in enumerate(arrays):
            np.save(directory / f"{k}.npy", array)
            outputs.append([directory / f"{k}.{r}.npy" for r in range(len(self.kinds) + 1)])
            lines.append(f"{directory / f'{k}.npy'} -> {' '.join(map(str, outputs[-1]))}")
        (directory / "cases.txt").write_text("\n".join(lines) + "\n")
        run_tool("layout-run", directory / "out.mlir", f"--cases={directory / 'cases.txt'}")
        results = [[np.load(path) for path in paths] for paths in outputs]
        for array, case, own in zip(arrays, cases, results):
            self.check_points(array, case, own)
        compared = sum(self.check(array, own) for array, own in zip(arrays, results))
        return len(arrays) * (len(self.kinds) + 1), compared


def fit(kinds, shape):
    for name in kinds:
        shape = (KINDS.get(name) or BUFFERS[name]).fit(shape)
    return shape


def random_shape(rng, rank):
    if rank == 1:
        return (int(rng.integers(0, 300)),)
    # Most extents are small, including odd ones; few are large, and one in 40 is 0.
    return tuple(int(rng.choice([rng.integers(1, 9), rng.integers(1, 30), 0], p=[0.85, 0.125, 0.025]))
                 for _ in range(rank))


def deal(rng, element):
    """Yields walks through all kinds that support the type, each kind once, including linear memory."""
    names = [name for name, kind in KINDS.items() if kind.rank == 4 and can_hold(kind, element)]
    names = [str(name) for name in rng.permutation(names + [str(rng.choice(list(BUFFERS)))])]
    return [*(names[k:k + LONGEST] for k in range(0, len(names), LONGEST)), ["argument"]]


def dynamic_walks(rng, shapes):
    """Yields the walks of one round with dynamic sizes, and arrays of random shapes for each of them."""
    for element in TYPES:
        for kinds in deal(rng, element):
            rank = 1 if kinds == ["argument"] else 4
            # Sizes that a kind requires are static; the others are dynamic.
            least, most = fit(kinds, (1,) * rank), fit(kinds, (99,) * rank)
            shape = [rng.integers(1, high + 1) if high < 99 else None for low, high in zip(least, most)]
            arrays = []
            for _ in range(shapes):
                own = random_shape(rng, rank)
                own = [extent if known is None else known for extent, known in zip(own, shape)]
                arrays.append(random_array(rng, own, element))
            yield Walk(rng, kinds, element, shape), arrays


def static_walks(rng, count):
    for _ in range(count):
        element = str(rng.choice(list(TYPES)))
        walks = deal(rng, element)
        kinds = walks[rng.integers(len(walks))][:2]
        shape = fit(kinds, random_shape(rng, 1 if kinds == ["argument"] else 4))
        yield Walk(rng, kinds, element, shape), [random_array(rng, shape, element)]


def vector_walks(rng, path):
    """Yields walks over the shapes of the test vectors, one walk per layout."""
    cases = json.loads(path.read_text())["cases"]
    for name, kind in KINDS.items():
        own = [case for case in cases if case["layout"] == kind.layout]
        if own:
            shape = [1 if extent == 1 else None for extent in kind.fit((2,) * kind.rank)]
            yield (Walk(rng, [name], "f32", shape),
                   [random_array(rng, case["shape"], "f32") for case in own], own)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1, help="through all kinds and types")
    parser.add_argument("--shapes", type=int, default=10, help="of each walk of a round")
    parser.add_argument("--static", type=int, default=0, help="walks with static sizes, one each")
    parser.add_argument("--vectors", type=pathlib.Path, help="a file of placed points")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    conversions = compared = 0

    def run(walks):
        nonlocal conversions, compared
        for walk, *what in walks:
            with tempfile.TemporaryDirectory() as directory:
                done, positions = walk.run(what[0], pathlib.Path(directory), *what[1:])
            conversions, compared = conversions + done, compared + positions

    if options.vectors:
        run(vector_walks(rng, options.vectors))
    run(static_walks(rng, options.static))
    for _ in range(options.rounds):
        run(dynamic_walks(rng, options.shapes))
        print(f"{conversions} conversions, {compared} positions: all agree (seed {options.seed})", flush=True)


if __name__ == "__main__":
    main()
