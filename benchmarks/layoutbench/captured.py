"""Reads decision problems that capture.py has written, and solves them."""

import json
import pathlib

import numpy as np
from layout_solver import Problem

FOLDER = pathlib.Path(__file__).parent / "problems"
FORBIDDEN = np.inf


def list_problems(compiler=None):
    """Returns the files of the captured problems of a compiler, or of all, by name."""
    return sorted(FOLDER.glob(f"{compiler or '*'}-*.json"))


class Captured:
    """A captured problem as variables, one for each op, and tensors with prices of conversions."""

    def __init__(self, path):
        given = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        self.compiler, self.network = given["compiler"], given["network"]
        self.layouts, self.ops = given["layouts"], given["ops"]
        self.rules = given["rules"]
        self.prices = [self._read_prices(*each) for each in given["classes"]]
        self.tensors = [{"prices": self.prices[each], "producer": None, "consumers": []} for each in given["tensors"]]
        for op, (_, rule, _, operands, results) in enumerate(self.ops):
            for place, tensor in enumerate([*operands, *results]):
                end = op, [layouts[place] for layouts in self.rules[rule]]
                if place < len(operands):
                    self.tensors[tensor]["consumers"].append(end)
                else:
                    self.tensors[tensor]["producer"] = end

    def _read_prices(self, layouts, table=None):
        """Returns the prices of conversions between all layouts; only those that the tensor can have are allowed."""
        prices = np.full((len(self.layouts),) * 2, FORBIDDEN)
        for i, (x, read) in enumerate(layouts):
            for j, (y, written) in enumerate(layouts):
                prices[x, y] = table[i][j] if table else read + written
        np.fill_diagonal(prices, 0)
        return prices

    @property
    def chosen(self):
        """The configuration of each op that the compiler has chosen."""
        return [chosen for _, _, chosen, _, _ in self.ops]

    def make_problem(self):
        problem = Problem()
        problem.add_variables([[0] * len(self.rules[rule]) for _, rule, *_ in self.ops])
        for tensor in self.tensors:
            if tensor["producer"] and tensor["consumers"]:
                problem.add_tensor(tensor["producer"], tensor["consumers"], tensor["prices"])
        return problem

    def find_conversions(self, values):
        """Returns the conversions of an assignment that are not free, as (tensor, layout, other layout, price)."""
        found = []
        for number, tensor in enumerate(self.tensors):
            if tensor["producer"]:
                op, layouts = tensor["producer"]
                made = layouts[values[op]]
                wanted = {layouts[values[op]] for op, layouts in tensor["consumers"]} - {made}
                found += [(number, made, each, tensor["prices"][made, each]) for each in sorted(wanted)
                          if tensor["prices"][made, each]]
        return found

    def sum_prices(self, conversions):
        return int(sum(price for *_, price in conversions))

    def name_tensor(self, tensor):
        """Returns the op that produces a tensor, as the compiler names it."""
        return self.ops[self.tensors[tensor]["producer"][0]][0]
