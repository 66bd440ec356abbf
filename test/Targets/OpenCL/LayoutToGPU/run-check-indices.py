# Check that an index out of bounds ends a device program with the error of the CPU program.

# REQUIRES: opencl-device
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import pathlib
import subprocess
import sys

import numpy as np
from index_cases import Case, lookups, loops, nested

folder = pathlib.Path(sys.argv[1])
known: dict[str, pathlib.Path] = {}


def check(case: Case) -> None:
    lowered = known[case.text]
    command = ["layout-run", lowered, "--opt-level=0"]
    for number, array in enumerate(case.inputs):
        np.save(folder / f"in{number}.npy", array)
        command.append(f"--input={folder}/in{number}.npy")
    outputs = [] if isinstance(case.wanted, str) else [folder / f"out{i}.npy" for i in range(len(case.wanted))]
    done = subprocess.run([*command, *(f"--output={path}" for path in outputs)], text=True, capture_output=True)
    if isinstance(case.wanted, str):
        assert done.returncode == 1 and f"an assertion does not hold: {case.wanted}\n" in done.stderr, \
            (case.name, done.returncode, done.stderr)
        return
    assert done.returncode == 0, (case.name, done.stderr)
    for path, wanted in zip(outputs, case.wanted, strict=True):
        np.testing.assert_array_equal(np.load(path), wanted, err_msg=case.name)


# Kernels do not support insertions of single elements.
for case in [*lookups(), *nested(), *(case for case in loops() if "scatter" not in case.name)]:
    if case.text not in known:
        source, lowered = folder / "source.mlir", folder / f"{len(known)}.mlir"
        source.write_text(case.text)
        subprocess.run(["layout-opt", source, "--layout-to-opencl=target={#layout.opencl<image2d_max_width = 16384, "
                        "image2d_max_height = 16384, launch_cost = 1, image_read_percent = 1>}", "-o", lowered],
                       check=True)
        known[case.text] = lowered
    check(case)
