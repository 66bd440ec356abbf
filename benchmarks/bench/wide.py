"""./dev bench --wide: problems whose treewidth is too large for elimination, solved by `layout-solve`.

`sums` are programs of additions whose operands are any two of the latest `window` values. Some values have a fixed
layout, and all consumers of a tensor share its copies. In `equal` ones, conversions cost one or two units. `tree` has
exactly the given width, `sparse` trees have only 30 % of the conversions, and in `dense` every op reads all previous
ops of its block. `triton` and `executorch` have 10,000 ops in the form of problems of these compilers. The gap is that
between cost and lower bound; 0 is proven optimal. With `--limits` each problem is solved once under each time limit,
which shows the quality of early answers. With `--proofs` each is solved once with a proof, which `layout_mlir.certify`
checks; the seconds of the check follow.
"""

import argparse
import itertools
import pathlib
import random
import subprocess
import sys
import time

from layout_mlir.run import positive
from layout_mlir.tools import ToolError, find_tool

from .rows import measure_rows, write_json

FORBIDDEN = None
# The maximal number of values of a variable that represents the set of copies.
MOST_SETS = 64


class Problem:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.domains, self.functions = [], []

    def add_variable(self, domain):
        self.domains.append(domain)
        return len(self.domains) - 1

    def add_op(self, layouts):
        op = self.add_variable(layouts)
        self.add([op], [self.random.randint(0, 100000) for _ in range(layouts)])
        return op

    def add(self, scope, table):
        self.functions.append((scope, table))

    def add_conversion(self, source, target, layouts):
        self.add([source, target], [0 if a == b else self.random.randint(20000, 80000)
                                    for a in range(layouts) for b in range(layouts)])

    def add_tensor(self, producer, made, consumers, prices):
        """Adds the cost of the copies of a tensor: one copy per layout serves all consumers. `consumers` has a variable
        and the layout for each of its values."""
        layouts = range(len(prices))
        if len(consumers) == 1:
            (user, requested), = consumers
            return self.add([producer, user], [prices[m][a] for m in made for a in requested])
        sets = [kept for size in range(len(consumers) + 1) for kept in itertools.combinations(layouts, size)
                ] if len(prices) <= 6 else []
        if not 0 < len(sets) <= MOST_SETS:
            for each in layouts:
                has_copy = self.add_variable(2)
                self.add([producer, has_copy], [cost for m in made for cost in (0, prices[m][each])])
                for user, requested in consumers:
                    self.add([user, has_copy],
                             [cost for a in requested for cost in (FORBIDDEN if a == each else 0, 0)])
            return None
        copies = self.add_variable(len(sets))
        self.add([producer, copies], [sum(prices[m][each] for each in kept) for m in made for kept in sets])
        for user, requested in consumers:
            self.add([user, copies], [0 if a in kept else FORBIDDEN for a in requested for kept in sets])
        return None

    def write(self, path):
        bound = 1 + sum(max((cost for cost in table if cost is not FORBIDDEN), default=0)
                        for _, table in self.functions)
        lines = [f"wide {len(self.domains)} {max(self.domains)} {len(self.functions)} {bound}",
                 " ".join(map(str, self.domains))]
        for scope, table in self.functions:
            tuples = itertools.product(*(range(self.domains[variable]) for variable in scope))
            lines.append(f"{len(scope)} {' '.join(map(str, scope))} 0 {len(table)}")
            lines += [f"{' '.join(map(str, values))} {bound if cost is FORBIDDEN else cost}"
                      for values, cost in zip(tuples, table)]
        path.write_text("\n".join(lines) + "\n")


