"""./dev bench --prices: whether ops that are priced higher run longer.

Some ops of networks are written in several layouts each, as functions on tensors with layouts. Each
is priced by `layout-print-cost` and timed on one thread.
The rank correlation over all pairs of an op and its layouts is printed, and every two layouts of
an op of which the cheaper one runs more than 1.3 times as long as the other.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

from layout_mlir.tools import ToolError, run_tool, whole_file

from .kernels import make_inputs

# What takes this much longer than a choice that is priced higher is a wrong price.
LONGER = 1.3
TARGET = "#layout.cpu<lanes = 16>"
DATA, WEIGHTS, CHANNEL_WEIGHTS = "NCHW", "OIHW", "CHW"


@dataclass
class Op:
    """The tensors of an op, results last: letters of their dims and shapes; `text` is the op with
    {0}, {1}, .. for their types and %0, %1, .. for the operands. `layouts` are one word per tensor."""
    name: str
    dims: list[str]
    shapes: list[tuple[int, ...]]
    text: str
    layouts: list[str]
    start: str | None = "0.0"

    def types(self, layouts):
        for dims, shape, layout in zip(self.dims, self.shapes, layouts.split()):
            sizes = "x".join(map(str, shape))
            encoding = "" if layout == dims else f', #layout.blocked<"{dims}" to "{layout}">'
            yield f"tensor<{sizes}xf32{encoding}>"

    def function(self, layouts):
        *inputs, result = self.types(layouts)
        arguments = ", ".join(f"%{i}: {kind}" for i, kind in enumerate(inputs))
        init = "%e" if self.start is None else "%init"
        fill = "" if self.start is None else (
            f"  %start = arith.constant {self.start} : f32\n"
            f"  %init = linalg.fill ins(%start : f32) outs(%e : {result}) -> {result}\n")
        body = self.text.format(*inputs, result).replace("%init", init)
        return (f"module attributes {{layout.target = {TARGET}}} {{\n"
                f"func.func @kernel({arguments}) -> {result} {{\n"
                f"  %e = tensor.empty() : {result}\n{fill}  %r = {body}\n"
                f"  return %r : {result}\n}}\n}}\n")


def generic(maps, iterators, body, operands, result):
    """A linalg.generic; maps are written with the letters of the loops."""
    loops = ", ".join(iterators)
    texts = [f"affine_map<({loops}) -> ({', '.join(each)})>" for each in maps]
    kinds = ", ".join(f'"{kind}"' for kind in iterators.values())
    inputs = ", ".join(f"%{i}" for i in range(operands))
    types = ", ".join(f"{{{i}}}" for i in range(operands))
    arguments = ", ".join([*(f"%a{i}: f32" for i in range(operands)), "%o: f32"])
    return (f"linalg.generic {{{{indexing_maps = [{', '.join(texts)}], iterator_types = [{kinds}]}}}} "
            f"ins({inputs} : {types}) outs(%init : {{{result}}}) {{{{\n"
            f"  ^bb0({arguments}):\n    {body}\n  }}}} -> {{{result}}}")


def convolution(c, size, f, k, stride=1):
    image = stride * (size - 1) + k
    text = (f"linalg.conv_2d_nchw_fchw {{{{strides = dense<{stride}> : tensor<2xi64>}}}} "
            "ins(%0, %1 : {0}, {1}) outs(%init : {2}) -> {2}")
    layouts = ["NCHW OIHW NCHW", "NHWC HWIO NHWC", "NHWC OIHW NHWC", "NHWC OHWI NHWC", "NCHW OHWI NHWC",
               "NCHW OIHW16o NCHW16c", "NCHW OIHW8o NCHW8c", "NHWC OIHW16o NCHW16c"]
    if c % 16 == 0:
        layouts += ["NCHW16c OIHW16i16o NCHW16c", "NCHW8c OIHW8i8o NCHW8c", "NCHW16c OIHW16i16o NCHW",
                    "NCHW16c OIHW NCHW", "NCHW16c OIHW16i16o NHWC"]
    return Op(f"conv {k}x{k}/{stride} {c}->{f} {size}x{size}", [DATA, WEIGHTS, DATA],
              [(1, c, image, image), (f, c, k, k), (1, f, size, size)], text, layouts)


def depthwise(c, size, k, stride=1):
    image = stride * (size - 1) + k
    text = (f"linalg.depthwise_conv_2d_nchw_chw {{{{strides = dense<{stride}> : tensor<2xi64>}}}} "
            "ins(%0, %1 : {0}, {1}) outs(%init : {2}) -> {2}")
    layouts = ["NCHW CHW NCHW", "NHWC HWC NHWC", "NHWC CHW NHWC", "NCHW16c CHW16c NCHW16c",
               "NCHW8c CHW8c NCHW8c", "NCHW16c CHW16c NCHW"]
    return Op(f"depthwise {k}x{k}/{stride} {c} {size}x{size}", [DATA, CHANNEL_WEIGHTS, DATA],
              [(1, c, image, image), (c, k, k), (1, c, size, size)], text, layouts)


def product(m, k, n):
    layouts = ["MK KN MN", "MK NK MN", "KM KN MN", "KM NK MN", "MK KN NM", "MK NK NM", "KM KN NM",
               "MK NK16n MN", "MK NK16n MN16n", "MK NK16n NM16n"]
    if k % 16 == 0:
        layouts += ["MK16k NK16k16n MN16n", "KM16k NK16k16n NM16n"]
    if m % 16 == 0:
        layouts += ["MK16m KN MN16m", "MK16m NK NM16m", "MK16m KN NM16m"]
    layouts = [text for text in layouts if m > 1 or not re.search("KM|NM", text)]
    return Op(f"matmul {m}x{k}x{n}", ["MK", "KN", "MN"], [(m, k), (k, n), (m, n)],
              "linalg.matmul ins(%0, %1 : {0}, {1}) outs(%init : {2}) -> {2}", layouts)


def batch_product(b, m, k, n):
    layouts = ["BMK BKN BMN", "BMK BNK BMN", "BKM BKN BMN", "MBK BKN MBN", "MBK NBK BMN", "BMK BNK16n BMN",
               "BMK BKN BNM"]
    return Op(f"batch_matmul {b}x{m}x{k}x{n}", ["BMK", "BKN", "BMN"], [(b, m, k), (b, k, n), (b, m, n)],
              "linalg.batch_matmul ins(%0, %1 : {0}, {1}) outs(%init : {2}) -> {2}", layouts)


def pooling(c, size):
    loops = dict.fromkeys(("n", "c", "h", "w"), "parallel") | dict.fromkeys(("i", "j"), "reduction")
    maps = [("n", "c", "2 * h + i", "2 * w + j"), ("i", "j"), ("n", "c", "h", "w")]
    text = generic(maps, loops, "%m = arith.maximumf %a0, %o : f32\n    linalg.yield %m : f32", 2, 2)
    return Op(f"max pool {c} {size}x{size}", [DATA, "IJ", DATA],
              [(1, c, 2 * size + 1, 2 * size + 1), (3, 3), (1, c, size, size)], text,
              [f"{x} IJ {y}" for x, y in (("NCHW", "NCHW"), ("NHWC", "NHWC"), ("NCHW16c", "NCHW16c"),
                                          ("NCHW8c", "NCHW8c"), ("NHWC", "NCHW"))], "-1.0e30")


def addition(c, size):
    loops = dict.fromkeys(("n", "c", "h", "w"), "parallel")
    text = generic([tuple(loops)] * 3, loops, "%m = arith.addf %a0, %a1 : f32\n    linalg.yield %m : f32", 2, 2)
    return Op(f"add {c} {size}x{size}", [DATA] * 3, [(1, c, size, size)] * 3, text,
              ["NCHW NCHW NCHW", "NHWC NHWC NHWC", "NCHW16c NCHW16c NCHW16c", "NCHW NHWC NCHW", "NCHW NHWC NHWC",
               "NCHW NCHW NHWC", "NCHW16c NHWC NHWC", "NCHW16c NCHW NCHW16c"], None)


def bias(c, size):
    loops = dict.fromkeys(("n", "c", "h", "w"), "parallel")
    text = generic([tuple(loops), ("c",), tuple(loops)], loops,
                   "%m = arith.addf %a0, %a1 : f32\n    linalg.yield %m : f32", 2, 2)
    return Op(f"bias {c} {size}x{size}", [DATA, "C", DATA], [(1, c, size, size), (c,), (1, c, size, size)], text,
              ["NCHW C NCHW", "NHWC C NHWC", "NCHW16c C NCHW16c", "NHWC C NCHW"], None)


def row_sum(rows, columns):
    loops = {"r": "parallel", "c": "reduction"}
    text = generic([("r", "c"), ("r",)], loops, "%m = arith.addf %a0, %o : f32\n    linalg.yield %m : f32", 1, 1)
    return Op(f"row sum {rows}x{columns}", ["RC", "R"], [(rows, columns), (rows,)], text,
              ["RC R", "CR R", "RC16r R"])


OPS = [
    convolution(3, 112, 32, 3, 2), convolution(3, 112, 64, 7, 2), convolution(64, 56, 64, 1),
    convolution(64, 56, 256, 1), convolution(512, 28, 128, 1), convolution(2048, 7, 512, 1),
    convolution(64, 56, 64, 3), convolution(128, 28, 128, 3), convolution(512, 7, 512, 3),
    convolution(128, 28, 256, 3, 2),
    depthwise(32, 112, 3), depthwise(144, 56, 3, 2), depthwise(576, 14, 3), depthwise(240, 28, 5),
    product(128, 768, 768), product(128, 768, 3072), product(128, 3072, 768), product(512, 512, 512),
    product(1, 2048, 1000), product(1, 4096, 4096),
    batch_product(12, 128, 64, 128), batch_product(12, 128, 128, 64),
    pooling(64, 56), addition(64, 56), addition(256, 14), bias(64, 56),
    row_sum(128, 768), row_sum(768, 3072),
]


def lower(source, folder):
    """The price of @kernel and the module in the LLVM dialect, with that of plain tensors beside it."""
    table, plain, lowered = (folder / f"{source.stem}{end}" for end in (".json", ".plain.mlir", ".llvm.mlir"))
    run_tool("layout-opt", source, f"--layout-print-cost=format=json output={table}",
             "--convert-layout-to-linalg", "-o", plain)
    run_tool("layout-opt", plain, "--layout-linalg-to-llvm=cpu=host", "-o", lowered)
    rows = json.loads(table.read_text())["ops"]["rows"]
    return sum(row["cost"] for row in rows if row["name"] != "linalg.fill"), plain, lowered


def measure(op, repeat, folder):
    """(layouts, price, seconds) of each."""
    rows = []
    for layouts in op.layouts:
        source, times = folder / "op.mlir", folder / "times.json"
        source.write_text(op.function(layouts))
        price, plain, lowered = lower(source, folder)
        run_tool("layout-run", lowered, "--function=kernel", "--threads=1",
                 *[f"--input={path}" for path in make_inputs(plain, folder)], "--warmup=2", f"--repeat={repeat}",
                 f"--json={times}", "--keep-freed-memory")
        rows.append((layouts, price, json.loads(times.read_text())["run_min_seconds"]))
    return rows


def ranks(values):
    """Ranks from 0, equal values sharing the mean of theirs."""
    values = np.asarray(values)
    return np.array([(values < value).sum() + ((values == value).sum() - 1) / 2 for value in values])


def wrong_prices(rows):
    """(how much longer, cheap and slow, dear and fast) of an op's rows, worst first."""
    found = [(a[2] / b[2], a, b) for a in rows for b in rows if a[1] < b[1] and a[2] > LONGER * b[2]]
    return sorted(found, key=lambda each: -each[0])


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --prices", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", default="", help="only ops whose name contains this")
    parser.add_argument("--repeat", type=int, default=20, help="timed runs of each")
    parser.add_argument("--json", type=pathlib.Path, help="write all that was measured to this file")
    args = parser.parse_args(argv)
    measured = {}
    for op in OPS:
        if args.op not in op.name:
            continue
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            try:
                rows = measured[op.name] = measure(op, args.repeat, pathlib.Path(scratch))
            except ToolError as error:
                print(f"{op.name}: {error}", file=sys.stderr)
                return 1
        print(f"{op.name}\n{'  layouts':<44}{'price':>12}{'us':>10}{'price/us':>10}")
        for layouts, price, seconds in sorted(rows, key=lambda row: row[1]):
            print(f"  {layouts:<42}{price:>12}{seconds * 1e6:>10.1f}{price / seconds / 1e6:>10.0f}", flush=True)
    rows = [row for each in measured.values() for row in each]
    if not rows:
        print(f"no op matches '{args.op}'", file=sys.stderr)
        return 1
    correlation = np.corrcoef(ranks([row[1] for row in rows]), ranks([row[2] for row in rows]))[0, 1]
    print(f"\n{len(rows)} pairs of an op and layouts, rank correlation of price and time {correlation:.3f}")
    wrong = {name: wrong_prices(each) for name, each in measured.items()}
    print(f"priced cheaper, yet {LONGER} times as long: {sum(map(len, wrong.values()))}")
    for name, found in wrong.items():
        for longer, cheap, dear in found:
            print(f"  {name}: {cheap[0]} takes {longer:.2f} times as long as {dear[0]}")
    if args.json:
        with whole_file(args.json) as file:
            json.dump(measured, file, indent=1)
    return 0
