"""Imports torch.export programs as ONNX models, with torch's own exporter."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from layout_mlir import onnx_import
from layout_mlir.onnx_import.errors import ImportFailed, describe_failure

if TYPE_CHECKING:
    from onnx import ModelProto


def read(path: pathlib.Path) -> ModelProto:
    """Returns the ONNX model of an .onnx file or of a torch.export program (.pt2)."""
    return _export(path) if path.suffix == ".pt2" else onnx_import.read(path)


def _export(path: pathlib.Path) -> ModelProto:
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
        model: ModelProto = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
        return model
    except Exception as error:  # as above
        cause: BaseException = error
        while cause.__cause__:
            cause = cause.__cause__
        raise ImportFailed(f"torch.onnx.export refuses {path}: {describe_failure(cause)}") from error
