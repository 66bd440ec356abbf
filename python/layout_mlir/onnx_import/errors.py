"""Errors of the ONNX and StableHLO importers, and the type of an imported module."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

# A module as text, and its arrays by their names in dense_resource<NAME>.
Lowered = tuple[str, dict[str, NDArray[Any]]]


class ImportFailed(RuntimeError):
    """Raised if a model cannot be imported; the message has the reason and a workaround."""


def explain_missing(error: ImportError, extra: str) -> ImportFailed:
    """Returns the error for missing packages of an extra in pyproject.toml."""
    return ImportFailed(f"{error}: install it with pip install 'layout-mlir[{extra}]'")


def describe_failure(error: BaseException) -> str:
    """Returns the first lines of a library's message: one line of MLIR may contain all weights."""
    from layout_mlir.isolated import Crashed

    text = error if isinstance(error, Crashed) else f"{type(error).__name__}: {error}"
    lines = [line[:300] for line in str(text).splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line] or lines
    return "\n  ".join(errors[:5])
