"""Imports an ONNX model as linalg on tensors: func.func @main with ops of upstream dialects.

    python -m layout_mlir.onnx_import model.onnx -o model.mlirbc

`read` reads a file, `prepare_checked` prepares the model (prepare.py), `lower_to_text` imports it (graph.py), and
`check` compares the module with ONNX Runtime.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from layout_mlir.onnx_import.errors import ImportFailed, Lowered, explain_missing
from layout_mlir.onnx_import.node import ImportFailure
from layout_mlir.tools import run_tool, whole_file

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["ImportFailed", "Lowered", "check", "explain_missing", "import_model", "load", "lower", "lower_to_text",
           "make_runnable", "check_valid", "prepare_checked", "prepare_unchecked", "read", "to_text"]


def read(path: str | os.PathLike[str]) -> ModelProto:
    """Returns the model of a file, including weights in separate files."""
    try:
        import onnx
        from google.protobuf.message import DecodeError
        from onnx import checker
    except ImportError as error:
        raise explain_missing(error, "onnx") from error
    try:
        model = onnx.load(path)
    except DecodeError as error:
        raise ImportFailed(f"{path} is not an ONNX model: {error}") from error
    except (checker.ValidationError, ValueError) as error:  # raised for separate files of weights
        raise _not_valid(error) from error
    if not model.HasField("graph"):
        raise ImportFailed(f"{path} is not an ONNX model: it has no graph")
    return model


def _not_valid(error: Exception) -> ImportFailed:
    """Returns the error for a model that the onnx package rejects, with the package's reason in one line."""
    reason = ' '.join(str(error).replace('==> Context', '').split())
    # Package managers and caches link files.
    remedy = ("replace the link by a copy of the file" if re.search("symbolic link|hard ?link", reason) else
              "onnx.checker.check_model accepts a valid model: export it again")
    return ImportFailed(f"the model is not valid: {reason}\n({remedy})")


def check_valid(model: ModelProto) -> None:
    """Raises ImportFailed if the onnx package rejects a prepared model. Types are not inferred, which has errors of its
    own."""
    from onnx import checker

    from layout_mlir.onnx_import.prepare import without_weights

    try:
        checker.check_model(without_weights(model))
    except checker.ValidationError as error:
        raise _not_valid(error) from error


def prepare_checked(model: ModelProto, reseed: int | None = None) -> ModelProto:
    """Returns the prepared model; raises ImportFailed if the onnx package rejects it."""
    model = prepare_unchecked(model, reseed)
    check_valid(model)
    return model


def prepare_unchecked(model: ModelProto, reseed: int | None = None) -> ModelProto:
    """Returns the prepared model, which check_valid has to check. The check takes longer than the import of a small
    model, because it loads the definitions of all operators."""
    from onnx import checker, defs

    from layout_mlir.onnx_import.prepare import prepare

    if not model.graph.output:
        raise ImportFailed("the model has no results")
    newest = defs.onnx_opset_version()
    for each in model.opset_import:
        if each.domain in ("", "ai.onnx") and each.version > newest:
            raise ImportFailed(f"the model has the opset {each.version}, but the newest that the installed onnx "
                               f"package defines is {newest}: convert it (onnx.version_converter), or export it for "
                               f"opset {newest}")
    try:
        return prepare(model, reseed)
    except checker.ValidationError as error:
        raise _not_valid(error) from error


def load(path: str | os.PathLike[str], reseed: int | None = None) -> ModelProto:
    """Returns the prepared model of the file `path`."""
    return prepare_checked(read(path), reseed)


def lower_to_text(model: ModelProto, float_products: bool = False) -> Lowered:
    """Returns the linalg module of a prepared model; raises ImportFailed if a node is not imported. With
    `float_products`, products and convolutions of dequantized bytes are those of floats, as NPUs compute them, and not
    of the bytes with sums of 32 bits."""
    from layout_mlir.onnx_import.graph import import_graph

    try:
        importer, text = import_graph(model, float_products)
    except ImportFailure as error:
        raise ImportFailed(str(error)) from error
    return text, importer.builder.arrays


