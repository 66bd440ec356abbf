# REQUIRES: vendor-model
# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
"""Checks that each function of OKKernel computes the same in the simulator and on the vendor's model of BM1684: random
shapes, start cores, strides and values, all bytes of local memory, and the commands that both refuse.

    run-functions.py FOLDER [--count N] [--seed S] [--only REGEX]

Rows of KNOWN (test/Inputs/vendor_model.py) disagree; all others agree.
"""
# CHECK: functions without a row: none
# CHECK-NEXT: layouts of 500 tensors: 0 differ
# CHECK: ; 0 wrong
import argparse
import functools
import pathlib
import random
import re
import subprocess
import sys

from layout_mlir.npu import Program

here = pathlib.Path(__file__).resolve()
sys.path += [str(here.parent / "Inputs"), str(here.parents[3] / "Inputs")]
from functions import FUNCTIONS
from npu_commands import DoesNotFit
from npu_machines import compare_all, compare_layouts
from vendor_model import KNOWN

PROGRAM = """#chip = #npu.target<"BM1684">
#row = #layout.npu_scatter<aligned, start = 0, target = #chip>
func.func @main(%x: memref<1x1x1x4xf32, #npu.memory<system>>) {
  %0 = npu.alloc {address = 0 : i64} : memref<1x1x1x4xf32, #row, #npu.memory<local>>
  npu.copy %x to %0 : memref<1x1x1x4xf32, #npu.memory<system>> to memref<1x1x1x4xf32, #row, #npu.memory<local>>
  return
}
"""


def make(name, seed, number):
    for attempt in range(1000):
        try:
            return FUNCTIONS[name](seed, f"{number}.{attempt}")
        except DoesNotFit:
            pass
    raise RuntimeError(f"no command of {name} fits the window")


def find_missing(library):
    """Returns the functions of the simulator that no row calls."""
    listed = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True, check=True)
    declared = set(re.findall(r" T okk_((?:gdma|bdc)_\w+)", listed.stdout))
    return declared - {call[0] for name in FUNCTIONS for call in make(name, 0, 0).calls}


parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--count", type=int, default=4, help="commands of each row")
parser.add_argument("--seed", type=int, default=11)
parser.add_argument("--only", default="", help="the rows to run")
args = parser.parse_args()
args.folder.mkdir(parents=True, exist_ok=True)
program = Program(PROGRAM, folder=args.folder / "package")
simulator = args.folder / "package/program.so"
print("functions without a row:", ", ".join(sorted(find_missing(simulator))) or "none")
numbers = random.Random(args.seed)
tensors = [(numbers.randint(0, 63), tuple(numbers.randint(1, size) for size in (5, 300, 40, 40))) for _ in range(500)]
differences = compare_layouts(tensors, simulator, program.manifest["chip"], args.folder)
print(f"layouts of {len(tensors)} tensors: {len(differences)} differ", *differences[:5], sep="\n")
names = [name for name in FUNCTIONS if re.search(args.only, name)]
# Two commands of a known row suffice.
known = {name: KNOWN.get(f"function: {name}") for name in names}
keys = [(name, number) for name in names for number in range(2 if known[name] else args.count)]
outcomes = compare_all([functools.partial(make, name, args.seed, number) for name, number in keys], simulator,
                       program.manifest["chip"], args.folder)
said = {name: [] for name in names}
for (name, number), outcome in zip(keys, outcomes, strict=True):
    if outcome:
        said[name].append(f"seed {args.seed}, {number}: {outcome}")
wrong = 0
for name, disagreements in said.items():
    if bool(disagreements) == bool(known[name]):
        continue
    wrong += 1
    print(f"{name}: {len(disagreements)} of {args.count} disagree: {disagreements[0]}" if disagreements else
          f"{name} agrees: remove it from KNOWN ({known[name]})")
for name in KNOWN:
    if name.startswith("function: ") and name.removeprefix("function: ") not in FUNCTIONS:
        wrong += 1
        print(f"{name} is no row")
print(f"{len(keys)} commands of {len(names)} rows, of which {sum(map(bool, said.values()))} are known to disagree; "
      f"{wrong} wrong")
