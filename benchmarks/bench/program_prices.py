"""Whether programs with higher prices run longer: ./dev bench --prices --programs.

Each network is decided in different ways: the optimum, the rules of other compilers, optima for other parameters of the
target, convolutions in NHWC, and optima for prices with random factors, until 12 decisions differ. All are priced for
one target, by the ops and conversions that `layout-print-cost` lists, and run alternately in one process on one thread.
The output is the rank correlation of price and time within each network, and the pairs of decisions of which the one
that is cheaper by at least 10 % runs more than 1.1 times as long as the other.
"""

import argparse
import json
import pathlib
import re
import zlib

import numpy as np
import onnx

from layout_mlir import assign
from layout_mlir.models import Options, load_model
from layout_mlir.run import positive, write_inputs
from layout_mlir.tools import run_tool

from . import baselines, onnx_networks
from .rows import measure_rows, write_json

LONGER = 1.1  # by which prices differ, and by which times may contradict them
PARAMETERS = {"lanes": 16}
NHWC = '#layout.blocked<"NCHW" to "NHWC">'
# Optima: options of layout-solve, and the parameters of the target that differ.
SOLVED = {
    "optimum": ("", {}),
    "least bytes": ("objective=bytes", {}),
    "lanes = 8": ("", {"lanes": 8}),
    "lanes = 4": ("", {"lanes": 4}),
    "flops_per_byte = 1": ("", {"flops_per_byte": 1}),
    "flops_per_byte = 40": ("", {"flops_per_byte": 40}),
    "strided_percent = 400": ("", {"strided_percent": 400}),
    "scalar_percent = 150": ("", {"scalar_percent": 150}),
    "vector_bits = 128": ("", {"vector_bits": 128}),
    "weight-cost = 100": ("weight-cost=100 packing-cost=100", {}),
}
LEAST_DECISIONS = 12
MOST_DRAWS = 24


def print_target(parameters):
    return f"#layout.cpu<{', '.join(f'{key} = {value}' for key, value in parameters.items())}>"


def set_target(cpu, parameters=PARAMETERS):
    return f"--layout-set-target=target={{{print_target(parameters)}}} cpu={cpu}"


def find_target(cpu, folder):
    """Returns the target with the parameters of a processor."""
    empty = folder / "empty.mlir"
    empty.write_text("module {}\n")
    return re.search(r"layout\.target = (#layout\.cpu<[^>]*>)", run_tool("layout-opt", empty, set_target(cpu)))[1]


def state_nhwc(text):
    """Returns a module whose 2-d convolutions and pools state NHWC for their input and result."""
    stated = f"layout.operand_layouts = [{NHWC}, unit, {NHWC}], layout.result_layouts = [{NHWC}], "
    return re.sub(r"(linalg\.(?:conv|depthwise_conv|pooling)_2d_nchw\w* \{)", rf"\1{stated}", text)


class Decisions:
    """Decides a prepared module, and stores the lowered program and the price of each different decision."""

    def __init__(self, prepared, cpu, folder):
        self.prepared, self.cpu, self.folder = prepared, cpu, folder
        self.prices, self.programs, self.texts = {}, [], set()
        self.target = find_target(cpu, folder)

    def add(self, name, decided):
        """Prices and lowers a module with layouts, unless an earlier one is equal."""
        text = run_tool("layout-opt", decided, "--layout-remove-target", "--mlir-elide-elementsattrs-if-larger=8",
                        "--mlir-elide-resource-strings-if-larger=8")
        text = re.sub(r"layout\.assignment = \{.*?\}", "", text, count=1)
        if text in self.texts:
            return
        self.texts.add(text)
        table, program = (self.folder / f"{len(self.programs)}.{kind}" for kind in ("json", "mlirbc"))
        target = ("--layout-remove-target", set_target(self.cpu))
        run_tool("layout-opt", decided, *target, f"--layout-print-cost=format=json output={table}", "-o", "/dev/null")
        run_tool("layout-opt", decided, *target, "--convert-layout-to-linalg",
                 f"--layout-linalg-to-llvm=cpu={self.cpu} check-indices=false", "--verify-each=false",
                 "--emit-bytecode", "-o", program)
        costs = json.loads(table.read_text())
        self.prices[name] = costs["ops"]["cost"] + costs["conversions"]["cost"]
        self.programs.append(program)

    def decide(self, name, decision, source=None, parameters=PARAMETERS):
        tool, solve, apply = decision
        decided = self.folder / "decided.mlirbc"
        run_tool(tool, source or self.prepared, set_target(self.cpu, parameters), solve, apply,
                 "--layout-fold-converts", "--emit-bytecode", "-o", decided)
        self.add(name, decided)

    def decide_by_rules(self):
        for name, (options, other) in SOLVED.items():
            self.decide(name, baselines.decision(baselines.OPTIMAL, options), parameters=PARAMETERS | other)
        for rule in (*baselines.RULES, baselines.GREEDY):
            self.decide(rule, baselines.decision(rule))
        text = run_tool("layout-opt", self.prepared)
        stated = state_nhwc(text)
        if stated != text:
            path = self.folder / "stated.mlir"
            path.write_text(stated)
            self.decide("NHWC", baselines.decision(baselines.OPTIMAL), path)

    def decide_at_random(self, seed):
        """Decides for prices with factors from 1 to 1 + seed, which depend on the op, its types and the seed."""
        def price(op):
            key = zlib.crc32(repr((seed, op.name, op.operands, op.results)).encode())
            return int(op.modeled * (1 + seed) ** (key / 2 ** 32))

        decided = self.folder / "decided.mlirbc"
        decided.write_bytes(assign(self.prepared, self.target, costs=price).bytecode)
        self.add(f"random {seed}", decided)


