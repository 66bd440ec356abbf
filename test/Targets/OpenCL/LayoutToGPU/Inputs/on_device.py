"""Runs programs on a device with images, in the layouts that they state."""

import os
import subprocess
import sys

import numpy as np

PASSES = ["--layout-cpu-prepare-entry-points", "--convert-layout-to-gpu", "--lower-affine", "--canonicalize", "--cse",
          f"--layout-gpu-to-{os.environ.get('LAYOUT_TEST_API', 'opencl')}"]


def run(text, *inputs, results=1):
    """Returns the results of the module's @main on arrays, in files next to those of the test."""
    stem = sys.argv[1]
    with open(f"{stem}.mlir", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["layout-opt", f"{stem}.mlir", *PASSES, "-o", f"{stem}.lowered.mlir"], check=True)
    command = ["layout-run", f"{stem}.lowered.mlir", "--opt-level=0"]
    for number, data in enumerate(inputs):
        np.save(f"{stem}.in{number}.npy", data)
        command.append(f"--input={stem}.in{number}.npy")
    command += [f"--output={stem}.out{number}.npy" for number in range(results)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = [np.load(f"{stem}.out{number}.npy") for number in range(results)]
    return found[0] if results == 1 else found


def check(found, wanted):
    wanted = np.asarray(wanted)
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype, (found.dtype, wanted.dtype)
