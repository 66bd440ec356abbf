"""Checks the budget of a certificate: the assignment is within the limit, and no assignment within it costs less.

The lines `budget` and `takes` (docs/certificates.md) precede the steps of the proof, which certify.py checks.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


# A variable, the chain variable after it or -1, and the units that each of its values uses.
Term = tuple[int, int, NDArray[Any]]


class Rejected(Exception):
    """Raised if a claim of a certificate does not follow."""


def require(condition: object, message: str) -> None:
    if not condition:
        raise Rejected(message)


def main(check: Callable[[str], tuple[float, float, int | None]], paths: Sequence[str]) -> int:
    """Prints the verdict on certificates in files; returns 1 if one is rejected."""
    status = 0
    for path in paths:
        try:
            cost, bound, limit = check(pathlib.Path(path).read_text(encoding="utf-8"))
        except (Rejected, ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError) as error:
            why = error if isinstance(error, Rejected) else f"it is not a certificate: {error!r}"
            print(f"{path}: rejected: {why}")
            status = 1
        else:
            keeps = "" if limit is None else f", within the limit of {limit} bytes"
            print(f"{path}: accepted, cost {cost}, at least {bound}{keeps}")
    return status


class Limit:
    """A limit of `room` units on resource use: the permanent terms plus those of the largest peak."""

    def __init__(self, domains: Sequence[int], lines: Sequence[Sequence[str]]) -> None:
        require(lines[0][0] == "budget" and all(line[0] == "takes" or line == ["peak"] for line in lines[1:]),
                "the lines of the limit are invalid")
        self.bytes, self.least, self.unit, self.weight, self.price = map(int, lines[0][1:])
        require(self.unit > 0 and self.weight > 0 and self.price >= 0, "the limit is invalid")
        self.always: list[Term] = []
        self.peaks: list[list[Term]] = []
        for line in lines[1:]:
            if line == ["peak"]:
                self.peaks.append([])
                continue
            _, v, behind, *units = line
            (self.peaks[-1] if self.peaks else self.always).append(
                (int(v), int(behind), np.array([*map(int, units)], dtype=object)))
        self.terms = [*self.always, *(term for peak in self.peaks for term in peak)]
        require(all(0 <= v < len(domains) and len(units) == domains[v] and (units >= 0).all() for v, _, units in self.terms),
                "a resource use is invalid")
        self.room = (self.bytes - self.least) // self.unit
        self.chain = [behind for _, behind, _ in self.terms if behind >= 0]
        require(not {*self.chain} & {v for v, _, _ in self.terms}, "a variable of the chain has a resource use")


def without_price(domains: Sequence[int], functions: Sequence[tuple[tuple[int, ...], NDArray[Any]]],
                  lines: Sequence[Sequence[str]], values: Sequence[int], cost: float,
                  bound: float) -> tuple[float, float, int | None]:
    """Returns the cost and the bound without the price of resource use, and the limit in bytes, or None if there are no
    `lines` about it. Raises Rejected if the assignment exceeds the limit. An assignment within the limit pays for at
    most `room` units, and no chain variable may forbid such an assignment."""
    if not lines:
        return cost, bound, None
    limit = Limit(domains, lines)

    def add(path: Sequence[Term]) -> int:
        return sum(int(units[values[v]]) for v, _, units in path)

    taken, room = add(limit.always), limit.room
    highest = taken + max(map(add, limit.peaks), default=0)
    require(highest <= room,
            f"the assignment takes {limit.least + limit.unit * highest}, but the limit is {limit.bytes}")
    chain = limit.chain
    links = [(scope, table) for scope, table in functions if {*scope} & {*chain}]
    require(len(links) == len(chain) == len({*chain}) in (0, len(limit.terms)), "the chain has other functions")

    def follow(path: Sequence[Term], links: Sequence[tuple[tuple[int, ...], NDArray[Any]]], reached: NDArray[Any],
               before: tuple[int, ...]) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Follows the chain variables that sum the units of `path`, starting with the sums `reached` of the variable
        `before`. Returns the least sum for each value of the last chain variable, and this variable."""
        for (scope, table), (v, behind, units) in zip(links, path):
            require(scope == (*before, v, behind), "the chain has other functions")
            allowed, total = (table == 0).reshape(len(reached), len(units), -1), reached[:, None] + units
            require((total[~allowed.any(axis=2)] > room).all(), f"variable {v} forbids what the limit allows")
            reached, before = np.where(allowed, total[:, :, None], room + 1).min(axis=(0, 1)), (behind,)
        return reached, before

    start = follow(limit.always, links, np.array([0], dtype=object), tuple[int, ...]())
    done = len(limit.always)
    for peak in limit.peaks:
        follow(peak, links[done:], *start)
        done += len(peak)
    # Subtracts the price of the permanent terms.
    room = min(room, sum(units.max() for *_, units in limit.always))
    paid, most = int(cost) - limit.price * taken, int(bound) - limit.price * room
    require(paid % limit.weight == 0, "the price of the resource use is not in the cost")
    return paid // limit.weight, -(-most // limit.weight), limit.bytes
