"""Imports an ONNX model as linalg on tensors: func.func @main in plain MLIR.

    python -m layout_mlir.onnx_import model.onnx -o model.mlir

The model is prepared with the `onnx` package, written as torch-dialect MLIR by
`iree-import-onnx` and lowered with the torch passes of `iree-opt` (both from the
pip package iree-base-compiler[onnx], see requirements-onnx.txt). What comes out
has only operations of upstream dialects; that is checked, and nothing of it is
edited as text.

The preparation
  - drops initializers from the list of inputs (they are weights, not inputs),
  - turns ConstantOfShape and Constant nodes into initializers, Dropout nodes
    into nothing,
  - with `reseed`, replaces every floating-point weight by seeded random values
    that keep activations in range: the models that the onnx package carries for
    its tests have constant weights and thus degenerate results,
  - names the graph `main`, converts it to opset 17 and infers all shapes.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zlib

import numpy as np

OPSET = 17
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


# ------------------------------------------------------------------ the model

def _constant_nodes_to_initializers(graph):
    """Folds Constant and ConstantOfShape nodes with known shapes."""
    from onnx import numpy_helper

    known = {tensor.name: tensor for tensor in graph.initializer}
    kept = []
    for node in graph.node:
        attributes = {a.name: a for a in node.attribute}
        if node.op_type == "Constant" and "value" in attributes:
            array = numpy_helper.to_array(attributes["value"].t)
        elif node.op_type == "ConstantOfShape" and node.input[0] in known:
            shape = numpy_helper.to_array(known[node.input[0]])
            fill = (numpy_helper.to_array(attributes["value"].t).reshape(-1)[0]
                    if "value" in attributes else np.float32(0))
            array = np.full(shape, fill)
        else:
            kept.append(node)
            continue
        tensor = numpy_helper.from_array(np.ascontiguousarray(array), node.output[0])
        known[tensor.name] = tensor
        graph.initializer.append(tensor)
    del graph.node[:]
    graph.node.extend(kept)


def _dropout_to_identity(graph):
    """Inference drops nothing; the converter refuses some forms of Dropout."""
    used = {name for node in graph.node for name in node.input}
    used |= {output.name for output in graph.output}
    for node in graph.node:
        training = len(node.input) > 2 and node.input[2]
        mask = len(node.output) > 1 and node.output[1] in used
        if node.op_type == "Dropout" and not training and not mask:
            node.op_type = "Identity"
            del node.attribute[:], node.input[1:], node.output[1:]


def _drop_unused_initializers(graph):
    used = {name for node in graph.node for name in node.input}
    used |= {output.name for output in graph.output}
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)


_VIEWS = {"Unsqueeze", "Squeeze", "Reshape", "Identity"}


def _role(consumers, name):
    """What a weight is for: (operator, index of the operand), seen through views."""
    for node, index in consumers.get(name, []):
        if node.op_type in _VIEWS and index == 0:
            role = _role(consumers, node.output[0])
            if role:
                return role
        else:
            return node, index
    return None


def _draw(rng, role, shape, consumers):
    """Random values for a weight in that role."""
    if role is None:
        return rng.standard_normal(shape)
    node, index = role
    op = node.op_type
    attributes = {a.name: a for a in node.attribute}
    if op in ("Conv", "ConvTranspose") and index == 1:
        fan_in = int(np.prod(shape[1:]))
        return rng.standard_normal(shape) * np.sqrt(2 / fan_in)
    if op in ("Gemm", "MatMul") and index in (0, 1):
        transposed = op == "Gemm" and "transB" in attributes and attributes["transB"].i
        fan_in = shape[-1] if transposed else shape[-2]
        return rng.standard_normal(shape) * np.sqrt(1 / fan_in)
    if op == "BatchNormalization" and index in (1, 4):  # scale and variance
        # The end of a residual branch is scaled down, or the sums would grow.
        ends_branch = any(consumer.op_type in ("Add", "Sum")
                          for consumer, _ in consumers.get(node.output[0], []))
        return rng.uniform(0.8, 1.2, shape) * (0.25 if index == 1 and ends_branch else 1)
    if op in ("Mul", "Div"):
        return rng.uniform(0.8, 1.2, shape)
    return rng.standard_normal(shape) * 0.1  # biases, means, shifts


def _reseed(graph, seed):
    from onnx import numpy_helper

    consumers = {}
    for node in graph.node:
        for index, name in enumerate(node.input):
            consumers.setdefault(name, []).append((node, index))
    for tensor in graph.initializer:
        old = numpy_helper.to_array(tensor)
        if not np.issubdtype(old.dtype, np.floating) or old.size == 1:
            continue  # sizes, axes, and scalar parameters keep their meaning
        rng = np.random.default_rng([seed, zlib.crc32(tensor.name.encode())])
        new = _draw(rng, _role(consumers, tensor.name), old.shape, consumers)
        tensor.CopyFrom(numpy_helper.from_array(
            np.ascontiguousarray(new, dtype=old.dtype), tensor.name))


def prepare(model, reseed=None):
    """The model as described at the top; `reseed` is a seed or None."""
    import onnx

    graph = model.graph
    # From version 4 of the format on, a weight need not be listed as an input.
    model.ir_version = max(model.ir_version, 8)
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    del graph.input[:]
    graph.input.extend(inputs)
    _constant_nodes_to_initializers(graph)
    _dropout_to_identity(graph)
    _drop_unused_initializers(graph)
    if reseed is not None:
        _reseed(graph, reseed)
    if any(imported.domain in ("", "ai.onnx") and imported.version < OPSET
           for imported in model.opset_import):
        model = onnx.version_converter.convert_version(model, OPSET)
        # The converter makes Constant nodes of attributes that became inputs.
        _constant_nodes_to_initializers(model.graph)
    model.graph.name = "main"
    model = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    onnx.checker.check_model(model)
    return model


# ------------------------------------------------------------------- the tools

def _run(step, command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        # One line of MLIR may hold a network's weights.
        lines = [line[:300] for line in result.stdout.splitlines()]
        errors = [line for line in lines if "error:" in line] or lines[-5:]
        raise ImportFailed(f"{step} failed:\n  " + "\n  ".join(errors[:5]))


def _tools():
    try:
        from iree.compiler.tools.binaries import find_tool
        import iree.compiler.tools.import_onnx  # noqa: F401
    except ImportError as error:
        raise ImportFailed(f"{error}; install the packages of "
                           "python/requirements-onnx.txt") from error
    return [sys.executable, "-m", "iree.compiler.tools.import_onnx"], [find_tool("iree-opt")]


_OPERATION = re.compile(r'^\s*(?:%[^=]*= )?"?([a-z_]+)\.([a-z_0-9.]+)', re.MULTILINE)


def check_dialects(text):
    """Refuses operations that are not upstream's."""
    foreign = sorted({f"{dialect}.{op}" for dialect, op in _OPERATION.findall(text)
                      if dialect not in _PREFIXES})
    if foreign:
        raise ImportFailed("operations without a lowering to linalg are left: "
                           + ", ".join(foreign))
    if not re.search(r"func\.func @main\(", text):
        raise ImportFailed("the lowering lost the function @main")


