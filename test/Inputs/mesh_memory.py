"""usage: mesh_memory.py NETWORK RANKS..

Runs a network, `--small` or a case of `./dev bench --mesh`, on ranks, and measures the memory of its program including
the blocks of arguments and constants: at most what the decision states, and not much less. Measures the fastest
decision, and one with a limit halfway to the minimum. A rank writes its own measurement.
"""

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "benchmarks"))
from bench.mesh import CASES, DEVICE  # noqa: E402
from layout_mlir import run_mesh
from layout_mlir.tools import ToolError, run_tool
from mesh_programs import RUNTIME, start
from networks import NETWORKS

COUNTED = ("malloc", "aligned_alloc", "free")
ANY = 1 << 50
CLOSE = 1.05


def compile_counted(lowered, library):
    """Returns a shared library whose allocation functions are those of count_memory.c."""
    ir = library.with_suffix(".ll")
    subprocess.run(["mlir-translate-22", "--mlir-to-llvmir", lowered, "-o", ir], check=True)
    ir.write_text(re.sub(rf"@({'|'.join(COUNTED)})\(", r"@counted_\1(", ir.read_text()))
    subprocess.run(["clang-22", "-O1", "-w", "-shared", "-fPIC", ir, pathlib.Path(__file__).parent / "count_memory.c",
                    RUNTIME, f"-Wl,-rpath,{RUNTIME.parent}", "-o", library], check=True)


def decide(text_path, target, folder):
    """Returns the statistics of a decision, and its program for a rank, with counters and the blocks of arguments."""
    run_tool("layout-opt", text_path, f"--layout-assign=target={{{target}}}", "-o", folder / "assigned.mlir")
    text = (folder / "assigned.mlir").read_text()
    assignment = {name: int(value) for name, value in
                  re.findall(r"(\w+) = (\d+)", re.search(r"layout\.assignment = \{(.*?)\}", text)[1])}
    placed, lowered = folder / "placed.mlir", folder / "rank.mlir"
    run_tool("layout-opt", folder / "assigned.mlir", "--layout-mesh-replicate", "-o", placed)
    run_tool("layout-opt", placed, "--layout-to-mpi=cpu=host parallel-loops=false", "-o", lowered)
    arguments, _ = run_mesh.read_blocks(placed)
    compile_counted(lowered, folder / "librank.so")
    return assignment, arguments


def measure(assignment, arguments, folder, ranks, dtypes):
    """Returns the memory that each rank uses including the blocks of its arguments and all constants."""
    given = np.zeros(ranks, int)
    for number, (block, dtype) in enumerate(zip(arguments, dtypes, strict=True)):
        for rank, memory in enumerate(block.scatter(np.zeros(block.shape, dtype), ranks)):
            np.save(folder / f"block-{number}-{rank}.npy", np.ascontiguousarray(memory))
            given[rank] += memory.nbytes
    done = start([sys.executable, __file__, folder, len(arguments)], ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    taken = [json.loads((folder / f"taken-{rank}.json").read_text()) for rank in range(ranks)]
    return given + assignment.get("weight_bytes", 0) + np.array(taken)


def be_rank(folder, count):
    rank = os.environ["OMPI_COMM_WORLD_RANK"]
    library = ctypes.CDLL(f"{folder}/librank.so")
    blocks = [np.load(f"{folder}/block-{number}-{rank}.npy") for number in range(count)]
    described = []
    for block in blocks:
        strides = [n // block.itemsize for n in block.strides]
        words = (ctypes.c_int64 * (3 + 2 * block.ndim))(block.ctypes.data, block.ctypes.data, 0, *block.shape, *strides)
        described.append(words)
    results = (ctypes.c_int64 * 256)()
    library._mlir_ciface_main(results, *described)
    most = ctypes.c_size_t.in_dll(library, "counted_most").value
    pathlib.Path(folder, f"taken-{rank}.json").write_text(str(most))


def decide_within(limit, most, path, target, folder):
    """Returns the limit and the decision within it. If there is none, the limit moves halfway from the proven minimum
    to `most`."""
    while True:
        try:
            return limit, *decide(path, target(limit), folder)
        except ToolError as error:
            least = int(re.search(r"needs at least (\d+) bytes", str(error))[1])
            limit = (least + most) // 2


def main(network, *counts):
    for ranks in map(int, counts):
        def target(memory, links=f"axes = [x = {ranks}], device = {DEVICE}, byte_cost = [0], message_cost = [0]"):
            return f"#layout.mesh_target<{links}, memory = {memory}>"

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            path = folder / "network.mlir"
            if case := CASES.get(network):
                NETWORKS[case.network].write(path, **case.options)
            else:
                NETWORKS[network].write(path, small=True)
            inputs = re.search(r"func\.func @main\((.*?)\)", path.read_text(), re.S)[1]
            dtypes = [{"f32": np.float32, "i64": np.int64, "i32": np.int32}[each]
                      for each in re.findall(r"tensor<(?:\d+x)*(\w+)>", inputs)]
            predicted = None
            for memory in (ANY, 1):
                memory, assignment, arguments = decide_within(memory, predicted, path, target, folder)
                taken, predicted = measure(assignment, arguments, folder, ranks, dtypes).max(), assignment["memory_bytes"]
                limit = "none" if memory == ANY else memory
                print(f"{network:<14}{ranks:>4}{limit:>10}{predicted:>12}{taken:>12}{taken / predicted:>8.3f}", flush=True)
                assert taken <= predicted <= min(memory, CLOSE * taken), (taken, predicted, memory)


if __name__ == "__main__":
    if len(sys.argv) > 2 and pathlib.Path(sys.argv[1]).is_dir():
        be_rank(sys.argv[1], int(sys.argv[2]))
    else:
        main(*sys.argv[1:])
