"""python -m layout_mlir.certify_labels FILE..: checks the cost of a certificate with a limit, without its proof.

Decisions under limits use dynamic programming over labels (docs/certificates.md), which are not in a certificate. This
program searches for an assignment within the limit that costs less than claimed. A label is a partial assignment in a
variable order, with its cost and resource use. It is dropped if its lower bound, with Lagrange prices of resource use
that this program finds, reaches the claimed cost, or if another label with the same values of all variables still in
use costs and uses no more. If no label remains, no assignment costs less.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certify import Network, Problem, Scope, read
from .certify_budget import Limit, Rejected, Term, main, require, without_price

Array = NDArray[Any]
Terms = dict[int, Array]  # the units of each value, by variable

MOST_LABELS = 1 << 13, 1 << 16  # in two passes; excess labels with the highest bounds are dropped, and bound the result
MOST_COMPARED = 128  # the number of labels that one is compared with
MOST_BITS = 24  # log2 of the entries of a table
FEW_PEAKS = 4  # in the first search, and the growth factor of the next ones
FEW_ENTRIES = 1 << 12  # of a table that replaces an eliminated variable
ROUNDS = 400  # of the price search
MOST, FORBIDDEN = 1 << 58, 1 << 59  # the limit of all numbers, and the cost of a forbidden value


class TooLarge(Rejected):
    """Raised if the problem is too large for labels."""


def expect(condition: object, message: str) -> None:
    if not condition:
        raise TooLarge(f"{message} too large for labels")


def without_chain(problem: Problem, limit: Limit) -> Network:
    """Returns the network of the costs alone, without the chain variables and the price of resource use."""
    chain = {*limit.chain}
    live = {v: [*range(domain)] for v, domain in enumerate(problem.domains) if v not in chain}
    priced, network = Network(problem, dict(live)), Network(problem, live)
    for scope, table in problem.functions:
        if not {*scope} & chain:
            priced.add(tuple(sorted(scope)), np.transpose(table, np.argsort(scope)))
    for v, _, units in limit.always:
        priced.add((v,), (-limit.price * units).astype(problem.type))
    tables = {scope: table for of_one in priced.tables_of.values() for scope, table in of_one.items()}
    for scope, table in tables.items():
        is_out = table > problem.forbidden // 2
        require((table[~is_out] % limit.weight == 0).all(), "the price of the resource use is not in the cost")
        network.add(scope, np.where(is_out, problem.forbidden, table // limit.weight))
    require(priced.bound % limit.weight == 0, "the price of the resource use is not in the cost")
    network.bound += priced.bound // limit.weight
    return network


def eliminate(network: Network, kept: set[int]) -> None:
    """Eliminates variables that use no resources, i.e. that are not in `kept`, while the table that replaces one has at
    most FEW_ENTRIES entries."""
    while True:
        for v in [v for v in network.live if v not in kept]:
            around = {other for scope in network.tables_of[v] for other in scope} - {v}
            if math.prod(len(network.live[other]) for other in around) <= FEW_ENTRIES:
                network.eliminate(v)
                break
        else:
            return


def find_order(network: Network) -> dict[int, tuple[int, ...]]:
    """Returns variables in assignment order, each with the earlier variables that its table depends on when variables
    are minimized out from last to first. The next variable is a neighbor that does not enlarge the frontier, else the
    neighbor with the lowest number, so that the variables of a peak are close together."""
    around = {v: {other for scope in tables for other in scope} - {v} for v, tables in network.tables_of.items()}
    size = {v: math.log2(len(values)) for v, values in network.live.items()}
    left = {v: len(others) for v, others in around.items()}
    place: dict[int, int] = {}
    ready: set[int] = set()

    def growth(v: int) -> float:
        return (size[v] if left[v] else 0) - sum(size[u] for u in around[v] if u in place and left[u] == 1)

    while len(place) < len(around):
        choices = sorted(ready) or [min(v for v in around if v not in place)]
        best = min(choices, key=growth)
        v = best if growth(best) <= 0 else choices[0]
        place[v] = len(place)
        ready = (ready | around[v]) - {*place}
        for u in around[v]:
            left[u] -= 1
    before: dict[int, tuple[int, ...]] = {}
    for v in reversed(place):
        before[v] = tuple(sorted((u for u in around[v] if place[u] < place[v]), key=lambda u: place[u]))
        expect(sum(size[u] for u in (v, *before[v])) <= MOST_BITS, "a table is")
        for u in before[v]:
            around[u] |= {*before[v]} - {u}
    return {v: before[v] for v in place}


class Search:
    def __init__(self, network: Network, always: Terms, peaks: list[Terms], room: int) -> None:
        self.live, self.always, self.peaks, self.room = network.live, always, peaks, room
        tables = {scope: table for of_one in network.tables_of.values() for scope, table in of_one.items()}
        most = network.bound + sum(int(table[table <= network.forbidden // 2].max()) for table in tables.values())
        expect(most < MOST >> 12 and room < MOST >> 12, "numbers are")
        self.scale = 1
        while self.scale < 1 << 16 and most * self.scale < MOST >> 12:
            self.scale *= 2
        self.constant, self.before = network.bound * self.scale, find_order(network)
        self.place = {v: at for at, v in enumerate(self.before)}
        self.tables: dict[int, list[tuple[Scope, Array]]] = {v: [] for v in self.before}  # by the last of the scope
        for scope, table in tables.items():
            axes = sorted(range(len(scope)), key=lambda axis: self.place[scope[axis]])
            table = np.where(table > network.forbidden // 2, FORBIDDEN, table * self.scale).astype(np.int64)
            self.tables[scope[axes[-1]]].append((tuple(scope[axis] for axis in axes), np.transpose(table, axes)))

    def bound(self, prices: Array) -> tuple[int, Array, dict[int, Array]]:
        """Returns the lower bound for a price per unit of each peak, the use of each peak by the best assignment, and
        for each variable the excess cost of its values over the best one, by the values of earlier variables."""
        total, extra, tables = self.constant, dict[int, Array](), {v: [*each] for v, each in self.tables.items()}
        paid: Terms = {v: units * int(prices.sum()) for v, units in self.always.items()}
        for price, peak in zip(prices, self.peaks):
            for v, units in peak.items():
                paid[v] = paid.get(v, 0) + int(price) * units
        for v, before in reversed(self.before.items()):
            table = np.zeros([len(self.live[u]) for u in (*before, v)], dtype=np.int64)
            table += np.asarray(paid.get(v, 0), dtype=np.int64)
            for scope, each in tables[v]:  # capped at FORBIDDEN, so that nothing overflows
                table += each.reshape([len(self.live[u]) if u in scope else 1 for u in (*before, v)])
                np.minimum(table, FORBIDDEN, out=table)
            least = table.min(axis=-1)
            if before:
                tables[before[-1]].append((before, least))
            else:
                total += int(least)
            extra[v] = np.where(least[..., None] < FORBIDDEN, table - least[..., None], FORBIDDEN)
        best = dict[int, int]()
        for v, before in self.before.items():
            best[v] = int(extra[v][tuple(best[u] for u in before)].argmin())
        return total, np.array([add(self.always, best) + add(peak, best) for peak in self.peaks or [{}]]), extra

    def find_prices(self, goal: int) -> Array:
        """Finds prices per unit of each peak for which the lower bound of `bound` is high, by subgradient steps towards
        `goal`."""
        price = np.zeros(len(self.peaks) or 1)
        along, best, best_bound, step, failed = price.copy(), price.copy(), -1, 1.0, 0
        for _ in range(ROUNDS):
            rounded = np.rint(np.minimum(price, MOST >> 12))
            if rounded.sum() * (1 + self.room) > MOST >> 2:
                break
            total, taken, _ = self.bound(rounded.astype(np.int64))
            found = total - int(rounded.sum()) * self.room
            if found > best_bound:
                best, best_bound, failed = rounded, found, 0
            elif (failed := failed + 1) == 8:
                step, failed, price, along = step / 2, 0, best.copy(), along * 0
                continue
            if found > goal or step < 0.01:
                break
            along = np.where((price <= 0) & (0.5 * along + taken - self.room < 0), 0, 0.5 * along + taken - self.room)
            if not (square := float((along * along).sum())):
                break
            price = np.maximum(0, price + step * (goal - found + 1) / square * along)
        return best.astype(np.int64)

    def run(self, cost: int) -> int:
        """Returns the proven lower bound, at most `cost`, or -1 if an assignment costs less."""
        goal = (cost - 1) * self.scale
        prices = self.find_prices(goal)
        total, _, extra = self.bound(prices)
        cutoff = goal + int(prices.sum()) * self.room
        expect(max(total, cutoff) < MOST, "numbers are")
        if total > cutoff:
            return cost
        for most in MOST_LABELS:
            labels, dropped = self.label(total, extra, prices, cutoff, most)
            if (labels.bounds - labels.paid <= goal).any():
                return -1
            if dropped > cutoff:
                return cost
        return max(0, -((cutoff - goal - dropped) // self.scale))

    def label(self, total: int, extra: dict[int, Array], prices: Array, cutoff: int, most: int) -> tuple[Labels, int]:
        """Returns at most `most` labels of all variables, and the least bound of the labels beyond this number."""
        none = np.zeros(1, dtype=np.int64)
        labels, dropped = Labels(none + total, none, {}, {"always": none, "ended": none}), FORBIDDEN
        ends = {u: self.place[v] for v, before in self.before.items() for u in (*before, v)}
        spans = [sorted(self.place[v] for v in peak) or [0] for peak in self.peaks]
        last_begin, last_always = (max(places, default=-1) for places in ([span[0] for span in spans],
                                                                         [self.place[v] for v in self.always]))
        for at, (v, before) in enumerate(self.before.items()):
            for number, span in enumerate(spans):
                if span[0] == at:
                    labels.levels[number] = labels.levels["always"]
            labels = labels.extend(v, extra[v][tuple(labels.values[u] for u in before)], cutoff)
            if v in self.always:
                labels.take(v, self.always[v], int(prices.sum()), *labels.levels)
            for number, peak in enumerate(self.peaks):
                if v in peak:
                    labels.take(v, peak[v], int(prices[number]), number)
            labels = labels.pick(np.all([level <= self.room for level in labels.levels.values()], axis=0))
            for number, span in enumerate(spans):
                if span[-1] == at:
                    labels.levels["ended"] = np.maximum(labels.levels["ended"], labels.levels.pop(number))
            # Clears levels that no later term adds to, so that labels compare equal.
            if at >= last_always:
                labels.levels["ended"] = labels.levels["ended"] * 0
                labels.levels["always"] = labels.levels["always"] * (at < last_begin)
            labels.values = {u: values for u, values in labels.values.items() if ends[u] > at}
            labels = labels.without_dominated({u: len(self.live[u]) for u in labels.values})
            if len(labels.bounds) > most:
                order = np.argpartition(labels.bounds, most)
                dropped = min(dropped, int(labels.bounds[order[most:]].min()))
                labels = labels.pick(np.sort(order[:most]))
        return labels, dropped


@dataclass
class Labels:
    """Partial assignments: lower bounds including prices, the part of a bound that is prices, the values of variables
    still in use, and the levels of use: "always" for the permanent terms, one per unfinished peak, and "ended" for the
    largest finished peak."""
    bounds: Array
    paid: Array
    values: dict[int, Array]
    levels: dict[int | str, Array]

    def pick(self, index: Array) -> Labels:
        return Labels(self.bounds[index], self.paid[index], {v: values[index] for v, values in self.values.items()},
                      {key: level[index] for key, level in self.levels.items()})

    def extend(self, variable: int, extra: Array, cutoff: int) -> Labels:
        """Extends each label by each value of a variable for which its bound plus `extra` is at most `cutoff`."""
        label, value = np.nonzero((bounds := self.bounds[:, None] + extra.reshape(-1, extra.shape[-1])) <= cutoff)
        extended = self.pick(label)
        extended.bounds, extended.values[variable] = bounds[label, value], value
        return extended

    def take(self, variable: int, units: Array, price: int, *levels: int | str) -> None:
        taken = units.astype(np.int64)[self.values[variable]]
        self.paid = self.paid + taken * price
        self.levels |= {key: self.levels[key] + taken for key in levels}

    def without_dominated(self, domains: dict[int, int]) -> Labels:
        """Removes labels if a nearby label with the same values costs and uses no more."""
        group = np.zeros(len(self.bounds), dtype=np.int64)
        for v, domain in domains.items():
            group = np.unique(group * domain + self.values[v], return_inverse=True)[1]
        levels = [level for level in self.levels.values() if level.any()]
        order = np.lexsort((*levels, self.bounds - self.paid, group))
        for near in range(1, MOST_COMPARED):
            is_worse = group[order[near:]] == group[order[:-near]]
            if not is_worse.any():
                break
            for level in levels:
                is_worse &= level[order[:-near]] <= level[order[near:]]
            order = np.concatenate([order[:near], order[near:][~is_worse]])
        return self.pick(order)


def add(terms: Terms, values: Sequence[int] | dict[int, int]) -> int:
    return sum(int(units[values[v]]) for v, units in terms.items())


def check(text: str) -> tuple[float, float, int | None]:
    """Returns the cost of a certificate, the bound that labels prove, and the limit; raises Rejected if it is false."""
    problem, values, claimed, _, lines, _ = read(text)
    require(lines and claimed < math.inf, "the certificate has no limit, or no assignment within it")
    cost, _, kept = without_price(problem.domains, problem.functions, lines, values, claimed, claimed)
    limit = Limit(problem.domains, lines)
    room = min(limit.room, sum(units.max() for _, _, units in limit.terms))

    def gather(terms: Iterable[Term]) -> Terms:
        gathered: Terms = {}
        for v, _, units in terms:  # use above the limit is capped at one unit above it
            gathered[v] = np.minimum(gathered.get(v, 0) + units, room + 1)
        return gathered

    always, peaks = gather(limit.always), sorted(map(gather, limit.peaks), key=lambda peak: -add(peak, values))
    # Starts with the peaks of highest use, and adds peaks while a cheaper assignment is within the limit at these.
    count, bound = FEW_PEAKS, -1
    while True:
        network = without_chain(problem, limit)
        eliminate(network, {*always}.union(*peaks[:count]))
        bound = max(bound, found := Search(network, always, peaks[:count], room).run(int(cost)))
        if bound == cost or count >= len(peaks):
            break
        count *= FEW_PEAKS
    require(found >= 0, f"{cost} is claimed, but an assignment within the limit costs less")
    return cost, bound, kept


if __name__ == "__main__":
    sys.exit(main(check, sys.argv[1:]))
