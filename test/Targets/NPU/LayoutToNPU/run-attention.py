# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check attention in the simulator against NumPy; the matrix for row sums stays in local memory if the program fits.
# CHECK: 9 programs, none with a kernel
import pathlib
import re
import sys

import numpy as np

from layout_mlir.tools import run_tool
from vendor_model import Program

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(31)
SMALL = "#npu.target<npus = 4, bytes_per_npu = {}, eu_bytes = 32>"


def tensor(*shape):
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


class Text:
    """A function, op by op."""

    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, text):
        self.count += 1
        self.lines.append(f"  %{self.count} = {text}")
        return f"%{self.count}"

    def constant(self, value):
        words = value.astype("<f4").tobytes().hex().upper()
        return self.add(f'arith.constant dense<"0x{words}"> : {tensor(*value.shape)}')

    def number(self, value):
        text = value if isinstance(value, str) else f"{value:e}"
        return self.add(f"arith.constant {text} : f32")

    def fill(self, value, *shape):
        kind = tensor(*shape)
        empty = self.add(f"tensor.empty() : {kind}")
        return self.add(f"linalg.fill ins({self.number(value)} : f32) outs({empty} : {kind}) -> {kind}")

    def loops(self, inputs, out, body, reduces=False):
        """Adds a loop nest; `inputs` are (value, shape, dims); the result has the shape `out`, without the last dim if
        it is reduced."""
        rank = len(out) + reduces
        kinds = ['"parallel"'] * len(out) + ['"reduction"'] * reduces
        made = tensor(*out)
        init = self.fill(body[1], *out) if reduces else self.add(f"tensor.empty() : {made}")
        dims = ", ".join(f"d{i}" for i in range(rank))
        maps = [f"affine_map<({dims}) -> ({', '.join(f'd{d}' for d in each[2])})>" for each in inputs]
        maps.append(f"affine_map<({dims}) -> ({', '.join(f'd{d}' for d in range(len(out)))})>")
        arguments = ", ".join(f"%x{i}: f32" for i in range(len(inputs)))
        return self.add(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(kinds)}]}} "
            f"ins({', '.join(each[0] for each in inputs)} : {', '.join(tensor(*each[1]) for each in inputs)}) "
            f"outs({init} : {made}) {{\n    ^bb0({arguments}, %o: f32):\n      {body[0]}\n"
            f"      linalg.yield %y : f32\n  }} -> {made}")

    def product(self, x, y, rows, inner, columns, batch=()):
        name = "batch_matmul" if batch else "matmul"
        made = tensor(*batch, rows, columns)
        return self.add(f"linalg.{name} ins({x}, {y} : {tensor(*batch, rows, inner)}, {tensor(*batch, inner, columns)})"
                        f" outs({self.fill(0.0, *batch, rows, columns)} : {made}) -> {made}")

    def transpose(self, x, shape, order):
        made = tensor(*(shape[d] for d in order))
        empty = self.add(f"tensor.empty() : {made}")
        return self.add(f"linalg.transpose ins({x} : {tensor(*shape)}) outs({empty} : {made}) permutation = {order}")


