"""Runs run-reductions-empty.mlir on sizes with and without elements."""

import subprocess
import sys

import numpy as np

stem = sys.argv[1]
for size, scale in (0, 1.0), (1, -1.0), (5, 0.5):
    x = np.arange(-100, -100 + size, dtype="i1").reshape(1, size)
    s = np.array([scale, 3.0], "f4")
    np.save(stem + ".x.npy", x)
    np.save(stem + ".s.npy", s)
    command = ["layout-run", stem + ".mlir"]
    command += [f"--input={stem}.{name}.npy" for name in "xs"]
    command += [f"--output={stem}.{name}.npy" for name in "mc"]
    subprocess.run(command, check=True)
    most, chosen = (np.load(f"{stem}.{name}.npy") for name in "mc")
    assert most == np.max(x, initial=-128), (size, most)
    np.testing.assert_array_equal(chosen, 2 * s if scale > 0 else s)
