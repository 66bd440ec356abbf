"""Runs one runtime on one model in its own process; started by ./dev bench --peers.

usage: peer_process.py RUNTIME MODEL.onnx THREADS FOLDER

FOLDER has the inputs, 00.npy and so on, and receives the results, RUNTIME.00.npy and so on. The first output line
reports the loading. Then each input line is a number of seconds, and the answer is the fastest run within that time. On
one thread, times are processor time, so that other programs do not matter. With the word `all` after the number, the
answer has the wall times of all runs.
"""

import importlib.metadata
import json
import os
import pathlib
import re
import resource
import sys
import time

import numpy as np

# The package whose version is reported for each runtime.
PACKAGES = {"untouched": "layout_mlir", "laid out": "layout_mlir", "ONNX Runtime": "onnxruntime",
            "OpenVINO": "openvino", "IREE": "iree-base-runtime", "TVM": "apache-tvm"}


def load_layout(path, threads, untouched):
    import layout_mlir
    from layout_mlir.modules import read

    def load():
        module = read(path)
        if untouched:
            module = layout_mlir.run_pipeline(module, "layout-linalg-to-llvm{cpu=host}")
        return layout_mlir.compile(module, threads=threads)

    return load, lambda program, inputs: lambda: program(*inputs)


def load_onnxruntime(path, threads):
    import onnxruntime

    def load():
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def bind(session, inputs):
        feeds = {each.name: array for each, array in zip(session.get_inputs(), inputs)}
        return lambda: session.run(None, feeds)

    return load, bind


def load_openvino(path, threads):
    import openvino

    def load():
        return openvino.Core().compile_model(path, "CPU", {
            "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": "f32"})

    def bind(compiled, inputs):
        request = compiled.create_infer_request()
        feeds = dict(enumerate(inputs))
        return lambda: [*request.infer(feeds, share_inputs=True, share_outputs=True).values()]

    return load, bind


def load_iree(path, threads):
    import iree.compiler.tools
    import iree.runtime
    from iree.compiler.tools.import_onnx import __main__ as importer

    def load():
        module = pathlib.Path(path).with_suffix(".iree.mlir")
        importer.main(importer.parse_arguments([path, "-o", str(module)]))
        data = iree.compiler.tools.compile_file(
            str(module), input_type="onnx", target_backends=["llvm-cpu"],
            extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-data-tiling"])
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")
        loaded = iree.runtime.load_vm_module(
            iree.runtime.VmModule.copy_buffer(config.vm_instance, data), config)
        function, = (each for each in loaded.vm_module.function_names
                     if not each.startswith("__") and not each.endswith("$async"))
        return config, loaded[function]

    def bind(program, inputs):
        config, function = program
        arrays = [iree.runtime.asdevicearray(config.device, each) for each in inputs]

        def call():
            found = function(*arrays)
            return [each.to_host() for each in (found if isinstance(found, tuple) else (found,))]
        return call

    return load, bind


def load_tvm(path, threads):
    os.environ["TVM_NUM_THREADS"] = str(threads)
    import onnx
    import tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx

    def load():
        module = from_onnx(onnx.load(path), keep_params_in_input=False)
        target = tvm.target.Target({"kind": "llvm",
                                    "mcpu": tvm.target.codegen.llvm_get_system_cpu()})
        return relax.VirtualMachine(tvm.compile(module, target), tvm.cpu())["main"]

    def bind(function, inputs):
        tensors = [tvm.runtime.tensor(each) for each in inputs]

        def call():
            found = function(*tensors)
            return [each.numpy() for each in ([found] if hasattr(found, "numpy") else found)]
        return call

    return load, bind


def start(runtime, path, threads):
    """Returns two functions: load() returns the loaded model, and bind(loaded, inputs) returns a function without
    arguments that runs it on these inputs."""
    if PACKAGES[runtime] == "layout_mlir":
        return load_layout(path, threads, runtime == "untouched")
    return {"ONNX Runtime": load_onnxruntime, "OpenVINO": load_openvino, "IREE": load_iree,
            "TVM": load_tvm}[runtime](path, threads)


def peak_bytes():
    """Returns the peak resident bytes of this process. ru_maxrss would include its parent's."""
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status)[1])


def describe(error):
    """Returns the first line with `error:` of an exception, or its first line."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {next((line for line in lines if 'error:' in line), lines[0])}"[:200]


def version(runtime):
    """Returns the version of a runtime, or None if it is not installed."""
    package = PACKAGES[runtime]
    if package == "layout_mlir":
        return ""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def main(runtime, path, threads, folder):
    # Output of libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**values):
        print(json.dumps(values), file=answers, flush=True)

    folder, release = pathlib.Path(folder), version(runtime)
    if release is None:
        return answer(error="not installed")
    inputs = [np.load(path) for path in sorted(folder.glob("[0-9]*.npy"))]
    try:
        load, bind = start(runtime, path, int(threads))
        begin, before = time.perf_counter(), peak_bytes()
        call = bind(load(), inputs)
        seconds = time.perf_counter() - begin
        results = call()
    except Exception as error:  # any failure of the library
        return answer(error=describe(error), version=release)
    for number, result in enumerate(results if isinstance(results, (list, tuple)) else [results]):
        np.save(folder / f"{runtime}.{number:02}.npy", result)
    compiler = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    answer(version=release, seconds=seconds, bytes=max(peak_bytes() - before, compiler))
    processor_time = time.process_time if threads == "1" else time.perf_counter
    for line in sys.stdin:
        seconds, *words = line.split()
        clock = time.perf_counter if words else processor_time
        end, times = clock() + float(seconds), []
        while not times or clock() < end:
            begin = clock()
            call()
            times.append(clock() - begin)
        answer(seconds=min(times), **({"times": times} if words else {}))


if __name__ == "__main__":
    main(*sys.argv[1:])
