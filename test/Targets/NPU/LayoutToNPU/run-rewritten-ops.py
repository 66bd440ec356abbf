# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check ops that run on cores in another form than they are written, in the simulator against numpy: i1 tensors, windows
# before channels, reversed and divided indices, more channels than a command supports, views of uninitialized tensors.
import pathlib
import re
import sys

import numpy as np

from layout_mlir.tools import run_tool
from vendor_model import Program

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(5)
BM1684 = '#npu.target<"BM1684">'


def lower(text, chip=BM1684):
    source, lowered = folder / "source.mlir", folder / "lowered.mlir"
    source.write_text(text)
    target = (f'#layout.npu<chip = {chip}, launch_cost = 256, '
              "flops_per_byte = 8>")
    run_tool("layout-opt", source, f"--layout-to-npu=target={{{target}}}", "-o", lowered)
    return lowered


def check(text, inputs, *wanted, chip=BM1684):
    program = Program(lower(text, chip), folder=folder / "package", simulator_kernels=True)
    for made, result in zip(program.run(*inputs).outputs, wanted, strict=True):
        np.testing.assert_allclose(made, result, rtol=1e-5, atol=1e-5)
    return (folder / "package/program.cpp").read_text()


def draw(*shape, dtype=np.float32):
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(-9, 9, shape).astype(dtype)


def generic(maps, kinds, ins, outs, body):
    loops = ", ".join(f'"{kind}"' for kind in kinds)
    maps = ", ".join(f"affine_map<{each}>" for each in maps)
    read = f"ins({ins}) " if ins else ""
    return (f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}} {read}outs({outs}) "
            f"{{\n{body}\n}}")


SUM = """^bb0(%a: i8, %b: i8):
  %t = arith.addi %a, %b : i8
  linalg.yield %t : i8"""
TWO, PARALLEL = "(a, b) -> (a, b)", ["parallel"] * 4

# i1 inside of a program is stored as bytes: computed, filled, padded, sliced, concatenated.
x, y = draw(8, 32), draw(8, 32)
bits = np.zeros((8, 70), bool)
bits[:, :32], bits[:, 33:65] = x > 0, True
bits[:, 65:69] = [True, False, True, True]
check(f"""func.func @main(%x: tensor<8x32xf32>, %y: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x70xi32>) {{
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %false = arith.constant false
  %e = tensor.empty() : tensor<8x32xi1>
  %c = {generic([TWO, TWO], PARALLEL[:2], "%x : tensor<8x32xf32>", "%e : tensor<8x32xi1>", '''
    ^bb0(%a: f32, %o: i1):
      %p = arith.cmpf ogt, %a, %zero : f32
      linalg.yield %p : i1''')} -> tensor<8x32xi1>
  %e2 = tensor.empty() : tensor<8x32xf32>
  %r = {generic([TWO] * 4, PARALLEL[:2], "%c, %x, %y : tensor<8x32xi1>, tensor<8x32xf32>, tensor<8x32xf32>",
                "%e2 : tensor<8x32xf32>", '''
    ^bb0(%p: i1, %a: f32, %b: f32, %o: f32):
      %q = arith.select %p, %a, %b : f32
      linalg.yield %q : f32''')} -> tensor<8x32xf32>
  %f = linalg.fill ins(%true : i1) outs(%e : tensor<8x32xi1>) -> tensor<8x32xi1>
  %g = tensor.pad %c low[0, 0] high[0, 1] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %false : i1
  }} : tensor<8x32xi1> to tensor<8x33xi1>
  %k = arith.constant dense<[[true, false, true, true], [true, false, true, true], [true, false, true, true],
    [true, false, true, true], [true, false, true, true], [true, false, true, true], [true, false, true, true],
    [true, false, true, true]]> : tensor<8x4xi1>
  %z = arith.constant dense<false> : tensor<8x1xi1>
  %w = tensor.concat dim(1) %g, %f, %k, %z : (tensor<8x33xi1>, tensor<8x32xi1>, tensor<8x4xi1>, tensor<8x1xi1>) -> tensor<8x70xi1>
  %n = tensor.empty() : tensor<8x70xi32>
  %s = {generic([TWO, TWO], PARALLEL[:2], "%w : tensor<8x70xi1>", "%n : tensor<8x70xi32>", '''
    ^bb0(%p: i1, %o: i32):
      %v = arith.extui %p : i1 to i32
      linalg.yield %v : i32''')} -> tensor<8x70xi32>
  return %r, %s : tensor<8x32xf32>, tensor<8x70xi32>
}}
""", [x, y], np.where(x > 0, x, y), bits.astype(np.int32))

