"""Describes ops that are not imported: name, location, reason and workaround."""

from __future__ import annotations

import re
from typing import Any

from layout_mlir.onnx_import.errors import ImportFailed, describe_failure
from layout_mlir.stablehlo_import.walk import all_ops

_DIALECTS = {"affine", "arith", "builtin", "cf", "complex", "func", "linalg", "math", "scf", "tensor"}
_COLLECTIVES = ("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute",
                "cross-replica-sum", "reduce_scatter", "replica_id", "partition_id")
_TRANSFERS = ("infeed", "outfeed", "recv", "send")
_WAYS_OUT = {
    "custom_call": "write the function without it, or give it a decomposition as a stablehlo.composite",
    "fft": "write the transform as a product with its matrix",
    "rng": "generate random numbers outside of the model, or with jax.random, which is integer arithmetic",
    "tuple": "return its elements as results",
    **dict.fromkeys(_COLLECTIVES, "export the function of one device: in JAX, without shardings and without pmap"),
    **dict.fromkeys(_TRANSFERS, "make the values inputs and results of the function"),
}
_REASONS = {
    **dict.fromkeys(_COLLECTIVES, "it is for several devices, but a program runs on one"),
    **dict.fromkeys(_TRANSFERS, "it exchanges values with the host while the program runs"),
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


def refuse(name: str, location: str, reason: str, target: str = "", way: str = "") -> ImportFailed:
    """Returns the error for an op; `target` is the callee of a custom call, and `way` what to do instead."""
    way = way or _WAYS_OUT.get(name.split(".")[-1], _DEFAULT)
    of = f" of '{target}'" if target else ""
    return ImportFailed(f"op '{name}'{of} at {_describe_location(location)} is not imported: {reason}; {way}")


def _check_types(function: Any) -> None:
    """Raises ImportFailed if the signature of a function has types that are not those of tensors."""
    kind = function.attributes["function_type"].value
    for what, types in (("argument", kind.inputs), ("result", kind.results)):
        for number, type_ in enumerate(map(str, types)):
            if not type_.startswith("tensor<"):
                raise ImportFailed(f"{what} {number} of @{function.attributes['sym_name'].value} at "
                                   f"{_describe_location(str(function.location))} has type {type_}, which is not a "
                                   "tensor: export the function with tensors only")


def _check_calls(calls: dict[str, set[str]]) -> None:
    """Raises ImportFailed if functions, each with the names of those that it calls, call themselves."""
    for name in calls:
        reached: set[str] = set()
        pending = list(calls[name])
        while pending:
            callee = pending.pop()
            if callee == name:
                raise ImportFailed(f"the function @{name} calls itself: write the recursion as a stablehlo.while")
            if callee not in reached:
                reached.add(callee)
                pending += calls.get(callee, ())


def check_given(module: Any) -> None:
    """Raises ImportFailed for what the passes would refuse in terms of their own dialects, or not notice."""
    calls: dict[str, set[str]] = {}
    for op in all_ops(module):
        dialect, _, name = op.name.partition(".")
        if dialect == "stablehlo" and name in _REASONS:
            raise refuse(op.name, str(op.location), _REASONS[name])
        if dialect == "mhlo":
            raise refuse(op.name, str(op.location), "MHLO is not StableHLO",
                         way="convert the module (mhlo-opt --hlo-legalize-to-stablehlo)")
        if any("#stablehlo.bounds<" in str(value.type) for value in [*op.operands, *op.results]):
            raise refuse(op.name, str(op.location), "a size of its tensors is bounded by #stablehlo.bounds",
                         way="state it as a static size, or as a dynamic one without a bound")
        if op.name == "func.func":
            _check_types(op)
            calls[op.attributes["sym_name"].value] = {
                each.attributes["callee"].value for each in all_ops(op) if each.name == "func.call"}
    _check_calls(calls)


def explain(error: Any) -> ImportFailed:
    """Returns the error for the op at which a pass failed."""
    for diagnostic in error.error_diagnostics:
        found = re.search(r"failed to legalize (?:unresolved materialization|operation '([\w.-]+)')",
                          diagnostic.message)
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
