# RUN: %python %s
"""Checks layout_mlir.solve: the answers of layout-solve, errors as exceptions, and concurrent threads."""

import json
import subprocess
import threading
import unittest

from layout_mlir import LayoutError, solve
from layout_mlir.tools import find_tool


def clique(size):
    """Returns a problem in which every two of `size` ops must differ or pay 5."""
    names = [f"op{i}" for i in range(size)]
    return {"ops": {name: {"a": 0, "b": 0, "c": 0} for name in names},
            "factors": [{"over": [x, y], "costs": [{"when": [c, c], "cost": 5} for c in "abc"]}
                        for i, x in enumerate(names) for y in names[:i]]}


class Solving(unittest.TestCase):
    def test_is_the_command(self):
        problem = clique(7)
        run = subprocess.run([find_tool("layout-solve"), "-"], input=json.dumps(problem), text=True,
                             capture_output=True, check=True)
        self.assertEqual(solve(problem), json.loads(run.stdout))
        # 3 + 2 + 2 equal ops: 3 + 1 + 1 pairs.
        self.assertEqual(solve(problem)["cost"], 25)

    def test_limits_leave_a_bound(self):
        answer = solve(clique(40), max_nodes=0, max_seconds=0)
        self.assertFalse(answer["proven"])
        # The optimum has 14 + 13 + 13 equal ops.
        self.assertLessEqual(answer["lower_bound"], 5 * (91 + 78 + 78))
        self.assertGreaterEqual(answer["cost"], 5 * (91 + 78 + 78))
        self.assertEqual(len(answer["open"]), 40)
        self.assertEqual(set(answer["configurations"]), {f"op{i}" for i in range(40)})

    def test_what_is_forbidden_has_no_cost(self):
        answer = solve({"ops": {"a": {"x": None}}})
        self.assertEqual(answer, {"cost": None, "lower_bound": None, "proven": True, "open": []})

    def test_faults(self):
        for problem, message in (({"ops": {"a": {}}}, "op 'a' has no configuration"),
                                 ({"ops": {"a": {"x": 0.5}}}, "problem.ops.a.x"),
                                 ({"ops": {"a": {"x": float("nan")}}}, "Invalid JSON value")):
            with self.assertRaisesRegex(LayoutError, message):
                solve(problem)
        for limit in "max_nodes", "max_work", "max_seconds":
            with self.assertRaisesRegex(LayoutError, limit + " must not be negative"):
                solve({"ops": {}}, **{limit: -1})
        with self.assertRaises(TypeError):
            solve({"ops": {"a": {"x": object()}}})
        with self.assertRaises(TypeError):
            solve([])

    def test_threads(self):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(solve(clique(9)))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(answers), 4)
        self.assertTrue(all(answer == answers[0] for answer in answers))


unittest.main()
