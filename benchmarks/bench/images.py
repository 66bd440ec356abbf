"""./dev bench --images: conversions between buffers and images, by the solver and by greedy insertion.

Layouts of networks for a device with images are assigned by the solver and by MACE's rule: each op has a fixed layout,
and each operand in another layout is converted for that op alone. For both, the table of `layout-print-cost` is
summarized: the number of conversions of each kind, the bytes they move, and the cost of the conversions and of the
network. Constants are converted at compile time and are not included. A second table for each network compares the
reads per result pixel of convolutions, poolings and products with MACE's kernels.
"""

import argparse
import json
import pathlib
import sys
import tempfile

from layout_mlir.tools import ToolError, run_tool, whole_file
from networks import NETWORKS

from . import image_reads
from .baselines import GREEDY, OPTIMAL, decision

TARGET = ('#layout.opencl<image2d_max_width = 16384, '
          'image2d_max_height = 16384>')
DEFAULT = ("resnet50", "mobilenet_v2", "inception_v3", "efficientnet_v2_s", "unet", "bert_base",
           "vit_b16")
KINDS = {"buffer to image2d": "to image", "image2d to buffer": "to buffer",
         "image2d to image2d": "image to image", "buffer to buffer": "in buffers"}


def count(path, rule, target):
    """Returns the table of `layout-print-cost` after a decision, as parsed JSON."""
    table = path.with_suffix(".json")
    tool, decide, insert = decision(rule, f"target={{{target}}}")
    run_tool(tool, path, "--layout-canonicalize", decide, insert,
             f"--layout-print-cost=format=json output={table} target={{{target}}}",
             "-o", path.with_suffix(".out.mlir"))
    return json.loads(table.read_text())


def measure(name, small, folder, target):
    """Returns the row of one network, with its results by rule."""
    path = folder / f"{name}.mlir"
    NETWORKS[name].write(path, small, weights="splat")
    row = {"network": name, "rules": {}}
    for rule in (OPTIMAL, GREEDY):
        table = count(path, rule, target)
        moved, assignment = table["conversions"], table["assignment"]
        # The decision may price a conversion between identical storage at 1; the table prices it at 0.
        views = sum(each["kind"] == "view" for each in moved["rows"])
        decided = assignment["conversion_cost"]
        if not decided - views <= moved["cost"] <= decided:
            raise ToolError(f"{name}, {rule}: the conversions in the program cost "
                            f"{moved['cost']}, decided were {decided}")
        row["rules"][rule] = {
            "transitions": moved["transitions"], "conversions": moved["count"],
            "bytes": moved["bytes_read"] + moved["bytes_written"],
            "conversion_cost": decided, "cost": assignment["cost"],
            "lower_bound": assignment["lower_bound"]}
        if assignment["cost"] < assignment["lower_bound"]:
            raise ToolError(f"{name}, {rule}: the cost {assignment['cost']} is below the lower "
                            f"bound {assignment['lower_bound']}")
    return row


def print_head():
    print(f"{'network':<20}{'rule':<9}" + "".join(f"{kind:>15}" for kind in KINDS.values())
          + f"{'MB moved':>10}{'conversions':>14}{'all':>14}{'bound':>14}{'gap %':>8}")


def print_row(row):
    for rule, found in row["rules"].items():
        gap = found["cost"] - found["lower_bound"]
        print(f"{row['network']:<20}{rule:<9}"
              + "".join(f"{found['transitions'].get(kind, 0):>15}" for kind in KINDS)
              + f"{found['bytes'] / 1e6:>10.3f}{found['conversion_cost']:>14}{found['cost']:>14}"
              f"{found['lower_bound']:>14}{100 * gap / max(1, found['lower_bound']):>8.2f}",
              flush=True)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench --images", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", choices=sorted(NETWORKS),
                        help=f"may be repeated (default: {', '.join(DEFAULT)})")
    parser.add_argument("--small", action="store_true", help="as in the tests, not at full size")
    parser.add_argument("--target", default=TARGET, help=f"default: {TARGET}")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    print_head()
    rows, reads, failed = [], [], False
    for name in args.network or DEFAULT:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            try:
                rows.append(measure(name, args.small, pathlib.Path(scratch), args.target))
                reads.append(image_reads.measure(name, args.small, pathlib.Path(scratch), args.target))
            except ToolError as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
                continue
        print_row(rows[-1])
    print("\nConversions and all are costs, 1 being the time in which memory moves one byte; MB are "
          "10^6 bytes,\nread and written, of one run of each conversion.")
    for table in reads:
        image_reads.show(table)
    if args.json:
        with whole_file(args.json) as file:
            file.write(json.dumps({"target": args.target, "rows": rows, "reads": sum(reads, [])}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
