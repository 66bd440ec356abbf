"""./dev bench --instructions: instructions per multiply-add in the kernels of networks.

Networks with constant weights are lowered to kernels for a device with images and serialized to SPIR-V, once for the
target and once with one pixel per work-item and 64-bit indices. `spirv-dis` shows the instructions of the innermost
loops that multiply vectors, and of the conditions of these loops; the table has the number of instructions of each kind
per vector multiply-add.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from layout_mlir.tools import ToolError, run_tool, whole_file
from networks import NETWORKS

from .images import TARGET
from .opencl import write_before

DEFAULT = ("resnet50", "mobilenet_v2", "bert_base")
KINDS = ("i64", "i32", "compares", "selects", "reads")
INTEGER = re.compile(r"Op([IUS](Add|Sub|Mul|Div|Mod|Rem|Negate|Convert)|Shift\w+|Bitwise\w+|Not)$")
INTEGER_CALL = re.compile(r"[su]_(min|max|clamp|abs|mul_hi|mad\w*)$")
COMPARE = re.compile(r"Op(([US]|F(Ord|Unord))(Less|Greater)Than(Equal)?|(I|F(Ord|Unord))(Not)?Equal"
                     r"|Logical(And|Or|Not|Equal|NotEqual)|Is\w+)$")


def read_blocks(text):
    """Returns the element and lanes of each type, and the blocks as a list of (label, [(op, operands)])."""
    types, blocks = {}, []
    for line in text.splitlines():
        found = re.match(r"\s*(?:(%\d+) = )?(Op\w+)\s*(.*)", line)
        if not found:
            continue
        result, op, operands = found[1], found[2], found[3].split()
        if op in ("OpTypeInt", "OpTypeFloat"):
            types[result] = (("i" if op == "OpTypeInt" else "f") + operands[0], 1)
        elif op == "OpTypeVector":
            types[result] = (types.get(operands[0], ("bit", 1))[0], int(operands[1]))
        elif op == "OpLabel":
            blocks.append((result, []))
        elif blocks:
            blocks[-1][1].append((op, operands))
    return types, blocks


def count(text):
    """Returns the number of instructions of each kind in loops that multiply vectors."""
    types, blocks = read_blocks(text)
    of_label = dict(blocks)
    counts = collections.Counter()

    def add(block):
        for op, operands in block:
            element, lanes = types.get(operands[0] if operands else "", ("", 0))
            is_call = op == "OpExtInst"
            if element.startswith("f") and lanes > 1 and (
                    op in ("OpFMul", "OpVectorTimesScalar") or is_call and operands[2] in ("fma", "mad")):
                counts["multiply-adds"] += 1
            elif INTEGER.match(op) or is_call and INTEGER_CALL.match(operands[2]):
                counts["i64" if element == "i64" else "i32"] += 1
            elif COMPARE.match(op):
                counts["compares"] += 1
            elif op == "OpSelect":
                counts["selects"] += 1
            elif op == "OpImageSampleExplicitLod":
                counts["reads"] += 1

    for _, block in blocks:
        before = counts["multiply-adds"]
        kept = counts.copy()
        add(block)
        head = of_label.get(block[-1][1][0] if block[-1][0] == "OpBranch" else "", ())
        if counts["multiply-adds"] == before or not any(op == "OpLoopMerge" for op, _ in head):
            counts = kept
        else:
            add(head)
    return counts


def of_package(kernels):
    """Returns the instructions of each kind per multiply-add over all kernels of a module."""
    package = kernels.with_suffix("")
    run_tool("layout-translate", "--layout-to-opencl-package", kernels, "-o", package)
    counts = collections.Counter()
    for words in package.glob("*.spv"):
        counts.update(count(subprocess.run(["spirv-dis", "--raw-id", "--no-color", words], check=True, text=True,
                                           capture_output=True).stdout))
    if not counts["multiply-adds"]:
        raise ToolError("no kernel multiplies vectors in a loop")
    return {"multiply-adds": counts["multiply-adds"],
            **{kind: counts[kind] / counts["multiply-adds"] for kind in KINDS}}


def measure(name, small, folder, target):
    path, before, after = folder / "net.mlir", folder / "before.mlirbc", folder / "after.mlirbc"
    NETWORKS[name].write(path, small, weights="random")
    write_before(path, before, target)
    run_tool("layout-opt", path, f"--layout-to-opencl=target={{{target}}} kernels-only", "--emit-bytecode", "-o", after)
    return {"network": name, "before": of_package(before), **of_package(after)}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench --instructions", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", choices=sorted(NETWORKS),
                        help=f"may be repeated (default: {', '.join(DEFAULT)})")
    parser.add_argument("--small", action="store_true", help="as in the tests, not at full size")
    parser.add_argument("--target", default=TARGET, help=f"default: {TARGET}")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    print(f"{'network':<20}{'multiply-adds':>14}" + "".join(f"{kind:>10}" for kind in KINDS)
          + "   per multiply-add")
    rows, failed = [], False
    for name in args.network or DEFAULT:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            try:
                rows.append(measure(name, args.small, pathlib.Path(scratch), args.target))
            except (ToolError, OSError, subprocess.CalledProcessError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
                continue
        for label, row in (name, rows[-1]), ("  one pixel, 64 bits", rows[-1]["before"]):
            print(f"{label:<20}{row['multiply-adds']:>14}" + "".join(f"{row[kind]:>10.2f}" for kind in KINDS), flush=True)
    print("\nMACE's convolutions read 4 pixels of the filter and one for each result: 1x1 with 4 results "
          f"{8 / 16:.2f}\nfor one multiply-add, 3x3 with 5 results {9 / 20:.2f}.")
    if args.json:
        with whole_file(args.json) as file:
            file.write(json.dumps({"target": args.target, "rows": rows}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
