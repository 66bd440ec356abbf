"""Prints tables on the terminal and formats differences of results."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.compare import with_dtype


def print_rows(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(f"\n{title}")
    width = max(len(label) for label, _ in rows) + 2
    for label, text in rows:
        print(f"  {label:<{width}}{text}")


def difference(expected: NDArray[Any], result: NDArray[Any]) -> tuple[float, float | None]:
    """Returns the largest absolute difference, and that relative to the largest value or None if it is not finite.
    Equal NaNs count as equal."""
    result = with_dtype(result, expected.dtype)
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return float("inf"), None
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    expected, result = expected.astype(wide), result.astype(wide)
    same = (expected == result) | (np.isnan(expected) & np.isnan(result))
    largest = np.abs(np.where(same, 0, expected - result)).max(initial=0)
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0)
    relative = largest / scale if scale else largest
    return (largest, relative) if np.isfinite(relative) else (largest, None)


def describe_differences(label: str, differences: Iterable[tuple[float, float | None]], max_rel: float,
                         rounding: Sequence[float] = ()) -> tuple[list[tuple[str, str]], bool]:
    """Returns a row for each (absolute, relative) difference, and whether each one is within `max_rel` or its entry of
    `rounding`, an absolute bound on rounding errors."""
    rows, agree = [], True
    for number, (absolute, relative) in enumerate(differences):
        good = relative is not None and relative <= max_rel
        limit = f"{max_rel:g}"
        if not good and rounding and relative is not None and absolute <= rounding[number]:
            good, limit = True, f"{rounding[number]:.3g} absolute, what rounding does to it"
        agree &= bool(good)
        text = "NaN" if relative is None else f"{absolute:.3g} absolute, {relative:.3g} relative"
        rows.append((f"result {number}: {label}", f"{text} ({'within' if good else 'EXCEEDS'} {limit})"))
    return rows, agree
