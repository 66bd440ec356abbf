# RUN: rm -rf %t && mkdir -p %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check that integers that f32 represents exactly run as OKKernel functions, with the bits of NumPy's 64-bit integers.
# CHECK: BM1684: 16 of functions, 2 of kernels
# CHECK: BM1684X: 16 of functions, 2 of kernels
# CHECK: BM1688: 16 of functions, 2 of kernels
import pathlib
import re
import sys

import numpy as np

from layout_mlir.tools import run_tool
from vendor_model import Program

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(11)
I8, I32, I64 = np.int8, np.int32, np.int64
NAMES = {np.dtype(I8): "i8", np.dtype(I32): "i32"}


def type_of(array):
    return f"tensor<{'x'.join(map(str, [*array.shape, NAMES[array.dtype]]))}>"


def draw(*shape, low=-128, high=127):
    return random.integers(low, high, shape, endpoint=True).astype(I8)


def constant(name, array):
    return f'  %{name} = arith.constant dense<"0x{array.tobytes().hex().upper()}"> : {type_of(array)}\n'


def filled(shape, number=0, name="f", element="i32"):
    text = f"tensor<{'x'.join(map(str, shape))}x{element}>"
    return (f"  %{name}k = arith.constant {number} : {element}\n  %{name}e = tensor.empty() : {text}\n"
            f"  %{name} = linalg.fill ins(%{name}k : {element}) outs(%{name}e : {text}) -> {text}\n")


def pointwise(result, values, out, body, maps=None):
    """Returns a generic op; `body` defines %v from %a0, %a1 .."""
    body = re.sub(r"%(?!a\d|v\b)(\w+)", r"%of_\1", body)
    rank = out.ndim
    whole = f"({', '.join(f'd{i}' for i in range(rank))})"
    affine = ", ".join(f"affine_map<{whole} -> {text}>" for text in [*(maps or [whole] * len(values)), whole])
    kinds = ", ".join(['"parallel"'] * rank)
    types = ", ".join(type_of(array) for _, array in values)
    arguments = ", ".join(f"%a{i}: {NAMES[array.dtype]}" for i, (_, array) in enumerate(values))
    element = NAMES[out.dtype]
    return (f"  %{result}e = tensor.empty() : {type_of(out)}\n  %{result} = linalg.generic {{indexing_maps = [{affine}], "
            f"iterator_types = [{kinds}]}} ins({', '.join('%' + name for name, _ in values)} : {types}) outs(%{result}e : "
            f"{type_of(out)}) {{\n  ^bb0({arguments}, %o: {element}):\n    {body}\n    linalg.yield %v : {element}\n  }} -> "
            f"{type_of(out)}\n")


REQUANTIZE = """%s = arith.addi %a0, %a1 : i32
    %ws = arith.extsi %s : i32 to i64
    %wm = arith.extsi %a2 : i32 to i64
    %p = arith.muli %ws, %wm : i64
    %half = arith.constant {half} : i64
    %r = arith.addi %p, %half : i64
    %by = arith.constant {shift} : i64
    %q = arith.shrsi %r, %by : i64
    %low = arith.constant {low} : i64
    %m = arith.maxsi %q, %low : i64
    %high = arith.constant {high} : i64
    %n = arith.minsi %m, %high : i64
    %v = arith.trunci %n : i64 to i8"""


def requantize(sums, bias, m, low=-128, high=127, shift=24):
    wide = (sums.astype(I64) + bias.astype(I64)[:, None, None]) * m.astype(I64)[:, None, None]
    return np.clip((wide + (1 << shift - 1)) >> shift, low, high).astype(I8)


cases = []


