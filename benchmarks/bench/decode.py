"""./dev bench --decode: matrix-vector products, as in the decoding of language models, compared with memory bandwidth.

Such products read each weight once. Their time on one thread is compared with a STREAM triad and with a loop that only
reads, at four positions at a time, both on arrays larger than the caches, and with ONNX Runtime on the same model. All
run alternately in one process. GB/s are medians; a share is the median over rounds of the program's GB/s divided by
those of the loop. Bytes are those of weights, caches, inputs and results, counted once, and of one row of an embedding;
the triad counts three arrays, as STREAM does. Products are chained, because a model that fits the caches would not
measure memory. Times are printed only after the results agree with those of ONNX Runtime.
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import time

import numpy as np
import onnx

from layout_mlir.run import positive

from . import onnx_networks
from .pairs import load_pair
from .peers import CACHE_FILE, ORACLE, OURS
from .rows import measure_rows, write_json

LOOPS = """void triad(float *restrict a, const float *restrict b, const float *restrict c, long size) {
  for (long i = 0; i < size; ++i)
    a[i] = b[i] + 3.0f * c[i];
}
unsigned read_all(const unsigned *a, long size) {
  unsigned sum = 0;
  long part = size / 4;
  for (long i = 0; i < part; ++i)
    sum ^= a[i] ^ a[i + part] ^ a[i + 2 * part] ^ a[i + 3 * part];
  return sum;
}
"""
LOOP_NAMES = "triad", "reading"
ONE_BILLION = {"hidden": 2048, "heads": 32, "groups": 8, "intermediate": 8192, "vocabulary": 8000}


def products(*widths, times):
    """Returns a builder of a chain of matrix-vector products; each result is the vector of the next product."""
    def build(g):
        x = g.input("x", 1, widths[-1], width=widths[-1])
        for width in widths * times:
            x = g.linear(x, width, bias=False)
        return [x]
    return build


def decoder(**sizes):
    return lambda g: onnx_networks.llama_decode(g, **sizes)


# Llama 1B has 16 of these layers, and a larger vocabulary.
CASES = {
    "2048x2048, 16 in a row": products(2048, times=16),
    "2048x8192 and back, 4 in a row": products(8192, 2048, times=4),
    "llama_decode": decoder(),
    "two layers of Llama 1B": decoder(layers=2, **ONE_BILLION),
}
SMALL = {"61x33, 3 in a row": products(61, 33, times=3),
         "llama_decode": decoder(**onnx_networks.SMALL[onnx_networks.llama_decode])}


def load_loops(folder):
    """Returns {name: (call, bytes of one call)} for the loops."""
    source, library = folder / "loops.c", folder / "loops.so"
    source.write_text(LOOPS)
    subprocess.run([os.environ.get("CC", "cc"), "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library],
                   check=True)
    loops, cache = ctypes.CDLL(str(library)), pathlib.Path(CACHE_FILE)
    size = 4 * (int(cache.read_text().rstrip("K\n")) * 1024 if cache.exists() else 32 << 20)
    arrays = [np.full(size // 4, value, np.float32) for value in (0, 1, 2)]

    def bind(function, operands):
        arguments = [*(array.ctypes.data_as(ctypes.c_void_p) for array in operands), ctypes.c_long(size // 4)]
        return lambda: function(*arguments), len(operands) * size

    return {"triad": bind(loops.triad, arrays), "reading": bind(loops.read_all, arrays[:1])}


def count_bytes(model):
    """Returns the bytes that a run reads or writes; one row of each embedding counts."""
    tables = {node.input[0] for node in model.graph.node if node.op_type in ("Identity", "Gather")}
    rest = sum(len(each.raw_data) - len(each.raw_data) // each.dims[0] for each in model.graph.initializer
               if each.name in tables)
    return onnx_networks.count(model)[1] - rest


def load(name, build, folder):
    """Returns {program: function that runs the model} for this project and ONNX Runtime, and the bytes that one run
    reads and writes. Raises ToolError if the results differ."""
    graph = onnx_networks.Graph(name)
    model = onnx.shape_inference.infer_shapes(graph.model(*build(graph)), strict_mode=True)
    return load_pair(model, folder / "model.onnx"), count_bytes(model)


def measure(name, cases, args, folder):
    programs, size = load(name, cases[name], folder)
    calls = {**load_loops(folder), **{each: (call, size) for each, call in programs.items()}}
    for call, _ in calls.values():
        call()
    speeds = {each: [] for each in calls}
    for _ in range(args.rounds):
        for each, (call, moved) in calls.items():
            start = time.perf_counter()
            call()
            speeds[each].append(moved / (time.perf_counter() - start) / 1e9)
    return {"case": name, "bytes": size,
            "gb_per_second": {each: float(np.median(speed)) for each, speed in speeds.items()},
            "share": {each: {loop: float(np.median(np.divide(speeds[each], speeds[loop]))) for loop in LOOP_NAMES}
                      for each in programs}}


def show(row):
    speed, share = row["gb_per_second"], row["share"]
    return (f"{row['case']:<32}{row['bytes'] / 1e6:>6.0f}" + "".join(f"{speed[loop]:>9.1f}" for loop in LOOP_NAMES)
            + "".join(f"{speed[each]:>14.1f}" + "".join(f"{part:>6.2f}" for part in shares.values())
                      for each, shares in share.items()))


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --decode", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--small", action="store_true", help="models that fit the caches: to try the command")
    parser.add_argument("--rounds", type=positive, default=30, help="(default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the results there")
    args = parser.parse_args(argv)
    cases = SMALL if args.small else CASES
    names = [name for name in cases if args.only in name]
    if not names:
        parser.error(f"no case matches '{args.only}'")
    print(f"{'GB/s; shares of the two loops':<32}{'MB':>6}" + "".join(f"{loop:>9}" for loop in LOOP_NAMES)
          + "".join(f"{each:>14}{'shares':>12}" for each in (OURS, ORACLE)), flush=True)
    rows, complete = measure_rows(names, lambda name, folder: measure(name, cases, args, folder), show)
    write_json(args.json, rows=rows)
    return 0 if complete else 1
