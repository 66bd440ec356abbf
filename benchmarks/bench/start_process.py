"""Runs one runtime from the file of a model to its first result, for ./dev bench --start.

usage: start_process.py RUNTIME[:loaded] MODEL.onnx INPUT.npy..

Prints an empty line as soon as there is a result, then a line of JSON: the seconds from reading the model to the result,
the peak and the current resident bytes of this process, and those of the current ones that are unchanged pages of files.
With `:loaded`, the packages of the runtime are loaded before these seconds.
"""

import importlib
import json
import pathlib
import re
import sys
import time

import numpy as np

PACKAGES = {"layout": ("onnx", "layout_mlir"), "onnxruntime": ("onnxruntime",)}


def run_layout(path, inputs):
    import layout_mlir

    program = layout_mlir.compile(path, threads=1)
    return program, program(*inputs)


def run_onnxruntime(path, inputs):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session, session.run(None, dict(zip((each.name for each in session.get_inputs()), inputs)))


def resident_bytes():
    """Returns the resident bytes, and those that are unchanged pages of files."""
    text = pathlib.Path("/proc/self/smaps_rollup").read_text()
    resident, anonymous = (1024 * int(re.search(rf"\n{name}:\s*(\d+)", text)[1]) for name in ("Rss", "Anonymous"))
    return resident, resident - anonymous


def main(runtime, path, *inputs):
    name, _, loaded = runtime.partition(":")
    run = {"layout": run_layout, "onnxruntime": run_onnxruntime}[name]
    arrays = [np.load(each) for each in inputs]
    for package in PACKAGES[name] if loaded else ():
        importlib.import_module(package)
    begin = time.perf_counter()
    results = run(path, arrays)
    seconds = time.perf_counter() - begin
    print(flush=True)
    resident, files = resident_bytes()
    from bench.peer_process import peak_bytes  # imported here because it loads further modules

    print(json.dumps({"model": seconds, "peak": peak_bytes(), "resident": resident, "files": files}), flush=True)
    return results


if __name__ == "__main__":
    main(*sys.argv[1:])