def add_convolutions():
    for n, i, o, size, k, stride, low in [(2, 5, 67, 9, 3, 2, 0), (1, 70, 3, 4, 1, 1, -128), (3, 3, 9, 6, 2, 1, -128)]:
        x, w = draw(n, i, size, size + 1), draw(o, i, k, k)
        out = [(extent - k) // stride + 1 for extent in (size, size + 1)]
        sums = np.zeros((n, o, *out), I64)
        for p in range(k):
            for q in range(k):
                part = x[:, :, p:p + stride * (out[0] - 1) + 1:stride, q:q + stride * (out[1] - 1) + 1:stride]
                sums += np.einsum("nchw,fc->nfhw", part.astype(I64), w[:, :, p, q].astype(I64))
        sums = sums.astype(I32)
        bias, m = random.integers(-999, 999, o).astype(I32), random.integers(1 << 14, 1 << 18, o).astype(I32)
        result = requantize(sums, bias, m, low)
        text = (constant("w", w) + constant("b", bias) + constant("m", m) + filled(sums.shape)
                + f"  %s = linalg.conv_2d_nchw_fchw {{strides = dense<{stride}> : tensor<2xi64>}} ins(%x0, %w : {type_of(x)}, "
                  f"{type_of(w)}) outs(%f : {type_of(sums)}) -> {type_of(sums)}\n"
                + pointwise("q", [("s", sums), ("b", bias), ("m", m)], result,
                            REQUANTIZE.format(half=1 << 23, shift=24, low=low, high=127), ["(d0, d1, d2, d3)", "(d1)", "(d1)"])
                + pointwise("r", [("q", result)], sums, "%v = arith.extsi %a0 : i8 to i32"))
        cases.append((text, [x], result.astype(I32), True))


def add_requantizations():
    """Adds sums of all values around ties, with multipliers of every size."""
    for high, low, shift, multipliers in [(256, 1, 24, [0, 1, -3, 1 << 23, (1 << 23) - 1, 12345, 16500, 40001, 65535, 1 << 17, 999999, -77777]),
                                          (4096, 31, 24, [4847, 5003, -7777, 9999, 12289, 4097, 65535, 1, 8192]),
                                          (256, 1, 8, [1, 2, 3, 128, 129, 255, 256, 257]), (256, 1, 1, [1, 2])]:
        m = np.array(multipliers, I32)
        a, b = (grid.astype(I8) for grid in np.meshgrid(np.linspace(-128, 127, 24).astype(I8), np.arange(-128, 128), indexing="ij"))
        a, b = (np.broadcast_to(v, (1, len(m), *v.shape)).copy() for v in (a, b))
        bias = random.integers(-3, 3, len(m)).astype(I32)
        sums = (a.astype(I32) * high + b.astype(I32) * low).astype(I32)
        result = requantize(sums, bias, m, -128, 127, shift)
        body = (f"%ka = arith.constant {high} : i32\n    %kb = arith.constant {low} : i32\n    "
                "%wa = arith.extsi %a0 : i8 to i32\n    %wb = arith.extsi %a1 : i8 to i32\n    %ta = arith.muli %wa, %ka : i32\n"
                "    %tb = arith.muli %wb, %kb : i32\n    %v = arith.addi %ta, %tb : i32")
        text = (constant("b", bias) + constant("m", m) + pointwise("s", [("x0", a), ("x1", b)], sums, body)
                + pointwise("q", [("s", sums), ("b", bias), ("m", m)], result,
                            REQUANTIZE.format(half=1 << shift - 1, shift=shift, low=-128, high=127),
                            ["(d0, d1, d2, d3)", "(d1)", "(d1)"])
                + pointwise("r", [("q", result)], sums, "%v = arith.extsi %a0 : i8 to i32"))
        cases.append((text, [a, b], result.astype(I32), True))


def add_pools():
    x = draw(2, 67, 7, 9)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::2, ::2]
    for name, of, start in [("max", windows.max((-1, -2)), -128), ("sum", windows.astype(I32).sum((-1, -2)), 0)]:
        element = "i8" if name == "max" else "i32"
        out = of.astype(I8 if name == "max" else I32)
        text = (filled(out.shape, start, element=element) + "  %window = tensor.empty() : tensor<3x3xi8>\n"
                f"  %s = linalg.pooling_nchw_{name} {{strides = dense<2> : tensor<2xi64>}} ins(%x0, %window : {type_of(x)}, "
                f"tensor<3x3xi8>) outs(%f : {type_of(out)}) -> {type_of(out)}\n")
        if name == "max":
            wanted = out.astype(I32)
            text += pointwise("r", [("s", out)], wanted, "%v = arith.extsi %a0 : i8 to i32")
        else:
            wanted = (out + 9 * 128 + 4) // 9 - 128
            text += pointwise("r", [("s", out)], wanted, "%up = arith.constant 1156 : i32\n    %by = arith.constant 9 : i32\n    "
                              "%down = arith.constant -128 : i32\n    %t = arith.addi %a0, %up : i32\n    "
                              "%q = arith.divui %t, %by : i32\n    %v = arith.addi %q, %down : i32")
        cases.append((text, [x], wanted, True))


