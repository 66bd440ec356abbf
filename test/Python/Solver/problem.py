# REQUIRES: c-api
# RUN: %python %s
"""Checks the package layout_solver: optima by enumeration, the same problem as JSON, certificates, limits, errors."""

import ctypes
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import layout_solver
import numpy as np
from layout_solver import FORBIDDEN, Problem, ProblemError, solve

NAME = "v{:02}".format


class Drawn:
    """A random problem, as arrays, as JSON, and by its definition."""

    def __init__(self, seed, count=5, layouts=3, has_budget=False):
        r = self.random = np.random.default_rng(seed)
        self.costs = [self.draw((r.integers(1, layouts + 2),), 0.05) for _ in range(count)]
        self.tables = []
        for _ in range(count):
            scope = r.choice(count, r.integers(1, 4), replace=False)
            self.tables.append((scope, self.draw([len(self.costs[v]) for v in scope], 0.05)))
        self.tensors = [self.draw_tensor(v, layouts) for v in range(count - 1)]
        self.budget = None
        if has_budget:
            peaks = [self.draw_amounts(0.5) for _ in range(seed % 3)]
            self.budget = int(r.integers(5, 25)), self.draw_amounts(0.8), peaks, int(r.integers(0, 4))

    def draw(self, shape, forbidden):
        costs = self.random.integers(0, 50, shape).astype(float)
        costs[self.random.random(shape) < forbidden] = np.inf
        return costs

    def draw_end(self, variable, layouts):
        if self.random.random() < 0.2:
            return int(self.random.integers(layouts))
        return variable, self.random.integers(0, layouts, len(self.costs[variable]))

    def draw_tensor(self, variable, layouts):
        prices = self.draw((layouts, layouts), 0.1)
        np.fill_diagonal(prices, 0)
        users = self.random.integers(variable + 1, len(self.costs), self.random.integers(1, 4))
        return self.draw_end(variable, layouts), [self.draw_end(int(user), layouts) for user in users], prices

    def draw_amounts(self, share):
        return {v: self.random.integers(0, 9, len(costs)) for v, costs in enumerate(self.costs)
                if self.random.random() < share}

    def build(self):
        """Adds tensors among the variables, which shifts the variables of the solver's graph."""
        problem, known, waiting = Problem(), 0, list(self.tensors)
        for costs in self.costs:
            assert problem.add_variable(costs) == known
            known += 1
            if waiting and known == len(self.costs) // 2:
                ready = [t for t in waiting if all(isinstance(e, int) or e[0] < known for e in (t[0], *t[1]))]
                self.tensors = ready + [t for t in self.tensors if not any(t is each for each in ready)]
                for tensor in ready:
                    problem.add_tensor(*tensor)
                waiting = self.tensors[len(ready):]
        for tensor in waiting:
            problem.add_tensor(*tensor)
        for scope, table in self.tables:
            problem.add_table(scope, table)
        if self.budget:
            problem.set_budget(*self.budget)
        return problem

    def to_json(self):
        def price(cost):
            return int(cost) if np.isfinite(cost) else None

        def end(given):
            if isinstance(given, int):
                return {"layout": f"L{given}"}
            return {"op": NAME(given[0]), "layouts": {f"c{i}": f"L{each}" for i, each in enumerate(given[1])}}

        def amounts(given):
            return {NAME(v): {f"c{i}": int(each) for i, each in enumerate(row)} for v, row in given.items()}
        problem = {
            "ops": {NAME(v): {f"c{i}": price(each) for i, each in enumerate(row)} for v, row in enumerate(self.costs)},
            "tensors": {f"t{t}": {"producer": end(made), "consumers": [end(each) for each in users], "conversions": {
                f"L{x}": {f"L{y}": price(prices[x, y]) for y in range(len(prices)) if x != y}
                for x in range(len(prices))}} for t, (made, users, prices) in enumerate(self.tensors)},
            "factors": [{"over": [NAME(v) for v in scope], "costs": [
                {"when": [f"c{i}" for i in index], "cost": price(cost)} for index, cost in np.ndenumerate(table)]}
                for scope, table in self.tables]}
        if self.budget:
            limit, always, peaks, base = self.budget
            problem["budget"] = {"limit": limit, "base": base, "amounts": amounts(always),
                                 "peaks": [amounts(each) for each in peaks]}
        return problem

    def find_copies(self, values):
        def get(end):
            return end if isinstance(end, int) else int(end[1][values[end[0]]])
        return [(t, layout) for t, (made, users, _) in enumerate(self.tensors)
                for layout in sorted({get(user) for user in users} - {get(made)})]

    def evaluate(self, values):
        cost = sum(row[value] for row, value in zip(self.costs, values))
        cost += sum(table[tuple(values[v] for v in scope)] for scope, table in self.tables)
        for t, layout in self.find_copies(values):
            made, _, prices = self.tensors[t]
            cost += prices[made if isinstance(made, int) else made[1][values[made[0]]], layout]
        return cost

    def count(self, values):
        limit, always, peaks, base = self.budget
        return base + max((sum(int(row[values[v]]) for row_of in (always, peak) for v, row in row_of.items())
                           for peak in peaks or [{}]))

    def find_least(self):
        choices = itertools.product(*(range(len(row)) for row in self.costs))
        least = min((self.evaluate(values) for values in choices
                     if not self.budget or self.count(values) <= self.budget[0]), default=np.inf)
        return int(least) if np.isfinite(least) else None