# Rows and columns with windows are not channels.
x = draw(1, 48, 48, 16)
check("""func.func @main(%x: tensor<1x48x48x16xf32>) -> tensor<1x24x24x16xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x24x24x16xf32>
  %f = linalg.fill ins(%ninf : f32) outs(%e : tensor<1x24x24x16xf32>) -> tensor<1x24x24x16xf32>
  %r = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %w : tensor<1x48x48x16xf32>, tensor<2x2xf32>) outs(%f : tensor<1x24x24x16xf32>) -> tensor<1x24x24x16xf32>
  return %r : tensor<1x24x24x16xf32>
}
""", [x], x.reshape(1, 24, 2, 24, 2, 16).max(axis=(2, 4)))


def reverse(shape, chip=BM1684):
    """Adds a reversal of the last dim."""
    type = f"tensor<{'x'.join(map(str, shape))}xf32>"
    dims = ", ".join("abcd"[:len(shape)])
    back = f"({dims}) -> ({dims[:-1]}{shape[-1] - 1} - {dims[-1]})"
    body = "^bb0(%i: f32, %o: f32):\n linalg.yield %i : f32"
    return f"""func.func @main(%x: {type}) -> {type} {{
  %e = tensor.empty() : {type}
  %r = {generic([back, f"({dims}) -> ({dims})"], PARALLEL[:len(shape)], f"%x : {type}", f"%e : {type}", body)} -> {type}
  return %r : {type}
}}
"""


SMALL = "#npu.target<npus = 3, bytes_per_npu = 4096, eu_bytes = 128>"
x = draw(1, 4, 128)
check(reverse(x.shape), [x], x[..., ::-1])
x = draw(8, 9, 5, 16)  # tiled
check(reverse(x.shape), [x], x[..., ::-1], chip=SMALL)
x = draw(2, 2, 2, 9000)  # tiled twice
check(reverse(x.shape), [x], x[..., ::-1], chip=SMALL)

# Nearest neighbors, whose indices are computed from the loops.
x = draw(1, 16, 8, 8)
check("""func.func @main(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x16x16xf32> {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<1x16x16x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x16x16x16xf32>) {
  ^bb0(%out: f32):
    %c0 = arith.constant 0 : index
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %h2 = arith.divui %h, %c2 : index
    %w2 = arith.floordivsi %w, %c2 : index
    %n = arith.index_cast %w2 : index to i32
    %m = arith.subi %n, %c1 : i32
    %k = arith.addi %m, %c1 : i32
    %w3 = arith.index_cast %k : i32 to index
    %v = tensor.extract %x[%c0, %c, %h2, %w3] : tensor<1x16x8x8xf32>
    linalg.yield %v : f32
  } -> tensor<1x16x16x16xf32>
  return %r : tensor<1x16x16x16xf32>
}
""", [x], x.repeat(2, axis=2).repeat(2, axis=3))

# A body that reads a slice of its operand: some channels, rows from the third on.
x = draw(1, 16, 10, 12)
check("""func.func @main(%x: tensor<1x16x10x12xf32>) -> tensor<1x8x6x12xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<1x8x6x12xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x8x6x12xf32>) {
  ^bb0(%o: f32):
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %row = arith.addi %h, %c2 : index
    %v = tensor.extract %x[%c0, %c, %row, %w] : tensor<1x16x10x12xf32>
    linalg.yield %v : f32
  } -> tensor<1x8x6x12xf32>
  return %r : tensor<1x8x6x12xf32>
}
""", [x], x[:, :8, 2:8])

