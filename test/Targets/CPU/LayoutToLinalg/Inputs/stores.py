# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs functions of a module and compares their results with its comments.

    stores.py MODULE

A line `// STORES: swapped(2x3xf32) = 1 4 2 5 3 6` calls @swapped with the numbers 1, 2, .. in a tensor of this shape;
`= input` expects them as the result. Each function is lowered by layout-to-cpu, and by convert-layout-to-linalg
followed by plain loops.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from layout_mlir.tools import find_tool

DTYPES = {"f32": np.float32, "i32": np.int32, "i8": np.int8}
PIPELINES = [['--layout-to-cpu=target={#layout.cpu<lanes = 16>}'],
         ["--convert-layout-to-linalg", "--layout-linalg-to-llvm"]]


def main():
    path = pathlib.Path(sys.argv[1])
    cases = re.findall(r"^// STORES: (\w+)\(((?:\d+x)*)(\w+)\) = (.*)$", path.read_text(), re.MULTILINE)
    if not cases:
        raise SystemExit("no line says what is stored")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        lowered, given, found = (f"{folder}/{name}" for name in ("lowered.mlir", "x.npy", "y.npy"))
        for pipeline in PIPELINES:
            subprocess.run([find_tool("layout-opt"), path, *pipeline, "-o", lowered], check=True)
            for name, shape, dtype, wanted in cases:
                sizes = [int(size) for size in shape.split("x")[:-1]]
                numbers = np.arange(1, np.prod(sizes, dtype=int) + 1).reshape(sizes)
                np.save(given, numbers.astype(DTYPES[dtype]))
                subprocess.run([find_tool("layout-run"), lowered, f"--function={name}",
                                f"--input={given}", f"--output={found}"], check=True)
                stored = np.load(found).ravel().tolist()
                wanted_numbers = numbers.ravel().tolist() if wanted == "input" else [
                    int(number) for number in wanted.split()]
                if stored != wanted_numbers:
                    failed += 1
                    print(f"@{name} {pipeline[0]}: stored {stored}, not {wanted_numbers}")
    print(len(cases), "functions,", failed, "differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