def clique(size):
    """A problem in which every two of `size` variables of three values must differ or pay 5."""
    problem = Problem()
    problem.add_variables(np.zeros((size, 3), int))
    problem.add_tables(list(itertools.combinations(range(size), 2)), 5 * np.eye(3, dtype=int))
    return problem


class Solving(unittest.TestCase):
    def check(self, drawn, seed):
        problem, least = drawn.build(), drawn.find_least()
        answer = problem.solve(certify=True)
        self.assertEqual((answer.cost, answer.lower_bound, answer.proven), (least, least, True), seed)
        other = solve(drawn.to_json())
        self.assertEqual((other["cost"], other["proven"]), (least, True), seed)
        self.assertEqual(other["statistics"].keys(), {"nodes", "work", "seconds"})
        if least is None:
            self.assertIsNone(answer.assignment)
            return None
        self.assertEqual(drawn.evaluate(answer.assignment), least)
        self.assertEqual(answer.copies, drawn.find_copies(answer.assignment))
        if drawn.budget:
            self.assertEqual(answer.amount, drawn.count(answer.assignment))
            self.assertLessEqual(answer.amount, drawn.budget[0])
            self.assertEqual(problem.solve(initial=answer.assignment, max_nodes=0).cost, least)
        return answer

    def test_least_costs(self):
        infeasible, certificates = 0, []
        for seed in range(60):
            answer = self.check(Drawn(seed, has_budget=seed % 2 == 1), seed)
            infeasible += answer is None
            if answer:
                certificates.append(answer)
        self.assertTrue(0 < infeasible < 30, infeasible)
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i, answer in enumerate(certificates):
                paths.append(pathlib.Path(folder, f"{i:02}"))
                paths[-1].write_text(answer.certificate)
            said = subprocess.run([sys.executable, "-m", "layout_solver.certify", *paths], capture_output=True,
                                  text=True, check=True).stdout.splitlines()
        for line, answer in zip(said, certificates, strict=True):
            self.assertIn(f"accepted, cost {answer.cost}, at least {answer.cost}", line)

    def test_tables_at_once(self):
        r = np.random.default_rng(1)
        edges, tables = [(0, 1), (1, 2), (0, 2)], r.integers(0, 9, (3, 2, 2))
        at_once, single = Problem(), Problem()
        for problem in at_once, single:
            problem.add_variables(np.zeros((3, 2)))
        at_once.add_tables(edges, tables)
        at_once.add_tables(edges, tables[0])
        at_once.add_table((), 7)
        for edge, table in zip(edges, tables):
            single.add_table(edge, table)
            single.add_table(edge, tables[0].tolist())
        expected = single.solve()
        answer = at_once.solve()
        self.assertEqual(answer.cost, expected.cost + 7)
        self.assertEqual(answer.assignment.tolist(), expected.assignment.tolist())
        self.assertEqual(at_once.sizes, (2, 2, 2))

    def test_kinds_of_numbers(self):
        for dtype in "int8", "uint8", "int32", "uint64", "float16", "float32", "float64":
            problem = Problem()
            problem.add_variable(np.array([3, 2, 4], dtype))
            self.assertEqual(problem.solve().cost, 2, dtype)
        problem = Problem()
        problem.add_variable([2**63 - 4, FORBIDDEN])
        problem.add_variables(np.array([[np.inf, 0.0]])[:, ::-1])
        self.assertEqual(problem.solve().cost, 2**63 - 4)
        problem.add_variable([1])
        with self.assertRaisesRegex(ProblemError, r"add up to 2\^63 - 3 or more; scale the costs down"):
            problem.solve()

    def test_limits(self):
        problem = clique(40)
        start = np.arange(40) % 3  # 14 + 13 + 13 equal ones, the optimum
        least = 5 * (91 + 78 + 78)
        for limits in {"max_nodes": 0}, {"max_work": 0}, {"max_seconds": 0}:
            answer = problem.solve(**limits)
            self.assertLessEqual(answer.lower_bound, least)
            self.assertGreaterEqual(answer.cost, least)
            self.assertFalse(answer.proven)
            self.assertEqual(answer.open.tolist(), list(range(40)))
            self.assertEqual(problem.solve(initial=start, **limits).cost, least)

    def test_equal_calls_have_equal_answers(self):
        def get(problem):
            answer = problem.solve(max_nodes=3, certify=True)
            return answer.cost, answer.lower_bound, answer.assignment.tolist(), answer.nodes, answer.certificate
        expected = get(clique(20))
        shared, found = clique(20), []
        threads = [threading.Thread(target=lambda i=i: found.append(get(shared if i % 2 else clique(20))))
                   for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 6)

    def test_threads_with_json(self):
        problem, found = Drawn(8, count=12).to_json(), []
        threads = [threading.Thread(target=lambda: found.append(solve(problem, max_nodes=5))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 4)
        for answer in found:
            del answer["statistics"]
            self.assertEqual(answer, found[0])

    def test_nothing_is_allowed(self):
        problem = Problem()
        problem.add_variable([np.inf])
        answer = problem.solve()
        self.assertEqual((answer.assignment, answer.cost, answer.lower_bound, answer.proven), (None, None, None, True))
        problem = Problem()
        problem.add_variable([1, 2])
        problem.set_budget(3, {0: [5, 4]})
        answer = problem.solve()
        self.assertEqual((answer.cost, answer.proven, answer.amount, answer.least_amount), (None, True, None, 4))
        self.assertEqual(Problem().solve().cost, 0)


class Errors(unittest.TestCase):
    def setUp(self):
        self.problem = Problem()
        self.problem.add_variables([[1, 2], [1, 2, 3]])

    def test_parts(self):
        p, inf, nan = self.problem, np.inf, np.nan
        for call, arguments, message in (
                (p.add_variable, ([],), "have shape (0,), but a list of one or more"),
                (p.add_variable, ([[1]],), "have shape (1, 1)"),
                (p.add_variable, ([1, -2],), "costs of variable 2[1] is -2, but it must not be negative"),
                (p.add_variable, ([-inf],), "must not be negative"),
                (p.add_variable, ([nan],), "costs of variable 2[0] is nan, but a number is expected"),
                (p.add_variable, ([1.5],), "only integers are exact"),
                (p.add_variable, ([1e19],), "must fit in 64 bits"),
                (p.add_variable, ([2**63],), "must fit in 64 bits"),
                (p.add_variable, ([2**70],), "fits in 64 bits"),
                (p.add_variable, ([2**63 - 2],), "the largest finite cost is 2^63 - 3"),
                (p.add_variable, (["1"],), "numbers are expected, not an array of <U1"),
                (p.add_variables, (np.array([[1.0, nan]]),), "costs[0, 1] is nan"),
                (p.add_variables, ([[1], [[1, 2], [3]]],), "costs of variable 3"),
                (p.add_table, ((0, 2), [[1]]), "variables[0, 1] is 2, but there are 2 variables"),
                (p.add_table, ((0, -1), [[1]]), "variables[0, 1] is -1"),
                (p.add_table, ((0, 1), [[1, 2], [3, 4]]), "(2, 2), but the variables [0, 1] have (2, 3) values"),
                (p.add_table, ((0, 1), [1, 2]), "a table over 2 variables has 2 dimensions"),
                (p.add_table, ((0, 0), [[1, 2], [3, 4]]), "table 0: variable 0 is repeated"),
                (p.add_table, ((0, 1), [[1, 2, 3], [4, 5, -6]]), "costs[1, 2] is -6"),
                (p.add_tables, ([(0, 1), (0,)], [[1]]), "variables: "),
                (p.add_tables, ([0, 1], [[1]]), "rows of variables are expected"),
                (p.add_tables, ([[0, 1]], np.zeros((2, 2, 3))), "one for each of the 1"),
                (p.add_tensor, (0, [], [[0, 1]]), "a square matrix is expected"),
                (p.add_tensor, (0, [], [[1]]), "the price from layout 0 to itself must be 0"),
                (p.add_tensor, (1, [], [[0]]), "producer: layouts[0] is 1, but the prices are for the layouts 0 to 0"),
                (p.add_tensor, (0, [(1, [0, 0])], [[0]]), "consumer 0: layouts have shape (2,), but variable 1 has 3"),
                (p.add_tensor, (0, [(5, [0])], [[0]]), "consumer 0: variable is 5"),
                (p.add_tensor, (0, [], np.zeros((4097, 4097))), "at most 4096 layouts"),
                (p.add_tensor, ((0, [0, 0]), [(0, [0, 0])], [[0]]), "copies cannot form a cycle"),
                (p.set_budget, (-1, {}), "limit is -1"),
                (p.set_budget, (1, {}, (), -1), "base is -1"),
                (p.set_budget, (1, {2: [1]}), "amounts: variable is 2"),
                (p.set_budget, (1, {0: [1]}), "amounts of variable 0 have shape (1,), but it has 2 values"),
                (p.set_budget, (1, {}, [{0: [1, inf]}]), "peaks[0] of variable 0[1] is 9223372036854775807, but an"),
                (p.set_budget, (1, {0: [2**62, 0], 1: [1, 0, 0]}), "add up to more than 2^62")):
            with self.subTest(message), self.assertRaises(ProblemError) as raised:
                call(*arguments)
            self.assertIn(message, str(raised.exception))
        # None of the calls had an effect.
        self.assertEqual((p.sizes, p.solve().cost), ((2, 3), 2))

    def test_solve(self):
        for options, message in (
                ({"max_nodes": -1}, "max_nodes is -1, but it must not be negative"),
                ({"max_work": -1}, "max_work is -1"),
                ({"max_seconds": np.nan}, "max_seconds is nan"),
                ({"initial": [0]}, "initial has shape (1,), but there are 2 variables"),
                ({"initial": [0, 3]}, "the initial value 3 of variable 1 does not exist; it has 3 values"),
                ({"initial": [0, -1]}, "initial[1] is -1")):
            with self.subTest(message), self.assertRaises(ProblemError) as raised:
                self.problem.solve(**options)
            self.assertIn(message, str(raised.exception))

    def test_c_interface(self):
        """Calls of the C API that the package does not make."""
        library, handle = layout_solver._LIBRARY, self.problem._handle
        numbers = (ctypes.c_int64 * 8)(0, 1, 2, 3, 4, 5, 6, 7)
        far = (ctypes.c_int64 * 1)(2**40)
        end = layout_solver._library.TensorEnd(-1, 1, numbers)
        for function, arguments, message in (
                ("AddVariables", (-1, numbers, numbers), "the number of variables is -1, but must be from 0"),
                ("AddVariables", (1, far, numbers), "variable 2: the number of values is 1099511627776"),
                ("AddVariables", (1, numbers, numbers), "variable 2: a variable needs at least one value"),
                ("AddTables", (2, 1, numbers, 3, 2, numbers), "there are 3 tables for 2 lists of variables"),
                ("AddTables", (1, -1, numbers, 1, 2, numbers), "the number of variables of a table is -1"),
                ("AddTables", (1, 1, numbers, 1, -2, numbers), "the size of a table is -2"),
                ("AddTables", (1, 1, far, 1, 2, numbers), "table 0: variable 1099511627776 does not exist"),
                ("AddTables", (2, 1, numbers, 1, 2, numbers), "table 1: the table has 2 costs, but its variables have"),
                ("AddTensor", (end, -1, None, 1, numbers), "tensor 0: the number of consumers is -1"),
                ("AddTensor", (end, 0, None, 2**13, None), "tensor 0: a tensor has at most 4096 layouts, not 8192"),
                ("SetBudget", (1, 0, 1, far, numbers, numbers), "budget: term 0: peak 1099511627776 is not -1"),
                ("SetBudget", (1, 0, 1, numbers, far, numbers), "budget: term 0: variable 1099511627776 does not")):
            with self.subTest(message):
                self.assertEqual(getattr(library, f"layoutProblem{function}")(handle, *arguments), -1)
                self.assertIn(message, library.layoutProblemGetError(handle).decode())
        for field, value, message in (("size", 3, "options: the size is 3, not sizeof(LayoutSolveOptions)"),
                                      ("max_table", 0, "maxTable is 0, but must be at least 1, or -1"),
                                      ("max_seconds", -2, "maxSeconds must be at least 0, or -1")):
            options = layout_solver._make_options(None, None, None, False)
            setattr(options, field, value)
            self.assertFalse(library.layoutProblemSolve(handle, options))
            self.assertIn(message, library.layoutProblemGetError(handle).decode())

    def test_json(self):
        cyclic = {"ops": {}}
        cyclic["ops"]["a"] = cyclic
        self.assertEqual(solve({"ops": {"a": {"x": np.int64(7), "y": np.float32(5)}}})["cost"], 5)
        for problem, message in (({"ops": {"a": {}}}, "op 'a' has no configuration"),
                                 ({"ops": {"a": {"x": np.zeros(2)}}}, "a ndarray is not a part of a problem"),
                                 ({"ops": {"a": {"x": float("nan")}}}, "[1:"),
                                 (cyclic, "Circular reference"), (b"{}", "a bytes is not"),
                                 ('{"ops": {"\ud800": {"x": 1}}}', "surrogates not allowed"),
                                 ({"ops": {"a": {"x": 0.5}}}, "at problem.ops.a.x"),
                                 ("{", "Expected object key")):
            with self.assertRaises(ProblemError) as raised:
                solve(problem)
            self.assertIn(message, str(raised.exception))
        run = subprocess.run([sys.executable, "-m", "layout_solver", "-"], input='{"ops": {"a": {}}}', text=True,
                             capture_output=True)
        self.assertEqual((run.returncode, run.stderr), (1, "-: op 'a' has no configuration\n"))
        run = subprocess.run([sys.executable, "-m", "layout_solver", "-"], input='{"ops": {"a": {"x": 1}}}', text=True,
                             capture_output=True, check=True)
        self.assertEqual(json.loads(run.stdout)["configurations"], {"a": "x"})


unittest.main()
