"""./dev bench --solvers: problems of `--wide` compared with toulbar2, CBC and CP-SAT, each on one thread.

All read the same file in wcsp format: toulbar2 directly, the others as the linear program of its local polytope, the
strongest of the usual formulations. Times exclude reading. The gap is that between cost and lower bound; 0 is proven
optimal, and a dash means that no assignment was found. Proven costs must agree. The solvers are as pip installs them,
with their defaults, except that the linearization level of CP-SAT is raised.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

from layout_mlir.run import positive
from layout_mlir.tools import ToolError

from .rows import measure_rows, write_json
from .wide import PROBLEMS, run_layout_solve

HERE = pathlib.Path(__file__).parent
# The environment that ./dev creates for this benchmark.
PYTHON = pathlib.Path(os.environ.get("LAYOUT_BUILD_DIR", "")) / "solvers/venv/bin/python"
OURS, PEERS = "layout-solve", ("toulbar2", "CBC", "CP-SAT")
DEFAULT = ("tree-width-10,tree-width-15,tree-width-20,tree-width-30,grid-7,grid-12,dense-96-blocks-of-32,"
           "sums-300-window-16-layouts-5-0,sums-300-window-32-layouts-5-1,sums-200-layouts-12")


def run_peer(solver, path, args):
    command = [args.python, "-P", str(HERE / "solver_process.py"), solver, str(path), str(args.seconds)]
    most = 4 * args.seconds + 60  # some check their limit late, or never
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=most)
    except subprocess.TimeoutExpired:
        return {"cost": None, "lower_bound": 0, "seconds": most}
    answers = [line for line in run.stdout.splitlines() if line.startswith("answer ")]
    if not answers:
        raise ToolError(f"{solver}: {(run.stderr.strip().splitlines() or ['ended without an answer'])[-1]}")
    return json.loads(answers[-1].removeprefix("answer "))


def measure(name, args, folder):
    build, *sizes = PROBLEMS[name]
    path = folder / "problem.wcsp"
    build(*sizes).write(path)
    answers = {OURS: run_layout_solve(path, args)}
    answers |= {solver: run_peer(solver, path, args) for solver in args.others}
    proven = {answer["cost"] for answer in answers.values() if answer["cost"] == answer["lower_bound"]}
    if len(proven) > 1:
        raise ToolError(f"the solvers prove different costs: {sorted(proven)}")
    return {"problem": name, "answers": answers}


def show(answer):
    cost, bound = answer["cost"], answer["lower_bound"]
    if cost is None:
        return f"{answer['seconds']:.2f} s, -"
    gap = f"{max(0, cost - bound) / max(cost, 1):.2%}" if cost > bound else "0"
    return f"{answer['seconds']:.{3 if answer['seconds'] < 1 else 1}f} s, {gap}"


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --solvers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", metavar="A,B", default=DEFAULT, help="these of `--wide` (default: %(default)s)")
    parser.add_argument("--others", metavar="A,B", default=",".join(PEERS), help="(default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=10, help="limit for each (default: %(default)s)")
    parser.add_argument("--repeat", type=positive, default=3, help="runs of layout-solve, of which the fastest counts")
    parser.add_argument("--python", default=str(PYTHON) if os.access(PYTHON, os.X_OK) else sys.executable,
                        help="that has the others (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    args.others, names = args.others.split(","), args.problems.split(",")
    for kind, given, known in ("solver", args.others, PEERS), ("problem", names, PROBLEMS):
        if unknown := [each for each in given if each not in known]:
            parser.error(f"no {kind} is called {unknown[0]}: they are {', '.join(known)}")
    print(f"| problem | {' | '.join([OURS, *args.others])} |\n|---|{'---|' * (1 + len(args.others))}", flush=True)
    rows, complete = measure_rows(
        names, lambda name, folder: measure(name, args, folder),
        lambda row: f"| {row['problem']} | {' | '.join(map(show, row['answers'].values()))} |")
    write_json(args.json, rows=rows)
    return 0 if complete else 1
