"""Lists the ops of a module, so that they may be changed during iteration."""

from __future__ import annotations

from typing import Any


def all_ops(module: Any) -> list[Any]:
    """Returns all ops of a module in post-order."""
    from iree.compiler import ir

    found: list[Any] = []

    def take(op: Any) -> Any:
        found.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.walk(take, ir.WalkOrder.POST_ORDER)
    return found
