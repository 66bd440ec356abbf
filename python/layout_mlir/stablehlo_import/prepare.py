"""Replaces StableHLO ops before the passes run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layout_mlir.stablehlo_import.dynamic import (mark_nonexpanding, remove_barrier, write_dynamic_broadcast,
                                                 write_dynamic_reshape)
from layout_mlir.stablehlo_import.indices import write_gather, write_scatter, write_slice_starts
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
    "stablehlo.reduce_window": write_scan,
    "stablehlo.sort": write_sort,
}


def prepare(module: Any) -> None:
    """Replaces ops that have no lowering to linalg, or one that differs from StableHLO's specification."""
    is_of_jax = "jax.uses_shape_polymorphism" in module.attributes
    for op in all_ops(module):
        if op.name == "chlo.top_k":
            write_top_k(op)  # makes a stablehlo.sort
        elif op.name == "stablehlo.dynamic_broadcast_in_dim" and is_of_jax:
            mark_nonexpanding(op)
        elif op.name == "sdy.mesh":
            op.erase()  # only names devices
    for op in all_ops(module):
        if op.name in _WRITERS:
            _WRITERS[op.name](op)
