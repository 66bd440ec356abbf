"""python -m demo: a network with and without layouts, run and compared.

Generates an inference network as linalg on tensors, assigns layouts, lowers both the untouched and
the laid-out network to machine code through the same pipeline, runs them in turns in one process
and compares their results. Exits with 1 if they differ by more than --max-rel.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time
from dataclasses import fields

import numpy as np

from layout_mlir import LayoutError, Target
from layout_mlir.tools import ToolError, run_tool
from networks import NETWORKS

from . import npu

SHOWN_MOVES, SHOWN_VIEWS = 20, 3
RUN_SIZES = {"batch": 3, "sequence": 16}

PREPARATION = ["--layout-prepare-for-canonicalizer", "--layout-decompose-aggregates",
               "--canonicalize", "--cse"]

# What a device is taken to be, the pipeline that goes there, and what that does before it decides.
DEVICES = {
    "cpu": ('#layout.cpu<lanes = 16>', "layout-to-cpu", []),
    "opencl": ('#layout.opencl<image2d_max_width = 16384, '
               'image2d_max_height = 16384>', "layout-to-opencl",
               PREPARATION),
    "npu": (None, "layout-to-npu", PREPARATION),
}


class Progress:
    """Says what is being done, and how long it took."""

    def __enter__(self):
        return self

    def __init__(self, text):
        print(f"  {text} ...", end="", file=sys.stderr, flush=True)
        self.start = time.monotonic()

    def __exit__(self, kind, *_):
        seconds = time.monotonic() - self.start
        print(f" {'failed' if kind else f'{seconds:.1f} s'}", file=sys.stderr, flush=True)


def network_options():
    """The options that some network has, by name."""
    return {each.name: each for network in NETWORKS.values() for each in fields(network.Options)
            if each.name != "runnable"}  # every pipeline of the demo sees to that itself


def flag(name):
    return "--" + name.replace("_", "-")


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="./dev demo",
        description="Runs a network with and without layouts and compares the results.")
    parser.add_argument("network", nargs="?", default="resnet50",
                        help=f"{', '.join(sorted(NETWORKS))}, or an .mlir file with a function @main")
    parser.add_argument("--input", action="append", default=[],
                        help="an .npy input of an .mlir file; repeat in order")
    parser.add_argument("--device", choices=DEVICES, default="cpu",
                        help="where the laid-out network runs: on this CPU, with images on an "
                             "OpenCL device, or in the simulator of an NPU; the untouched one runs "
                             "on the CPU")
    parser.add_argument("--chip", choices=Target.names(), default="BM1684",
                        help="which NPU")
    parser.add_argument("--target", help="default: " + "; ".join(
        f"{target} for {name}" for name, (target, *_) in DEVICES.items() if target) +
        "; that of --chip for npu")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs of each")
    parser.add_argument("--max-rel", type=float, default=1e-4,
                        help="largest difference of a result, relative to its largest value")
    parser.add_argument("--keep", metavar="DIR", help="leave all files there")
    group = parser.add_argument_group(
        "options of networks", "Each network has some of them, and its own defaults: "
        "`./dev python -m networks --list` shows which.")
    group.add_argument("--small", action="store_true", default=argparse.SUPPRESS,
                       help="few layers, few and odd channels, small inputs")
    for name, each in network_options().items():
        kind = {"action": "store_true"} if each.metadata["parse"] is bool else {
            "type": each.metadata["parse"], "choices": each.metadata["choices"]}
        group.add_argument(flag(name), help=each.metadata["help"], default=argparse.SUPPRESS, **kind)
    for size in ("batch", "sequence"):
        group.add_argument(f"--run-{size}", type=int, default=argparse.SUPPRESS,
                           help=f"the {size} to run where the network's is dynamic "
                                f"(default: {RUN_SIZES[size]})")
    args = parser.parse_args(argv)
    args.target = args.target or DEVICES[args.device][0] or npu.get_target(args.chip)
    if args.network in NETWORKS:
        if args.input:
            parser.error("--input is for .mlir files: a network comes with its inputs")
        try:
            args.module, args.sizes = build(args)
        except ValueError as error:
            parser.error(str(error))
    elif not args.network.endswith(".mlir"):
        parser.error(f"no network is called '{args.network}'; there are "
                     f"{', '.join(sorted(NETWORKS))}, and .mlir files")
    else:
        for name in ("small", *network_options(), *(f"run_{size}" for size in RUN_SIZES)):
            if hasattr(args, name):
                parser.error(f"{flag(name)} is for networks that are generated")
    return args


def build(args):
    """The network with the options that were given, and the sizes to run it with."""
    network = NETWORKS[args.network]
    given = {name: getattr(args, name) for name in network_options() if hasattr(args, name)}
    own = {each.name for each in fields(network.Options)}
    for name in given:
        if name not in own:
            raise ValueError(f"{network.name} has no {flag(name)}")
    options = (network.small_options if hasattr(args, "small") else network.Options)(**given)
    sizes = dict(RUN_SIZES)
    for size in sizes:
        run = getattr(args, f"run_{size}", None)
        if run is None:
            continue
        if getattr(options, size, 1) is not None or run <= 0:
            raise ValueError(f"--run-{size} is a positive number and goes with --{size} '?'")
        sizes[size] = run
    return network.build(options), sizes


def make_input(args, folder):
    """The network and its inputs as files."""
    if args.network not in NETWORKS:
        return pathlib.Path(args.network), args.input
    network, inputs = folder / "network.mlir", []
    with Progress(f"writing {args.network}"):
        with open(network, "w") as file:
            args.module.write(file)
        for number, array in enumerate(args.module.example_inputs(args.sizes)):
            inputs.append(folder / f"{number}.npy")
            np.save(inputs[-1], array)
    return network, inputs


def lower(args, network, folder):
    """Both programs, in the LLVM dialect where they run here, and the costs of the assignment."""
    bytecode = ["--emit-bytecode"]
    _, pipeline, before = DEVICES[args.device]
    if args.device == "npu":
        before = before + [f"--layout-split-for-cores=target={{{args.target}}}", "--canonicalize"]
    with Progress("assigning layouts"):
        run_tool("layout-opt", network, *before, f"--layout-assign=target={{{args.target}}}", *bytecode,
                 "-o", folder / "assigned.mlirbc")
        run_tool("layout-opt", folder / "assigned.mlirbc",
                 f"--layout-print-cost=target={{{args.target}}} format=json "
                 f"output={folder / 'cost.json'}", "-o", "/dev/null")
    with Progress("lowering the untouched network"):
        run_tool("layout-opt", network, "--layout-linalg-to-llvm", *bytecode,
                 "-o", folder / "before.mlirbc")
    if args.device == "npu":
        return json.loads((folder / "cost.json").read_text())
    with Progress("lowering the laid-out network"):
        run_tool("layout-opt", network, f"--{pipeline}=target={{{args.target}}}", *bytecode,
                 "-o", folder / "after.mlirbc")
    return json.loads((folder / "cost.json").read_text())


def compare(args, inputs, folder):
    """Runs both in turns; the records of layout-run."""
    with Progress("compiling, running both in turns"):
        run_tool("layout-run", folder / "before.mlirbc", folder / "after.mlirbc",
                 *[f"--input={path}" for path in inputs], "--warmup=1", f"--repeat={args.repeat}",
                 "--compare", f"--json={folder / 'runs.json'}")
    return [json.loads(line) for line in (folder / "runs.json").read_text().splitlines()]


def mega(count):
    return f"{count / 1e6:.2f} MB"


def milli(seconds):
    return f"{seconds * 1e3:.{1 if seconds >= 0.01 else 3}f} ms"


def report(args, cost, before, after):
    """The table; True if the results agree."""
    moved = cost["conversions"]
    packed = cost["constants"]
    assignment = cost["assignment"]
    name = pathlib.Path(args.network).name
    print(f"\n{name} on {args.target}")
    moving = [row for row in moved["rows"] if row["kind"] != "view"]
    rows = [
        ("conversions inserted", f"{len(moving)} on activations that move bytes, "
                                 f"{len(moved['rows']) - len(moving)} that are free views"),
        ("  bytes they move", mega(moved["bytes_read"] + moved["bytes_written"])),
        ("  modeled cost", f"{assignment['cost']} (lower bound {assignment['lower_bound']}, gap "
                            f"{assignment['cost'] - assignment['lower_bound']})"),
        ("constants packed at compile time", f"{packed['count']}, {mega(packed['bytes_written'])}"),
        ("run time before", f"{milli(before['run_median_seconds'])} (median of {args.repeat})"),
        ("run time after", milli(after["run_median_seconds"])),
        ("speedup", f"{after['speedup']:.2f}x (median of paired runs)"),
    ]
    agree = True
    for number, difference in enumerate(after["differences"]):
        absolute, relative = difference["max_abs"], difference["max_rel"]
        good = relative is not None and relative <= args.max_rel
        agree &= good
        text = "NaN" if relative is None else f"{absolute:.3g} absolute, {relative:.3g} relative"
        rows.append((f"result {number}: largest difference",
                     f"{text} ({'within' if good else 'EXCEEDS'} {args.max_rel:g})"))
    width = max(len(label) for label, _ in rows) + 2
    for label, text in rows:
        print(f"  {label:<{width}}{text}")
    views = [row for row in moved["rows"] if row["kind"] == "view"]
    moving.sort(key=lambda row: -row["bytes_read"] - row["bytes_written"])
    for rows, shown, name in (moving, SHOWN_MOVES, "conversions"), (views, SHOWN_VIEWS, "free views"):
        for row in rows[:shown]:
            print(f"  conversion of {row['shape']}: {row['from']} -> {row['to']}\n    {row['why']}")
        if len(rows) > shown:
            print(f"  ({len(rows) - shown} more {name})")
    return agree


def demonstrate_npu(args, network, inputs, cost, folder):
    """Runs the program of an NPU in the simulator; True if the results agree."""
    with Progress("lowering to the memories of the NPU"):
        memory = npu.lower(network, args.target, folder)
    with Progress("writing and compiling the program, running it in the simulator"):
        program, result, differences = npu.run(inputs, args.max_rel, folder)
    return npu.report(pathlib.Path(args.network).name, args.target, cost, memory, program,
                           result, differences, args.max_rel)


def main(argv=None):
    args = parse(argv)
    with tempfile.TemporaryDirectory(prefix="layout-demo-") as scratch:
        folder = pathlib.Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            network, inputs = make_input(args, folder)
            cost = lower(args, network, folder)
            if args.device == "npu":
                agree = demonstrate_npu(args, network, inputs, cost, folder)
            else:
                agree = report(args, cost, *compare(args, inputs, folder))
        except (ToolError, LayoutError) as error:
            print(f"\n{error}", file=sys.stderr)
            return 1
        if not agree:
            print("the results differ", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