def lower(model: ModelProto, float_products: bool = False) -> bytes:
    """Returns the module of lower_to_text, as bytecode."""
    from layout_mlir import attach_constants

    return attach_constants(*lower_to_text(model, float_products))


def check(model: ModelProto, lowered: Lowered, inputs: list[NDArray[Any]] | None = None) -> None:
    """Raises ImportFailed if a module and ONNX Runtime compute different results for the model, or if they cannot be
    compared. Inputs are random if none are given."""
    from layout_mlir.onnx_import.compare import Check, compile_lowered

    Check(model, inputs, warns=False).finish(compile_lowered(lowered), lambda: model)


def import_model(path: str | os.PathLike[str], output: str | os.PathLike[str], reseed: int | None = None,
                 runnable: bool = False, save_onnx: str | os.PathLike[str] | None = None,
                 compare: bool = True, inputs: list[NDArray[Any]] | None = None, float_products: bool = False) -> None:
    """Imports an .onnx file and writes the module to `output`: bytecode if its name ends in .mlirbc, else text.
    `reseed` is the seed of random weights, or None to keep the weights. A `runnable` text has the attributes that
    layout-run requires. The prepared model is written to `save_onnx`, if given. With `compare`, raises ImportFailed if
    results on `inputs`, by default random ones, differ from those of ONNX Runtime. `float_products` is that of
    lower_to_text."""
    import onnx

    model = load(path, reseed)
    if save_onnx:
        with whole_file(save_onnx, "wb") as file:
            onnx.save(model, file)
    from layout_mlir import attach_constants

    lowered = lower_to_text(model, float_products)
    if not compare:
        print("note: the module was not compared with ONNX Runtime", file=sys.stderr)
    elif importlib.util.find_spec("onnxruntime") is None:
        print("note: onnxruntime is not installed, the module was not compared", file=sys.stderr)
    else:
        check(model, lowered, inputs)
    module = attach_constants(*lowered)
    if is_bytecode(output):
        with whole_file(output, "wb") as file:
            file.write(module)
        return
    text = to_text(module)
    with whole_file(output) as file:
        file.write(make_runnable(text) if runnable else text)


def is_bytecode(output: str | os.PathLike[str]) -> bool:
    """Returns true if a module is written to a file of this name as bytecode."""
    return pathlib.Path(output).suffix == ".mlirbc"


_HEADER = re.compile(r"^ *func\.func .*", re.MULTILINE)
_LOCATION = re.compile(r' loc\((?:#\w+|"(?:[^"\\]|\\.)*")\)')


def to_text(module: bytes) -> str:
    """Returns the text of a module with locations, except those of function arguments, which would clutter the
    signature."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.mlirbc")
        path.write_bytes(module)
        text = run_tool("layout-opt", path, "--mlir-print-debuginfo")
    return _HEADER.sub(lambda head: _LOCATION.sub("", head[0]), text)


_SIGNATURE = re.compile(r"func\.func (?:public )?@main\((?P<arguments>[^)]*)\) -> (?P<results>\([^)]*\)|[^ ]*)"
                        r"(?P<attributes> attributes \{)?")


def make_runnable(text: str) -> str:
    """Adds the attributes to @main that layout-run requires after an upstream lowering."""
    def attach(match: re.Match[str]) -> str:
        types = ", ".join(re.findall(r"tensor<[^>]*>", match["arguments"]))
        added = "llvm.emit_c_interface"
        if "layout.signature" not in text:
            added += f", layout.signature = ({types}) -> {match['results']}"
        if match["attributes"]:
            return f"{match[0]}{added}, "
        return f"{match[0]} attributes {{{added}}}"

    return _SIGNATURE.sub(attach, text, count=1)
