# RUN: rm -rf %t && mkdir -p %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check every function of OKKernel and of TPU-KERNEL that ops become, with uneven sizes and batches, on three chips against NumPy.
# CHECK: BM1684: 46 functions
# CHECK: BM1684X: 44 functions
# CHECK: BM1688: 44 functions
import pathlib
import re
import sys

import numpy as np

from layout_mlir.tools import run_tool
from vendor_model import Program

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(5)
F32, I32 = np.float32, np.int32
NAMES = {np.dtype(F32): "f32", np.dtype(I32): "i32", np.dtype(np.int8): "i8"}
seen = {}
# The functions of TPU-KERNEL that compute the same as those of OKKernel, if their names differ.
TPU_KERNEL = {
    "avg_pool2d mul_C": "fp_avg_pool2d", "C_greater_select_value": "neg greater_C", "equal_select": "greater_select",
    "greater_select_value": "greater", "greater_C_select_value": "greater_C", "equal_select_value": "equal",
    "equal_C_select_value": "equal_C", "int8_to_fp32": "cast", "matmul": "fp32_mm",
    **{name: f"fp_{name}" for name in ("add", "add_C", "sub", "sub_C", "C_sub", "mul", "mul_C", "conv2d", "depthwise2d",
                                       "max_pool2d")},
    **{name: f"fp32_{name}" for name in ("div", "div_C", "C_div", "reciprocal", "sqrt", "rsqrt", "exp", "tanh",
                                         "sigmoid", "mac", "mac_C")},
    **{f"32bit_{name}": name for name in ("and", "and_C", "or", "or_C", "xor", "xor_C", "cpy", "arithmetic_shift_C",
                                          "logical_shift_C")}}


def type_of(array):
    return f"tensor<{'x'.join(map(str, [*array.shape, NAMES[array.dtype]]))}>"


def draw(*shape, low=-3.0, high=3.0):
    return random.uniform(low, high, shape).astype(F32)


cases = []


def check(functions, body, inputs, wanted, tolerance=2e-6):
    """Adds a case to the next program: `body` computes %r from %x0, %x1 .. with these functions."""
    cases.append((functions, body, inputs, wanted, tolerance))


def run(chip):
    """Runs all cases as one function with their inputs and results."""
    texts, arguments, inputs = [], [], []
    for number, (_, body, values, _, _) in enumerate(cases):
        texts.append(re.sub(r"%(\w+)", rf"%\1_{number}", body))
        arguments += [f"%x{i}_{number}: {type_of(value)}" for i, value in enumerate(values)]
        inputs += values
    types = ", ".join(type_of(case[3]) for case in cases)
    source = folder / "source.mlir"
    source.write_text(f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n" + "\n".join(texts) + "\n  return "
                      + ", ".join(f"%r_{number}" for number in range(len(cases))) + f" : {types}\n}}\n")
    target = f'#layout.npu<chip = #npu.target<"{chip}">, launch_cost = 4096, flops_per_byte = 32>'
    lowered = folder / "lowered.mlir"
    run_tool("layout-opt", source, f"--layout-to-npu=target={{{target}}}", "-o", lowered)
    program = Program(lowered)
    assert program.kernels == 0, program.functions
    for result, (functions, _, _, wanted, tolerance) in zip(program.run(*inputs).outputs, cases, strict=True):
        for name in functions.split() if chip == "BM1684" else TPU_KERNEL.get(functions, functions).split():
            assert program.functions[name], (name, program.functions)
            seen.setdefault(chip, set()).add(name)
        assert result.dtype == wanted.dtype and result.shape == wanted.shape
        if result.dtype == I32:
            assert np.array_equal(result, wanted), functions
        error = np.max(np.abs(result.astype(np.float64) - wanted)) / max(1, np.abs(wanted).max())
        assert error <= tolerance, (chip, functions, error)
    cases.clear()


def elements(body, inputs, out, maps=None):
    """Returns a generic op; `maps` are those of the inputs, by default all dims."""
    whole = f"({', '.join(f'd{i}' for i in range(out.ndim))})"
    kinds = ", ".join(['"parallel"'] * out.ndim)
    affine = ", ".join(f"affine_map<{whole} -> {text}>" for text in [*(maps or [whole] * len(inputs)), whole])
    values = ", ".join(f"%x{i}" for i in range(len(inputs)))
    types = ", ".join(map(type_of, inputs))
    arguments = ", ".join(f"%a{i}: {NAMES[x.dtype]}" for i, x in enumerate(inputs))
    element = NAMES[out.dtype]
    return (f"  %e = tensor.empty() : {type_of(out)}\n  %r = linalg.generic {{indexing_maps = [{affine}], iterator_types = "
            f"[{kinds}]}} ins({values} : {types}) outs(%e : {type_of(out)}) {{\n  ^bb0({arguments}, %o: {element}):\n    "
            f"{body}\n    linalg.yield %v : {element}\n  }} -> {type_of(out)}")


