# RUN: %python %s
# Check convolutions of zero-stuffed images as dense convolutions, one per remainder with taps, against NumPy.
import itertools
import math
import pathlib
import re
import tempfile
from typing import NamedTuple

import numpy as np

from layout_mlir.tools import run_tool


class Case(NamedTuple):
    pixels: tuple
    kernel: tuple
    strides: tuple
    low: tuple  # zeros before the first pixel
    high: tuple  # zeros after the last pixel
    steps: tuple
    dilations: tuple
    groups: int = 1
    last: bool = False  # channels are last
    reshaped: bool = False  # zeros are inserted by a pad between two reshapes


CASES = [
    Case((5, 4), (2, 2), (2, 2), (1, 1), (1, 1), (1, 1), (1, 1)),
    Case((5, 4), (4, 4), (2, 2), (2, 2), (2, 2), (1, 1), (1, 1)),
    Case((5, 4), (3, 3), (2, 2), (1, 1), (2, 2), (1, 1), (1, 1), last=True),
    Case((5, 4), (3, 2), (2, 3), (4, 0), (1, 3), (1, 1), (2, 1), groups=3),
    Case((7, 5), (3, 3), (4, 2), (2, 2), (2, 2), (2, 2), (1, 1)),
    Case((6, 5), (3, 3), (6, 1), (2, 1), (2, 1), (4, 1), (3, 1)),
    Case((4, 4), (2, 2), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),  # some results have no tap
    Case((5, 4), (3, 3), (2, 2), (1, 1), (2, 2), (1, 1), (1, 1), groups=3, reshaped=True),
    Case((9,), (16,), (8,), (11,), (11,), (1,), (1,)),
    Case((3, 4, 2), (3, 3, 2), (2, 1, 2), (1, 1, 1), (2, 1, 1), (1, 1, 1), (1, 1, 1)),
]
CHANNELS, FILTERS = 5, 19


def tensor(shape):
    return f"tensor<{'x'.join(map(str, (*shape, 'f32')))}>"


def order(case, channels, places):
    """Returns the text of the dims of the image in order."""
    return ["n", *places, *channels] if case.last else ["n", *channels, *places]


def spread(case):
    """Returns the extents of the image with zeros."""
    behind = case.strides if case.reshaped else (1,) * len(case.strides)
    return [low + (n - 1) * s + b + high for n, s, b, low, high in
            zip(case.pixels, case.strides, behind, case.low, case.high)]


def results(case):
    return [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in
            zip(spread(case), case.kernel, case.steps, case.dilations)]


def shapes(case):
    """Returns the shapes of the pixels, the weights and the results."""
    return (order(case, [case.groups, CHANNELS], case.pixels),
            [case.groups, FILTERS, CHANNELS, *case.kernel],
            order(case, [case.groups, FILTERS], results(case)))


def numbers(shape):
    return [1 if extent == "n" else extent for extent in shape]


def write_zeros(case, i):
    """Returns the text that inserts the zeros."""
    pixels, wide = tensor(numbers(shapes(case)[0])), numbers(order(case, [case.groups, CHANNELS], spread(case)))
    first = 1 if case.last else 3
    if not case.reshaped:
        offsets, strides = ([fill, fill, fill] for fill in (0, 1))
        offsets[first:first], strides[first:first] = case.low, case.strides
        return (f"%z{i} = tensor.empty() : {tensor(wide)}\n"
                f"%f{i} = linalg.fill ins(%zero : f32) outs(%z{i} : {tensor(wide)}) -> {tensor(wide)}\n"
                f"%v{i} = tensor.insert_slice %x{i} into %f{i}{offsets} {numbers(shapes(case)[0])} {strides} : "
                f"{pixels} into {tensor(wide)}\n")
    whole = numbers(shapes(case)[0])
    groups = [[0], [1], [2], *([3 + 2 * d, 4 + 2 * d] for d in range(len(case.pixels)))]
    split = [*whole[:3], *itertools.chain(*((n, 1) for n in case.pixels))]
    apart = [*whole[:3], *itertools.chain(*zip(case.pixels, case.strides))]
    merged = [*whole[:3], *(n * s for n, s in zip(case.pixels, case.strides))]
    high = [0, 0, 0, *itertools.chain(*((0, s - 1) for s in case.strides))]
    args = ", ".join(f"%a{d}: index" for d in range(len(split)))
    border = ", ".join(f"%a{d}: index" for d in range(len(wide)))
    return (f"%e{i} = tensor.expand_shape %x{i} {groups} output_shape {split} : {pixels} into {tensor(split)}\n"
            f"%p{i} = tensor.pad %e{i} low{[0] * len(split)} high{high} {{\n^bb0({args}):\n"
            f"tensor.yield %zero : f32\n}} : {tensor(split)} to {tensor(apart)}\n"
            f"%m{i} = tensor.collapse_shape %p{i} {groups} : {tensor(apart)} into {tensor(merged)}\n"
            f"%v{i} = tensor.pad %m{i} low[0, 0, 0, {', '.join(map(str, case.low))}] "
            f"high[0, 0, 0, {', '.join(map(str, case.high))}] {{\n^bb0({border}):\n"
            f"tensor.yield %zero : f32\n}} : {tensor(merged)} to {tensor(wide)}\n")


