# RUN: %python %s
# Check that reductions split by cache size compute NumPy's results, with the same bits for any number of threads.
import pathlib
import tempfile

import numpy as np
from cpu_programs import Program, generic, tensor

from layout_mlir.tools import run_tool

rng = np.random.default_rng(0)
IN = "(n, o, h, w, l, i, y, x, j) -> (n, i, h * {0} + y, w * {0} + x, j)"
WEIGHTS = "(n, o, h, w, l, i, y, x, j) -> (o, i, y, x, j, l)"
OUT = "(n, o, h, w, l, i, y, x, j) -> (n, o, h, w, l)"
LOOPS = ["parallel"] * 5 + ["reduction"] * 4
SAME = "(n, o, h, w, l) -> (n, o, h, w, l)"
CHANNEL = "(n, o, h, w, l) -> (0, o, 0, 0, l)"


def multiply(element, sums, mask=None):
    """Returns the body of a contraction; a mask only admits the first channels."""
    letter, lines = "i" if element.startswith("i") else "f", []
    a, b = "%a0", "%a1"
    if element != sums:
        for value in "ab":
            lines.append(f"    %{value} = arith.ext{'si' if letter == 'i' else 'f'} "
                         f"%a{'ab'.index(value)} : {element} to {sums}")
        a, b = "%a", "%b"
    lines += [f"    %m = arith.mul{letter} {a}, {b} : {sums}", f"    %t = arith.add{letter} %s, %m : {sums}"]
    if mask is None:
        return "\n".join([*lines, f"    linalg.yield %t : {sums}"])
    return "\n".join(["    %i = linalg.index 5 : index", "    %j = linalg.index 8 : index",
                      "    %c16 = arith.constant 16 : index", f"    %limit = arith.constant {mask} : index",
                      "    %k = arith.muli %i, %c16 : index", "    %c = arith.addi %k, %j : index",
                      "    %valid = arith.cmpi slt, %c, %limit : index", *lines,
                      f"    %r = arith.select %valid, %t, %s : {sums}", f"    linalg.yield %r : {sums}"])


def convolution(shape, window=1, stride=1, element="f32", sums="f32", batch=1, adds=False, ends=None, mask=None):
    """Returns a function, its inputs, and its expected result, for input blocks, output blocks, height and width."""
    blocks_in, blocks_out, height, width = shape
    kinds = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "i32": np.int32}

    def draw(shape, element):
        values = rng.integers(-4, 5, shape)
        return (values / (1 if element.startswith("i") else 4)).astype(kinds[element])

    sizes = [(extent - 1) * stride + window for extent in (height, width)]
    x = draw((batch, blocks_in, *sizes, 16), element)
    w = draw((blocks_out, blocks_in, window, window, 16, 16), element)
    result = (batch, blocks_out, height, width, 16)
    inputs, names = [x, w], [("%x0", tensor(x.shape, element)), ("%x1", tensor(w.shape, element))]
    out = tensor(result, sums)
    text = "  %zero = arith.constant 0 : i32\n" if sums == "i32" else f"  %zero = arith.constant 0.0 : {sums}\n"
    text += f"  %e = tensor.empty() : {out}\n"
    whole = x.astype(np.float64)
    windows = (whole[..., None, None] if window == 1 else
               np.lib.stride_tricks.sliding_window_view(whole, (window, window), (2, 3)))
    kept = w.astype(np.float64)
    if mask is not None:
        kept = kept * (np.arange(blocks_in * 16) < mask).reshape(1, blocks_in, 1, 1, 16, 1)
    expected = np.einsum("nihwjyx,oiyxjl->nohwl", windows[:, :, ::stride, ::stride], kept, optimize=True)
    if adds:
        inputs.append(draw(result, sums))
        start = "%x2"
        names.append((start, out))
        expected = expected + inputs[-1]
    else:
        start = "%f"
        text += f"  %f = linalg.fill ins(%zero : {sums}) outs(%e : {out}) -> {out}\n"
    text += generic("%r", [IN.format(stride), WEIGHTS, OUT], LOOPS, names[:2], (start, out),
                    multiply(element, sums, mask))
    last, type = "%r", out
    if ends == "relu":  # with a bias and a sum
        bias, other = draw((1, blocks_out, 1, 1, 16), sums), draw(result, sums)
        names += [("%x2", tensor(bias.shape, sums)), ("%x3", out)]
        inputs += [bias, other]
        expected = np.maximum(expected + bias + other, 0)
        text += generic("%q", [SAME, CHANNEL, SAME, SAME], LOOPS[:5], [("%r", out), *names[2:]], ("%e", out),
                        f"    %b = arith.addf %a0, %a1 : {sums}\n    %c = arith.addf %b, %a2 : {sums}\n"
                        f"    %d = arith.maximumf %c, %zero : {sums}\n    linalg.yield %d : {sums}")
        last = "%q"
    elif ends == "round":  # to an element type that cannot hold sums
        type = tensor(result, "f16")
        text += f"  %h = tensor.empty() : {type}\n"
        text += generic("%q", [SAME, SAME], LOOPS[:5], [("%r", out)], ("%h", type),
                        "    %b = arith.truncf %a0 : f32 to f16\n    linalg.yield %b : f16")
        last = "%q"
    arguments = ", ".join(f"{name}: {type}" for name, type in names)
    return f"func.func @main({arguments}) -> {type} {{\n{text}  return {last} : {type}\n}}", inputs, expected


