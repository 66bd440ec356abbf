"""./dev bench --engines: the storage that the rules of ExecuTorch's Vulkan delegate and of ncnn choose.

The rules are ours, from what the projects publish, on the networks of this project:

- ExecuTorch: convolutions, poolings and means take textures that pack channels, linear layers take textures that pack
  the width, other ops follow their operands, and a view is in step with its consumer. A conversion is a transition
  between textures. docs/layoutbench.md has captured answers of the delegate itself for other sizes.
- ncnn: a tensor is a buffer with 8 channels packed if their number is a multiple of 8, else 4 or 1. The host has plain
  tensors, so a packed result is unpacked. A conversion is a packing.

The optimum is that of `layout-assign`, with images and buffers of `#layout.opencl`. MB are read and written, at full
size. Padding and constants cost nothing.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import re

from layout_mlir.tools import run_tool
from networks import NETWORKS

from .image_reads import shapes
from .images import TARGET
from .rows import measure_rows, write_json

OP = re.compile(r"^ *(%\w+) = (linalg\.\w+|tensor\.(?:pad|collapse_shape|expand_shape)) (.*)$", re.MULTILINE)
INS = re.compile(r"ins\(([^:]*) : ([^)]*)\)")
NAMES = ("mobilenet_v2", "resnet50")


@dataclasses.dataclass
class Op:
    kind: str
    result: str
    operands: list[tuple[str, list[int]]]  # activations with their sizes


def read_ops(text):
    """Returns the names of the arguments, the ops on activations, and the name and the sizes of the result."""
    given = {name: shapes(sizes)[0] for name, sizes in re.findall(r"(%arg\d+): (tensor<[^>]*>)", text)}
    names = list(given)
    known, ops = set(names), []
    for result, kind, rest in OP.findall(text):
        found = INS.search(rest)
        if found:
            operands = list(zip(found[1].split(", "), shapes(found[2])))
        else:  # a view of the first operand
            name = rest.split(" ", 1)[0]
            operands = [(name, (shapes(rest) or [given.get(name)])[0])]
        operands = [(name, sizes) for name, sizes in operands if name in known]
        if operands:
            ops.append(Op(kind, result, operands))
            known.add(result)
    (result, sizes), = re.findall(r"return (%\w+) : (tensor<.*>)", text)
    return names, ops, (result, shapes(sizes)[0])


def needs_of_executorch(ops):
    """Returns the packed dim of the operands of each op."""
    needs = {}
    for op in ops:
        if "matmul" in op.kind:
            needs[op.result] = "width"
        elif "conv" in op.kind or "pooling" in op.kind:
            needs[op.result] = "channels"
    for op in reversed(ops):  # a view is in step with its consumer
        if op.kind.startswith("tensor.") and op.result not in needs:
            users = [needs[each.result] for each in ops if each.result in needs
                     and op.result in [name for name, _ in each.operands]]
            needs[op.result] = users[0] if users else None
    return needs


def count_texture(sizes, packed):
    """Returns the bytes of the texels of a tensor with four f32 in each."""
    sizes = [1] * (4 - len(sizes)) + sizes
    dim = 1 if packed == "channels" else 3
    return 16 * math.prod(-(-size // 4) if d == dim else size for d, size in enumerate(sizes))


def convert_for_executorch(names, ops, result):
    """Returns the bytes of each transition."""
    needs, stored, moved = needs_of_executorch(ops), {}, []
    for op in ops:
        first = stored.get(op.operands[0][0])
        packed = needs.get(op.result) or first or "channels"
        for name, sizes in op.operands:
            # A graph input has what its consumer takes.
            if stored.setdefault(name, packed) != packed:
                moved.append(count_texture(sizes, stored[name]) + count_texture(sizes, packed))
        stored[op.result] = packed
    return moved


def count_pack(sizes):
    """Returns the number of channels that ncnn packs; a batch of one has no dim."""
    channels = sizes[1]
    return 8 if channels % 8 == 0 else 4 if channels % 4 == 0 else 1


def convert_for_ncnn(names, ops, result):
    """Returns the bytes of each packing."""
    ends = [(sizes, count_pack(sizes), 1) for op in ops for name, sizes in op.operands if name in names]
    ends.append((result[1], count_pack(result[1]), 1))
    return [2 * 4 * math.prod(sizes) for sizes, device, host in ends if device != host]


RULES = {"ExecuTorch": convert_for_executorch, "ncnn": convert_for_ncnn}


def measure(name, folder, args):
    path = folder / "net.mlir"
    NETWORKS[name].write(path, False, weights="splat")
    text = run_tool("layout-opt", path, "--layout-canonicalize")
    row = {"network": name}
    for rule, convert in RULES.items():
        moved = convert(*read_ops(text))
        row[rule] = {"conversions": len(moved), "bytes": sum(moved)}
    table = folder / "cost.json"
    run_tool("layout-opt", path, f"--layout-assign=target={{{args.target}}}",
             f"--layout-print-cost=format=json output={table} target={{{args.target}}}", "-o", "/dev/null")
    moved = json.loads(table.read_text())["conversions"]
    row["optimum"] = {"conversions": sum(each["kind"] != "view" for each in moved["rows"]),
                      "bytes": moved["bytes_read"] + moved["bytes_written"]}
    return row


def show(row):
    return f"| {row['network']} | " + " | ".join(
        f"{row[rule]['conversions']} | {row[rule]['bytes'] / 1e6:.3f}" for rule in (*RULES, "optimum")) + " |"


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --engines", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", choices=NAMES, help=f"may be repeated (default: {', '.join(NAMES)})")
    parser.add_argument("--target", default=TARGET, help=f"default: {TARGET}")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    print(f"| network | {' | MB | '.join((*RULES, 'optimum'))} | MB |\n|---|{'---:|' * 6}", flush=True)
    rows, complete = measure_rows(args.network or NAMES, lambda name, folder: measure(name, folder, args), show)
    write_json(args.json, target=args.target, rows=rows)
    return 0 if complete else 1
