"""./dev bench --kernel: the CPU kernels of benchmarks/cpu-kernels, each compared with plain loops.

Every kernel is lowered by `layout-linalg-to-llvm` with its defaults and with plain loops. Both programs run alternately
in one process on the same seeded inputs, and their results are compared.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

import numpy as np

from layout_mlir.tools import ToolError, run_tool

KERNELS = pathlib.Path(__file__).resolve().parents[1] / "cpu-kernels"
DTYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "i32": np.int32}


def read_inputs(text):
    """Yields (shape, dtype) for each argument of @kernel."""
    arguments = re.search(r"func\.func @kernel\(([^{]*?)\)\s*->", text, re.S).group(1)
    for dims, dtype in re.findall(r"tensor<((?:\d+x)*)(\w+)>", arguments):
        yield tuple(int(d) for d in dims.split("x") if d), DTYPES[dtype]


def make_inputs(path, folder):
    """Writes seeded inputs of a kernel and returns their files."""
    generator = np.random.default_rng(0)
    inputs = []
    for number, (shape, dtype) in enumerate(read_inputs(path.read_text())):
        data = generator.standard_normal(shape) if np.issubdtype(dtype, np.floating) else \
            generator.integers(-8, 8, shape)
        inputs.append(folder / f"{number}.npy")
        np.save(inputs[-1], data.astype(dtype))
    return inputs


def measure(path, repeat, folder):
    """Returns the seconds of the plain loops and of the kernel, and the difference of their results."""
    inputs = make_inputs(path, folder)
    loops, fast = folder / "loops.mlir", folder / "fast.mlir"
    run_tool("layout-opt", path, "--layout-linalg-to-llvm=emit-kernels=false", "-o", loops)
    run_tool("layout-opt", path, "--layout-linalg-to-llvm", "-o", fast)
    run_tool("layout-run", loops, fast, "--function=kernel", "--threads=1", *[f"--input={x}" for x in inputs],
             "--warmup=1", f"--repeat={repeat}", "--compare", "--max-rel=1e-4",
             f"--json={folder / 'runs.json'}")
    slow, quick = [json.loads(line) for line in (folder / "runs.json").read_text().splitlines()]
    return slow["run_min_seconds"], quick["run_min_seconds"], quick["differences"][0]["max_rel"]


def read_flops(text):
    """Returns the floating-point operations of one call, or None if the file does not state them."""
    found = re.search(r"([\d.]+) (M|G)FLOP", text)
    return float(found.group(1)) * {"M": 1e6, "G": 1e9}[found.group(2)] if found else None


def main(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="", help="only kernels whose name contains this")
    parser.add_argument("--repeat", type=int, default=20, help="timed runs of a kernel")
    args = parser.parse_args(argv)
    paths = sorted(p for p in KERNELS.glob("*.mlir") if args.kernel in p.stem)
    if not paths:
        print(f"no kernel matches '{args.kernel}'", file=sys.stderr)
        return 1
    print(f"{'kernel':<28}{'loops ms':>10}{'ms':>9}{'ratio':>8}{'GFLOP/s':>9}{'difference':>12}")
    for path in paths:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            try:
                loops, fast, difference = measure(path, args.repeat, pathlib.Path(scratch))
            except ToolError as error:
                print(f"{path.stem}: {error}", file=sys.stderr)
                return 1
        flops = read_flops(path.read_text())
        rate = f"{flops / fast / 1e9:9.1f}" if flops else " " * 9
        print(f"{path.stem:<28}{loops * 1e3:>10.3f}{fast * 1e3:>9.3f}{loops / fast:>8.1f}{rate}"
              f"{difference:>12.2g}", flush=True)
    return 0
