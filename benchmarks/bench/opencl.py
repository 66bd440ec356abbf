"""./dev bench --opencl: networks on an OpenCL device, with the current kernels and with simpler ones.

`before` has one pixel per work-item, no reductions shared by work-items, and 64-bit indices; `after` follows the
target. Both programs run alternately in one process on the same inputs, and their results are compared with those of
the CPU. A time is that of a whole run, including the copies to and from the device; the ratio is the median over pairs
of runs.
"""

import argparse
import json
import pathlib
import statistics

from layout_mlir.run import DEVICES, positive
from layout_mlir.tools import run_tool
from networks import NETWORKS

from .images import TARGET
from .rows import measure_rows, write_json, write_network

DEFAULT = {"resnet50": False, "mobilenet_v2": False, "bert_base": False, "vit_b16": False, "unet": False,
           "sd_unet": True, "llama3_8b_decode": True}  # network: true for its small size
SERIALIZE = ("--layout-opencl-kernels-to-source", "--layout-opencl-kernels-to-spirv",
             "--layout-opencl-serialize-kernels")
TOLERANCE = 1e-3  # relative to the largest value of a result


def write_before(module, kernels, target):
    """Writes kernels with one pixel per work-item, without shared reductions, and with 64-bit indices."""
    old = target.replace("opencl<", "opencl<item_pixels = 1, group_items = 1, ")
    written = ("--emit-bytecode", "--verify-each=false", "-o")
    given = kernels.with_suffix(".given.mlirbc")
    run_tool("layout-opt", module, f"--layout-to-opencl=target={{{old}}} kernels-only", *written, given)
    run_tool("layout-opt", given, *SERIALIZE, *written, kernels)


def lower(module, folder, target):
    """Returns the programs for the CPU and for the device, before and after."""
    written = ("--emit-bytecode", "--verify-each=false", "-o")
    programs = [folder / f"{name}.mlirbc" for name in ("cpu", "before", "after")]
    cpu, pipeline = DEVICES["cpu"]
    run_tool("layout-opt", module, f"--{pipeline}=target={{{cpu}}} cpu=host", *written, programs[0])
    kernels = folder / "kernels.mlirbc"
    write_before(module, kernels, target)
    run_tool("layout-opt", kernels, "--layout-gpu-to-opencl", *written, programs[1])
    run_tool("layout-opt", module, f"--layout-to-opencl=target={{{target}}}", *written, programs[2])
    return programs


def measure(name, folder, args):
    module, inputs = write_network(name, args.small or DEFAULT.get(name), folder)
    times = folder / "times.json"
    run_tool("layout-run", *lower(module, folder, args.target), *inputs, f"--repeat={args.repeat}",
             f"--max-rel={TOLERANCE}", f"--json={times}")
    _, *lines = map(json.loads, times.read_text().splitlines())
    before, after = (line["runs_seconds"] for line in lines)
    difference = max(each["max_rel"] for line in lines for each in line["differences"])
    return {"network": name, "before_seconds": min(before), "seconds": min(after), "difference": difference,
            "ratio": statistics.median(b / a for a, b in zip(before, after)), "device": lines[0]["device"]}


def show(row):
    return (f"| {row['network']} | {row['before_seconds'] * 1e3:.1f} | {row['seconds'] * 1e3:.1f} | "
            f"{row['ratio']:.2f} | {row['difference']:.1g} |")


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --opencl", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", choices=sorted(NETWORKS),
                        help=f"may be repeated (default: {', '.join(DEFAULT)})")
    parser.add_argument("--small", action="store_true", help="all as in the tests")
    parser.add_argument("--target", default=TARGET, help=f"default: {TARGET}")
    parser.add_argument("--repeat", type=positive, default=7, help="runs of each (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    print("| network | before, ms | after, ms | ratio | difference from the CPU |\n|---|---|---|---|---|", flush=True)
    rows, complete = measure_rows(args.network or DEFAULT, lambda name, folder: measure(name, folder, args), show)
    write_json(args.json, target=args.target, rows=rows)
    return 0 if complete else 1
