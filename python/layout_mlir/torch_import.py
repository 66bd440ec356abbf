"""Imports torch.export programs as ONNX models, with torch's own exporter."""

from __future__ import annotations

import pathlib
import zipfile
from typing import TYPE_CHECKING, Any

from layout_mlir import onnx_import
from layout_mlir.onnx_import.errors import ImportFailed, describe_failure

if TYPE_CHECKING:
    from onnx import ModelProto


def read(path: pathlib.Path) -> ModelProto:
    """Returns the ONNX model of an .onnx file or of a torch.export program (.pt2)."""
    return _export(path) if path.suffix == ".pt2" else onnx_import.read(path)


def _export(path: pathlib.Path) -> ModelProto:
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise ImportFailed(f"{path} is not a program of torch.export: it is not a zip archive")
    try:
        import onnxscript  # noqa: F401  # what torch.onnx.export stands on
        import torch
    except ImportError as error:
        raise ImportFailed(f"{path} is a program of torch.export ({error}): install torch and onnxscript to read it, "
                           "or export it with torch.onnx.export(torch.export.load(..), f='model.onnx', "
                           "dynamo=True)") from error
    try:
        program = torch.export.load(path)
    except OSError:
        raise
    except Exception as error:  # torch has no common base class of these errors
        raise ImportFailed(f"{path} is not a program of torch.export: {describe_failure(error)}") from error
    try:
        # Assignments to buffers are part of the signature once the graph is functional.
        _check_signature(path, program.run_decompositions({}).graph_signature)
        model: ModelProto = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
        return model
    except ImportFailed:
        raise
    except Exception as error:  # as above
        cause: BaseException = error
        while cause.__cause__:
            cause = cause.__cause__
        raise ImportFailed(f"torch.onnx.export refuses {path}: {describe_failure(cause)}\n(write this part of the model "
                           "with other operators, or export it to ONNX with a custom_translation_table)") from error


def _check_signature(path: pathlib.Path, signature: Any) -> None:
    """Raises ImportFailed for parts of a program that torch's exporter ignores or does not expect."""
    for name in signature.buffers_to_mutate.values():
        raise ImportFailed(f"{path} changes its buffer '{name}' in each call, but ONNX models have no state: make the "
                           "buffer an input and a result, or export the model in eval mode")
    for number, each in enumerate(signature.output_specs):
        value = getattr(each.arg, "value", None)
        if value is not None:
            raise ImportFailed(f"result {number} of {path} is the constant {value!r}: return tensors only")
