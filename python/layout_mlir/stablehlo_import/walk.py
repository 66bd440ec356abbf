"""Ops of a module as a list, which may change while they are gone through."""

from __future__ import annotations

from typing import Any


def all_ops(module: Any) -> list[Any]:
    """Returns all ops in a module, those in regions of an op before it."""
    from iree.compiler import ir

    found: list[Any] = []

    def take(op: Any) -> Any:
        found.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.walk(take, ir.WalkOrder.POST_ORDER)
    return found
