"""./dev bench --untouched: whether layouts make a network slower.

`onnx/` are the networks of `./dev bench --peers`, which multiply tokens as batches of matrices; `small/` and `full/`
are those of `python -m networks`, which multiply them as one matrix. Each runs without and with layouts, alternately in
one process, and the results are compared. The ratio is the median over pairs of runs of the time with layouts divided
by the other one; ratios above --most are marked. `--against TARGET` compares with the layouts for that target instead;
equal programs are not run and have ratio 1.
"""

import argparse
import json
import pathlib
import re

import onnx

from layout_mlir.models import Options, load_model
from layout_mlir.run import DEVICES, positive, write_inputs
from layout_mlir.tools import run_tool
from networks import NETWORKS
from networks.__main__ import main as generate

from . import onnx_networks
from .rows import measure_rows, write_json

# The networks that also run at full size.
FULL = ("resnet50", "mobilenet_v2", "inception_v3", "densenet121", "efficientnet_v2_s", "vit_b16", "swin_t",
        "bert_base")
NAMES = (*(f"onnx/{name}" for name in onnx_networks.NETWORKS), *(f"small/{name}" for name in NETWORKS),
         *(f"full/{name}" for name in FULL))


def make(name, folder):
    """Returns the module, and the arguments of layout-run with its inputs."""
    kind, network = name.split("/")
    if kind == "onnx":
        path = folder / "network.onnx"
        onnx.save(onnx_networks.make(network), path)
        model = load_model(path, folder, options=Options(repeat=0))
        return model.module, [f"--input={path}" for path in write_inputs(model, folder)]
    path, inputs = folder / "network.mlir", folder / "inputs"
    generate([network, *["--small"] * (kind == "small"), "-o", str(path), "--inputs", str(inputs)])
    return path, [f"@{inputs / 'args'}"]


def read_program(path):
    """Returns the text of a program without large constants and `layout.assignment`."""
    text = run_tool("layout-opt", path, "--mlir-elide-elementsattrs-if-larger=8",
                    "--mlir-elide-resource-strings-if-larger=8", "--verify-each=false")
    return re.sub(r"layout\.assignment = \{.*?\}", "", text, count=1)


def measure(name, args, folder):
    module, inputs = make(name, folder)
    before, after, runs = (folder / each for each in ("before.mlirbc", "after.mlirbc", "runs.json"))
    written = ["--emit-bytecode", "--verify-each=false", "-o"]
    for target, output in (args.against, before), (args.target, after):
        pipeline = f"--layout-to-cpu=target={{{target}}}" if target else "--layout-linalg-to-llvm="
        run_tool("layout-opt", module, f"{pipeline} cpu={args.cpu}", *written, output)
    if args.against and read_program(before) == read_program(after):
        return {"network": name, "before_seconds": None, "seconds": None, "ratio": 1.0, "difference": 0.0}
    run_tool("layout-run", before, after, *inputs, "--warmup=2", f"--repeat={args.repeat}",
             f"--threads={args.threads}", "--compare", f"--max-rel={args.max_rel}", "--keep-freed-memory",
             f"--json={runs}")
    plain, laid_out = [json.loads(line) for line in runs.read_text().splitlines()]
    return {"network": name, "before_seconds": plain["run_median_seconds"],
            "seconds": laid_out["run_median_seconds"], "ratio": 1 / laid_out["speedup"],
            "difference": max(each["max_rel"] for each in laid_out["differences"])}


def show(row, most):
    times = ("".join(f"{row[key] * 1e3:>13.3f}" for key in ("before_seconds", "seconds")) if row["seconds"]
             else f"{'same program':>26}")
    return f"{row['network']:<24}{times}{row['ratio']:>8.3f}{row['difference']:>12.2g}{'  slower' * (row['ratio'] > most)}"


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --untouched", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only networks whose name contains this")
    parser.add_argument("--target", default=DEVICES["cpu"][0], help="of the layouts (default: %(default)s)")
    parser.add_argument("--against", metavar="TARGET", help="compare with layouts for this one (default: with none)")
    parser.add_argument("--cpu", default="host", help="of the kernels (default: %(default)s)")
    parser.add_argument("--repeat", type=positive, default=20, help="timed runs of each")
    parser.add_argument("--threads", type=positive, default=1, help="(default: %(default)s)")
    parser.add_argument("--most", type=float, default=1.02, help="ratio that is not marked (default: %(default)s)")
    parser.add_argument("--max-rel", type=float, default=1e-3, help="largest difference of a result")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    names = [name for name in NAMES if args.only in name]
    if not names:
        parser.error(f"no network matches '{args.only}'")
    before = "against ms" if args.against else "untouched ms"
    print(f"{'network':<24}{before:>13}{'laid out ms':>13}{'ratio':>8}{'difference':>12}", flush=True)
    rows, complete = measure_rows(
        names, lambda name, folder: measure(name, args, folder), lambda row: show(row, args.most))
    slower = sum(row["ratio"] > args.most for row in rows)
    print(f"\n{slower} of {len(rows)} take more than {args.most} times as long "
          f"{f'as for {args.against}' if args.against else 'laid out'}.")
    write_json(args.json, target=args.target, against=args.against, threads=args.threads, rows=rows)
    return 0 if complete and not slower else 1
