"""Runs one phase of the measurement of a trained model in this process.

    trained_model.py PHASE JOB.json

peers_trained.py starts a process for each phase and reads the line of JSON that it prints. A job has the `path` of the
model, the `shapes` of its inputs by name, `dynamic` if dynamic sizes of the model stay dynamic, and a `folder` for
arrays. The phases are

  import   imports the model, counts its conversions, and computes the expected results with ONNX Runtime
  compile  compiles the file and compares the results
  start    loads the compiled program from the cache and runs it once
  session  divides the model between both runners and compares the results
  time     times the program, ONNX Runtime and the session alternately, with each of the job's numbers of `threads`
  chip     instead of all phases after the import: compiles the model for the job's `chip`, an NPU, runs it in the
           simulator, and compares the results
"""

import json
import pathlib
import pickle
import resource
import statistics
import sys
import time
import warnings

import numpy as np

import layout_mlir
import onnx_on_chips
from layout_mlir import npu, onnx_import, run_npu
from layout_mlir.isolated import isolated
from layout_mlir.onnx_import import compare, draws
from layout_mlir.onnx_import.shapes import set_shapes
from layout_mlir.report import difference
from layout_mlir.tools import ToolError

ROUNDS, ROUND_SECONDS, MOST_SECONDS = 15, 0.05, 20
MOVES = ("padding", "relayout")  # kinds of conversions that move bytes


def load(job, stated):
    """Returns the prepared model, with the shapes of the job if `stated`."""
    model = onnx_import.read(job["path"])
    set_shapes(model, job["shapes"] if stated else {})
    return onnx_import.prepare_checked(model)


def compile_file(job, threads):
    """Returns the Program of the file. The comparison with ONNX Runtime in compile() is included."""
    with warnings.catch_warnings():
        # a warning that nothing could be compared, on inputs of other sizes than the job's
        warnings.simplefilter("ignore")
        return layout_mlir.compile(job["path"], shapes={} if job["dynamic"] else job["shapes"], threads=threads)


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def oracle_path(job):
    return pathlib.Path(job["folder"], "oracle.pickle")


def read_oracle(job):
    return pickle.loads(oracle_path(job).read_bytes())


def import_model(job):
    start = time.perf_counter()
    lowered = onnx_import.lower_to_text(load(job, not job["dynamic"]))
    seconds = time.perf_counter() - start
    model = load(job, True)
    oracle = isolated(compare.run_oracle, model, list(draws.draw_inputs(model.graph, 0, first=1)))
    oracle_path(job).write_bytes(pickle.dumps(oracle))
    for number, array in enumerate(oracle.inputs):
        np.save(pathlib.Path(job["folder"], f"input-{number}.npy"), array)
    conversions = [each for each in layout_mlir.assign(lowered).conversions if each.kind in MOVES]
    return {"import_seconds": seconds, "conversions": len(conversions),
            "conversion_megabytes": sum(each.bytes_read + each.bytes_written for each in conversions) / 1e6,
            "nodes": len(model.graph.node), "inputs": [list(array.shape) for array in oracle.inputs]}


def compile_and_compare(job):
    oracle = read_oracle(job)
    start = time.perf_counter()
    program = compile_file(job, 1)
    seconds = time.perf_counter() - start
    results = compare.as_function(program)(oracle.inputs)
    answer = {"compile_seconds": seconds, "compile_peak_megabytes": peak_megabytes(),
              "difference": max((difference(a, b)[1] or 0 for a, b in zip(oracle.outputs, results)), default=0)}
    for number, (a, b) in enumerate(zip(oracle.outputs, oracle.settle(results), strict=True)):
        if words := compare.describe_difference(a, b, oracle.rounding[number]):
            return {**answer, "status": "differs", "reason": f"result {number}: {words}"}
    return answer


def start_kept(job):
    oracle = read_oracle(job)
    start = time.perf_counter()
    program = compile_file(job, 1)
    seconds = time.perf_counter() - start
    compare.as_function(program)(oracle.inputs)
    return {"start_seconds": seconds if program.kept else None, "run_peak_megabytes": peak_megabytes()}