def measure(name, path, args, folder):
    """Returns {"network": name, "decisions": {decision: {"price": cost, "seconds": fastest run}}} of an ONNX file, or
    of the network called `name` if `path` is None."""
    if path is None:
        path = folder / "network.onnx"
        onnx.save(onnx_networks.make(name, args.small), path)
    model = load_model(path, folder, options=Options(repeat=0))
    inputs = write_inputs(model, folder)
    prepared = folder / "prepared.mlirbc"
    run_tool("layout-opt", model.module, "--layout-prepare", "--layout-canonicalize=keep-families", "--emit-bytecode",
             "-o", prepared)
    decisions = Decisions(prepared, args.cpu, folder)
    decisions.decide_by_rules()
    for seed in range(1, MOST_DRAWS + 1):
        if len(decisions.programs) < LEAST_DECISIONS:
            decisions.decide_at_random(seed)
    runs = folder / "runs.json"
    run_tool("layout-run", *decisions.programs, *[f"--input={file}" for file in inputs], "--threads=1", "--warmup=2",
             f"--repeat={args.repeat}", "--max-rel=1e-3", "--keep-freed-memory", f"--json={runs}")
    rows = [json.loads(line) for line in runs.read_text().splitlines()]
    return {"network": name, "decisions": {
        decision: {"price": price, "seconds": row["run_min_seconds"]}
        for (decision, price), row in zip(decisions.prices.items(), rows, strict=True)}}


def rank(values):
    """Returns ranks from 0; equal values share their mean rank."""
    values = np.asarray(values)
    return np.array([(values < value).sum() + ((values == value).sum() - 1) / 2 for value in values])


def correlate(prices, times):
    """Returns the rank correlation, or 1 if all prices or all times are equal."""
    columns = [rank(prices), rank(times)]
    return 1.0 if any(np.ptp(column) == 0 for column in columns) else float(np.corrcoef(columns)[0, 1])


def find_wrong(decisions):
    """Returns [(ratio of times, cheap decision, expensive decision)], worst first."""
    wrong = [(a["seconds"] / b["seconds"], first, second)
             for first, a in decisions.items() for second, b in decisions.items()
             if a["price"] * LONGER <= b["price"] and a["seconds"] > LONGER * b["seconds"]]
    return sorted(wrong, reverse=True)


def show(row):
    decisions = row["decisions"]
    prices, times = ([each[key] for each in decisions.values()] for key in ("price", "seconds"))
    wrong = find_wrong(decisions)
    lines = [f"{row['network']}: {len(decisions)} decisions, rank correlation {correlate(prices, times):.3f}, "
             f"{len(wrong)} wrong pairs"]
    for name, each in sorted(decisions.items(), key=lambda pair: pair[1]["price"]):
        lines.append(f"  {name:<24}{each['price']:>14}{each['seconds'] * 1e3:>10.3f} ms"
                     f"{each['price'] / each['seconds'] / 1e9:>8.2f} GB/s")
    lines += [f"    {cheap} takes {ratio:.2f} times as long as {dear}" for ratio, cheap, dear in wrong]
    return "\n".join(lines)


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --prices --programs", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    onnx_networks.add_names(parser)
    parser.add_argument("--small", action="store_true", help="the networks that are built, as in the tests")
    parser.add_argument("--model", type=pathlib.Path, action="append", default=[], metavar="FILE",
                        help="an ONNX model in place of the networks; may be repeated")
    parser.add_argument("--cpu", default="host", help="processor as for layout-set-target (default: %(default)s)")
    parser.add_argument("--repeat", type=positive, default=20, help="timed runs of each (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all that was measured to this file")
    args = parser.parse_args(argv)
    networks = {path.stem: path for path in args.model} or dict.fromkeys(onnx_networks.get_built(parser, args))
    rows, complete = measure_rows(
        list(networks), lambda name, folder: measure(name, networks[name], args, folder), show)
    wrong = sum(len(find_wrong(row["decisions"])) for row in rows)
    print(f"\n{len(rows)} networks, {sum(len(row['decisions']) for row in rows)} decisions, {wrong} wrong pairs")
    write_json(args.json, target=print_target(PARAMETERS), cpu=args.cpu, rows=rows)
    return 0 if complete else 1
