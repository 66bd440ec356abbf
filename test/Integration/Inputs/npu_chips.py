# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs small networks in the simulator of each chip and compares them with the CPU.

usage: npu_chips.py NETWORK[,OPTION=VALUE].. ..

Their programs only call functions of the chip's kernel API, compile without warnings and violate no rule. Results are
within BOUND of the CPU's largest value; integers are equal. They run on the vendor's chip model, too, if it is
installed, and the cycles of BM1684 differ from that model's by at most CLOCK_ERROR.
"""

import pathlib
import sys
import tempfile

import numpy as np

from layout_mlir import run_npu
from layout_mlir.npu import Result
from layout_mlir.npu_chip_model import ChipModelError
from layout_mlir.tools import run_tool
from networks import NETWORKS
from vendor_model import BOUND, check_known

CLOCK_ERROR = 0.05
CHIPS = ("BM1684", "BM1684X", "BM1688")


def read(text):
    """Returns the name of a network, and its options."""
    name, *given = text.split(",")
    values = dict(option.split("=") for option in given)
    return name, {key: int(value) if value.isdigit() else value for key, value in values.items()}


def compare(text, folder):
    name, options = read(text)
    network = NETWORKS[name].build(NETWORKS[name].small_options(**options))
    module = folder / "network.mlir"
    with open(module, "w", encoding="utf-8") as file:
        network.write(file)
    files = []
    for number, array in enumerate(network.example_inputs()):
        files.append(folder / f"{number}.npy")
        np.save(files[-1], array)
    run_tool("layout-opt", module, "--layout-linalg-to-llvm=cpu=host", "--emit-bytecode", "-o",
             folder / "before.mlirbc")
    for chip in CHIPS:
        run_npu.lower(module, run_npu.get_target(chip), folder)
        runs = run_npu.run(files, folder, simulator_kernels=False, timeline=None)
        program, result, differences = runs.program, runs.result, runs.differences
        largest = max(relative for _, relative in differences)
        said = (f"{text} on {chip}: {sum(program.functions.values())} functions, {program.kernels} kernels, "
                f"{len(result.errors)} broken rules, {largest:.2g} from the CPU")
        print(said, flush=True)
        bound = 0 if options.get("element") == "i8" else BOUND
        if not program.functions or program.kernels or result.errors or largest > bound:
            sys.exit(said)
        if runs.vendor is not None:
            wrong = [str(runs.vendor)] if isinstance(runs.vendor, ChipModelError) else [
                f"{relative:.2g} from the CPU" for _, relative in runs.vendor_differences if not relative <= bound]
            if isinstance(runs.vendor, Result) and chip == "BM1684":
                error = result.counters["cycles"] / runs.vendor.counters["cycles"] - 1
                wrong += [f"{error:+.1%} cycles"] if abs(error) > CLOCK_ERROR else []
            check_known(f"network: {text}", wrong)
            print("  also on the vendor's chip model", flush=True)


for each in sys.argv[1:]:
    with tempfile.TemporaryDirectory(prefix="layout-test-") as scratch:
        compare(each, pathlib.Path(scratch))
