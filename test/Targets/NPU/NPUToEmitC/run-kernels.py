# RUN: env CXX=%host_cxx %python %s | FileCheck %s
# Check computations in layouts of all modes, by OKKernel functions or kernels: the simulator computes numpy's results
# and reports no error.
import tempfile
from math import erf

import numpy as np

from layout_mlir import npu
from layout_mlir.tools import run_tool

CHIP = "#npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 128>"
random = np.random.default_rng(7)


class Module:
    """Arguments, tensors and ops of one function."""

    def __init__(self):
        self.arguments, self.types, self.body = [], [], []

    def type(self, shape, element, layout):
        shape = "x".join(map(str, [*shape, element]))
        if layout is None:
            return f"memref<{shape}, #npu.memory<system>>"
        return (f"memref<{shape}, #layout.npu_scatter<{layout}, target = {CHIP}>, "
                "#npu.memory<local>>")

    def local(self, name, shape, element, layout):
        self.body.append(f"%{name} = npu.alloc : {self.type(shape, element, layout)}")
        return f"%{name}", self.type(shape, element, layout)

    def read(self, name, shape, element, layout):
        self.arguments.append(f"%{name}_at : {self.type(shape, element, None)}")
        local, type = self.local(name, shape, element, layout)
        self.body.append(f"npu.copy %{name}_at to {local} : {self.type(shape, element, None)} to {type}")
        return local, type

    def write(self, local, shape, element):
        name, type = local
        self.arguments.append(f"{name}_to : {self.type(shape, element, None)}")
        self.body.append(f"npu.copy {name} to {name}_to : {type} to {self.type(shape, element, None)}")

    def fill(self, local, value):
        name, type = local
        self.body.append(f"npu.fill {value} to {name} on dma : {type}")

    def op(self, text, ins, outs):
        names = lambda values: ", ".join(name for name, _ in values)
        types = lambda values: ", ".join(type for _, type in values)
        read = f"ins({names(ins)} : {types(ins)}) " if ins else ""
        region = ""
        if "{{" in text:
            text, region = text.split("{{")
        self.body.append(f"{text} {read}outs({names(outs)} : {types(outs)}) {region}")

    def run(self, *inputs):
        text = (f"func.func @main({', '.join(self.arguments)}) {{\n  %cst = arith.constant -1.0e+30 : f32\n  "
                + "\n  ".join(self.body) + "\n  return\n}\n")
        return npu.Program(run_tool_on(text), simulator_kernels=True).run(*inputs)


def run_tool_on(text):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        return run_tool("layout-opt", file.name, "--npu-assign-addresses")


