# RUN: %python %s
# Check padded convolutions whose loops skip taps that read only padding, and those that must not, against NumPy.
import pathlib
import tempfile

import numpy as np
from cpu_programs import Program, generic, tensor

from layout_mlir.tools import run_tool

rng = np.random.default_rng(0)
KINDS = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "i32": np.int32}
# Maps of images, filters and results, for rows of pixels and for contiguous channels.
ROWS = ["(n, o, h, w, i, y, x) -> (n, i, h * {0} + y * {1}, w * {0} + x * {1})",
        "(n, o, h, w, i, y, x) -> (i, y, x, o)", "(n, o, h, w, i, y, x) -> (n, o, h, w)"]
LAST = ["(n, h, w, o, y, x, i) -> (n, h * {0} + y * {1}, w * {0} + x * {1}, i)",
        "(n, h, w, o, y, x, i) -> (y, x, i, o)", "(n, h, w, o, y, x, i) -> (n, h, w, o)"]


def convolution(height, width, dilation, channels=5, filters=16, window=3, stride=1, pads=None, element="f32",
                sums="f32", rows=False, value=0, zero_point=0, weight=None, constant=True, dynamic=False, batch=2):
    """Returns a function, its inputs, and its expected result for an image of `height` times `width`, padded by
    `value`. The body subtracts `zero_point` from elements of the image. `weight` replaces one weight."""
    low, high = pads if pads else [dilation * (window // 2)] * 2
    image, filter = KINDS[element], KINDS[element]
    scale = 1 if element.startswith("i") else 4
    x = (rng.integers(-4, 5, (batch, height, width, channels)) / scale).astype(image)
    w = (rng.integers(-4, 5, (window, window, channels, filters)) / scale).astype(filter)
    if weight is not None:
        w[0, -1, 1, 2] = weight
    padded = np.pad(x.astype(np.float64), [(0, 0), (low, high), (low, high), (0, 0)], constant_values=value)
    padded -= zero_point
    reach = (window - 1) * dilation + 1
    windows = np.lib.stride_tricks.sliding_window_view(padded, (reach, reach), (1, 2))
    windows = windows[:, ::stride, ::stride, :, ::dilation, ::dilation]
    with np.errstate(invalid="ignore"):
        expected = np.einsum("nhwiyx,yxio->nhwo", windows, w.astype(np.float64))
    border = [0, low, low, 0], [0, high, high, 0]
    if rows:
        x, expected = x.transpose(0, 3, 1, 2), expected.transpose(0, 3, 1, 2)
        w = w.transpose(2, 0, 1, 3)
        border = [0, 0, low, low], [0, 0, high, high]
    x, w = np.ascontiguousarray(x), np.ascontiguousarray(w)
    maps, loops = ROWS if rows else LAST, ["parallel"] * 4 + ["reduction"] * 3
    wide = ["?" if dynamic and size in (height, width) else size for size in x.shape]
    padded_type = tensor(["?" if size == "?" else size + a + b for size, a, b in zip(wide, *border)], element)
    out = tensor(["?" if "?" == size else extent for size, extent in zip(wide, expected.shape)], sums)
    letter = "i" if element.startswith("i") else "f"
    inputs, names = [x], [("%x0", tensor(wide, element))]
    text = f"  %zero = arith.constant {0 if letter == 'i' else 0.0} : {sums}\n"
    text += f"  %value = arith.constant {value if letter == 'i' else float(value)} : {element}\n"
    text += (f"  %p = tensor.pad %x0 low{border[0]} high{border[1]} {{\n  ^bb0({', '.join(f'%k{i}: index' for i in range(4))}):\n"
             f"    tensor.yield %value : {element}\n  }} : {names[0][1]} to {padded_type}\n")
    if constant:
        text += f'  %w = arith.constant dense<"0x{w.tobytes().hex()}"> : {tensor(w.shape, element)}\n'
    else:
        inputs.append(w)
        names.append(("%w", tensor(w.shape, element)))
    dims = [i for i, size in enumerate(wide) if size == "?"]
    for i in dims:
        text += (f"  %c{i} = arith.constant {i} : index\n  %d{i} = tensor.dim %p, %c{i} : {padded_type}\n"
                 f"  %r{i} = arith.constant {reach - 1} : index\n  %s{i} = arith.subi %d{i}, %r{i} : index\n")
    text += f"  %e = tensor.empty({', '.join(f'%s{i}' for i in dims)}) : {out}\n"
    text += f"  %f = linalg.fill ins(%zero : {sums}) outs(%e : {out}) -> {out}\n"
    body, a, b = [], "%a0", "%a1"
    if element != sums:
        body += [f"    %{v} = arith.ext{'si' if letter == 'i' else 'f'} %a{i} : {element} to {sums}"
                 for i, v in enumerate("ab")]
        a, b = "%a", "%b"
    if zero_point:
        body += [f"    %q = arith.constant {zero_point if letter == 'i' else float(zero_point)} : {sums}",
                 f"    %z = arith.sub{letter} {a}, %q : {sums}"]
        a = "%z"
    body += [f"    %m = arith.mul{letter} {a}, {b} : {sums}", f"    %t = arith.add{letter} %s, %m : {sums}",
             f"    linalg.yield %t : {sums}"]
    text += generic("%r", [each.format(stride, dilation) for each in maps], loops,
                    [("%p", padded_type), ("%w", tensor(w.shape, element))], ("%f", out), "\n".join(body))
    arguments = ", ".join(f"{name}: {type}" for name, type in names)
    return f"func.func @main({arguments}) -> {out} {{\n{text}  return %r : {out}\n}}", inputs, expected


# True if loops skip taps.
CASES = [
    (True, convolution(9, 11, 6)),
    (True, convolution(9, 11, 6, rows=True)),
    (True, convolution(33, 33, 12, channels=3)),
    (True, convolution(7, 5, 9)),
    (True, convolution(13, 12, 3, window=5, filters=19)),
    (True, convolution(13, 12, 4, stride=2, filters=3)),
    (True, convolution(9, 11, 6, pads=(12, 0))),
    (True, convolution(9, 11, 6, pads=(3, 14))),
    (True, convolution(6, 6, 6, channels=64, filters=32)),
    (True, convolution(9, 11, 6, element="f16")),
    (True, convolution(9, 11, 6, element="f64", sums="f64")),
    (True, convolution(9, 11, 6, element="i8", sums="i32")),
    (True, convolution(9, 11, 6, element="i8", sums="i32", value=3, zero_point=3)),
    (True, convolution(9, 11, 6, element="i8", sums="i32", constant=False)),
    (True, convolution(9, 11, 6, value=2, zero_point=2)),
    (True, convolution(19, 17, 12, dynamic=True)),
    (True, convolution(19, 17, 12, dynamic=True, rows=True)),
    (False, convolution(9, 11, 6, value=1)),
    (False, convolution(9, 11, 6, element="i8", sums="i32", value=0, zero_point=3)),
    (False, convolution(9, 11, 6, weight=np.inf)),
    (False, convolution(9, 11, 6, weight=np.nan)),
    (False, convolution(9, 11, 6, constant=False)),
    (False, convolution(40, 40, 1, channels=3)),
]

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    for number, (skipped, (text, inputs, expected)) in enumerate(CASES):
        program = Program(folder, text, inputs)

        def run(shared, *options):
            program.lower(f"cpu=x86-64-v3 parallel-loops={shared}")
            return program.run(*options)

        kernels = run_tool("layout-opt", program.module, "--pass-pipeline=builtin.module(canonicalize,"
                           "layout-cpu-lower-pack-pad-concat,func.func(layout-cpu-emit-kernels))")
        assert ("arith.maxsi" in kernels) == skipped, number
        alone = run("false")
        assert alone.shape == expected.shape, (number, alone.shape)
        # Sums of sixteenths are exact in f32.
        assert np.array_equal(alone.astype(np.float64), expected, equal_nan=True), number
        assert alone.tobytes() == run("true", "--threads=2").tobytes(), number
