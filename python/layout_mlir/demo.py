"""python -m layout_mlir.demo: a network with and without layouts, run and compared.

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

from .networks import NETWORKS
from .tools import ToolError, run_tool

SHOWN_VIEWS = 3
TARGET = '#layout.target<kind = "cpu", lanes = 16>'


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


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="./dev demo",
        description="Runs a network with and without layouts and compares the results.")
    parser.add_argument("network", nargs="?", default="resnet50",
                        help=f"{', '.join(sorted(NETWORKS))}, or an .mlir file with a function @main")
    parser.add_argument("--batch", default="1", help="a number, or '?' for dynamic")
    parser.add_argument("--run-batch", type=int, default=3,
                        help="the batch to run where the network's is dynamic")
    parser.add_argument("--image", type=int, default=224, help="height and width of the input")
    parser.add_argument("--width", type=float, default=1.0, help="factor on channel counts")
    parser.add_argument("--blocks", help="blocks of each stage, e.g. 1,1,1,1")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--ragged", action="store_true", help="prime channel counts: 61, 127, ..")
    parser.add_argument("--bn", choices=["folded", "unfolded"], default="folded")
    parser.add_argument("--input", action="append", default=[],
                        help="an .npy input of an .mlir file; repeat in order")
    parser.add_argument("--target", default=TARGET, help=f"default: {TARGET}")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs of each")
    parser.add_argument("--max-rel", type=float, default=1e-4,
                        help="largest difference of a result, relative to its largest value")
    parser.add_argument("--keep", metavar="DIR", help="leave all files there")
    return parser.parse_args(argv)


def make_input(args, folder):
    """The network and its inputs as files."""
    if args.network.endswith(".mlir"):
        return pathlib.Path(args.network), args.input
    network = folder / "network.mlir"
    from .networks.__main__ import main as generate
    command = [args.network, "-o", network, "--batch", args.batch, "--image", args.image,
               "--width", args.width, "--bn", args.bn, "--input-npy", folder / "input.npy"]
    command += ["--classes", args.classes]
    if args.blocks:
        command += ["--blocks", args.blocks]
    if args.ragged:
        command.append("--ragged")
    if args.batch in ("?", "dynamic"):
        command += ["--input-batch", args.run_batch]
    with Progress(f"writing {args.network}"):
        generate([str(part) for part in command])
    return network, [folder / "input.npy"]


def lower(args, network, folder):
    """Both programs in the LLVM dialect, and the costs of the assignment."""
    bytecode = ["--emit-bytecode"]
    with Progress("assigning layouts"):
        run_tool("layout-opt", network, f"--layout-assign=target={{{args.target}}}", *bytecode,
                 "-o", folder / "assigned.mlirbc")
        run_tool("layout-opt", folder / "assigned.mlirbc",
                 f"--layout-print-cost=target={{{args.target}}} format=json "
                 f"output={folder / 'cost.json'}", "-o", "/dev/null")
    with Progress("lowering the untouched network"):
        run_tool("layout-opt", network, "--layout-linalg-to-llvm", *bytecode,
                 "-o", folder / "before.mlirbc")
    with Progress("lowering the laid-out network"):
        run_tool("layout-opt", network, f"--layout-to-cpu=target={{{args.target}}}", *bytecode,
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
        ("  modelled cost", f"{assignment['cost']} (lower bound {assignment['lower_bound']}, gap "
                            f"{assignment['cost'] - assignment['lower_bound']})"),
        ("constants packed at compile time", f"{packed['count']}, {mega(packed['bytes_written'])}"),
        ("run time before", f"{before['run_median_seconds'] * 1e3:.1f} ms (median of {args.repeat})"),
        ("run time after", f"{after['run_median_seconds'] * 1e3:.1f} ms"),
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
    for row in moving + views[:SHOWN_VIEWS]:
        print(f"  conversion of {row['shape']}: {row['from']} -> {row['to']}\n    {row['why']}")
    if len(views) > SHOWN_VIEWS:
        print(f"  ({len(views) - SHOWN_VIEWS} more free views)")
    return agree


def main(argv=None):
    args = parse(argv)
    with tempfile.TemporaryDirectory(prefix="layout-demo-") as scratch:
        folder = pathlib.Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            network, inputs = make_input(args, folder)
            cost = lower(args, network, folder)
            before, after = compare(args, inputs, folder)
        except ToolError as error:
            print(f"\n{error}", file=sys.stderr)
            return 1
        if not report(args, cost, before, after):
            print("the results differ", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
