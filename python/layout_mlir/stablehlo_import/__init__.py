"""Imports StableHLO as linalg on tensors, by the passes of IREE's compiler (the extra `jax`).

    stable_form.py  converts VHLO, the form in bytecode of other projects, to StableHLO
    prepare.py      before the passes: replaces ops without a correct lowering to linalg by loops (sorts.py, indices.py,
                    scans.py, written with writer.py)
    finish.py       after the passes: signatures of unsigned tensors, scalars in loops, constants
    refusals.py     error messages for ops that are not imported
"""

from __future__ import annotations

from typing import Any

from layout_mlir.isolated import isolated
from layout_mlir.onnx_import.errors import ImportFailed, Lowered, describe_failure, explain_missing

_PIPELINE = "builtin.module(iree-stablehlo-input-transformation-pipeline)"


def is_stablehlo(data: bytes) -> bool:
    """Returns true if a module, as text or bytecode, has StableHLO, CHLO, MHLO or VHLO ops."""
    return any(name in data for name in (b"stablehlo.", b"vhlo", b"StableHLO_v", b"chlo.", b"mhlo."))


def _lower(data: bytes) -> Lowered:
    """Returns the module after the passes; called in an isolated process."""
    from iree.compiler import ir, passmanager

    from layout_mlir.stablehlo_import import finish, prepare, refusals, stable_form

    def run(pipeline: str, module: Any) -> None:
        try:
            passmanager.PassManager.parse(pipeline).run(module)
        except ir.MLIRError as error:
            raise refusals.explain(error) from error

    with ir.Context() as context:
        context.allow_unregistered_dialects = True  # e.g. sdy, whose ops are refused only if values depend on them
        try:
            module = ir.Module.parse(data, context)
        except ir.MLIRError as error:
            raise refusals.explain_unread(error) from error
        module = stable_form.read(module, _PIPELINE).operation
        prepare.replace_calls(module)
        refusals.check_given(module)
        prepare.prepare(module)
        run(_PIPELINE, module)
        refusals.check(module)
        finish.finish(module)
        run("builtin.module(canonicalize, cse)", module)
        arrays = finish.take_constants(module)
        return module.get_asm(enable_debug_info=True), arrays


def lower(data: bytes) -> bytes:
    """Returns the linalg module of a StableHLO module, as bytecode."""
    from layout_mlir import attach_constants

    return attach_constants(*lower_to_text(data))


def lower_to_text(data: bytes) -> Lowered:
    """Returns the linalg module of a StableHLO module as text and arrays; raises ImportFailed if it is not imported."""
    try:
        import iree.compiler  # noqa: F401
    except ImportError as error:
        raise explain_missing(error, "jax") from error
    try:
        return isolated(_lower, data)
    except ImportFailed:
        raise
    except Exception as error:  # any exception of the passes, or Crashed
        raise ImportFailed(f"the lowering to linalg failed: {describe_failure(error)}") from error
