"""Converts VHLO, the stable form of StableHLO in bytecode, to StableHLO."""

from __future__ import annotations

from typing import Any

from layout_mlir.stablehlo_import.attributes import attribute_names

# The first function passes fail at the chlo.top_k, because its operand is unranked.
_STOP = """
module {
  module {}
  func.func private @stop(%x: tensor<*xf32>) {
    %0:2 = chlo.top_k(%x, k = 1) : tensor<*xf32> -> (tensor<*xf32>, tensor<*xi32>)
    return
  }
}"""


def read(module: Any, pipeline: str) -> Any:
    """Returns the module in StableHLO, or unchanged if it has no VHLO.

    The passes that convert VHLO have no names; they are the first ones of `pipeline`, which runs on a module around
    this one. Function passes do not visit the inner module, and one of the first fails at a function beside it, which
    stops the pipeline.
    """
    from iree.compiler import ir, passmanager

    if not any(op.operation.name.startswith("vhlo.") for op in module.body.operations):
        return module
    outer = ir.Module.parse(_STOP, module.context)
    inner = next(iter(outer.body.operations)).regions[0].blocks[0]
    for op in [each.operation for each in module.body.operations]:
        inner.append(op)
    try:
        passmanager.PassManager.parse(pipeline).run(outer.operation)
    except ir.MLIRError as error:
        if any("chlo.top_k" in diagnostic.message for diagnostic in error.error_diagnostics):
            return _take_out(outer, module)
        raise
    raise AssertionError("the passes that read VHLO did not stop after it")


def _take_out(outer: Any, module: Any) -> Any:
    """Returns the functions of the inner module in a module with the attributes of `module`."""
    from iree.compiler import ir

    result = ir.Module.parse("module {}", outer.context)
    for name in attribute_names(module.operation):
        result.operation.attributes[name] = module.operation.attributes[name]
    inner = next(iter(outer.body.operations)).regions[0].blocks[0]
    for op in [each.operation for each in inner.operations]:
        result.body.append(op)
    return result
