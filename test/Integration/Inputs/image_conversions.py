"""Random conversions between buffers and images on an OpenCL device, pixel by pixel.

Each conversion takes a random tensor to an image of a random kind, maybe on to an image of another
kind, reads the pixels as they are and converts back. What each pixel must hold is computed here
from the table of the specification, and by nothing of the library.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np

from layout_mlir.tools import run_tool


def c4(extent):
    return (extent + 3) // 4


# kind: rank, the axes of x, y and slices (slowest first), and the coordinates of an index with its
# lane last; spec, section 3.3.
KINDS = {
    "in_out_channel": (4, lambda n, h, w, c: ((c4(c), w), (n, h)),
                       lambda i, s: (i[3] // 4 * s[2] + i[2], i[0] * s[1] + i[1], i[3] % 4)),
    "in_out_height": (4, lambda n, h, w, c: ((c, w), (n, c4(h))),
                      lambda i, s: (i[3] * s[2] + i[2], i[0] * c4(s[1]) + i[1] // 4, i[1] % 4)),
    "in_out_width": (4, lambda n, h, w, c: ((c, c4(w)), (n, h)),
                     lambda i, s: (i[3] * c4(s[2]) + i[2] // 4, i[0] * s[1] + i[1], i[2] % 4)),
    "conv2d_filter": (4, lambda o, i, h, w: ((i,), (c4(o), h, w)),
                      lambda i, s: (i[1], (i[0] // 4 * s[2] + i[2]) * s[3] + i[3], i[0] % 4)),
    "dw_conv2d_filter": (4, lambda m, i, h, w: ((h, w), (c4(i),)),
                         lambda i, s: (i[2] * s[3] + i[3], i[1] // 4, i[1] % 4)),
    "weight_height": (4, lambda o, i, h, w: ((h, w, i), (c4(o),)),
                      lambda i, s: ((i[2] * s[3] + i[3]) * s[1] + i[1], i[0] // 4, i[0] % 4)),
    "weight_width": (4, lambda o, i, h, w: ((h, w, c4(i)), (o,)),
                     lambda i, s: ((i[2] * s[3] + i[3]) * c4(s[1]) + i[1] // 4, i[0], i[1] % 4)),
    "argument": (1, lambda w: ((c4(w),), ()), lambda i, s: (i[0] // 4, 0 * i[0], i[0] % 4)),
    "texture_2d": (4, lambda n, h, w, c: ((w, n), (h, c4(c))),
                   lambda i, s: (i[2] * s[0] + i[0], i[1] * c4(s[3]) + i[3] // 4, i[3] % 4)),
    "image_array": (4, lambda n, h, w, c: ((w, n), (h,), (c4(c),)),
                    lambda i, s: (i[2] * s[0] + i[0], i[1], i[3] // 4, i[3] % 4)),
    "image_3d": (4, lambda n, h, w, c: ((w, n), (h,), (c4(c),)),
                 lambda i, s: (i[2] * s[0] + i[0], i[1], i[3] // 4, i[3] % 4)),
    "single_pixel": (4, lambda n, h, w, c: ((w,), (n, h)),
                     lambda i, s: (i[2], i[0] * s[1] + i[1], i[3])),
}
# PoCL 3.1 writes no integers to images with slices.
FLOATS_ONLY = {"image_array", "image_3d"}
TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}


def pixels(kind, array, padding):
    """The image [x, y, (slice,) lane] of an array, with `padding` where no element is."""
    _, axes, place = KINDS[kind]
    size = [int(np.prod(each)) for each in axes(*array.shape)]
    image = np.full((*size, 4), padding, array.dtype)
    index = np.indices(array.shape)
    image[place(index, array.shape)] = array
    return image


def is_padding(kind, shape):
    return pixels(kind, np.zeros(shape, np.int8), 1) == 1


class Conversion:
    def __init__(self, rng, number):
        self.kind = str(rng.choice(list(KINDS)))
        self.rank = KINDS[self.kind][0]
        self.shape = tuple(int(x) for x in rng.integers(1, 8, self.rank))
        if self.rank == 1:
            self.shape = (int(rng.integers(1, 70)),)
        self.shape = self.fit(self.kind, self.shape)
        self.second = None
        if self.rank == 4 and rng.random() < 0.4:
            others = [k for k in KINDS if KINDS[k][0] == 4 and self.fit(k, self.shape) == self.shape]
            self.second = str(rng.choice(others))
        has_slices = {self.kind, self.second} & FLOATS_ONLY
        self.element = str(rng.choice([name for name in TYPES if name[0] == "f" or not has_slices]))
        self.stated = rng.random() < 0.5
        self.name = f"c{number}"
        dtype = TYPES[self.element]
        if np.issubdtype(dtype, np.integer):
            self.array = rng.integers(-100, 100, self.shape).astype(dtype)
        else:
            self.array = rng.standard_normal(self.shape).astype(dtype)

    @staticmethod
    def fit(kind, shape):
        if kind == "dw_conv2d_filter":
            return (1, *shape[1:])
        if kind == "single_pixel":
            return (*shape[:3], min(shape[3], 4))
        return shape

    def last(self):
        return self.second or self.kind

    def type(self, kind=None, stated=False):
        layout = f"#layout.rgba_image<{kind}>" if kind else ""
        if stated:
            zero = "0.0" if self.element[0] == "f" else "0"
            layout = f"#layout.padded<{layout}, {zero} : {self.element}>"
        dims = "x".join(map(str, self.shape))
        return f"tensor<{dims}x{self.element}{', ' + layout if layout else ''}>"

    def stored(self):
        """The plain tensor of the stored axes: those of x, those of y, the lanes."""
        axes = [extent for group in KINDS[self.last()][1](*self.shape) for extent in group]
        return f"tensor<{'x'.join(map(str, (*axes, 4)))}x{self.element}>"


def build(conversions):
    """A module whose function takes every tensor and gives its pixels and itself again."""
    lines, arguments, results, types = [], [], [], []
    for k, c in enumerate(conversions):
        arguments.append(f"%a{k}: {c.type()}")
        value, before = f"%a{k}", c.type()
        steps = [(c.kind, c.stated and not c.second)] + ([(c.second, c.stated)] if c.second else [])
        for step, (kind, stated) in enumerate(steps):
            after = c.type(kind, stated)
            lines.append(f"%v{k}_{step} = layout.convert {value} : {before} to {after}")
            value, before = f"%v{k}_{step}", after
        lines.append(f"%p{k} = layout.storage_view {value} : {before} to {c.stored()}")
        lines.append(f"%b{k} = layout.convert {value} : {before} to {c.type()}")
        results += [f"%p{k}", f"%b{k}"]
        types += [c.stored(), c.type()]
    return (f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n  "
            + "\n  ".join(lines)
            + f"\n  return {', '.join(results)} : {', '.join(types)}\n}}\n")


def check(conversions, directory):
    (directory / "in.mlir").write_text(build(conversions))
    run_tool("layout-opt", directory / "in.mlir", "--layout-prepare-entry-points",
              "--convert-layout-to-gpu", "--lower-affine", "--canonicalize", "--cse",
              "--layout-gpu-to-opencl", "-o", directory / "out.mlir")
    command = [directory / "out.mlir"]
    for k, c in enumerate(conversions):
        np.save(directory / f"{k}.npy", c.array)
        command.append(f"--input={directory / f'{k}.npy'}")
    for k in range(len(conversions)):
        command += [f"--output={directory / f'{k}p.npy'}", f"--output={directory / f'{k}b.npy'}"]
    run_tool("layout-run", *command)
    for k, c in enumerate(conversions):
        said = f"{c.kind} {c.second or ''} {c.shape} {c.element} {'zero' if c.stated else 'undef'}"
        want = pixels(c.last(), c.array, 0)
        got = np.load(directory / f"{k}p.npy").reshape(want.shape)
        if not c.stated:  # nobody may look at padding
            got[is_padding(c.last(), c.shape)] = 0
        if not np.array_equal(got, want):
            sys.exit(f"pixels differ: {said}")
        if not np.array_equal(np.load(directory / f"{k}b.npy"), c.array):
            sys.exit(f"the tensor differs after the way back: {said}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--batch", type=int, default=32, help="conversions of one program")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as directory:
        for first in range(0, options.count, options.batch):
            numbers = range(first, min(first + options.batch, options.count))
            check([Conversion(rng, k) for k in numbers], pathlib.Path(directory))
            print(f"{numbers[-1] + 1} conversions agree (seed {options.seed})", flush=True)


if __name__ == "__main__":
    main()
