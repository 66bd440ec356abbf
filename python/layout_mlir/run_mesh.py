"""The device "mesh" of run.py: MPI ranks, the blocks of tensors on them, and the bytes sent."""

from __future__ import annotations

import json
import math
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir import Layout
from layout_mlir.tools import ToolError, find_tool, run_tool

TARGET = "#layout.mesh_target<axes = [x = {ranks}], device = #layout.cpu<lanes = 16>>"
SECONDS = 600  # the time limit of a run
# Matches a tensor type whose layout is printed as an alias.
_TENSOR = re.compile(r"tensor<((?:\d+x)*)([a-z]\w*(?:<\w+>)?)(?:, (#\w+))?>")
_AXES = re.compile(r"#layout\.mesh_target<.*?\baxes *= *\[(.*?)\]", re.S)
_ALIAS = re.compile(r"^(#\w+) = (#layout\..*)$", re.M)
_MAIN = re.compile(r"func\.func (?:public )?@main\((?P<arguments>.*?)\) -> (?P<results>.*?) (?:attributes )?\{$",
                   re.S | re.M)


def get_target(ranks: int) -> str:
    return TARGET.format(ranks=ranks)


def count_ranks(target: str, wanted: int | None) -> int:
    """Returns the number of devices of a target, one for each rank. Raises ToolError if `wanted` differs."""
    axes = _AXES.search(target)
    if not axes:
        raise ToolError(f"--device mesh needs a #layout.mesh_target, but --target is {target}")
    devices = math.prod(map(int, re.findall(r"= *(\d+)", axes[1])))
    if wanted not in (None, devices):
        raise ToolError(f"--ranks is {wanted}, but --target {target} has {devices} devices: remove one of them")
    return devices


def find_runtime() -> pathlib.Path:
    """Returns the path of libLayoutMPIRuntime; raises ToolError if it or mpirun is missing."""
    path = pathlib.Path(find_tool("layout-run")).resolve().parent.parent / "lib/libLayoutMPIRuntime.so"
    if not path.exists() or not shutil.which("mpirun"):
        raise ToolError("--device mesh needs MPI: install libopenmpi-dev and openmpi-bin, and run ./dev build "
                        "LayoutMPIRuntime")
    return path


class Block:
    """An argument or result of @main: its shape, and its layout over the ranks."""

    def __init__(self, sizes: str, layout: str | None) -> None:
        self.shape = tuple(map(int, sizes.split("x")[:-1]))
        self.layout = Layout(layout) if layout else None

    def scatter(self, array: NDArray[Any], ranks: int) -> list[NDArray[Any]]:
        """Returns the memory of each rank; a tensor without a layout is replicated."""
        if self.layout is None:
            return [array] * ranks
        return list(self.layout.pack(array).reshape(ranks, -1))

    def gather(self, blocks: Sequence[NDArray[Any]]) -> NDArray[Any]:
        if self.layout is None:
            return blocks[0]
        return self.layout.unpack(np.stack(blocks).reshape(self.layout.stored_shape(self.shape)), self.shape)


def read_blocks(program: pathlib.Path) -> tuple[list[Block], list[Block]]:
    """Returns the arguments and results of @main."""
    text = run_tool("layout-opt", program, "--mlir-elide-elementsattrs-if-larger=8",
                    "--mlir-elide-resource-strings-if-larger=8")
    aliases = dict(_ALIAS.findall(text))
    for _ in aliases:  # layouts nest
        aliases = {name: re.sub(r"#\w+\b(?![.<])", lambda match: aliases.get(match[0], match[0]), layout)
                   for name, layout in aliases.items()}
    main = _MAIN.search(text)
    if not main:
        raise ToolError(f"{program} has no function @main with tensors of static sizes")
    arguments, results = ([Block(sizes, aliases.get(layout)) for sizes, _, layout in _TENSOR.findall(main[part])]
                          for part in ("arguments", "results"))
    return arguments, results


