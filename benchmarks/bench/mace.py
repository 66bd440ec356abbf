"""./dev bench --mace FOLDER: image kernels compared with MACE's, for the same operations on one device.

FOLDER is mace/ops/opencl/cl of MACE's sources, which this project does not contain. Each operation is lowered to a
package; its kernel and MACE's run alternately in one process, on the same data image if the layouts are equal, and both
results are compared with NumPy. Both use the fastest work-group size of one list, as their tuners would choose (ours:
LAYOUT_OPENCL_TUNE=1). The last column has our kernel with the work-group size of the package, without tuning, relative
to the same time of MACE. Times are medians over rounds, and ratios are medians of the ratios of the rounds.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

from layout_mlir.tools import ToolError, run_tool

from .images import TARGET
from .rows import measure_rows, write_json

HERE = pathlib.Path(__file__).parent
# The environment that ./dev creates for this benchmark.
PYTHON = pathlib.Path(os.environ.get("LAYOUT_BUILD_DIR", "")) / "devices/venv/bin/python"
FILES = ("common.h", "conv_2d_1x1.cl", "conv_2d_3x3.cl", "depthwise_conv2d.cl", "matmul.cl")


def convolution(channels, outputs, size, window, stride=1):
    return {"kind": "convolution", "data": [1, channels, size, size], "filter": [outputs, channels, window, window],
            "stride": stride, "pad": window // 2}


def depthwise(channels, size, window=3, stride=1):
    return {"kind": "depthwise", "data": [1, channels, size, size], "filter": [channels, window, window],
            "stride": stride, "pad": window // 2}


def matmul(m, k, n, batch=1):
    return {"kind": "matmul", "data": [batch, m, k], "filter": [batch, k, n]}


# Shapes from ResNet-50, MobileNetV2 and BERT.
OPS = {
    "1x1, 64 -> 256, 56x56": convolution(64, 256, 56, 1), "1x1, 256 -> 64, 56x56": convolution(256, 64, 56, 1),
    "1x1, 512 -> 128, 28x28": convolution(512, 128, 28, 1), "1x1, 1024 -> 256, 14x14": convolution(1024, 256, 14, 1),
    "1x1, 2048 -> 512, 7x7": convolution(2048, 512, 7, 1), "1x1/2, 256 -> 512, 56x56": convolution(256, 512, 56, 1, 2),
    "1x1, 32 -> 192, 28x28": convolution(32, 192, 28, 1), "1x1, 960 -> 160, 7x7": convolution(960, 160, 7, 1),
    "3x3, 64 -> 64, 56x56": convolution(64, 64, 56, 3), "3x3, 128 -> 128, 28x28": convolution(128, 128, 28, 3),
    "3x3, 256 -> 256, 14x14": convolution(256, 256, 14, 3), "3x3, 512 -> 512, 7x7": convolution(512, 512, 7, 3),
    "3x3/2, 128 -> 128, 56x56": convolution(128, 128, 56, 3, 2),
    "depthwise 3x3, 32, 112x112": depthwise(32, 112), "depthwise 3x3/2, 96, 112x112": depthwise(96, 112, 3, 2),
    "depthwise 3x3, 144, 56x56": depthwise(144, 56), "depthwise 3x3/2, 144, 56x56": depthwise(144, 56, 3, 2),
    "depthwise 3x3, 384, 14x14": depthwise(384, 14), "depthwise 3x3, 960, 7x7": depthwise(960, 7),
    "matmul 128x768x768": matmul(128, 768, 768), "matmul 128x768x3072": matmul(128, 768, 3072),
    "matmul 12 x 128x64x128": matmul(128, 64, 128, 12), "matmul 12 x 128x128x64": matmul(128, 128, 64, 12),
}


# The layouts of MACE's operand and result images, as maps.
CHANNELS = "(n, c, h, w) -> image2d(x = [c floordiv 4, w], y = [n, h], lane = c mod 4)"
IMAGES = {
    "convolution": (CHANNELS, "(o, i, h, w) -> image2d(x = i, y = [o floordiv 4, h, w], lane = o mod 4)", CHANNELS),
    "depthwise": (CHANNELS, "(c, h, w) -> image2d(x = [h, w], y = c floordiv 4, lane = c mod 4)", CHANNELS),
    "matmul": ("(b, m, k) -> image2d(x = k floordiv 4, y = [b, m], lane = k mod 4)",
               "(b, k, n) -> image2d(x = n, y = [b, k floordiv 4], lane = k mod 4)",
               "(b, m, n) -> image2d(x = n, y = [b, m floordiv 4], lane = m mod 4)")}


def write_module(op):
    """Returns the module of an operation whose data, filter and result are in MACE's images."""
    places = [f", #layout.map<{each}>" for each in IMAGES[op["kind"]]]

    def tensor(sizes, place=""):
        return f"tensor<{'x'.join(map(str, sizes))}xf32{place}>"

    def convert(value, given, sizes, place):
        return f"%{value} = layout.convert %{given} : {tensor(sizes)} to {tensor(sizes, place)}"

    body = ["%zero = arith.constant 0.0 : f32", convert("data", "x", op["data"], places[0]),
            convert("filter", "f", op["filter"], places[1])]
    sizes, options = op["data"], ""
    if op["kind"] == "matmul":
        result, name = [*sizes[:2], op["filter"][2]], "batch_matmul"
    else:
        pad, stride = op["pad"], op["stride"]
        wide = [*sizes[:2], sizes[2] + 2 * pad, sizes[3] + 2 * pad]
        result = [sizes[0], op["filter"][0], *((each - op["filter"][-1]) // stride + 1 for each in wide[2:])]
        name = "depthwise_conv_2d_nchw_chw" if op["kind"] == "depthwise" else "conv_2d_nchw_fchw"
        options = f" {{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}"
        body.append(f"%padded = tensor.pad %data low[0, 0, {pad}, {pad}] high[0, 0, {pad}, {pad}] {{\n"
                    "^bb0(%a: index, %b: index, %c: index, %d: index):\n  tensor.yield %zero : f32\n"
                    f"}} : {tensor(sizes, places[0])} to {tensor(wide, places[0])}")
        sizes = wide
    out = tensor(result, places[2])
    body += [f"%empty = tensor.empty() : {out}",
             f"%filled = linalg.fill ins(%zero : f32) outs(%empty : {out}) -> {out}",
             f"%y = linalg.{name}{options} ins({'%data' if op['kind'] == 'matmul' else '%padded'}, %filter : "
             f"{tensor(sizes, places[0])}, {tensor(op['filter'], places[1])}) outs(%filled : {out}) -> {out}",
             f"%r = layout.convert %y : {out} to {tensor(result)}", f"return %r : {tensor(result)}"]
    return (f"func.func @main(%x: {tensor(op['data'])}, %f: {tensor(op['filter'])}) -> {tensor(result)} {{\n"
            + "\n".join(body) + "\n}\n")


def measure(name, folder, args):
    op = {**OPS[name], "seconds": args.seconds}
    path, kernels, package = folder / "op.mlir", folder / "kernels.mlir", folder / "package"
    path.write_text(write_module(op))
    run_tool("layout-opt", path, f"--layout-to-opencl=target={{{TARGET}}} kernels-only", "-o", kernels)
    run_tool("layout-translate", "--layout-to-opencl-package", kernels, "-o", package)
    run = subprocess.run([args.python, "-W", "ignore", "-P", HERE / "mace_process.py", args.mace, package, json.dumps(op)],
                         capture_output=True, text=True)
    if run.returncode:
        raise ToolError((run.stderr.strip().splitlines() or ["ended without an answer"])[-1])
    row = {"op": name, **json.loads(run.stdout.splitlines()[-1])}
    for each in "difference", "mace_difference":
        if not row[each] < 1e-4:
            raise ToolError(f"the {each} from NumPy is {row[each]:.2g}")
    return row


def show(row):
    return (f"| {row['op']} | {row['ours']:.3f} | {row['mace']:.3f} | {row['ratio']:.2f} | "
            f"{'yes' if row['same_image'] else 'no'} | {row['written_ratio']:.2f} |")


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --mace FOLDER", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mace", metavar="FOLDER", type=pathlib.Path, help="mace/ops/opencl/cl of MACE's sources")
    parser.add_argument("--only", metavar="TEXT", default="", help="operations whose names hold it")
    parser.add_argument("--seconds", type=float, default=1, help="for each operation (default: %(default)s)")
    parser.add_argument("--python", default=str(PYTHON) if os.access(PYTHON, os.X_OK) else sys.executable,
                        help="that has pyopencl (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    if missing := [file for file in FILES if not (args.mace / file).is_file()]:
        parser.error(f"{args.mace} has no {missing[0]}: it is not the folder mace/ops/opencl/cl of MACE's sources")
    names = [name for name in OPS if args.only in name]
    if not names:
        parser.error(f"no operation's name holds '{args.only}': they are {', '.join(OPS)}")
    print("| operation | ours, ms | MACE, ms | ratio | same image | untuned over tuned |\n|---|---|---|---|---|---|", flush=True)
    rows, complete = measure_rows(names, lambda name, folder: measure(name, folder, args), show)
    write_json(args.json, rows=rows)
    return 0 if complete else 1
