"""StableHLO as linalg on tensors, by the passes of IREE's compiler (the extra `jax`)."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.isolated import isolated
from layout_mlir.onnx_import.errors import ImportFailed, Lowered, describe_failure, explain_missing

_PIPELINE = "builtin.module(iree-stablehlo-input-transformation-pipeline)"
_PREFIXES = {"affine", "arith", "builtin", "cf", "func", "linalg", "math", "scf", "tensor"}
# Constants of fewer bytes are part of the text.
_FEWEST_BYTES = 1024
_DTYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}


def is_stablehlo(data: bytes) -> bool:
    """Returns true if a module, as text or bytecode, has operations of StableHLO or of its stable form."""
    return b"stablehlo." in data or b"vhlo" in data or b"StableHLO_v" in data


def _take_constants(module: Any) -> dict[str, NDArray[Any]]:
    """Puts a name in the place of each large constant and returns the arrays that they name."""
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


def _lower(data: bytes) -> Lowered:
    """Returns the module that the passes make; runs isolated."""
    from iree.compiler import ir, passmanager

    with ir.Context() as context:
        module = ir.Module.parse(data, context).operation
        passmanager.PassManager.parse(_PIPELINE).run(module)
        arrays = _take_constants(module)
        return module.get_asm(enable_debug_info=True), arrays


def lower(data: bytes) -> bytes:
    """Returns the linalg module of one in StableHLO, as bytecode."""
    from layout_mlir import attach_constants

    return attach_constants(*lower_to_text(data))


def lower_to_text(data: bytes) -> Lowered:
    """Returns the linalg module of one in StableHLO; raises ImportFailed if it is not imported."""
    try:
        import iree.compiler  # noqa: F401
    except ImportError as error:
        raise explain_missing(error, "jax") from error
    try:
        text, arrays = isolated(_lower, data)
    except Exception as error:  # whatever the passes raise, or Crashed
        raise ImportFailed(f"the lowering to linalg failed: {describe_failure(error)}") from error
    _check_dialects(text)
    return text, arrays


_OPERATION = re.compile(r'^\s*(?:%[^=]*= )?"?([a-z_]+)\.([a-z_0-9.]+)', re.MULTILINE)


def _check_dialects(text: str) -> None:
    """Refuses operations and types that are not upstream's."""
    foreign = sorted({f"{dialect}.{op}" for dialect, op in _OPERATION.findall(text)
                      if dialect not in _PREFIXES} | set(re.findall(r"![a-z_]+[.<][^,)]*", text)))
    if foreign:
        raise ImportFailed("operations or types without a lowering to linalg are left: "
                           + ", ".join(foreign))
    if not re.search(r"func\.func (public )?@main\(", text):
        raise ImportFailed("the lowering lost the function @main")