# True if the reduction is split, None if the plan may vary.
CASES = [
    (True, convolution((64, 16, 14, 14))),
    (True, convolution((64, 16, 14, 14), ends="relu")),
    (True, convolution((64, 4, 7, 7), ends="relu", batch=3)),
    (None, convolution((64, 4, 13, 11), adds=True)),
    (True, convolution((32, 4, 7, 7), window=3, ends="relu")),
    (True, convolution((32, 3, 7, 5), window=3, stride=2, batch=2)),
    (True, convolution((64, 16, 7, 7), stride=2, ends="relu")),
    (True, convolution((64, 4, 5, 9), stride=3, batch=2)),
    (None, convolution((5, 2, 1, 7), stride=2, element="i8", sums="i32")),
    (None, convolution((1, 1, 7, 1), stride=2, ends="relu")),
    (True, convolution((64, 8, 14, 14), mask=1000)),
    (True, convolution((64, 8, 14, 14), mask=3)),
    (True, convolution((128, 4, 14, 14), element="f64", sums="f64", ends="relu")),
    (True, convolution((64, 8, 14, 14), element="i8", sums="i32")),
    (None, convolution((64, 8, 14, 14), element="i32", sums="i32", adds=True)),
    (None, convolution((64, 8, 14, 14), element="f16", sums="f32")),
    (False, convolution((64, 8, 14, 14), ends="round")),
    (False, convolution((4, 4, 14, 14), ends="relu")),
    (None, convolution((64, 1, 1, 1), ends="relu")),
    (None, convolution((64, 16, 1, 1), stride=2)),
    (None, convolution((64, 16, 0, 7))),
    (None, convolution((0, 16, 7, 7), ends="relu")),
    (None, convolution((61, 5, 13, 7), ends="relu")),
]

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    for number, (parts, (text, inputs, expected)) in enumerate(CASES):
        program = Program(folder, text, inputs)

        def run(shared, *options):
            program.lower(f"cpu=x86-64-v3 parallel-loops={shared}")
            return program.run(*options)

        if parts is not None:
            kernels = run_tool("layout-opt", program.module, "--pass-pipeline=builtin.module("
                               "canonicalize,layout-cpu-fuse-elementwise,func.func(layout-cpu-emit-kernels))")
            assert ("scf.if" in kernels) == parts, number
        alone = run("false")
        assert alone.shape == expected.shape, number
        # Sums of quarters are exact in f32.
        assert np.array_equal(alone.astype(np.float64), expected.astype(alone.dtype).astype(np.float64)), number
        assert alone.tobytes() == run("true", "--threads=3").tobytes(), number
