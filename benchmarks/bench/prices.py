"""./dev bench --prices: whether ops with higher prices run longer.

Some ops of networks are written in several layouts each, as functions on tensors with layouts. Each is priced by
`layout-print-cost` and timed on one thread, or `--times` reads its time from a file that `--json` wrote. The output is
the rank correlation over all pairs of an op and its layouts, and every pair of layouts of an op in which the cheaper
one runs more than 1.3 times as long as the other. Such pairs are timed again first and the minimum counts, because
other programs disturb times.

`--programs` compares whole decisions of networks instead; `--programs --help` lists its options.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile
from dataclasses import dataclass

from layout_mlir.tools import ToolError, run_tool, whole_file

from . import program_prices
from .kernels import make_inputs

# A price is wrong if its layouts run this many times as long as layouts with a higher price.
LONGER = 1.3
TARGET = "#layout.cpu<lanes = 16>"
DATA, WEIGHTS, CHANNEL_WEIGHTS = "NCHW", "OIHW", "CHW"


@dataclass
class Op:
    """An op on tensors, results last: the letters of their dims, and their shapes. `text` is the op, with {0}, {1}, ..
    for the types and %0, %1, .. for the operands. Each entry of `layouts` has one word per tensor."""
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

    def function(self, layouts, name="kernel"):
        *inputs, result = self.types(layouts)
        arguments = ", ".join(f"%{i}: {kind}" for i, kind in enumerate(inputs))
        init = "%e" if self.start is None else "%init"
        fill = "" if self.start is None else (
            f"  %start = arith.constant {self.start} : f32\n"
            f"  %init = linalg.fill ins(%start : f32) outs(%e : {result}) -> {result}\n")
        body = self.text.format(*inputs, result).replace("%init", init)
        return (f"func.func @{name}({arguments}) -> {result} {{\n"
                f"  %e = tensor.empty() : {result}\n{fill}  %r = {body}\n"
                f"  return %r : {result}\n}}\n")


def generic(maps, iterators, body, operands, result):
    """Returns a linalg.generic; its maps are written with the letters of the loops."""
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


def price(ops, cpu, folder):
    """Returns {op: {layouts: price}} on a processor."""
    pairs = [(op, layouts) for op in ops for layouts in op.layouts]
    source, table = folder / "ops.mlir", folder / "prices.json"
    source.write_text(f"module attributes {{layout.target = {TARGET}}} {{\n" + "".join(
        op.function(layouts, f"kernel{i}") for i, (op, layouts) in enumerate(pairs)) + "}\n")
    run_tool("layout-opt", source, f"--layout-set-target=cpu={cpu}",
             f"--layout-print-cost=format=json output={table}", "-o", "/dev/null")
    rows = [row for row in json.loads(table.read_text())["ops"]["rows"] if row["name"] != "linalg.fill"]
    prices = {op.name: {} for op in ops}
    for (op, layouts), row in zip(pairs, rows, strict=True):
        prices[op.name][layouts] = row["cost"]
    return prices


def measure(op, layouts, cpu, repeat):
    """Returns the microseconds of the fastest run."""
    with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
        folder = pathlib.Path(scratch)
        source, plain, lowered, times = (
            folder / name for name in ("op.mlir", "plain.mlir", "llvm.mlir", "times.json"))
        source.write_text(op.function(layouts))
        run_tool("layout-opt", source, "--convert-layout-to-linalg", "-o", plain)
        run_tool("layout-opt", plain, f"--layout-linalg-to-llvm=cpu={cpu}", "-o", lowered)
        run_tool("layout-run", lowered, "--function=kernel", "--threads=1",
                 *[f"--input={path}" for path in make_inputs(plain, folder)], "--warmup=2", f"--repeat={repeat}",
                 f"--json={times}", "--keep-freed-memory")
        return round(json.loads(times.read_text())["run_min_seconds"] * 1e6, 1)


def measure_op(op, prices, cpu, repeat, again):
    """Returns {layouts: microseconds of the fastest run}. Layouts whose times contradict the prices are timed again, up
    to `again` times."""
    times = {layouts: measure(op, layouts, cpu, repeat) for layouts in op.layouts}
    for _ in range(again):
        wrong = wrong_prices(prices, times)
        for layouts in dict.fromkeys(layouts for _, *pair in wrong for layouts in pair):
            times[layouts] = min(times[layouts], measure(op, layouts, cpu, repeat))
    return times


def wrong_prices(prices, times):
    """Returns the wrong prices of an op as [(ratio of times, cheap layouts, expensive layouts)], worst first."""
    found = [(times[a] / times[b], a, b) for a in times for b in times
             if prices[a] < prices[b] and times[a] > LONGER * times[b]]
    return sorted(found, key=lambda each: -each[0])


def main(argv):
    if "--programs" in argv:
        return program_prices.main([each for each in argv if each != "--programs"])
    parser = argparse.ArgumentParser(prog="./dev bench --prices", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", default="", help="only ops whose name contains this")
    parser.add_argument("--repeat", type=int, default=20, help="timed runs of each (default: %(default)s)")
    parser.add_argument("--again", type=int, default=3, metavar="TIMES",
                        help="how often what seems wrong is timed again (default: %(default)s)")
    parser.add_argument("--cpu", default="host",
                        help="processor as for layout-set-target, with --times the one that was timed (default: %(default)s)")
    parser.add_argument("--times", type=pathlib.Path, metavar="FILE", help="what --json wrote, in place of new times; layouts that it lacks are only priced")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all that was measured to this file")
    args = parser.parse_args(argv)
    ops = [op for op in OPS if args.op in op.name]
    if not ops:
        print(f"no op matches '{args.op}'", file=sys.stderr)
        return 1
    times = json.loads(args.times.read_text()) if args.times else {}
    try:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            prices = price(ops, args.cpu, pathlib.Path(scratch))
        for op in ops:
            if not args.times:
                times[op.name] = measure_op(op, prices[op.name], args.cpu, args.repeat, args.again)
            print(f"{op.name}\n{'  layouts':<44}{'price':>12}{'us':>10}{'price/us':>10}")
            for layouts, cost in sorted(prices[op.name].items(), key=lambda pair: pair[1]):
                each = times[op.name].get(layouts)
                timed = f"{'-':>10}{'-':>10}" if each is None else f"{each:>10.1f}{cost / each:>10.0f}"
                print(f"  {layouts:<42}{cost:>12}{timed}", flush=True)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    pairs = [(prices[op.name][layouts], each) for op in ops for layouts, each in times[op.name].items()]
    correlation = program_prices.correlate(*zip(*pairs))
    print(f"\n{len(pairs)} pairs of an op and layouts, rank correlation of price and time {correlation:.3f}")
    wrong = [(op.name, *each) for op in ops for each in wrong_prices(prices[op.name], times[op.name])]
    print(f"priced cheaper, yet {LONGER} times as long: {len(wrong)}")
    for name, longer, cheap, dear in wrong:
        print(f"  {name}: {cheap} takes {longer:.2f} times as long as {dear}")
    if args.json:
        with whole_file(args.json) as file:
            file.write(json.dumps({op.name: times[op.name] for op in ops}, indent=1) + "\n")
    return 0
