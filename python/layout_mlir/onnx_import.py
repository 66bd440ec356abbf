"""Imports an ONNX model as linalg on tensors: func.func @main in plain MLIR.

    python -m layout_mlir.onnx_import model.onnx -o model.mlirbc

The model is prepared with the `onnx` package, written as torch-dialect MLIR by
`iree-import-onnx` and lowered with the torch passes of `iree-opt` (both from the
extra `onnx` of pyproject.toml). What comes out has only operations of upstream
dialects; that is checked.

onnx_prepare.py says what the preparation does. The modules of IREE's compiler
run in a process of their own: what they do not know can make them abort.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from layout_mlir import attach_constants
from layout_mlir.isolated import Crashed, isolated
from layout_mlir.onnx_functions import has_function
from layout_mlir.onnx_loops import find_loops, torch_type
from layout_mlir.onnx_prepare import find_weights, prepare, settle, take_weights
from layout_mlir.onnx_refusals import describe, find_refused
from layout_mlir.onnx_rewrites import Refused
from layout_mlir.onnx_views import find_view
from layout_mlir.tools import run_tool, whole_file

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TypeProto

_Source = TypeVar("_Source")

_PREFIXES = {"affine", "arith", "builtin", "cf", "func", "linalg", "math", "scf", "tensor"}

# ONNX to torch to linalg; the last two passes change function types and casts
# from torch's tensors to builtin ones.
_PIPELINE = (
    "builtin.module("
    "func.func(convert-torch-onnx-to-torch),"
    "torch-lower-to-backend-contract{decompose=true},"
    "func.func(convert-torch-to-linalg,convert-torch-to-scf,convert-torch-to-arith,"
    "convert-torch-to-tensor),"
    "torch-func-backend-type-conversion,"
    "func.func(canonicalize,cse,torch-finalizing-backend-type-conversion,canonicalize,cse))")


class ImportFailed(RuntimeError):
    """The model cannot be imported; the message says which step refused it."""


def explain_missing(error: ImportError, extra: str) -> ImportFailed:
    """What to raise where packages cannot be imported that an extra of pyproject.toml lists."""
    return ImportFailed(f"{error}: pip install 'layout-mlir[{extra}]' brings it")


_HEADER = re.compile(r"^ *func\.func .*", re.MULTILINE)
_LOCATION = re.compile(r' loc\((?:#\w+|"(?:[^"\\]|\\.)*")\)')


# A module as text and the arrays of what it states as dense_resource<NAME>.
Lowered = tuple[str, dict[str, NDArray[Any]]]

# Constants of fewer bytes are part of the text.
_FEWEST_BYTES = 1024
_DTYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}


def _take_constants(module: Any) -> dict[str, NDArray[Any]]:
    """Puts a name in the place of each large constant; the arrays that they name."""
    from iree.compiler import ir

    names: dict[Any, str] = {}
    arrays: dict[str, NDArray[Any]] = {}

    def take(operation: Any) -> Any:
        value = operation.attributes["value"] if operation.name == "arith.constant" else None
        if not isinstance(value, ir.DenseElementsAttr) or value.is_splat:
            return ir.WalkResult.ADVANCE
        kind = ir.ShapedType(value.type)
        dtype = _DTYPES.get(str(kind.element_type))
        if dtype and math.prod(kind.shape) * np.dtype(dtype).itemsize >= _FEWEST_BYTES:
            if value not in names:
                names[value] = f"constant_{len(names)}"
                arrays[names[value]] = np.array(value).view(dtype)
            operation.attributes["value"] = ir.Attribute.parse(
                f"dense_resource<{names[value]}> : {value.type}", module.context)
        return ir.WalkResult.ADVANCE

    module.walk(take)
    return arrays


def print_located(module: Any) -> Lowered:
    """A module with the names of nodes as locations."""
    arrays = _take_constants(module)
    return module.get_asm(enable_debug_info=True), arrays


def _import_nodes(model: ModelProto, context: Any) -> tuple[Any, dict[str, str]]:
    """The module in torch's dialect; a node that is written as loops is a call in it. Also the text of
    the functions that are called, by name."""
    from iree.compiler import ir
    from iree.compiler.dialects import func
    from iree.compiler.extras import onnx_importer

    loops: dict[str, str] = {}

    class Cache(onnx_importer.ModuleCache):  # type: ignore[misc]
        """Says which node is a call of which function."""

        def get_operator_function(self, operator: str, domain: str, version: int, inputs: Sequence[TypeProto],
                                  outputs: Sequence[TypeProto], node: NodeProto, config: Any) -> Any:
            name = f"{operator}{len(loops)}"
            found = find_loops(node, name, inputs, outputs) or find_view(node, name, inputs, outputs)
            if not found:
                return super().get_operator_function(operator, domain, version, inputs, outputs, node, config)
            loops[name], *types = found
            types = [[ir.Type.parse(torch_type(each)) for each in group] for group in types]
            function = func.FuncOp(name, ir.FunctionType.get(*types), visibility="private",
                                   ip=ir.InsertionPoint(module.regions[0].blocks[0]))
            function.attributes["torch.onnx_meta.opset_version"] = ir.IntegerAttr.get(
                ir.IntegerType.get_signed(64), version)
            return function

    info = onnx_importer.ModelInfo(model)
    module = info.create_module(context=context).operation
    cache = onnx_importer.ContextCache(context)
    importer = onnx_importer.NodeImporter.define_function(info.main_graph, module, cache, Cache(module, cache))
    importer.import_all()
    module.verify()
    return module, loops


def _inline(module: Any, loops: Mapping[str, str]) -> None:
    """Puts the functions in place of their calls."""
    from iree.compiler import ir, passmanager

    body = module.regions[0].blocks[0]
    for function in list(body.operations):
        if ir.StringAttr(function.attributes["sym_name"]).value in loops:
            function.erase()
    written = ir.Module.parse("\n".join(loops.values()), module.context)
    for function in list(written.body.operations):
        function.detach_from_parent()
        body.append(function)
    passmanager.PassManager.parse("builtin.module(inline,canonicalize,cse,symbol-dce)", module.context).run(module)

    def locate(operation: Any) -> Any:
        """Operations of the loops are at the node that they were called for."""
        if isinstance(operation.location, ir.CallSiteLoc):
            operation.location = operation.location.caller
        return ir.WalkResult.ADVANCE

    module.walk(locate)


def _to_constants(module: Any, count: int) -> None:
    """Makes the constants weight_0, weight_1, .. of the last arguments of @main."""
    from iree.compiler import ir
    from iree.compiler.dialects import arith

    main = next(each for each in module.regions[0].blocks[0].operations
                if ir.StringAttr(each.attributes["sym_name"]).value == "main")
    block = main.regions[0].blocks[0]
    first = len(block.arguments) - count
    with ir.InsertionPoint.at_block_begin(block):
        for number, argument in enumerate(list(block.arguments)[first:]):
            value = ir.Attribute.parse(f"dense_resource<weight_{number}> : {argument.type}")
            constant = arith.ConstantOp(argument.type, value, loc=argument.location)
            argument.replace_all_uses_with(constant.result)
    for number in reversed(range(first, first + count)):
        block.erase_argument(number)
    kind = main.type
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kind.inputs[:first], kind.results))


def _lower(model: ModelProto) -> Lowered:
    """The linalg module of a prepared model but for the elements of its weights; runs isolated."""
    from iree.compiler import ir, passmanager

    weights = take_weights(model.graph)
    with ir.Context() as context, ir.Location.unknown():
        module, loops = _import_nodes(model, context)
        passmanager.PassManager.parse(_PIPELINE).run(module)
        if loops:
            _inline(module, loops)
        _to_constants(module, len(weights))
        return print_located(module)


def _lower_prepared(model: ModelProto) -> Lowered:
    """The linalg module of a prepared model."""
    from onnx import numpy_helper

    text, arrays = lower_isolated(_lower, model)
    for number, weight in enumerate(map(numpy_helper.to_array, find_weights(model.graph).values())):
        arrays[f"weight_{number}"] = weight.view(f"u{weight.itemsize}")
    return text, arrays


def describe_failure(error: BaseException) -> str:
    """What a pass says, in few lines: one line of MLIR may hold a network's weights."""
    text = error if isinstance(error, Crashed) else f"{type(error).__name__}: {error}"
    lines = [line[:300] for line in str(text).splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line] or lines
    return "\n  ".join(errors[:5])


