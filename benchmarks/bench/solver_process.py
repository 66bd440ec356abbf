"""SOLVER FILE SECONDS: solves a problem in wcsp format with another solver on one thread, and prints its cost, lower
bound and seconds as JSON. Reading the file is not timed; preprocessing by the solver is."""

import itertools
import json
import math
import sys
import time


def read(path):
    """Returns the domains, and the functions as (scope, {tuple: cost}), with None for forbidden tuples."""
    with open(path) as file:
        words = iter(file.read().split())
    next(words)

    def number():
        return int(next(words))

    variables, _, functions, bound = number(), number(), number(), number()
    domains = [number() for _ in range(variables)]
    result, shared = [], []
    for _ in range(functions):
        arity = number()
        scope = [number() for _ in range(abs(arity))]
        otherwise, count = number(), number()
        otherwise = None if otherwise >= bound else otherwise
        costs = {} if count >= 0 else shared[-count - 1]
        for _ in range(count):
            values = tuple(number() for _ in scope)
            cost = number()
            costs[values] = None if cost >= bound else cost
        if arity < 0 and count >= 0:
            shared.append(costs)
        tuples = itertools.product(*(range(domains[v]) for v in scope))
        result.append((scope, {values: costs.get(values, otherwise) for values in tuples}))
    return domains, result


def program(path, binary, continuous, add):
    """Builds the linear program of the local polytope: a variable for each value, and for each tuple of a function.
    `add` adds a constraint: a sum equals a variable or a number. Returns the terms of the objective."""
    domains, functions = read(path)
    values = [[binary() for _ in range(domain)] for domain in domains]
    objective = []
    for each in values:
        add(each, 1)
    for scope, costs in functions:
        if len(scope) == 1:
            for value, choice in enumerate(values[scope[0]]):
                cost = costs[value,]
                objective.append((cost, choice))
                if cost is None:
                    add([choice], 0)
            continue
        tuples = {key: continuous() for key, cost in costs.items() if cost is not None}
        objective += [(costs[key], choice) for key, choice in tuples.items()]
        if not scope:
            add([*tuples.values()], 1)
        for place, variable in enumerate(scope):
            by_value = [[] for _ in range(domains[variable])]
            for key, choice in tuples.items():
                by_value[key[place]].append(choice)
            for value, choices in enumerate(by_value):
                add(choices, values[variable][value])
    return [(cost, choice) for cost, choice in objective if cost]


def solve_cbc(path, seconds):
    from ortools.linear_solver import pywraplp
    solver = pywraplp.Solver.CreateSolver("CBC")

    def add(choices, target):
        solver.Add(solver.Sum(choices) == target)

    terms = program(path, lambda: solver.BoolVar(""), lambda: solver.NumVar(0, 1, ""), add)
    solver.Minimize(solver.Sum([cost * choice for cost, choice in terms]))
    solver.SetNumThreads(1)
    solver.SetTimeLimit(int(seconds * 1000))
    start = time.perf_counter()
    status = solver.Solve()
    taken = time.perf_counter() - start
    found = status in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE)
    bound = solver.Objective().BestBound()
    return (round(solver.Objective().Value()) if found else None,
            math.ceil(bound - 1e-3) if math.isfinite(bound) else 0, taken)


def solve_cp_sat(path, seconds):
    from ortools.sat.python import cp_model
    model = cp_model.CpModel()

    def add(choices, target):
        model.add(sum(choices) == target)

    terms = program(path, lambda: model.new_bool_var(""), lambda: model.new_bool_var(""), add)
    model.minimize(sum(cost * choice for cost, choice in terms))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2  # otherwise no linear relaxation is solved
    solver.parameters.max_time_in_seconds = seconds
    start = time.perf_counter()
    status = solver.solve(model)
    taken = time.perf_counter() - start
    bound = max(0, math.ceil(solver.best_objective_bound - 1e-3))
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, bound, taken
    # The sum is an exact integer; the solver's objective value is a floating-point number.
    cost = sum(cost * solver.value(choice) for cost, choice in terms)
    return cost, cost if status == cp_model.OPTIMAL else bound, taken


def solve_toulbar2(path, seconds):
    import pytoulbar2
    problem = pytoulbar2.CFN(verbose=-1)
    problem.Read(path)
    start = time.perf_counter()
    answer = problem.Solve(timeLimit=max(1, math.ceil(seconds)))
    taken = time.perf_counter() - start
    cost = round(answer[1]) if answer else None
    return cost, math.ceil(problem.GetDDualBound() - 1e-3), taken


SOLVERS = {"toulbar2": solve_toulbar2, "CBC": solve_cbc, "CP-SAT": solve_cp_sat}

if __name__ == "__main__":
    cost, bound, taken = SOLVERS[sys.argv[1]](sys.argv[2], float(sys.argv[3]))
    print("answer " + json.dumps({"cost": cost, "lower_bound": bound, "seconds": taken}))
