"""Runs the program of run-dynamic-indices.mlir on sizes below and above what 32 bits hold."""

import subprocess
import sys

import numpy as np

program, scratch = sys.argv[1:]
CASES = [(1, 0, 5), (7, 3, 5), (53687090, 9, 5), (53687091, 9, 5), (53687092, 0, 5), (2**31 - 2, 0, 1), (2**31 + 1, 1, 5),
         (2**32, 0, 5), (2**40 + 3, 5, 5), (5, 2**31 - 45, 5), (5, 2**31, 5), (5, 2**62, 5), (3, -17, 5)]
for n, first, groups in CASES:
    np.save(scratch + ".x.npy", np.array([n, first, groups], "i8"))
    subprocess.run(["layout-run", program, f"--input={scratch}.x.npy", f"--output={scratch}.y.npy"], check=True)
    found = np.load(scratch + ".y.npy")[:8 * groups]
    assert (found == np.maximum(np.arange(8 * groups) - 4, 0) * 40).all(), (n, first, groups, found)
