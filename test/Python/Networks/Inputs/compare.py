"""Runs a small network without and with layouts, and compares the results.

usage: compare.py FOLDER NETWORK [OPTION..] [-- OPTION..]

The options after -- are those of the network with layouts if they differ: another structure of the same network. Fails
if a result differs, has infinities or NaNs, or is too uniform or too large to be meaningful.
"""

import pathlib
import sys

import numpy as np

from layout_mlir.tools import ToolError, run_tool
from networks.__main__ import main as generate

TARGET = '#layout.cpu<lanes = 16>'
LIMIT = 1e-4


def main(folder, network, *options):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    cut = options.index("--") if "--" in options else len(options)
    plain, laid_out = options[:cut], options[cut + 1:] or options[:cut]
    before, after, inputs = folder / "before.mlir", folder / "after.mlir", folder / "inputs"
    generate([network, "--small", *plain, "-o", str(before), "--inputs", str(inputs)])
    # Input sizes only apply to the first network.
    written = [option for option in laid_out if not option.startswith("--input-")]
    generate([network, "--small", *written, "-o", str(after)])
    main_line, = (line for line in before.read_text().splitlines() if "func.func @main" in line)
    count = main_line.split("->")[1].count("tensor<")
    outputs = [folder / f"result{i}.npy" for i in range(count)]
    try:
        run_tool("layout-opt", before, "--layout-linalg-to-llvm", "--emit-bytecode",
                 "-o", folder / "before.mlirbc")
        run_tool("layout-opt", after, f"--layout-to-cpu=target={{{TARGET}}}", "--emit-bytecode",
                 "-o", folder / "after.mlirbc")
        run_tool("layout-run", folder / "before.mlirbc", folder / "after.mlirbc",
                 f"@{inputs}/args", *(f"--output={path}" for path in outputs), "--opt-level=0",
                 f"--max-rel={LIMIT}")
    except ToolError as error:
        sys.exit(str(error))
    for path in outputs:
        result = np.load(path).astype(np.float64)
        print(f"{path.name}: {result.shape}, mean {result.mean():.3g}, spread {result.std():.3g}")
        # Fails for NaN, too.
        if not 0.01 < result.std() < 100:
            sys.exit("the results say nothing")


if __name__ == "__main__":
    main(*sys.argv[1:])
