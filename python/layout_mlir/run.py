"""python -m layout_mlir.run MODEL: runs a model with and without layouts and compares the results.

Imports the model as linalg on tensors (models.py), assigns layouts, and lowers the original and the laid-out program to
machine code with the same pipeline. Runs them alternately in one process, and compares their results with each other
and, if the model's own runtime is installed, with that runtime. Exits with 1 if results differ by more than --max-rel.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir import LayoutError, Target, html_report, run_mesh, run_npu
from layout_mlir.gguf_import import Generator
from layout_mlir.models import Model, Options, load_model
from layout_mlir.modules import GGUF_SUFFIX
from layout_mlir.onnx_import.compare import Oracle
from layout_mlir.onnx_import.errors import ImportFailed
from layout_mlir.report import describe_differences, difference, print_rows
from layout_mlir.tools import ToolError, run_tool

SHOWN_MOVES, SHOWN_VIEWS, SHOWN_KERNELS = 20, 3, 30
MOST_THREADS = 1024  # the limit of layout-run

IMAGES = "#layout.opencl<image2d_max_width = 16384, image2d_max_height = 16384>"
# Maps a device to its default target and its pipeline.
DEVICES = {
    "cpu": ('#layout.cpu<lanes = 16>', "layout-to-cpu"),
    "opencl": (IMAGES, "layout-to-opencl"),
    "vulkan": (IMAGES, "layout-to-vulkan"),
    "npu": (None, "layout-to-npu"),
    "mesh": (None, "layout-to-mpi"),
}


class Progress:
    """Prints a step and its duration to stderr."""

    def __enter__(self) -> Progress:
        return self

    def __init__(self, text: str) -> None:
        print(f"  {text} ...", end="", file=sys.stderr, flush=True)
        self.start = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        seconds = time.monotonic() - self.start
        print(f" {'failed' if kind else f'{seconds:.1f} s'}", file=sys.stderr, flush=True)


# ------------------------------------------------------------------- the options

def positive(text: str) -> int:
    """Parses an integer above 0 for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def token_ids(text: str) -> list[int]:
    """Parses integers separated by commas for argparse."""
    return [int(each) for each in text.split(",")]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the device and the comparison."""
    parser.add_argument("--device", choices=DEVICES, default="cpu",
                        help="device of the laid-out network: this CPU, an OpenCL or Vulkan device with images, the "
                             "simulator of an NPU, or MPI ranks; the untouched network runs on the CPU")
    parser.add_argument("--opencl-device", metavar="NAME",
                        help="for OpenCL: a part of the name of the device or its platform (default: the first GPU, "
                             "or the first device)")
    parser.add_argument("--vulkan-device", metavar="NAME",
                        help="for Vulkan: a part of the name of the device (default: the first GPU, or the first "
                             "device)")
    parser.add_argument("--ranks", type=positive, metavar="N",
                        help="for a mesh: number of processes, each of which computes a block (default: the devices of "
                             "--target, or 2)")
    parser.add_argument("--hostfile", metavar="FILE",
                        help="for a mesh: hostfile of mpirun with the machines of the ranks, which must share the "
                             "folder of --keep")
    parser.add_argument("--chip", choices=Target.names(), default="BM1684",
                        help="NPU chip")
    parser.add_argument("--simulator-kernels", action="store_true",
                        help="for an NPU: also run ops that are not OKKernel functions, which only the simulator "
                             "supports; otherwise they are errors")
    parser.add_argument("--timeline", metavar="FILE.svg",
                        help="for an NPU: draw the first commands of its engines over time")
    parser.add_argument("--target", help="default: " + "; ".join(
        f"{target} for {name}" for name, (target, _) in DEVICES.items() if target) +
        "; that of --chip for npu; "
        f"{run_mesh.get_target(2)} for mesh, with --ranks")
    parser.add_argument("--repeat", type=positive, default=5, help="number of timed runs of each network")
    parser.add_argument("--threads", type=positive, metavar="N",
                        default=min(len(os.sched_getaffinity(0)), MOST_THREADS),
                        help="number of threads of parallel loops (default: %(default)s, the processors that this "
                             "process may use)")
    parser.add_argument("--max-rel", type=float, default=1e-4,
                        help="largest allowed difference of a result, relative to its largest value")
    parser.add_argument("--keep", metavar="DIR", help="keep all files in this folder")
    parser.add_argument("--profile", action="store_true",
                        help="print the time of each kernel of the laid-out network on the CPU")
    parser.add_argument("--report", metavar="FILE.html",
                        help="write a page with the network, its conversions, the costs of other strategies, and the "
                             "layouts")


def complete(args: argparse.Namespace) -> argparse.Namespace:
    """Checks options against each other and sets defaults that depend on others."""
    if args.profile and args.device != "cpu":
        raise ToolError("--profile needs --device cpu; for kernels of an OpenCL device use layout-run --opencl-profile")
    for device in ("opencl", "vulkan"):
        name = getattr(args, f"{device}_device")
        if name and args.device != device:
            raise ToolError(f"--{device}-device needs --device {device}")
        if name:
            os.environ[f"LAYOUT_{device.upper()}_DEVICE"] = name  # read by the runtime, here and in processes
    if args.timeline and args.device != "npu":
        raise ToolError("--timeline needs --device npu")
    if args.simulator_kernels and args.device != "npu":
        raise ToolError("--simulator-kernels needs --device npu")
    if args.hostfile and args.device != "mesh":
        raise ToolError("--hostfile needs --device mesh")
    if args.ranks and args.device != "mesh":
        raise ToolError("--ranks needs --device mesh")
    default = run_mesh.get_target(args.ranks or 2) if args.device == "mesh" else run_npu.get_target(args.chip)
    args.target = args.target or DEVICES[args.device][0] or default
    if args.device == "mesh":
        args.ranks = run_mesh.count_ranks(args.target, args.ranks)
    return args


def parse(argv: Sequence[str] | None, prog: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Runs a model with and without layouts and compares the results, also with those of the model's "
                    "own runtime if it is installed.")
    parser.add_argument("model", help="an .onnx file, a .pt2 program of torch.export, a language model in a .gguf file, "
                                      "or StableHLO or linalg as text or bytecode; the function of a module is @main")
    parser.add_argument("--input", action="append", default=[], metavar="[NAME=]FILE.npy",
                        help="an input, in the order of the model or by name; others are random")
    parser.add_argument("--shape", action="append", default=[], metavar="[NAME=]1x3x320x320",
                        help="the shape of an input with dynamic sizes; [4,3x2] for a sequence, none for an optional "
                             "without a value")
    parser.add_argument("--dynamic", action="store_true",
                        help="keep the dynamic sizes of an .onnx model; otherwise it is compiled for the sizes of its "
                             "inputs")
    parser.add_argument("--seed", type=int, default=0, help="seed of random inputs")
    parser.add_argument("--no-reference", action="store_true",
                        help="do not run the model's own runtime")
    parser.add_argument("--tokens", type=token_ids, metavar="1,2,3", default=[],
                        help="the prompt of a .gguf model (default: random tokens)")
    parser.add_argument("--new", type=positive, default=16, metavar="N",
                        help="number of tokens to generate with a .gguf model (default: %(default)s)")
    add_options(parser)
    args = parser.parse_args(argv)
    is_gguf = pathlib.Path(args.model).suffix == GGUF_SUFFIX
    if args.tokens and not is_gguf:
        raise ToolError("--tokens needs a .gguf model")
    if is_gguf and args.device != "cpu":
        raise ToolError("a .gguf model needs --device cpu: its caches have dynamic sizes, and its scales are f16 bits")
    return complete(args)


# --------------------------------------------------------------------- the steps

def passes_before(args: argparse.Namespace) -> list[str]:
    """Returns the passes before those of layout-assign: those of the device's pipeline, and the target with the
    parameters of this machine, for which programs are compiled."""
    prepare = [f"--layout-prepare-for-npu=target={{{args.target}}}"] if args.device == "npu" else []
    return [*prepare, f"--layout-set-target=target={{{args.target}}} cpu=host"]


def lower(args: argparse.Namespace, module: pathlib.Path, folder: pathlib.Path) -> dict[str, Any]:
    """Assigns layouts and lowers the original program, and for cpu, opencl and vulkan the laid-out one, to the LLVM
    dialect.
    Returns the cost table of the assignment."""
    written = ["--emit-bytecode", "--verify-each=false"]
    _, pipeline = DEVICES[args.device]
    with Progress("assigning layouts"):
        run_tool("layout-opt", module, *passes_before(args), "--layout-assign",
                 f"--layout-print-cost=format=json output={folder / 'cost.json'}", *written,
                 "-o", folder / "assigned.mlirbc")
    cost: dict[str, Any] = json.loads((folder / "cost.json").read_text())
    if "assignment" not in cost:
        raise ToolError(f"{module} has no tensors, so there is no layout to assign")
    vectors = "cpu=host"
    with Progress("lowering the untouched network"):
        run_tool("layout-opt", module, f"--layout-linalg-to-llvm={vectors}", *written,
                 "-o", folder / "before.mlirbc")
    if args.device in ("cpu", "opencl", "vulkan"):
        with Progress("lowering the laid-out network"):
            run_tool("layout-opt", module, f"--{pipeline}=target={{{args.target}}}"
                     f"{' ' + vectors if args.device == 'cpu' else ''}"
                     f"{' profile' if args.profile else ''}", *written,
                     "-o", folder / "after.mlirbc")
    return cost


def write_inputs(model: Model, folder: pathlib.Path) -> list[pathlib.Path]:
    paths = []
    for number, array in enumerate(model.inputs):
        paths.append(folder / f"input-{number}.npy")
        np.save(paths[-1], np.asarray(array, order="C"))
    return paths


def compare(args: argparse.Namespace, model: Model, inputs: list[pathlib.Path],
            folder: pathlib.Path) -> tuple[list[dict[str, Any]], list[NDArray[Any]]]:
    """Runs both programs alternately; returns the records of layout-run and the results of the original program."""
    count = len(model.oracle.outputs if model.oracle else [])
    outputs = [folder / f"result-{number}.npy" for number in range(count)]
    with Progress("compiling, running both alternately"):
        run_tool("layout-run", folder / "before.mlirbc", folder / "after.mlirbc",
                 *[f"--input={path}" for path in inputs], *[f"--output={path}" for path in outputs],
                 "--warmup=1", f"--repeat={args.repeat}", f"--threads={args.threads}", "--compare",
                 f"--json={folder / 'runs.json'}")
    return ([json.loads(line) for line in (folder / "runs.json").read_text().splitlines()],
            [np.load(path) for path in outputs])


# -------------------------------------------------------------------- the report

def mega(count: float) -> str:
    return f"{count / 1e6:.2f} MB"


def milli(seconds: float) -> str:
    return f"{seconds * 1e3:.{1 if seconds >= 0.01 else 3}f} ms"


def describe_times(args: argparse.Namespace, model: Model, before: dict[str, Any],
                   after: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [("run time before", f"{milli(before['run_median_seconds'])} (median of {args.repeat})"),
            ("run time after", milli(after["run_median_seconds"]))]
    device = after.get("device")
    if device and not device["is_gpu"]:
        rows.append(("correctness run", f"{device['name']} runs the kernels on this CPU: its times do not apply to a "
                                        "GPU"))
        return rows
    rows.append(("speedup", f"{after['speedup']:.2f}x (median of paired runs)"))
    rows.append(("threads", str(args.threads)))
    if model.oracle and model.oracle.seconds:
        rows.append((model.reference, f"{milli(model.oracle.seconds)} (median of {args.repeat}, in "
                                      "a process of its own)"))
    return rows


def describe_generation(args: argparse.Namespace, generator: Generator, tokens: list[int],
                        new: int) -> list[tuple[str, str]]:
    """Generates `new` tokens on the CPU; returns rows with them, the speed, and the bytes of the weights."""
    generator.target, generator.threads = args.target, args.threads
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(args.repeat + 1):
        generator.reset()
        made: list[int] = []
        for number in range(new):
            start = time.perf_counter()
            made += generator.generate(made[-1:] or tokens, 1)
            seconds[number > 0].append(time.perf_counter() - start)
    weights = generator.file.weights.values()
    rows = [("weights", f"{mega(sum(each.data.nbytes for each in weights))} in {len(weights)} tensors of the mapped file, "
                        f"in {', '.join(sorted({each.kind for each in weights}))}")]
    # The first round compiles.
    for name, count, measured in (("prefill", len(tokens), seconds[0][1:]), ("decode", 1, seconds[1][new - 1:])):
        if measured:
            rows.append((name, f"{count / float(np.median(measured)):.1f} tokens/s (median of {len(measured)} runs of "
                               f"{count} token{'s' * (count > 1)})"))
    return [*rows, ("tokens", f"{' '.join(map(str, tokens))} -> {' '.join(map(str, made))}")]


def find_name(location: str) -> str:
    """Returns the name of a tensor in the model, or "" if the location is only a line of generated text."""
    return "" if location == "unknown" or re.search(r":\d+:\d+$", location) else location


def print_conversions(moved: dict[str, Any]) -> None:
    moving = [row for row in moved["rows"] if row["kind"] != "view"]
    moving.sort(key=lambda row: -row["bytes_read"] - row["bytes_written"])
    views = [row for row in moved["rows"] if row["kind"] == "view"]
    for rows, shown, name in (moving, SHOWN_MOVES, "conversions"), (views, SHOWN_VIEWS, "free views"):
        for row in rows[:shown]:
            node = find_name(row["location"])
            place = f" at '{node}'" if node else ""
            print(f"  conversion of {row['shape']}{place}: {row['from']} -> "
                  f"{row['to']}\n    {row['why']}")
        if len(rows) > shown:
            print(f"  ({len(rows) - shown} more {name})")


def print_kernels(kernels: list[dict[str, Any]]) -> None:
    total = sum(each["min_seconds"] for each in kernels)
    kernels = sorted(kernels, key=lambda each: -each["min_seconds"])
    for each in kernels[:SHOWN_KERNELS]:
        seconds, count = each["min_seconds"], each["operations"]
        rate = f"{count / seconds / 1e9:.1f} Gop/s" if count and seconds else ""
        print(f"  {milli(seconds):>9} {seconds / total:6.1%} {rate:>12}  {each['name']}")
    if rest := kernels[SHOWN_KERNELS:]:
        seconds = sum(each["min_seconds"] for each in rest)
        print(f"  {milli(seconds):>9} {seconds / total:6.1%} {'':12}  ({len(rest)} more kernels)")


def report(args: argparse.Namespace, model: Model, cost: dict[str, Any], runs: list[dict[str, Any]],
           results: list[NDArray[Any]]) -> tuple[list[tuple[str, str]], bool]:
    """Prints the table; returns its rows, and whether the results agree."""
    before, after = runs
    moved, packed, assignment = cost["conversions"], cost["constants"], cost["assignment"]
    moving = sum(row["kind"] != "view" for row in moved["rows"])
    rows = [
        ("conversions inserted", f"{moving} on activations that move bytes, "
                                 f"{len(moved['rows']) - moving} that are free views"),
        ("  bytes they move", mega(moved["bytes_read"] + moved["bytes_written"])),
        ("  modeled cost", f"{assignment['cost']} (lower bound {assignment['lower_bound']}, gap "
                            f"{assignment['cost'] - assignment['lower_bound']})"),
        ("constants packed at compile time", f"{packed['count']}, {mega(packed['bytes_written'])}"),
        *describe_times(args, model, before, after)]
    own, agree = describe_differences(
        "largest difference", [(each["max_abs"], each["max_rel"]) for each in after["differences"]],
        args.max_rel)
    rows += own
    if model.oracle:
        theirs, same = compare_with_reference(args, model, model.oracle, results)
        rows += theirs
        agree &= same
    if model.generator and args.device == "cpu":
        with Progress("generating tokens"):
            rows += describe_generation(args, model.generator, model.inputs[0].tolist(), model.new)
    print_rows(f"{model.name} on {args.target}", rows)
    print_conversions(moved)
    print_kernels(after.get("kernels", []))
    return rows, agree


def compare_with_reference(args: argparse.Namespace, model: Model, oracle: Oracle,
                           results: list[NDArray[Any]]) -> tuple[list[tuple[str, str]], bool]:
    """Returns rows for the differences from the model's own runtime, and whether all are within the tolerance."""
    expected, rows = oracle.outputs, []
    if any(np.isnan(each).any() for each in expected if each.dtype.kind in "fc"):
        rows.append(("note", f"{model.reference} computes NaN on these inputs, too: pass others with --input"))
    theirs, agree = describe_differences(
        f"from {model.reference}", [difference(a, b) for a, b in zip(expected, oracle.settle(results))],
        max(args.max_rel, model.tolerance), oracle.rounding)
    return rows + theirs, agree


