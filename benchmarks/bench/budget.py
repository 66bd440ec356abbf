"""./dev bench --budget: the modeled time of a language model as a function of its memory budget for weights.

Prefill and decoding are two functions of one module that share their weights: a weight is stored once per layout that
one of them uses. The module is decided under evenly spaced budgets, from the smallest feasible one to the bytes of the
fastest layouts. The column `of own` is relative to the bytes of the original weights. Each row is the best cost under
its budget, proven optimal if the gap is 0. Checkers that share no code with the solver verify its certificate: `proof`
is the gap that the proof leaves, and `labels` the gap of a dynamic program over labels, or a dash if it would be too
large. Budgets with equal answers share the row of the smallest one.
"""

import argparse
import math
import pathlib
import re
import sys
import time

from layout_mlir import certify, certify_labels
from layout_mlir.run import positive
from layout_mlir.tools import ToolError, run_tool
from networks import NETWORKS

from .rows import measure_rows, write_json

TARGETS = {"cpu": "#layout.cpu<lanes = 16>",
           "opencl": "#layout.opencl<image2d_max_width = 16384, image2d_max_height = 16384>"}
NO_LIMIT = (1 << 62) - 1
LLAMA = "llama3_8b"


def own_bytes(text):
    """Returns the bytes of all distinct tensor constants."""
    sizes = {"f32": 4, "i64": 8}
    constants = set(re.findall(r"arith\.constant (dense\w*<[^>]*>) : tensor<([^>]+)x(\w+)>", text))
    return sum(math.prod(map(int, shape.split("x"))) * sizes[element] for _, shape, element in constants)


def find_gaps(file):
    """Returns the gap (cost / lower bound - 1) that the proof in a certificate leaves, the gap that the check by labels
    leaves, or None if that check is too large, and the budget. Raises ToolError if a checker rejects the file."""
    def gap(check):
        cost, bound, limit = check(file.read_text())
        return cost / max(bound, 1) - 1 if cost != bound else 0, limit

    try:
        of_proof, limit = gap(certify.check)
        try:
            return of_proof, gap(certify_labels.check)[0], limit
        except certify_labels.TooLarge:
            return of_proof, None, limit
    except certify.Rejected as error:
        raise ToolError(f"{file}: {error}") from error


def show_gaps(of_proof, by_labels):
    return f"{of_proof:>9.3%}" + ("        -" if by_labels is None else f"{by_labels:>9.3%}")


def decide(path, target, budget):
    """Returns the statistics of a decision under `budget`, after its certificate was accepted."""
    file, start = path.with_suffix(".certificate"), time.perf_counter()
    text = run_tool("layout-opt", path, f"--layout-assign=target={{{target}}} weight-budget={budget} certificate={file}",
                    "--mlir-elide-resource-strings-if-larger=0")
    seconds = time.perf_counter() - start
    assignment = {name: int(value) for name, value in
                  re.findall(r"(\w+) = (\d+)", re.search(r"layout\.assignment = \{(.*?)\}", text)[1])}
    *gaps, limit = find_gaps(file)
    if limit != budget:
        raise ToolError(f"{file}: the certificate is of a budget of {limit}, and {budget} was requested")
    if assignment["weight_bytes"] > budget:
        raise ToolError(f"{path}: {assignment['weight_bytes']} bytes are kept under a budget of {budget}")
    return {"budget": budget, "kept": assignment["weight_bytes"], "cost": assignment["cost"],
            "lower_bound": assignment["lower_bound"], "gaps": gaps, "seconds": seconds}


def find_least(path, target):
    """Returns the smallest feasible budget in bytes, from the decision or the error message under budget 0."""
    try:
        return decide(path, target, 0)["kept"]
    except ToolError as error:
        least = re.search(r"constants need at least (\d+) bytes", str(error))
        if not least:
            raise
        return int(least[1])


def curve(name, args, folder):
    path = folder / "network.mlir"
    NETWORKS[args.network].write(path, small=not args.full, **({"decode": True} if args.network == LLAMA else {}),
                                 **({"weights": "splat"} if args.full else {}))
    target = TARGETS[name]
    fastest = decide(path, target, NO_LIMIT)
    least, most = find_least(path, target), fastest["kept"]
    budgets = sorted({least + (most - least) * i // max(args.points - 1, 1) for i in range(args.points)} | {most})
    points = {}
    for budget in budgets:
        point = decide(path, target, budget)
        points.setdefault((point["kept"], point["cost"]), point)
    return {"target": name, "own": own_bytes(path.read_text()), "points": list(points.values())}


def show(row):
    return "\n".join(
        f"{row['target']:<8}{point['budget']:>14}{point['kept']:>14}{point['kept'] / row['own']:>8.4f}{point['cost']:>18}"
        f"{point['cost'] / row['points'][-1]['cost'] - 1:>9.3%}"
        f"{point['cost'] / max(point['lower_bound'], 1) - 1 if point['cost'] != point['lower_bound'] else 0:>9.3%}"
        + show_gaps(*point["gaps"]) + f"{point['seconds']:>8.2f}" for point in row["points"])


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --budget", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=positive, default=9, help="budgets (default: %(default)s)")
    parser.add_argument("--full", action="store_true", help="at full size, not --small")
    parser.add_argument("--network", choices=sorted(NETWORKS), default=LLAMA,
                        help="another one, as it is (default: prefill and decoding of %(default)s)")
    parser.add_argument("--target", choices=sorted(TARGETS), action="append", help="(default: all)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    sys.setrecursionlimit(20000)  # the limit of certify as a program
    print(f"{'target':<8}{'budget':>14}{'bytes kept':>14}{'of own':>8}{'cost':>18}{'slower':>9}{'gap':>9}{'proof':>9}{'labels':>9}{'s':>8}", flush=True)
    names = args.target or list(TARGETS)
    rows, complete = measure_rows(names, lambda name, folder: curve(name, args, folder), show)
    write_json(args.json, rows=rows)
    return 0 if complete else 1
