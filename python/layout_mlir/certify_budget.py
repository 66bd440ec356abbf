"""What a certificate says of a budget: an assignment takes so much of a limit, and nothing that keeps to it costs less.

The lines `budget` and `takes`, which docs/solver.md describes, stand before the steps of the proof that certify.py takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


# A variable, that of the chain behind it or -1, and the units that each value takes.
Term = tuple[int, int, NDArray[Any]]


class Rejected(Exception):
    """What a certificate claims does not follow."""


def require(condition: object, message: str) -> None:
    if not condition:
        raise Rejected(message)


def without_price(domains: Sequence[int], functions: Sequence[tuple[tuple[int, ...], NDArray[Any]]],
                  lines: Sequence[Sequence[str]], values: Sequence[int], cost: float,
                  bound: float) -> tuple[float, float, int | None]:
    """The cost and the bound without the price of what is taken, and the limit, where lines state one. Who keeps to it
    pays for no more than it has, and the variables of the chain behind what is taken must forbid nobody who does."""
    if not lines:
        return cost, bound, None
    require(lines[0][0] == "budget" and all(line[0] == "takes" or line == ["peak"] for line in lines[1:]),
            "a limit has other lines")
    limit, least, unit, weight, price = map(int, lines[0][1:])
    require(unit > 0 and weight > 0 and price >= 0, "a limit is none")
    # What is taken at all times, and behind that each peak, of which the highest counts.
    always: list[Term] = []
    peaks: list[list[Term]] = []
    for line in lines[1:]:
        if line == ["peak"]:
            peaks.append([])
            continue
        _, v, behind, *units = line
        (peaks[-1] if peaks else always).append((int(v), int(behind), np.array([*map(int, units)], dtype=object)))
    terms = [*always, *(term for peak in peaks for term in peak)]
    require(all(v >= 0 and len(units) == domains[v] and (units >= 0).all() for v, _, units in terms),
            "what is taken is none")

    def add(path: Sequence[Term]) -> int:
        return sum(int(units[values[v]]) for v, _, units in path)

    taken, room = add(always), (limit - least) // unit
    highest = taken + max(map(add, peaks), default=0)
    require(highest <= room, f"the assignment takes {least + unit * highest}, and the limit is {limit}")
    chain = [behind for _, behind, _ in terms if behind >= 0]
    require(not {*chain} & {v for v, _, _ in terms}, "a variable of the chain takes something itself")
    links = [(scope, table) for scope, table in functions if {*scope} & {*chain}]
    require(len(links) == len(chain) == len({*chain}) in (0, len(terms)), "the chain has other functions")

    def follow(path: Sequence[Term], links: Sequence[tuple[tuple[int, ...], NDArray[Any]]], reached: NDArray[Any],
               before: tuple[int, ...]) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Per value of the last variable of the chain, the least that was taken before it."""
        for (scope, table), (v, behind, units) in zip(links, path):
            require(scope == (*before, v, behind), "the chain has other functions")
            allowed, total = (table == 0).reshape(len(reached), len(units), -1), reached[:, None] + units
            require((total[~allowed.any(axis=2)] > room).all(), f"variable {v} is forbidden what the limit allows")
            reached, before = np.where(allowed, total[:, :, None], room + 1).min(axis=(0, 1)), (behind,)
        return reached, before

    start = follow(always, links, np.array([0], dtype=object), tuple[int, ...]())
    done = len(always)
    for peak in peaks:
        follow(peak, links[done:], *start)
        done += len(peak)
    # The price of what is taken at all times.
    room = min(room, sum(units.max() for *_, units in always))
    paid, most = int(cost) - price * taken, int(bound) - price * room
    require(paid % weight == 0, "the price of what is taken is not in the cost")
    return paid // weight, -(-most // weight), limit
