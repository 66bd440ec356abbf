"""Compares a network whose kernels are built from OpenCL C with its kernels from SPIR-V.

    source_pipeline.py <folder> <results> <network> [options of networks]

The SPIR-V translator is hidden while the source is built.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

from layout_mlir.run import DEVICES
from layout_mlir.tools import run_tool


def main(folder, results, *network):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run([sys.executable, "-m", "networks", *network, "-o", folder / "net.mlir",
                    "--inputs", folder / "inputs"], check=True)
    target, pipeline = DEVICES["opencl"]
    run_tool("layout-opt", folder / "net.mlir", f"--{pipeline}=target={{{target}}}", "-o", folder / "net.ll.mlir")
    inputs = sorted((folder / "inputs").glob("*.npy"), key=lambda path: int(path.stem))
    pipelines = {"source": {"LAYOUT_OPENCL_SOURCE": "1", "LAYOUT_OPENCL_TRANSLATOR": "no-such-tool"},
             "spirv": {"LAYOUT_OPENCL_SOURCE": "0"}}
    outputs = {}
    for pipeline, variables in pipelines.items():
        outputs[pipeline] = [folder / f"{pipeline}{i}.npy" for i in range(int(results))]
        subprocess.run(["layout-run", folder / "net.ll.mlir", *[f"--input={path}" for path in inputs],
                        *[f"--output={path}" for path in outputs[pipeline]]], check=True,
                       env={**os.environ, "LAYOUT_OPENCL_CACHE": "", **variables})
    worst = 0
    for source, spirv in zip(*outputs.values()):
        a, b = np.load(source), np.load(spirv)
        assert a.shape == b.shape and a.dtype == b.dtype and np.isfinite(b).all()
        assert np.abs(b).max() > 0, "nothing to compare"
        worst = max(worst, np.abs(a.astype("f8") - b).max() / np.abs(b).max())
    print(f"{network[0]}: largest difference {worst:.3g} relative")
    return not worst <= 1e-6


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