def floats(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def generic(maps, kinds, body):
    maps = ", ".join(f"affine_map<{text}>" for text in maps)
    kinds = ", ".join(f'"{kind}"' for kind in kinds.split())
    return f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {{{{ {{ {body} }}"


def check(name, result, *wanted, tolerance=1e-5):
    for got, want in zip(result.outputs, wanted, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape, (name, got.dtype, got.shape)
        error = np.max(np.abs(got.astype(np.float64) - want) / (1 + np.abs(want)))
        assert error <= tolerance, (name, error)
    counters = result.counters
    assert 0 < counters["useful_ops"] <= counters["issued_ops"], (name, counters)
    assert 0 < counters["live_bytes"] <= counters["peak_bytes"], (name, counters)
    print(f"{name}: right, {counters['computes']} computations, {counters['broadcast_bytes']} bytes broadcast")


def convolve(x, w, stride, depthwise=False):
    n, _, h, width = x.shape
    k = w.shape[-1]
    rows, columns = (h - k) // stride + 1, (width - k) // stride + 1
    y = np.zeros((n, w.shape[0], rows, columns), np.result_type(x, w))
    for i in range(k):
        for j in range(k):
            part = x[:, :, i:i + stride * rows:stride, j:j + stride * columns:stride]
            y += part * w[:, i, j][:, None, None] if depthwise else np.einsum("nchw,fc->nfhw", part,
                                                                              w[:, :, i, j])
    return y


# Six output channels from core 3 on; weights are in the core of the result, the input comes from all cores.
# CHECK: convolution: right, 1 computations, 3240 bytes broadcast
m = Module()
x = m.read("x", (2, 5, 9, 9), "f32", "aligned, start = 1")
w = m.read("w", (6, 5, 3, 3), "f32", 'compact, start = 3, axes = "CNHW"')
y = m.local("y", (2, 6, 4, 4), "f32", "compact, start = 3")
m.fill(y, "0.0 : f32")
m.op("linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, "
     "dilations = dense<1> : tensor<2xi64>}", [x, w], [y])
m.write(y, (2, 6, 4, 4), "f32")
data, weights = floats(2, 5, 9, 9), floats(6, 5, 3, 3)
check("convolution", m.run(data, weights), convolve(data, weights, 2))

# CHECK: depthwise: right, 1 computations, 0 bytes broadcast
m = Module()
x = m.read("x", (1, 7, 6, 6), "f32", "aligned, start = 2")
w = m.read("w", (7, 3, 3), "f32", 'compact, start = 2, axes = "CHW"')
y = m.local("y", (1, 7, 4, 4), "f32", "aligned, start = 2")
m.fill(y, "0.0 : f32")
m.op("linalg.depthwise_conv_2d_nchw_chw {strides = dense<1> : tensor<2xi64>, "
     "dilations = dense<1> : tensor<2xi64>}", [x, w], [y])
m.write(y, (1, 7, 4, 4), "f32")
data, weights = floats(1, 7, 6, 6), floats(7, 3, 3)
check("depthwise", m.run(data, weights), convolve(data, weights, 1, depthwise=True))

# The window is never written: only its sizes matter.
# CHECK: pooling: right, 4 computations, 0 bytes broadcast
m = Module()
x = m.read("x", (1, 5, 6, 6), "f32", "strided [200, 40, 6, 1], start = 1")
window = m.local("window", (2, 2), "f32", 'compact, start = 0, axes = "HW"')
y = m.local("y", (1, 5, 3, 3), "f32", "aligned, start = 1")
m.fill(y, "-1.0e+30 : f32")
m.op("linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, "
     "dilations = dense<1> : tensor<2xi64>}", [x, window], [y])
m.write(y, (1, 5, 3, 3), "f32")
data = floats(1, 5, 6, 6)
check("pooling", m.run(data), data.reshape(1, 5, 3, 2, 3, 2).max((3, 5)))

# Channels of 3 columns, the last of which is partial.
# CHECK: matmul: right, 1 computations, 112 bytes broadcast
m = Module()
a = m.read("a", (4, 7), "f32", "matrix 3, start = 1")
b = m.read("b", (7, 20), "f32", "matrix 3, start = 2")
c = m.local("c", (4, 20), "f32", "matrix 3, start = 2")
m.fill(c, "0.0 : f32")
m.op("linalg.matmul", [a, b], [c])
m.write(c, (4, 20), "f32")
left, right = floats(4, 7), floats(7, 20)
check("matmul", m.run(left, right), left @ right)

# Rows on the cores, so that their sums are, too.
# CHECK: softmax: right, 11 computations, 0 bytes broadcast
m = Module()
x = m.read("x", (2, 5, 9), "f32", 'compact, start = 1, axes = "NCW"')
most = m.local("most", (2, 5), "f32", 'compact, start = 1, axes = "NC"')
sums = m.local("sums", (2, 5), "f32", 'compact, start = 1, axes = "NC"')
whole, rows = "(a, b, c) -> (a, b, c)", "(a, b, c) -> (a, b)"
m.fill(most, "-1.0e+30 : f32")
m.op(generic([whole, rows], "parallel parallel reduction",
             "^bb0(%i: f32, %o: f32): %r = arith.maximumf %i, %o : f32\n linalg.yield %r : f32"),
     [x], [most])
m.fill(sums, "0.0 : f32")
m.op(generic([rows, whole, rows], "parallel parallel reduction",
             "^bb0(%m: f32, %i: f32, %o: f32): %d = arith.subf %i, %m : f32\n"
             "%e = math.exp %d : f32\n %s = arith.addf %e, %o : f32\n linalg.yield %e, %s : f32, f32"),
     [most], [x, sums])
m.op(generic([rows, whole], "parallel parallel parallel",
             "^bb0(%s: f32, %o: f32): %r = arith.divf %o, %s : f32\n linalg.yield %r : f32"),
     [sums], [x])
m.write(x, (2, 5, 9), "f32")
data = floats(2, 5, 9)
powers = np.exp(data - data.max(2, keepdims=True))
check("softmax", m.run(data), powers / powers.sum(2, keepdims=True))

# Six batches of int8, four per word; sums are i32, and rounded back.
# CHECK: int8 in 4N: right, 2 computations, 1440 bytes broadcast
m = Module()
x = m.read("x", (6, 5, 6, 8), "i8", "aligned, start = 0, pack = n4")
w = m.read("w", (5, 5, 3, 3), "i8", 'compact, start = 1, axes = "CNHW"')
y = m.local("y", (6, 5, 4, 6), "i32", "compact, start = 1")
z = m.local("z", (6, 5, 4, 6), "i8", "aligned, start = 1, pack = n4")
m.fill(y, "0 : i32")
m.op(generic(["(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)", "(n, f, h, w, c, i, j) -> (f, c, i, j)",
              "(n, f, h, w, c, i, j) -> (n, f, h, w)"],
             "parallel parallel parallel parallel reduction reduction reduction",
             "^bb0(%a: i8, %b: i8, %o: i32): %p = arith.extsi %a : i8 to i32\n"
             "%q = arith.extsi %b : i8 to i32\n %m = arith.muli %p, %q : i32\n"
             "%s = arith.addi %m, %o : i32\n linalg.yield %s : i32"), [x, w], [y])
same = "(n, c, h, w) -> (n, c, h, w)"
m.op(generic([same, same], "parallel parallel parallel parallel",
             "^bb0(%i: i32, %o: i8): %k = arith.constant 6 : i32\n %d = arith.shrsi %i, %k : i32\n"
             "%low = arith.constant -128 : i32\n %high = arith.constant 127 : i32\n"
             "%l = arith.maxsi %d, %low : i32\n %h = arith.minsi %l, %high : i32\n"
             "%t = arith.trunci %h : i32 to i8\n linalg.yield %t : i8"), [y], [z])
m.write(z, (6, 5, 4, 6), "i8")
data = random.integers(-128, 128, (6, 5, 6, 8)).astype(np.int8)
weights = random.integers(-128, 128, (5, 5, 3, 3)).astype(np.int8)
exact = convolve(data.astype(np.int32), weights.astype(np.int32), 1)
check("int8 in 4N", m.run(data, weights), np.clip(exact >> 6, -128, 127).astype(np.int8), tolerance=0)

# Half-precision additions are in half precision; functions are computed in f32.
# CHECK: half: right, 1 computations, 0 bytes broadcast
m = Module()
x = m.read("x", (3, 5, 2, 3), "f16", "aligned, start = 3, pack = n2")
y = m.local("y", (3, 5, 2, 3), "f16", "compact, start = 3")
m.op(generic([same, same], "parallel parallel parallel parallel",
             "^bb0(%i: f16, %o: f16): %t = math.tanh %i : f16\n %s = arith.addf %t, %i : f16\n"
             "linalg.yield %s : f16"), [x], [y])
m.write(y, (3, 5, 2, 3), "f16")
data = floats(3, 5, 2, 3, dtype=np.float16)
check("half", m.run(data), np.tanh(data.astype(np.float32)).astype(np.float16) + data, tolerance=1e-3)

# A sum over one channel, to a tensor without dims.
# CHECK: sum: right, 15 computations, 0 bytes broadcast
m = Module()
x = m.read("x", (1, 1, 3, 5), "f32", "compact, start = 2")
y = m.local("y", (1,), "f32", 'compact, start = 2, axes = "C"')
m.fill(y, "2.0 : f32")
m.op(generic([same, "(n, c, h, w) -> (n)"], "parallel reduction reduction reduction",
             "^bb0(%i: f32, %o: f32): %s = arith.addf %i, %o : f32\n linalg.yield %s : f32"), [x], [y])
m.write(y, (1,), "f32")
data = floats(1, 1, 3, 5)
check("sum", m.run(data), 2 + data.sum(keepdims=True).reshape(1))

# Functions of all kinds, against numpy's.
# CHECK: functions: right, 1 computations, 0 bytes broadcast
m = Module()
x = m.read("x", (2, 3, 4, 5), "f32", "aligned, start = 0")
outs = [m.local(f"y{i}", (2, 3, 4, 5), "f32", "aligned, start = 0") for i in range(6)]
m.op(generic([same] * 7, "parallel parallel parallel parallel",
             "^bb0(%i: f32, %a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32):"
             "%s = arith.mulf %i, %i : f32\n %r0 = math.rsqrt %s : f32\n %r1 = math.sqrt %s : f32\n"
             "%r2 = math.erf %i : f32\n %r3 = math.roundeven %i : f32\n"
             "%k = arith.fptosi %r3 : f32 to i32\n %u = math.absi %k : i32\n"
             "%r4 = arith.sitofp %u : i32 to f32\n %j = linalg.index 3 : index\n"
             "%ji = arith.index_cast %j : index to i32\n %jf = arith.sitofp %ji : i32 to f32\n"
             "%less = arith.cmpf olt, %i, %jf : f32\n %r5 = arith.select %less, %jf, %cst : f32\n"
             "linalg.yield %r0, %r1, %r2, %r3, %r4, %r5 : f32, f32, f32, f32, f32, f32"), [x], outs)
for out in outs:
    m.write(out, (2, 3, 4, 5), "f32")
data = 2 * floats(2, 3, 4, 5)
column = np.broadcast_to(np.arange(5, dtype=np.float32), data.shape)
check("functions", m.run(data), 1 / np.abs(data), np.abs(data),
      np.vectorize(erf)(data).astype(np.float32), np.rint(data), np.abs(np.rint(data)),
      np.where(data < column, column, np.float32(-1e30)))

# Views are moved as the viewed elements: collapsed dims, and a slice of the channels.
# CHECK: views: right, 1 computations, 0 bytes broadcast
m = Module()
x = m.read("x", (2, 5, 4, 5), "f32", "compact, start = 3")
m.op("linalg.exp", [x], [x])
rows = "%rows", m.type((2, 5, 20), "f32", 'compact, start = 3, axes = "NCW"')
m.body.append(f"{rows[0]} = npu.view {x[0]} : {x[1]} to {rows[1]}")
part = "%part", m.type((1, 3, 4, 5), "f32", "strided [20, 20, 5, 1], start = 0, offset = 240")
m.body.append(f"{part[0]} = npu.subview {x[0]} [1, 1, 0, 0] [1, 3, 4, 5] [1, 1, 1, 1] : {x[1]} to {part[1]}")
m.write(rows, (2, 5, 20), "f32")
m.write(part, (1, 3, 4, 5), "f32")
data = floats(2, 5, 4, 5)
check("views", m.run(data), np.exp(data).reshape(2, 5, 20), np.exp(data)[1:, 1:4])