def run_on_npu(args: argparse.Namespace, model: Model, cost: dict[str, Any], inputs: list[pathlib.Path],
               folder: pathlib.Path) -> tuple[list[tuple[str, str]], bool]:
    """Runs the NPU program in the simulator, and on the vendor's chip model if it is installed. Returns the rows of the
    table, and whether the results agree."""
    with Progress("lowering to the memories of the NPU"):
        memory = run_npu.lower(model.module, args.target, folder)
    with Progress("writing and compiling the program, running it in the simulator"):
        runs = run_npu.run(inputs, folder, args.simulator_kernels, args.timeline)
    return run_npu.report(model.name, args.target, cost, memory, runs, args.max_rel)


def run_on_mesh(args: argparse.Namespace, model: Model, cost: dict[str, Any], inputs: list[pathlib.Path],
                folder: pathlib.Path) -> tuple[list[tuple[str, str]], bool]:
    """Runs the program on MPI ranks, the original one in one process; returns the rows, and whether results agree."""
    with Progress("lowering to messages"):
        planned = run_mesh.lower(folder / "assigned.mlirbc", folder)
    threads = max(args.threads // args.ranks, 1)
    with Progress(f"compiling, running on {args.ranks} ranks"):
        results, sent = run_mesh.run(inputs, folder, args.ranks, args.hostfile, args.repeat, threads)
    files = [folder / f"expected-{number}.npy" for number in range(len(results))]
    with Progress("running in one process"):
        run_tool("layout-run", folder / "before.mlirbc", *[f"--input={path}" for path in inputs],
                 *[f"--output={path}" for path in files], "--warmup=1", f"--repeat={args.repeat}",
                 f"--threads={threads}", f"--json={folder / 'before.json'}")
    before = json.loads((folder / "before.json").read_text())
    assignment = cost["assignment"]
    rows = [("modeled cost", f"{assignment['cost']} (lower bound {assignment['lower_bound']})"),
            ("bytes on the wire", f"{sent['bytes']:.0f} of {planned} planned, in {sent['messages']:.0f} messages"),
            ("run time in one process", f"{milli(before['run_median_seconds'])} (median of {args.repeat})"),
            (f"run time on {args.ranks} ranks", f"{milli(sent['seconds'])} (the slowest rank)"),
            ("threads of a process", str(threads))]
    compared, agree = describe_differences(
        "largest difference", [difference(np.load(path), result) for path, result in zip(files, results)],
        args.max_rel)
    if sent["bytes"] != planned:
        compared.append(("note", "the number of sent bytes is not that of the plan"))
    print_rows(f"{model.name} on {args.target}", rows + compared)
    return rows + compared, agree and sent["bytes"] == planned


def describe_device(args: argparse.Namespace, runs: list[dict[str, Any]]) -> str:
    if args.device == "npu":
        return f"{args.chip}, in the simulator"
    if args.device == "mesh":
        return f"this CPU, {args.ranks} ranks of MPI"
    used = runs[1].get("device")
    return used["name"] if used else f"this CPU, threads: {args.threads}"


def write_report(args: argparse.Namespace, model: Model, cost: dict[str, Any],
                 runs: list[dict[str, Any]], rows: list[tuple[str, str]], agree: bool,
                 folder: pathlib.Path) -> None:
    with Progress(f"writing {args.report}"):
        network, picture = html_report.collect(model.module, folder / "assigned.mlirbc",
                                               passes_before(args), folder)
        for row in cost["constants"]["rows"]:
            row["name"] = find_name(row["location"])
        network |= {
            "name": model.name, "target": args.target, "cost": cost, "rows": rows, "agree": agree,
            "runs": runs, "reference": [model.reference, model.oracle and model.oracle.seconds],
            "machine": html_report.describe_machine(describe_device(args, runs))}
        html_report.write(args.report, network, picture)
    if network["problem"]:
        print(f"note: the report has no picture of the network: {network['problem']}", file=sys.stderr)


def run_model(args: argparse.Namespace, model: Model, folder: pathlib.Path) -> bool:
    """Runs the model on the device and returns true if the results agree."""
    inputs = write_inputs(model, folder)
    cost = lower(args, model.module, folder)
    runs: list[dict[str, Any]] = []
    if args.device == "npu":
        rows, agree = run_on_npu(args, model, cost, inputs, folder)
    elif args.device == "mesh":
        rows, agree = run_on_mesh(args, model, cost, inputs, folder)
    else:
        runs, results = compare(args, model, inputs, folder)
        rows, agree = report(args, model, cost, runs, results)
    if args.report is not None:
        write_report(args, model, cost, runs, rows, agree, folder)
    return agree


def run_and_exit(args: argparse.Namespace, make_model: Callable[[pathlib.Path], Model]) -> int:
    """Runs the model that `make_model` creates in a given folder; returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="layout-run-") as scratch:
        folder = pathlib.Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            if args.report is not None:
                html_report.check_path(args.report)
            agree = run_model(args, make_model(folder), folder)
        except (ToolError, LayoutError, ImportFailed, OSError, MemoryError) as error:
            print(f"\nerror: {error or 'out of memory'}", file=sys.stderr)
            return 1
    if not agree:
        print("the results differ", file=sys.stderr)
    return 0 if agree else 1


def main(argv: Sequence[str] | None = None, prog: str = "./dev run") -> int:
    try:
        args = parse(argv, prog)
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1

    def make_model(folder: pathlib.Path) -> Model:
        with Progress(f"importing {pathlib.Path(args.model).name}"):
            return load_model(args.model, folder, args.input, args.shape,
                              Options(args.seed, 0 if args.no_reference else args.repeat,
                                      args.dynamic, args.threads, args.device == "npu", args.tokens, args.new))

    return run_and_exit(args, make_model)


if __name__ == "__main__":
    sys.exit(main())