def make_options(threads):
    """Returns options of ONNX Runtime with which its threads sleep between runs, so that they do not disturb other
    runs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.add_session_config_entry("session.force_spinning_stop", "1")
    return options


def make_session(job, threads):
    """Returns a session of layout_mlir, whose parts are chosen on the inputs of the comparison."""
    model = load(job, True)
    inputs = dict(zip((value.name for value in model.graph.input), read_oracle(job).inputs))
    return layout_mlir.onnx_session(model, make_options(threads), inputs=inputs)


def run_session(job):
    oracle = read_oracle(job)
    start = time.perf_counter()
    session = make_session(job, 1)
    seconds = time.perf_counter() - start
    results = compare.flatten(as_runner(session)(oracle.inputs))
    for number, (a, b) in enumerate(zip(oracle.outputs, oracle.settle(results), strict=True)):
        if words := compare.describe_difference(a, b, oracle.rounding[number]):
            return {"status": "differs", "reason": f"session: result {number}: {words}"}
    return {"session_seconds": seconds, "parts": [[part.runner, len(part.nodes), part.reason] for part in session.parts]}


def make_runtime(job, threads):
    """Returns a function that runs ONNX Runtime."""
    import onnxruntime

    options = make_options(threads)
    try:
        session = onnxruntime.InferenceSession(load(job, True).SerializeToString(), options)
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
        # Shape inference of ONNX Runtime fails in a branch that the stated shapes exclude.
        session = onnxruntime.InferenceSession(job["path"], options)
    return as_runner(session)


def as_runner(session):
    """Returns a function from inputs to the results of a session."""
    names = [value.name for value in session.get_inputs()]
    return lambda inputs: session.run(None, dict(zip(names, inputs)))


def run_for(run, inputs, seconds):
    """Returns the durations of consecutive runs within `seconds`, at least one."""
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run(inputs)
        times.append(time.perf_counter() - start)
    return times


def time_alternately(job):
    oracle, answer = read_oracle(job), {}
    for threads in job["threads"]:
        start = time.perf_counter()
        session = make_session(job, threads)
        seconds = time.perf_counter() - start
        runs = {"ours": compare.as_function(compile_file(job, threads)), "onnxruntime": make_runtime(job, threads),
                "session": as_runner(session)}
        times = {name: [] for name in runs}
        for run in runs.values():
            run(oracle.inputs)
        end = time.perf_counter() + MOST_SECONDS
        for _ in range(ROUNDS):
            for name, run in runs.items():
                times[name] += run_for(run, oracle.inputs, ROUND_SECONDS)
            if time.perf_counter() > end:
                break
        answer[str(threads)] = {name: {"min": min(each), "median": statistics.median(each)}
                                for name, each in times.items()}
    return {"times": answer, "session_seconds": seconds, "runners": [part.runner for part in session.parts]}


def run_on_chip(job):
    oracle, folder = read_oracle(job), pathlib.Path(job["folder"])
    model = load(job, True)
    source = folder / "source.mlirbc"
    source.write_bytes(onnx_import.lower(model, float_products=True))
    start = time.perf_counter()
    try:
        run_npu.lower(source, run_npu.get_target(job["chip"]), folder)
        program = npu.Program(folder / "after.mlirbc", folder=folder / "package")
    except ToolError as error:
        return {"status": "refused", "reason": onnx_on_chips.describe_refusal(str(error), model)}
    seconds = time.perf_counter() - start
    result = program.run(*oracle.inputs)
    for number, (a, b) in enumerate(zip(oracle.outputs, result.outputs, strict=True)):
        if words := compare.describe_difference(a, b, oracle.rounding[number]):
            return {"status": "differs", "reason": f"result {number}: {words}"}
    return {"compile_seconds": seconds, "cycles": result.counters["cycles"],
            "milliseconds": program.milliseconds(result.counters["cycles"]),
            "difference": max((difference(a, b)[1] or 0 for a, b in zip(oracle.outputs, result.outputs)), default=0)}


PHASES = {"import": import_model, "compile": compile_and_compare, "start": start_kept, "session": run_session,
          "time": time_alternately, "chip": run_on_chip}


def main():
    phase, job = sys.argv[1:]
    try:
        answer = PHASES[phase](json.loads(pathlib.Path(job).read_text()))
    except draws.NotCompared as error:
        answer = {"status": "not compared", "reason": str(error)}
    except onnx_import.ImportFailed as error:
        answer = {"status": "not imported", "reason": str(error)}
    except layout_mlir.LayoutError as error:
        differs = "is wrong" in str(error)
        answer = {"status": "differs" if differs else "refused", "reason": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
