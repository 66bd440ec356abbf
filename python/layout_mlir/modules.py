"""Modules as users have them, for the functions of the extension that take one."""

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

_Shapes = Mapping[str | int, Sequence[int]]

# Of files that are read as ONNX models, and of all that are read.
ONNX_SUFFIXES = (".onnx", ".pt2")
_SUFFIXES = (".mlir", ".mlirbc", *ONNX_SUFFIXES)


def read(module: Any, shapes: _Shapes | None = None) -> Any:
    """Text as a str, or bytecode as bytes; see open_module."""
    from layout_mlir import attach_constants

    opened = open_module(module, shapes)
    return attach_constants(*opened) if isinstance(opened, tuple) else opened


def open_module(module: Any, shapes: _Shapes | None = None) -> Any:
    """Text as a str, bytecode as bytes, or what attach_constants takes.

    A path object, or a str that ends in .mlir, .mlirbc, .onnx or .pt2, is a file; what is no file is
    returned as it is. Models in ONNX and StableHLO are imported, and programs of torch.export where
    torch is installed. `shapes` are sizes that an .onnx or .pt2 file leaves open: a shape for each
    name or number of an input.
    """
    is_file = isinstance(module, os.PathLike) or isinstance(module, str) and module.endswith(_SUFFIXES)
    path = pathlib.Path(module) if is_file else None
    if shapes and not (path and path.suffix in ONNX_SUFFIXES):
        raise TypeError("shapes are for the inputs of an .onnx or .pt2 file")
    return _read_file(path, shapes or {}) if path else module


def _read_file(path: pathlib.Path, shapes: _Shapes) -> str | bytes | tuple[str, Mapping[str, Any]]:
    from layout_mlir import LayoutError, onnx_import, onnx_shapes, stablehlo_import, torch_import

    try:
        if path.suffix in ONNX_SUFFIXES:
            model = torch_import.read(path)
            onnx_shapes.set_shapes(model, shapes)
            model = onnx_import.prepare_checked(model)  # not a second one beside it
            return onnx_import.lower_to_text(model)
        data = path.read_bytes()
        if stablehlo_import.is_stablehlo(data):
            return stablehlo_import.lower_to_text(data)
        return data if data.startswith(b"ML\xefR") else data.decode()
    except (ImportError, OSError, UnicodeError, onnx_import.ImportFailed, onnx_shapes.WrongShape) as error:
        raise LayoutError(f"{path}: {error}") from error
