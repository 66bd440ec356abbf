"""Checks of the numbers that users pass, before they become int64 arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FORBIDDEN = 2**63 - 1
"""The cost that forbids a value or an entry of a table, as `numpy.inf` does."""

MOST = 2**63 - 3


class ProblemError(ValueError):
    """A problem that violates a rule. The message names the place and the rule."""


def _fail_at(what: str, array: NDArray[Any], wrong: NDArray[np.bool_], rule: str) -> None:
    """Raises an error about the first entry that is wrong, if there is one."""
    if wrong.any():
        place = np.unravel_index(int(np.argmax(wrong)), array.shape)
        index = f"[{', '.join(str(int(each)) for each in place)}]" if array.ndim else ""
        raise ProblemError(f"{what}{index} is {array[place]}, but {rule}")


def _to_integers(what: str, values: ArrayLike) -> NDArray[np.int64]:
    """Converts numbers without changing any; infinity becomes FORBIDDEN."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise ProblemError(f"{what}: {error}") from None
    if array.dtype.kind == "f":
        if array.dtype.itemsize < 8:  # the limits below would overflow
            array = array.astype(np.float64)
        with np.errstate(invalid="ignore"):
            _fail_at(what, array, np.isnan(array), "a number is expected")
            _fail_at(what, array, np.isfinite(array) & (array != np.floor(array)),
                     "only integers are exact: multiply by a scale and round")
            _fail_at(what, array, np.isfinite(array) & (np.abs(array) >= 2.0**63), "it must fit in 64 bits: scale down")
            _fail_at(what, array, np.isneginf(array), "it must not be negative")
            is_infinite = np.isinf(array)
            return np.where(is_infinite, FORBIDDEN, np.where(is_infinite, 0, array).astype(np.int64))
    if array.dtype.kind == "O":
        # Python's integers of more than 64 bits.
        _fail_at(what, array, np.vectorize(lambda each: not isinstance(each, int) or not -2**63 <= each < 2**63,
                                           otypes=[bool])(array), "an integer that fits in 64 bits is expected")
    elif array.dtype.kind == "u":
        _fail_at(what, array, array > FORBIDDEN, "it must fit in 64 bits with a sign: scale down")
    elif array.dtype.kind != "i" and array.size:
        raise ProblemError(f"{what}: numbers are expected, not an array of {array.dtype}")
    return array.astype(np.int64)


def to_costs(what: str, values: ArrayLike) -> NDArray[np.int64]:
    """Returns costs as an int64 array; infinite ones become FORBIDDEN."""
    costs = _to_integers(what, values)
    _fail_at(what, costs, costs < 0, "it must not be negative: add a constant to all entries of the table")
    _fail_at(what, costs, (costs > MOST) & (costs != FORBIDDEN), "the largest finite cost is 2^63 - 3: scale down")
    return costs


def to_amounts(what: str, values: ArrayLike) -> NDArray[np.int64]:
    """Returns amounts of a budget as an int64 array."""
    amounts = to_costs(what, values)
    _fail_at(what, amounts, amounts == FORBIDDEN, "an amount must be finite: forbid the value by its cost")
    return amounts


def to_numbers(what: str, values: ArrayLike, limit: int, rule: str) -> NDArray[np.int64]:
    """Returns indices from 0 to `limit` - 1 as an int64 array. `rule` names what they must be."""
    numbers = _to_integers(what, values)
    _fail_at(what, numbers, (numbers < 0) | (numbers >= limit), rule)
    return numbers
