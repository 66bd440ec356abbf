"""./dev bench --loaded: networks on a busy machine, compared with ONNX Runtime and OpenVINO.

Busy processes, one per processor by default, compute without end while runs are timed. Every runtime has its own
process, which is stopped while another one runs. In each round every runtime runs once under the same load. Times are
the median of the wall times of all runs and, in parentheses, their 90th percentile. The ratio is the median over rounds
of our median divided by that of the faster peer; rows above 1.2 are marked. With `--busy 0` no processes are started.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from layout_mlir.tools import ToolError

from . import onnx_networks
from .dynamic import read_shape
from .peers import ORACLE, OURS, Peer, add_options, parse_options, print_notes, print_table
from .rows import write_json

RUNTIMES = (OURS, ORACLE, "OpenVINO")
MOST_RATIO = 1.2
# Ends when the process that started it ends or is killed.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"


@contextlib.contextmanager
def busy_processes(count):
    """Keeps `count` busy processes running inside the `with` block."""
    started = []
    try:
        for _ in range(count):
            started.append(subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]))
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


def start_peers(path, args, threads):
    """Starts a process for each runtime, the one whose results are taken as right first. Returns the processes, and the
    rows by runtime; the row of a runtime that fails or has other results has an `error`."""
    peers, rows = [], {}
    try:
        for runtime in sorted(args.runtimes, key=lambda name: name != ORACLE):
            peer = Peer(runtime, path, args, threads, path.parent / f"cache-{runtime}")
            peers.append(peer)
            rows[runtime] = peer.row
            if runtime == ORACLE and "error" in peer.row:
                raise ToolError(f"{ORACLE} says what is right, and has no answer: {peer.row['error']}")
    except BaseException:
        end_peers(peers)
        raise
    return peers, rows


def end_peers(peers):
    for peer in peers:
        peer.end()


def measure(path, args, threads):
    """Returns the times and version of each runtime, and the ratio."""
    peers, rows = start_peers(path, args, threads)
    rounds = []
    try:
        with busy_processes(args.busy):
            for number in range(args.rounds + 1):
                round_of = [peer for peer in peers if "error" not in peer.row]
                times = {peer.runtime: peer.time_runs(args.seconds / args.rounds)
                         for peer in (round_of if number % 2 else reversed(round_of))}
                if number:  # the first round warms up
                    rounds.append({name: each for name, each in times.items() if each})
    finally:
        end_peers(peers)
    for name, row in rows.items():
        if runs := [each for times in rounds for each in times.get(name, [])]:
            row["median_seconds"] = statistics.median(runs)
            row["most_seconds"] = float(np.quantile(runs, 0.9))
    return {"runtimes": rows, "ratio": compare(rounds)}


def compare(rounds):
    """Returns the median over rounds of our time divided by that of the faster peer, or None if a side has no times."""
    ratios = []
    for times in rounds:
        medians = {name: statistics.median(each) for name, each in times.items()}
        ours = medians.pop(OURS, None)
        if ours and medians:
            ratios.append(ours / min(medians.values()))
    return statistics.median(ratios) if ratios else None


def fix_shapes(model, shapes):
    """Sets the sizes of inputs, with 1 for other dynamic sizes. Removes weights from the inputs."""
    graph = model.graph
    weights = {each.name for each in graph.initializer}
    inputs = {each.name: each for each in graph.input if each.name not in weights}
    for name, shape in shapes.items():
        rank = len(inputs[name].type.tensor_type.shape.dim) if name in inputs else None
        if rank != len(shape):
            raise ToolError(f"--shape {name}={'x'.join(map(str, shape))}: " + (
                f"the model has no such input, it has {', '.join(inputs)}" if rank is None else
                f"the input has {rank} dims"))
    kept = list(inputs.values())
    for value in kept:
        dims = value.type.tensor_type.shape.dim
        for dim, size in zip(dims, shapes.get(value.name, [max(dim.dim_value, 0) or 1 for dim in dims])):
            dim.dim_value = size
    copies = [onnx.ValueInfoProto.FromString(each.SerializeToString()) for each in kept]
    del graph.input[:]
    graph.input.extend(copies)
    return model


def load(name, args):
    if args.model:
        return fix_shapes(onnx.load(args.model), dict(args.shape))
    return onnx_networks.make(name, args.small)


def measure_network(name, args, folder):
    model = load(name, args)
    path = folder / "network.onnx"
    onnx.save(model, path)
    for number, array in enumerate(onnx_networks.draw_inputs(model)):
        np.save(folder / f"{number:02}.npy", array)
    row = {"network": name, "threads": {}}
    for threads in sorted({1, args.threads}):
        print(f"{name}, threads: {threads}", file=sys.stderr, flush=True)
        row["threads"][threads] = measure(path, args, threads)
    return row


def show_time(result):
    if "median_seconds" not in result:
        return "-"
    return f"{result['median_seconds'] * 1e3:.3g} ({result['most_seconds'] * 1e3:.3g})"


def show_ratio(ratio):
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" + (" !" if ratio > MOST_RATIO else "")


def print_rows(rows, args):
    for threads in sorted({1, args.threads}):
        lines = []
        for row in rows:
            result = row["threads"][threads]
            times = (show_time(result["runtimes"].get(name, {})) for name in RUNTIMES)
            lines.append([row["network"], *times, show_ratio(result["ratio"])])
        print_table(f"Milliseconds, threads: {threads}, busy processes: {args.busy}",
                    ["network", *RUNTIMES, "ratio"], lines)
    print_notes([{"network": row["network"],
                  "runtimes": {threads: each["runtimes"] for threads, each in row["threads"].items()}}
                 for row in rows])


def read_count(text):
    if (count := int(text)) < 0:
        raise argparse.ArgumentTypeError(f"{count} is negative")
    return count


def parse(argv=()):
    """Returns the parsed options, and the names of the networks."""
    processors = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(prog="./dev bench --loaded", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, RUNTIMES, 3, "that each runtime runs in all rounds")
    parser.add_argument("--model", metavar="FILE.onnx", type=pathlib.Path, help="only this one")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=1x3x320x320", type=read_shape,
                        help="of an input of the model; other dynamic sizes are 1")
    parser.add_argument("--busy", type=read_count, metavar="N", default=processors,
                        help="processes that compute (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="default: %(default)s")
    args = parse_options(parser, argv, RUNTIMES)
    if args.shape and not args.model:
        parser.error("--shape is of an input of --model")
    if args.model and (args.networks or args.small):
        parser.error("--model is measured alone, without --networks and --small")
    if args.rounds < 1:
        parser.error(f"--rounds: {args.rounds} is not a number from 1 on")
    return args, [args.model.stem] if args.model else onnx_networks.get_built(parser, args)


def main(argv):
    args, names = parse(argv)
    rows, failed = [], False
    for name in names:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as folder:
            try:
                rows.append(measure_network(name, args, pathlib.Path(folder)))
            except ToolError as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
        write_json(args.json, busy=args.busy, rows=rows)
    print_rows(rows, args)
    return 1 if failed else 0
