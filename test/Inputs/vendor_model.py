"""Programs that also run on the vendor's chip model, and what is known to disagree with it.

    program = Program("network.mlir")       # as layout_mlir.npu.Program
    program.run(x)                          # results of the simulator, compared with those of the vendor's model

Programs for other chips, and all programs if the model is not installed, run in the simulator only.
"""

import pathlib
import sys

import numpy as np

from layout_mlir import npu
from layout_mlir.npu_chip_model import ChipModelError

BOUND = 1e-5

# What disagrees, with the reason: a function, a network, or a program by its test and number. A test fails if an entry
# agrees: remove the entry with the change that mends it.
KNOWN = {
    "function: tanh_tunable(1)": "terms: no emitted program calls it",
    "function: tanh_tunable(4)": "terms: no emitted program calls it",
}


def find_differences(outputs, expected, bound=BOUND):
    """Returns a description of each result whose difference exceeds `bound` times its largest value. Integers must be
    equal."""
    said = []
    for number, (found, wanted) in enumerate(zip(outputs, expected, strict=True)):
        x, y = found.astype(np.float64), wanted.astype(np.float64)
        with np.errstate(invalid="ignore"):
            different = ~((x == y) | (np.isnan(x) & np.isnan(y)))
            allowed = bound * np.abs(y[np.isfinite(y)]).max(initial=0) if wanted.dtype.kind == "f" else 0
            wrong = different & ~(np.abs(x - y) <= allowed)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
            said.append(f"result {number}: {np.count_nonzero(wrong)} of {wrong.size} differ, at {list(at)} {found[at]} "
                        f"instead of {wanted[at]}")
    return said


def check_known(name, differences):
    """Raises AssertionError if the differences of `name` are not those that KNOWN states."""
    reason = KNOWN.get(name)
    if reason and not differences:
        raise AssertionError(f"{name} agrees with the vendor's chip model: remove it from KNOWN ({reason})")
    if differences and not reason:
        raise AssertionError(f"{name} on the vendor's chip model: " + "; ".join(differences))


def compare_on_vendor(name, program, inputs, expected, bound=BOUND):
    """Runs a program on the vendor's chip model, if it has one, and compares its results. Returns true if it ran."""
    if not program.has_chip_model():
        return False
    try:
        differences = find_differences(program.run(*inputs, on="vendor").outputs, expected, bound)
    except ChipModelError as error:
        differences = [str(error)]
    if differences:
        differences.append(f"it calls {', '.join(sorted(program.functions))}")
    check_known(name, differences)
    return True


class Program(npu.Program):
    """A program whose results of the simulator must be those of the vendor's chip model, too."""
    runs = 0

    def run(self, *inputs, on="simulator", **options):
        result = super().run(*inputs, on=on, **options)
        if on == "simulator" and self.has_chip_model():
            test = pathlib.Path(sys.argv[0]).stem
            Program.runs += 1
            compare_on_vendor(f"{test}: program {Program.runs}", self, inputs, result.outputs)
        return result
