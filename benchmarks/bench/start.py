"""./dev bench --start: seconds and memory from the start of a process to the first result of a model.

Each process loads the interpreter, the library and the ONNX file, and runs the model once. `cold` compiles it, and
compares it with ONNX Runtime in a process of its own; `cached` uses the program that a former process compiled. Rounds
alternate between these and ONNX Runtime. Seconds are medians; the ratio is the median over rounds of the time of ours
divided by that of ONNX Runtime. `model` is the shortest time in seconds from the file to the first result in further
processes, which have loaded NumPy, onnx and the library or ONNX Runtime before. Megabytes are the peak of the process,
what is resident after the first result, and how much of that are unchanged pages of files, mostly libraries, which
processes share.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx

from layout_mlir.run import positive
from layout_mlir.tools import ToolError

from . import onnx_networks
from .dynamic import read_shape
from .loaded import fix_shapes
from .peers import ORACLE
from .rows import measure_rows, write_json

PROGRAM = pathlib.Path(__file__).parent / "start_process.py"
COLUMNS = ("cold", "cached", ORACLE)
MEMORY = ("peak", "resident", "files")


def run(runtime, folder, cache, processors):
    """Returns the seconds until the first result of a new process, and its memory in bytes. Its seconds from the file
    to the result are `model`, of a second process that has loaded its packages before."""
    loaded = measure_process(f"{runtime}:loaded", folder, cache, processors)
    return {**measure_process(runtime, folder, cache, processors), "model": loaded["model"]}


def measure_process(runtime, folder, cache, processors):
    # Installed packages have compiled modules, those of a source tree may have none.
    environment = {**os.environ, "LAYOUT_CACHE": str(cache), "PYTHONPYCACHEPREFIX": str(folder / "modules")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, "-P", PROGRAM, runtime, folder / "network.onnx",
                           *sorted(folder.glob("*.npy"))], stdout=subprocess.PIPE, text=True, env=environment,
                          preexec_fn=lambda: os.sched_setaffinity(0, processors)) as process:
        process.stdout.readline()
        seconds = time.perf_counter() - begin
        memory = process.stdout.readline()
    if process.returncode:
        raise ToolError(f"the process of {runtime} ended with status {process.returncode}")
    return {"seconds": seconds, **json.loads(memory)}


def measure(name, args, folder):
    model = fix_shapes(onnx.load(args.model), dict(args.shape)) if args.model else onnx_networks.make(name, args.small)
    onnx.save(model, folder / "network.onnx")
    for number, array in enumerate(onnx_networks.draw_inputs(model)):
        np.save(folder / f"{number:02}.npy", array)
    processors = sorted(os.sched_getaffinity(0))[:args.processors]
    kept, rounds = folder / "cache", []
    for _ in range(args.rounds + 1):
        rounds.append(dict(zip(COLUMNS, (run("layout", folder, "", processors), run("layout", folder, kept, processors),
                                         run("onnxruntime", folder, "", processors)))))
    del rounds[0]  # filled the caches
    row = {"network": name, "weights": sum(len(each.raw_data) for each in model.graph.initializer)}
    for column in COLUMNS:
        row[column] = {key: statistics.median(each[column][key] for each in rounds) for key in ("seconds", *MEMORY)}
        row[column]["model"] = min(each[column]["model"] for each in rounds)
        row[column]["ratio"] = statistics.median(each[column]["seconds"] / each[ORACLE]["seconds"] for each in rounds)
    return row


def show(row):
    cells = [f"{row['network']:<20}{row['weights'] / 1e6:>8.1f}"]
    for column in COLUMNS:
        each = row[column]
        cells.append(f"{each['seconds']:>14.3f}{each['ratio']:>7.2f}{each['model']:>8.3f}"
                     + "".join(f"{each[key] / 1e6:>9.0f}" for key in MEMORY))
    return "".join(cells)


def main(argv):
    processors = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(prog="./dev bench --start", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    onnx_networks.add_names(parser)
    parser.add_argument("--small", action="store_true", help="networks that are built, as in the tests")
    parser.add_argument("--model", metavar="FILE.onnx", type=pathlib.Path, help="only this one")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=1x3x320x320", type=read_shape,
                        help="of an input of the model; other dynamic sizes are 1")
    parser.add_argument("--processors", type=positive, metavar="N", default=processors,
                        help="that a process may use (default: %(default)s)")
    parser.add_argument("--rounds", type=positive, metavar="N", default=7, help="default: %(default)s")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    names = [args.model.stem] if args.model else onnx_networks.get_built(parser, args)
    head = f"{'ratio':>7}{'model':>8}" + "".join(f"{each:>9}" for each in MEMORY)
    print(f"{'seconds, MB':<20}{'weights':>8}" + "".join(f"{each:>14}{head}" for each in COLUMNS), flush=True)
    rows, complete = measure_rows(names, lambda name, folder: measure(name, args, folder), show)
    write_json(args.json, rows=rows)
    return 0 if complete else 1