def lower_isolated(function: Callable[[_Source], Lowered], model: _Source) -> Lowered:
    """What `function` makes of a model in a process of its own: a module of upstream's dialects."""
    try:
        text, arrays = isolated(function, model)
    except Crashed as error:
        raise ImportFailed(f"the lowering to linalg failed: {describe_failure(error)}") from error
    except Exception as error:
        raise ImportFailed(f"the lowering to linalg failed: {describe_failure(error)}") from error
    check_dialects(text)
    return text, arrays


def lower(model: ModelProto) -> bytes:
    """The linalg module of a prepared model, as bytecode."""
    return attach_constants(*lower_to_text(model))


def lower_to_text(model: ModelProto) -> Lowered:
    """The linalg module of a prepared model. Operators that the passes do not know are replaced by
    the functions that define them, where ONNX has such."""
    try:
        import iree.compiler.extras.onnx_importer  # noqa: F401
    except ImportError as error:
        raise explain_missing(error, "onnx") from error
    replaced = set()
    while True:
        try:
            return _lower_prepared(model)
        except ImportFailed as error:
            node = find_refused(model, str(error), _lower_prepared)
            if node is None:
                raise
            refusal = ImportFailed(describe(node, error))
            if node.op_type in replaced or not has_function(model, node.op_type):
                raise refusal from None
            replaced.add(node.op_type)
            try:
                model = settle(model, lambda each: each.op_type in replaced)
            except Exception:  # the onnx package refuses it in its own ways
                raise refusal from None


