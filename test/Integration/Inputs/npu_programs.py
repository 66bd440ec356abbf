# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs on random chips, in the simulator, against numpy.

    npu_programs.py --count 40 --seed 0 [--keep FOLDER] [--verbose]

Every program is right, or is refused by an error that says what does not fit; a wrong number, a
report of the simulator, a crash and any other error are failures.
"""

import collections
import random
import re
import subprocess
import sys

from random_programs import Writer, find_difference, parse_arguments, run_seeds

from layout_mlir import LayoutError
from layout_mlir.npu import Program
from layout_mlir.tools import find_tool

# Errors that name what the chip is too small for, and what its DMA engine cannot address.
KNOWN = ("does not fit local memory in any parts", "op does not fit: ",
         "parts or more for local memory")
OF_DMA = ("no transfers move a tensor from", "no transfers fill", "is not in their memory")
SECONDS = 60  # for one program


def random_chip(rng):
    """A target, and whether something is asked of DMA."""
    eu = rng.choice([8, 16, 32, 64, 128])
    chip = (f"npus = {rng.choice([rng.randint(1, 9), rng.randint(1, 64)])}, bytes_per_npu = "
            f"{rng.choice([256, 1024, 2048, 4096, 16384])}, eu_bytes = {eu}")
    limits = ""
    if rng.random() < 0.4:
        limits += f", dma_alignment = {rng.choice([4, 4, 4, 8, 16])}"
    if rng.random() < 0.4:
        most = rng.choice([5, 5, 40])
        limits += f", max_shape = {[rng.randint(2, most) for _ in range(4)]}"
    if rng.random() < 0.3:
        limits += f", max_stride = {rng.choice([8, 64, 256, 2048])}"
    chip += limits
    if rng.random() < 0.6:
        chip += f", banks = {rng.choice([1, 2, 4, 8, 16])}"
    return limits, (f'#layout.target<kind = "npu", lanes = {eu // 4}, npu = #npu.target<{chip}>, '
                    f"launch_cost = {rng.choice([1, 256])}, flops_per_byte = 8>")


def lower(folder, text, target, holes):
    """The lowered module's path, or the first error."""
    source, lowered = folder / "program.mlir", folder / "lowered.mlir"
    source.write_text(text + f"// {target} reuse-holes={holes}\n")
    done = subprocess.run([find_tool("layout-opt"), source,
                           f"--layout-to-npu=target={{{target}}} reuse-holes={holes}", "-o",
                           lowered],
                          capture_output=True, text=True, timeout=SECONDS)
    if done.returncode == 0:
        return lowered, None
    found = re.search(r"^\S+:\d+:\d+: error: (.*)$", done.stderr, re.MULTILINE)
    if done.returncode != 1 or not found:
        return None, f"exit {done.returncode} without a located error: {done.stderr[:2000]}"
    return None, found.group(1)


def check(seed, folder):
    """'right', a known error, or raises RuntimeError."""
    rng = random.Random(seed)
    writer = Writer(rng)
    text = writer.write(rng.randint(1, 6))
    limits, target = random_chip(rng)
    lowered, error = lower(folder, text, target, rng.choice(["false", "true"]))
    if error:
        kind = next((kind for kind in KNOWN + OF_DMA * bool(limits) if kind in error), None)
        if kind is None:
            raise RuntimeError(error)
        return kind
    program = Program(lowered, folder=folder / "package")
    result = program.run(*[value.data for value in writer.inputs], check=False)
    if result.errors:
        raise RuntimeError(f"the simulator reports {result.errors[0]}")
    if different := find_difference(writer, result.outputs):
        raise RuntimeError(different)
    return "right"


def main():
    args = parse_arguments(__doc__)
    outcomes, failures = run_seeds(args, check, lambda outcome: outcome == "right", [LayoutError])
    for kind, count in collections.Counter(outcomes).most_common():
        print(f"{count} {kind.strip(' :')}")
    print(f"{failures} of {args.count} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