# A command of the execution units supports at most 4095 channels.
x, y = draw(1, 5000, 4, 4), draw(1, 5000, 4, 4)
source = check("""func.func @main(%x: tensor<1x5000x4x4xf32>, %y: tensor<1x5000x4x4xf32>) -> tensor<1x5000x4x4xf32> {
  %e = tensor.empty() : tensor<1x5000x4x4xf32>
  %r = linalg.mul ins(%x, %y : tensor<1x5000x4x4xf32>, tensor<1x5000x4x4xf32>) outs(%e : tensor<1x5000x4x4xf32>) -> tensor<1x5000x4x4xf32>
  return %r : tensor<1x5000x4x4xf32>
}
""", [x, y], x * y)
assert len(re.findall(r"okk_bdc_mul\(", source)) == 2, source

# A view of an uninitialized tensor has nothing to copy.
x = draw(1, 4, 8, 6, 6)
check("""func.func @main(%x: tensor<1x4x8x6x6xf32>) -> tensor<1x4x8x6x6xf32> {
  %z = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<4x8x8x1x1xf32>
  %e = tensor.empty() : tensor<1x32x6x6xf32>
  %x2 = tensor.expand_shape %e [[0], [1, 2], [3], [4]] output_shape [1, 4, 8, 6, 6] : tensor<1x32x6x6xf32> into tensor<1x4x8x6x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%x2 : tensor<1x4x8x6x6xf32>) -> tensor<1x4x8x6x6xf32>
  %r = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x4x8x6x6xf32>, tensor<4x8x8x1x1xf32>) outs(%f : tensor<1x4x8x6x6xf32>) -> tensor<1x4x8x6x6xf32>
  return %r : tensor<1x4x8x6x6xf32>
}
""", [x], np.broadcast_to(0.5 * x.sum(2, keepdims=True), x.shape))

# A partially overwritten tensor has the layout of the whole, its slice another one.
a, b, w = draw(3, 5, 1, 2, dtype=np.int8), draw(1, 3, 1, 1, dtype=np.int8), draw(6, 5, 2, 3, dtype=np.int8)
whole = a.copy()
whole[2:3, 0:3, 0:1, 0:1] = b
joined = np.concatenate([np.zeros((3, 5, 2, 2), np.int8), a, whole, a], 2)
padded = np.pad(joined, ((0, 0), (0, 0), (0, 0), (1, 2)), constant_values=2).astype(np.int32)
sums = np.zeros((3, 6, 4, 1), np.int32)
for h in range(4):
    sums[:, :, h, 0] = np.einsum("nchw,ochw->no", padded[:, :, h:h + 2, 0:3], w.astype(np.int32))
check("""func.func @main(%a0: tensor<3x5x1x2xi8>, %a1: tensor<1x3x1x1xi8>, %a2: tensor<6x5x2x3xi8>) -> (tensor<3x6x4x1xi32>) {
  %v1 = tensor.insert_slice %a1 into %a0[2, 0, 0, 0] [1, 3, 1, 1] [1, 1, 1, 1] : tensor<1x3x1x1xi8> into tensor<3x5x1x2xi8>
  %v2 = arith.constant dense<0> : tensor<3x5x2x2xi8>
  %v3 = tensor.concat dim(2) %v2, %a0, %v1, %a0 : (tensor<3x5x2x2xi8>, tensor<3x5x1x2xi8>, tensor<3x5x1x2xi8>, tensor<3x5x1x2xi8>) -> tensor<3x5x5x2xi8>
  %v4 = arith.constant 2 : i8
  %v5 = tensor.pad %v3 low[0, 0, 0, 1] high[0, 0, 0, 2] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %v4 : i8
  } : tensor<3x5x5x2xi8> to tensor<3x5x5x5xi8>
  %v8 = tensor.empty() : tensor<3x6x4x1xi32>
  %v9 = arith.constant 0 : i32
  %v10 = linalg.fill ins(%v9 : i32) outs(%v8 : tensor<3x6x4x1xi32>) -> tensor<3x6x4x1xi32>
  %v11 = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 3]> : tensor<2xi64>} ins(%v5, %a2 : tensor<3x5x5x5xi8>, tensor<6x5x2x3xi8>) outs(%v10 : tensor<3x6x4x1xi32>) -> tensor<3x6x4x1xi32>
  return %v11 : tensor<3x6x4x1xi32>
}
""", [a, b, w], sums, chip="#npu.target<npus = 15, bytes_per_npu = 4096, eu_bytes = 128, max_shape = [3, 5, 4, 2]>")

