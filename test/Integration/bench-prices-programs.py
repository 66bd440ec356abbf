# RUN: %python -m bench --prices --programs --small --networks unet --cpu x86-64-v3 --repeat 1 --json %t.json > %t.out
# RUN: %python %s %t.json %t.out
# Check ./dev bench --prices --programs on a small network, and what counts as a wrong pair.
import json
import pathlib
import re
import sys

from bench import baselines, calibrate, program_prices

[row] = json.loads(pathlib.Path(sys.argv[1]).read_text())["rows"]
decisions = row["decisions"]
assert len(decisions) >= 12, decisions
assert all(each["price"] > 0 and each["seconds"] > 0 for each in decisions.values())
# The optimum costs no more than any choice among its candidates; other targets have others.
chosen = [name for name in decisions if name in (*baselines.RULES, baselines.GREEDY) or name.startswith("random ")]
assert chosen and decisions["optimum"]["price"] <= min(decisions[name]["price"] for name in chosen), decisions
printed = pathlib.Path(sys.argv[2]).read_text()
assert printed.startswith(f"unet: {len(decisions)} decisions, rank correlation "), printed
for name, each in decisions.items():
    assert re.search(rf"^  {re.escape(name)} +{each['price']} ", printed, re.M), (name, printed)

pair = {"cheap": {"price": 100, "seconds": 1.2}, "dear": {"price": 111, "seconds": 1.0}}
assert program_prices.find_wrong(pair) == [(1.2, "cheap", "dear")]
assert not program_prices.find_wrong(pair | {"dear": {"price": 109, "seconds": 1.0}})
assert not program_prices.find_wrong(pair | {"cheap": {"price": 100, "seconds": 1.1}})
assert abs(program_prices.correlate([1, 2, 3, 4], [1, 2, 4, 3]) - 0.8) < 1e-9
assert program_prices.correlate([1, 2, 2, 3], [10, 20, 20, 30]) == 1
assert program_prices.correlate([1, 1], [2, 3]) == 1
rows = [{"cost": cost, "seconds": seconds} for cost, seconds in ((1, 4), (2, 5), (3, 6))]
assert calibrate.correlate(rows, "cost", "seconds") == 1 and calibrate.correlate(rows[:2], "cost", "seconds") is None
