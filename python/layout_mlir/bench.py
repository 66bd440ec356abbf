"""./dev bench: the CPU kernels of benchmarks/, each beside plain loops; then layouts of networks.

Every kernel is lowered twice, by `layout-linalg-to-llvm` as it is and with plain loops; both run in
turns in one process on the same seeded inputs, and their results are compared.

`./dev bench --assignment` is the second part alone, `./dev bench --images` the conversions that
networks need on a device with images, `./dev bench --target` the figures of this machine that
prices of layouts are made of; with `--help` all show their options.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

import numpy as np

from . import bench_assignment, bench_images, bench_target
from .tools import ToolError, run_tool

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks/cpu-kernels"
DTYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "i32": np.int32}


def read_inputs(text):
    """(shape, dtype) of each argument of @kernel."""
    arguments = re.search(r"func\.func @kernel\(([^{]*?)\)\s*->", text, re.S).group(1)
    for dims, dtype in re.findall(r"tensor<((?:\d+x)*)(\w+)>", arguments):
        yield tuple(int(d) for d in dims.split("x") if d), DTYPES[dtype]


def measure(path, repeat, folder):
    """Seconds of the plain loops and of the kernel, and how far their results are apart."""
    generator = np.random.default_rng(0)
    inputs = []
    for number, (shape, dtype) in enumerate(read_inputs(path.read_text())):
        data = generator.standard_normal(shape) if np.issubdtype(dtype, np.floating) else \
            generator.integers(-8, 8, shape)
        inputs.append(folder / f"{number}.npy")
        np.save(inputs[-1], data.astype(dtype))
    loops, fast = folder / "loops.mlir", folder / "fast.mlir"
    run_tool("layout-opt", path, "--layout-linalg-to-llvm=emit-kernels=false", "-o", loops)
    run_tool("layout-opt", path, "--layout-linalg-to-llvm", "-o", fast)
    run_tool("layout-run", loops, fast, "--function=kernel", *[f"--input={x}" for x in inputs],
             "--warmup=1", f"--repeat={repeat}", "--compare", "--max-rel=1e-4",
             f"--json={folder / 'runs.json'}")
    slow, quick = [json.loads(line) for line in (folder / "runs.json").read_text().splitlines()]
    return slow["run_min_seconds"], quick["run_min_seconds"], quick["differences"][0]["max_rel"]


def read_flops(text):
    """Floating point operations of one call, where the file states them."""
    found = re.search(r"([\d.]+) (M|G)FLOP", text)
    return float(found.group(1)) * {"M": 1e6, "G": 1e9}[found.group(2)] if found else None


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    # Those are for the C++ programs that run after this one.
    argv = [arg for arg in argv if not arg.startswith("--benchmark_")]
    if "--assignment" in argv:
        return bench_assignment.main([arg for arg in argv if arg != "--assignment"])
    if "--images" in argv:
        return bench_images.main([arg for arg in argv if arg != "--images"])
    if "--target" in argv:
        return bench_target.main([arg for arg in argv if arg != "--target"])
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", help="only kernels whose name contains this, and no networks")
    parser.add_argument("--repeat", type=int, default=20, help="timed runs of a kernel")
    args = parser.parse_args(argv)
    status = bench_kernels(args)
    if args.kernel is None:
        print()
        status = bench_assignment.main([]) or status
    return status


def bench_kernels(args):
    paths = sorted(p for p in KERNELS.glob("*.mlir") if not args.kernel or args.kernel in p.stem)
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


if __name__ == "__main__":
    sys.exit(main())
