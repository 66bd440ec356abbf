"""Checks that the bytes of decided conversions are those of the inserted ones.

usage: inserted.py FOLDER NETWORK..

The networks have no loops: layout-print-cost counts every conversion once.
"""

import json
import pathlib
import re
import sys

from bench.baselines import decision
from layout_mlir.tools import run_tool
from networks import NETWORKS

TARGET = 'target={#layout.cpu<lanes = 16>}'


def main(folder, *names):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in names:
        network = NETWORKS[name]
        path, costs = folder / f"{name}.mlir", folder / f"{name}.json"
        with open(path, "w") as file:
            network.build(network.small_options(weights="splat")).write(file)
        for rule in "optimal", "majority":
            tool, decide, insert = decision(rule, "objective=bytes", TARGET)
            text = run_tool(tool, path, "--layout-canonicalize", decide, insert,
                            "--layout-fold-converts",
                            f"--layout-print-cost=format=json output={costs} {TARGET}")
            decided = int(re.search(r"conversion_cost = (\d+)", text).group(1))
            conversions = json.loads(costs.read_text())["conversions"]
            inserted = conversions["bytes_read"] + conversions["bytes_written"]
            print(f"{name}, {rule}: decided {decided}, inserted {inserted}")
            failed |= decided != inserted
    if failed:
        sys.exit("they differ")


if __name__ == "__main__":
    main(*sys.argv[1:])
