"""Runs a small network unchanged and with layouts for other compilers, both lowered by stock mlir-opt.

usage: upstream_only.py FOLDER MLIR-OPT PACKS NETWORK [OPTION..]
"""

import pathlib
import re
import subprocess
import sys

from layout_mlir.tools import ToolError, run_tool
from networks.__main__ import main as generate

TARGET = "#layout.cpu<lanes = 16>"
LOWER = ["--one-shot-bufferize=bufferize-function-boundaries "
         "function-boundary-type-conversion=identity-layout-map", "--canonicalize", "--cse",
         "--buffer-deallocation-pipeline", "--convert-linalg-to-loops",
         "--convert-bufferization-to-memref", "--expand-strided-metadata", "--lower-affine",
         "--convert-scf-to-cf", "--convert-math-to-llvm", "--convert-math-to-libm",
         "--convert-to-llvm", "--reconcile-unrealized-casts"]


def main(folder, mlir_opt, packs, network, *options):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plain, laid_out, inputs = folder / "plain.mlir", folder / "laid-out.mlir", folder / "inputs"
    generate([network, "--small", "--runnable", *options, "-o", str(plain), "--inputs",
              str(inputs)])
    run_tool("layout-opt", plain, f"--layout-to-upstream=target={{{TARGET}}}", "-o", laid_out)
    # The attributes for layout-run are taken from the original program, because no attribute of ours is left.
    text = laid_out.read_text()
    if "layout." in text:
        sys.exit("something of the project is left")
    signature = re.search(r"layout\.signature = [^}]*", plain.read_text())[0]
    laid_out.write_text(text.replace("{llvm.emit_c_interface",
                                     "{llvm.emit_c_interface, " + signature))
    lowered = []
    for module in (plain, laid_out):
        lowered.append(module.with_suffix(".llvm.mlir"))
        subprocess.run([mlir_opt, module,
                        f"--transform-preload-library=transform-library-paths={packs}",
                        "--transform-interpreter", *LOWER, "-o", lowered[-1]], check=True)
    for op in ("pack", "unpack"):
        print(f"{op}: {text.count(f'linalg.{op} ')}")
    try:
        run_tool("layout-run", *lowered, f"@{inputs}/args", "--opt-level=0", "--max-rel=1e-5",
                 "--shared-libs=libmlir_c_runner_utils.so")
    except ToolError as error:
        sys.exit(str(error))
    print("equal")


if __name__ == "__main__":
    main(*sys.argv[1:])
