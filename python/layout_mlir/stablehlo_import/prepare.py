"""Replaces StableHLO ops before the passes run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layout_mlir.stablehlo_import.dynamic import (mark_nonexpanding, remove_barrier, write_dynamic_broadcast,
                                                 write_dynamic_reshape)
from layout_mlir.stablehlo_import.fourier import write_fft
from layout_mlir.stablehlo_import.indices import write_gather, write_scatter, write_slice_starts
from layout_mlir.stablehlo_import.products import reverse_signless, widen_to_region, widen_unsigned
from layout_mlir.stablehlo_import.scans import write_scan
from layout_mlir.stablehlo_import.sorts import write_sort, write_top_k
from layout_mlir.stablehlo_import.walk import all_ops

_WRITERS: dict[str, Callable[[Any], None]] = {
    "stablehlo.gather": write_gather,
    "stablehlo.dynamic_gather": write_gather,
    "stablehlo.scatter": write_scatter,
    "stablehlo.dynamic_broadcast_in_dim": write_dynamic_broadcast,
    "stablehlo.dynamic_reshape": write_dynamic_reshape,
    "stablehlo.dynamic_slice": write_slice_starts,
    "stablehlo.dynamic_update_slice": write_slice_starts,
    "stablehlo.optimization_barrier": remove_barrier,
    **dict.fromkeys(("stablehlo.dot", "stablehlo.dot_general", "stablehlo.convolution"), widen_unsigned),
    "stablehlo.reduce_window": write_scan,
    "stablehlo.sort": write_sort,
    "stablehlo.fft": write_fft,
    "stablehlo.reverse": reverse_signless,
}


# The ops of CHLO with elements for operands.
_CHLO = {"acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh", "digamma", "erf", "erf_inv",
         "erfc", "is_inf", "is_neg_inf", "is_pos_inf", "lgamma", "next_after", "polygamma", "sinh", "square", "zeta"}
# Custom calls that return their operand on one device.
_MARKS = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"}


def replace_calls(module: Any) -> None:
    """Replaces custom calls that mark tensors, and those that stand for ops of CHLO in the stable form: their names are
    @mhlo.erf, @mhlo.topk, .."""
    from iree.compiler import ir

    for op in all_ops(module):
        if op.name != "stablehlo.custom_call":
            continue
        target = op.attributes["call_target_name"].value
        types = [result.type for result in op.results]
        if target in _MARKS and types == [operand.type for operand in op.operands]:
            remove_barrier(op)
        elif target.startswith(("mhlo.", "chlo.")) and "mhlo.attributes" in op.attributes:
            name = {"topk": "chlo.top_k", "tan": "stablehlo.tan"}.get(target[5:], f"chlo.{target[5:]}")
            given = {each.name: each.attr for each in op.attributes["mhlo.attributes"]}
            is_smallest = "largest" in given and not ir.BoolAttr(given.pop("largest")).value
            if is_smallest or target[5:] not in {"topk", "tan", *_CHLO}:
                continue  # refused as a custom call
            with ir.InsertionPoint(op), op.location:
                made = ir.Operation.create(name, types, list(op.operands), given)
            for old, new in zip(op.results, made.results):
                old.replace_all_uses_with(new)
            op.erase()


def prepare(module: Any) -> None:
    """Replaces ops that have no lowering to linalg, or one that differs from StableHLO's specification."""
    is_of_jax = "jax.uses_shape_polymorphism" in module.attributes
    for op in all_ops(module):
        if op.name == "chlo.top_k":
            write_top_k(op)  # makes a stablehlo.sort
        elif op.name == "stablehlo.dynamic_broadcast_in_dim" and is_of_jax:
            mark_nonexpanding(op)
        elif op.name in ("stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.scatter"):
            widen_to_region(op)
        elif op.name == "sdy.mesh":
            op.erase()  # only names devices
    for op in all_ops(module):
        if op.name in _WRITERS:
            _WRITERS[op.name](op)