def check(chip, tokens, width, heads, cut, most=None):
    """Checks one program, which transfers at most `most` times the lower bound; `cut` means slices of one product."""
    head = width // heads
    x = random.standard_normal((tokens, width)).astype(np.float32)
    weights = [(random.standard_normal((width, width)) / width**0.5).astype(np.float32) for _ in range(4)]
    bias = random.standard_normal(3 * width).astype(np.float32)
    text = Text()
    rows, all_dims = (tokens, width), [0, 1]
    total = text.loops([("%x", rows, all_dims)], (tokens,), ("%y = arith.addf %o, %x0 : f32", 0.0), True)
    scale = text.number(float(width))
    mean = text.loops([(total, (tokens,), [0])], (tokens,), (f"%y = arith.divf %x0, {scale} : f32",))
    centered = text.loops([("%x", rows, all_dims), (mean, (tokens,), [0])], rows,
                          ("%y = arith.subf %x0, %x1 : f32",))
    squares = text.loops([(centered, rows, all_dims)], (tokens,),
                         ("%s = arith.mulf %x0, %x0 : f32\n      %y = arith.addf %o, %s : f32", 0.0), True)
    least = text.number(1e-6)
    factor = text.loops([(squares, (tokens,), [0])], (tokens,), (
        f"%a = arith.divf %x0, {scale} : f32\n      %b = arith.addf %a, {least} : f32\n"
        "      %y = math.rsqrt %b : f32",))
    normed = text.loops([(centered, rows, all_dims), (factor, (tokens,), [0])], rows,
                        ("%y = arith.mulf %x0, %x1 : f32",))
    add = ("%y = arith.addf %x0, %x1 : f32",)
    parts = []
    if cut:
        whole = (tokens, 3 * width)
        product = text.product(normed, text.constant(np.concatenate(weights[:3], 1)), tokens, width, 3 * width)
        sums = text.loops([(product, whole, all_dims), (text.constant(bias), (3 * width,), [1])], whole, add)
        shape = (tokens, 3, heads, head)
        split = text.add(f"tensor.expand_shape {sums} [[0], [1, 2, 3]] output_shape {list(shape)} : "
                         f"{tensor(*whole)} into {tensor(*shape)}")
        ordered = text.transpose(split, shape, [1, 2, 0, 3])
        for i in range(3):
            parts.append(text.add(
                f"tensor.extract_slice {ordered}[{i}, 0, 0, 0] [1, {heads}, {tokens}, {head}] [1, 1, 1, 1] : "
                f"{tensor(3, heads, tokens, head)} to {tensor(heads, tokens, head)}"))
    else:
        for i in range(3):
            product = text.product(normed, text.constant(weights[i]), tokens, width, width)
            part = text.constant(bias[i * width:(i + 1) * width])
            sums = text.loops([(product, rows, all_dims), (part, (width,), [1])], rows, add)
            shape = (tokens, heads, head)
            split = text.add(f"tensor.expand_shape {sums} [[0], [1, 2]] output_shape {list(shape)} : "
                             f"{tensor(*rows)} into {tensor(*shape)}")
            parts.append(text.transpose(split, shape, [1, 0, 2]))
    q, k, v = parts
    keys = text.transpose(k, (heads, tokens, head), [0, 2, 1])
    square = (heads, tokens, tokens)
    scores = text.product(q, keys, tokens, head, tokens, (heads,))
    top = text.loops([(scores, square, [0, 1, 2])], square[:2],
                     ("%y = arith.maximumf %o, %x0 : f32", "0xFF800000"), True)
    powers = text.loops([(scores, square, [0, 1, 2]), (top, square[:2], [0, 1])], square,
                        ("%s = arith.subf %x0, %x1 : f32\n      %y = math.exp %s : f32",))
    sums = text.loops([(powers, square, [0, 1, 2])], square[:2], ("%y = arith.addf %o, %x0 : f32", 0.0), True)
    shares = text.loops([(powers, square, [0, 1, 2]), (sums, square[:2], [0, 1])], square,
                        ("%y = arith.divf %x0, %x1 : f32",))
    mixed = text.product(shares, v, tokens, tokens, head, (heads,))
    back = text.transpose(mixed, (heads, tokens, head), [1, 0, 2])
    joined = text.add(f"tensor.collapse_shape {back} [[0], [1, 2]] : {tensor(tokens, heads, head)} into "
                      f"{tensor(*rows)}")
    out = text.product(joined, text.constant(weights[3]), tokens, width, width)
    source, lowered, remarks = folder / "source.mlir", folder / "lowered.mlir", folder / "remarks.yaml"
    source.write_text(f"func.func @main(%x: {tensor(*rows)}) -> {tensor(*rows)} {{\n" + "\n".join(text.lines)
                      + f"\n  return {out} : {tensor(*rows)}\n}}\n")
    run_tool("layout-opt", source, f"--layout-to-npu=target={{#layout.npu<chip = {chip}>}}", "-o", lowered,
             "--remarks-filter=npu", "--remark-format=yaml", f"--remarks-output-file={remarks}")
    result = Program(lowered, folder=folder / "package").run(x)

    exact = x.astype(np.float64)
    normed = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-6)
    q, k, v = [(normed @ w + b).reshape(tokens, heads, head).transpose(1, 0, 2)
               for w, b in zip(weights, bias.reshape(3, width))]
    scores = q @ k.transpose(0, 2, 1)
    powers = np.exp(scores - scores.max(2, keepdims=True))
    mixed = powers / powers.sum(2, keepdims=True) @ v
    wanted = mixed.transpose(1, 0, 2).reshape(rows) @ weights[3]
    np.testing.assert_allclose(result.outputs[0], wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())
    moved = sum(result.counters[name] for name in ("bytes_s2l", "bytes_l2s", "bytes_s2s"))
    least = int(re.search(r"Least: *'?(\d+)", remarks.read_text()).group(1))
    print(f"{chip}, {tokens} tokens, {width} wide, {heads} heads: {moved / least:.3f} of {least}")
    assert moved >= least and (most is None or moved <= most * least), (moved, least)


programs = [(SMALL.format(65536), 5, 32, 4, False, 1.25), (SMALL.format(65536), 5, 32, 4, True, 1.25),
            (SMALL.format(65536), 1, 64, 2, True, 1.25), (SMALL.format(8192), 13, 48, 3, True, None),
            (SMALL.format(6144), 7, 40, 5, False, None), (SMALL.format(16384), 9, 6, 3, True, None),
            ('#npu.target<"BM1684">', 9, 512, 8, True, 1.1), ('#npu.target<"BM1684X">', 17, 512, 8, False, 1.1),
            ('#npu.target<"BM1688">', 3, 256, 4, True, 1.25)]
for each in programs:
    check(*each)
print(f"{len(programs)} programs, none with a kernel")
