"""Chooses a value for each variable at the least total cost, and proves how close to the minimum the choice is.

    problem = Problem()
    a, b = problem.add_variables([[0, 5], [3, 0]])
    problem.add_table((a, b), [[7, 1], [0, 0]])
    answer = problem.solve()            # cost 1, proven, assignment [0 1]

The package needs NumPy and no compiler. docs/solver-api.md has worked problems.
"""

from __future__ import annotations

import ctypes
import json
import pkgutil
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._arrays import FORBIDDEN, ProblemError, to_amounts, to_costs, to_numbers

__all__ = ["FORBIDDEN", "Answer", "End", "Problem", "ProblemError", "solve"]
__version__ = "0.1.0"

# A build directory has the library in a package directory of its own.
__path__ = pkgutil.extend_path(__path__, __name__)
_LIBRARY = _library.load(__path__)

End = tuple[int, ArrayLike] | int
"""A producer or consumer of a tensor: a variable with the layout of each of its values, or a fixed layout."""

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Answer:
    """The best assignment that was found, and what is known about the others."""

    assignment: Integers | None
    """The value of each variable, or None if no assignment was found."""
    cost: int | None
    """The cost of the assignment, or None if there is none."""
    lower_bound: int | None
    """No assignment costs less. None if every assignment is proven to be forbidden."""
    proven: bool
    """True if the cost is the lower bound, or if every assignment is proven to be forbidden."""
    open: Integers
    """The variables of the parts whose cost is above their lower bound."""
    copies: list[tuple[int, int]]
    """The copies that the assignment needs, as pairs of a tensor and a layout."""
    amount: int | None
    """The amount that the assignment uses of a budget."""
    least_amount: int | None
    """A lower bound of the amounts of all allowed assignments, within the budget or not; 0 if it was not needed."""
    certificate: str
    """The proof, which `python -m layout_solver.certify FILE` checks, or an empty string."""
    nodes: int
    """The search nodes that were visited."""
    work: int
    """The table entries that the search visited, a measure of time on any machine."""
    seconds: float
    """The time of the solver."""


