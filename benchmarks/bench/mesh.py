"""./dev bench --mesh: decisions for meshes of devices, compared with known plans.

Networks are decided for meshes of 2, 4 and 8 devices, without and with a handwritten plan. For transformers this is
Megatron's: the projections before the heads and before the activation split their columns over the devices, those after
them their rows, which leaves two reductions per layer; the axis d of a mesh with two axes splits the batch. For
ResNet-50 the batch is split over all devices. A plan fixes the layouts of products or convolutions, and the rest is
decided with minimal cost. Costs are modeled times, in percent of one device. KB are the bytes that all devices send, as
`layout-print-messages` counts them.

With --ranks, networks run on MPI ranks by the command of users (`./dev demo NETWORK --device mesh`), which compares
the results with one process. The table has the bytes passed to MPI and those of the plans. Links have no cost there, so
that as much as possible is split.

With --memory, networks are decided for 2, 4 and 8 devices with evenly spaced memory limits, from the peak of the
fastest decision on one device to the smallest limit for which a decision is found. A gap of 0 is a proof of optimality.
With --certified, each decision is repeated with a certificate: `proof` is the gap that its proof leaves, `labels` the
gap of the dynamic program over labels, or a dash if it would be too large.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import time
from dataclasses import dataclass

from layout_mlir.run import positive
from layout_mlir.tools import ToolError, run_tool
from networks import NETWORKS

from .budget import find_gaps, show_gaps
from .rows import measure_rows, write_json

MESHES = {"2": "t = 2", "4": "t = 4", "8": "t = 8", "2x2": "d = 2, t = 2", "2x4": "d = 2, t = 4"}
DEVICE = "#layout.cpu<lanes = 16>"
BYTE_COST, MESSAGE_COST = 10, 1000
RUN = ("resnet50", "bert_base", "llama3_8b")
COLUMNS = ("query", "key", "value", "gate", "up", "intermediate")
ROWS = ("_output", "down")


@dataclass
class Case:
    network: str
    options: dict
    plan: str


CASES = {
    "llama": Case("llama3_8b", dict(batch=2, sequence=64, layers=1, hidden=256, heads=8, groups=8,
                                    intermediate=512, vocabulary=64, positions=64), "Megatron"),
    "bert": Case("bert_base", dict(batch=2, sequence=64, layers=1, hidden=256, heads=8,
                                   intermediate=1024, vocabulary=64, positions=64), "Megatron"),
    "resnet": Case("resnet50", dict(batch=8, image=64, width=0.25), "batch"),
    "full-resnet": Case("resnet50", dict(batch=8), "batch"),
}


def find_axes(name):
    """Returns the mesh axes of a row, e.g. `t = 4`. The second word of its name is a key of MESHES or the number of
    devices of one axis t."""
    mesh = name.split()[1]
    return MESHES.get(mesh, f"t = {mesh}")


def target(axes, args, memory=None):
    count = axes.count("=")
    def each(cost):
        return "[" + ", ".join([str(cost)] * count) + "]"
    return (f"#layout.mesh_target<axes = [{axes}], device = {DEVICE}, "
            f"byte_cost = {each(args.byte_cost)}, message_cost = {each(args.message_cost)}"
            f"{f', memory = {memory}' if memory is not None else ''}>")


def layout(axes, splits, blocks=None, parts=None):
    """Returns the layout of a tensor with these splits, with `blocks` or row-major local storage; `parts` are the axes
    of partial sums."""
    blocks = blocks and f'#layout.blocked<{blocks}>'
    if not any(splits) and not parts:
        return blocks or "unit"
    local = f", local = {blocks}" if blocks else ""
    mesh = f"#layout.mesh<[{axes}], [{', '.join(f'[{split}]' for split in splits)}]{local}>"
    return f"#layout.partial<{mesh}, sum, [{parts}]>" if parts else mesh


class Plan:
    """A network whose products or convolutions have the layouts of a handwritten plan."""

    def __init__(self, text, axes):
        self.axes = axes
        self.text = re.sub(r"%(\w+) = (linalg\.(?:matmul|conv_2d_nchw_fchw)) (?:\{(.*?)\} )?ins\("
                           r"(?=[^:]*: tensor<[^>]*>, tensor<\d+x(\d+)x)", self.state, text)

    def split(self, name, op):
        """Returns the splits of operands and result and the axes of partial sums, or None if the op is not in the
        plan."""
        data = "d" if "d =" in self.axes else ""
        if op != "linalg.matmul":
            both = ", ".join(re.findall(r"(\w+) =", self.axes))
            return (both, "", "", ""), ("", "", "", ""), (both, "", "", ""), ""
        if name.endswith(COLUMNS):
            return (data, ""), ("", "t"), (data, "t"), ""
        if name.endswith(ROWS):
            return (data, "t"), ("t", ""), (data, ""), "t"
        return None

    def state(self, match):
        name, op, attributes, inputs = match.groups()
        if not (splits := self.split(name, op)):
            return match[0]
        *splits, parts = splits
        blocks = [None] * 3
        if op != "linalg.matmul":  # channel tiles, as CPU kernels use them
            channels = '"NCHW" to "NCHW16c"'
            blocks = ([channels, '"OIHW" to "OIHW16i16o"', channels] if int(inputs) % 16 == 0
                      else [None, '"OIHW" to "OIHW16o"', channels])
        layouts = [layout(self.axes, *each) for each in zip(splits, blocks, [None, None, parts])]
        stated = f"layout.operand_layouts = [{', '.join(layouts)}], layout.result_layouts = [{layouts[2]}]"
        return f"%{name} = {op} {{{stated}{', ' + attributes if attributes else ''}}} ins("


def decide(path, axes, args, memory=None, certificate=""):
    """Returns the cost, its lower bound, the bytes sent, the peak bytes of one device, and the seconds."""
    started = time.monotonic()
    text = run_tool("layout-opt", path, f"--layout-assign=target={{{target(axes, args, memory)}}} {certificate}",
                    "--layout-mesh-replicate", "--layout-print-messages=format=json output=" + str(path) + ".json",
                    "--mlir-elide-elementsattrs-if-larger=8", "--mlir-elide-resource-strings-if-larger=8")
    assignment = {name: int(value) for name, value in
                  re.findall(r"(\w+) = (\d+)", re.search(r"layout\.assignment = \{(.*?)\}", text)[1])}
    if memory is None and assignment["cost"] != assignment["lower_bound"]:
        raise ToolError(f"{path}: the optimum is not proven")
    if memory is not None and assignment["memory_bytes"] > memory:
        raise ToolError(f"{path}: {assignment['memory_bytes']} bytes are taken of {memory}")
    sent = sum(each["bytes_sent"] for each in json.loads(pathlib.Path(f"{path}.json").read_text()))
    return {"cost": assignment["cost"], "lower_bound": assignment["lower_bound"], "bytes": sent,
            "memory": assignment["memory_bytes"], "seconds": time.monotonic() - started}


def measure(name, args, folder):
    case = CASES[name.split()[0]]
    axes = find_axes(name)
    path = folder / "network.mlir"
    NETWORKS[case.network].write(path, weights="splat", **case.options)
    one = decide(path, "t = 1", args)
    best = decide(path, axes, args)
    planned = folder / "plan.mlir"
    planned.write_text(Plan(path.read_text(), axes).text)
    known = decide(planned, axes, args)
    return {"network": name, "one": one, "optimum": best, "plan": known, "name": case.plan}


def find_least(path, axes, args, most):
    """Finds by bisection the smallest memory limit, in bytes, for which a decision is found, starting with the decision
    `most`. Returns the decision. Limits that are proven infeasible are skipped."""
    low, best = 0, most
    while low < best["memory"]:
        middle = (low + best["memory"] - 1) // 2 if low else 1
        try:
            best = decide(path, axes, args, middle)
        except ToolError as error:
            proven = re.search(r"needs at least (\d+) bytes", str(error))
            low = max(middle + 1, int(proven[1]) if proven else 0)
    return best


def curve(name, args, folder):
    case = CASES[name.split()[0]]
    axes = find_axes(name)
    path = folder / "network.mlir"
    NETWORKS[case.network].write(path, weights="splat", **case.options)
    fastest = decide(path, axes, args, 1 << 50)
    least = find_least(path, axes, args, fastest)["memory"]
    points = {}
    for i in range(args.memory):
        memory = fastest["memory"] - (fastest["memory"] - least) * i // max(args.memory - 1, 1)
        point = decide(path, axes, args, memory)
        if args.certified:
            file = folder / "certificate"
            decide(path, axes, args, memory, f"certificate={file}")
            *point["gaps"], _ = find_gaps(file)
        points[point["memory"], point["cost"]] = {"limit": memory, **point}
    return {"network": name, "points": list(points.values())}


def show_curve(row):
    fastest = row["points"][0]["cost"]
    return "\n".join(f"{row['network']:<14}{point['limit']:>12}{point['memory']:>12}{point['cost']:>14}"
                     f"{point['cost'] / fastest - 1:>9.2%}{point['cost'] / point['lower_bound'] - 1:>9.3%}"
                     f"{point['bytes'] / 1000:>12.1f}{point['seconds']:>8.2f}"
                     + (show_gaps(*point["gaps"]) if "gaps" in point else "") for point in row["points"])


def run_on_ranks(network, ranks, *options):
    """Returns the planned and measured bytes, the number of messages, and the largest difference of a result."""
    links = f"axes = [x = {ranks}], device = {DEVICE}, byte_cost = [0], message_cost = [0]"
    done = subprocess.run([sys.executable, "-m", "demo", network, "--small", "--device", "mesh", "--ranks", str(ranks),
                           "--target", f"#layout.mesh_target<{links}>", "--repeat", "1", "--threads", "1", *options],
                          text=True, capture_output=True)
    if done.returncode:
        raise ToolError(done.stdout + done.stderr)
    sent, planned, messages = map(int, re.search(r"wire +(\d+) of (\d+) planned, in (\d+)", done.stdout).groups())
    largest = max(map(float, re.findall(r"largest difference +\S+ absolute, (\S+) relative", done.stdout)))
    return {"network": network, "ranks": ranks, "planned": planned, "sent": sent, "messages": messages,
            "difference": largest}


def show_ranks(row):
    return (f"{row['network']:<14}{row['ranks']:>6}{row['planned']:>12}{row['sent']:>12}{row['messages']:>10}"
            f"{row['difference']:>12.1e}")


def measure_ranks(names):
    print(f"{'network':<14}{'ranks':>6}{'planned':>12}{'sent':>12}{'messages':>10}{'difference':>12}", flush=True)
    return measure_rows(names, lambda name, _: run_on_ranks(*name), show_ranks)


def show(row):
    def part(each):
        return (f"{each['cost'] / row['one']['cost']:>10.1%}{each['bytes'] / 1000:>12.1f}"
                f"{each['memory'] / 1000:>12.1f}{each['seconds']:>8.2f}")
    return f"{row['network']:<14}{row['one']['cost']:>14}{part(row['optimum'])}  {row['name']:<9}{part(row['plan'])}"


def numbers(text):
    return [positive(each) for each in text.split(",")]


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --mesh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default="", help="only rows whose name contains this")
    parser.add_argument("--devices", type=numbers, metavar="N,..", help="on one axis, in place of the meshes")
    parser.add_argument("--byte-cost", type=int, help=f"of the links (default: {BYTE_COST})")
    parser.add_argument("--message-cost", type=int, help=f"of a message (default: {MESSAGE_COST})")
    parser.add_argument("--ranks", type=numbers, metavar="N,..",
                        help="run on as many ranks, one after the other (1,2,4,8)")
    parser.add_argument("--memory", type=positive, metavar="POINTS",
                        help="decide with so many sizes of memory (9)")
    parser.add_argument("--certified", action="store_true", help="with --memory, check certificates, too")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    sys.setrecursionlimit(20000)  # the limit of certify as a program
    if args.certified and not args.memory:
        parser.error("--certified is of decisions with --memory")
    if args.ranks:
        if args.devices:
            parser.error("with --ranks their numbers are those of the devices: leave out --devices")
        if args.byte_cost is not None or args.message_cost is not None:
            parser.error("with --ranks links cost nothing: leave out --byte-cost and --message-cost")
        names = [(network, ranks) for network in RUN if args.network in network for ranks in args.ranks]
    else:
        meshes = args.devices or (["2", "4", "8"] if args.memory else MESHES)
        names = [f"{case} {mesh}" for case in CASES for mesh in meshes if args.network in f"{case} {mesh}"]
    if not names:
        parser.error(f"no row matches '{args.network}'")
    if args.ranks:
        rows, complete = measure_ranks(names)
        write_json(args.json, rows=rows)
        return 0 if complete else 1
    args.byte_cost = BYTE_COST if args.byte_cost is None else args.byte_cost
    args.message_cost = MESSAGE_COST if args.message_cost is None else args.message_cost
    if args.memory:
        print(f"{'network, mesh':<14}{'memory':>12}{'taken':>12}{'cost':>14}{'slower':>9}{'gap':>9}{'KB sent':>12}{'s':>8}"
              + (f"{'proof':>9}{'labels':>9}" if args.certified else ""), flush=True)
        rows, complete = measure_rows(names, lambda name, folder: curve(name, args, folder), show_curve)
        write_json(args.json, device=DEVICE, byte_cost=args.byte_cost, message_cost=args.message_cost, rows=rows)
        return 0 if complete else 1
    print(f"{'network, mesh':<14}{'one device':>14}{'optimum':>10}{'KB sent':>12}{'KB taken':>12}{'s':>8}  {'plan':<9}{'cost':>10}{'KB sent':>12}"
          f"{'KB taken':>12}{'s':>8}", flush=True)
    rows, complete = measure_rows(names, lambda name, folder: measure(name, args, folder), show)
    write_json(args.json, device=DEVICE, byte_cost=args.byte_cost, message_cost=args.message_cost, rows=rows)
    return 0 if complete else 1
