"""Compares a network in half precision on an OpenCL device with the CPU, in single and in half precision.

    half_network.py <folder> <limit> <network> [options of networks]

Weights are arguments, so that both use the same numbers, rounded for half precision.
"""

import pathlib
import shutil
import subprocess
import sys

import numpy as np

from layout_mlir.run import DEVICES
from layout_mlir.tools import run_tool


def main(folder, limit, *network):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder / "inputs", ignore_errors=True)
    single, half = folder / "single.mlir", folder / "half.mlir"
    subprocess.run([sys.executable, "-m", "networks", *network, "--weights", "arguments",
                    "--runnable", "-o", single, "--inputs", folder / "inputs"], check=True)
    # Minus infinity is written as its bits.
    half.write_text(single.read_text().replace("f32", "f16").replace("0xFF800000", "0xFC00"))
    target, pipeline = DEVICES["opencl"]
    run_tool("layout-opt", single, "--layout-linalg-to-llvm", "-o", folder / "single.ll.mlir")
    run_tool("layout-opt", half, "--layout-linalg-to-llvm", "-o", folder / "stored.ll.mlir")
    run_tool("layout-opt", half, f"--{pipeline}=target={{{target}}}", "-o", folder / "half.ll.mlir")
    inputs = sorted((folder / "inputs").glob("*.npy"), key=lambda path: int(path.stem))
    rounded = []
    for path in inputs:
        array = np.load(path)
        rounded.append(folder / f"half{path.name}")
        np.save(rounded[-1], array.astype(np.float16) if array.dtype == np.float32 else array)
    for name, files in ("single", inputs), ("stored", rounded), ("half", rounded):
        run_tool("layout-run", folder / f"{name}.ll.mlir", *[f"--input={path}" for path in files],
                 f"--output={folder / name}.npy")
    single, stored, half = (np.load(folder / f"{name}.npy").astype(np.float64) for name in ("single", "stored", "half"))
    relative = [np.abs(half - want).max() / np.abs(want).max() for want in (single, stored)]
    print("largest difference {:.3g} relative, of halves {:.3g}".format(*relative))
    return not max(relative) <= float(limit)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