_OPERATION = re.compile(r'^\s*(?:%[^=]*= )?"?([a-z_]+)\.([a-z_0-9.]+)', re.MULTILINE)


def check_dialects(text: str) -> None:
    """Refuses operations and types that are not upstream's."""
    foreign = sorted({f"{dialect}.{op}" for dialect, op in _OPERATION.findall(text)
                      if dialect not in _PREFIXES} | set(re.findall(r"![a-z_]+[.<][^,)]*", text)))
    if foreign:
        raise ImportFailed("operations or types without a lowering to linalg are left: "
                           + ", ".join(foreign))
    if not re.search(r"func\.func (public )?@main\(", text):
        raise ImportFailed("the lowering lost the function @main")


def prepare_checked(model: ModelProto, reseed: int | None = None) -> ModelProto:
    """The prepared model; what the onnx package refuses is an ImportFailed."""
    from onnx import checker, shape_inference, version_converter

    if not model.graph.output:
        raise ImportFailed("the model has no results")
    try:
        return prepare(model, reseed)
    except Refused as error:
        raise ImportFailed(str(error)) from error
    except (checker.ValidationError, shape_inference.InferenceError,
            version_converter.ConvertError) as error:
        raise ImportFailed(f"the model is not valid: {error}") from error


def read(path: str | os.PathLike[str]) -> ModelProto:
    """The model of the file `path`, with weights that lie in files beside it."""
    try:
        import onnx
        from onnx import checker
        from google.protobuf.message import DecodeError
    except ImportError as error:
        raise explain_missing(error, "onnx") from error
    try:
        return onnx.load(path)
    except DecodeError as error:
        raise ImportFailed(f"{path} is not an ONNX model: {error}") from error
    except checker.ValidationError as error:  # of files beside it
        raise ImportFailed(f"the model is not valid: {error}") from error


def load(path: str | os.PathLike[str], reseed: int | None = None) -> ModelProto:
    """The prepared model of the file `path`."""
    return prepare_checked(read(path), reseed)


def check(model: ModelProto, module: bytes, inputs: list[NDArray[Any]] | None = None) -> None:
    """Refuses a module that does not compute what ONNX Runtime computes for the model."""
    from layout_mlir import onnx_compare

    try:
        onnx_compare.compare(model, module, lower, inputs)
    except onnx_compare.Differs as error:
        raise ImportFailed(f"the imported module is wrong: {error}\n"
                           "(--no-compare writes it as it is)") from error
    except onnx_compare.NotCompared as error:
        raise ImportFailed(f"the imported module could not be compared: {error}\n"
                           "(--input gives inputs to compare on, --no-compare writes it "
                           "unchecked)") from error


