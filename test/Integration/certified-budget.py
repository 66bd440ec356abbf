# Check that certificates of decisions under a weight budget are accepted, with proofs by the chain of variables over
# all sums or some, or by a price per byte, and that false claims about the budget are rejected.

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t | FileCheck %s
# CHECK: 11 certificates accepted, 6 of them without a chain, and {{[1-9][0-9]+}} lies rejected
import pathlib
import sys

from layout_mlir import certify
from layout_mlir.tools import run_tool
from networks import NETWORKS

folder = pathlib.Path(sys.argv[1])
TARGET = "#layout.cpu<lanes = 16>"
# Budgets and passes per network; without a table of two entries there is no chain.
ASSIGN, PRICES = "--layout-assign=", "--layout-solve=max-table=1 "
BUDGETS = {"swin_t": [(126956, ASSIGN), (127100, ASSIGN)],
           "resnet50": [*((94668 + 5500 * i, ASSIGN) for i in range(8)), (105669, PRICES)]}


def is_accepted(text):
    try:
        certify.check(text)
    except (certify.Rejected, ArithmeticError, LookupError, ValueError):
        return False
    return True


def lies(lines, has_chain):
    """Yields the lines with one falsified claim."""
    places = {line.split()[0]: i for i, line in reversed([*enumerate(lines)]) if line}

    def changed(kind, change, number=0):
        at = places[kind] + number
        words = lines[at].split()
        change(words)
        return [*lines[:at], " ".join(words), *lines[at + 1:]]

    def add(place, amount):
        def change(words):
            words[place] = str(int(words[place]) + amount)
        return change

    yield changed("cost", add(1, 1))
    yield changed("cost", add(1, -1))
    yield changed("lower-bound", add(1, 1 << 40))
    limit, least, unit, weight, price = map(int, lines[places["budget"]].split()[1:])
    yield changed("budget", add(1, least - limit - 1))  # less than the minimum
    yield changed("budget", add(2, limit + 1))
    yield changed("budget", add(3, -unit))
    yield changed("budget", add(4, weight * 5 + 3))
    yield changed("budget", add(4, -weight))
    takes = [i for i, line in enumerate(lines) if line.startswith("takes ")]
    for i in range(min(3, len(takes))):
        yield changed("takes", add(1, 10 ** 6), i)
        yield changed("takes", lambda words: words.pop(), i)
        if has_chain:
            yield changed("takes", add(2, 1), i)
            yield changed("takes", lambda words: words.__setitem__(2, "-1"), i)
    if has_chain:
        yield changed("budget", add(1, 10 ** 6))  # more than the chain allows


# Variable 0 is the chain after variable 1 and has a weight itself: together they exclude 1 for variable 0 and 0 for
# variable 1, which costs 0 and weighs 0.
CIRCLE = """layout-certificate 1
cost 10
lower-bound 10
assignment 1 1 1
proof
budget 5 0 1 1 0
takes 0 2 5 0
takes 1 0 0 1
e 0
e 1
e 2
wcsp
circle 3 2 3 100
2 2 2
1 1 0 1
1 10
2 0 2 100 2
0 0 0
1 1 0
3 2 1 0 100 3
0 0 1 0
1 0 0 0
1 1 1 0
"""
try:
    sys.exit(f"accepted: {certify.check(CIRCLE)}")
except certify.Rejected as error:
    assert str(error) == "a variable of the chain has a resource use", error

accepted = without = 0
rejected = 1
for name, budgets in BUDGETS.items():
    network = folder / f"{name}.mlir"
    NETWORKS[name].write(network, small=True)
    for budget, decide in budgets:
        file = folder / f"{name}.{budget}"
        run_tool("layout-opt", network, f"{decide}target={{{TARGET}}} weight-budget={budget} certificate={file}", "-o", "/dev/null")
        text = file.read_text()
        cost, bound, limit = certify.check(text)
        assert limit == budget and bound <= cost and (bound == cost) == (decide == ASSIGN), (name, budget, cost, bound)
        accepted += 1
        lines = text.split("\n")
        chains = {line.split()[2] != "-1" for line in lines if line.startswith("takes ")}
        assert len(chains) == 1
        without += not any(chains)
        for lie in lies(lines, any(chains)):
            assert not is_accepted("\n".join(lie)), (name, budget, [a for a, b in zip(lie, lines) if a != b][:2])
            rejected += 1
print(f"{accepted} certificates accepted, {without} of them without a chain, and {rejected} lies rejected")
