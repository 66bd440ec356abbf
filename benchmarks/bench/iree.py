"""./dev bench --iree: IREE on networks whose layouts are applied as upstream ops.

`layout-to-upstream` assigns layouts, and `iree-compile` compiles the result and the original network. The bytes that
conversions move are counted in the text, for packs, unpacks, transposes and copies, minus those of the original
network; they must equal those of the decision. If IREE's runtime is installed next to its compiler, the programs run,
their results are compared, and `iree-benchmark-module` measures the original network, the original network with IREE's
data tiling, and the network with layouts.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

from layout_mlir.tools import ToolError, run_tool, whole_file
from networks import NETWORKS
from networks.__main__ import main as generate

# A mask costs IREE a select in every step.
TARGET = "#layout.cpu<lanes = 16, mask_percent = 300>"
DEFAULT = ("resnet50", "mobilenet_v2", "efficientnet_v2_s", "unet", "sd_unet", "bert_base")
COMPILE = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
           "--iree-llvmcpu-target-cpu=host"]
_TENSOR = r"tensor<((?:\d+x)*)f32>"
_PACK = re.compile(rf"linalg\.(un)?pack .* : {_TENSOR} -> {_TENSOR}$", re.M)
_MOVES = [
    re.compile(rf"linalg\.(?:copy|transpose) ins\(\S+ : {_TENSOR}\) outs\(\S+ : {_TENSOR}\)"),
    re.compile(rf"linalg\.generic .* ins\(\S+ : {_TENSOR}\) outs\(\S+ : {_TENSOR}\)[^\n]*\n"
               r"\s*\^bb0\((%\w+): f32, %\w+: f32\):\s*linalg\.yield \3 ")]


def moved_bytes(text):
    """Returns the bytes read and written by ops that only move elements."""
    def count(dims):
        return math.prod(map(int, dims.split("x")[:-1]))
    elements = 0
    for unpacks, source, result in _PACK.findall(text):
        elements += count(result) + count(result if unpacks else source)
    for move in _MOVES:
        for found in move.finditer(text):
            # Otherwise the op is a broadcast or a slice.
            if count(found[1]) == count(found[2]):
                elements += count(found[1]) + count(found[2])
    return 4 * elements


def run(*command):
    try:
        return subprocess.run(list(map(str, command)), capture_output=True, text=True,
                              check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolError(getattr(error, "stderr", None) or str(error)) from error


class Iree:
    """The compiler next to this Python, and the runtime in a folder, where it may be missing."""

    def __init__(self, runtime):
        self.compiler = pathlib.Path(sys.executable).parent / "iree-compile"
        self.runtime = runtime
        self.runs = (runtime / "iree-run-module").exists()

    def compile(self, source, tiling):
        """Returns the program and its compile time in seconds."""
        program = source.with_suffix(".vmfb")
        start = time.perf_counter()
        run(self.compiler, source, *COMPILE, f"--iree-opt-data-tiling={str(tiling).lower()}", "-o",
            program)
        return program, time.perf_counter() - start

    def measure(self, program, arguments, results):
        """Runs @main on the files `arguments`, writing its results to the files `results`. Returns the results, and the
        milliseconds of the fastest repetition on one core."""
        call = [f"--module={program}", "--function=main", "--device=local-sync",
                *(f"--input=@{path}" for path in arguments)]
        run(self.runtime / "iree-run-module", *call, *(f"--output=@{path}" for path in results))
        table = json.loads(run(self.runtime / "iree-benchmark-module", *call,
                               "--benchmark_format=json", "--benchmark_repetitions=3"))
        return list(map(np.load, results)), min(row["real_time"] for row in table["benchmarks"]
                                                if row["run_type"] == "iteration")


def measure(name, args, iree, folder):
    """Returns the row of one network."""
    given, typed, plain, laid_out = (folder / f"{name}.{part}.mlir"
                                     for part in ("given", "typed", "plain", "out"))
    inputs, table, target = folder / "inputs", folder / "cost.json", f"target={{{TARGET}}}"
    generate([name, f"--weights={args.weights}", *["--small"] * args.small, "-o", str(given),
              "--inputs", str(inputs)])
    run_tool("layout-opt", given, f"--layout-assign={target}",
             f"--layout-print-cost=format=json output={table} {target}", "-o", typed)
    run_tool("layout-opt", given, "--layout-strip-attributes", "-o", plain)
    run_tool("layout-opt", given, f"--layout-to-upstream={target}", "-o", laid_out)
    decided = json.loads(table.read_text())["conversions"]
    text = plain.read_text()
    row = {"network": name, "conversions": decided["count"],
           "optimum": decided["bytes_read"] + decided["bytes_written"],
           "bytes": moved_bytes(laid_out.read_text()) - moved_bytes(text)}
    signature = re.search(r"func\.func @main\((.*)\) -> (.*) {$", text, re.M)
    arguments = [inputs / f"{i}.npy" for i in range(signature[1].count("tensor<"))]
    results = [folder / f"result{i}.npy" for i in range(signature[2].count("tensor<"))]
    expected = None
    for key, source, tiling in (("plain", plain, False), ("tiled", plain, True),
                                ("out", laid_out, False)):
        if key == "tiled" and not iree.runs:
            continue
        program, row[f"{key}_seconds"] = iree.compile(source, tiling)
        if not iree.runs:
            continue
        found, row[f"{key}_ms"] = iree.measure(program, arguments, results)
        expected = expected or found
        row[f"{key}_difference"] = max(float(np.abs(a - b).max() / np.abs(b).max())
                                       for a, b in zip(found, expected))
    return row


COLUMNS = {"conversions": 12, "bytes": 12, "optimum": 12, "plain_seconds": 14, "out_seconds": 12,
           "plain_ms": 10, "tiled_ms": 10, "out_ms": 10, "out_difference": 15}


def print_row(row):
    def show(value):
        return "-" if value is None else value if isinstance(value, int) else f"{value:.3g}"
    print(f"{row['network']:<20}" + "".join(f"{show(row.get(name)):>{width}}"
                                            for name, width in COLUMNS.items()), flush=True)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench --iree", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", choices=sorted(NETWORKS),
                        help=f"may be repeated (default: {', '.join(DEFAULT)})")
    parser.add_argument("--small", action="store_true", help="as in the tests, not at full size")
    parser.add_argument("--weights", choices=("random", "splat"), default="splat",
                        help="times and differences say something with random ones")
    parser.add_argument("--runtime", metavar="FOLDER", type=pathlib.Path,
                        default=pathlib.Path(sys.executable).parent,
                        help="where iree-run-module is (default: beside Python)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    print(f"{'network':<20}" + "".join(f"{name.replace('_', ' '):>{width}}"
                                        for name, width in COLUMNS.items()))
    iree = Iree(args.runtime)
    rows, failed = [], False
    for name in args.network or DEFAULT:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            try:
                rows.append(measure(name, args, iree, pathlib.Path(scratch)))
            except ToolError as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
                continue
        print_row(rows[-1])
    print("\nBytes are read and written by conversions, seconds are those of iree-compile, ms of one "
          "run on one\ncore: as it is, with IREE's own data tiling, and laid out (out).")
    if args.json:
        with whole_file(args.json) as file:
            file.write(json.dumps({"target": TARGET, "rows": rows}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
