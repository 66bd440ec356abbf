"""Reads attributes of StableHLO ops as Python values."""

from __future__ import annotations

import dataclasses
import re
from typing import Any


def integers(op: Any, name: str) -> list[int] | None:
    """Returns an array<i64: ..>, or None if the op does not have it."""
    return [int(x) for x in op.attributes[name]] if name in op.attributes else None


def integer(op: Any, name: str, default: int) -> int:
    return int(op.attributes[name].value) if name in op.attributes else default


def attribute_names(op: Any) -> list[str]:
    return [each if isinstance(each, str) else each.name for each in op.attributes]


@dataclasses.dataclass(frozen=True)
class DimensionNumbers:
    """Dimension numbers of a gather or scatter; `index_vector_dim` is the rank of the indices if these are scalars."""
    text: str

    def dims(self, name: str) -> list[int]:
        found = re.search(rf"\b{name} = \[([^\]]*)\]", self.text)
        return [int(x) for x in found[1].split(",")] if found and found[1].strip() else []

    @property
    def index_vector_dim(self) -> int:
        found = re.search(r"index_vector_dim = (\d+)", self.text)
        return int(found[1]) if found else 0
