"""./dev bench --assignment: how many bytes conversions move, and how long the decision takes.

Layouts of full-size networks are assigned by the solver and by the rules of other compilers, with the same candidates:
ops on channels require tiles for the lanes, the other ops may follow. The bytes are those that conversions read and
write, times their number of executions; constants are converted at compile time and not counted. The decision time is
that of the pass with modeled time as the cost, the fastest of several runs, without MLIR's verifier between passes.

If upstream's own propagation applies, it is measured too: convolutions and classifiers are packed with the same tiles,
followed by `--test-linalg-data-layout-propagation` of mlir-opt. See upstream.py.
"""

import argparse
import json
import math
import pathlib
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass, field

from layout_mlir.tools import ToolError, run_tool_for_all, whole_file
from networks import NETWORKS

from . import upstream
from .baselines import OPTIMAL, RULES, decision

LANES = 16
TARGET = f'#layout.cpu<lanes = {LANES}>'
UPSTREAM = "upstream"

CONVOLUTIONAL = "convolutional"
OTHERS = "transformers and detectors"
GROUPS = {
    CONVOLUTIONAL: ("resnet50", "resnet152", "skipnet101", "mobilenet_v2", "inception_v3",
                    "densenet121", "efficientnet_v2_s", "hrnet_w32", "unet"),
    OTHERS: ("efficientdet_d0", "sd_unet", "sd_denoise", "vit_b16", "swin_t", "bert_base",
             "llama3_8b", "llama3_8b_decode"),
}
# Other variants of some networks. The table lists their bytes; the means do not include them.
VARIANTS = {
    "resnet152": ({"structure": "calls"}, {"structure": "loops"}),
    "mobilenet_v2": ({"batch": None},),
    "vit_b16": ({"batch": None},),
    "bert_base": ({"structure": "loops"}, {"batch": None, "sequence": None}),
    "llama3_8b": ({"structure": "calls"},),
}
# Networks whose only ops on channels are convolutions and a final classifier. skipnet101 is excluded because upstream's
# result depends on padding that upstream leaves undefined.
UPSTREAM_APPLIES = ("resnet50", "resnet152", "mobilenet_v2", "inception_v3", "densenet121",
                    "efficientnet_v2_s", "hrnet_w32", "unet", "efficientdet_d0")


@dataclass
class Row:
    """The measurements of one network; `moved` has the bytes by rule."""

    network: str
    options: dict
    group: str
    operations: int = 0
    decide_seconds: float = math.inf
    lower_bound: int = 0
    moved: dict[str, int] = field(default_factory=dict)

    @property
    def label(self):
        return " ".join([self.network, *(f"--{name} {'?' if value is None else value}"
                                         for name, value in self.options.items())])

    @property
    def optimum(self):
        return self.moved[OPTIMAL]

    def ratio(self, rule):
        """Returns the bytes that conversions move by `rule`, divided by those of the optimum; infinity if only the
        optimum moves none, and None if both move none or the rule was not measured."""
        moved = self.moved.get(rule)
        if moved is None or moved == self.optimum == 0:
            return None
        return moved / self.optimum if self.optimum else math.inf


def count_operations(text):
    """Returns the number of linalg, tensor and scf ops and of calls in the text."""
    return len(re.findall(r"= (?:(?:linalg|tensor|scf)\.\w+|(?:func\.)?call @)", text))


def assign(path, rule, objective):
    """Returns the `layout.assignment` of the result as a dictionary, and the seconds of the pass."""
    tool, decide, _ = decision(rule, f"objective={objective}", f"target={{{TARGET}}}")
    text, timing = run_tool_for_all(tool, path, "--layout-canonicalize", decide,
                                    "--verify-each=0", "--mlir-timing",
                                    "--mlir-timing-display=list")
    assignment = re.search(r"layout\.assignment = \{(.*?)\}", text)
    seconds = re.search(r"([\d.]+) \( *[\d.]+%\) +(?:.*BaselinePass|SolvePass)$", timing, re.M)
    if not assignment or not seconds:
        raise ToolError(f"{path}: {decide} left no layout.assignment or no time")
    fields = dict(re.findall(r"(\w+) = (\d+)", assignment.group(1)))
    return {name: int(value) for name, value in fields.items()}, float(seconds.group(1))


def measure(row, repeat, folder):
    """Fills in the measurements of `row`."""
    def progress(text):
        print(f"\r{row.label}: {text:<16}", end="", file=sys.stderr, flush=True)

    progress("writing")
    path = folder / "network.mlir"
    NETWORKS[row.network].write(path, weights="splat", **row.options)
    text = path.read_text()
    row.operations = count_operations(text)
    for rule in (OPTIMAL, *RULES):
        progress(rule)
        assignment, _ = assign(path, rule, "bytes")
        row.moved[rule] = assignment["conversion_cost"]
        row.lower_bound = assignment["lower_bound"]
        if row.moved[rule] < row.lower_bound:
            raise ToolError(f"{row.label}: {rule} moves {row.moved[rule]} bytes, which is "
                            f"less than the lower bound {row.lower_bound}")
    if row.network in UPSTREAM_APPLIES and not row.options and shutil.which("mlir-opt-22"):
        progress(UPSTREAM)
        row.moved[UPSTREAM] = upstream.count_moved_bytes(
            upstream.propagate(text, LANES, folder))
    for run in range(repeat):
        progress(f"time, {run + 1} of {repeat}")
        _, seconds = assign(path, OPTIMAL, "time")
        row.decide_seconds = min(row.decide_seconds, seconds)
    print(f"\r{'':<{len(row.label) + 18}}\r", end="", file=sys.stderr, flush=True)


