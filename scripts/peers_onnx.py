"""Runs the ONNX package's own operator tests through both ways in.

    ./dev peers onnx [--filter REGEX] [--jobs N] [--compare] [--json FILE] [--update-docs]

The package gives inputs and expected outputs with each model: its node tests are
made by its Python code, the others are files under onnx/backend/test/data. Each
model is imported and run twice: compiled in a process by layout_mlir.compile, and
lowered (layout-to-cpu) and run by the tools; results are compared with the
tolerances of its test. One of these becomes of it:

  not imported  the importer refuses the model; docs/onnx-operators.md groups the reasons
  refused       a tool or compile() gives an error
  crashed       a process ends by a signal, without an error, or does not end
  differs       the results are not the expected ones
  disputed      they are those of ONNX Runtime, which are not the expected ones
  matched       they are the expected ones

--compare also asks what the comparison of imports with ONNX Runtime, on random
inputs, says of models that match. The exit status is 1 when something crashed or
differs, or when that comparison refuses what matches. --update-docs writes
docs/onnx-operators.md anew.
"""

import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import time
import warnings

import numpy as np

import onnx_page
from layout_mlir import LayoutError, onnx_import
from layout_mlir.isolated import Crashed, isolated
from layout_mlir.onnx_import import compare as onnx_compare
from layout_mlir.onnx_import.shapes import inputs_of, set_shapes

KINDS = ["node", "simple", "pytorch-operator", "pytorch-converted"]
TARGET = '#layout.cpu<lanes = 16>'
SECONDS = 300
# Two units in the last place, which the package's own runner allows bf16.
ROUNDING = {"float16": 2**-9, "bfloat16": 2**-6}

Outcome = collections.namedtuple("Outcome", "kind name operators status reason")


class Stopped(Exception):
    """A case ended before its results were those expected: (status, reason)."""


