# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks conversions between random layouts by comparing their stored bytes with the definition of the layouts.

    layout_programs.py --count 1000 --seed 0 [--keep FOLDER] [--verbose]

A program converts a tensor from one random layout to another, on storage or from a logical tensor and back, with static
or dynamic sizes. The expected storage, including padding, follows from the definition of maps (layout_values.py). Many
programs form one module. A program fails by a crash, an error, an invalid layout that the verifier accepts, or a wrong
byte; it is then reduced and kept as FOLDER/SEED.mlir.
"""

import argparse
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

from layout_values import row_major
from random_layouts import random_layout

from layout_mlir.tools import find_tool

SECONDS = 120  # time limit of a tool
BATCH = 48  # programs in one module
CPU = '{#layout.cpu<lanes = 16>}'
SIZES = [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33]
MOST = 3000  # elements
SHRINK_SECONDS = 30  # time limit of the reduction of a program
MOST_SHRUNK = 4  # programs that are reduced


class Element:
    """An element type, and the arrays of whole numbers with which layout-run represents it."""

    def __init__(self, name, dtype, low=-99, high=100):
        self.name, self.dtype, self.low, self.high = name, dtype, low, high

    def encode(self, numbers):
        if self.name == "bf16":
            return (np.asarray(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)
        if self.name == "complex<f32>":
            return (np.asarray(numbers) * (1 - 1j)).astype(np.complex64)
        return np.asarray(numbers).astype(self.dtype)

    def show(self, number):
        if self.name == "i1":
            return "true" if number else "false"
        if self.name == "complex<f32>":
            return f"({number}.0, {-number}.0)"
        return f"{number}.0" if self.dtype in (np.float32, np.float16, np.uint16) else str(number)


ELEMENTS = [Element("f32", np.float32), Element("f16", np.float16), Element("i8", np.int8),
            Element("i64", np.int64), Element("bf16", np.uint16), Element("i1", np.bool_, 0, 2),
            Element("i4", np.int8, -8, 8), Element("index", np.int64),
            Element("complex<f32>", np.complex64)]
WEIGHTS = [8, 1, 3, 1, 1, 1, 1, 1, 1]


class Case:
    """One program: shape, dynamic dims, element type, two layouts and their padding."""

    def __init__(self, shape, dynamic, element, layouts, paddings, way, seed):
        self.shape, self.dynamic, self.element = tuple(shape), tuple(dynamic), element
        self.layouts, self.paddings, self.way, self.seed = layouts, paddings, way, seed
        self.physical = [None, None]

    @staticmethod
    def draw(seed):
        rng = random.Random(seed)
        rank = rng.choice([0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6])
        shape = [rng.choice(SIZES) for _ in range(rank)]
        if rng.random() < 0.15:
            shape = [rng.choice([1, 2, 4, 8]) for _ in shape]
        if rank and rng.random() < 0.04:
            shape[rng.randrange(rank)] = 0
        while math.prod(shape) > MOST:
            shape[int(np.argmax(shape))] = 2
        some = rng.random() < 0.3
        dynamic = [some and rng.random() < 0.6 for _ in shape]
        element, = rng.choices(ELEMENTS, WEIGHTS)
        layouts = [random_layout(rng, shape, dynamic, rng.random() < 0.98) for _ in range(2)]
        if rng.random() < 0.25:
            layouts[rng.randrange(2)] = row_major(rank)
        paddings = [rng.choice([None, 0, 0, 1 if element.name == "i1" else 5]) for _ in range(2)]
        if element.name == "complex<f32>":
            paddings = [None, None]
        way = "chain" if any(dynamic) else rng.choice(
            ["view", "view", "view", "typed", "constant", "chain"])
        return Case(shape, dynamic, element, layouts, paddings, way, seed)

    def but(self, **changes):
        fields = {name: getattr(self, name) for name in
                  ("shape", "dynamic", "element", "layouts", "paddings", "way", "seed")}
        return Case(**{**fields, **changes})

    # Text.

    def type(self, which, states=True):
        """Returns the type with layout 0 or 1, or the plain type."""
        sizes = "".join("?x" if dynamic else f"{size}x"
                        for size, dynamic in zip(self.shape, self.dynamic))
        if which is None:
            return f"tensor<{sizes}{self.element.name}>"
        encoding, padding = self.layouts[which].text, self.paddings[which]
        if states and padding is not None:
            value = "zero" if padding == 0 else "true" if self.element.name == "i1" else (
                f"{self.element.show(padding)} : {self.element.name}")
            encoding = f"#layout.padded<{encoding}, {value}>"
        return f"tensor<{sizes}{self.element.name}, {encoding}>"

    def write(self, k, module):
        """Adds the program as number `k` to a module."""
        rng = np.random.default_rng(self.seed)
        element = self.element
        logical = rng.integers(element.low, element.high, self.shape)
        if self.way == "view" and self.is_plain(0):
            self.way = "typed"
        a, b = self.type(0, self.way in ("typed", "chain")), self.type(1)
        store_a = self.physical[0]
        plain = self.type(None)
        if self.way == "constant":
            text = np.array2string(logical, separator=", ", threshold=1 << 30,
                                   max_line_width=1 << 30,
                                   formatter={"all": element.show}).replace("\n", "")
            see, shown = self.see(1, "%y", b)
            module.function(f"f{k}", "", shown,
                            f"%x = arith.constant dense<{text if logical.size else ''}> : {plain}",
                            f"%y = layout.convert %x : {plain} to {b}", see)
            module.lines.append(f"%y{k} = call @f{k}() : () -> {shown}")
            module.result(k, f"%y{k}", shown, self.stored(1, logical), element)
        elif self.way == "view":
            see, shown = self.see(1, "%y", b)
            module.function(f"f{k}", f"%s: {store_a}", shown,
                            f"%x = layout.storage_view %s : {store_a} to {a}",
                            f"%y = layout.convert %x : {a} to {b}", see)
            module.argument(f"%s{k}", store_a, self.filled(0, logical, rng, None), element)
            module.lines.append(f"%y{k} = call @f{k}(%s{k}) : ({store_a}) -> {shown}")
            module.result(k, f"%y{k}", shown, self.stored(1, logical), element)
        elif self.way == "typed":
            module.function(f"f{k}", f"%x: {a}", b, f"%t = layout.convert %x : {a} to {b}")
            module.argument(f"%x{k}", a, self.filled(0, logical, rng, self.paddings[0]), element)
            module.lines.append(f"%y{k} = call @f{k}(%x{k}) : ({a}) -> {b}")
            module.result(k, f"%y{k}", b, self.stored(1, logical), element)
        else:
            module.argument(f"%x{k}", plain, logical, element)
            numbers = np.stack([logical.ravel().astype(object), np.full(logical.size, True)], 1)
            steps = [("a", plain, f"%x{k}", a, self.stored(0, logical)),
                     ("b", a, f"%a{k}", b, self.stored(1, logical)),
                     ("p", b, f"%b{k}", plain, numbers)]
            for which, (name, source, operand, result, table) in enumerate(steps):
                module.function(f"{name}{k}", f"%x: {source}", result,
                                f"%t = layout.convert %x : {source} to {result}")
                module.lines.append(f"%{name}{k} = call @{name}{k}({operand}) : ({source}) -> {result}")
                seen, shown = f"%{name}{k}", result
                if which < 2:
                    see, shown = self.see(which, f"%{name}{k}", result, f"%s{name}{k}")
                    module.lines.append(see)
                    seen = f"%s{name}{k}" if see else seen
                module.result(k, seen, shown, table, element)

    def see(self, which, value, type_, name="%t"):
        """Returns the line that defines `name` as an observable view of a value, and its type; plain tensors need no
        view."""
        if not self.is_plain(which):
            store = self.physical[which]
            return f"{name} = layout.storage_view {value} : {type_} to {store}", store
        return (f"{name} = layout.convert {value} : {type_} to {type_}" if name == "%t" else ""), type_

    def is_plain(self, which):
        """Returns true if the layout may be equivalent to row-major."""
        def is_row_major(shape):
            at = self.layouts[which].positions(shape)
            return (self.layouts[which].extent(shape) in (None, at.size) and
                    np.array_equal(at.ravel(), np.arange(at.size)))

        other = [5 + 2 * d if dynamic else size
                 for d, (size, dynamic) in enumerate(zip(self.shape, self.dynamic))]
        return (self.physical[which] == self.type(None) and is_row_major(self.shape) and
                is_row_major(other))

    # Meaning.

    def places(self, which, logical):
        layout = self.layouts[which]
        at = layout.positions(self.shape)
        return at, np.broadcast_to(logical, at.shape)

    def count(self, which):
        """Returns the number of positions of storage, by the layout or else by its physical type."""
        if 0 in self.shape or self.layouts[which].extent(self.shape) is None:
            sizes = sizes_of(self.physical[which])
            return math.prod(sizes) if None not in sizes else None
        return self.layouts[which].extent(self.shape)

    def stored(self, which, logical):
        """Returns a table with a row per storage position, the expected number and whether a type states it, or None if
        the number of positions is unknown."""
        count, padding = self.count(which), self.paddings[which]
        if count is None:
            return None
        table = np.empty((count, 2), object)
        table[:, 0], table[:, 1] = padding or 0, padding is not None
        at, numbers = self.places(which, logical)
        table[at.ravel(), 0], table[at.ravel(), 1] = numbers.ravel(), True
        return table

    def filled(self, which, logical, rng, padding):
        """Returns storage with random values in unspecified padding."""
        data = rng.integers(self.element.low, self.element.high, self.count(which))
        if padding is not None:
            data[:] = padding
        at, numbers = self.places(which, logical)
        data[at.ravel()] = numbers.ravel()
        return data.reshape(sizes_of(self.physical[which]))

    # Simpler programs.

    def simpler(self):
        rank = len(self.shape)
        if self.way == "chain" and not any(self.dynamic):
            yield self.but(way="view")
        if any(self.dynamic):
            yield self.but(dynamic=[False] * rank)
        if self.element.name != "f32":
            yield self.but(element=ELEMENTS[0])
        if self.paddings != [None, None]:
            yield self.but(paddings=[None, None])
            yield self.but(paddings=[None, self.paddings[1]])
        for which in range(2):
            others = [row_major(rank), *self.layouts[which].simpler()]
            for layout in others:
                if layout.text != self.layouts[which].text:
                    layouts = list(self.layouts)
                    layouts[which] = layout
                    yield self.but(layouts=layouts)
        for d, size in enumerate(self.shape):
            for smaller in sorted({1, 2, 3, size // 2, size - 1}):
                if 0 < smaller < size:
                    yield self.but(shape=[*self.shape[:d], smaller, *self.shape[d + 1:]])

    def is_sound(self):
        """Returns true if both layouts are valid for the shape."""
        try:
            return all(layout.is_valid(self.shape) for layout in self.layouts)
        except (ValueError, IndexError):
            return False


def sizes_of(type_):
    """Returns the sizes in the text of a plain tensor type, with None for dynamic ones."""
    return [None if size == "?" else int(size) for size in re.findall(r"(\d+|\?)x", type_)]


class Module:
    """The text of a module: functions, and the lines, arguments and results of @main."""

    def __init__(self):
        self.functions, self.lines = [], []
        self.arguments, self.arrays = [], []
        self.names, self.types, self.expected = [], [], []

    def function(self, name, arguments, result, *lines):
        body = "".join(f"  {line}\n" for line in lines if line)
        self.functions.append(f"func.func private @{name}({arguments}) -> {result} {{\n{body}"
                              f"  return %t : {result}\n}}\n")

    def argument(self, name, type_, numbers, element):
        self.arguments.append(f"{name}: {type_}")
        self.arrays.append(element.encode(numbers))

    def result(self, k, name, type_, table, element):
        self.names.append(name)
        self.types.append(type_)
        self.expected.append((k, table, element))

    def text(self):
        lines = "".join(f"  {line}\n" for line in self.lines if line)
        types = ", ".join(self.types)
        return (f"{''.join(self.functions)}func.func @main({', '.join(self.arguments)}) -> ({types}) "
                f"{{\n{lines}  return {', '.join(self.names)} : {types}\n}}\n")


class Failure(Exception):
    """Raised for a failing module; `case` is the number of the program if it is known."""

    def __init__(self, message, case=None):
        super().__init__(message)
        self.case = case


def run(name, *args, may_fail=False):
    try:
        done = subprocess.run([find_tool(name), *map(str, args)], capture_output=True, text=True,
                              timeout=SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        raise Failure(f"{name}: no end after {SECONDS} s") from None
    if done.returncode != 0 and not (may_fail and done.returncode == 1):
        raise Failure(f"{name}: exit status {done.returncode}: {done.stderr[:600]}")
    return done.stdout, done.stderr


def find_storage(cases, folder):
    """Finds the physical types of all layouts, which stay None for rejected layouts. Returns the errors."""
    source = folder / "types.mlir"
    chunks = [f"func.func private @t{k}_{which}({case.type(which)})"
              for k, case in enumerate(cases) for which in range(2)]
    source.write_text("\n// -----\n".join(chunks) + "\n")
    out, errors = run("layout-opt", source, "--split-input-file", "--convert-layout-to-linalg",
                      may_fail=True)
    for k, which, types in re.findall(r"@t(\d+)_(\d)\((.*)\)", out):
        cases[int(k)].physical[int(which)] = re.match(r"tensor<[^<>]*(<f32>)?>", types)[0]
    return re.findall(r"types.mlir:(\d+):\d+: (error: .*)", errors)


def check_storage(case):
    """Checks that accepted types are valid layouts with the storage of their definition."""
    for which, physical in enumerate(case.physical):
        layout = case.layouts[which]
        if physical is None:
            continue
        if not layout.is_valid(case.shape):
            raise Failure(f"the verifier takes {case.type(which)}, which is no layout")
        sizes, extent = sizes_of(physical), layout.extent(case.shape)
        if None in sizes or 0 in case.shape:
            continue
        if extent is not None and math.prod(sizes) != extent:
            raise Failure(f"the storage of {case.type(which)} is {physical}, not {extent} positions")
        at = layout.positions(case.shape)
        if at.size and at.max() >= math.prod(sizes):
            raise Failure(f"the storage of {case.type(which)} is {physical}, but it reaches {at.max()}")


def run_cases(cases, folder, pipeline):
    """Runs programs as one module and compares their storage."""
    module = Module()
    for k, case in enumerate(cases):
        case.write(k, module)
    source, lowered = folder / "program.mlir", folder / "lowered.mlir"
    source.write_text(module.text())
    run("layout-opt", source, f"--layout-print-cost=target={CPU} output={folder / 'cost.txt'}",
        f"--layout-print-graph=target={CPU} output={folder / 'graph.dot'}", "-o", folder / "same.mlir")
    passes = [f"--layout-to-cpu=target={CPU}"] if pipeline == 0 else [
        "--convert-layout-to-linalg", "--layout-linalg-to-llvm"]
    run("layout-opt", source, *passes, "-o", lowered)
    files = []
    for number, array in enumerate(module.arrays):
        np.save(folder / f"in{number}.npy", array)
        files.append(f"--input={folder / f'in{number}.npy'}")
    outputs = [folder / f"out{number}.npy" for number in range(len(module.names))]
    run("layout-run", lowered, "--opt-level=0", *files, *[f"--output={path}" for path in outputs])
    for path, (k, table, element) in zip(outputs, module.expected, strict=True):
        compare(np.load(path).ravel(), table, element, k)


def compare(found, table, element, k):
    if table is None:
        return
    if found.size != len(table):
        raise Failure(f"{found.size} positions are stored, not {len(table)}", k)
    stated = table[:, 1].astype(bool)
    wanted = element.encode(table[:, 0].astype(np.int64))
    wrong = stated & (found != wanted)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise Failure(f"position {at} holds {found[at]}, not {wanted[at]}; {wrong.sum()} of "
                      f"{stated.sum()} are wrong", k)


def find_failure(case, folder, pipeline):
    """Returns the failure of one program, or None if it passes or its types are rejected."""
    case = case.but()
    try:
        find_storage([case], folder)
        check_storage(case)
        if None not in case.physical:
            run_cases([case], folder, pipeline)
    except Failure as failure:
        return str(failure)
    return None


def shrink(case, message, folder, pipeline):
    """Returns the smallest failing program found, and its failure."""
    end, progress = time.monotonic() + SHRINK_SECONDS, True
    # A wrong rejection must stay one of the same kind.
    kind = message.split(":")[0]
    while progress:
        progress = False
        for other in case.simpler():
            if kind != "the verifier takes" and not other.is_sound():
                continue
            if time.monotonic() > end:
                return case, message
            found = find_failure(other, folder, pipeline)
            if found and found.split(":")[0][:20] == kind[:20]:
                case, message, progress = other, found, True
                break
    return case, message


class Totals:
    failed, refused, dynamic, padded, stored = 0, 0, 0, 0, 0
    reasons = {}


def report(case, message, folder, pipeline, args, totals):
    totals.failed += 1
    first = message
    if totals.failed <= MOST_SHRUNK:
        case, message = shrink(case, message, folder, pipeline)
    print(f"seed {case.seed}: {message}\n  {case.type(0)}\n  {case.type(1)}\n  {case.way}, shape "
          f"{list(case.shape)}, pipeline {pipeline}; at first: {first[:300]}", flush=True)
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
        find_failure(case, folder, pipeline)
        name = "program.mlir" if (folder / "program.mlir").exists() else "types.mlir"
        comment = "// " + message.replace("\n", "\n// ") + "\n"
        (args.keep / f"{case.seed}.mlir").write_text(comment + (folder / name).read_text())


def run_batch(seeds, args, totals):
    cases, pipeline = [Case.draw(seed) for seed in seeds], (seeds[0] // BATCH) % 2
    with tempfile.TemporaryDirectory(prefix="layout-programs-") as name:
        folder = pathlib.Path(name)
        try:
            for line, error in find_storage(cases, folder):
                totals.reasons[int(line)] = error
                if args.verbose:
                    case = cases[(int(line) - 1) // 4]
                    print(f"seed {case.seed}: refused: {error}", flush=True)
        except Failure:
            cases = [case for case in cases if not is_reported(case, folder, pipeline, args, totals)]
            find_storage(cases, folder)
        accepted = []
        for case in cases:
            try:
                check_storage(case)
            except Failure as failure:
                report(case, str(failure), folder, pipeline, args, totals)
                continue
            if None in case.physical:
                totals.refused += 1
            else:
                accepted.append(case)
        count(accepted, totals)
        while accepted:
            try:
                run_cases(accepted, folder, pipeline)
                return
            except Failure as failure:
                if failure.case is not None:
                    bad = [accepted[failure.case]]
                else:
                    bad = bisect(accepted, folder, pipeline)
                for case in bad:
                    if not is_reported(case, folder, pipeline, args, totals):
                        totals.failed += 1
                        print(f"seed {case.seed}: fails beside others only: {failure}", flush=True)
                accepted = [case for case in accepted if case not in bad]


def bisect(cases, folder, pipeline):
    """Returns programs each of which makes a module fail."""
    if len(cases) == 1:
        return cases
    half = len(cases) // 2
    for part in (cases[:half], cases[half:]):
        try:
            run_cases(part, folder, pipeline)
        except Failure as failure:
            if failure.case is not None:
                return [part[failure.case]]
            return bisect(part, folder, pipeline)
    return cases


def is_reported(case, folder, pipeline, args, totals):
    message = find_failure(case, folder, pipeline)
    if message:
        report(case, message, folder, pipeline, args, totals)
    return bool(message)


def count(cases, totals):
    totals.stored += len(cases)
    totals.dynamic += sum(any(case.dynamic) for case in cases)
    totals.padded += sum(case.paddings[1] is not None for case in cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, help="where programs that fail stay")
    parser.add_argument("--verbose", action="store_true", help="name the layouts that are refused")
    args = parser.parse_args()
    totals = Totals()
    seeds = list(range(args.seed, args.seed + args.count))
    for first in range(0, len(seeds), BATCH):
        run_batch(seeds[first:first + BATCH], args, totals)
    print(f"{totals.stored} programs ran, {totals.dynamic} of them with dynamic sizes, "
          f"{totals.padded} stating padding; {totals.refused} have a layout that is refused")
    print(f"{totals.failed} of {args.count} failed")
    return 1 if totals.failed else 0


if __name__ == "__main__":
    sys.exit(main())
