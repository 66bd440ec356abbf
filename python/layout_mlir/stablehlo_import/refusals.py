"""Describes ops that are not imported: name, location, reason and workaround."""

from __future__ import annotations

import re
from typing import Any

from layout_mlir.onnx_import.errors import ImportFailed, describe_failure
from layout_mlir.stablehlo_import.walk import all_ops

_DIALECTS = {"affine", "arith", "builtin", "cf", "complex", "func", "linalg", "math", "scf", "tensor"}
_WAYS_OUT = {
    "custom_call": "write the function without it, or give it a decomposition as a stablehlo.composite",
    "fft": "write the transform as a product with its matrix",
    "rng": "generate random numbers outside of the model, or with jax.random, which is integer arithmetic",
}
_DEFAULT = "write it with other ops of StableHLO"


def _describe_location(location: str) -> str:
    """Returns the name of a location, or its file and line."""
    name = re.search(r'loc\((?:callsite\()?"([^"]+)"(?::(\d+):(\d+))?', location)
    if not name:
        return "an unknown location"
    if name[2] is None:
        return f"'{name[1]}'"
    # A module that is parsed from memory has the name "-".
    return f"line {name[2]}, column {name[3]}" if name[1] == "-" else f"{name[1]}:{name[2]}:{name[3]}"


def refuse(name: str, location: str, reason: str, target: str = "") -> ImportFailed:
    """Returns the error for an op; `target` is the callee of a custom call."""
    way = _WAYS_OUT.get(name.split(".")[-1], _DEFAULT)
    of = f" of '{target}'" if target else ""
    return ImportFailed(f"op '{name}'{of} at {_describe_location(location)} is not imported: {reason}; {way}")


def explain(error: Any) -> ImportFailed:
    """Returns the error for the op at which a pass failed."""
    for diagnostic in error.error_diagnostics:
        found = re.search(r"failed to legalize (?:unresolved materialization|operation '([\w.]+)')", diagnostic.message)
        op = re.search(r"'([\w.]+)' op", diagnostic.message)
        name = found and found[1] or op and op[1]
        if name:
            target = re.search(r'call_target_name = "([^"]*)"', diagnostic.message)
            reason = "its form has no lowering to linalg" if found else diagnostic.message.split("\n")[0][:200]
            return refuse(name, str(diagnostic.location), reason, target[1] if target else "")
    return ImportFailed(f"the lowering to linalg failed: {describe_failure(error)}")


def _dialect_of(name: str) -> str:
    return {"stablehlo": "StableHLO", "chlo": "CHLO"}.get(name.split(".")[0], name.split(".")[0])


def explain_unread(error: Any) -> ImportFailed:
    """Returns the error for a module that cannot be parsed."""
    dialect = re.search(r"dialect '(\w+)' (?:is unknown|does not implement)", str(error))
    if dialect:
        return ImportFailed(f"the module has ops or attributes of the dialect '{dialect[1]}', which cannot be read "
                            "from bytecode: export it without them (JAX adds sdy with calls of LAPACK), or as text")
    for diagnostic in error.error_diagnostics:
        unknown = re.search(r"custom op '([\w.]+)' is unknown", diagnostic.message)
        if unknown:
            return refuse(unknown[1], str(diagnostic.location), f"{_dialect_of(unknown[1])} has no op of this name")
    return ImportFailed(f"the file is not a module of StableHLO: {describe_failure(error)}")


def check(module: Any) -> None:
    """Raises ImportFailed if ops of unsupported dialects remain, or @main is missing."""
    for op in all_ops(module):
        if op.name.split(".")[0] not in _DIALECTS:
            raise refuse(op.name, str(op.location), "it has no lowering to linalg")
        for value in op.results:
            if str(value.type).startswith("!"):
                raise refuse(op.name, str(op.location), f"it has a result of type {value.type}")
    if not any(op.name == "func.func" and op.attributes["sym_name"].value == "main" for op in all_ops(module)):
        raise ImportFailed("the module has no function @main: rename the function of the model")
