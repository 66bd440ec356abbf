# RUN: %python %s
# Check conversions to partially filled blocks, padding included, against NumPy, for three vector lengths.
import pathlib
import tempfile

import numpy as np

from bench.conversions import TYPES, Layout
from layout_mlir.tools import run_tool

CASES = [
    *[("NHWC", "NCHW16c", shape)
      for shape in ((1, 61, 12, 12), (2, 61, 30, 30), (1, 33, 9, 40), (2, 13, 5, 7), (1, 2, 40, 40), (1, 17, 3, 5), (3, 30, 1, 1),
                    (0, 61, 4, 4), (1, 16, 2, 2), (1, 255, 20, 21))],
    *[("NCHW", "NCHW16c", shape) for shape in ((1, 61, 10, 10), (2, 45, 3, 3), (1, 31, 1, 1), (1, 17, 4, 4), (2, 61, 0, 7))],
    *[("NCHW", "NCHW8c", shape) for shape in ((1, 13, 6, 6), (2, 3, 5, 5))],
    *[("NHWC", "NCHW8c", shape) for shape in ((2, 13, 30, 30), (1, 3, 40, 40))],
    *[("OIHW", "OIHW16i16o", shape) for shape in ((61, 61, 3, 3), (17, 30, 1, 1), (13, 5, 2, 2), (33, 16, 3, 1))],
    *[("KN", "NK16k16n", shape) for shape in ((100, 40), (9, 100), (35, 61), (1, 3))],
]
# With a dynamic batch.
DYNAMIC = [("NHWC", "NCHW16c", (2, 61, 30, 30)), ("NCHW", "NCHW16c", (2, 61, 5, 5)), ("NHWC", "NCHW16c", (0, 61, 4, 4))]
NUMPY_TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8}


def tensor(shape, element, encoding=""):
    return f"tensor<{'x'.join(map(str, (*shape, element)))}{encoding}>"


def write(element, filler):
    arguments, names, types, lines, inputs, expected = [], [], [], [], [], []
    for i, (source, dest, shape) in enumerate(CASES + DYNAMIC):
        source, dest = Layout(source), Layout(dest)
        bits = TYPES[element][0]
        data = np.random.default_rng(i).integers(1, 60, shape).astype(bits)
        inputs.append(source.pack(data))
        padding = np.array(filler, NUMPY_TYPES[element]).view(bits)
        expected.append(np.where(dest.pack(np.ones(shape, bool)), dest.pack(data), padding))
        batch = ["?"] if i >= len(CASES) else []
        stored = [tensor([*batch, *x.shape[len(batch):]], element) for x in (inputs[-1], expected[-1])]
        inner = [tensor([*batch, *shape[len(batch):]], element, layout.encoding(is_zero))
                 for layout, is_zero in ((source, False), (dest, True))]
        if filler:
            inner[1] = inner[1].replace(", zero>", f", {filler if element == 'i8' else float(filler)} : {element}>")
        arguments.append(f"%s{i}: {stored[0]}")
        lines += [f"%x{i} = layout.storage_view %s{i} : {stored[0]} to {inner[0]}",
                  f"%y{i} = layout.convert %x{i} : {inner[0]} to {inner[1]}",
                  f"%r{i} = layout.storage_view %y{i} : {inner[1]} to {stored[1]}"]
        names.append(f"%r{i}")
        types.append(stored[1])
    body = "\n  ".join(lines)
    given = ", ".join(types)
    text = f"func.func @main({', '.join(arguments)}) -> ({given}) {{\n  {body}\n  return {', '.join(names)} : {given}\n}}\n"
    return text, inputs, expected


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    for element, filler in (("f32", 0), ("f16", 0), ("i8", 1)):
        text, inputs, expected = write(element, filler)
        (folder / "in.mlir").write_text(text)
        files = []
        for i, x in enumerate(inputs):
            np.save(folder / f"x{i}.npy", x.view(NUMPY_TYPES[element]))
            files.append(f"--input={folder / f'x{i}.npy'}")
        files += [f"--output={folder / f'r{i}.npy'}" for i in range(len(expected))]
        for bits, options in ((256, ""), (512, "parallel-loops=false"), (128, "")):
            if element == "f16" and bits != 256:
                continue
            options = f"target={{#layout.cpu<lanes = 16, vector_bits = {bits}>}} {options}"
            run_tool("layout-opt", folder / "in.mlir", "--convert-layout-to-linalg",
                     f"--layout-linalg-to-llvm={options}", "-o", folder / "out.mlir")
            run_tool("layout-run", folder / "out.mlir", *files, "--threads=2", "--opt-level=1")
            for i, want in enumerate(expected):
                result = np.load(folder / f"r{i}.npy").view(want.dtype)
                assert np.array_equal(result, want), (element, filler, options, (CASES + DYNAMIC)[i])
