"""python -m layout_mlir.certify FILE..: whether what a certificate claims is true.

A certificate of `layout-solve --certificate=FILE` or `layout-assign=certificate=FILE` has a problem in wcsp format, an
assignment with its cost, a lower bound, and the steps by which the bound was found. This program adds up what the
assignment costs, takes the steps in a network of its own, and computes what they prove. It needs NumPy and shares
nothing with the solver but two text formats, which docs/solver.md describes. What is forbidden is a very large cost
here, so that every step is arithmetic on integers, which do not overflow.
"""

from __future__ import annotations

import copy
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.certify_budget import Rejected, require, without_price

Scope = tuple[int, ...]
Table = NDArray[Any]

MOST_ENTRIES = 1 << 27  # of a table, whatever a certificate asks for


class Problem:
    """Domains, and functions as scopes and arrays."""

    def __init__(self, text: str) -> None:
        words = text.split()[:0:-1]  # the next one is the last

        def take(count: int) -> list[int]:
            require(0 <= count <= len(words), "the problem ends too early")
            return [int(words.pop()) for _ in range(count)]

        count, _, functions, self.top = take(4)
        self.domains, self.step, shared = take(count), 0, list[list[list[int]]]()
        require(functions >= 0 and all(domain >= 1 for domain in self.domains), "a number is too small")
        # What all finite costs and moves together stay below a quarter of.
        small = self.top < (1 << 55) // (functions + 1)
        self.type: Any = np.int64 if small else object
        self.forbidden = 1 << (60 if small else 200)
        self.functions: list[tuple[Scope, Table]] = []
        for _ in range(functions):
            arity, = take(1)
            scope = tuple(take(abs(arity)))
            require(len({*scope}) == len(scope) and all(0 <= v < count for v in scope), "a scope is none")
            default, tuples = take(2)
            listed = [take(len(scope) + 1) for _ in range(tuples)] if tuples >= 0 else shared[-tuples - 1]
            shared += [listed] * (tuples >= 0 > arity)
            shape = [self.domains[v] for v in scope]
            require(math.prod(shape) <= MOST_ENTRIES, "a function is too large")
            table = np.full(shape, default, dtype=object)
            for *values, cost in listed:
                require(all(0 <= v < extent for v, extent in zip(values, shape, strict=True)), "a tuple is none")
                table[tuple(values)] = cost
            require(table.min() >= 0, "a cost is negative")
            table = np.where(table < self.top, table, self.forbidden).astype(self.type)
            self.step = math.gcd(self.step, *(int(cost) for cost in np.unique(table) if cost < self.top))
            self.functions.append((scope, table))
        require(not words, "words follow the problem")

    def cost(self, assignment: Sequence[int]) -> int:
        require(all(0 <= x < domain for x, domain in zip(assignment, self.domains, strict=True)), "a value is none")
        return sum(int(table[tuple(assignment[v] for v in scope)]) for scope, table in self.functions)


