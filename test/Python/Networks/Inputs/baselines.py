"""Checks that the least cost is proven, and that no rule costs less.

usage: baselines.py FOLDER

Decides layouts of all small networks with the bytes moved by conversions as the cost: the optimum must equal the lower
bound, and the rules of other compilers must not be below it.
"""

import pathlib
import re
import sys

from bench.baselines import OPTIMAL, RULES, decision
from layout_mlir.tools import run_tool
from networks import NETWORKS

TARGET = '#layout.cpu<lanes = 16>'


def assign(path, rule):
    """Returns the cost of the conversions and the lower bound."""
    tool, decide, _ = decision(rule, "objective=bytes", f"target={{{TARGET}}}")
    text = run_tool(tool, path, "--layout-canonicalize", decide)
    found = re.search(r"layout\.assignment = \{conversion_cost = (\d+) : i64, cost = (\d+) : i64, "
                      r"lower_bound = (\d+) : i64\}", text)
    conversions, cost, bound = map(int, found.groups())
    if conversions != cost:
        sys.exit(f"{path.stem}, {rule}: {cost} is not the cost {conversions} of conversions")
    return conversions, bound


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    worse = dict.fromkeys(RULES, 0)
    for network in NETWORKS.values():
        path = folder / f"{network.name}.mlir"
        with open(path, "w") as file:
            network.build(network.small_options(weights="splat")).write(file)
        optimum, bound = assign(path, OPTIMAL)
        moved = {rule: assign(path, rule)[0] for rule in RULES}
        print(f"{network.name}: {optimum}, lower bound {bound}; {moved}")
        if optimum != bound:
            failed.append(f"{network.name}: {optimum} is not proven, the bound is {bound}")
        for rule in RULES:
            if moved[rule] < optimum:
                failed.append(f"{network.name}: {rule} moves {moved[rule]}, the optimum {optimum}")
            worse[rule] += moved[rule] > optimum
    # A rule that always finds the optimum is not a useful baseline.
    failed += [f"{rule} is never worse" for rule, count in worse.items() if not count]
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main(*sys.argv[1:])
