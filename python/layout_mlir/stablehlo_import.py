"""StableHLO as linalg on tensors, by the passes of IREE's compiler (the extra `jax`)."""

from layout_mlir import attach_constants
from layout_mlir.onnx_import import Lowered, explain_missing, lower_isolated, print_located

_PIPELINE = "builtin.module(iree-stablehlo-input-transformation-pipeline)"


def is_stablehlo(data: bytes) -> bool:
    """Whether a module, as text or bytecode, has operations of StableHLO or of its stable form."""
    return b"stablehlo." in data or b"vhlo" in data or b"StableHLO_v" in data


def _lower(data: bytes) -> Lowered:
    """Runs isolated."""
    from iree.compiler import ir, passmanager

    with ir.Context() as context:
        module = ir.Module.parse(data, context).operation
        passmanager.PassManager.parse(_PIPELINE).run(module)
        return print_located(module)


def lower(data: bytes) -> bytes:
    """The linalg module of one in StableHLO, as bytecode."""
    return attach_constants(*lower_to_text(data))


def lower_to_text(data: bytes) -> Lowered:
    """The linalg module of one in StableHLO."""
    try:
        import iree.compiler  # noqa: F401
    except ImportError as error:
        raise explain_missing(error, "jax") from error
    return lower_isolated(_lower, data)