# A read at the first channel is in the core of a result without channels.
a, b = draw(1, 3, 3, 9, dtype=np.int32), draw(2, 3, 2, 9, dtype=np.int32)
tiles = np.einsum("mkac,nkbc->mnab", a, b)
check("""func.func @main(%a: tensor<1x3x3x9xi32>, %b: tensor<2x3x2x9xi32>) -> (tensor<1x3x3x2xi32>, tensor<1x1x3x2xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x2x3x2xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x2x3x2xi32>) -> tensor<1x2x3x2xi32>
  %m = linalg.mmt4d ins(%a, %b : tensor<1x3x3x9xi32>, tensor<2x3x2x9xi32>) outs(%f : tensor<1x2x3x2xi32>) -> tensor<1x2x3x2xi32>
  %first = arith.constant dense<0> : tensor<2xi32>
  %g = tensor.gather %m[%first] gather_dims([0, 1]) : (tensor<1x2x3x2xi32>, tensor<2xi32>) -> tensor<1x1x3x2xi32>
  %r = tensor.concat dim(1) %g, %m : (tensor<1x1x3x2xi32>, tensor<1x2x3x2xi32>) -> tensor<1x3x3x2xi32>
  return %r, %g : tensor<1x3x3x2xi32>, tensor<1x1x3x2xi32>
}
""", [a, b], np.concatenate([tiles[:, :1], tiles], 1), tiles[:, :1],
      chip="#npu.target<npus = 6, bytes_per_npu = 16384, eu_bytes = 64, banks = 4>")

# Four bytes in a word that spans two dims are not a step of a transfer: they stay bytes.
x = draw(4, 4, 8, 2, 1, dtype=np.int8)
sums = x.sum((0, 2, 4), dtype=np.int8)
check(f"""func.func @main(%x: tensor<4x4x8x2x1xi8>) -> tensor<4xi8> {{
  %zero = arith.constant 0 : i8
  %e = tensor.empty() : tensor<4x2xi8>
  %f = linalg.fill ins(%zero : i8) outs(%e : tensor<4x2xi8>) -> tensor<4x2xi8>
  %s = {generic(["(a, b, c, d, e) -> (a, b, c, d, e)", "(a, b, c, d, e) -> (b, d)"],
                ["reduction", "parallel", "reduction", "parallel", "reduction"], "%x : tensor<4x4x8x2x1xi8>",
                "%f : tensor<4x2xi8>", SUM)} -> tensor<4x2xi8>
  %e1 = tensor.empty() : tensor<4xi8>
  %f1 = linalg.fill ins(%zero : i8) outs(%e1 : tensor<4xi8>) -> tensor<4xi8>
  %r = {generic([TWO, "(a, b) -> (a)"], ["parallel", "reduction"], "%s : tensor<4x2xi8>", "%f1 : tensor<4xi8>", SUM)}
      -> tensor<4xi8>
  return %r : tensor<4xi8>
}}
""", [x], sums.sum(1, dtype=np.int8),
      chip="#npu.target<npus = 1, bytes_per_npu = 4096, eu_bytes = 8, max_stride = 2048>")

# Convolutions without channels: of an image, of a line, with weights and result transposed, with weights as the first
# factor and loops in the order of columns and rows; and one with channels, whose weights are the first operand.
x, w, line, taps = draw(8, 11), draw(3, 2), draw(13), draw(3)
image, weights = draw(1, 3, 7, 6), draw(4, 3, 3, 3)
windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2))
summed = np.einsum("hwyx,yx->hw", windows, w)
ADD = """^bb0(%a: f32, %b: f32, %c: f32):
  %p = arith.mulf %a, %b : f32
  %s = arith.addf %c, %p : f32
  linalg.yield %s : f32"""
