"""./dev bench --target: the machine parameters of this CPU, and measured conversion costs compared with their prices.

Measures the parameters of `#layout.cpu` and prints them as an attribute that can be pasted. The unit of all costs is
the time in which a plain copy of the same bytes moves one byte, so every conversion runs alternately with such a copy,
in one process.

Then a dozen conversions are timed and priced: `priced` is the cost by `layout-print-cost` under the measured target,
`measured` is the time in the same unit. Both are divided by the bytes moved, so 1.00 is a plain copy.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

import numpy as np

from layout_mlir.run import positive
from layout_mlir.tools import ToolError, run_tool, whole_file

from .kernels import KERNELS, read_inputs

CHANNELS = "NCHW"
LINE_FILE = "/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size"
# From, to, shape. Letters are those of #layout.blocked; "!" states that padding is zero. Comments name the contiguous
# segments that both sides share.
CONVERSIONS = [
    ("NCHW", "NCHW16c", (1, 64, 56, 56)),  # single elements
    ("NCHW16c", "NCHW", (1, 64, 56, 56)),
    ("NCHW", "NCHW16c", (16, 64, 56, 56)),  # single elements, larger than the caches
    ("NCHW", "NHWC", (1, 64, 56, 56)),
    ("NHWC", "NCHW", (1, 64, 56, 56)),
    ("NHWC", "NCHW16c", (1, 64, 56, 56)),  # 16 elements: whole cache lines
    ("NCHW16c", "NHWC", (1, 64, 56, 56)),
    ("NCHW16c", "NCHW8c", (1, 64, 56, 56)),  # 8 elements: half cache lines
    ("NCHW16c", "NCHW4c", (1, 64, 56, 56)),  # 4 elements
    ("NCHW", "NCHW16c!", (1, 61, 56, 56)),  # the last tile is padded
    ("NCHW16c", "NCHW", (1, 61, 56, 56)),
    ("NCHW16c", "NCHW16c!", (1, 61, 56, 56)),  # only padding
    ("NCHW", "NCHW16c16n!", (509, 509, 3, 3)),  # weights
    ("NCHW8c", "NCHW12c", (1, 64, 56, 56)),  # tiles that do not nest: element by element
]
STRIDED = [0, 1, 3, 4]  # the conversions that calibrate strided_percent
BEYOND = 2  # the conversion whose copy measures memory
FLOPS = ("conv3x3_blocked", 231.2e6)
# The same convolution with 60 of 64 channels, with a mask.
MASKED = ("conv3x3_masked", 60 / 64 * 231.2e6)


def is_plain(layout):
    return layout == CHANNELS


def attribute(layout):
    text = f'#layout.blocked<"{CHANNELS}" to "{layout.rstrip("!")}">'
    return f"#layout.padded<{text}, zero>" if layout.endswith("!") else text


def stored_shape(layout, shape):
    """Returns the extents of the stored axes of a blocked layout, from its letters."""
    layout, parts, digits = layout.rstrip("!"), [], ""
    for letter in layout:
        if letter.isdigit():
            digits += letter
        else:
            parts.append((letter, int(digits) if digits else None))
            digits = ""
    tiles = {}
    for letter, tile in parts:
        if tile:
            tiles[letter.upper()] = tiles.get(letter.upper(), 1) * tile
    sizes = dict(zip(CHANNELS, shape))
    return tuple(tile or -(-sizes[letter] // tiles.get(letter, 1)) for letter, tile in parts)


def tensor(shape, layout=CHANNELS):
    encoding = "" if is_plain(layout) else ", " + attribute(layout)
    return f"tensor<{'x'.join(map(str, shape))}xf32{encoding}>"


def write_conversion(source, dest, shape):
    """Returns a module whose @kernel maps the storage of `source` to that of `dest`."""
    taken, given = tensor(stored_shape(source, shape)), tensor(stored_shape(dest, shape))
    lines, value, result = [], "%s", "%y"
    if not is_plain(source):
        lines.append(f"%x = layout.storage_view %s : {taken} to {tensor(shape, source)}")
        value = "%x"
    lines.append(f"%y = layout.convert {value} : {tensor(shape, source)} to {tensor(shape, dest)}")
    if not is_plain(dest):
        lines.append(f"%r = layout.storage_view %y : {tensor(shape, dest)} to {given}")
        result = "%r"
    body = "\n  ".join(lines)
    return (f"func.func @kernel(%s: {taken}) -> {given} {{\n  {body}\n"
            f"  return {result} : {given}\n}}\n")


def write_copy(shape):
    kind = tensor(shape)
    return (f"func.func @kernel(%s: {kind}) -> {kind} {{\n  %e = tensor.empty() : {kind}\n"
            f"  %r = linalg.copy ins(%s : {kind}) outs(%e : {kind}) -> {kind}\n"
            f"  return %r : {kind}\n}}\n")


class Bench:
    """Lowers and runs modules in a scratch folder."""

    def __init__(self, folder, repeat):
        self.folder, self.repeat = pathlib.Path(folder), repeat

    def lower(self, name, text, *options):
        source, lowered = self.folder / f"{name}.in.mlir", self.folder / f"{name}.mlir"
        source.write_text(text)
        run_tool("layout-opt", source, "--convert-layout-to-linalg",
                 "--layout-linalg-to-llvm" + "".join(options), "-o", lowered)
        return lowered

    def run(self, shapes, *modules):
        """Returns the median seconds of each module; the modules run alternately."""
        inputs, generator = [], np.random.default_rng(0)
        for number, shape in enumerate(shapes):
            inputs.append(self.folder / f"{number}.npy")
            np.save(inputs[-1], generator.standard_normal(shape).astype(np.float32))
        times = self.folder / "times.json"
        run_tool("layout-run", *modules, "--function=kernel", "--threads=1", *[f"--input={path}" for path in inputs],
                 "--warmup=2", f"--repeat={self.repeat}", f"--json={times}")
        return [json.loads(line)["run_median_seconds"] for line in times.read_text().splitlines()]

    def time_conversion(self, source, dest, shape):
        """Returns the seconds of a conversion, and the seconds in which a plain copy reads or writes one byte."""
        stored = stored_shape(source, shape)
        copy, convert = self.run([stored], self.lower("copy", write_copy(stored)),
                                 self.lower("convert", write_conversion(source, dest, shape)))
        return convert, copy / (2 * 4 * int(np.prod(stored)))

    def price(self, target, source, dest, shape):
        """Returns the row of layout-print-cost for a conversion."""
        module, table = self.folder / "price.mlir", self.folder / "price.json"
        module.write_text(write_conversion(source, dest, shape))
        run_tool("layout-opt", module, "--layout-print-cost=" +
                 f"target={{{target}}} format=json output={table}", "-o", self.folder / "ignored.mlir")
        return json.loads(table.read_text())["conversions"]["rows"][0]

    def flops_per_second(self, kernel=FLOPS, options=""):
        """Returns the floating-point operations per second of a blocked convolution, `kernel` = (file name,
        operations), lowered with `options` of the pipeline."""
        name, flops = kernel
        path = KERNELS / f"{name}.mlir"
        shapes = [shape for shape, _ in read_inputs(path.read_text())]
        return flops / self.run(shapes, self.lower("flops", path.read_text(), options))[0]


def measure_line():
    path = pathlib.Path(LINE_FILE)
    return int(path.read_text()) if path.exists() else 64


def weight(seconds, node, row):
    """Returns the time of a conversion in percent of a plain copy of the bytes in `row`; such a copy moves one byte in
    `node` seconds."""
    return 100 * seconds / node / (row["bytes_read"] + row["bytes_written"])


def calibrate(bench, lanes, timed):
    """Returns the measured parameters by name."""
    line = measure_line()
    plain = f'#layout.cpu<lanes = {lanes}>'
    rows = [bench.price(plain, *case) for case in CONVERSIONS]
    weights = [weight(*time, row) for time, row in zip(timed, rows)]
    # A conversion in segments of one element has (line - 4) / (line - 1) of the extra cost of single bytes.
    single = statistics.median(weights[i] for i in STRIDED)
    strided = 100 + (single - 100) * (line - 1) / (line - 4)
    # Arithmetic is compared with memory, not with a cache.
    node = timed[BEYOND][1]
    vectors = bench.flops_per_second()
    scalars = bench.flops_per_second(options="=target={#layout.cpu<lanes = 16, vector_bits = 0>}")
    return {
        "lanes": lanes,
        "line_bytes": line,
        "strided_percent": max(100, round(strided)),
        "flops_per_byte": max(1, round(vectors * node)),
        "scalar_percent": max(100, round(100 * vectors / scalars)),
        "mask_percent": max(100, round(100 * vectors / bench.flops_per_second(MASKED))),
    }


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --target", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, default=16, help="elements of one inner tile")
    parser.add_argument("--repeat", type=int, default=50, help="timed runs of each")
    parser.add_argument("--times", type=positive, default=1, help="measure all of it so often, and take the median of each parameter")
    parser.add_argument("--json", type=pathlib.Path, help="write all that was measured to this file")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
        bench = Bench(scratch, args.repeat)
        try:
            found = []
            for _ in range(args.times):
                timed = [bench.time_conversion(*case) for case in CONVERSIONS]
                found.append(calibrate(bench, args.lanes, timed))
            parameters = {name: statistics.median_low(each[name] for each in found) for name in found[0]}
            target = "#layout.cpu<" + ", ".join(
                f"{name} = {value}" for name, value in parameters.items()) + ">"
            rows = [bench.price(target, *case) for case in CONVERSIONS]
        except ToolError as error:
            print(error, file=sys.stderr)
            return 1
    print(target)
    print(f"\n{'conversion':<44}{'runs':>6}{'MB':>8}{'ms':>9}{'priced':>8}{'measured':>10}")
    for (source, dest, shape), (seconds, node), row in zip(CONVERSIONS, timed, rows):
        moved = row["bytes_read"] + row["bytes_written"]
        name = f"{source} -> {dest} {'x'.join(map(str, shape))}"
        print(f"{name:<44}{row['run_bytes']:>6}{moved / 1e6:>8.2f}{seconds * 1e3:>9.3f}"
              f"{row['cost'] / moved:>8.2f}{seconds / node / moved:>10.2f}")
    if args.json:
        with whole_file(args.json) as file:
            file.write(json.dumps({
                "target": target, "parameters": parameters,
                "conversions": [{"from": source, "to": dest, "shape": shape, "seconds": seconds,
                                 "unit_seconds": node, **row}
                                for (source, dest, shape), (seconds, node), row
                                in zip(CONVERSIONS, timed, rows)]}, indent=2) + "\n")
    return 0