def add_elements():
    shape = (2, 67, 5, 3)
    a, b, c, d = draw(*shape), draw(*shape), draw(*shape), draw(*shape)
    b[np.abs(b) < 0.25] = 1
    row, positive = draw(67), draw(*shape, low=0.1, high=9)
    for name, op, of in [("add", "addf", np.add), ("sub", "subf", np.subtract), ("mul", "mulf", np.multiply),
                         ("div", "divf", np.divide), ("max", "maximumf", np.maximum), ("min", "minimumf", np.minimum)]:
        check(name, elements(f"%v = arith.{op} %a0, %a1 : f32", [a, b], a), [a, b], of(a, b))
        check(name, elements(f"%v = arith.{op} %a0, %a1 : f32", [row, b], b, ["(d1)", "(d0, d1, d2, d3)"]), [row, b],
              of(row[:, None, None], b))
        constant = "%k = arith.constant 1.7 : f32\n    "
        check(f"{name}_C", elements(f"{constant}%v = arith.{op} %a0, %k : f32", [b], b), [b], of(b, F32(1.7)))
        if name in ("sub", "div"):
            check(f"C_{name}", elements(f"{constant}%v = arith.{op} %k, %a0 : f32", [b], b), [b], of(F32(1.7), b))
    constants = "%zero = arith.constant 0.0 : f32\n    %one = arith.constant 1.0 : f32\n    "
    for name, body, x, wanted in [
            ("relu", "%v = arith.maximumf %zero, %a0 : f32", a, np.maximum(a, 0)),
            ("neg", "%v = arith.negf %a0 : f32", a, -a),
            ("reciprocal", "%v = arith.divf %one, %a0 : f32", b, 1 / b),
            ("sqrt", "%v = math.sqrt %a0 : f32", positive, np.sqrt(positive)),
            ("rsqrt", "%v = math.rsqrt %a0 : f32", positive, 1 / np.sqrt(positive)),
            ("exp", "%v = math.exp %a0 : f32", a, np.exp(a)),
            ("tanh", "%v = math.tanh %a0 : f32", a, np.tanh(a)),
            ("sigmoid", "%n = arith.negf %a0 : f32\n    %p = math.exp %n : f32\n    %s = arith.addf %p, %one : f32\n    "
             "%v = arith.divf %one, %s : f32", a, 1 / (1 + np.exp(-a)))]:
        check(name, elements(constants + body, [x], x), [x], wanted)
    equal = np.where(random.random(shape) < 0.5, a, b)
    for name, predicate, x, is_true in [("greater_select", "ogt", b, a > b), ("greater_select", "olt", b, a < b),
                                        ("equal_select", "ueq", equal, a == equal), ("greater_select", "oge", equal, a >= equal)]:
        check(name, elements(f"%p = arith.cmpf {predicate}, %a0, %a1 : f32\n    %v = arith.select %p, %a2, %a3 : f32",
                                   [a, x, c, d], a), [a, x, c, d], np.where(is_true, c, d))
        if predicate != "ogt":
            continue
        two = "%two = arith.constant 2.0 : f32\n    "
        check("greater_select_value", elements(
            f"{constants}{two}%p = arith.cmpf ogt, %a0, %a1 : f32\n    %v = arith.select %p, %two, %zero : f32",
            [a, x], a), [a, x], np.where(is_true, F32(2), F32(0)))
        for order, which in (("%a0, %one", "greater_C"), ("%one, %a0", "C_greater")):
            check(f"{which}_select_value", elements(
                f"{constants}{two}%p = arith.cmpf ogt, {order} : f32\n    %v = arith.select %p, %two, %zero : f32",
                [a], a), [a], np.where(a > 1 if which == "greater_C" else 1 > a, F32(2), F32(0)))
    left, right = (random.integers(0, 3, shape).astype(I32) for _ in range(2))
    words = f"{constants}%two = arith.constant 2 : i32\n    "
    for name, other, values in [("equal_select_value", "%a1", right), ("equal_C_select_value", "%two", I32(2))]:
        check(name, elements(f"{words}%p = arith.cmpi eq, %a0, {other} : i32\n    %v = arith.select %p, %one, %zero : f32",
                             [left, right], a), [left, right], np.where(left == values, F32(1), F32(0)))
    i, j = (random.integers(-2**31, 2**31, (3, 70, 7)).astype(I32) for _ in range(2))
    for name, of in [("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)]:
        check(f"32bit_{name}", elements(f"%v = arith.{name}i %a0, %a1 : i32", [i, j], i), [i, j], of(i, j))
        check(f"32bit_{name}_C", elements(
            f"%k = arith.constant 252645135 : i32\n    %v = arith.{name}i %k, %a0 : i32", [i], i), [i], of(i, I32(252645135)))
    five = "%k = arith.constant 5 : i32\n    "
    for op, name, of in [("shli", "logical", i << 5), ("shrsi", "arithmetic", i >> 5),
                         ("shrui", "logical", (i.view(np.uint32) >> 5).view(I32))]:
        check(f"32bit_{name}_shift_C", elements(f"{five}%v = arith.{op} %a0, %k : i32", [i], i), [i], of)
    octets = random.integers(-128, 128, shape).astype(np.int8)
    for op, x in [("sitofp", octets), ("uitofp", octets.view(np.uint8))]:
        check("int8_to_fp32", elements(f"%v = arith.{op} %a0 : i8 to f32", [octets], a), [octets], x.astype(F32))
    check("32bit_cpy", elements("%v = arith.bitcast %a0 : f32 to i32", [a], a.view(I32)), [a], a.view(I32))


def add_layers():
    for n, i, o, size, k, stride, dilation in [(2, 7, 69, 9, 3, 2, 1), (1, 1, 3, 6, 1, 1, 1), (3, 68, 5, 8, 2, 1, 3)]:
        x, w = draw(n, i, size, size + 1), draw(o, i, k, k, low=-0.5, high=0.5)
        out = [(extent - (k - 1) * dilation - 1) // stride + 1 for extent in (size, size + 1)]
        wanted = np.zeros((n, o, *out))
        for p in range(k):
            for q in range(k):
                part = x[:, :, p * dilation:p * dilation + stride * (out[0] - 1) + 1:stride,
                         q * dilation:q * dilation + stride * (out[1] - 1) + 1:stride]
                wanted += np.einsum("nchw,fc->nfhw", part.astype(np.float64), w[:, :, p, q])
        wanted = wanted.astype(F32)
        check("conv2d", filled(wanted, f"""linalg.conv_2d_nchw_fchw {{strides = dense<{stride}> : tensor<2xi64>, dilations =
            dense<{dilation}> : tensor<2xi64>}} ins(%x0, %x1 : {type_of(x)}, {type_of(w)})""", "0.0"), [x, w], wanted)
    for n, c, size, k, stride in [(2, 67, 9, 3, 2), (1, 3, 5, 2, 1)]:
        x, w = draw(n, c, size, size + 2), draw(c, k, k)
        windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))[:, :, ::stride, ::stride]
        strides = f"{{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}"
        check("depthwise2d", filled(
            y := np.einsum("nchwpq,cpq->nchw", windows, w),
            f"linalg.depthwise_conv_2d_nchw_chw {strides} ins(%x0, %x1 : {type_of(x)}, {type_of(w)})", "0.0"), [x, w], y)
        for name, kind, of, start in [("max_pool2d", "max", np.max, "0xFF800000"), ("avg_pool2d mul_C", "sum", np.sum, "0.0")]:
            y = of(windows, (4, 5))
            check(name, f"  %w = tensor.empty() : tensor<{k}x{k}xf32>\n" + filled(
                y, f"linalg.pooling_nchw_{kind} {strides} ins(%x0, %w : {type_of(x)}, tensor<{k}x{k}xf32>)", start), [x], y)
    for m, k, n in [(5, 7, 70), (1, 65, 3), (130, 9, 131)]:
        a, b = draw(m, k), draw(k, n)
        y = a @ b
        check("matmul", filled(y, f"linalg.matmul ins(%x0, %x1 : {type_of(a)}, {type_of(b)})", "0.0"), [a, b], y)
    a, b = draw(3, 5, 7), draw(3, 7, 6)
    y = a @ b
    check("mac", filled(y, f"linalg.batch_matmul ins(%x0, %x1 : {type_of(a)}, {type_of(b)})", "0.0"), [a, b], y)
    x, y = draw(2, 67, 5, 3), draw(2, 67, 5, 3)
    check("mac_C", elements("%k = arith.constant 1.5 : f32\n    %p = arith.mulf %a0, %k : f32\n    "
                                  "%v = arith.addf %o, %p : f32", [x], y).replace("outs(%e", "outs(%x1"), [x, y], y + F32(1.5) * x)


def filled(out, op, value):
    return (f"  %c = arith.constant {value} : f32\n  %e = tensor.empty() : {type_of(out)}\n  %f = linalg.fill ins(%c : f32) "
            f"outs(%e : {type_of(out)}) -> {type_of(out)}\n  %r = {op} outs(%f : {type_of(out)}) -> {type_of(out)}")


for chip in ("BM1684", "BM1684X", "BM1688"):
    for add in (add_elements, add_layers):
        add()
        run(chip)
    print(f"{chip}: {len(seen[chip])} functions")
