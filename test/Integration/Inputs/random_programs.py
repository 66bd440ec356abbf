# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random programs on tensors, computes them with numpy as it goes, and compares.

`Writer(random).write(count)` is the text; `inputs` and `results` are values with their data. Data
are small whole numbers, so that sums are exact in any order. `find_difference` says what is wrong
with results, and `run_seeds` checks one program after the other.
"""

import argparse
import pathlib
import subprocess
import tempfile
from typing import NamedTuple

import numpy as np

DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8}
SIZES = [1, 1, 2, 3, 4, 5, 6, 7, 9]


class Value(NamedTuple):
    name: str
    element: str
    data: np.ndarray

    @property
    def shape(self):
        return self.data.shape

    @property
    def type(self):
        return tensor(self.shape, self.element)


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def affine(rank, exprs):
    dims = [f"d{i}" for i in range(rank)]
    return f"affine_map<({', '.join(dims)}) -> ({', '.join(exprs)})>"


class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.lines, self.inputs, self.pool, self.results = [], [], [], []
        self.numbers = 0

    # Values.

    def name(self):
        self.numbers += 1
        return f"%v{self.numbers}"

    def add(self, text, element, data):
        """A value that an op makes."""
        value = Value(self.name(), element, np.asarray(data).astype(DTYPES[element]))
        self.lines.append(f"{value.name} = {text}")
        return value

    def random_data(self, shape, element):
        low, high = (-1, 2) if element == "f16" else (-3, 4)
        generator = np.random.default_rng(self.rng.randrange(1 << 30))
        return generator.integers(low, high, shape).astype(DTYPES[element])

    def operand(self, shape, element):
        """An argument, mostly; or a constant, of one number or of several."""
        data = self.random_data(shape, element)
        if self.rng.random() < 0.7:
            value = Value(f"%a{len(self.inputs)}", element, data)
            self.inputs.append(value)
            return value
        show = (lambda x: str(int(x))) if element[0] == "i" else (lambda x: f"{float(x):e}")
        if self.rng.random() < 0.3:
            data = np.full(shape, data.flat[0])
            text = show(data.flat[0])
        else:
            text = np.array2string(data, separator=", ", threshold=1 << 30,
                                   formatter={"all": show}).replace("\n", "")
        return self.add(f"arith.constant dense<{text}> : {tensor(shape, element)}", element, data)

    def scalar(self, number, element):
        text = str(int(number)) if element[0] == "i" else f"{float(number):e}"
        name = self.name()
        self.lines.append(f"{name} = arith.constant {text} : {element}")
        return name

    def empty(self, shape, element):
        return self.add(f"tensor.empty() : {tensor(shape, element)}", element,
                        np.zeros(shape))

    def filled(self, shape, element, number=0):
        empty, scalar = self.empty(shape, element), self.scalar(number, element)
        return self.add(f"linalg.fill ins({scalar} : {element}) outs({empty.name} : {empty.type}) "
                        f"-> {empty.type}", element, np.full(shape, number))

    def named(self, op, inputs, init, data, attributes=""):
        names = ", ".join(value.name for value in inputs)
        types = ", ".join(value.type for value in inputs)
        return self.add(f"linalg.{op} {attributes} ins({names} : {types}) outs({init.name} : "
                        f"{init.type}) -> {init.type}", init.element, data)

    def generic(self, inputs, maps, init, iterators, body, data):
        """`body` has %0.. for the inputs' numbers and %o for the result's, and makes %r."""
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        names = ", ".join(value.name for value in inputs)
        types = ", ".join(value.type for value in inputs)
        numbers = ", ".join([f"%x{i}: {value.element}" for i, value in enumerate(inputs)] +
                            [f"%o: {init.element}"])
        return self.add(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} "
            f"ins({names} : {types}) outs({init.name} : {init.type}) {{\n^bb0({numbers}):\n{body}\n"
            f"linalg.yield %r : {init.element}\n}} -> {init.type}", init.element, data)

    # Ops; each takes a value and gives one, or None where it is not for that value.

    def pointwise(self, x, other, exprs, op, compute):
        """x with another tensor whose dims are those dims of x."""
        rank = x.data.ndim
        init = self.empty(x.shape, x.element)
        shape = [1] * rank
        for d in exprs:
            shape[d] = x.shape[d]
        order = np.argsort(exprs)
        moved = other.data.transpose(order).reshape(shape) if exprs else other.data
        dims = [f"d{i}" for i in range(rank)]
        suffix = "f" if x.element[0] == "f" else "i"
        return self.generic(
            [x, other], [affine(rank, dims), affine(rank, [dims[d] for d in exprs]),
                         affine(rank, dims)], init, ["parallel"] * rank,
            f"%r = arith.{op.replace('?', suffix)} %x0, %x1 : {x.element}",
            compute(x.data, moved))

    def elementwise(self, x):
        rank = x.data.ndim
        exprs = [d for d in range(rank) if self.rng.random() < 0.5]
        if self.rng.random() < 0.3:
            exprs = list(range(rank))
        if self.rng.random() < 0.2:
            self.rng.shuffle(exprs)
        same = [v for v in self.pool if v.shape == x.shape and v.element == x.element]
        if same and self.rng.random() < 0.4:
            other, exprs = self.rng.choice(same), list(range(rank))
        else:
            other = self.operand([x.shape[d] for d in exprs], x.element)
        op, compute = self.rng.choice([("add?", np.add), ("sub?", np.subtract),
                                       ("maximumf" if x.element[0] == "f" else "maxsi", np.maximum)])
        return self.pointwise(x, other, exprs, op, compute)

    def clamp(self, x):
        """What stays small, in bytes where it was whole numbers."""
        rank = x.data.ndim
        dims = [f"d{i}" for i in range(rank)]
        element = "i8" if x.element[0] == "i" and self.rng.random() < 0.7 else x.element
        init = self.empty(x.shape, element)
        low, high = self.scalar(-2, x.element), self.scalar(3, x.element)
        least, most = ("maxsi", "minsi") if element[0] == "i" else ("maximumf", "minimumf")
        body = (f"%l = arith.{least} %x0, {low} : {x.element}\n"
                f"{'%r' if element == x.element else '%h'} = arith.{most} %l, {high} : {x.element}")
        if element != x.element:
            body += f"\n%r = arith.trunci %h : {x.element} to {element}"
        return self.generic([x], [affine(rank, dims)] * 2, init, ["parallel"] * rank, body,
                            np.clip(x.data, -2, 3))

    def cast(self, x):
        """The numbers in wider or narrower elements."""
        element = {"f32": "f16", "f16": "f32", "i8": "i32"}.get(x.element)
        if element is None or element == "f16" and np.abs(x.data).max(initial=0) > 200:
            return None
        rank = x.data.ndim
        op = {"f16": "truncf", "f32": "extf", "i32": "extsi"}[element]
        return self.generic([x], [affine(rank, [f"d{i}" for i in range(rank)])] * 2,
                            self.empty(x.shape, element), ["parallel"] * rank,
                            f"%r = arith.{op} %x0 : {x.element} to {element}", x.data)

    def windows(self, x, size, strides, dilations):
        """(n, c, oh, ow, kh, kw), or None where no window fits."""
        spans = [(k - 1) * d + 1 for k, d in zip(size, dilations)]
        if any(have < span for have, span in zip(x.shape[2:], spans)):
            return None
        view = np.lib.stride_tricks.sliding_window_view(x.data, spans, (2, 3))
        return view[:, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]

    def random_window(self, x):
        size = self.rng.choice([(1, 1), (3, 3), (2, 3), (1, 3), (2, 2)])
        strides = (self.rng.choice([1, 1, 2]), self.rng.choice([1, 1, 2, 3]))
        dilations = (self.rng.choice([1, 1, 1, 2]), self.rng.choice([1, 1, 1, 2]))
        text = "{" + ", ".join(f"{name} = dense<[{two[0]}, {two[1]}]> : tensor<2xi64>" for name, two in
                               (("dilations", dilations), ("strides", strides))) + "}"
        return size, self.windows(x, size, strides, dilations), text

    def convolution(self, x):
        if x.data.ndim != 4 or x.element == "i32":
            return None
        size, windows, text = self.random_window(x)
        if windows is None:
            return None
        result = "i32" if x.element == "i8" else x.element
        wide = windows.astype(np.float64)
        if self.rng.random() < 0.3:
            weights = self.operand((x.shape[1], *size), x.element)
            data = np.einsum("nchwij,cij->nchw", wide, weights.data.astype(np.float64))
            name = "depthwise_conv_2d_nchw_chw"
        else:
            weights = self.operand((self.rng.choice(SIZES + [11, 17]), x.shape[1], *size), x.element)
            data = np.einsum("nchwij,fcij->nfhw", wide, weights.data.astype(np.float64))
            name = "conv_2d_nchw_fchw"
        return self.named(name, [x, weights], self.filled(data.shape, result), data, text)

    def pooling(self, x):
        if x.data.ndim != 4:
            return None
        size, windows, text = self.random_window(x)
        if windows is None:
            return None
        window = self.empty(size, x.element)
        if self.rng.random() < 0.5:
            name, data, start = "pooling_nchw_sum", windows.sum((4, 5), dtype=np.float64), 0
        else:
            name, data, start = "pooling_nchw_max", windows.max((4, 5)), -100
        return self.named(name, [x, window], self.filled(data.shape, x.element, start), data, text)

    def matmul(self, x):
        if x.data.ndim not in (2, 3) or x.element == "i32":
            return None
        result = "i32" if x.element == "i8" else x.element
        columns = self.rng.choice(SIZES + [13, 33])
        name = "matmul" if x.data.ndim == 2 else "batch_matmul"
        y = self.operand((*x.shape[:-2], x.shape[-1], columns), x.element)
        data = x.data.astype(np.float64) @ y.data.astype(np.float64)
        return self.named(name, [x, y], self.filled(data.shape, result), data)

    def transpose(self, x):
        if x.data.ndim < 2:
            return None
        order = self.rng.sample(range(x.data.ndim), x.data.ndim)
        data = x.data.transpose(order)
        init = self.empty(data.shape, x.element)
        return self.add(f"linalg.transpose ins({x.name} : {x.type}) outs({init.name} : {init.type}) "
                        f"permutation = {order}", x.element, data)

    def reduce(self, x):
        rank = x.data.ndim
        if rank == 0:
            return None
        over = self.rng.sample(range(rank), self.rng.randint(1, rank))
        dims = [f"d{i}" for i in range(rank)]
        kept = [d for d in range(rank) if d not in over]
        data = x.data.sum(tuple(over), dtype=np.float64)
        init = self.filled(data.shape, x.element)
        suffix = "f" if x.element[0] == "f" else "i"
        return self.generic([x], [affine(rank, dims), affine(rank, [dims[d] for d in kept])], init,
                            ["reduction" if d in over else "parallel" for d in range(rank)],
                            f"%r = arith.add{suffix} %x0, %o : {x.element}", data)

    def softmax(self, x):
        if x.element[0] != "f" or x.data.ndim < 2:
            return None
        axis = self.rng.choice([1, x.data.ndim - 1])
        init = self.empty(x.shape, x.element)
        wide = x.data.astype(np.float64)
        power = np.exp(wide - wide.max(axis, keepdims=True))
        return self.add(f"linalg.softmax dimension({axis}) ins({x.name} : {x.type}) outs({init.name} "
                        f": {init.type}) -> {init.type}", x.element,
                        power / power.sum(axis, keepdims=True))

    def pad(self, x):
        if x.data.ndim == 0:
            return None
        sides = [[self.rng.choice([0, 0, 1, 2]) for _ in x.shape] for _ in range(2)]
        data = np.pad(x.data, list(zip(*sides)), constant_values=2)
        number = self.scalar(2, x.element)
        indices = ", ".join(f"%i{d}: index" for d in range(x.data.ndim))
        return self.add(f"tensor.pad {x.name} low{sides[0]} high{sides[1]} {{\n^bb0({indices}):\n"
                        f"tensor.yield {number} : {x.element}\n}} : {x.type} to "
                        f"{tensor(data.shape, x.element)}", x.element, data)

    def part(self, shape):
        """Offsets, sizes and strides of a part of a shape, as text and as slices."""
        offsets, sizes, strides = [], [], []
        for size in shape:
            first = self.rng.randrange(size)
            step = self.rng.choice([1, 1, 1, 2])
            count = self.rng.randint(1, (size - first + step - 1) // step)
            if self.rng.random() < 0.5:
                first, count, step = 0, size, 1
            offsets.append(first), sizes.append(count), strides.append(step)
        where = tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, strides))
        return f"{offsets} {sizes} {strides}", where

    def extract(self, x):
        text, where = self.part(x.shape)
        data = x.data[where]
        if self.rng.random() < 0.3 and data.ndim > 1 and data.shape[0] == 1:
            data = data[0]
        return self.add(f"tensor.extract_slice {x.name}{text} : {x.type} to "
                        f"{tensor(data.shape, x.element)}", x.element, data)

    def insert(self, x):
        text, where = self.part(x.shape)
        shape = x.data[where].shape
        same = [v for v in self.pool if v.shape == shape and v.element == x.element]
        part = self.rng.choice(same) if same else self.operand(shape, x.element)
        data = x.data.copy()
        data[where] = part.data
        return self.add(f"tensor.insert_slice {part.name} into {x.name}{text} : {part.type} into "
                        f"{x.type}", x.element, data)

    def concat(self, x):
        if x.data.ndim == 0:
            return None
        axis = self.rng.randrange(x.data.ndim)
        shape = list(x.shape)
        shape[axis] = self.rng.choice(SIZES)
        values = [x, self.operand(shape, x.element)]
        values += [v for v in self.pool[-4:] if v.element == x.element and
                   v.data.ndim == x.data.ndim and all(
                       d == axis or a == b for d, (a, b) in enumerate(zip(v.shape, x.shape)))]
        self.rng.shuffle(values)
        data = np.concatenate([value.data for value in values], axis)
        types = ", ".join(value.type for value in values)
        return self.add(f"tensor.concat dim({axis}) {', '.join(value.name for value in values)} : "
                        f"({types}) -> {tensor(data.shape, x.element)}", x.element, data)

    def collapse(self, x):
        rank = x.data.ndim
        if rank < 2:
            return None
        at = self.rng.randrange(rank - 1)
        groups = [[d] for d in range(at)] + [[at, at + 1]] + [[d] for d in range(at + 2, rank)]
        shape = [int(np.prod([x.shape[d] for d in group])) for group in groups]
        return self.add(f"tensor.collapse_shape {x.name} {groups} : {x.type} into "
                        f"{tensor(shape, x.element)}", x.element, x.data.reshape(shape))

    def expand(self, x):
        rank = x.data.ndim
        if rank == 0 or rank > 4:
            return None
        at = self.rng.randrange(rank)
        left = self.rng.choice([k for k in range(1, x.shape[at] + 1) if x.shape[at] % k == 0])
        shape = [*x.shape[:at], left, x.shape[at] // left, *x.shape[at + 1:]]
        groups = [[d] for d in range(at)] + [[at, at + 1]] + [[d + 1] for d in range(at + 1, rank)]
        return self.add(f"tensor.expand_shape {x.name} {groups} output_shape {shape} : {x.type} into "
                        f"{tensor(shape, x.element)}", x.element, x.data.reshape(shape))

    # The program.

    def step(self):
        x = self.rng.choice(self.pool[-2:] if self.rng.random() < 0.8 else self.pool)
        made = self.rng.choice([
            self.elementwise, self.elementwise, self.clamp, self.convolution, self.convolution,
            self.convolution, self.pooling, self.matmul, self.matmul, self.transpose, self.reduce,
            self.softmax, self.pad, self.extract, self.insert, self.concat, self.concat, self.cast,
            self.collapse,
            self.expand])(x)
        if made is None or made.data.size > 6000:
            return False
        largest = np.abs(made.data.astype(np.float64)).max(initial=0)
        if made.element == "f16" and largest > 200:
            return False
        self.pool.append(made)
        if largest > (20 if made.element == "i8" else 10000):
            self.pool.append(self.clamp(made))
        return True

    def write(self, count):
        """The text of a function @main of `count` ops."""
        element = self.rng.choice(["f32", "f32", "f16", "i8"])
        rank = self.rng.choice([4, 4, 4, 4, 3, 3, 2, 2, 1, 5])
        sizes = SIZES + [8, 16, 33] * (self.rng.random() < 0.3)
        shape = [self.rng.choice(sizes) for _ in range(rank)]
        while np.prod(shape) > 6000:
            shape[int(np.argmax(shape))] = 2
        self.inputs.append(Value("%a0", element, self.random_data(shape, element)))
        self.pool.append(self.inputs[0])
        while count:
            count -= self.step()
        self.results = [self.pool[-1]]
        while self.rng.random() < 0.3:
            self.results.append(self.rng.choice(self.pool))
        arguments = ", ".join(f"{value.name}: {value.type}" for value in self.inputs)
        types = ", ".join(value.type for value in self.results)
        names = ", ".join(value.name for value in self.results)
        lines = "\n".join(self.lines)
        return (f"func.func @main({arguments}) -> ({types}) {{\n{lines}\nreturn {names} : {types}\n"
                "}\n")


LIMITS = {"f32": 1e-4, "f16": 2e-2, "i32": 0, "i8": 0}


def find_difference(writer, outputs):
    """What is wrong with what the program computes, or None."""
    for number, (found, value) in enumerate(zip(outputs, writer.results, strict=True)):
        wanted = value.data.astype(np.float64)
        found = found.astype(np.float64)
        if found.shape != wanted.shape:
            return f"result {number} is {found.shape}, not {wanted.shape}"
        # What was computed in f16 once keeps its errors in f32.
        is_half = any(other.element == "f16" for other in writer.pool)
        element = "f16" if is_half and value.element == "f32" else value.element
        limit = LIMITS[element] * max(1.0, np.abs(wanted).max(initial=0))
        error = np.abs(found - wanted)
        if not np.all(error <= limit):
            return f"result {number} is off by {np.nanmax(error)} of {np.abs(wanted).max()}"
    return None


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, help="where programs that fail stay")
    parser.add_argument("--verbose", action="store_true", help="name what else is not right")
    return parser.parse_args()


def run_seeds(args, check, is_right=lambda outcome: True, errors=()):
    """What `check(seed, folder)` returns for each seed, and how many raised one of `errors`. It
    leaves the program in the folder as program.mlir; what is not right is kept."""
    outcomes, failures = [], 0
    for seed in range(args.seed, args.seed + args.count):
        with tempfile.TemporaryDirectory(prefix="random-programs-") as name:
            folder = pathlib.Path(name)
            try:
                outcomes.append(check(seed, folder))
                if is_right(outcomes[-1]):
                    continue
                if args.verbose:
                    print(f"seed {seed}: {outcomes[-1]}", flush=True)
            except (*errors, RuntimeError, subprocess.TimeoutExpired) as error:
                failures += 1
                print(f"seed {seed}: {error}", flush=True)
            if args.keep:
                args.keep.mkdir(parents=True, exist_ok=True)
                (args.keep / f"{seed}.mlir").write_text((folder / "program.mlir").read_text())
    return outcomes, failures