class Network:
    """A sum of tables over variables and the values that are left of each. Steps never raise the cost of an
    assignment, and the least entries of all tables together are a bound. Tables are replaced, and never changed."""

    def __init__(self, problem: Problem, live: dict[int, list[int]]) -> None:
        self.problem, self.forbidden, self.live = problem, problem.forbidden, live
        self.tables, self.scopes_of = dict[Scope, Table](), {v: set[Scope]() for v in live}
        self.charged: dict[tuple[int, ...], Any] = {}
        self.constant = self.moved = self.bound = 0

    def copy(self) -> Network:
        other = copy.copy(self)
        other.live, other.tables, other.charged = dict(self.live), dict(self.tables), dict(self.charged)
        other.scopes_of = {v: {*scopes} for v, scopes in self.scopes_of.items()}
        return other

    def remove(self, scope: Scope) -> Table:
        self.bound -= int(self.tables[scope].min())
        for v in scope:
            self.scopes_of[v].discard(scope)
        return self.tables.pop(scope)

    def spread(self, scope: Scope, table: Table, over: Scope) -> Table:
        """The table with axes in the order of `over`, which has all of its variables; of length 1 for others."""
        table = np.transpose(table, sorted(range(len(scope)), key=lambda axis: over.index(scope[axis])))
        return table.reshape([len(self.live[v]) if v in scope else 1 for v in over])

    def add(self, scope: Scope, table: Table) -> None:
        """Adds a table over variables in any order."""
        kept = tuple(sorted(v for v in scope if len(self.live[v]) > 1))
        table = self.spread(scope, table, (*kept, *({*scope} - {*kept}))).reshape([len(self.live[v]) for v in kept])
        if kept in self.tables:
            table = np.minimum(table + self.remove(kept), self.forbidden)
        least = int(table.min())
        self.bound += least
        if table.max() == least:
            self.constant += least
            return
        self.tables[kept] = table
        for v in kept:
            self.scopes_of[v].add(kept)

    def eliminate(self, *variables: int) -> None:
        for variable in variables:
            scopes = sorted(self.scopes_of[variable])
            over = (*sorted({v for scope in scopes for v in scope} - {variable}), variable)
            require(math.prod(len(self.live[v]) for v in over) <= MOST_ENTRIES, f"{variable} is too much work")
            total = np.zeros([1] * len(over), dtype=self.problem.type)
            for scope in scopes:
                total = np.minimum(total + self.spread(scope, self.remove(scope), over), self.forbidden)
            self.add(over[:-1], total.min(axis=-1))
            del self.live[variable], self.scopes_of[variable]

    def vector(self, variable: int, pairs: Sequence[int]) -> Table:
        """Amounts as an array; those of values that are gone do not matter."""
        amounts = dict(zip(pairs[::2], pairs[1::2]))
        self.moved += max(map(abs, amounts.values()), default=0)
        require(self.moved < self.forbidden // 8, "numbers get too large")
        return np.array([amounts.get(value, 0) for value in self.live[variable]], dtype=self.problem.type)

    def move(self, arity: int, *numbers: int) -> None:
        """Takes amounts per value of one variable off a table, and adds them to the costs of the variable."""
        scope, place, pairs = numbers[:arity], numbers[arity], numbers[arity + 1:]
        require(len({*scope}) == len(scope) == arity and 0 <= place, "a scope is none")
        amounts = self.vector(scope[place], pairs)
        table = self.spread((scope[place],), -amounts, scope)
        self.add(scope, np.broadcast_to(table, [len(self.live[v]) for v in scope]))
        self.add((scope[place],), amounts)

    def extract(self, first: int, second: int, place: int) -> None:
        """Moves to a variable what each of its values costs at least in the table of two, if there is one."""
        scope, to = tuple(sorted((first, second))), (first, second)[place]
        if scope in self.tables and place in (0, 1):
            table, axis = self.remove(scope), 1 - scope.index(to)
            least = table.min(axis=axis, keepdims=True)
            is_out, rest = least > self.forbidden // 2, table - least
            # For values that are forbidden any entries do.
            common = np.where(is_out, self.forbidden, rest).min(axis=1 - axis, keepdims=True)
            self.add(scope, np.where(is_out, 0 if is_out.all() else common, rest))
            self.add((to,), least.reshape(-1))

    def charge(self, variable: int, value: int, asker: int, payer: int, *pairs: int) -> None:
        """Takes amounts per value of the payer off what `value` costs, and adds them to the values of the asker that
        allow no other one. Nothing is above its cost as long as what was charged in all is not negative."""
        require(value in self.live[variable] and asker not in (variable, payer), "a cost is charged that is none")
        amounts = self.vector(payer, pairs)
        for x, amount in zip(self.live[payer], amounts):
            paid = variable, value, asker, payer, x
            self.charged[paid] = self.charged.get(paid, 0) + int(amount)
            require(self.charged[paid] >= 0, "more is returned than was charged")
        pays = np.array([x == value for x in self.live[variable]]).astype(self.problem.type)
        if (key := (variable, value, asker)) not in self.charged:
            # What each pair of values costs at least in one of the tables of the variable.
            least = np.zeros((len(pays), len(self.live[asker])), dtype=self.problem.type)
            for scope in self.scopes_of[variable]:
                axes = tuple(axis for axis, v in enumerate(scope) if v not in (variable, asker))
                kept = tuple(v for v in scope if v in (variable, asker))
                least = np.maximum(least, self.spread(kept, self.tables[scope].min(axis=axes), (variable, asker)))
            asks = (least[pays == 0] > self.forbidden // 2).all(axis=0)
            self.charged[key] = dict(zip(self.live[asker], asks))
        asks = np.array([self.charged[key][x] for x in self.live[asker]]).astype(self.problem.type)
        if payer == variable:
            self.add((variable,), -amounts)
            self.add((asker,), asks * amounts[pays == 1])
            return
        if (variable,) in self.tables:  # so that the price is in one table
            self.add((variable, payer), np.repeat(self.remove((variable,))[:, None], len(amounts), axis=1))
        self.add((variable, payer), -pays[:, None] * amounts)
        self.add((payer, asker), amounts[:, None] * asks)

    def restrict(self, variable: int, values: Iterable[int]) -> None:
        """Keeps these values alone."""
        kept = [index for index, value in enumerate(self.live[variable]) if value in values]
        tables = [(scope, self.remove(scope)) for scope in sorted(self.scopes_of[variable])]
        self.live[variable] = [self.live[variable][index] for index in kept]
        for scope, table in tables:
            self.add(scope, np.take(table, kept, axis=scope.index(variable)))

    def bounds(self, variable: int) -> dict[int, int]:
        """Per value, a bound of the assignments that have it."""
        total = np.full(len(self.live[variable]), self.bound, dtype=object)
        for scope in self.scopes_of[variable]:
            axes = tuple(axis for axis, v in enumerate(scope) if v != variable)
            total += self.tables[scope].min(axis=axes).astype(object) - int(self.tables[scope].min())
        return dict(zip(self.live[variable], total))

    def cost(self, assignment: Mapping[int, int]) -> int:
        places = {v: values.index(assignment[v]) for v, values in self.live.items()}
        return self.constant + sum(int(table[tuple(places[v] for v in scope)]) for scope, table in self.tables.items())

    def take_part(self, variables: Sequence[int], parent: Scope) -> Network:
        """Takes out variables that share tables with each other and the parent alone."""
        require(not {*parent} & {*variables}, "a part is none")
        part = Network(self.problem, {v: self.live[v] for v in (*variables, *parent)})
        part.moved = self.moved
        for scope in sorted({scope for v in variables for scope in self.scopes_of[v]}):
            require(all(v in part.live for v in scope), "a part is connected to the rest")
            part.add(scope, self.remove(scope))
        for v in {*variables}:
            del self.live[v]
        return part


STEPS: dict[str, Callable[..., None]] = {
    "e": Network.eliminate, "m": Network.move, "x": Network.extract, "s": Network.charge}


class Replay:
    """Takes the steps of a proof, each a line, of which the first has the number `first`."""

    def __init__(self, lines: list[list[str]], first: int) -> None:
        self.lines, self.first, self.next = [*lines, ["end"]], first, 0

    def sees(self, *kinds: str) -> bool:
        return self.lines[self.next][0] in kinds

    def take(self) -> list[int]:
        self.next += 1
        return [int(word) for word in self.lines[self.next - 1][1:]]

    def witness(self, part: Network, variables: Sequence[int], known: Mapping[int, int] = {}) -> int:
        """What an assignment of a part costs, if one is given."""
        return part.cost({**known, **dict(zip(variables, self.take()))}) if self.sees("w") else part.forbidden

    def prove(self, network: Network, target: int, step: int) -> int:
        """What all assignments cost at least, at most `target`; those of the whole problem cost multiples of `step`."""
        best, trials = network.bound, list[Network]()
        while self.sees(*STEPS, *"dtucpb"):
            kind, numbers = self.lines[self.next][0], self.take()
            if kind in STEPS:
                STEPS[kind](network, *numbers)
            elif kind == "d":
                variable, *values = numbers
                for value, bound in network.bounds(variable).items():
                    require(value not in values or max(best, bound) > target - step, f"{variable} may have value {value}")
                rest = {*network.live[variable]} - {*values}
                for each in (network, *trials) if rest else ():
                    each.restrict(variable, rest)
                best = best if rest else target
            elif kind == "t":
                trials.append(network.copy())
            elif kind == "u":
                network = trials.pop()
            elif kind == "c":
                part = network.take_part(numbers, ())
                known, most = self.witness(part, numbers), target - network.bound
                bound = self.prove(part, min(most, known), 1 if known < most else step)
                network.add((), np.array(bound, dtype=object))
            elif kind == "p":
                self.prove_block(network, *numbers)
            else:
                best = max(best, self.split(network, target, step, *numbers))
            best = max(best, network.bound)
        require(self.sees("end") and not self.take(), f"line {self.first + self.next} is no step")
        return min(best, target)

    def split(self, network: Network, target: int, step: int, variable: int, *first: int) -> int:
        """One bound for all values of a variable."""
        values, least, missing = [*first], target, {*network.live[variable]}
        while values:
            require({*values} <= missing, "a split has other values")
            missing -= {*values}
            part = network.copy()
            part.restrict(variable, values)
            least = min(least, self.prove(part, target, step))
            other, *values = self.take() if self.sees("b") else [variable]
            require(other == variable, "a split is of two variables")
        require(not missing, "a split leaves out values")
        return least

    def prove_block(self, network: Network, parent: int, *variables: int) -> None:
        """Makes bounds of the block for each value of its parent costs of these."""
        block = network.take_part(variables, (parent,))
        bounds = {value: min(bound, block.forbidden) for value, bound in block.bounds(parent).items()}
        while self.sees("v"):
            value, = self.take()
            require(value in bounds, "a block is bounded for a value that its parent does not have")
            part = block.copy()
            part.restrict(parent, (value,))
            bounds[value] = self.prove(part, self.witness(part, variables, {parent: value}), 1)
        network.add((parent,), np.array([*bounds.values()], dtype=network.problem.type))


def check(text: str) -> tuple[float, float, int | None]:
    """The cost and the bound of a certificate, both true, and the limit that it keeps to, if any; raises Rejected."""
    head, _, problem_text = text.partition("\nwcsp\n")
    version, cost_line, bound_line, assignment, proof, *lines = [line.split() for line in head.split("\n")]
    names = *version, cost_line[0], bound_line[0], assignment[0], *proof
    require(names == ("layout-certificate", "1", "cost", "lower-bound", "assignment", "proof"), "this is no certificate")
    problem = Problem(problem_text)
    cost, bound = (math.inf if claim[1] == "infinite" else int(claim[1]) for claim in (cost_line, bound_line))
    if cost != math.inf:
        true = problem.cost([int(word) for word in assignment[1:]])
        require(true == cost and cost < problem.top, f"the assignment costs {true}")
    require(bound <= cost, "the bound is larger than the cost")
    # Where nothing is allowed, everything costs as much as the problem forbids.
    step, target = max(problem.step, 1), int(min(bound, problem.top))
    if bound == math.inf:
        target += -target % step
    elif target % step:
        step = 1
    network = Network(problem, {v: list(range(domain)) for v, domain in enumerate(problem.domains)})
    for scope, table in problem.functions:
        network.add(scope, table)
    limited = [*itertools.takewhile(lambda line: line[:1] in (["budget"], ["takes"]), lines)]
    replay = Replay([line for line in lines[len(limited):] if line], first=6 + len(limited))
    best = replay.prove(network, target, step)
    require(replay.next == len(replay.lines), f"line {replay.first + replay.next} is no step")
    require(best > target - step, f"the steps prove {best} and not {target}")
    if not limited:
        return cost, bound, None
    return without_price(problem.domains, problem.functions, limited, [*map(int, assignment[1:])], cost, bound)


def main(path: str) -> int:
    try:
        with open(path, encoding="utf-8") as file:
            cost, bound, limit = check(file.read())
        verdict = f"accepted, cost {cost}, at least {bound}"
        if limit is not None:
            verdict += f", of what takes at most {limit}"
    except (Rejected, ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError) as error:
        verdict = f"rejected: {error}"
    print(f"{path}: {verdict}")
    return verdict.startswith("rejected")


if __name__ == "__main__":
    sys.setrecursionlimit(20000)
    sys.exit(max(map(main, sys.argv[1:]), default=0))