def import_model(path: str | os.PathLike[str], output: str | os.PathLike[str], reseed: int | None = None,
                 runnable: bool = False, save_onnx: str | os.PathLike[str] | None = None,
                 compare: bool = True, inputs: list[NDArray[Any]] | None = None) -> None:
    """Imports the .onnx file `path` to the file `output`: bytecode where its name ends in .mlirbc,
    else text."""
    import onnx

    model = load(path, reseed)
    if save_onnx:
        with whole_file(save_onnx, "wb") as file:
            onnx.save(model, file)
    module = lower(model)
    if not compare:
        print("note: the module was not compared with ONNX Runtime", file=sys.stderr)
    elif importlib.util.find_spec("onnxruntime") is None:
        print("note: onnxruntime is not installed, the module was not compared", file=sys.stderr)
    else:
        check(model, module, inputs)
    if _is_bytecode(output):
        with whole_file(output, "wb") as file:
            file.write(module)
        return
    text = to_text(module)
    with whole_file(output) as file:
        file.write(make_runnable(text) if runnable else text)


def _is_bytecode(output: str | os.PathLike[str]) -> bool:
    return pathlib.Path(output).suffix == ".mlirbc"


def to_text(module: bytes) -> str:
    """The text of a module with its locations; arguments have none, so that the head of a function
    reads as everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.mlirbc")
        path.write_bytes(module)
        text = run_tool("layout-opt", path, "--mlir-print-debuginfo")
    return _HEADER.sub(lambda head: _LOCATION.sub("", head[0]), text)


_SIGNATURE = re.compile(r"func\.func (?:public )?@main\((?P<arguments>[^)]*)\) -> (?P<results>\([^)]*\)|[^ ]*)"
                        r"(?P<attributes> attributes \{)?")


def make_runnable(text: str) -> str:
    """Puts on @main what layout-run needs after a stock lowering."""
    def attach(match: re.Match[str]) -> str:
        types = ", ".join(re.findall(r"tensor<[^>]*>", match["arguments"]))
        added = f"llvm.emit_c_interface, layout.signature = ({types}) -> {match['results']}"
        if match["attributes"]:
            return f"{match[0]}{added}, "
        return f"{match[0]} attributes {{{added}}}"

    return _SIGNATURE.sub(attach, text, count=1)


def main(argv: Sequence[str] | None = None, prog: str = "python -m layout_mlir.onnx_import") -> None:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Imports an ONNX model as linalg on tensors (func.func @main).")
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument("-o", "--output", required=True, help="the module: bytecode if it ends in .mlirbc, else text")
    parser.add_argument("--reseed", type=int, metavar="SEED",
                        help="replace the weights by seeded random values of the same shapes")
    parser.add_argument("--runnable", action="store_true",
                        help="put on @main what layout-run reads after a lowering that is not "
                             "this project's (C interface and layout.signature)")
    parser.add_argument("--save-onnx", metavar="FILE",
                        help="also write the ONNX model that is imported, with its weights")
    parser.add_argument("--input", action="append", metavar="FILE.npy",
                        help="compare on this input instead of a random one (one for each)")
    parser.add_argument("--no-compare", action="store_true",
                        help="write the module without comparing it with ONNX Runtime")
    args = parser.parse_args(argv)
    if args.reseed is not None and args.reseed < 0:
        parser.error("--reseed must not be negative")
    if args.runnable and _is_bytecode(args.output):
        parser.error("--runnable writes text: name a file that does not end in .mlirbc")
    try:
        inputs = [np.load(name) for name in args.input] if args.input else None
        import_model(args.model, args.output, args.reseed, args.runnable, args.save_onnx,
                     not args.no_compare, inputs)
    except ImportError as error:
        sys.exit(f"error: {explain_missing(error, 'onnx')}")
    except (ImportFailed, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
