"""Runs the program of run-dynamic-indices.mlir on sizes below and above the 32-bit limit. With 32-bit addresses those
above are refused."""

import subprocess
import sys

import numpy as np

program, scratch, bits = sys.argv[1:]
CASES = [(1, 0, 5), (7, 3, 5), (53687090, 9, 5), (53687091, 9, 5), (53687092, 0, 5), (2**31 - 2, 0, 1), (2**31 + 1, 1, 5),
         (2**32, 0, 5), (2**40 + 3, 5, 5), (5, 2**31 - 45, 5), (5, 2**31, 5), (5, 2**62, 5), (3, -17, 5)]
for n, first, groups in CASES:
    np.save(scratch + ".x.npy", np.array([n, first, groups], "i8"))
    run = subprocess.run(["layout-run", program, f"--input={scratch}.x.npy", f"--output={scratch}.y.npy"], text=True, capture_output=True)
    largest = n * groups * 8 + first if first >= 0 else 2**64
    if bits == "32" and (largest >= 2**31 or largest > 2**30 and run.returncode):
        assert run.returncode == 1 and "'k' failed: its 32-bit indices are too small for these sizes" in run.stderr, run.stderr
        continue
    assert run.returncode == 0, run.stderr
    found = np.load(scratch + ".y.npy")[:8 * groups]
    assert (found == np.maximum(np.arange(8 * groups) - 4, 0) * 40).all(), (n, first, groups, found)
