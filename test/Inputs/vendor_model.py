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
# agrees: remove the entry with the change that mends it. RUN lines of test/Integration with LAYOUT_CHIP_MODELS=%t leave
# out the model for B, E and H, too.
KNOWN = {
    "function: add with a stride of 2^19 along one index": "A",
    "function: mul with a stride of 2^19 along one index": "A",
    "function: conv2d with a stride of 2^19 along one index": "A",
    "function: exp beyond its range": "B",
    "function: sigmoid beyond its range": "C",
    "function: tanh beyond its range": "D",
    "function: int8_to_fp32 compact with odd channels": "E",
    "function: equal_select with a number": "F",
    "function: equal_select_value of zeros and NaN": "G",
    "function: equal_C_select_value of zeros and NaN": "G",
    "function: equal_select of zeros and NaN": "G",
    "function: conv2d with strides from 16 on": "H",
    "function: conv2d with padding from 16 on": "H",
    "function: depthwise2d with strides from 16 on": "H",
    "function: depthwise2d with padding from 16 on": "H",
    "function: avg_pool2d with strides from 16 on": "H",
    "function: avg_pool2d with padding from 16 on": "H",
    "function: max_pool2d with strides from 16 on": "H",
    "function: max_pool2d with padding from 16 on": "H",
    "function: transfer of 65536 rows": "I",
    "function: div by infinities": "division",
    "function: min of denormal numbers": "denormal numbers",
    "function: neg of denormal numbers": "denormal numbers",
    "function: min of zeros": "zeros",
    "function: neg of zeros": "zeros",
    "function: sqrt of zeros and infinities": "roots",
    "function: rsqrt of zeros and infinities": "roots",
    "function: fp32_to_int32 of fractions": "fp32_to_int32",
    "function: fp32_to_int32 beyond its range": "fp32_to_int32",
    "function: lookup_exp": "lookup_exp",
    "function: taylor_exp(1)": "terms",
    "function: taylor_exp(4)": "terms",
    "function: taylor_exp(8)": "terms",
    "function: exp_tunable(1)": "terms",
    "function: exp_tunable(4)": "terms",
    "function: sigmoid_tunable(1)": "terms",
    "function: sigmoid_tunable(4)": "terms",
    "function: tanh_tunable(1)": "terms",
    "function: tanh_tunable(4)": "terms",
    "function: 32bit_arithmetic_shift by 32 and more": "shifts",
    "function: 32bit_arithmetic_shift_C by 32 and more": "shifts",
    "function: 32bit_C_arithmetic_shift by 32 and more": "shifts",
    "function: 32bit_logical_shift by 32 and more": "shifts",
    "function: 32bit_logical_shift_C by 32 and more": "shifts",
    "function: 32bit_C_logical_shift by 32 and more": "shifts",
    "function: gdma_16bit_set_C_local without strides": "set_C",
    "function: gdma_8bit_set_C_local without strides": "set_C",
    "function: gdma_32bit_matrix_S2L from the last cores on": "matrix rows",
    "function: gdma_32bit_matrix_L2S from the last cores on": "matrix rows",
    "function: matmul with a last channel that is not full": "last channel",
    "function: conv2d without strides of the kernel": "kernel stride",
    "function: conv2d with weights at 4 mod 8": "weights",
    "function: exp in place": "in place",
    "function: tanh in place": "in place",
    "function: max_pool2d of padding alone": "padding alone",
    "network: bert_base,hidden_input=1,layers=2": "B",
    "network: mobilenet_v2,element=i8": "E",
    "network: resnet50,element=i8": "E",
    "run-composed-ops: program 1": "F",
    "run-dynamic-scalars: program 2": "F",
    "run-index-results: program 12": "F",
    "run-index-results: program 14": "F",
    "run-narrow-constants: program 2": "E",
    "run-narrow-constants: program 4": "E",
    "run-narrow-constants: program 6": "E",
    "run-trained-ops: program 1": "H, then F and G",
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