def mega(count):
    return "-" if count is None else f"{count / 1e6:.3f}" if count < 1e8 else f"{count / 1e6:.0f}"


def show(ratio):
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0f}"


def print_head():
    print(f"{'network':<40}{'ops':>6}{'ms':>8}{'optimal':>11}{'bound':>11}{'gap':>5}"
          + "".join(f"{name:>14}{'ratio':>7}" for name in (*RULES, UPSTREAM)))


def print_row(row):
    print(f"{row.label:<40}{row.operations:>6}{row.decide_seconds * 1e3:>8.1f}"
          f"{mega(row.optimum):>11}{mega(row.lower_bound):>11}{row.optimum - row.lower_bound:>5}"
          + "".join(f"{mega(row.moved.get(name)):>14}{show(row.ratio(name)):>7}"
                    for name in (*RULES, UPSTREAM)), flush=True)


def summarize(rows, group):
    """Returns, for each rule, the bytes moved in total and the geometric mean of its ratios over networks whose optimum
    moves bytes; and the networks whose optimum moves none."""
    rows = [row for row in rows if row.group == group and not row.options]
    nothing = [row for row in rows if row.optimum == 0]
    result = {"group": group, "networks": len(rows),
              "optimum_moves_nothing": [row.label for row in nothing], "rules": {}}
    for name in (*RULES, UPSTREAM):
        measured = [row for row in rows if name in row.moved]
        ratios = [row.ratio(name) for row in measured if row.optimum and row.moved[name]]
        result["rules"][name] = {
            "networks": len(measured),
            "moved": sum(row.moved[name] for row in measured),
            "optimum_of_these": sum(row.optimum for row in measured),
            "geometric_mean_of_ratios":
                math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None,
            "moves_nothing_too": [row.label for row in nothing if row.moved.get(name) == 0]}
    return result


def print_summary(summary):
    nothing = summary["optimum_moves_nothing"]
    print(f"\n{summary['group']}: {summary['networks']} networks"
          + (f"; the optimum moves nothing for {', '.join(nothing)}" if nothing else ""))
    for name, each in summary["rules"].items():
        if not each["networks"]:
            continue
        mean = show(each["geometric_mean_of_ratios"])
        also = (f", nothing too for {len(each['moves_nothing_too'])} of {len(nothing)}"
                if nothing else "")
        print(f"  {name:<14} {mean:>8} times the optimum (geometric mean), {mega(each['moved'])} MB "
              f"against {mega(each['optimum_of_these'])} MB in {each['networks']} networks{also}")


def cases(wanted):
    """Yields a row without measurements for each variant of each network whose name contains `wanted`."""
    for group, networks in GROUPS.items():
        for network in networks:
            if wanted in network:
                yield from (Row(network, options, group)
                            for options in ({}, *VARIANTS.get(network, ())))


def as_json(row):
    # JSON has no infinity: null stands for a ratio to 0.
    ratios = {name: row.ratio(name) for name in row.moved}
    return {"network": row.network, "options": row.options, "group": row.group,
            "operations": row.operations, "decide_seconds": row.decide_seconds,
            "lower_bound": row.lower_bound, "gap": row.optimum - row.lower_bound,
            "moved": row.moved,
            "ratios": {name: None if ratio == math.inf else ratio
                       for name, ratio in ratios.items()}}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench --assignment", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default="", help="only networks whose name contains this")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs (default: 5)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    if args.repeat < 1:
        parser.error("--repeat is at least 1")
    wanted = list(cases(args.network))
    if not wanted:
        parser.error(f"no network matches '{args.network}'")
    if not shutil.which("mlir-opt-22"):
        print("there is no mlir-opt-22: upstream's propagation is left out", file=sys.stderr)
    print_head()
    rows, failed = [], False
    for row in wanted:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            try:
                measure(row, args.repeat, pathlib.Path(scratch))
            except ToolError as error:
                print(f"\n{row.label}: {error}", file=sys.stderr)
                failed = True
                continue
        rows.append(row)
        print_row(row)
    print("\nMoved are MB of 10^6 bytes, read and written; ms is the time to decide.")
    summaries = [summarize(rows, group) for group in GROUPS if any(r.group == group for r in rows)]
    for summary in summaries:
        print_summary(summary)
    if args.json:
        with whole_file(args.json) as file:
            file.write(json.dumps(
                {"target": TARGET, "rows": [as_json(row) for row in rows], "groups": summaries},
                indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
