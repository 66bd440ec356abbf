"""python -m layout_mlir.certify FILE..: checks the claims of certificates.

A certificate (docs/certificates.md) has a problem, an assignment, its cost, a lower bound, and steps that prove the bound.
This program computes the cost of the assignment, executes the steps in a network of its own, and computes the bound
that they prove. Forbidden values have a large finite cost, so that all arithmetic is on integers that do not overflow.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certify_budget import Rejected, main, require, without_price

__all__ = ["Rejected", "check"]

Scope = tuple[int, ...]
Table = NDArray[Any]

MOST_ENTRIES = 1 << 27  # of a table
STEPS = {"e": "eliminate", "m": "move", "x": "extract", "s": "charge"}


class Problem:
    """The domain sizes, the functions, each a scope and a table of costs, and the network of these tables."""

    def __init__(self, text: str) -> None:
        words = text.split()[:0:-1]  # reversed for pop(), without the name

        def take(count: int) -> list[int]:
            require(0 <= count <= len(words), "the problem ends too early")
            return [int(words.pop()) for _ in range(count)]

        count, _, functions, self.top = take(4)
        self.domains, self.functions, shared = take(count), list[tuple[Scope, Table]](), list[list[list[int]]]()
        require(functions >= 0 and all(domain >= 1 for domain in self.domains), "a number is too small")
        require(sum(self.domains) <= MOST_ENTRIES, "domains are too large")
        most = self.top * (functions + 1)  # moves add to it; it stays below forbidden / 8
        self.type, self.forbidden = (np.int64, 1 << 60) if most < 1 << 55 else (object, 1 << 200)
        self.network = Network(self, {v: list(range(domain)) for v, domain in enumerate(self.domains)}, most)
        for _ in range(functions):
            arity, = take(1)
            scope = tuple(take(abs(arity)))
            require(len({*scope}) == len(scope) and all(0 <= v < count for v in scope), "a scope is invalid")
            default, tuples = take(2)
            listed = [take(len(scope) + 1) for _ in range(tuples)] if tuples >= 0 else shared[-tuples - 1]
            shared += [listed] * (tuples >= 0 > arity)
            shape = [self.domains[v] for v in scope]
            require(math.prod(shape) <= MOST_ENTRIES, "a function is too large")
            table = np.full(shape, default, dtype=object)
            for *values, cost in listed:
                require(all(0 <= v < extent for v, extent in zip(values, shape, strict=True)), "a tuple is invalid")
                table[tuple(values)] = cost
            require(table.min() >= 0, "a cost is negative")
            table = np.where(table < self.top, table, self.forbidden).astype(self.type)
            self.functions.append((scope, table))
            self.network.add(tuple(sorted(scope)), np.transpose(table, np.argsort(scope)))
        require(not words, "there is text after the problem")


class Network:
    """A lower bound plus a sum of tables over variables with their remaining values. Scopes are sorted, and the least
    entry of each table is 0. No step raises the cost of an assignment. Tables are replaced, never modified in place."""

    def __init__(self, problem: Problem, live: dict[int, list[int]], most: int = 0) -> None:
        self.problem, self.forbidden, self.live = problem, problem.forbidden, live
        self.tables_of = {v: dict[Scope, Table]() for v in live}  # a table is listed under each of its variables
        self.charged, self.required = Counter[tuple[int, ...]](), dict[tuple[int, ...], dict[int, bool]]()
        self.most, self.bound = most, 0
        require(most < self.forbidden // 8, "numbers get too large")

    def copy(self, parts: int = 1) -> Network:
        """Returns a copy in which all costs are multiplied by `parts`."""
        other = Network(self.problem, dict(self.live), self.most * parts)
        other.bound, other.charged, other.required = self.bound * parts, Counter(self.charged), dict(self.required)
        other.tables_of = {v: {scope: table if parts == 1 else np.minimum(table, self.forbidden // parts) * parts
                               for scope, table in tables.items()} for v, tables in self.tables_of.items()}
        return other

    def remove(self, *variables: int) -> list[tuple[Scope, Table]]:
        """Removes the tables that have one of the variables, and returns them by scope."""
        tables = {scope: table for v in variables for scope, table in self.tables_of[v].items()}
        for v, scope in ((v, scope) for scope in tables for v in scope):
            del self.tables_of[v][scope]
        return sorted(tables.items(), key=lambda entry: entry[0])

    def spread(self, scope: Scope, table: Table, over: Scope) -> Table:
        """Returns the table with one axis per variable of `over`, which includes `scope`; the axes of variables outside
        of `scope` have length 1."""
        return table.reshape([len(self.live[v]) if v in scope else 1 for v in over])

    def add(self, scope: Scope, table: Table) -> None:
        """Adds a table; its axes of length 1 are broadcast."""
        kept = tuple(v for v in scope if len(self.live[v]) > 1)
        require(math.prod(len(self.live[v]) for v in kept) <= MOST_ENTRIES, "a table is too large")
        table = np.broadcast_to(table, [len(self.live[v]) for v in scope]).reshape([len(self.live[v]) for v in kept])
        known = [self.tables_of[v].pop(kept, 0) for v in kept]  # the same table each time
        table = np.minimum(table + sum(known[:1]), self.forbidden, dtype=self.problem.type)
        self.bound += int(least := np.min(table))
        if np.max(table) != least:
            for v in kept:
                self.tables_of[v][kept] = table - least

    def add_product(self, first: int, of_first: Table, second: int, of_second: Table) -> None:
        pair = tuple(sorted({first, second}))
        self.add(pair, self.spread((first,), of_first, pair) * self.spread((second,), of_second, pair))

    def project(self, variable: int, *others: int) -> Network:
        """Returns a network of the tables that have `variable` in scope, each minimized over all variables except
        `variable` and `others`."""
        part = Network(self.problem, {v: self.live[v] for v in (variable, *others)})
        for scope, table in self.tables_of[variable].items():
            axes = tuple(axis for axis, v in enumerate(scope) if v not in part.live)
            part.add(tuple(v for v in scope if v in part.live), table.min(axis=axes))
        return part

    def eliminate(self, *variables: int) -> None:
        for variable in (v for v in variables if v in self.live):  # a part has only the variables of its tables
            tables = self.remove(variable)
            over = tuple(sorted({variable, *(v for scope, _ in tables for v in scope)}))
            require(math.prod(len(self.live[v]) for v in over) <= MOST_ENTRIES,
                    f"eliminating {variable} is too much work")
            total = np.zeros([1] * len(over), dtype=self.problem.type)
            for scope, table in tables:
                total = np.minimum(total + self.spread(scope, table, over), self.forbidden)
            self.add(tuple(v for v in over if v != variable), total.min(axis=over.index(variable)))
            del self.live[variable], self.tables_of[variable]

    def vector(self, variable: int, pairs: Sequence[int]) -> Table:
        """Returns the amount of each live value, or 0, as an array. `pairs` lists values and amounts in turn."""
        amounts = dict(zip(pairs[::2], pairs[1::2]))
        self.most += max(map(abs, amounts.values()), default=0)
        require(self.most < self.forbidden // 8, "numbers get too large")
        return np.array([amounts.get(value, 0) for value in self.live[variable]], dtype=self.problem.type)

    def move(self, arity: int, *numbers: int) -> None:
        """Moves an amount per value of one variable from a table to its unary costs. `numbers` lists the scope, which
        has `arity` variables, the position of the variable in it, and values and their amounts in turn."""
        scope, place, pairs = tuple(sorted(numbers[:arity])), numbers[arity], numbers[arity + 1:]
        require(len({*scope}) == arity > place >= 0, "a scope is invalid")
        amounts = self.vector(to := numbers[place], pairs)
        self.add(scope, self.spread((to,), -amounts, scope))
        self.add((to,), amounts)

    def extract(self, first: int, second: int, place: int) -> None:
        """Moves costs from the table of two variables, if it exists, to the unary costs of one of them: `first` if
        `place` is 0, `second` if it is 1. The amount is the minimum for each value of this variable."""
        scope, to = tuple(sorted((first, second))), (first, second)[place]
        if scope in self.tables_of[to]:
            table, axis = self.tables_of[to][scope], scope.index(to)
            least = table.min(axis=1 - axis, keepdims=True)
            is_out = least > self.forbidden // 2  # values without an allowed entry
            rest = np.where(is_out, self.forbidden, table - least)
            self.add(scope, np.where(is_out, rest.min(axis=axis, keepdims=True), rest) - table)
            self.add((to,), least.reshape(-1))

    def charge(self, variable: int, value: int, consumer: int, producer: int, *pairs: int) -> None:
        """Subtracts an amount per value of `producer` from the cost of `value`, a value of `variable`, and adds it to
        the values of `consumer` that forbid all other values of `variable`. `pairs` lists values of `producer` and
        their amounts in turn. Totals must not be negative, so that no assignment gets more costly."""
        require(value in self.live[variable] and consumer not in (variable, producer), "a charged cost is invalid")
        amounts = self.vector(producer, pairs)
        for x, amount in zip(self.live[producer], amounts):
            self.charged[paid := (variable, value, consumer, producer, x)] += int(amount)
            require(self.charged[paid] >= 0, "more is returned than was charged")
        is_on = np.array([x == value for x in self.live[variable]]).astype(self.problem.type)
        if (key := (variable, value, consumer)) not in self.required:
            others = self.project(variable, consumer)
            others.add((variable,), is_on * self.forbidden)
            others.eliminate(variable)
            self.required[key] = {x: cost > self.forbidden // 2 for x, cost in others.bounds(consumer).items()}
        required = np.array([self.required[key][x] for x in self.live[consumer]]).astype(self.problem.type)
        price = self.tables_of[variable].pop((variable,), is_on * 0)  # merged into the table with the producer
        self.add_product(variable, price, producer, amounts * 0 + 1)
        self.add_product(variable, is_on, producer, -amounts)
        if producer == variable:
            self.add((consumer,), required * amounts[is_on == 1])
        else:
            self.add_product(producer, amounts, consumer, required)

    def restrict(self, variable: int, values: Iterable[int]) -> None:
        """Restricts a variable to the given values."""
        kept = [index for index, value in enumerate(self.live[variable]) if value in values]
        tables = self.remove(variable)
        self.live[variable] = [self.live[variable][index] for index in kept]
        for scope, table in tables:
            self.add(scope, np.take(table, kept, axis=scope.index(variable)))

    def bounds(self, variable: int) -> dict[int, int]:
        """Returns a lower bound on the cost of the assignments with each value of a variable."""
        part, total = self.project(variable), np.full(len(self.live[variable]), self.bound, dtype=object)
        return dict(zip(self.live[variable], total + part.bound + part.tables_of[variable].get((variable,), 0)))

    def cost(self, assignment: Sequence[int]) -> int:
        """Returns the cost of values, one per variable; the last may be omitted if its variable has one value."""
        places = {v: values.index(x) for (v, values), x in zip(self.live.items(), assignment)}
        tables = {scope: table for tables in self.tables_of.values() for scope, table in tables.items()}
        return self.bound + sum(int(table[tuple(places[v] for v in scope)]) for scope, table in tables.items())

    def take_part(self, variables: Sequence[int], *others: int) -> Network:
        """Moves variables with their tables to a new network, and copies `others` and the variables in scope."""
        tables = self.remove(*variables)
        copied = sorted({*others, *(v for scope, _ in tables for v in scope)} - {*variables})
        live = {v: self.live.pop(v) for v in variables} | {v: self.live[v] for v in copied}
        part = Network(self.problem, live, self.most)
        for scope, table in tables:
            part.add(scope, table)
        return part


def cases(lines: list[list[str]], network: Network, variable: int, *words: str) -> Iterator[tuple[list[int], Network]]:
    """Yields the values in each line that starts with `words`, and a copy of the network restricted to them."""
    while lines[-1][:len(words)] == [*words]:
        values = [int(word) for word in lines.pop()[len(words):]]
        require({*values} <= {*network.live[variable]}, f"variable {variable} has no such value")
        part = network.copy()
        part.restrict(variable, values)
        yield values, part


def prove(lines: list[list[str]], network: Network, target: int, step: int) -> int:
    """Executes the steps of a proof, of which `lines` holds the next one last, and returns the proven bound, at most
    `target`. Costs are multiples of `step`."""
    best, trials = network.bound, list[tuple[Network, int, int]]()
    while (line := lines.pop()) != ["end"]:
        kind, numbers = line[0], [int(word) for word in line[1:]]
        if kind in STEPS:
            getattr(network, STEPS[kind])(*numbers)
        elif kind == "d":
            variable, *values = numbers
            for value, bound in network.bounds(variable).items():
                require(value not in values or max(best, bound) > target - step,
                        f"variable {variable} may have value {value}")
            if rest := {*network.live[variable]} - {*values}:
                for each in (network, *(trial[0] for trial in trials)):
                    each.restrict(variable, rest)
            best = best if rest else target
        elif kind == "t":
            parts = max([1, *numbers])
            trials.append((network, best, parts))
            network, best, target, step = network.copy(parts), best * parts, target * parts, step * parts
        elif kind == "u":
            network, before, parts = trials.pop()
            best, target, step = max(before, -(-best // parts)), target // parts, max(step // parts, 1)
        elif kind == "c":
            network.bound += prove(lines, network.take_part(numbers), target - network.bound, step)
        elif kind == "w":
            target, step = min((target, step), (network.cost(numbers), 1), key=lambda pair: pair[0])
        else:
            require(kind == "b", f"'{' '.join(line)}' is not a step")
            lines.append(line)  # the first of the lines that split the values
            bounds = dict.fromkeys(network.live[numbers[0]], network.bound)
            for values, part in cases(lines, network, numbers[0], *line[:2]):
                bounds.update(dict.fromkeys(values, prove(lines, part, target, step)))
            best = max(best, min(bounds.values()))
        best = max(best, network.bound)
    require(all(parts == 1 for *_, parts in trials), "the bound is for parts of a cost")
    return min(best, target)


def read(text: str) -> tuple[Problem, list[int], float, float, list[list[str]], list[list[str]]]:
    """Returns problem, assignment, verified cost, claimed bound, and the lines of limit and proof of a certificate."""
    head, _, problem_text = text.partition("\nwcsp\n")
    lines = [line.split() for line in head.split("\n") if line.strip()]
    names = [word for at, line in enumerate(lines[:5]) for word in (line[:1] if 0 < at < 4 else line)]
    require(names == ["layout-certificate", "1", "cost", "lower-bound", "assignment", "proof"],
            "the header of the certificate is invalid")
    problem = Problem(problem_text)
    cost, bound = (math.inf if line[1] == "infinite" else int(line[1]) for line in lines[1:3])
    values = [] if lines[3][1:] == ["none"] else [int(word) for word in lines[3][1:]]
    if cost != math.inf:
        require(len(values) == len(problem.domains), f"{len(values)} of {len(problem.domains)} values are assigned")
        require((true := problem.network.cost(values)) == cost < problem.top, f"the assignment costs {true}")
    budget = [line for line in lines[5:] if line[0] in ("budget", "takes", "peak")]
    return problem, values, cost, bound, budget, lines[5 + len(budget):]


def check(text: str) -> tuple[float, float, int | None]:
    """Returns the verified cost and bound of a certificate, and its limit or None; raises Rejected."""
    problem, values, cost, bound, budget, proof = read(text)
    require(bound <= cost, "the bound is larger than the cost")
    step = math.gcd(*(int(x) for _, table in problem.functions for x in np.unique(table) if x < problem.top)) or 1
    target = -(-int(min(bound, problem.top)) // step) * step  # every assignment costs `top` if none is allowed
    steps = [["end"], *reversed(proof)]
    best = prove(steps, problem.network, target, step)
    require(not steps, "there are lines after the steps")
    require(best > target - step, f"the steps prove {best}, not {target}")
    return without_price(problem.domains, problem.functions, budget, values, cost, bound)


if __name__ == "__main__":
    sys.setrecursionlimit(20000)
    sys.exit(main(check, sys.argv[1:]))
