# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs on random CPU targets, with the layouts that are chosen, against numpy.

    cpu_programs.py --count 40 --seed 0 [--keep FOLDER]

A target has 2 to 16 lanes, counts arithmetic high and conversions low, so that tiles are worth one,
and masks as free or as dear, so that padding is left open or stated. Every program is right: an error, a crash or
a wrong number is a failure. The last line says in how many programs something is stored in tiles, and
in how many some padding is stated.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

from npu_program_ops import Writer

from layout_mlir.tools import find_tool

SECONDS = 60  # for one tool
LIMITS = {"f32": 1e-4, "f16": 2e-2, "i32": 0, "i8": 0}


def random_target(rng):
    return (f'#layout.target<kind = "cpu", lanes = {rng.choice([2, 4, 8, 16])}, line_bytes = 1, '
            f"strided_percent = 100, flops_per_byte = 1, scalar_percent = 10000, "
            f"mask_percent = {rng.choice([100, 150, 1000])}>")


def run_tool(name, *args):
    done = subprocess.run([find_tool(name), *args], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise RuntimeError(f"{name}: exit {done.returncode}: {done.stderr[:1000]}")


def check(seed, folder):
    """The text after the decision."""
    rng = random.Random(seed)
    writer = Writer(rng)
    source, decided, lowered = (folder / f"{name}.mlir" for name in ("source", "decided", "lowered"))
    source.write_text(writer.write(rng.randint(2, 9)))
    run_tool("layout-opt", source, f"--layout-assign=target={{{random_target(rng)}}}",
             "--layout-verify", "-o", decided)
    run_tool("layout-opt", decided, "--convert-layout-to-linalg", "--layout-linalg-to-llvm",
             "-o", lowered)
    files = []
    for number, value in enumerate(writer.inputs):
        np.save(folder / f"in{number}.npy", value.data)
        files.append(f"--input={folder / f'in{number}.npy'}")
    files += [f"--output={folder / f'out{number}.npy'}" for number in range(len(writer.results))]
    run_tool("layout-run", lowered, "--function=main", *files)
    is_half = any(value.element == "f16" for value in writer.pool)
    for number, value in enumerate(writer.results):
        found = np.load(folder / f"out{number}.npy").astype(np.float64)
        wanted = value.data.astype(np.float64)
        element = "f16" if is_half and value.element == "f32" else value.element
        limit = LIMITS[element] * max(1.0, np.abs(wanted).max(initial=0))
        if found.shape != wanted.shape or not np.all(np.abs(found - wanted) <= limit):
            raise RuntimeError(f"result {number} is wrong")
    return decided.read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, help="where programs that fail stay")
    args = parser.parse_args()
    failures = tiled = padded = 0
    for seed in range(args.seed, args.seed + args.count):
        with tempfile.TemporaryDirectory(prefix="cpu-programs-") as name:
            folder = pathlib.Path(name)
            try:
                text = check(seed, folder)
                tiled += "floordiv" in text
                padded += "#layout.padded" in text
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failures += 1
                print(f"seed {seed}: {error}", flush=True)
                if args.keep:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    (args.keep / f"{seed}.mlir").write_text((folder / "source.mlir").read_text())
    print(f"{failures} of {args.count} failed; {tiled} have tiles, {padded} state padding")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
