"""Loads the operator tests of the ONNX package, and compares results with those that they expect.

peers_onnx.py runs them on the CPU, and onnx_on_chips.py as programs of NPUs.
"""

import collections
import os
import pathlib
import re
import subprocess
import warnings

import numpy as np

from layout_mlir import onnx_import
from layout_mlir.onnx_import import compare as onnx_compare
from layout_mlir.onnx_import.shapes import inputs_of

KINDS = ["node", "simple", "pytorch-operator", "pytorch-converted"]
SECONDS = 300
# Two units in the last place, the tolerance of the ONNX package's runner for bf16.
ROUNDING = {"float16": 2**-9, "bfloat16": 2**-6}

Outcome = collections.namedtuple("Outcome", "kind name operators runners status reason")


class Stopped(Exception):
    """Raised with (status, reason) if a case ends before its results match."""


def load_cases(filter_text):
    """Returns the [(kind, test case)] of the onnx package whose names match, sorted by name within each kind."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some expected outputs are infinite on purpose
        cases = [(kind, case) for kind in KINDS
                 for case in sorted(load_model_tests(kind=kind), key=lambda case: case.name)]
    return [(kind, case) for kind, case in cases if re.search(filter_text, case.name)]


def load_model(case):
    """Returns the model of a case, and its data sets as [(inputs, outputs)]."""
    import onnx
    from onnx import numpy_helper

    if case.model is not None:
        return case.model, [tuple(map(as_arrays, each)) for each in case.data_sets]

    def read(path, value):
        if value.type.HasField("sequence_type"):
            return numpy_helper.to_list(onnx.SequenceProto.FromString(path.read_bytes()))
        return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))

    model = onnx.load(os.path.join(case.model_dir, "model.onnx"))
    sets = []
    for folder in sorted(pathlib.Path(case.model_dir).glob("test_data_set_*")):
        given = list(model.graph.input)
        if not (folder / f"input_{len(given) - 1}.pb").exists():
            given = inputs_of(model.graph)
        sets.append(([read(folder / f"input_{i}.pb", value) for i, value in enumerate(given)],
                     [read(folder / f"output_{i}.pb", value)
                      for i, value in enumerate(model.graph.output)]))
    return model, sets


def as_arrays(values):
    """Converts TensorProto values, which the package uses for element types that numpy lacks, to arrays."""
    from onnx import TensorProto, numpy_helper

    return [numpy_helper.to_array(value) if isinstance(value, TensorProto) else value
            for value in values]


def compare(result, expected, case):
    """Returns None if the arrays match, or a description of the difference."""
    result = onnx_compare.with_dtype(result, expected.dtype)
    if (result.dtype, result.shape) != (expected.dtype, expected.shape):
        return (f"{result.dtype}{list(result.shape)} instead of "
                f"{expected.dtype}{list(expected.shape)}")
    if expected.dtype.kind in "OU":  # strings
        return None if np.array_equal(result, expected) else f"{result} instead of {expected}"
    rtol = max(case.rtol, ROUNDING.get(expected.dtype.name, 0))
    if expected.dtype.kind not in "biufc":  # e.g. bf16, a type of ml_dtypes
        result, expected = result.astype(np.float32), expected.astype(np.float32)
    near = np.isclose(result, expected, rtol=rtol, atol=case.atol, equal_nan=True)
    if near.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~near)[0])
    return (f"{np.count_nonzero(~near)} of {near.size} elements, the first at {list(at)}: "
            f"{result[at]} instead of {expected[at]}")


def flatten(values):
    """Returns the arrays in tensors, sequences, and optionals that have a value."""
    return [each for value in values if value is not None
            for each in (flatten(value) if isinstance(value, list) else [value])]


def import_case(model):
    """Returns the prepared model and its module. Runs isolated because the onnx package crashes for some models."""
    prepared = onnx_import.prepare_checked(model)
    return prepared, onnx_import.lower(prepared)


def run_tool(tools, name, *args):
    """Runs a tool in the folder `tools`; raises Stopped if it fails."""
    command = [str(tools / name), *map(str, args)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Stopped("crashed", f"{name} does not end within {SECONDS} s") from None
    if done.returncode == 0:
        return
    lines = [line[:400] for line in done.stdout.splitlines()]
    errors = [line for line in lines if "error:" in line]
    if done.returncode != 1 or not errors:
        raise Stopped("crashed", f"{name} ended with status {done.returncode}: "
                      + " ".join((errors or lines)[:3]))
    raise Stopped("refused", f"{name}: " + re.sub(r"^\S*/", "", errors[0]))
