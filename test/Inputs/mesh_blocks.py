"""Runs programs over a mesh, compiled to a library, on MPI ranks that numpy checks.

A rank takes its blocks of the arguments as numpy slices, and compares its results with its block of numpy's result. Run
as a program, this module is such a rank.
"""

import ctypes
import os
import pathlib
import pickle
import sys

import numpy as np
from mesh_programs import RUNTIME, Case, Memory, compile_library, start

ELEMENTS = {"float32": "f32", "float16": "f16", "float64": "f64", "int8": "i8", "int32": "i32"}
# Looks up rows of the table %a0 by the indices %a1.
ROWS_OF_TABLE = """%e = tensor.empty() : {r}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
       iterator_types = ["parallel", "parallel"]}} ins(%a1 : {1}) outs(%e : {r}) {{
  ^bb0(%x: i32, %y: f32):
    %i = arith.index_cast %x : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %a0[%i, %j] : {0}
    linalg.yield %v : f32
  }} -> {r}"""


class Program:
    """A function. Arguments are arrays with their distributions and optional tiles, as in Case. Aliases are (name,
    text) or (name, distribution, shape, element type); `tiles` are those of the result."""

    def __init__(self, text, arguments, result, expected, aliases=()):
        self.arguments = [(np.asarray(array), *self.place(array, *rest)) for array, *rest in arguments]
        element = ELEMENTS[self.arguments[0][0].dtype.name]
        tile, names = None, {}
        for alias in aliases:
            if isinstance(alias[0], int):
                tile = alias
            elif isinstance(alias[1], str):
                names[alias[0]] = alias[1]
            else:
                name, distribution, shape, *other = alias
                names[name] = Case(distribution, distribution, shape, *(other or [element])).type(0)
        self.result, self.expected = self.place(expected, result, tile)[0], expected
        # The element type in which the program computes.
        wide = ELEMENTS[expected.dtype.name] if element == "i8" else element
        self.result.element = wide
        self.dtype = np.dtype(next(name for name, text in ELEMENTS.items() if text == wide))
        types = [case.type(0) for _, case in self.arguments]
        names["r"] = self.result.type(0)
        self.body = text.format(*types, **names)
        self.types = types, names["r"]

    @staticmethod
    def place(array, distribution, tile=None):
        return [Case(distribution, distribution, np.shape(array), ELEMENTS.get(np.asarray(array).dtype.name, "f32"),
                     (tile, tile))]

    def function(self, name):
        types, result = self.types
        arguments = ", ".join(f"%a{i}: {text}" for i, text in enumerate(types))
        return f"func.func @{name}({arguments}) -> {result} {{\n  {self.body}\n  return %r : {result}\n}}\n"


def run_programs(folder, programs, seconds=120):
    folder = pathlib.Path(folder)
    text = "".join(each.function(f"f{i}") for i, each in enumerate(programs))
    library = compile_library(folder, text, "parallel-loops=false")
    (folder / "programs.pickle").write_bytes(pickle.dumps(programs))
    ranks = programs[0].result.ends[0].devices
    done = start([sys.executable, __file__, library, folder], ranks, seconds, LD_PRELOAD=str(RUNTIME))
    assert done.returncode == 0, done.stdout + done.stderr


def be_rank(library, folder):
    rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
    functions = ctypes.CDLL(library)
    for i, program in enumerate(pickle.loads((pathlib.Path(folder) / "programs.pickle").read_bytes())):
        kept, memories = [], []
        for array, case in program.arguments:
            positions, count = case.positions(0)
            # Memory beside the block has garbage, which must not affect the result.
            values = np.full(count, np.nan if array.dtype.kind == "f" else 77).astype(array.dtype)
            piece = array[case.ends[0].block(rank, case.shape)]
            values[positions[tuple(slice(n) for n in piece.shape)]] = piece
            kept.append(values)
            memories.append(Memory(values.ctypes.data, values.ctypes.data, 0, values.size, 1))
        result, case = Memory(), program.result
        getattr(functions, f"_mlir_ciface_f{i}")(ctypes.byref(result), *map(ctypes.byref, memories))
        positions, count = case.positions(0)
        assert (result.size, result.stride) == (count, 1), (program.body, result.size, count)
        address = result.aligned + result.offset * program.dtype.itemsize
        got = np.frombuffer((ctypes.c_char * (count * program.dtype.itemsize)).from_address(address), program.dtype)
        expected = program.expected[case.ends[0].block(rank, case.shape)]
        np.testing.assert_allclose(got[positions[tuple(slice(n) for n in expected.shape)]], expected, rtol=1e-6,
                                   err_msg=f"rank {rank}:\n{program.function(f'f{i}')}")


if __name__ == "__main__":
    be_rank(*sys.argv[1:])