def get_starts(case):
    """Returns the initial values of the sums, one per filter."""
    return np.arange(case.groups * FILTERS, dtype=float).reshape(case.groups, FILTERS)


def write_case(case, i, weights):
    rank = len(case.pixels)
    places, taps = ([f"{name}{d}" for d in range(rank)] for name in "yk")
    read = [f"{y} * {s} + {k} * {d}" for y, k, s, d in zip(places, taps, case.steps, case.dilations)]
    loops = ["n", "g", "f", *places, "c", *taps]
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(dims)})>" for dims in (
        order(case, ["g", "c"], read), ["g", "f", "c", *taps], order(case, ["g", "f"], places)))
    kinds = ", ".join(f'"{kind}"' for kind in ["parallel"] * (3 + rank) + ["reduction"] * (1 + rank))
    wide = tensor(numbers(order(case, [case.groups, CHANNELS], spread(case))))
    made = tensor(numbers(shapes(case)[2]))
    dims = [d for d, name in enumerate(order(case, ["g", "f"], places)) if name not in ("g", "f")]
    starts = tensor((case.groups, FILTERS))
    return write_zeros(case, i) + (
        f"%w{i} = arith.constant dense<{weights.tolist()}> : {tensor(weights.shape)}\n"
        f"%b{i} = arith.constant dense<{get_starts(case).tolist()}> : {starts}\n"
        f"%o{i} = tensor.empty() : {made}\n"
        f"%i{i} = linalg.broadcast ins(%b{i} : {starts}) outs(%o{i} : {made}) dimensions = {dims}\n"
        f"%r{i} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
        f"ins(%v{i}, %w{i} : {wide}, {tensor(weights.shape)}) outs(%i{i} : {made}) {{\n"
        f"^bb0(%l: f32, %r: f32, %s: f32):\n%q = arith.mulf %l, %r : f32\n%t = arith.addf %s, %q : f32\n"
        f"linalg.yield %t : f32\n}} -> {made}\n")


def count_products(case):
    """Returns for each dim the remainders of results for which a tap meets a pixel."""
    def count(n, k, stride, low, step, dilation):
        return sum(any((y * step + tap * dilation - low) % stride == 0 for tap in range(k))
                   for y in range(min(n, stride // math.gcd(stride, step))))
    return math.prod(map(count, results(case), case.kernel, case.strides, case.low, case.steps, case.dilations))


def compute(case, x, w):
    rank = len(case.pixels)
    if case.last:
        x = np.moveaxis(x, (-2, -1), (1, 2))
    image = np.zeros((1, case.groups, CHANNELS, *spread(case)))
    image[(..., *(slice(low, low + (n - 1) * s + 1, s) for low, n, s in
                  zip(case.low, case.pixels, case.strides)))] = x
    y = np.zeros((1, case.groups, FILTERS, *results(case)))
    y += get_starts(case).reshape(1, case.groups, FILTERS, *[1] * rank)
    for taps in itertools.product(*map(range, case.kernel)):
        part = image[(..., *(slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, n, s in
                             zip(taps, case.dilations, results(case), case.steps)))]
        y += np.einsum("ngc...,gfc->ngf...", part, w[(..., *taps)])
    return np.moveaxis(y, (1, 2), (-2, -1)) if case.last else y


rng = np.random.default_rng(0)
inputs = [rng.integers(-8, 9, numbers(shapes(case)[0])).astype(np.float32) for case in CASES]
weights = [rng.integers(-8, 9, shapes(case)[1]).astype(np.float32) for case in CASES]
types = [tensor(x.shape) for x in inputs]
made = [tensor(numbers(shapes(case)[2])) for case in CASES]
text = (f"func.func @main({', '.join(f'%x{i}: {each}' for i, each in enumerate(types))}) -> ({', '.join(made)}) {{\n"
        "%zero = arith.constant 0.0 : f32\n" + "".join(map(write_case, CASES, itertools.count(), weights)) +
        f"return {', '.join(f'%r{i}' for i in range(len(CASES)))} : {', '.join(made)}\n}}\n")
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    (folder / "in.mlir").write_text(text)
    dense = run_tool("layout-opt", folder / "in.mlir", "--layout-prepare-decompose-transposed-conv",
                     "--layout-prepare-fold-constant-slices", "--mlir-elide-elementsattrs-if-larger=4")
    expected = sum(map(count_products, CASES))
    assert dense.count("linalg.generic") == expected, (dense.count("linalg.generic"), expected)
    assert not re.search(r"extract_slice %cst", dense), "weights are sliced when the program runs"
    run_tool("layout-opt", folder / "in.mlir", "--layout-to-cpu=target={#layout.cpu<lanes = 16>}", "-o",
             folder / "out.mlir")
    for i, x in enumerate(inputs):
        np.save(folder / f"x{i}.npy", x)
    run_tool("layout-run", folder / "out.mlir",
             *(f"--input={folder / f'x{i}.npy'}" for i in range(len(inputs))),
             *(f"--output={folder / f'y{i}.npy'}" for i in range(len(inputs))))
    for i, (case, x, w) in enumerate(zip(CASES, inputs, weights)):
        np.testing.assert_array_equal(np.load(folder / f"y{i}.npy"), compute(case, x, w), err_msg=str(case))
