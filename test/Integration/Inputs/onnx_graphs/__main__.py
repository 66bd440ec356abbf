# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random ONNX graphs through all entry points and compares them with ONNX Runtime and the reference evaluator.

    fuzz --import --count 20000 --seed 0 [--keep FOLDER] [--jobs N] [--ways compile,tools,run]

Graph k of a run is that of seed S + k: 2 to 12 nodes of opsets 11 to 26, com.microsoft and ai.onnx.ml, unusual
attributes, empty and size-1 dims, dynamic dims, unsigned types. Results must equal those of ONNX Runtime without its
optimizations, or those of the reference evaluator if it differs. An error must name a node or an input of the graph.
Failures are reduced and left as FOLDER/SEED.onnx with their inputs. The last line has the counts; the exit status is 1
if a graph failed.

  compile  layout_mlir.compile of the file
  tools    the importer's main(), then layout-opt --layout-to-cpu and layout-run
  run      the main() of ./dev run

50 graphs share a process, so that Python's modules, the pages of the libraries and the target are loaded once. A
graph that fails or ends the process runs again in processes of its own, and that outcome counts.

--hostile draws graphs whose first node reads or writes at indices from an input. With an index out of bounds the
program must end with an error that names the node; with valid indices, before and after that, results must be correct.
--resized runs graphs with dynamic dims on an input of another size. The results must be those of ONNX Runtime. If it
refuses the input, the program ends with an error that names a node, or computes something: `--sanitize` shows that it
accesses no memory outside of its tensors.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import functools
import io
import itertools
import multiprocessing
import os
import pathlib
import pickle
import re
import signal
import sys
import tempfile
import time
import warnings

import numpy as np
# Loaded here, because each graph is imported in a process of its own, which would load them anew.
import onnx.checker
import onnx.inliner
import onnx.reference  # noqa: F401

import layout_mlir.onnx_import.__main__ as import_program
import layout_mlir.onnx_import.prepare  # noqa: F401
import layout_mlir.run as run_program
from graphs import draw_graph, make_hostile, make_resized, run_onnxruntime, run_reference, smaller, to_model

from layout_mlir import LayoutError, compile
from layout_mlir.isolated import Crashed, isolated
from layout_mlir.onnx_import.compare import as_function, describe_difference, run_oracle
from layout_mlir.onnx_import.draws import NotCompared
from layout_mlir.onnx_import.operators import load_all
from layout_mlir.tools import ToolError, run_tool

TARGET = "#layout.cpu<lanes = 16>"
TOGETHER = 50  # graphs that share a process
_seconds = 120  # the time limit of a step of a graph, --seconds
NAMED = re.compile(r"node '|input '|result '|the constant '")


def write_model(graph, folder):
    """Writes the model to a file of the folder; returns its path."""
    path = folder / "model.onnx"
    path.write_bytes(to_model(graph).SerializeToString())
    return path


