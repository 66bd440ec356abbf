#!/usr/bin/env python3
"""Stands in for the Python with other solvers: toulbar2 finds COST and proves it, CP-SAT finds no solution, and CBC is
not installed."""

import os
import sys

solver, path, seconds = sys.argv[3:]
assert sys.argv[2].endswith("solver_process.py") and open(path).read().startswith("wide ") and float(seconds) == 2
if solver == "CBC":
    sys.exit("ModuleNotFoundError: No module named 'ortools'")
cost = os.environ["COST"] if solver == "toulbar2" else "null"
print(f'answer {{"cost": {cost}, "lower_bound": {cost if cost != "null" else 7}, "seconds": 0.25}}')