def load_cases(filter_text):
    """[(kind, test case)] of the onnx package, in the order of their names."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some expected outputs are infinite on purpose
        cases = [(kind, case) for kind in KINDS
                 for case in sorted(load_model_tests(kind=kind), key=lambda case: case.name)]
    return [(kind, case) for kind, case in cases if re.search(filter_text, case.name)]


def load_model(case):
    """The model, and its data sets as [(inputs, outputs)]."""
    import onnx
    from onnx import numpy_helper

    if case.model is not None:
        return case.model, [tuple(map(as_arrays, each)) for each in case.data_sets]

    def read(path, value):
        if not value.type.HasField("tensor_type"):
            return None  # sequences and optionals, which are no tensors
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
    """The package has tensors of its own for element types that numpy lacks."""
    from onnx import TensorProto, numpy_helper

    return [numpy_helper.to_array(value) if isinstance(value, TensorProto) else value
            for value in values]


def compare(result, expected, case):
    """None, or how they differ."""
    result = onnx_compare.with_dtype(result, expected.dtype)
    if (result.dtype, result.shape) != (expected.dtype, expected.shape):
        return (f"{result.dtype}{list(result.shape)} instead of "
                f"{expected.dtype}{list(expected.shape)}")
    rtol = max(case.rtol, ROUNDING.get(expected.dtype.name, 0))
    if expected.dtype.kind not in "biufc":  # bf16 and its like, of ml_dtypes
        result, expected = result.astype(np.float32), expected.astype(np.float32)
    near = np.isclose(result, expected, rtol=rtol, atol=case.atol, equal_nan=True)
    if near.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~near)[0])
    return (f"{np.count_nonzero(~near)} of {near.size} elements, the first at {list(at)}: "
            f"{result[at]} instead of {expected[at]}")


def run_compiled(model, sets, case):
    """None, or how the results of layout_mlir.compile differ; runs isolated."""
    run = onnx_compare.compile_lowered(onnx_import.lower_to_text(model))
    for inputs, outputs in sets:
        for number, (result, expected) in enumerate(zip(run(inputs), outputs, strict=True)):
            difference = compare(result, np.asarray(expected), case)
            if difference:
                return f"compile(): result {number}: {difference}"
    return None


def flatten(values):
    """The arrays of tensors, of sequences and of optionals with a value."""
    return [each for value in values if value is not None
            for each in (flatten(value) if isinstance(value, list) else [value])]


def state_sequences(model, inputs):
    """Gives inputs that are sequences or optionals the shapes that a data set has."""
    def shape_of(value):
        return None if value is None else [shape_of(each) for each in value] if isinstance(value, list) else list(value.shape)

    set_shapes(model, {value.name: shape_of(array) for value, array in zip(inputs_of(model.graph), inputs)
                       if not value.type.HasField("tensor_type")})


def import_case(model):
    """The prepared model and its module; runs isolated, for the onnx package crashes on some."""
    prepared = onnx_import.prepare_checked(model)
    return prepared, onnx_import.lower(prepared)


class Runner:
    """Runs cases with the tools beside a layout-opt."""

    def __init__(self, layout_opt, folder, compares):
        self.tools = pathlib.Path(layout_opt).resolve().parent
        self.folder, self.compares = folder, compares

    def run_tool(self, name, *args):
        """Stops the case when the tool fails."""
        command = [str(self.tools / name), *map(str, args)]
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

    def run_set(self, module, inputs, outputs, case, folder):
        """Runs one data set of a case and compares its results."""
        given = [folder / f"in{i}.npy" for i in range(len(inputs))]
        results = [folder / f"out{i}.npy" for i in range(len(outputs))]
        for path, array in zip(given, inputs):
            array = np.asarray(array, order="C")
            # Files have no such types: layout-run takes their values in bytes.
            if array.dtype.name in ("int2", "int4"):
                array = array.astype(np.int8)
            np.save(path, array)
        self.run_tool("layout-run", module, "--opt-level=1", *[f"--input={path}" for path in given],
                      *[f"--output={path}" for path in results])
        for i, (path, expected) in enumerate(zip(results, outputs)):
            difference = compare(np.load(path), np.asarray(expected), case)
            if difference:
                raise Stopped("differs", f"result {i}: {difference}")

    def run_module(self, data, sets, case, folder):
        """Stops the case unless all its results are those expected."""
        source, module = folder / f"{case.name}.mlirbc", folder / f"{case.name}.llvm.mlir"
        source.write_bytes(data)
        self.run_tool("layout-opt", source, f"--layout-to-cpu=target={{{TARGET}}}", "-o", module)
        for inputs, outputs in sets:
            self.run_set(module, inputs, outputs, case, folder)

    def run_case(self, kind, case):
        """What becomes of one case."""
        model, sets = load_model(case)
        state_sequences(model, sets[0][0])
        sets = [(flatten(inputs), flatten(outputs)) for inputs, outputs in sets]
        operators = sorted({node.op_type for node in model.graph.node})

        def outcome(status, reason=""):
            return Outcome(kind, case.name, operators, status, reason)

        try:
            prepared, data = isolated(import_case, model, seconds=SECONDS)
        except (onnx_import.ImportFailed, Crashed) as error:
            return outcome("not imported", str(error))
        folder = self.folder / case.name
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self.run_in_process(prepared, sets, case)
            self.run_module(data, sets, case, folder)
        except Stopped as error:
            if error.args[0] == "differs" and self.agrees(prepared, sets[0][0]):
                return outcome("disputed", error.args[1])
            return outcome(*error.args)
        return outcome(*self.compare_import(prepared))

    def run_in_process(self, prepared, sets, case):
        """Stops the case unless all its results by layout_mlir.compile are those expected."""
        try:
            difference = isolated(run_compiled, prepared, sets, case, seconds=SECONDS)
        except LayoutError as error:
            raise Stopped("refused", f"compile(): {error}") from None
        except Crashed as error:
            raise Stopped("crashed", f"compile(): {error}") from None
        if difference:
            raise Stopped("differs", difference)

    def agrees(self, prepared, inputs):
        """Whether the results are those of ONNX Runtime."""
        try:
            onnx_import.check(prepared, onnx_import.lower_to_text(prepared), inputs)
            return True
        except onnx_import.ImportFailed:
            return False

    def compare_import(self, prepared):
        """What the comparison of imports, on random inputs, says of a module that matches."""
        if not self.compares:
            return ("matched",)
        try:
            onnx_import.check(prepared, onnx_import.lower_to_text(prepared))
        except onnx_import.ImportFailed as error:
            differs = "is wrong" in str(error)
            return "matched, refused" if differs else "matched, not comparable", str(error)
        return ("matched",)


_state = {}


def _run_index(index):
    return _state["runner"].run_case(*_state["cases"][index])


def run_all(runner, cases, jobs):
    """The outcomes of all cases, in order."""
    import onnxruntime  # noqa: F401  # once, before the processes part

    _state.update(runner=runner, cases=cases)
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        running = [pool.submit(_run_index, index) for index in range(len(cases))]
        for done, future in enumerate(running, 1):
            yield future.result()
            if done % 100 == 0:
                print(f"{done} of {len(running)}", file=sys.stderr, flush=True)


def report(outcomes, seconds):
    """Prints what is not in order, and the counts; returns the exit status."""
    counts = collections.Counter(outcome.status for outcome in outcomes)
    for outcome in outcomes:
        if outcome.status not in ("matched", "not imported"):
            print(f"{outcome.status}: {outcome.name}: {outcome.reason}")
    imported = len(outcomes) - counts["not imported"]
    compiled = imported - counts["refused"] - counts["crashed"]
    matched = compiled - counts["differs"] - counts["disputed"]
    print(f"{len(outcomes)} cases in {seconds:.0f} s: {imported} imported, {compiled} compiled and run, "
          f"{matched} matched, {counts['disputed']} disputed, {counts['refused']} refused, "
          f"{counts['crashed']} crashed, {counts['differs']} differ")
    if counts["matched, refused"] or counts["matched, not comparable"]:
        print(f"of those that matched, the importer's comparison on random inputs refuses "
              f"{counts['matched, refused']} and takes no inputs of {counts['matched, not comparable']}")
    return 1 if counts["crashed"] or counts["differs"] or counts["matched, refused"] else 0


def main():
    parser = argparse.ArgumentParser(prog="./dev peers onnx", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layout_opt", help="the tool; layout-run is beside it")
    parser.add_argument("folder", type=pathlib.Path, help="where modules and arrays go")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only cases with such a name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--compare", action="store_true", help="compare every import")
    parser.add_argument("--json", metavar="FILE", help="a line for each case")
    parser.add_argument("--update-docs", action="store_true", help="write docs/onnx-operators.md")
    args = parser.parse_args()
    if args.update_docs and args.filter:
        parser.error("--update-docs takes all cases, not those of a filter")
    start = time.monotonic()
    runner = Runner(args.layout_opt, args.folder, args.compare)
    outcomes = list(run_all(runner, load_cases(args.filter), args.jobs))
    if args.json:
        with open(args.json, "w") as file:
            file.writelines(json.dumps(outcome._asdict()) + "\n" for outcome in outcomes)
    if args.update_docs:
        onnx_page.PAGE.write_text(onnx_page.render(onnx_page.collect(outcomes)))
    return report(outcomes, time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
