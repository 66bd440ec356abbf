"""./dev bench --layoutbench: layout decisions of other compilers, with what they cost and the least that is possible.

The problems in benchmarks/layoutbench/problems were captured from compilers of PyPI. A row has the conversions that the
compiler's own answer needs, their bytes (read and written, or sent), the same of the answer of `layout_solver`, and a
checked proof that no answer costs less. Without `--compiler` there is one row for each compiler. `--capture` installs
the compilers and captures the problems again. docs/layoutbench.md describes them.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from layout_mlir.tools import ToolError
from layoutbench.captured import FOLDER, Captured, list_problems

from .rows import measure_rows, write_json

# The module of benchmarks/layoutbench that captures the problems of each compiler.
SCRIPTS = {"dtensor": "dtensor_placements", "executorch": "executorch_vulkan", "inductor": "torch_inductor",
           "iree": "iree_encodings", "mlir": "upstream_packs", "onnxruntime": "onnx_runtime",
           "openvino": "openvino_graph", "triton": "triton_ttgir", "xla": "xla_cpu"}
OF_ONNX = ("iree", "onnxruntime", "openvino")  # those that read the networks of --peers
BENCHMARKS = pathlib.Path(__file__).parents[1]


def check(certificate, cost, folder):
    """Raises an error unless the checker accepts the certificate as a proof that no assignment costs less."""
    path = folder / "certificate"
    path.write_text(certificate)
    run = subprocess.run([sys.executable, "-m", "layout_mlir.certify", path], capture_output=True, text=True)
    if run.returncode or f"accepted, cost {cost}, at least {cost}\n" not in run.stdout:
        raise ToolError(run.stdout + run.stderr)


def measure(path, folder):
    """Returns the row of a problem."""
    captured = Captured(path)
    answer = captured.make_problem().solve(certify=True)
    check(answer.certificate, answer.cost, folder)
    theirs, least = (captured.find_conversions(values) for values in (captured.chosen, answer.assignment))
    if captured.sum_prices(least) != answer.cost:
        raise ToolError(f"{path.name}: the assignment costs {captured.sum_prices(least)}, and not {answer.cost}")
    return {"compiler": captured.compiler, "network": captured.network, "ops": len(captured.ops),
            "conversions": len(theirs), "bytes": captured.sum_prices(theirs), "least_conversions": len(least),
            "least_bytes": answer.cost, "seconds": answer.seconds}


def add_up(rows):
    """Returns one row for each compiler."""
    sums = {}
    for row in rows:
        total = sums.setdefault(row["compiler"], {"compiler": row["compiler"], "networks": 0, "least": 0})
        total["networks"] += 1
        total["least"] += row["bytes"] == row["least_bytes"]
        for key, value in row.items():
            if isinstance(value, (int, float)):
                total[key] = total.get(key, 0) + value
    return list(sums.values())


def show(row, name):
    saved = 1 - row["least_bytes"] / row["bytes"] if row["bytes"] else 0
    return (f"| {name} | {row['ops']} | {row['conversions']} | {row['bytes'] / 1e6:.3f} | {row['least_conversions']} | "
            f"{row['least_bytes'] / 1e6:.3f} | {saved:.1%} | {row['seconds'] * 1e3:.1f} |")


HEAD = "ops | conversions | MB | least: conversions | MB | avoidable | ms |\n|---|" + "---:|" * 7


def capture(compiler, python):
    """Captures the problems of a compiler again, in the environment that has the compilers."""
    with tempfile.TemporaryDirectory(prefix="layoutbench-") as folder:
        models = BENCHMARKS.parent / "examples"
        if compiler in OF_ONNX:
            import onnx

            from . import onnx_networks
            models = pathlib.Path(folder)
            for name in onnx_networks.NETWORKS:
                onnx.save(onnx_networks.make(name), models / f"{name}.onnx")
        subprocess.run([python, "-B", "-m", f"layoutbench.{SCRIPTS[compiler]}", FOLDER, "--models", models],
                       cwd=BENCHMARKS, check=True)


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --layoutbench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", choices=SCRIPTS, help="only the problems of this one, with a row for each")
    parser.add_argument("--capture", metavar="PYTHON", nargs="?", const="",
                        help="first capture the problems again, by default with the Python that ./dev sets up")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the rows of all problems there")
    args = parser.parse_args(argv)
    if args.capture is not None:
        python = args.capture or pathlib.Path(os.environ["LAYOUT_BUILD_DIR"], "layoutbench/venv/bin/python")
        for compiler in [args.compiler] if args.compiler else SCRIPTS:
            capture(compiler, python)
    paths = {path.stem: path for path in list_problems(args.compiler)}
    print(f"| {'network' if args.compiler else 'compiler, networks (at the least)'} | {HEAD}", flush=True)
    rows, complete = measure_rows(paths, lambda name, folder: measure(paths[name], folder),
                                  (lambda row: show(row, f"`{row['network']}`")) if args.compiler else None)
    for row in [] if args.compiler else add_up(rows):
        print(show(row, f"{row['compiler']}, {row['networks']} ({row['least']})"))
    write_json(args.json, rows=rows)
    return 0 if complete else 1