text = check(f"""func.func @main(%x: tensor<8x11xf32>, %w: tensor<3x2xf32>, %l: tensor<13xf32>, %t: tensor<3xf32>, %o: tensor<6x10xf32>,
    %i: tensor<1x3x7x6xf32>, %v: tensor<4x3x3x3xf32>)
    -> (tensor<6x10xf32>, tensor<11xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<1x4x5x4xf32>) {{
  %r = linalg.conv_2d ins(%x, %w : tensor<8x11xf32>, tensor<3x2xf32>) outs(%o : tensor<6x10xf32>) -> tensor<6x10xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<11xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<11xf32>) -> tensor<11xf32>
  %m = linalg.conv_1d ins(%l, %t : tensor<13xf32>, tensor<3xf32>) outs(%f : tensor<11xf32>) -> tensor<11xf32>
  %ew = tensor.empty() : tensor<2x3xf32>
  %wt = linalg.transpose ins(%w : tensor<3x2xf32>) outs(%ew : tensor<2x3xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<5x3xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<5x3xf32>) -> tensor<5x3xf32>
  %g = {generic(["(a, b, c, d) -> (a * 2 + c, b * 2 + d)", "(a, b, c, d) -> (d, c)", "(a, b, c, d) -> (b, a)"],
                ["parallel"] * 2 + ["reduction"] * 2, "%x, %wt : tensor<8x11xf32>, tensor<2x3xf32>",
                "%f2 : tensor<5x3xf32>", ADD)} -> tensor<5x3xf32>
  %h = {generic(["(a, b, c, d) -> (c, d)", "(a, b, c, d) -> (b * 2 + d, a * 2 + c)", "(a, b, c, d) -> (a, b)"],
                ["parallel"] * 2 + ["reduction"] * 2, "%wt, %x : tensor<2x3xf32>, tensor<8x11xf32>",
                "%f2 : tensor<5x3xf32>", ADD)} -> tensor<5x3xf32>
  %e4 = tensor.empty() : tensor<1x4x5x4xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32>
  %q = {generic(["(n, f, h, w, c, y, x) -> (f, c, y, x)", "(n, f, h, w, c, y, x) -> (n, c, h + y, w + x)",
                 "(n, f, h, w, c, y, x) -> (n, f, h, w)"], PARALLEL + ["reduction"] * 3,
                "%v, %i : tensor<4x3x3x3xf32>, tensor<1x3x7x6xf32>", "%f4 : tensor<1x4x5x4xf32>",
                ADD)} -> tensor<1x4x5x4xf32>
  return %r, %m, %g, %h, %q : tensor<6x10xf32>, tensor<11xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<1x4x5x4xf32>
}}
""", [x, w, line, taps, summed, image, weights], 2 * summed, np.correlate(line, taps), summed[::2, ::2].T,
             summed[::2, ::2].T,
             np.einsum("nchwyx,fcyx->nfhw", np.lib.stride_tricks.sliding_window_view(image, (3, 3), (2, 3)), weights))
assert text.count("okk_bdc_conv2d(") == 5 and "okk_sim_compute_run" not in text, text

# Tiles and back, and tensors created from numbers and from indices.
x = draw(5, 13)
padded = np.pad(x, ((0, 0), (0, 3)), constant_values=2)
check("""func.func @main(%x: tensor<5x13xf32>) -> (tensor<2x5x8xf32>, tensor<5x13xf32>, tensor<3x4xf32>) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<2x5x8xf32>
  %p = linalg.pack %x padding_value(%two : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [8]
      into %e : tensor<5x13xf32> -> tensor<2x5x8xf32>
  %s = tensor.splat %two : tensor<2x5x8xf32>
  %ea = tensor.empty() : tensor<2x5x8xf32>
  %a = linalg.add ins(%p, %s : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%ea : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %eu = tensor.empty() : tensor<5x13xf32>
  %u = linalg.unpack %a outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [8]
      into %eu : tensor<2x5x8xf32> -> tensor<5x13xf32>
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %k = arith.addi %i, %j : index
    %w = arith.index_cast %k : index to i32
    %v = arith.sitofp %w : i32 to f32
    tensor.yield %v : f32
  } : tensor<3x4xf32>
  return %p, %u, %g : tensor<2x5x8xf32>, tensor<5x13xf32>, tensor<3x4xf32>
}
""", [x], padded.reshape(5, 2, 8).transpose(1, 0, 2), x + 2, np.add.outer(np.arange(3), np.arange(4)).astype(np.float32))
