"""Runs conversions over a mesh, compiled to a library, on MPI ranks that numpy checks.

A rank takes its block of a tensor as a numpy slice, runs the function, and compares the result with its block of the
target. Run as a program, this module is such a rank.
"""

import ctypes
import json
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
from mesh_ranks import Distribution, distribute

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i16": np.int16,
          "i32": np.int32, "i64": np.int64}


RUNTIME = pathlib.Path(os.environ["LAYOUT_BUILD_DIR"]) / "lib/libLayoutMPIRuntime.so"


class Case:
    """A conversion; `tiles` has, for source and target, a dim that blocks store innermost and its tile size, or nothing
    for row-major blocks. Positions of the target without an element have `padding`, or any value."""

    def __init__(self, source, target, shape, element="f32", tiles=(None, None), padding=None):
        self.ends, self.shape, self.element, self.tiles = (source, target), tuple(shape), element, tiles
        self.padding = padding

    def text(self, end):
        text, tile = self.ends[end].text(), self.tiles[end]
        if not tile:
            return text
        dims = "ABCDEFG"[: len(self.shape)]
        d, size = tile
        return text.replace("]]>", f']], local = #layout.blocked<"{dims}" to "{dims}{size}{dims[d].lower()}">>', 1)

    def type(self, end):
        text = self.text(end)
        if end and self.padding is not None:
            text = f"#layout.padded<{text}, {self.padding} : {self.element}>"
        return f"tensor<{'x'.join([*map(str, self.shape), self.element])}, {text}>"

    def function(self, name):
        return (f"func.func @{name}(%a: {self.type(0)}) -> {self.type(1)} {{\n"
                f"  %0 = layout.convert %a : {self.type(0)} to {self.type(1)}\n"
                f"  return %0 : {self.type(1)}\n}}\n")

    def positions(self, end):
        """Returns the position of each index of a block in its memory, and the size of that memory."""
        distribution, tile = self.ends[end], self.tiles[end]
        shape = distribution.local_shape(self.shape)
        if not tile:
            count = int(np.prod(shape, dtype=int))
            return np.arange(count).reshape(shape), count
        d, size = tile
        tiled = list(shape)
        tiled[d] = -(-shape[d] // size)
        count = int(np.prod([*tiled, size], dtype=int))
        stored = np.arange(count).reshape([*tiled, size])
        whole = np.moveaxis(stored, -1, d + 1).reshape([*tiled[:d], tiled[d] * size, *tiled[d + 1:]])
        return whole[tuple(slice(n) for n in shape)], count


def compile_library(folder, text, options=""):
    """Returns a shared library of a module over a mesh."""
    from layout_mlir.tools import run_tool
    folder = pathlib.Path(folder)
    module, lowered, ir, library = (folder / name for name in ("m.mlir", "low.mlir", "m.ll", "libm.so"))
    module.write_text(text)
    run_tool("layout-opt", module, f"--layout-to-mpi={options}", "-o", lowered)
    subprocess.run(["mlir-translate-22", "--mlir-to-llvmir", lowered, "-o", ir], check=True)
    subprocess.run(["clang-22", "-O1", "-w", "-shared", "-fPIC", ir, RUNTIME, f"-Wl,-rpath,{RUNTIME.parent}",
                    "-o", library], check=True)
    return library


def start(command, ranks, seconds=120, **environment):
    """Runs a command on ranks of this machine; kills all of them after `seconds`."""
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_plm_rsh_agent="/bin/false",
               OMPI_MCA_mpi_yield_when_idle="1",
               OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", **environment)
    return subprocess.run(["mpirun", "--oversubscribe", "--timeout", str(seconds), "-np", str(ranks), *map(str, command)],
                          env=env, text=True, capture_output=True, timeout=seconds + 20)


def prepare(folder, cases, options=""):
    """Returns the command of a rank that runs conversions, and the environment that counts its messages."""
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    library = compile_library(folder, "".join(case.function(f"f{i}") for i, case in enumerate(cases)), options)
    with open(folder / "cases.pickle", "wb") as file:
        pickle.dump(cases, file)
    counter = folder / "libcount.so"
    subprocess.run(["mpicc", "-shared", "-fPIC", "-O1", pathlib.Path(__file__).parent / "count_messages.c",
                    "-o", counter], check=True)
    # The counter loads MPI, so it comes first.
    return [sys.executable, __file__, library, folder], {"LD_PRELOAD": f"{counter}:{RUNTIME}"}


def run_cases(folder, cases, options="", seconds=120):
    """Runs conversions and returns the bytes that all ranks sent for each of them."""
    command, environment = prepare(folder, cases, options)
    ranks = cases[0].ends[0].devices
    done = start(command, ranks, seconds, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    sent, received = ([json.loads((pathlib.Path(folder) / f"{name}{rank}.json").read_text()) for rank in range(ranks)]
                      for name in ("sent", "received"))
    assert sum(map(sum, sent)) == sum(map(sum, received))
    return np.array(sent).sum(axis=0)


class Memory(ctypes.Structure):
    """A 1-D memref descriptor."""
    _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
                ("size", ctypes.c_int64), ("stride", ctypes.c_int64)]


def call(function, values, count, dtype):
    """Returns the result of a function of one block."""
    argument = Memory(values.ctypes.data, values.ctypes.data, 0, values.size, 1)
    result = Memory()
    function(ctypes.byref(result), ctypes.byref(argument))
    assert (result.size, result.stride, result.offset) == (count, 1, 0), (result.size, count)
    data = np.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(result.aligned), dtype).copy() \
        if count else np.zeros(0, dtype)
    if result.allocated:
        ctypes.CDLL(None).free(ctypes.c_void_p(result.allocated))
    return data


def be_rank(library, folder):
    rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
    functions, counter = ctypes.CDLL(library), ctypes.CDLL(None)
    cases = pickle.loads((pathlib.Path(folder) / "cases.pickle").read_bytes())
    rng = np.random.default_rng(3)
    counts = {name: [] for name in ("sent", "received")}
    totals = {name: ctypes.c_longlong.in_dll(counter, f"mesh_{name}") for name in counts}
    for i, case in enumerate(cases):
        source, target = case.ends
        dtype = np.dtype(DTYPES[case.element])
        whole, pieces = distribute(source, case.shape, dtype, rng)
        positions, count = case.positions(0)
        # Padding has garbage, which must not affect the result.
        values = np.full(count, 77).astype(dtype)
        piece = pieces[rank]
        values[positions[source.within(rank, case.shape)]] = piece
        before = {name: total.value for name, total in totals.items()}
        positions, count = case.positions(1)
        got = call(getattr(functions, f"_mlir_ciface_f{i}"), values, count, dtype)
        for name, total in totals.items():
            counts[name].append(total.value - before[name])
        expected = whole[target.block(rank, case.shape)]
        what = f"rank {rank}: {case.type(0)} to {case.type(1)}"
        places = positions[target.within(rank, case.shape)]
        np.testing.assert_array_equal(got[places], expected, err_msg=what)
        if case.padding is not None:
            np.testing.assert_array_equal(np.delete(got, places.ravel()), dtype.type(case.padding), err_msg=what)
    for name, values in counts.items():
        (pathlib.Path(folder) / f"{name}{rank}.json").write_text(json.dumps(values))


if __name__ == "__main__":
    be_rank(*sys.argv[1:])