def lower(assigned: pathlib.Path, folder: pathlib.Path) -> int:
    """Lowers the program of a rank; returns the number of bytes that the conversions are planned to send."""
    placed = folder / "placed.mlirbc"
    run_tool("layout-opt", assigned, "--layout-mesh-replicate", "--emit-bytecode", "-o", placed)
    run_tool("layout-opt", placed, f"--layout-print-messages=format=json output={folder / 'messages.json'}",
             "-o", "/dev/null")
    run_tool("layout-opt", placed, "--layout-to-mpi=cpu=host", "--emit-bytecode", "--verify-each=false",
             "-o", folder / "rank.mlirbc")
    plans: list[dict[str, Any]] = json.loads((folder / "messages.json").read_text())
    return sum(plan["bytes_sent"] for plan in plans)


def run_ranks(command: Sequence[object], ranks: int, hostfile: str | None, counts: pathlib.Path) -> None:
    """Runs a shell command on all ranks; raises ToolError if one fails, which ends all."""
    environment = {**os.environ, "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                   "OMPI_MCA_mpi_yield_when_idle": "1", "LAYOUT_MPI_COUNTS": str(counts)}
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    machines: list[object] = ["--hostfile", hostfile, "-x", "LAYOUT_MPI_COUNTS"] if hostfile else ["--oversubscribe"]
    if not hostfile:
        environment["OMPI_MCA_plm_rsh_agent"] = "/bin/false"  # prevents mpirun from contacting other machines
    done = subprocess.run(["mpirun", *map(str, machines), "--timeout", str(SECONDS), "-np", str(ranks),
                           *map(str, command)], env=environment, text=True, capture_output=True)
    if done.returncode:
        raise ToolError(f"mpirun -np {ranks}: exit status {done.returncode}\n{done.stderr[-4000:]}")


def run(inputs: Sequence[pathlib.Path], folder: pathlib.Path, ranks: int, hostfile: str | None, repeat: int,
        threads: int) -> tuple[list[NDArray[Any]], dict[str, Any]]:
    """Runs the program on all ranks. Returns the gathered results, and the bytes, messages and seconds of one run."""
    runtime = find_runtime()
    arguments, results = read_blocks(folder / "placed.mlirbc")
    for number, (path, block) in enumerate(zip(inputs, arguments, strict=True)):
        for rank, memory in enumerate(block.scatter(np.load(path), ranks)):
            np.save(folder / f"block-{number}-{rank}.npy", np.ascontiguousarray(memory))
    words = ['exec', '"$1"', f'"{folder}/rank.mlirbc"', f'--shared-libs="{runtime}"', f"--threads={threads}",
             "--warmup=1", f"--repeat={repeat}", f'--json="{folder}/rank-$r.json"',
             *[f'--input="{folder}/block-{number}-$r.npy"' for number in range(len(arguments))],
             *[f'--output="{folder}/part-{number}-$r.npy"' for number in range(len(results))]]
    counts = folder / "sent"
    for path in folder.glob("sent.*"):  # of an earlier run in a kept folder
        path.unlink()
    run_ranks(["sh", "-c", f"r=$OMPI_COMM_WORLD_RANK; {' '.join(words)}", "rank", find_tool("layout-run")], ranks,
              hostfile, counts)
    outputs = [block.gather([np.load(folder / f"part-{number}-{rank}.npy") for rank in range(ranks)])
               for number, block in enumerate(results)]
    sent = {"messages": 0, "bytes": 0}
    for rank in range(ranks):
        path = pathlib.Path(f"{counts}.{rank}")
        if path.exists():  # absent if nothing is sent
            for name, count in json.loads(path.read_text()).items():
                sent[name] += count
    runs = [json.loads((folder / f"rank-{rank}.json").read_text()) for rank in range(ranks)]
    return outputs, {"bytes": sent["bytes"] / (repeat + 1), "messages": sent["messages"] / (repeat + 1),
                     "seconds": max(each["run_median_seconds"] for each in runs)}
