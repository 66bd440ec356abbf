"""Errors of imports, of ONNX and of StableHLO, and the form of a module that is imported."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

# A module as text, and the arrays of what it names as dense_resource<NAME>.
Lowered = tuple[str, dict[str, NDArray[Any]]]


class ImportFailed(RuntimeError):
    """The model cannot be imported; the message says why and what to do."""


def explain_missing(error: ImportError, extra: str) -> ImportFailed:
    """Returns what to raise if packages cannot be imported that an extra of pyproject.toml lists."""
    return ImportFailed(f"{error}: pip install 'layout-mlir[{extra}]' brings it")


def describe_failure(error: BaseException) -> str:
    """Returns what a library says, in few lines: one line of MLIR may hold a network's weights."""
    from layout_mlir.isolated import Crashed

    text = error if isinstance(error, Crashed) else f"{type(error).__name__}: {error}"
    lines = [line[:300] for line in str(text).splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line] or lines
    return "\n  ".join(errors[:5])
