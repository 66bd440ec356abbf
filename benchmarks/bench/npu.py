"""./dev bench --npu: full-size networks on NPUs in the simulator.

The columns are the peak memory of a core, in brackets without bank placement, and its lower bound if that is not
reached; bank conflicts, in brackets without bank placement; the bytes moved, in brackets those that the results need at
least; the OKKernel functions called, in brackets the kernels that only the simulator runs; the largest difference from
the CPU, relative to the largest value; the time predicted for the chip's clock; and that of the vendor's chip model if
it is installed, in brackets the difference of the prediction from it. `--commands N` prints the N longest commands of
each network by both.
"""

import argparse
import pathlib

import numpy as np

from layout_mlir import Target, run_npu
from layout_mlir.npu import Result
from layout_mlir.npu_chip_model import match_commands
from layout_mlir.tools import run_tool
from networks import NETWORKS

from .rows import measure_rows, write_json

# Row names, and the network and options of each.
DEFAULT = {
    "ResNet-50": ("resnet50", {}),
    "ResNet-50, i8": ("resnet50", {"element": "i8"}),
    "MobileNetV2": ("mobilenet_v2", {}),
    "MobileNetV2, i8": ("mobilenet_v2", {"element": "i8"}),
    "MobileNetV2, i8, batch 4": ("mobilenet_v2", {"element": "i8", "batch": 4}),
    "DenseNet-121": ("densenet121", {}),
    "Inception v3": ("inception_v3", {}),
    "EfficientNetV2-S": ("efficientnet_v2_s", {}),
    "BERT, 2 layers": ("bert_base", {"hidden_input": True, "layers": 2}),
    "ViT, 2 layers": ("vit_b16", {"layers": 2}),
    "U-Net": ("unet", {}),
}


def measure(row, small, commands, folder):
    name, chip = row
    network, options = DEFAULT[name]
    network = NETWORKS[network]
    network = network.build((network.small_options if small else network.Options)(**options))
    module = folder / "network.mlir"
    with open(module, "w", encoding="utf-8") as file:
        network.write(file)
    arrays, files = network.example_inputs(), []
    for array in arrays:
        files.append(folder / f"{len(files)}.npy")
        np.save(files[-1], array)
    run_tool("layout-opt", module, "--layout-linalg-to-llvm=cpu=host", "--emit-bytecode", "--verify-each=false", "-o",
             folder / "before.mlirbc")
    memory = run_npu.lower(module, run_npu.get_target(chip), folder)
    runs = run_npu.run(files, folder, simulator_kernels=True, timeline=None, events=1 << 20)
    program, result, differences = runs.program, runs.result, runs.differences
    counters, vendor = result.counters, None
    # The models of BM1684X and BM1688 write no profile.
    if isinstance(runs.vendor, Result) and runs.vendor.counters["cycles"]:
        vendor = program.milliseconds(runs.vendor.counters["cycles"])
        show_commands(name, match_commands(result.events, runs.vendor.events), commands)
    return {"network": name, "chip": chip, **memory, "bytes": counters["bytes_s2l"] + counters["bytes_l2s"] + counters["bytes_s2s"],
            "conflicts": counters["bank_conflicts"] + counters["region_conflicts"], "transfers": counters["transfers"],
            "commands": sum(program.functions.values()), "kernels": program.kernels,
            "lanes": counters["useful_ops"] / max(counters["issued_ops"], 1), "difference": max(rel for _, rel in differences),
            "milliseconds": program.milliseconds(counters["cycles"]), "vendor": vendor, "errors": len(result.errors)}


def show_commands(name, matched, count):
    """Prints the longest commands, with their cycles by the clock and by the vendor's model."""
    for clock, theirs, command in sorted(matched, reverse=True)[:count]:
        print(f"{name}: {command:<24}{clock:>10,} cycles, the vendor's {theirs:>10,} ({clock / max(theirs, 1) - 1:+.1%})")


def show(row):
    bound = "" if row["LeastPeak"] == row["LowerBound"] else f", bound {row['LowerBound']:,}"
    vendor = "not timed" if row["vendor"] is None else (f"{row['vendor']:.3f} ms "
                                                      f"({row['milliseconds'] / row['vendor'] - 1:+.1%})")
    return (f"| {row['network']} | {row['chip']} | {row['PeakBytes']:,} ({row['LeastPeak']:,}{bound}) of {row['BytesPerCore']:,} | "
            f"{row['conflicts']:,} ({row['CarelessConflicts']:,}) | {row['bytes'] / 1e6:,.2f} MB ({row['Least'] / 1e6:.2f}) | "
            f"{row['transfers']:,} | {row['commands']:,} ({row['kernels']}) | {row['lanes']:.1%} | {row['difference']:.3g} | "
            f"{row['milliseconds']:.3f} ms | {vendor} |")


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --npu", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", choices=DEFAULT, help="may be repeated (default: all)")
    parser.add_argument("--chip", action="append", choices=Target.names(), help="may be repeated (default: BM1684)")
    parser.add_argument("--small", action="store_true", help="networks as in the tests")
    parser.add_argument("--commands", type=int, default=0, metavar="N",
                        help="print the N longest commands, by the clock and by the vendor's model")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    print("| network | chip | peak of a core (without care for banks) | bank conflicts (without care) | "
          "to and from cores (least) | transfers | functions called (kernels) | lanes used | difference | predicted | by the vendor's model |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    names = [(network, chip) for chip in args.chip or ["BM1684"] for network in args.network or DEFAULT]
    rows, complete = measure_rows(names, lambda row, folder: measure(row, args.small, args.commands, folder), show)
    write_json(args.json, rows=rows)
    return 0 if complete and not any(row["errors"] for row in rows) else 1
