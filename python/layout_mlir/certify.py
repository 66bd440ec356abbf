"""python -m layout_mlir.certify FILE..: whether what a certificate claims is true.

A certificate of `layout-solve --certificate=FILE` or `layout-assign=certificate=FILE` has a problem in wcsp format, an
assignment with its cost, a lower bound, and the steps by which the bound was found. This program adds up what the
assignment costs, takes the steps in a network of its own, and computes what they prove. It needs NumPy and shares
nothing with the solver but two text formats, which docs/solver.md describes.

What is forbidden is a very large cost here, so that every step is arithmetic on integers, which do not overflow.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scope = tuple[int, ...]
Table = NDArray[Any]

MOST_ENTRIES = 1 << 27  # of a table, whatever a certificate asks for


class Rejected(Exception):
    """What a certificate claims does not follow."""


def require(condition: object, message: str) -> None:
    if not condition:
        raise Rejected(message)


class Problem:
    """Domains, and functions as scopes and arrays."""

    def __init__(self, text: str) -> None:
        words = iter(text.split()[1:])

        def take(count: int) -> list[int]:
            numbers = [int(word) for word in itertools.islice(words, count)]
            require(len(numbers) == count, "the problem ends too early")
            return numbers

        count, _, functions, self.top = take(4)
        self.domains = take(count)
        require(functions >= 0 and all(domain >= 1 for domain in self.domains), "a number is too small")
        # What all finite costs and moves together stay below a quarter of.
        small = self.top < (1 << 55) // (functions + 1)
        self.type: Any = np.int64 if small else object
        self.forbidden = 1 << (60 if small else 200)
        self.functions: list[tuple[Scope, Table]] = []
        self.step, shared = 0, list[list[list[int]]]()
        for _ in range(functions):
            arity, = take(1)
            scope = take(abs(arity))
            require(len(set(scope)) == len(scope) and all(0 <= v < count for v in scope), "a scope is none")
            default, tuples = take(2)
            if tuples < 0:
                require(-tuples <= len(shared), "a function shares tuples that nobody has")
                listed = shared[-tuples - 1]
            else:
                listed = [take(len(scope) + 1) for _ in range(tuples)]
                if arity < 0:
                    shared.append(listed)
            shape = [self.domains[v] for v in scope]
            require(math.prod(shape) <= MOST_ENTRIES, "a function is too large")
            table = np.full(shape, default, dtype=object)
            for *values, cost in listed:
                require(all(0 <= v < extent for v, extent in zip(values, shape, strict=True)), "a tuple is none")
                table[tuple(values)] = cost
            require(table.min() >= 0, "a cost is negative")
            table = np.where(table < self.top, table, self.forbidden).astype(self.type)
            self.step = math.gcd(self.step, *(int(cost) for cost in np.unique(table) if cost < self.top))
            self.functions.append((tuple(scope), table))
        require(next(words, None) is None, "words follow the problem")

    def cost(self, assignment: Sequence[int]) -> int:
        require(all(0 <= x < domain for x, domain in zip(assignment, self.domains, strict=True)), "a value is none")
        return sum(int(table[tuple(assignment[v] for v in scope)]) for scope, table in self.functions)


class Network:
    """A sum of tables over variables and the values that are left of each. Steps never raise the cost of an
    assignment, and the least entries of all tables together are a bound. Tables are replaced, and never changed."""

    def __init__(self, problem: Problem, live: dict[int, list[int]]) -> None:
        self.problem, self.forbidden = problem, problem.forbidden
        self.live, self.tables, self.least = live, dict[Scope, Table](), dict[Scope, int]()
        self.scopes_of: dict[int, set[Scope]] = {v: set() for v in live}
        self.charged: dict[tuple[int, ...], Any] = {}
        self.constant = self.moved = self.bound = 0

    def copy(self) -> Network:
        other = Network(self.problem, dict(self.live))
        other.tables, other.least, other.charged = dict(self.tables), dict(self.least), dict(self.charged)
        other.scopes_of = {v: set(scopes) for v, scopes in self.scopes_of.items()}
        other.constant, other.moved, other.bound = self.constant, self.moved, self.bound
        return other

    def remove(self, scope: Scope) -> Table:
        self.bound -= self.least.pop(scope)
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
        table = self.spread(scope, table, kept + tuple(v for v in scope if v not in kept))
        table = table.reshape(table.shape[:len(kept)])
        if kept in self.tables:
            table = np.minimum(table + self.remove(kept), self.forbidden)
        least = int(table.min())
        self.bound += least
        if table.max() == least:
            self.constant += least
            return
        self.tables[kept], self.least[kept] = table, least
        for v in kept:
            self.scopes_of[v].add(kept)

    def eliminate(self, variable: int) -> None:
        require(variable in self.live, f"variable {variable} is eliminated twice")
        scopes = sorted(self.scopes_of[variable])
        over = (*sorted({v for scope in scopes for v in scope} - {variable}), variable)
        require(math.prod(len(self.live[v]) for v in over) <= MOST_ENTRIES, f"eliminating {variable} is too much work")
        total = np.zeros([1] * len(over), dtype=self.problem.type)
        for scope in scopes:
            total = np.minimum(total + self.spread(scope, self.remove(scope), over), self.forbidden)
        self.add(over[:-1], total.min(axis=-1))
        del self.live[variable], self.scopes_of[variable]

    def vector(self, variable: int, pairs: Sequence[int]) -> Table:
        """Amounts as an array; those of values that are gone do not matter."""
        require(variable in self.live, f"variable {variable} is gone")
        amounts = dict(zip(pairs[::2], pairs[1::2]))
        self.moved += max(map(abs, amounts.values()), default=0)
        require(self.moved < self.forbidden // 8, "numbers get too large")
        return np.array([amounts.get(value, 0) for value in self.live[variable]], dtype=self.problem.type)

    def move(self, scope: Scope, place: int, pairs: Sequence[int]) -> None:
        """Takes amounts per value of one variable off a table, and adds them to the costs of the variable."""
        require(len({*scope}) == len(scope) and {*scope} <= {*self.live} and 0 <= place, "a scope is none")
        amounts = self.vector(scope[place], pairs)
        table = self.spread(scope[place:place + 1], -amounts, scope)
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

    def charge(self, variable: int, value: int, asker: int, payer: int, pairs: Sequence[int]) -> None:
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
            total += self.tables[scope].min(axis=axes).astype(object) - self.least[scope]
        return dict(zip(self.live[variable], total))

    def cost(self, assignment: Mapping[int, int]) -> int:
        places = {v: values.index(assignment[v]) for v, values in self.live.items()}
        return self.constant + sum(int(table[tuple(places[v] for v in scope)]) for scope, table in self.tables.items())

    def take_part(self, variables: Sequence[int], parent: Scope) -> Network:
        """Takes out variables that share tables with each other and the parent alone."""
        require({*variables, *parent} <= {*self.live} and not {*parent} & {*variables}, "a part is none")
        part = Network(self.problem, {v: self.live.pop(v) for v in dict.fromkeys(variables)})
        part.live.update((v, self.live[v]) for v in parent)
        part.scopes_of.update((v, set()) for v in parent)
        for scope in sorted({scope for v in variables for scope in self.scopes_of[v]}):
            require(all(v in part.live for v in scope), "a part is connected to the rest")
            part.add(scope, self.remove(scope))
        part.moved = self.moved
        return part


class Replay:
    """Takes the steps of a proof, each a line."""

    def __init__(self, lines: list[list[str]]) -> None:
        self.lines, self.next = lines, 0

    def take(self, *kinds: str) -> list[int] | None:
        """The numbers of the next step, if it is of such a kind."""
        line = self.lines[self.next] if self.next < len(self.lines) else []
        if not line or line[0] not in kinds:
            return None
        self.next += 1
        return [int(word) for word in line[1:]]

    def end(self, bound: int) -> int:
        require(self.take("end") is not None, f"line {self.next + 6} is no step")
        return bound

    def witness(self, part: Network, variables: Sequence[int], known: Mapping[int, int] = {}) -> int:
        """What an assignment of a part costs, if one is given."""
        values = self.take("w")
        return part.forbidden if values is None else part.cost({**known, **dict(zip(variables, values))})

    def prove(self, network: Network, target: int, step: int) -> int:
        """What all assignments cost at least, at most `target`; those of the whole problem cost multiples of `step`."""
        best, trials = network.bound, list[Network]()
        while True:
            if (numbers := self.take("e")) is not None:
                for variable in numbers:
                    network.eliminate(variable)
            elif numbers := self.take("m"):
                arity, numbers = numbers[0], numbers[1:]
                network.move(tuple(numbers[:arity]), numbers[arity], numbers[arity + 1:])
            elif numbers := self.take("x"):
                network.extract(*numbers)
            elif numbers := self.take("s"):
                network.charge(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4:])
            elif numbers := self.take("d"):
                variable, values = numbers[0], set(numbers[1:])
                for value, bound in network.bounds(variable).items():
                    require(value not in values or max(best, bound) > target - step, f"{variable} may have value {value}")
                if rest := [value for value in network.live[variable] if value not in values]:
                    for each in (network, *trials):
                        each.restrict(variable, rest)
                else:
                    best = target
            elif self.take("t") is not None:
                trials.append(network.copy())
            elif trials and self.take("u") is not None:
                network = trials.pop()
            elif numbers := self.take("c"):
                part = network.take_part(numbers, ())
                known, most = self.witness(part, numbers), target - network.bound
                bound = self.end(self.prove(part, min(most, known), 1 if known < most else step))
                network.add((), np.array(bound, dtype=object))
            elif numbers := self.take("p"):
                self.prove_block(network, numbers[0], numbers[1:])
            elif numbers := self.take("b"):
                best = max(best, self.split(network, target, step, numbers[0], numbers[1:]))
            else:
                return min(best, target)
            best = max(best, network.bound)

    def split(self, network: Network, target: int, step: int, variable: int, values: list[int]) -> int:
        """One bound for all values of a variable."""
        least, missing = target, set(network.live[variable])
        while values:
            require({*values} <= missing, "a split has other values")
            missing -= {*values}
            part = network.copy()
            part.restrict(variable, values)
            least = min(least, self.end(self.prove(part, target, step)))
            other, *values = self.take("b") or [variable]
            require(other == variable, "a split is of two variables")
        require(not missing, "a split leaves out values")
        return least

    def prove_block(self, network: Network, parent: int, variables: Sequence[int]) -> None:
        """Makes bounds of the block for each value of its parent costs of these."""
        block = network.take_part(variables, (parent,))
        bounds = {value: min(bound, block.forbidden) for value, bound in block.bounds(parent).items()}
        while numbers := self.take("v"):
            require(numbers[0] in bounds, "a block is bounded for a value that its parent does not have")
            part = block.copy()
            part.restrict(parent, numbers)
            bounds[numbers[0]] = self.end(self.prove(part, self.witness(part, variables, {parent: numbers[0]}), 1))
        network.add((parent,), np.array([*bounds.values()], dtype=network.problem.type))


def check(text: str) -> tuple[float, float]:
    """The cost and the bound of a certificate, both true; raises Rejected."""
    head, separator, problem_text = text.partition("\nwcsp\n")
    version, cost_line, bound_line, assignment, proof, *lines = [line.split() for line in head.split("\n")]
    require(separator and version == ["layout-certificate", "1"] and proof == ["proof"], "this is no certificate")
    names = cost_line[0], bound_line[0], assignment[0]
    require(names == ("cost", "lower-bound", "assignment"), "a claim is missing")
    problem = Problem(problem_text)
    cost, bound = (math.inf if claim[1] == "infinite" else int(claim[1]) for claim in (cost_line, bound_line))
    if cost != math.inf:
        true = problem.cost([int(word) for word in assignment[1:]])
        require(true == cost and cost < problem.top, f"the assignment costs {true}")
    require(bound <= cost, "the bound is larger than the cost")
    # Where nothing is allowed, everything costs as much as the problem forbids.
    step, target = max(problem.step, 1), problem.top if bound == math.inf else min(int(bound), problem.top)
    if bound == math.inf:
        target += -target % step
    elif target % step:
        step = 1
    network = Network(problem, {v: list(range(domain)) for v, domain in enumerate(problem.domains)})
    for scope, table in problem.functions:
        network.add(scope, table)
    replay = Replay([line for line in lines if line])
    best = replay.prove(network, target, step)
    require(replay.next == len(replay.lines), f"line {replay.next + 6} is no step")
    require(best > target - step, f"the steps prove {best} and not {target}")
    return cost, bound


def main(path: str) -> int:
    try:
        with open(path, encoding="utf-8") as file:
            cost, bound = check(file.read())
        print(f"{path}: accepted, cost {cost}, at least {bound}")
        return 0
    except (Rejected, ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError) as error:
        print(f"{path}: rejected: {error}")
        return 1


if __name__ == "__main__":
    sys.setrecursionlimit(20000)
    sys.exit(max(map(main, sys.argv[1:]), default=0))
