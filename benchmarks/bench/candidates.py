"""./dev bench --candidates: the cost of networks with twice the candidates.

A certificate proves that no choice among the candidates costs less, but candidates that were not considered might. The
networks of `--assignment` are therefore decided with the default `max-configs` and `max-layouts` and with --times as
many: the modeled time, and the bytes moved by `objective=bytes`, should not decrease. Seconds are those of the pass.
Rows with a lower cost for more candidates are marked.
"""

import argparse
import pathlib
import re

from layout_mlir.run import positive
from layout_mlir.tools import ToolError, run_tool_for_all
from networks import NETWORKS

from .assignment import TARGET, cases
from .rows import measure_rows, write_json

CONFIGS, LAYOUTS = 12, 6


def decide(path, objective, times):
    """Returns the proven cost, the number of ops with dropped candidates, and the seconds of the pass."""
    text, said = run_tool_for_all(
        "layout-opt", path, "--layout-canonicalize",
        f"--layout-solve=objective={objective} target={{{TARGET}}} max-configs={CONFIGS * times} max-layouts={LAYOUTS * times}",
        "--verify-each=0", "--mlir-timing", "--mlir-timing-display=list", "--remarks-filter-missed=layout",
        "--remark-format=emitRemark")
    assignment = dict(re.findall(r"(\w+) = (\d+)", re.search(r"layout\.assignment = \{(.*?)\}", text)[1]))
    if assignment["cost"] != assignment["lower_bound"]:
        raise ToolError(f"{path}: the optimum is not proven")
    seconds = re.search(r"([\d.]+) \( *[\d.]+%\) +SolvePass$", said, re.M)[1]
    return int(assignment["cost" if objective == "time" else "conversion_cost"]), said.count("ManyLayouts"), float(seconds)


def measure(case, args, folder):
    path = folder / "network.mlir"
    NETWORKS[case.network].write(path, weights="splat", **case.options)
    row = {"network": case.label}
    for times in 1, args.times:
        cost, dropped, seconds = decide(path, "time", times)
        moved = decide(path, "bytes", times)[0]
        row[f"times_{times}"] = {"cost": cost, "dropped": dropped, "seconds": seconds, "moved": moved}
    return row


def lower(row, args):
    few, many = row["times_1"], row[f"times_{args.times}"]
    return many["cost"] < few["cost"] or many["moved"] < few["moved"]


def show(row, args):
    few, many = row["times_1"], row[f"times_{args.times}"]
    return (f"{row['network']:<40}" + "".join(
        f"{each['cost']:>18}{each['moved']:>15}{each['dropped']:>8}{each['seconds'] * 1e3:>8.1f}" for each in (few, many))
        + f"{1 - many['cost'] / few['cost'] if few['cost'] else 0:>10.4%}{'  lower' * lower(row, args)}")


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --candidates", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default="", help="only networks whose name contains this")
    parser.add_argument("--times", type=positive, default=2, help="(default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    wanted = {case.label: case for case in cases(args.network)}
    if not wanted:
        parser.error(f"no network matches '{args.network}'")
    if args.times < 2:
        parser.error("--times is at least 2")
    print(f"{'':<40}{'default candidates':>49}{f'{args.times} times as many':>49}\n{'network':<40}"
          + f"{'cost':>18}{'bytes moved':>15}{'dropped':>8}{'ms':>8}" * 2 + f"{'saved':>10}", flush=True)
    rows, complete = measure_rows(list(wanted), lambda label, folder: measure(wanted[label], args, folder),
                                  lambda row: show(row, args))
    print(f"\n{sum(lower(row, args) for row in rows)} of {len(rows)} cost less with {args.times} times the candidates; dropped "
          "are configurations of that many ops beyond the limit.")
    write_json(args.json, target=TARGET, times=args.times, rows=rows)
    return 0 if complete else 1