def add_elements():
    a, b = draw(3, 70, 5), draw(3, 70, 5)
    wide = "%wa = arith.extsi %a0 : i8 to i32\n    %wb = arith.extsi %a1 : i8 to i32\n    "
    clamp = "%l = arith.constant -128 : i32\n    %h = arith.constant 127 : i32\n    "
    total = a.astype(I32) + b
    for body, wanted in [
            (wide + clamp + "%t = arith.addi %wa, %wb : i32\n    %u = arith.maxsi %t, %l : i32\n    "
             "%v = arith.minsi %u, %h : i32", np.clip(total, -128, 127)),
            (wide + "%k = arith.constant 3 : i32\n    %t = arith.subi %wa, %wb : i32\n    %v = arith.shrsi %t, %k : i32",
             (a.astype(I32) - b) >> 3),
            (wide + "%k = arith.constant 1023 : i32\n    %t = arith.muli %wa, %wb : i32\n    %v = arith.muli %t, %k : i32",
             a.astype(I32) * b * 1023)]:
        cases.append((pointwise("r", [("x0", a), ("x1", b)], wanted, body), [a, b], wanted.astype(I32), True))


def add_products():
    """Adds results beyond 2^22, which need two words, and unproven ones."""
    x = draw(3, 130)
    for high, fits in [(100, True), (127, True), (127, False)]:
        k = 130 if fits else 1300
        x, w = draw(3, k), draw(k, 10, low=high - 20, high=high)
        wanted = (x.astype(I64) @ w.astype(I64)).astype(I32)
        text = constant("w", w) + filled(wanted.shape) + (
            f"  %r = linalg.matmul ins(%x0, %w : {type_of(x)}, {type_of(w)}) outs(%f : {type_of(wanted)}) -> {type_of(wanted)}\n")
        cases.append((text, [x], wanted, fits))
    i = random.integers(-2**31, 2**31, (3, 70)).astype(I32)
    cases.append((pointwise("r", [("x0", i), ("x1", i)], i, "%v = arith.addi %a0, %a1 : i32"), [i, i], i + i, False))
    a = draw(3, 70)
    cases.append((pointwise("r", [("x0", a)], a, "%k = arith.constant 5 : i8\n    %v = arith.addi %a0, %k : i8"), [a],
                  a + I8(5), True))
    cases.append((pointwise("r", [("x0", a)], a.astype(I32), "%v = arith.extui %a0 : i8 to i32"), [a],
                  a.view(np.uint8).astype(I32), True))


add_convolutions()
add_requantizations()
add_pools()
add_elements()
add_products()


def run(chip, fits):
    """Runs all proven cases as one function, or each of the others separately."""
    chosen = [case for case in cases if case[3] == fits]
    for group in [chosen] if fits else [[case] for case in chosen]:
        arguments, texts, inputs = [], [], []
        for number, (text, values, _, _) in enumerate(group):
            texts.append(re.sub(r"%(\w+)", rf"%\1_{number}", text))
            arguments += [f"%x{i}_{number}: {type_of(value)}" for i, value in enumerate(values)]
            inputs += values
        types = ", ".join(type_of(wanted) for _, _, wanted, _ in group)
        results = ", ".join(f"%r_{number}" for number in range(len(group)))
        source, lowered = folder / "source.mlir", folder / "lowered.mlir"
        source.write_text(f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n{''.join(texts)}  return {results} : {types}\n}}\n")
        target = f'#layout.npu<chip = #npu.target<"{chip}">, launch_cost = 4096, flops_per_byte = 32>'
        run_tool("layout-opt", source, f"--layout-to-npu=target={{{target}}}", "-o", lowered)
        program = Program(lowered, simulator_kernels=True)
        assert (program.kernels == 0) == fits, program.functions
        for number, (result, case) in enumerate(zip(program.run(*inputs).outputs, group, strict=True)):
            assert result.dtype == case[2].dtype and np.array_equal(result, case[2]), (chip, number)
    return len(chosen)


for chip in ("BM1684", "BM1684X", "BM1688"):
    print(f"{chip}: {run(chip, True)} of functions, {run(chip, False)} of kernels")
