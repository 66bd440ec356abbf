"""./dev bench --compile: compile times of networks, from linalg to a callable function.

Each network of `./dev bench --peers` is imported to bytecode, which layout_mlir.compile then reads and compiles without
cached code, in its own process, on one processor and on --threads processors. The columns are the elapsed seconds, the
processor seconds including system time, the system seconds, and the peak memory of the process in addition to the
weights, with and without the pages of libraries, which processes share. The fastest of --rounds runs counts.
"""

import argparse
import multiprocessing
import os
import pathlib

import onnx

from layout_mlir import onnx_import
from layout_mlir.run import positive

from . import onnx_networks
from .compile_process import compile_once
from .rows import measure_rows, write_json


def measure(name, args, folder):
    model, path = onnx_networks.make(name, args.small), folder / "network.mlirbc"
    onnx.save(model, folder / "network.onnx")
    onnx_import.import_model(folder / "network.onnx", path)
    row = {"network": name, "weights": sum(len(each.raw_data) for each in model.graph.initializer)}
    del model
    processors = sorted(os.sched_getaffinity(0))
    for threads in sorted({1, args.threads}):
        row[threads] = min((run(path, processors[:threads]) for _ in range(args.rounds)),
                           key=lambda times: times["seconds"])
    return row


def run(path, processors):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(compile_once, (path, processors))


def show(row):
    cells = [f"{row['network']:<16}", f"{row['weights'] / 1e6:7.0f} MB"]
    for threads, times in row.items():
        if isinstance(threads, int):
            cells.append(f"{threads} processors: {times['seconds']:6.2f} s, worked {times['worked']:6.2f} "
                         f"(system {times['system']:.2f}), {times['bytes'] / 1e6:5.0f} MB, "
                         f"{(times['bytes'] - times['libraries']) / 1e6:5.0f} without libraries")
    return "  ".join(cells)


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --compile", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    onnx_networks.add_options(parser)
    parser.add_argument("--rounds", type=positive, metavar="N", default=3, help="default: %(default)s")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    names = onnx_networks.get_built(parser, args)
    rows, complete = measure_rows(names, lambda name, folder: measure(name, args, folder), show)
    write_json(args.json, rows=rows)
    return 0 if complete else 1