def sums(ops, window, layouts, seed, unit=None):
    problem = Problem(seed)
    draw = problem.random
    prices = [[0 if a == b else draw.randint(20000, 80000) if unit is None else unit * draw.choice((1, 1, 2))
               for b in range(layouts)] for a in range(layouts)]
    values, consumers = [], {}

    def add(is_pinned):
        made = [draw.randrange(layouts)] if is_pinned else list(range(layouts))
        values.append((problem.add_variable(len(made)), made))
        consumers[values[-1][0]] = []
        return values[-1]

    for _ in range(max(4, window // 4)):
        add(True)
    for _ in range(ops):
        operands = {draw.choice(values[-window:])[0] for _ in range(2)}
        result = add(draw.random() < 0.15)
        for operand in sorted(operands):
            consumers[operand].append(result)
    for value, made in list(values):
        # A value without consumers is a result of the program with a fixed layout.
        users = consumers[value] or [(problem.add_variable(1), [draw.randrange(layouts)])]
        problem.add_tensor(value, made, users, prices)
    return problem


def tree(ops, width, layouts, kept=1.0):
    problem, cliques, clique = Problem(width), [], []
    for i in range(ops):
        op = problem.add_op(layouts)
        if i > width:
            clique = list(problem.random.choice(cliques[-200:]))
        for other in clique:
            if problem.random.random() < kept:
                problem.add_conversion(other, op, layouts)
        clique.append(op)
        if len(clique) > width:
            cliques += [clique[:k] + clique[k + 1:] for k in range(width + 1)]
    return problem


def grid(side, layouts):
    problem = Problem(1)
    for i in range(side * side):
        op = problem.add_op(layouts)
        if i % side:
            problem.add_conversion(op - 1, op, layouts)
        if i >= side:
            problem.add_conversion(op - side, op, layouts)
    return problem


def dense(ops, block, layouts):
    problem = Problem(1)
    for i in range(ops):
        op = problem.add_op(layouts)
        for read in range(i - 1 if i and i % block == 0 else i // block * block, i):
            problem.add_conversion(read, op, layouts)
    return problem


def draw_graph(draw, ops, skip, share):
    """Returns the operands of each op: mostly the op before it, else one of the last `skip`, which begins a branch. A
    `share` of the ops has a second operand, a skip connection."""
    for op in range(1, ops):
        far = max(0, op - skip)
        operands = {op - 1 if draw.random() < 0.85 else draw.randrange(far, op)}
        if draw.random() < share:
            operands.add(draw.randrange(far, op))
        yield op, sorted(operands)


def triton(ops, skip, share):
    """Returns a problem like that of a GPU kernel: each use of a value converts it by itself, in registers or through
    shared memory; loads, stores and dots prefer one or two layouts."""
    problem = Problem(ops + skip)
    draw = problem.random
    kinds = range(8)
    prices = [[0 if a == b else 1 if a // 2 == b // 2 else 4 + draw.randrange(4) for b in kinds] for a in kinds]
    values = []
    for _ in range(ops):
        layouts, size = sorted(draw.sample(kinds, draw.randint(4, 8))), 64 << draw.randrange(6)
        values.append((problem.add_variable(len(layouts)), layouts, size))
        if draw.random() < 0.3:
            liked = draw.sample(layouts, draw.randint(1, 2))
            problem.add([values[-1][0]], [0 if layout in liked else size * draw.randint(1, 12) for layout in layouts])
    for op, operands in draw_graph(draw, ops, skip, share):
        for operand in operands:
            (source, made, size), (target, read, _) = values[operand], values[op]
            problem.add([source, target], [size * prices[a][b] for a in made for b in read])
    return problem


def executorch(ops, skip, share):
    """Returns a problem like that of a delegate for mobile GPUs: buffers and textures in three packings, of which an op
    supports four to six at different costs, and one transition of a tensor serves all ops that read its result."""
    problem = Problem(ops + skip)
    draw = problem.random
    kinds = range(6)
    prices = [[0 if a == b else 2 + (a // 3 != b // 3) + draw.randrange(3) for b in kinds] for a in kinds]
    values, consumers = [], [[] for _ in range(ops)]
    for _ in range(ops):
        layouts, size = sorted(draw.sample(kinds, draw.randint(4, 6))), 100 * draw.randint(1, 50)
        values.append((problem.add_variable(len(layouts)), layouts, size))
        problem.add([values[-1][0]], [size * draw.choice((0, 0, 1, 2, 4)) for _ in layouts])
    for op, operands in draw_graph(draw, ops, skip, share):
        for operand in operands:
            consumers[operand].append(values[op][:2])
    for (source, made, size), users in zip(values, consumers):
        if users:
            problem.add_tensor(source, made, users, [[size * price for price in row] for row in prices])
    return problem


PROBLEMS = {
    **{f"sums-300-window-{window}-layouts-{layouts}-{seed}": (sums, 300, window, layouts, seed)
       for window in (16, 32, 64) for layouts in (3, 5) for seed in (0, 1)},
    **{f"sums-3000-window-{window}": (sums, 3000, window, 4, 1) for window in (16, 64)},
    **{f"sums-{ops}-equal": (sums, ops, 32, 4, 1, 1000) for ops in (300, 3000)},
    **{f"tree-width-{width}": (tree, 100, width, 4) for width in (10, 15, 20, 30)},
    **{f"tree-width-{width}-sparse": (tree, 100, width, 6, 0.3) for width in (10, 15, 20, 30)},
    **{f"grid-{side}": (grid, side, 6) for side in (7, 12)},
    "dense-96-blocks-of-32": (dense, 96, 32, 4),
    "dense-320-blocks-of-40": (dense, 320, 40, 6),
    **{f"sums-{ops}-layouts-12": (sums, ops, 100, 12, 1) for ops in (200, 1000)},
    "sums-5000-layouts-12": (sums, 5000, 100, 12, 1),
    **{f"{form.__name__}-10000-skip-{skip}": (form, 10000, skip, share)
       for form in (triton, executorch) for skip, share in ((16, 0.25), (64, 0.25), (1000, 0.1))},
}


def run_layout_solve(path, args, *options, repeat=None):
    """Solves the problem several times by layout-solve, and returns the answer and the seconds of the fastest run.
    Raises ToolError if a run finds no assignment."""
    command = [str(find_tool("layout-solve")), str(path), "--statistics", f"--max-seconds={args.seconds}", *options]
    answers = []
    for _ in range(repeat or args.repeat):
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode not in (0, 2):
            raise ToolError(f"layout-solve: {run.stderr.strip() or run.returncode}")
        answers.append(dict(line.split(" ", 1) for line in run.stdout.splitlines()))
    answer = min(answers, key=lambda each: float(each["seconds"]))
    return {"variables": int(answer["variables"]), "nodes": int(answer["nodes"]), "cost": int(answer["cost"]),
            "lower_bound": int(answer["lower-bound"]), "seconds": float(answer["seconds"])}


def write_problem(name, folder):
    build, *sizes = PROBLEMS[name]
    path = folder / "problem.wcsp"
    build(*sizes).write(path)
    return path


def measure(name, args, folder):
    row = run_layout_solve(write_problem(name, folder), args)
    return {"problem": name, **row, "gap": gap(row)}


def measure_certificate(name, args, folder):
    certificate = folder / "certificate"
    row = run_layout_solve(write_problem(name, folder), args, f"--certificate={certificate}", repeat=1)
    start = time.monotonic()
    run = subprocess.run([sys.executable, "-m", "layout_mlir.certify", str(certificate)], capture_output=True, text=True)
    if run.returncode or f"accepted, cost {row['cost']}, at least {row['lower_bound']}\n" not in run.stdout:
        raise ToolError(run.stdout + run.stderr)
    return {"problem": name, **row, "gap": gap(row), "certificate_bytes": certificate.stat().st_size,
            "check_seconds": time.monotonic() - start}


def gap(row):
    return (row["cost"] - row["lower_bound"]) / max(row["cost"], 1)


def measure_limits(name, args, folder):
    """Returns the answers for a problem under several time limits."""
    path, answers = write_problem(name, folder), []
    for limit in args.limits:
        args.seconds = limit
        answers.append({"limit": limit, **run_layout_solve(path, args)})
    return {"problem": name, "answers": answers, "gap": gap(answers[-1])}


def show_limits(row):
    lines = [f"{row['problem']}\n{'limit':>8}{'seconds':>9}{'cost':>12}{'lower bound':>13}{'gap':>10}"]
    lines += [f"{answer['limit']:>8g}{answer['seconds']:>9.3f}{answer['cost']:>12}{answer['lower_bound']:>13}"
              f"{gap(answer):>10.4%}" for answer in row["answers"]]
    return "\n".join(lines)


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --wide", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only problems whose name contains this")
    parser.add_argument("--seconds", type=float, default=20, help="limit for each (default: %(default)s)")
    parser.add_argument("--limits", metavar="A,B", help="these limits, in seconds, one after the other")
    parser.add_argument("--proofs", action="store_true", help="check proofs of the answers")
    parser.add_argument("--repeat", type=positive, default=3, help="runs of each, of which the fastest counts")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    names = [name for name in PROBLEMS if args.only in name]
    if not names:
        parser.error(f"no problem matches '{args.only}'")
    if args.limits and args.proofs:
        parser.error("--limits and --proofs exclude each other")
    if args.limits:
        try:
            args.limits = [float(limit) for limit in args.limits.split(",")]
        except ValueError:
            parser.error(f"--limits: '{args.limits}' is no list of seconds")
        rows, complete = measure_rows(names, lambda name, folder: measure_limits(name, args, folder), show_limits)
    else:
        print(f"{'problem':<32}{'variables':>10}{'cost':>12}{'gap':>8}{'nodes':>7}{'seconds':>9}"
              + (f"{'KB':>8}{'checked':>9}" if args.proofs else ""), flush=True)
        rows, complete = measure_rows(
            names, lambda name, folder: (measure_certificate if args.proofs else measure)(name, args, folder),
            lambda row: f"{row['problem']:<32}{row['variables']:>10}{row['cost']:>12}{row['gap']:>8.2%}"
                        f"{row['nodes']:>7}{row['seconds']:>9.3f}"
                        + (f"{row['certificate_bytes'] // 1000:>8}{row['check_seconds']:>9.2f}" if args.proofs
                           else ""))
    proven = sum(row["gap"] == 0 for row in rows)
    print(f"\n{proven} of {len(rows)} are proven.")
    write_json(args.json, rows=rows)
    return 0 if complete else 1
