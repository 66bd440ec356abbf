"""Cleans up after the passes: attributes of @main, scalars in loops, and large constants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.stablehlo_import.attributes import attribute_names
from layout_mlir.stablehlo_import.walk import all_ops

# Smaller constants are part of the text.
_FEWEST_BYTES = 1024
_DTYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}
_KEPT = {"sym_name", "sym_visibility", "function_type"}
_SIGN = "iree.abi.encoding"


def finish(module: Any) -> None:
    for op in all_ops(module):
        if op.name == "func.func":
            _set_signature(op)
        elif op.name == "linalg.generic" and _is_scalar(op):
            _inline(op)
    for name in attribute_names(module):
        if name != "sym_name":
            del module.attributes[name]


def _set_signature(function: Any) -> None:
    """Replaces the attributes of a function, keeping the signedness of the arguments and results of @main as
    layout.signature."""
    from iree.compiler import ir

    kind = function.attributes["function_type"].value
    sides = []
    for name, types in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
        each = list(function.attributes[name]) if name in function.attributes else [{}] * len(types)
        sides.append([attributes[_SIGN].value if _SIGN in attributes else type_
                      for attributes, type_ in zip(each, types)])
    for name in attribute_names(function):
        if name not in _KEPT:
            del function.attributes[name]
    signature = ir.FunctionType.get(*sides)
    if signature != kind and function.attributes["sym_name"].value == "main":
        function.attributes["layout.signature"] = ir.TypeAttr.get(signature)


def _is_scalar(op: Any) -> bool:
    """Returns true if a linalg.generic in a loop computes single elements."""
    from iree.compiler import ir

    types = [value.type for value in op.operands]
    return op.parent.name.startswith("scf.") and all(
        isinstance(type_, ir.RankedTensorType) and type_.rank == 0 for type_ in types)


def _inline(op: Any) -> None:
    """Replaces a linalg.generic by the ops of its body, on elements."""
    from iree.compiler import ir

    with ir.InsertionPoint(op), op.location:
        elements = [ir.Operation.create("tensor.extract", [value.type.element_type], [value]).result
                    for value in op.operands]
        block = op.regions[0].blocks[0]
        for argument, element in zip(block.arguments, elements):
            argument.replace_all_uses_with(element)
        *ops, end = [each.operation for each in block.operations]
        for each in ops:
            each.move_before(op)
        for result, value in zip(op.results, list(end.operands)):
            result.replace_all_uses_with(
                ir.Operation.create("tensor.from_elements", [result.type], [value]).result)
    op.erase()


def take_constants(module: Any) -> dict[str, NDArray[Any]]:
    """Replaces large constants by named resources; returns the arrays by name."""
    from iree.compiler import ir

    names: dict[Any, str] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for operation in all_ops(module):
        value = operation.attributes["value"] if operation.name == "arith.constant" else None
        if not isinstance(value, ir.DenseElementsAttr) or value.is_splat:
            continue
        kind = ir.ShapedType(value.type)
        dtype = _DTYPES.get(str(kind.element_type))
        if dtype and math.prod(kind.shape) * np.dtype(dtype).itemsize >= _FEWEST_BYTES:
            if value not in names:
                names[value] = f"constant_{len(names)}"
                arrays[names[value]] = np.array(value).view(dtype)
            operation.attributes["value"] = ir.Attribute.parse(
                f"dense_resource<{names[value]}> : {value.type}", module.context)
    return arrays
