"""StableHLO as linalg on tensors, by the passes of IREE's compiler (requirements-onnx.txt)."""

from layout_mlir.isolated import Crashed, isolated
from layout_mlir.onnx_import import ImportFailed, check_dialects, describe_failure, print_located

_PIPELINE = "builtin.module(iree-stablehlo-input-transformation-pipeline)"


def is_stablehlo(data):
    """Whether a module, as text or bytecode, has operations of StableHLO or of its stable form."""
    return b"stablehlo." in data or b"vhlo" in data or b"StableHLO_v" in data


def _lower(data):
    """Runs isolated."""
    from iree.compiler import ir, passmanager

    with ir.Context() as context:
        module = ir.Module.parse(data, context).operation
        passmanager.PassManager.parse(_PIPELINE).run(module)
        return print_located(module)


def lower(data):
    """The linalg module of one in StableHLO, as text."""
    try:
        import iree.compiler  # noqa: F401
    except ImportError as error:
        raise ImportFailed(f"{error}; install the packages of python/requirements-onnx.txt") from error
    try:
        text = isolated(_lower, data)
    except Crashed as error:
        raise ImportFailed(f"the lowering to linalg failed: {describe_failure(error)}") from error
    except Exception as error:
        raise ImportFailed(f"the lowering to linalg failed: {describe_failure(error)}") from error
    check_dialects(text)
    return text
