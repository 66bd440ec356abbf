"""Checks that the input of upstream's propagation in upstream.py is the same network.

usage: upstream.py FOLDER NETWORK..

Packs a small network, applies upstream's propagation, and compares the results with those of the original network.
Padding that upstream leaves undefined is filled with NaNs: no result may depend on it.
"""

import pathlib
import sys

from bench import upstream
from layout_mlir.tools import ToolError, run_tool
from networks.__main__ import main as generate

LANES = 16
LIMIT = 1e-4


def main(folder, *networks):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    before, after, inputs = folder / "before.mlir", folder / "after.mlir", folder / "inputs"
    for network in networks:
        generate([network, "--small", "-o", str(before), "--inputs", str(inputs)])
        text = upstream.propagate(before.read_text(), LANES, folder)
        packs = text.count("linalg.pack")
        if not packs:
            sys.exit(f"{network}: nothing is packed")
        text = text.replace("ub.poison : f32", "arith.constant 0x7FC00000 : f32")
        if "ub.poison" in text:
            sys.exit(f"{network}: there is other undefined padding")
        after.write_text(text)
        try:
            for path in before, after:
                run_tool("layout-opt", path, "--layout-linalg-to-llvm", "--emit-bytecode",
                         "-o", f"{path}bc")
            run_tool("layout-run", f"{before}bc", f"{after}bc", f"@{inputs}/args", "--opt-level=0",
                     f"--max-rel={LIMIT}")
        except ToolError as error:
            sys.exit(str(error))
        print(f"{network}: the same with {packs} packs")


if __name__ == "__main__":
    main(*sys.argv[1:])
