"""Compiles and runs programs on every target, for tests that compare them with numpy.

The first argument of a test is a folder, the others are targets: `plain` is the CPU without assigned layouts.
"""

import pathlib
import sys

import numpy as np

from layout_mlir.tools import run_tool
from vendor_model import Program

PASSES = {
    "plain": ["--convert-layout-to-linalg", "--layout-linalg-to-llvm"],
    "cpu": ["--layout-to-cpu=target={#layout.cpu<lanes = 16>}"],
    "opencl": ["--layout-to-opencl=target={#layout.opencl<image2d_max_width = 16384, image2d_max_height = 16384, "
               "launch_cost = 1, image_read_percent = 1>}"],
    "npu": ['--layout-to-npu=target={#layout.npu<chip = #npu.target<"BM1684">>}'],
}


def tensor(shape, element="f32", layout=None):
    sizes = "".join(f"{size}x" for size in shape)
    return f"tensor<{sizes}{element}{', ' + layout if layout else ''}>"


def draw(*shape, dtype="f4", seed=0):
    """Returns numbers whose sums are exact in any order."""
    numbers = np.random.default_rng(seed + sum(shape)).integers(-32, 33, shape)
    return (numbers / 8 if np.dtype(dtype).kind == "f" else numbers).astype(dtype)


def check(text, inputs, wanted, options=(), targets=None):
    """Compares the results of @main with `wanted`; `options` are those of layout-opt before the passes."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    source, lowered = folder / "source.mlir", folder / "lowered.mlir"
    source.write_text(text)
    for target in sys.argv[2:] if targets is None else targets:
        run_tool("layout-opt", source, *options, *PASSES[target], "-o", lowered)
        if target == "npu":
            found = Program(lowered, folder=folder / "package", simulator_kernels=True).run(*inputs).outputs
        else:
            files = [folder / f"in{i}.npy" for i in range(len(inputs))]
            results = [folder / f"out{i}.npy" for i in range(len(wanted))]
            for file, array in zip(files, inputs, strict=True):
                np.save(file, array)
            run_tool("layout-run", lowered, *(f"--input={file}" for file in files),
                     *(f"--output={file}" for file in results), "--opt-level=1")
            found = [np.load(file) for file in results]
        for result, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6, err_msg=f"{target}\n{text}")