class Problem:
    """Variables whose values have costs, tables of costs over several variables, tensors with copies, and a budget.

    Costs are integers from 0 to 2^63 - 3, in any integer dtype, or floats with such values; `numpy.inf` or FORBIDDEN
    forbids. The methods raise ProblemError for what violates a rule.
    """

    def __init__(self) -> None:
        self._handle = _LIBRARY.layoutProblemCreate()
        self._destroy = weakref.finalize(self, _LIBRARY.layoutProblemDestroy, self._handle)
        self._lock = threading.Lock()
        self._sizes: list[int] = []

    def __repr__(self) -> str:
        return f"<layout_solver.Problem of {len(self._sizes)} variables>"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each variable."""
        return tuple(self._sizes)

    def add_variable(self, costs: ArrayLike) -> int:
        """Adds a variable with a cost per value, and returns its number."""
        return int(self.add_variables([costs])[0])

    def add_variables(self, costs: Sequence[ArrayLike] | NDArray[Any]) -> Integers:
        """Adds a variable for each row of costs, of which each may have a length of its own. Returns their numbers."""
        first = len(self._sizes)
        if isinstance(costs, np.ndarray):
            rows = list(to_costs("costs", costs))
        else:
            rows = [to_costs(f"costs of variable {first + i}", row) for i, row in enumerate(costs)]
        for i, row in enumerate(rows):
            if row.ndim != 1 or not row.size:
                raise ProblemError(f"costs of variable {first + i} have shape {row.shape}, "
                                   "but a list of one or more is expected")
        sizes = np.array([row.size for row in rows], np.int64)
        flat = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        with self._lock:
            self._check(_LIBRARY.layoutProblemAddVariables(self._handle, len(rows), _point(sizes), _point(flat)))
            self._sizes += sizes.tolist()
        return np.arange(first, first + len(rows))

    def add_table(self, variables: Sequence[int], costs: ArrayLike) -> None:
        """Adds an array of costs, which has one dimension for each of the variables."""
        self._add_tables(self._to_variables("variables", [variables]), to_costs("costs", costs)[None, ...])

    def add_tables(self, variables: ArrayLike, costs: ArrayLike) -> None:
        """Adds a table for each row of variables, such as the edges of a graph. `costs` is one array for all of them,
        or has one for each along its first dimension."""
        scopes, array = self._to_variables("variables", variables), to_costs("costs", costs)
        if scopes.ndim != 2:
            raise ProblemError(f"variables have shape {scopes.shape}, but rows of variables are expected")
        self._add_tables(scopes, array[None, ...] if array.ndim == scopes.shape[1] else array)

    def _add_tables(self, scopes: Integers, tables: Integers) -> None:
        count, arity = scopes.shape
        if tables.ndim != arity + 1 or len(tables) not in (1, count):
            shape = tables.shape[1:] if len(tables) == 1 else tables.shape
            raise ProblemError(f"costs have shape {shape}, but a table over {arity} variables has {arity} dimensions, "
                               f"and there is one for all rows of variables or one for each of the {count}")
        sizes = np.array([self._sizes[each] for each in scopes.ravel().tolist()], np.int64).reshape(scopes.shape)
        wrong = (sizes != np.array(tables.shape[1:], np.int64)).any(axis=1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ProblemError(f"costs have shape {tables.shape[1:]}, but the variables {scopes[row].tolist()} have "
                               f"{tuple(sizes[row].tolist())} values")
        with self._lock:
            self._check(_LIBRARY.layoutProblemAddTables(
                self._handle, count, arity, _point(np.ascontiguousarray(scopes)), len(tables),
                int(np.prod(tables.shape[1:])), _point(np.ascontiguousarray(tables))))

    def add_tensor(self, producer: End, consumers: Sequence[End], prices: ArrayLike) -> int:
        """Adds a tensor, and returns its number. `prices[x, y]` is that of a copy from layout x to layout y. Every
        layout that consumers require and the producer does not produce is copied once."""
        array = to_costs("prices", prices)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise ProblemError(f"prices have shape {array.shape}, but a square matrix is expected")
        array = np.ascontiguousarray(array)
        kept: list[Integers] = []
        made = self._to_end("producer", producer, len(array), kept)
        ends = [self._to_end(f"consumer {i}", end, len(array), kept) for i, end in enumerate(consumers)]
        with self._lock:
            return self._check(_LIBRARY.layoutProblemAddTensor(
                self._handle, made, len(ends), (_library.TensorEnd * len(ends))(*ends), len(array), _point(array)))

    def _to_end(self, what: str, end: End, layouts: int, kept: list[Integers]) -> _library.TensorEnd:
        """Converts an end. Its layouts stay valid while `kept` lives."""
        variable, given = end if isinstance(end, tuple) else (-1, [end])
        rule = f"the prices are for the layouts 0 to {layouts - 1}"
        numbers = to_numbers(f"{what}: layouts", given, layouts, rule)
        if variable != -1:
            size = self._sizes[int(self._to_variables(f"{what}: variable", variable))]
            if numbers.shape != (size,):
                raise ProblemError(f"{what}: layouts have shape {numbers.shape}, but variable {variable} has {size} "
                                   "values")
        kept.append(numbers)
        return _library.TensorEnd(int(variable), numbers.size, _point(numbers))

    def set_budget(self, limit: int, amounts: Mapping[int, ArrayLike],
                   peaks: Sequence[Mapping[int, ArrayLike]] = (), base: int = 0) -> None:
        """Limits an amount, such as bytes of memory. `amounts` has what each value of a variable uses all the time, and
        each of `peaks` what is used at one point of time only; `base` is used in any case. The sum of `base`, of
        `amounts` and of any one peak may not exceed `limit`. Replaces an earlier budget."""
        terms: list[tuple[int, int, Integers]] = []
        for peak, term in enumerate([amounts, *peaks], start=-1):
            where = "amounts" if peak < 0 else f"peaks[{peak}]"
            for variable, given in term.items():
                number = int(self._to_variables(f"{where}: variable", variable))
                array = to_amounts(f"{where} of variable {number}", given)
                if array.shape != (self._sizes[number],):
                    raise ProblemError(f"{where} of variable {number} have shape {array.shape}, but it has "
                                       f"{self._sizes[number]} values")
                terms.append((peak, number, array))
        place, numbers = (np.array([term[i] for term in terms], np.int64) for i in (0, 1))
        flat = np.concatenate([term[2] for term in terms]) if terms else np.zeros(0, np.int64)
        bounds = [int(to_amounts(name, given)) for name, given in (("limit", limit), ("base", base))]
        with self._lock:
            self._check(_LIBRARY.layoutProblemSetBudget(
                self._handle, *bounds, len(terms), _point(place), _point(numbers), _point(flat)))

    def solve(self, *, max_seconds: float | None = None, max_nodes: int | None = None, max_work: int | None = None,
              initial: ArrayLike | None = None, certify: bool = False) -> Answer:
        """Returns the best assignment that was found within the limits. `initial` is a known assignment: the answer
        costs no more. Without `max_seconds` the answer is the same on every machine."""
        values = np.zeros(0, np.int64)
        if initial is not None:
            values = to_numbers("initial", initial, 2**31, "a value of the variable is expected")
            if values.shape != (len(self._sizes),):
                raise ProblemError(f"initial has shape {values.shape}, but there are {len(self._sizes)} variables")
        options = _make_options(max_seconds, max_nodes, max_work, certify)
        options.num_initial, options.initial = values.size, _point(values)
        with self._lock:
            found = _LIBRARY.layoutProblemSolve(self._handle, ctypes.byref(options))
            self._check(0 if found else -1)
            return _read_answer(found.contents)

    def _to_variables(self, what: str, values: ArrayLike) -> Integers:
        count = len(self._sizes)
        return to_numbers(what, values, count, f"there are {count} variables")

    def _check(self, result: int) -> int:
        if result < 0:
            raise ProblemError(_LIBRARY.layoutProblemGetError(self._handle).decode())
        return result


def _point(array: Integers) -> Any:
    return array.ctypes.data_as(_library.NUMBERS)


def _make_options(max_seconds: float | None, max_nodes: int | None, max_work: int | None,
                  certify: bool) -> _library.SolveOptions:
    for name, limit in (("max_seconds", max_seconds), ("max_nodes", max_nodes), ("max_work", max_work)):
        if limit is not None and not limit >= 0:
            raise ProblemError(f"{name} is {limit}, but it must not be negative")
    return _library.SolveOptions(
        ctypes.sizeof(_library.SolveOptions), -1 if max_nodes is None else max_nodes,
        -1 if max_work is None else max_work, -1, -1, -1 if max_seconds is None else max_seconds, 0, None, certify)


def _read_answer(found: _library.Answer) -> Answer:
    def read(values: Any, count: int) -> Integers:
        return np.array(values[:count], np.int64)

    def unless(absent: int, value: int) -> int | None:
        return None if value == absent else value

    has_assignment = found.cost != FORBIDDEN
    copies = read(found.copies, 2 * found.num_copies).reshape(-1, 2)
    return Answer(
        assignment=read(found.values, found.num_values) if has_assignment else None,
        cost=unless(FORBIDDEN, found.cost), lower_bound=unless(FORBIDDEN, found.lower_bound),
        proven=found.cost == found.lower_bound, open=read(found.open, found.num_open),
        copies=[(tensor, layout) for tensor, layout in copies.tolist()],
        amount=unless(-1, found.amount), least_amount=unless(-1, found.least_amount),
        certificate=found.certificate.decode(), nodes=found.nodes, work=found.work, seconds=found.seconds)


def _to_json(problem: Mapping[str, Any] | str) -> bytes:
    """Returns the text of a problem, which may have numbers of NumPy."""
    def to_number(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"a {type(value).__name__} is not a part of a problem")

    try:
        return (problem if isinstance(problem, str) else json.dumps(problem, default=to_number)).encode()
    except (RecursionError, TypeError, ValueError) as error:
        raise ProblemError(f"the problem is not JSON: {error}") from None


def solve(problem: Mapping[str, Any] | str, *, max_seconds: float | None = None, max_nodes: int | None = None,
          max_work: int | None = None, certify: bool = False) -> dict[str, Any]:
    """Solves a problem of ops with configurations, tensors and a budget, as JSON text or as a dict of the same form.
    Returns the answer as a dict (docs/solver.md):

    >>> answer = solve({
    ...     'ops': {'conv': {'plain': 90, 'packed': 40}, 'relu': {'plain': 5, 'packed': 6}},
    ...     'tensors': {'x': {'producer': {'layout': 'NCHW'},
    ...                       'consumers': [{'op': op, 'layouts': {'plain': 'NCHW', 'packed': 'NCHW16c'}}
    ...                                     for op in ('conv', 'relu')],
    ...                       'conversions': {'NCHW': {'NCHW16c': 20}}}}})
    >>> answer['cost'], answer['proven'], answer['copies']
    (65, True, {'x': ['NCHW16c']})
    >>> answer['configurations']
    {'conv': 'packed', 'relu': 'plain'}

    `cost` is None if no assignment is allowed (`proven` is True) or none was found. `open` names the ops of parts whose
    cost is above their lower bound. `statistics` have the nodes, the work and the seconds. The order of keys, consumers
    and factors does not change the answer.
    """
    text = _to_json(problem)
    options = _make_options(max_seconds, max_nodes, max_work, certify)
    answers: list[bytes] = []
    take = _library.TEXT_CALLBACK(lambda data, length, _: answers.append(ctypes.string_at(data, length)))
    status = _LIBRARY.layoutSolve(text, len(text), ctypes.byref(options), take, None)
    answer = answers[0].decode()
    if status:
        raise ProblemError(answer)
    result: dict[str, Any] = json.loads(answer)
    return result
