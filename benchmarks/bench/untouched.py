"""./dev bench --untouched: whether layouts make a network slower.

`onnx/` are the networks of `./dev bench --peers`, which multiply tokens as batches of matrices,
`small/` and `full/` those of `python -m networks`, which multiply them as one matrix. Each runs as it
is and laid out, in turns in one process, and the results are compared. The ratio is the median over
pairs of runs of the laid-out time by the other one; above --most it is marked.
"""

import argparse
import json
import pathlib

import onnx

from layout_mlir.models import Options, load_model
from layout_mlir.run import DEVICES, positive, write_inputs
from layout_mlir.tools import run_tool
from networks import NETWORKS
from networks.__main__ import main as generate

from . import onnx_networks
from .rows import measure_rows, write_json

# Those that also run at full size.
FULL = ("resnet50", "mobilenet_v2", "inception_v3", "densenet121", "efficientnet_v2_s", "vit_b16", "swin_t",
        "bert_base")
NAMES = (*(f"onnx/{name}" for name in onnx_networks.NETWORKS), *(f"small/{name}" for name in NETWORKS),
         *(f"full/{name}" for name in FULL))


def make(name, folder):
    """The module, and what layout-run gives it."""
    kind, network = name.split("/")
    if kind == "onnx":
        path = folder / "network.onnx"
        onnx.save(onnx_networks.make(network), path)
        model = load_model(path, folder, options=Options(repeat=0))
        return model.module, [f"--input={path}" for path in write_inputs(model, folder)]
    path, inputs = folder / "network.mlir", folder / "inputs"
    generate([network, *["--small"] * (kind == "small"), "-o", str(path), "--inputs", str(inputs)])
    return path, [f"@{inputs / 'args'}"]


def measure(name, args, folder):
    module, inputs = make(name, folder)
    before, after, runs = (folder / each for each in ("before.mlirbc", "after.mlirbc", "runs.json"))
    written = ["--emit-bytecode", "--verify-each=false", "-o"]
    run_tool("layout-opt", module, f"--layout-linalg-to-llvm=cpu={args.cpu}", *written, before)
    run_tool("layout-opt", module, f"--layout-to-cpu=target={{{args.target}}} cpu={args.cpu}", *written, after)
    run_tool("layout-run", before, after, *inputs, "--warmup=2", f"--repeat={args.repeat}",
             f"--threads={args.threads}", "--compare", f"--max-rel={args.max_rel}", "--keep-freed-memory",
             f"--json={runs}")
    plain, laid_out = [json.loads(line) for line in runs.read_text().splitlines()]
    return {"network": name, "untouched_seconds": plain["run_median_seconds"],
            "seconds": laid_out["run_median_seconds"], "ratio": 1 / laid_out["speedup"],
            "difference": max(each["max_rel"] for each in laid_out["differences"])}


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --untouched", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only networks whose name contains this")
    parser.add_argument("--target", default=DEVICES["cpu"][0], help="of the layouts (default: %(default)s)")
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
    print(f"{'network':<24}{'untouched ms':>13}{'laid out ms':>13}{'ratio':>8}{'difference':>12}", flush=True)
    rows, complete = measure_rows(
        names, lambda name, folder: measure(name, args, folder),
        lambda row: f"{row['network']:<24}{row['untouched_seconds'] * 1e3:>13.3f}{row['seconds'] * 1e3:>13.3f}"
                    f"{row['ratio']:>8.3f}{row['difference']:>12.2g}{'  slower' * (row['ratio'] > args.most)}")
    slower = sum(row["ratio"] > args.most for row in rows)
    print(f"\n{slower} of {len(rows)} take more than {args.most} times as long laid out.")
    write_json(args.json, target=args.target, threads=args.threads, rows=rows)
    return 0 if complete and not slower else 1
