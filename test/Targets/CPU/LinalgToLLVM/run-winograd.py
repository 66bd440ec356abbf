# RUN: %python %s
# Check 3x3 convolutions by Winograd's transforms against NumPy; other convolutions are not transformed.
import pathlib
import tempfile

import numpy as np
from cpu_programs import Program, generic, tensor

from layout_mlir.tools import run_tool

rng = np.random.default_rng(0)
# Maps of images, filters and results, for blocked channels and for contiguous ones.
BLOCKS = ["(n, o, h, w, l, i, y, x, j) -> (n, i, h * {0} + y * {1}, w * {0} + x * {1}, j)",
          "(n, o, h, w, l, i, y, x, j) -> (o, i, y, x, j, l)", "(n, o, h, w, l, i, y, x, j) -> (n, o, h, w, l)"]
LAST = ["(n, h, w, o, y, x, i) -> (n, h * {0} + y * {1}, w * {0} + x * {1}, i)",
        "(n, h, w, o, y, x, i) -> (y, x, i, o)", "(n, h, w, o, y, x, i) -> (n, h, w, o)"]


def draw(*shape):
    """Returns numbers whose sums and transforms are exact in f32."""
    return (rng.integers(-4, 5, shape) / 4).astype(np.float32)


def convolution(channels, filters, height, width, batch=1, block=16, starts="zero", ends=None, stride=1,
                dilation=1, window=(3, 3), constant=True, dynamic=""):
    """Returns a function, its inputs, and its expected result; the dims with letters in `dynamic` are dynamic."""
    sizes = [max(extent - 1, 0) * stride + (w - 1) * dilation + 1 for extent, w in zip((height, width), window)]
    x, w = draw(batch, *sizes, channels), draw(*window, channels, filters)
    windows = np.lib.stride_tricks.sliding_window_view(
        x.astype(np.float64), [(each - 1) * dilation + 1 for each in window], (1, 2))
    windows = windows[:, ::stride, ::stride, :, ::dilation, ::dilation][:, :height, :width]
    expected = np.einsum("nhwiyx,yxio->nhwo", windows, w.astype(np.float64), optimize=True)

    if dynamic:  # the image then determines the number of results, which may be zero
        x = x[:, :height + window[0] - 1, :width + window[1] - 1]

    def store(array):
        if not block:
            return np.ascontiguousarray(array)
        return np.ascontiguousarray(array.reshape(*array.shape[:3], array.shape[3] // block, block).transpose(0, 3, 1, 2, 4))

    x = store(x)
    if block:
        w = np.ascontiguousarray(w.reshape(*window, channels // block, block, filters // block, block)
                                 .transpose(4, 2, 0, 1, 3, 5))
    result = store(expected).shape
    maps, dims = (BLOCKS, "n, o, h, w, l") if block else (LAST, "n, h, w, o")
    maps = [each.format(stride, dilation) for each in maps]
    same, bias = f"({dims}) -> ({dims})", f"({dims}) -> ({'o, l' if block else 'o'})"
    loops = ["parallel"] * len(result) + ["reduction"] * (4 if block else 3)
    order = "nohwl" if block else "nhwo"
    image = "nihwl" if block else "nhwi"

    def wide(shape, letters=order):
        return tensor(["?" if letter in dynamic else size for letter, size in zip(letters, shape)])

    out = wide(result)
    inputs, names = [x], [("%x0", wide(x.shape, image))]
    text, sizes = "  %zero = arith.constant 0.0 : f32\n", []
    for letter in (each for each in order if each in dynamic):
        text += (f"  %{letter}i = arith.constant {image.index(letter)} : index\n"
                 f"  %{letter}x = tensor.dim %x0, %{letter}i : {names[0][1]}\n")
        sizes.append(f"%{letter}x")
        if letter in "hw":
            less = window["hw".index(letter)] - 1
            text += f"  %{letter}l = arith.constant {less} : index\n  %{letter}s = arith.subi %{letter}x, %{letter}l : index\n"
            sizes[-1] = f"%{letter}s"
    text += f"  %e = tensor.empty({', '.join(sizes)}) : {out}\n"
    if constant:
        text += f'  %w = arith.constant dense<"0x{w.tobytes().hex()}"> : {tensor(w.shape)}\n'
    else:
        inputs.append(w)
        names.append(("%w", tensor(w.shape)))

    def argument(array, shape=tensor):
        inputs.append(array)
        names.append((f"%x{len(inputs) - 1}", shape(array.shape)))
        return names[-1]

    per_filter = (filters // block, block) if block else (filters,)
    if starts == "zero":
        text += f"  %f = linalg.fill ins(%zero : f32) outs(%e : {out}) -> {out}\n"
    elif starts == "bias":
        values = draw(filters)
        expected = expected + values
        text += generic("%f", [bias, same], loops[:len(result)], [argument(values.reshape(per_filter))],
                        ("%e", out), "    linalg.yield %a0 : f32")
    else:
        values = draw(*expected.shape)
        expected = expected + values
        text += f"  %f = tensor.cast {argument(store(values), wide)[0]} : {out} to {out}\n"
    text += generic("%r", maps, loops, [names[0], ("%w", tensor(w.shape))], ("%f", out),
                    "    %m = arith.mulf %a0, %a1 : f32\n    %t = arith.addf %s, %m : f32\n    linalg.yield %t : f32")
    last = "%r"
    if ends:
        values, other = draw(filters), draw(*expected.shape)
        expected = np.maximum(expected + values + other, 0)
        text += generic("%q", [same, bias, same, same], loops[:len(result)],
                        [("%r", out), argument(values.reshape(per_filter)), argument(store(other), wide)], ("%e", out),
                        "    %b = arith.addf %a0, %a1 : f32\n    %c = arith.addf %b, %a2 : f32\n"
                        "    %d = arith.maximumf %c, %zero : f32\n    linalg.yield %d : f32")
        last = "%q"
    arguments = ", ".join(f"{name}: {type}" for name, type in names)
    return f"func.func @main({arguments}) -> {out} {{\n{text}  return {last} : {out}\n}}", inputs, store(expected)


# True if transforms are used, None if this may vary.
CASES = [
    (True, convolution(64, 64, 14, 14)),
    (True, convolution(64, 64, 15, 13, batch=3, ends=True)),
    (True, convolution(64, 64, 56, 56, ends=True)),
    (True, convolution(96, 32, 35, 35, starts="bias")),
    (True, convolution(64, 64, 31, 70, batch=2, starts="older")),
    (True, convolution(64, 80, 17, 17, block=None, ends=True)),
    (True, convolution(72, 48, 20, 9, block=None, starts="bias")),
    (True, convolution(128, 32, 28, 28, block=8, batch=2)),
    (True, convolution(256, 64, 7, 13, block=32, starts="older", ends=True)),
    (True, convolution(64, 64, 14, 14, dynamic="n")),
    (True, convolution(64, 64, 15, 13, batch=3, ends=True, dynamic="hw")),
    (True, convolution(96, 32, 35, 36, starts="bias", dynamic="nhw")),
    (True, convolution(64, 64, 31, 70, batch=2, starts="older", dynamic="h")),
    (True, convolution(64, 80, 17, 17, block=None, ends=True, dynamic="w")),
    (True, convolution(128, 32, 28, 28, block=8, batch=2, dynamic="nw")),
    (True, convolution(64, 512, 9, 12, ends=True, starts="older", dynamic="nhw")),
    *[(True, convolution(64, 64, height, width, batch=n, ends=True, starts="older", dynamic="nhw"))
      for n, height, width in ((1, 1, 1), (2, 1, 8), (1, 7, 1), (2, 2, 3), (0, 5, 5), (1, 0, 4), (3, 4, 0))],
    (True, convolution(64, 64, 14, 1, dynamic="w")),
    (None, convolution(32, 32, 2, 2, ends=True)),
    (None, convolution(16, 16, 3, 2, batch=5)),
    (None, convolution(512, 64, 7, 7, ends=True)),
    (False, convolution(64, 64, 14, 1)),
    (False, convolution(8, 8, 14, 14, block=8)),
    (False, convolution(16, 60, 14, 14, block=None)),
    (False, convolution(60, 64, 14, 14, block=None)),
    (False, convolution(64, 64, 14, 14, stride=2)),
    (False, convolution(64, 64, 14, 14, dilation=2)),
    (False, convolution(64, 64, 14, 14, window=(3, 1))),
    (False, convolution(64, 64, 14, 14, window=(5, 5))),
    (False, convolution(64, 64, 14, 14, constant=False)),
    (False, convolution(64, 64, 0, 14)),
    (False, convolution(64, 64, 14, 14, batch=0, ends=True)),
]

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    for number, (transforms, (text, inputs, expected)) in enumerate(CASES):
        program = Program(folder, text, inputs)

        def run(options, *more):
            program.lower(options)
            return program.run(*more)

        if transforms is not None:
            without = [] if number > 2 else [("{winograd=false}", False), ("{contract-fma=false}", False)]
            for option, wanted in [("", transforms), *without]:
                kernels = run_tool("layout-opt", program.module, "--pass-pipeline=builtin.module("
                                   f"canonicalize,func.func(layout-cpu-emit-kernels{option}))")
                assert ("winograd_filters" in kernels) == wanted, (number, option)
        alone = run("cpu=x86-64-v3 parallel-loops=false")
        assert alone.shape == expected.shape, number
        assert np.array_equal(alone.astype(np.float64), expected), number
        # Options that do not change the transforms are tried for some of the cases.
        for options in ["", " plan-memory=false"][:2 if number % 4 == 0 else 1]:
            shared = run(f"cpu=x86-64-v3{options}", "--threads=3")
            assert alone.tobytes() == shared.tobytes(), (number, options)
        if number % 3:
            continue
        narrow = "target={#layout.cpu<lanes = 16, vector_bits = 128, vector_registers = 32>}"
        assert np.array_equal(run(narrow).astype(np.float64), expected), number
