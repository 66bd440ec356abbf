# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs on random CPU targets, with the layouts that are chosen, against numpy.

    cpu_programs.py --count 40 --seed 0 [--keep FOLDER]

A target has 2 to 16 lanes, counts arithmetic high and conversions low, so that tiles are worth one,
and masks as free or as dear, so that padding is left open or stated. Every program is right: an
error, a crash or a wrong number is a failure. The last line says in how many programs something is
stored in tiles, and in how many some padding is stated.
"""

import random
import subprocess
import sys

import numpy as np

from random_programs import Writer, find_difference, parse_arguments, run_seeds

from layout_mlir.tools import find_tool

SECONDS = 60  # for one tool


def random_target(rng):
    return (f'#layout.target<kind = "cpu", lanes = {rng.choice([2, 4, 8, 16])}, line_bytes = 1, '
            f"strided_percent = 100, flops_per_byte = 1, scalar_percent = 10000, "
            f"mask_percent = {rng.choice([100, 150, 1000])}>")


def run_tool(name, *args):
    done = subprocess.run([find_tool(name), *args], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise RuntimeError(f"{name}: exit {done.returncode}: {done.stderr[:1000]}")


def check(seed, folder):
    """Which marks of layouts are in the text after the decision."""
    rng = random.Random(seed)
    writer = Writer(rng)
    source, decided, lowered = (folder / f"{name}.mlir" for name in ("program", "decided", "lowered"))
    source.write_text(writer.write(rng.randint(2, 9)))
    run_tool("layout-opt", source, f"--layout-assign=target={{{random_target(rng)}}}",
             "--layout-verify", "-o", decided)
    run_tool("layout-opt", decided, "--convert-layout-to-linalg", "--layout-linalg-to-llvm",
             "-o", lowered)
    files = []
    for number, value in enumerate(writer.inputs):
        np.save(folder / f"in{number}.npy", value.data)
        files.append(f"--input={folder / f'in{number}.npy'}")
    outputs = [folder / f"out{number}.npy" for number in range(len(writer.results))]
    run_tool("layout-run", lowered, "--function=main", *files,
             *[f"--output={path}" for path in outputs])
    if different := find_difference(writer, [np.load(path) for path in outputs]):
        raise RuntimeError(different)
    text = decided.read_text()
    return {mark for mark in ("floordiv", "#layout.padded") if mark in text}


def main():
    args = parse_arguments(__doc__)
    outcomes, failures = run_seeds(args, check)
    tiled, padded = (sum(mark in outcome for outcome in outcomes)
                     for mark in ("floordiv", "#layout.padded"))
    print(f"{failures} of {args.count} failed; {tiled} have tiles, {padded} state padding")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
