"""The device "npu" of run.py: lowers and simulates a program, runs it on the vendor's chip model if that is installed,
and reports statistics."""

import pathlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from layout_mlir.npu import TIMELINE_EVENTS, Program, Result, utilization
from layout_mlir.npu_chip_model import ChipModelError
from layout_mlir.npu_timeline import draw_timeline
from layout_mlir.report import describe_differences, difference, print_rows
from layout_mlir.tools import run_tool

TARGET = '#layout.npu<chip = #npu.target<"{chip}">>'


# The numbers that are summed over all remarks.
NUMBERS = ("PeakBytes", "LowerBound", "BytesPerCore", "Parts", "Loaded", "LeastPeak",
           "BankConflicts", "CarelessConflicts", "ConflictBound", "Least")


def get_target(chip: str) -> str:
    return TARGET.format(chip=chip)


def lower(network: pathlib.Path, target: str, folder: pathlib.Path) -> dict[str, int]:
    """Lowers the network to an NPU program with addresses. Returns counts that the remarks of the passes state, such as
    "PeakBytes", each summed over all remarks."""
    remarks = folder / "npu.yaml"
    run_tool("layout-opt", network, f"--layout-to-npu=target={{{target}}}", "--emit-bytecode", "-o",
             folder / "after.mlirbc", "--remarks-filter=npu", "--remark-format=yaml",
             f"--remarks-output-file={remarks}")
    text = remarks.read_text()
    return {name: sum(map(int, re.findall(rf"{name}: *'?(\d+)", text)))
            for name in NUMBERS}


class Runs(NamedTuple):
    """A program with its results in the simulator, and on the vendor's chip model or None. Differences are the largest
    absolute and relative one of each output from the CPU."""
    program: Program
    result: Result
    differences: list[tuple[float, float | None]]
    vendor: Result | ChipModelError | None
    vendor_differences: list[tuple[float, float | None]]


def run_on_vendor(program: Program, arrays: Sequence[NDArray[Any]],
                  events: int) -> Result | ChipModelError | None:
    """Runs the program on the vendor's chip model. Returns its error if it refuses a command, or None if the program
    has no model."""
    if not program.has_chip_model():
        return None
    try:
        return program.run(*arrays, on="vendor", events=events)
    except ChipModelError as error:
        return error


def run(inputs: Sequence[pathlib.Path], folder: pathlib.Path, simulator_kernels: bool, timeline: str | None,
        events: int = 0) -> Runs:
    """Runs the original network on the CPU, and the program in the simulator and on the vendor's chip model if it is
    installed. The results have the first `events` commands."""
    program = Program(folder / "after.mlirbc", simulator_kernels=simulator_kernels)
    arrays = [np.load(path) for path in inputs]
    result = program.run(*arrays, events=max(events, TIMELINE_EVENTS if timeline else 0))
    if timeline:
        pathlib.Path(timeline).write_text(draw_timeline(result.events[:TIMELINE_EVENTS], program.megahertz))
    on_vendor = run_on_vendor(program, arrays, events)
    files = [folder / f"expected-{i}.npy" for i in range(len(result.outputs))]
    run_tool("layout-run", folder / "before.mlirbc", *[f"--input={path}" for path in inputs],
             *[f"--output={path}" for path in files])
    expected = [np.load(path) for path in files]
    vendor_outputs = on_vendor.outputs if isinstance(on_vendor, Result) else []
    return Runs(program, result, [difference(a, b) for a, b in zip(expected, result.outputs)], on_vendor,
                [difference(a, b) for a, b in zip(expected, vendor_outputs)])


def report_vendor(runs: Runs, max_rel: float) -> tuple[list[tuple[str, str]], bool]:
    """Returns the rows of the vendor's chip model, and whether its results agree with those of the CPU."""
    if runs.vendor is None:
        return [], True
    if isinstance(runs.vendor, ChipModelError):
        return [("on the vendor's chip model", str(runs.vendor))], False
    rows, agree = describe_differences("on the vendor's chip model", runs.vendor_differences, max_rel)
    cycles = runs.vendor.counters["cycles"]
    if not cycles:  # the models of BM1684X and BM1688 write no profile
        return rows, agree
    return [*rows, ("  its predicted time", f"{runs.program.milliseconds(cycles):.3f} ms, "
                                            f"{utilization(runs.vendor.counters)}")], agree


def report(name: str, target: str, cost: dict[str, Any], memory: dict[str, int], runs: Runs,
           max_rel: float) -> tuple[list[tuple[str, str]], bool]:
    """Prints the table; returns its rows, and whether the results agree."""
    program, result = runs.program, runs.result
    counters = result.counters
    moved = sum(counters[name] for name in ("bytes_s2l", "bytes_l2s", "bytes_s2s"))
    assignment = cost["assignment"]
    loads = counters["bytes_s2l"] + counters["bytes_l2s"]
    rows = [
        ("modeled cost", f"{assignment['cost']} (lower bound {assignment['lower_bound']}, gap "
                          f"{assignment['cost'] - assignment['lower_bound']})"),
        ("local memory, peak of a core", f"{memory['PeakBytes']} of {memory['BytesPerCore']} bytes "
                                         f"(least {memory['LeastPeak']}, lower bound "
                                         f"{memory['LowerBound']})"),
        ("parts that ops are split into", str(memory["Parts"] or "none")),
        ("tensors loaded again", str(memory["Loaded"] or "none")),
        ("transfers", f"{counters['transfers']}"),
        ("  bytes to and from cores", f"{moved / 1e6:.2f} MB (what results need, once: "
                                      f"{memory['Least'] / 1e6:.2f} MB)"),
        ("  bytes inside local memory", f"{counters['bytes_l2l'] / 1e6:.2f} MB by DMA, "
                                        f"{counters['broadcast_bytes'] / 1e6:.2f} MB by broadcast"),
        ("  while cores compute", f"{100 * counters['overlapped_bytes'] / max(loads, 1):.0f} % of "
                                  f"the bytes, in {counters['parallel_regions']} regions"),
        ("predicted time", f"{program.milliseconds(counters['cycles']):.3f} ms at {program.megahertz} "
                           f"MHz"),
        ("utilization of engines", utilization(counters)),
        ("utilization of lanes", f"{100 * counters['useful_ops'] / max(counters['issued_ops'], 1):.1f}"
                                 f" % of {counters['issued_ops'] / 1e6:.1f} M operations in "
                                 f"{counters['computes']} commands"),
        (f"functions of {program.api}", f"{sum(program.functions.values())} commands, "
                                f"{program.kernels} that only the simulator runs"),
        ("bank conflicts", f"{counters['bank_conflicts']} of {counters['computes']} commands, "
                           f"{counters['region_conflicts']} of {counters['parallel_regions']} "
                           f"regions ({memory['CarelessConflicts']} of both at the least peak, bound "
                           f"{memory['ConflictBound']})" if memory["BytesPerCore"] else "none"),
        ("accesses that break a rule", str(len(result.errors))),
    ]
    compared, agree = describe_differences("largest difference", runs.differences, max_rel)
    vendor, also = report_vendor(runs, max_rel)
    rows += compared + vendor
    print_rows(f"{name} on {target}", rows)
    return rows, agree and also
