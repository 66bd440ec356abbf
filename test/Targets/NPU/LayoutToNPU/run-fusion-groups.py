# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check chains of ops that exceed local memory and are tiled together in batches, rows or channels, with halos, strides,
# pads and a branch: in the simulator against numpy, with traffic of at most the stated multiple of the bound.
import pathlib
import re
import sys

import numpy as np

from layout_mlir.npu import Program
from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(5)


def draw(*shape, dtype=np.float32):
    return random.integers(-3, 4, shape).astype(dtype)


def conv(x, w, stride=1, pad=0):
    x = np.pad(x.astype(np.int64), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    kh, kw = w.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), (2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwyx,fcyx->nfhw", windows, w.astype(np.int64))


class Text:
    """A function on tensors of one element type, written op by op."""

    def __init__(self, element):
        self.element, self.lines, self.count = element, [], 0

    def type(self, shape, element=None):
        return f"tensor<{'x'.join(map(str, shape))}x{element or self.element}>"

    def add(self, line):
        self.count += 1
        self.lines.append(f"%v{self.count} = {line}")
        return f"%v{self.count}"

    def pad(self, x, shape, by):
        padded = [*shape[:2], shape[2] + 2 * by, shape[3] + 2 * by]
        name = self.add(f"tensor.pad {x} low[0, 0, {by}, {by}] high[0, 0, {by}, {by}] {{\n"
                        f"^bb0(%a: index, %b: index, %c: index, %d: index):\n tensor.yield %zero : {self.element}\n"
                        f"}} : {self.type(shape)} to {self.type(padded)}")
        return name, padded

    def conv(self, x, shape, w, weights, stride):
        made = [shape[0], weights[0], *((s - k) // stride + 1 for s, k in zip(shape[2:], weights[2:]))]
        empty = self.add(f"tensor.empty() : {self.type(made)}")
        fill = self.add(f"linalg.fill ins(%zero : {self.element}) outs({empty} : {self.type(made)}) -> {self.type(made)}")
        strides = f"{{strides = dense<{stride}> : vector<2xi64>}}"
        return self.add(f"linalg.conv_2d_nchw_fchw {strides} ins({x}, {w} : {self.type(shape)}, {self.type(weights)}) "
                        f"outs({fill} : {self.type(made)}) -> {self.type(made)}"), made

    def binary(self, op, x, y, shape):
        empty = self.add(f"tensor.empty() : {self.type(shape)}")
        return self.add(f"linalg.{op} ins({x}, {y} : {self.type(shape)}, {self.type(shape)}) "
                        f"outs({empty} : {self.type(shape)}) -> {self.type(shape)}")


def check(text, inputs, result, wanted, chip, most, groups=1):
    names = "".join(f"%x{i}: {text.type(x.shape)}, " for i, x in enumerate(inputs))[:-2]
    zero = "0" if text.element[0] == "i" else "0.0"
    body = "\n  ".join([f"%zero = arith.constant {zero} : {text.element}", *text.lines])
    source, lowered, remarks = folder / "source.mlir", folder / "lowered.mlir", folder / "remarks.yaml"
    source.write_text(f"func.func @main({names}) -> {text.type(wanted.shape)} {{\n  {body}\n"
                      f"  return {result} : {text.type(wanted.shape)}\n}}\n")
    target = f"#layout.npu<chip = {chip}, launch_cost = 64, flops_per_byte = 8>"
    run_tool("layout-opt", source, f"--layout-to-npu=target={{{target}}}", "-o", lowered, "--remarks-filter=npu",
             "--remark-format=yaml", f"--remarks-output-file={remarks}")
    said = remarks.read_text()
    ran = Program(lowered, folder=folder / "package").run(*inputs)
    np.testing.assert_array_equal(ran.outputs[0], wanted.astype(ran.outputs[0].dtype))
    moved = sum(ran.counters[name] for name in ("bytes_s2l", "bytes_l2s", "bytes_s2s"))
    least = int(re.search(r"Least: *'?(\d+)", said)[1])
    assert said.count("Name:            Group") >= groups, said
    assert least <= moved <= most * least, (least, moved)


CHIP = "#npu.target<npus = 4, bytes_per_npu = {}, eu_bytes = 32>"

for batch, rows, columns, stride, size, most in [(1, 17, 16, 1, 4096, 1.3), (1, 33, 9, 2, 4096, 1.3),
                                                 (4, 10, 12, 1, 8192, 1), (3, 7, 21, 1, 4096, 1)]:
    x, v, w = draw(batch, 3, rows, columns), draw(6, 3, 3, 3), draw(5, 6, 3, 3)
    text = Text("f32")
    padded, shape = text.pad("%x0", list(x.shape), 1)
    y, shape = text.conv(padded, shape, "%x1", v.shape, 1)
    y = text.binary("max", y, y, shape)
    padded, shape = text.pad(y, shape, 1)
    z, shape = text.conv(padded, shape, "%x2", w.shape, stride)
    z = text.binary("add", z, z, shape)
    wanted = 2 * conv(conv(x, v, 1, 1), w, stride, 1)
    check(text, [x, v, w], z, wanted, CHIP.format(size), most)

# A branch around a convolution, whose tiles are needed twice.
x, v = draw(1, 4, 40, 16), draw(4, 4, 3, 3)
text = Text("f32")
y = text.binary("add", "%x0", "%x0", x.shape)
padded, shape = text.pad(y, list(x.shape), 1)
z, shape = text.conv(padded, shape, "%x1", v.shape, 1)
z = text.binary("add", z, y, shape)
check(text, [x, v], z, conv(2 * x, v, 1, 1) + 2 * x, CHIP.format(4096), 1.6)

# Downsampling, upsampling and a cropped and concatenated skip connection, as in U-Net: the fusion group only stores the
# used slice of it.
x, v, w = draw(1, 4, 38, 16), draw(4, 4, 3, 3), draw(4, 8, 3, 3)
up = draw(4, 4, 2, 2)
text = Text("f32")
skip = text.binary("add", "%x0", "%x0", x.shape)
z, shape = text.conv(skip, list(x.shape), "%x1", v.shape, 2)  # 18x7
wide = [1, 4, 37, 15]
empty = text.add(f"tensor.empty() : {text.type(wide)}")
fill = text.add(f"linalg.fill ins(%zero : f32) outs({empty} : {text.type(wide)}) -> {text.type(wide)}")
z = text.add(f"tensor.insert_slice {z} into {fill}[0, 0, 1, 1] [1, 4, 18, 7] [1, 1, 2, 2] : "
             f"{text.type(shape)} into {text.type(wide)}")
z, shape = text.conv(z, wide, "%x2", up.shape, 1)  # 36x14
crop = text.add(f"tensor.extract_slice {skip}[0, 0, 1, 1] [1, 4, 36, 14] [1, 1, 1, 1] : "
                f"{text.type(x.shape)} to {text.type(shape)}")
both = [1, 8, 36, 14]
z = text.add(f"tensor.concat dim(1) {crop}, {z} : ({text.type(shape)}, {text.type(shape)}) -> {text.type(both)}")
z, shape = text.conv(z, both, "%x3", w.shape, 1)
spread = np.zeros(wide, np.int64)
spread[:, :, 1:36:2, 1:15:2] = conv(2 * x, v, 2)
wanted = conv(np.concatenate([2 * x[:, :, 1:37, 1:15], conv(spread, up)], 1), w)
check(text, [x, v, up, w], z, wanted, CHIP.format(4096), 1.8)

# Neither the image nor the weights of a convolution fit: the sum is tiled, and no byte is transferred twice.
x, w = draw(1, 128, 5, 5), draw(32, 128, 3, 3)
text = Text("f32")
z, shape = text.conv("%x0", list(x.shape), "%x1", w.shape, 1)
z = text.binary("add", z, z, shape)
check(text, [x, w], z, 2 * conv(x, w), CHIP.format(4096), 1)

# A transposed convolution of stride 2, as one convolution per remainder of rows and columns: tiles start at even rows,
# so that all four read the same rows.
x, w = draw(1, 4, 26, 8), draw(4, 4, 2, 2)
text = Text("f32")
wide = [1, 4, 52, 16]
empty = text.add(f"tensor.empty() : {text.type(wide)}")
z = text.add(f"linalg.fill ins(%zero : f32) outs({empty} : {text.type(wide)}) -> {text.type(wide)}")
wanted = np.zeros(wide, np.int64)
for i in range(4):
    row, column = divmod(i, 2)
    y, shape = text.conv("%x0", list(x.shape), f"%x{i + 1}", (4, 4, 1, 1), 1)
    z = text.add(f"tensor.insert_slice {y} into {z}[0, 0, {row}, {column}] [1, 4, 26, 8] [1, 1, 2, 2] : "
                 f"{text.type(shape)} into {text.type(wide)}")
    wanted[:, :, row::2, column::2] = conv(x, w[:, :, row : row + 1, column : column + 1])
z = text.binary("add", z, z, wide)
taps = [w[:, :, row : row + 1, column : column + 1] for row in range(2) for column in range(2)]
check(text, [x, *taps], z, 2 * wanted, CHIP.format(4096), 1.005)

# A concatenation after a fusion group, with other readers of channel slices: the group stores its result once, and a
# tensor in system memory, whole or in part, is not moved.
for by, most in [(0, 1.95), (1, 2.25)]:
    x, v, w = draw(1, 32, 16 + 2 * by, 10 + 2 * by), draw(32, 32, 1 + 2 * by, 1 + 2 * by), draw(32, 64, 3, 3)
    text = Text("f32")
    y, shape = text.conv("%x0", list(x.shape), "%x1", v.shape, 1)
    y = text.binary("add", y, y, shape)
    skip = text.add(f"tensor.extract_slice %x0[0, 0, {by}, {by}] [1, 32, 16, 10] [1, 1, 1, 1] : "
                    f"{text.type(x.shape)} to {text.type(shape)}") if by else "%x0"
    both = [1, 64, 16, 10]
    z = text.add(f"tensor.concat dim(1) {skip}, {y} : ({text.type(shape)}, {text.type(shape)}) -> {text.type(both)}")
    z, shape = text.conv(z, both, "%x2", w.shape, 1)
    wanted = conv(np.concatenate([x[:, :, by : by + 16, by : by + 10], 2 * conv(x, v)], 1), w)
    check(text, [x, v, w], z, wanted, CHIP.format(4096), most)
