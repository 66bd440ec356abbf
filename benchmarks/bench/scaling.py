"""./dev bench --scaling: predicted speed-ups of networks on many cores.

Each network of `./dev bench --peers` runs with layouts on one thread, and its kernels are measured one by one (the
work). The program shows how many iterations n the parallel regions of each kernel share; a static schedule assigns
ceil(n / cores) of them to a thread. Code outside of regions is not shared. Entering and leaving a region takes --region
microseconds for each doubling of the cores. The span is the time on unlimited cores: one iteration of each region, and
the code outside of regions. KB is the mean traffic of the nodes per region, before fusion. The prediction ignores that
cores share memory bandwidth.
"""

import argparse
import json
import math
import pathlib
import re
from dataclasses import dataclass, field

import onnx

from layout_mlir.models import Options, load_model
from layout_mlir.run import DEVICES, positive, write_inputs
from layout_mlir.tools import run_tool

from . import onnx_networks
from .rows import measure_rows, write_json

CORES = (1, 2, 4, 8, 16, 32, 64)
_CONSTANT = re.compile(r"(%\w+) = llvm\.mlir\.constant\((-?\d+) : index\)")
_SLOT = re.compile(r"(%\w+) = llvm\.getelementptr (%\w+)\[(\d+)\]")
_NEST = re.compile(r"omp\.loop_nest \(.*?\) : i64 = \((.*?)\) to \((.*?)\) step \((.*?)\)")


@dataclass
class Kernel:
    """A kernel; `regions` has the number of iterations that each of its parallel regions shares."""
    regions: list[int] = field(default_factory=list)
    seconds: float = 0.0


def read_regions(lines):
    """Returns the iterations of the parallel regions of each function, 1 if the number is dynamic."""
    functions, regions, constants = {}, [], {}
    for line in lines:
        if name := re.match(r"  llvm\.func .*?@(\w+)\(", line):
            regions, constants = functions.setdefault(name[1], []), {}
        elif found := _CONSTANT.search(line):
            constants[found[1]] = int(found[2])
        elif found := _NEST.search(line):
            bounds = [[constants.get(value) for value in each.split(", ")] for each in found.groups()]
            regions.append(1 if any(None in each for each in bounds) else
                           math.prod(-((low - high) // step) for low, high, step in zip(*bounds)))
    return functions


def read_kernels(lines, times):
    """Returns the kernels that @main measures: the code between two readings of the clock, identified by the counter
    that its time is added to."""
    functions, kernels = read_regions(lines), [Kernel(seconds=seconds) for seconds in times]
    # The first counter is loaded without a getelementptr.
    slots, inside, called = {}, False, []
    for line in lines:
        if found := _SLOT.search(line):
            slots[found[1]] = int(found[3])
        if "llvm.call @layout_clock" in line:
            inside = not inside
            if inside:
                called = []
        elif found := re.search(r"llvm\.call @(\w+)\(", line):
            called.append(found[1])
        elif (found := re.search(r"= llvm\.load (%\w+) : !llvm\.ptr -> i64", line)) and called and not inside:
            for name in called:
                kernels[slots.get(found[1], 0) // 2].regions += functions.get(name, [])
            called = []
    return kernels


def predict(kernels, cores, region):
    """Returns the predicted seconds on `cores` cores."""
    total = 0.0
    for kernel in kernels:
        iterations = sum(kernel.regions)
        if not iterations:
            total += kernel.seconds
        for count in kernel.regions:
            total += kernel.seconds * math.ceil(count / cores) / iterations
            total += region * math.log2(cores)
    return total


def span(kernels):
    """Returns the predicted seconds on unlimited cores."""
    return sum(kernel.seconds * (len(kernel.regions) / sum(kernel.regions) if kernel.regions else 1)
               for kernel in kernels)


def count_bytes(model):
    """Returns the bytes that the nodes of an ONNX model read and write."""
    graph, sizes = model.graph, {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        sizes[value.name] = 4 * math.prod(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    sizes.update((each.name, len(each.raw_data)) for each in graph.initializer)
    return sum(sizes.get(name, 0) for node in graph.node for name in (*node.input, *node.output))


def measure(name, args, folder):
    path, profiled, text, runs = (folder / each for each in ("network.onnx", "out.mlirbc", "out.mlir", "runs.json"))
    network = onnx_networks.make(name)
    onnx.save(network, path)
    model = load_model(path, folder, options=Options(repeat=0))
    inputs = [f"--input={each}" for each in write_inputs(model, folder)]
    pipeline = f"--layout-to-cpu=target={{{DEVICES['cpu'][0]}}} cpu=host"
    run_tool("layout-opt", model.module, pipeline + " profile", "--emit-bytecode", "--verify-each=false", "-o", profiled)
    run_tool("layout-opt", profiled, "--mlir-elide-elementsattrs-if-larger=8",
             "--mlir-elide-resource-strings-if-larger=8", "-o", text)
    run_tool("layout-run", profiled, *inputs, "--warmup=1", f"--repeat={args.repeat}", "--threads=1",
             "--keep-freed-memory", f"--json={runs}")
    times = [each["min_seconds"] for each in json.loads(runs.read_text())["kernels"]]
    kernels = read_kernels(text.read_text().splitlines(), times)
    regions, work = sum(len(each.regions) for each in kernels), predict(kernels, 1, 0)
    return {"network": name, "work_seconds": work, "regions": regions,
            "span_seconds": span(kernels),
            "region_bytes": count_bytes(network) / max(regions, 1),
            "speedups": {cores: work / predict(kernels, cores, args.region * 1e-6) for cores in CORES}}


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --scaling", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    onnx_networks.add_names(parser)
    parser.add_argument("--repeat", type=positive, default=5, help="timed runs of each")
    parser.add_argument("--region", type=float, default=1.0,
                        help="microseconds that a region takes for each doubling of the cores (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    names = onnx_networks.get_names(parser, args, onnx_networks.NETWORKS)
    print(f"{'network':<18}{'work ms':>9}{'span ms':>9}{'regions':>9}{'KB':>8}"
          + "".join(f"{cores:>7}" for cores in CORES), flush=True)
    rows, complete = measure_rows(
        names, lambda name, folder: measure(name, args, folder),
        lambda row: f"{row['network']:<18}{row['work_seconds'] * 1e3:>9.2f}{row['span_seconds'] * 1e3:>9.3f}"
                    f"{row['regions']:>9}{row['region_bytes'] / 1024:>8.0f}"
                    + "".join(f"{each:>7.2f}" for each in row["speedups"].values()))
    print("\nThe last columns are speed-ups on so many cores.")
    write_json(args.json, region_microseconds=args.region, rows=rows)
    return 0 if complete else 1
