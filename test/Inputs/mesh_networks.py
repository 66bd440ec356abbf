"""usage: mesh_networks.py NETWORK RANKS.. [--OPTION VALUE ..]

Runs a small network on each number of ranks, as `./dev bench --mesh --ranks` does, and fails if results differ from one
process or if other bytes are sent than planned.
"""

import itertools
import sys

from bench.mesh import run_on_ranks, show_ranks

network, *rest = sys.argv[1:]
counts = [int(each) for each in itertools.takewhile(str.isdigit, rest)]
for ranks in counts:
    row = run_on_ranks(network, ranks, *rest[len(counts):])
    print(show_ranks(row))
    assert row["sent"] == row["planned"] and (row["messages"] > 0) == (ranks > 1)
