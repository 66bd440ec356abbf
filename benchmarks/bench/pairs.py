"""Compares a model in one process: this project and ONNX Runtime, as functions without arguments."""

import onnx
import onnxruntime

import layout_mlir
from layout_mlir.report import difference
from layout_mlir.tools import ToolError

from . import onnx_networks
from .peers import ORACLE, OURS, TOLERANCE


def load_pair(model, path, threads=1):
    """Writes the model to `path` and returns {runtime: function that runs it}, on the same random inputs. Raises
    ToolError if the results differ."""
    inputs = list(onnx_networks.draw_inputs(model))
    onnx.save(model, path)
    program = layout_mlir.compile(path, threads=threads)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = {each.name: array for each, array in zip(session.get_inputs(), inputs)}
    calls = {OURS: lambda: program(*inputs), ORACLE: lambda: session.run(None, feeds)}
    found = calls[OURS]()
    for ours, expected in zip(found if isinstance(found, tuple) else (found,), calls[ORACLE](), strict=True):
        off = difference(expected, ours)[1]
        if off is None or off > TOLERANCE:
            raise ToolError(f"results are off by {off}")
    return calls
