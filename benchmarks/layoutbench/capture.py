"""Writes decision problems that were captured from compilers, for captured.py to read.

A problem has tensors, each with the bytes that it has in each layout, and ops, each with a list of configurations: the
layouts of its operands and then of its results. A conversion of a tensor from one layout to another costs the bytes
that it reads and those that it writes, as often as it runs, unless the tensor has prices of its own. An op costs
nothing, so that a problem has no costs but those of conversions; what an op does not support is not in its list. What
the compiler has chosen is one configuration of each op.
"""

import argparse
import json
import pathlib


class Capture:
    """A problem under construction. Layouts are named by strings."""

    def __init__(self, compiler, network):
        self.head = {"compiler": compiler, "network": network}
        self.layouts, self.classes, self.rules = {}, {}, {}
        self.tensors, self.numbers, self.ops = {}, {}, []

    def add_tensor(self, name, bytes_of, runs=1, prices=None):
        """Adds a tensor with {layout: bytes}, whose conversions run `runs` times. `prices` replaces the bytes that they
        read and write by {(from, to): price}."""
        if name in self.tensors:
            raise ValueError(f"tensor '{name}' is there already")
        layouts = [[self._number(self.layouts, layout), runs * size] for layout, size in bytes_of.items()]
        table = prices and [[prices.get((x, y), 0) if x != y else 0 for y in bytes_of] for x in bytes_of]
        self.numbers[name] = len(self.numbers)
        self.tensors[name] = self._number(self.classes, json.dumps([layouts, table] if table else [layouts]))

    def add_op(self, name, operands, results, configurations, chosen):
        """Adds an op; `chosen` is one of its configurations. Layouts that a tensor cannot have are left out."""
        ends = [*operands, *results]
        kept = [each for each in dict.fromkeys(map(tuple, configurations)) if self._are_possible(ends, each)]
        if tuple(chosen) not in kept:
            raise ValueError(f"{name}: {chosen} is none of {kept}")
        rule = json.dumps([[self._number(self.layouts, layout) for layout in each] for each in kept])
        self.ops.append([name, self._number(self.rules, rule), kept.index(tuple(chosen)),
                         [self.numbers[each] for each in operands], [self.numbers[each] for each in results]])

    def add_pinned(self, name, operands, results, chosen):
        """Adds an op that keeps the configuration that the compiler has chosen."""
        self.add_op(name, operands, results, [chosen], chosen)

    def add_uniform(self, name, operands, results, layouts, chosen):
        """Adds an op whose operands and results have one layout in common."""
        count = len(operands) + len(results)
        self.add_op(name, operands, results, [(each,) * count for each in layouts], (chosen,) * count)

    def get_layouts(self, tensor):
        """Returns the layouts that a tensor can have."""
        names, known = list(self.layouts), json.loads(list(self.classes)[self.tensors[tensor]])[0]
        return [names[number] for number, _ in known]

    def write(self, folder):
        """Writes the problem to the folder."""
        problem = {**self.head, "layouts": list(self.layouts), "classes": [json.loads(each) for each in self.classes],
                   "rules": [json.loads(each) for each in self.rules], "tensors": list(self.tensors.values()),
                   "ops": self.ops}
        compiler = self.head["compiler"].split()[0].lower().replace(".", "")
        path = pathlib.Path(folder, f"{compiler}-{self.head['network']}.json")
        rows = (f"{json.dumps(key)}: " + (json.dumps(value) if key not in ("classes", "rules", "ops") else
                "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in value) + "]")
                for key, value in problem.items())
        path.write_text("{" + ",\n".join(rows) + "}\n", encoding="utf-8")
        return path

    def _number(self, table, key):
        return table.setdefault(key, len(table))

    def _are_possible(self, ends, layouts):
        return all(layout in self.get_layouts(end) for end, layout in zip(ends, layouts, strict=True))


def run_capture(names, capture):
    """The main program of a script: writes the problems that capture(name, folder of ONNX models) returns for the names
    of its networks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path, help="where problems are written")
    parser.add_argument("--models", type=pathlib.Path, help="the folder of the networks as ONNX files, or of torch_models.py")
    parser.add_argument("--networks", default=",".join(names), help="only these (default: %(default)s)")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.networks.split(","):
        path = capture(name, args.models).write(args.folder)
        print(f"{path.name}: {path.stat().st_size // 1000} kB", flush=True)