def compile_file(path):
    """Returns a function from inputs to results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return as_function(compile(str(path)))


def by_compile(path, graph, folder):
    return compile_file(path)(list(graph.inputs.values()))


def call_program(main, *argv):
    """Calls the main function of a program with arguments; raises ToolError with its messages if it fails."""
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            status = main([str(each) for each in argv])
        except SystemExit as error:  # the message, as Python would print it, or the status
            status = error.code
    if status:
        raise ToolError(f"{said.getvalue()}{status}")


def by_tools(path, graph, folder):
    module, lowered = folder / "model.mlirbc", folder / "lowered.mlirbc"
    call_program(import_program.main, path, "-o", module, "--no-compare")
    run_tool("layout-opt", module, f"--layout-to-cpu=target={{{TARGET}}}", "--emit-bytecode", "-o", lowered,
             seconds=_seconds)
    outputs = [folder / f"out{number}.npy" for number in range(len(graph.results))]
    run_tool("layout-run", lowered, "--opt-level=1", *[f"--input={path}" for path in save_inputs(graph, folder)],
             *[f"--output={path}" for path in outputs], seconds=_seconds)
    return [np.load(path) for path in outputs]


def by_run(path, graph, folder):
    kept = folder / "run"
    call_program(run_program.main, path, "--repeat=1", f"--keep={kept}", "--dynamic",
                 *[f"--input={path}" for path in save_inputs(graph, folder)])
    return [np.load(kept / f"result-{number}.npy") for number in range(len(graph.results))]


WAYS = {"compile": by_compile, "tools": by_tools, "run": by_run}


def save_inputs(graph, folder):
    paths = []
    for name, array in graph.inputs.items():
        paths.append(folder / f"{name}.npy")
        np.save(paths[-1], array)
    return paths


def find_difference(graph, got, wanted, reference):
    """Returns the first result that differs from both ONNX Runtime and the reference by more than rounding, or None."""
    def differ(results, bounds):
        for name, a, b, number in zip(graph.results, results, wanted, range(len(wanted)), strict=True):
            difference = describe(b, a, bounds[number])
            if difference and (reference is None or describe(np.asarray(reference[number]), a, bounds[number])):
                return f"result '{name}': {difference}"
        return None

    difference = differ(got, [0.0] * len(wanted))
    if difference:
        try:
            oracle = run_oracle(to_model(graph), [list(graph.inputs.values())])
        except NotCompared:  # ONNX Runtime computes something else in each run
            return None
        difference = differ(oracle.settle(got), oracle.rounding)
    return difference


def describe(wanted, got, rounding):
    """Returns how results differ; bytes may differ by one, because quantized values are rounded once more."""
    return describe_difference(wanted, got, max(rounding, 1 if wanted.dtype in (np.int8, np.uint8) else 0))


def call_here(function, *args, seconds):
    """Calls a function as `isolated` does, in this process; check_together limits its time."""
    return function(*args)


def check_way(way, graph, call=isolated, oracles=None):
    """Returns the outcome of one entry point and its message: right, refused, or a failure. `call` runs it. `oracles`
    are the results of ONNX Runtime and of the reference evaluator, if they are known."""
    wanted, reference = oracles or (run_onnxruntime(graph), run_reference(graph))
    if wanted is None:
        return "right", ""
    with tempfile.TemporaryDirectory(prefix="graph-") as name:
        folder = pathlib.Path(name)
        path = write_model(graph, folder)
        try:
            got = call(WAYS[way], path, graph, folder, seconds=2 * _seconds)
        except (LayoutError, ToolError) as error:
            said = str(error).replace(str(folder), "")
            is_refusal = "is not imported" in said or "imported module is wrong" not in said
            return "refused" if is_refusal and NAMED.search(said) else "not located" if is_refusal else "wrong", said
        except Exception as error:  # Crashed, or any exception
            return "crashed", f"{type(error).__name__}: {error}"
    difference = find_difference(graph, got, wanted, reference)
    return ("wrong", difference) if difference else ("right", "")


def run_hostile(graph, hostile, folder):
    """Returns the failure of a program that runs with invalid indices between valid ones, or None."""
    run = compile_file(write_model(graph, folder))
    right = list(graph.inputs.values())
    wrong = [hostile if name == "places" else array for name, array in graph.inputs.items()]
    wanted = run_onnxruntime(graph)
    for _ in range(2):
        if wanted is not None and (difference := find_difference(graph, run(right), wanted, run_reference(graph))):
            return difference
        try:
            run(wrong)
            return "an index out of range is taken"
        except LayoutError as error:
            node = graph.nodes[0][0]
            if f"{node.op}_" not in str(error) or "range" not in str(error):
                return f"the error names neither the node nor the reason: {error}"
    return None


def run_resized(graph, inputs, folder):
    """Returns how a program on an input of another size differs from ONNX Runtime, or None."""
    run = compile_file(write_model(graph, folder))
    resized = dataclasses.replace(graph, inputs=inputs)
    wanted = run_onnxruntime(resized)
    try:
        got = run(list(inputs.values()))
    except LayoutError as error:
        return None if "does not hold: " in str(error) else f"the error names no reason: {error}"
    return None if wanted is None else find_difference(resized, got, wanted, run_reference(resized))


def check_hostile(task, call=isolated):
    """Returns (seed, operators, outcomes) as check_seed, for a graph that runs with indices out of bounds or with other
    sizes. If no such graph is drawn, there are no outcomes."""
    seed, kind = task
    drawn = make_hostile(seed) if kind == "hostile" else make_resized(seed)
    if drawn is None:
        return seed, "", []
    graph, changed = drawn
    with tempfile.TemporaryDirectory(prefix="graph-") as name:
        try:
            run = run_hostile if kind == "hostile" else run_resized
            said = call(run, graph, changed, pathlib.Path(name), seconds=_seconds)
            outcome = "wrong" if said else "right"
        except LayoutError as error:
            outcome, said = ("refused" if NAMED.search(str(error)) else "not located"), str(error)
        except Exception as error:  # Crashed, or any exception
            outcome, said = "crashed", f"{type(error).__name__}: {error}"
    return seed, " ".join(node.op for node, _ in graph.nodes), [(kind, outcome, said or "")]


def signature(outcome, said):
    """Returns a key that failures of one kind share."""
    return outcome, re.sub(r"'[^']*'|-?\d[\d.]*(?:e[-+]?\d+)?|\[[^\]]*\]", "_", said)[:120]


def check_seed(task, call=isolated):
    """Returns (seed, operators, [(entry point, outcome, message)]) of one graph."""
    seed, ways = task
    graph = draw_graph(seed)
    if graph is None:
        return seed, "", []
    oracles = run_onnxruntime(graph), run_reference(graph)
    return (seed, " ".join(node.op for node, _ in graph.nodes),
            [(way, *check_way(way, graph, call, oracles)) for way in ways])


def check_here(check, tasks, answers):
    """Writes the outcomes of tasks to a file. Ends the process after the time limit of a task."""
    for task in tasks:
        signal.alarm(6 * _seconds)
        pickle.dump(check(task, call_here), answers)
        answers.flush()
    signal.alarm(0)


def read_answers(file):
    """Returns the complete outcomes in a file."""
    file.seek(0)
    outcomes = []
    with contextlib.suppress(EOFError, pickle.UnpicklingError):
        while True:
            outcomes.append(pickle.load(file))
    return outcomes


def check_together(check, tasks):
    """Returns the outcomes of tasks, which run in one process. A task that fails or ends the process runs again by
    itself; if it is right then, what the tasks before it left in the process is wrong."""
    outcomes = []
    while len(outcomes) < len(tasks):
        with tempfile.TemporaryFile() as answers:
            ended = None
            try:
                isolated(check_here, check, tasks[len(outcomes):], answers, seconds=10 * _seconds * len(tasks))
            except Crashed as error:
                ended = str(error)
            found = read_answers(answers)
        for answer in found:
            failed = [each for each in answer[2] if each[1] not in ("right", "refused")]
            outcomes.append(check_alone(check, tasks[len(outcomes)], failed) if failed else answer)
        if len(outcomes) < len(tasks):
            outcomes.append(check_alone(check, tasks[len(outcomes)], [("all", "crashed", ended)]))
    return outcomes


def check_alone(check, task, failed):
    """Returns the outcome of a task in processes of its own, with a failure if there is none although it `failed`."""
    seed, operators, outcomes = check(task)
    if all(outcome in ("right", "refused") for _, outcome, _ in outcomes):
        outcomes = [(way, "disturbed", f"only after other graphs in one process: {outcome}: {said}")
                    for way, outcome, said in failed]
    return seed, operators, outcomes


def shrink(graph, way, outcome, seconds):
    """Returns the smallest graph found that fails in the same way, and its message."""
    end, said = time.monotonic() + seconds, ""
    found = True
    while found and time.monotonic() < end:
        found = False
        for each in smaller(graph):
            if time.monotonic() > end:
                break
            now, words = check_way(way, each)
            if now == outcome:
                graph, said, found = each, words, True
                break
    return graph, said


def leave(graph, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{graph.seed}.onnx").write_bytes(to_model(graph).SerializeToString())
    for name, array in graph.inputs.items():
        np.save(folder / f"{graph.seed}-{name}.npy", array)
    def show(node):
        shown = {name: value if isinstance(value, (int, float, str, list)) else "(graph)"
                 for name, value in node.attributes.items()}
        return f"{node.op}{shown or ''}"

    return " ".join(show(node) for node, _ in graph.nodes)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="fuzz --import", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("fuzz-failures"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--hostile", action="store_true", help="indices out of range")
    parser.add_argument("--resized", action="store_true", help="inputs of other sizes than those of the graph")
    parser.add_argument("--seconds", type=int, default=120, help="time limit of a graph; beside other work, more")
    parser.add_argument("--ways", default="compile", help="compile, tools, run: with commas between them")
    parser.add_argument("--shrink-seconds", type=int, default=60, help="for each failure; 0: not at all")
    parser.add_argument("--most", type=int, default=20, help="failures to make small")
    args = parser.parse_args()
    args.ways = args.ways.split(",")
    if not set(args.ways) <= set(WAYS):
        parser.error(f"--ways takes {', '.join(WAYS)}")
    return args


def main():
    global _seconds  # also of the forked processes
    args = parse_arguments()
    _seconds = args.seconds
    load_all()
    counts, refusals, failures = collections.Counter(), collections.Counter(), []
    began = shown = time.monotonic()
    tasks = [(seed, args.ways) for seed in range(args.seed, args.seed + args.count)]
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(args.jobs, mp_context=context) as pool:
        kind = "hostile" if args.hostile else "resized" if args.resized else None
        if kind:
            tasks = [(seed, kind) for seed, _ in tasks]
        chunks = [tasks[begin:begin + TOGETHER] for begin in range(0, len(tasks), TOGETHER)]
        results = pool.map(functools.partial(check_together, check_hostile if kind else check_seed), chunks)
        for seed, operators, outcomes in itertools.chain.from_iterable(results):
            for way, outcome, said in outcomes:
                counts[outcome] += 1
                if outcome == "refused":
                    refusals[signature(outcome, said)[1]] += 1
                elif outcome != "right":
                    failures.append((seed, way, outcome, said))
                    print(f"seed {seed}: {way}: {outcome}: {said[:600]}\n  {operators}", flush=True)
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                print(f"{sum(counts.values())} done, {len(failures)} failed, {shown - began:.0f} s", file=sys.stderr,
                      flush=True)
    seen = set()
    for seed, way, outcome, said in failures:
        if args.shrink_seconds and not kind and signature(outcome, said) not in seen and len(seen) < args.most:
            seen.add(signature(outcome, said))
            graph, words = shrink(draw_graph(seed), way, outcome, args.shrink_seconds)
            print(f"seed {seed} made small: {leave(graph, args.keep)}\n  {(words or said)[:400]}", flush=True)
    for said, count in refusals.most_common():
        print(f"{count} refused: {said}")
    print(f"{len(failures)} of {args.count} graphs failed from seed {args.seed}; {counts['right']} right, "
          f"{counts['refused']} refused")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