def import_model(path, output, reseed=None, runnable=False, save_onnx=None):
    """Imports the .onnx file `path` to the .mlir file `output`."""
    import onnx
    from google.protobuf.message import DecodeError
    from onnx import checker, shape_inference, version_converter  # noqa: F401

    importer, opt = _tools()
    try:
        model = prepare(onnx.load(path), reseed)
    except DecodeError as error:
        raise ImportFailed(f"{path} is not an ONNX model: {error}") from error
    except (checker.ValidationError, shape_inference.InferenceError,
            version_converter.ConvertError) as error:
        raise ImportFailed(f"the model is not valid: {error}") from error
    with tempfile.TemporaryDirectory() as directory:
        prepared = save_onnx or os.path.join(directory, "prepared.onnx")
        torch, linalg = (os.path.join(directory, name) for name in ("torch.mlir", "linalg.mlir"))
        onnx.save(model, prepared)
        _run("iree-import-onnx", [*importer, prepared, "-o", torch])
        _run("lowering to linalg", [*opt, torch, "-o", linalg, f"--pass-pipeline={_PIPELINE}"])
        with open(linalg) as file:
            text = file.read()
    code, _, _ = text.partition("\n{-#")
    check_dialects(code)
    if runnable:
        text = make_runnable(text)
    with open(output, "w") as file:
        file.write(text)


_SIGNATURE = re.compile(r"func\.func @main\((?P<arguments>[^)]*)\) -> (?P<results>\([^)]*\)|[^ ]*)"
                        r"(?P<attributes> attributes \{)?")


def make_runnable(text):
    """Puts on @main what layout-run needs after a stock lowering."""
    def attach(match):
        types = ", ".join(re.findall(r"tensor<[^>]*>", match["arguments"]))
        added = f"llvm.emit_c_interface, layout.signature = ({types}) -> {match['results']}"
        if match["attributes"]:
            return f"{match[0]}{added}, "
        return f"{match[0]} attributes {{{added}}}"

    return _SIGNATURE.sub(attach, text, count=1)


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m layout_mlir.onnx_import",
        description="Imports an ONNX model as linalg on tensors (func.func @main).")
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument("-o", "--output", required=True, help="the .mlir file")
    parser.add_argument("--reseed", type=int, metavar="SEED",
                        help="replace the weights by seeded random values of the same shapes")
    parser.add_argument("--runnable", action="store_true",
                        help="put on @main what layout-run reads after a lowering that is not "
                             "this project's (C interface and layout.signature)")
    parser.add_argument("--save-onnx", metavar="FILE",
                        help="also write the ONNX model that is imported, with its weights")
    args = parser.parse_args(argv)
    if args.reseed is not None and args.reseed < 0:
        parser.error("--reseed must not be negative")
    try:
        import_model(args.model, args.output, args.reseed, args.runnable, args.save_onnx)
    except ImportError as error:
        sys.exit(f"error: {error}; install the packages of python/requirements-onnx.txt")
    except (ImportFailed, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
