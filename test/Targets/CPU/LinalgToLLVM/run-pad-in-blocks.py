# RUN: rm -rf %t && mkdir %t
# RUN: %python %s module > %t/in.mlir
# RUN: layout-opt %t/in.mlir --layout-linalg-to-llvm="target={#layout.cpu<lanes = 8, l2_bytes = 32768>}" -o %t/one.mlir
# RUN: layout-opt %t/in.mlir --layout-linalg-to-llvm="target={#layout.cpu<lanes = 8, l2_bytes = 32768>} parallel-loops" \
# RUN:   --mlir-print-ir-after=layout-cpu-pad-in-blocks -o %t/two.mlir 2> %t/blocks.mlir
# RUN: layout-opt %t/in.mlir --layout-linalg-to-llvm="target={#layout.cpu<lanes = 8>} fuse=false" -o %t/plain.mlir
# RUN: %python %s run %t
# Check windows over padded images that are computed in blocks: of channels, also of a prime number of them, or of
# images of a batch; of f32, f16 and i8; maxima, sums with a division of the results, and products with weights.
import pathlib
import sys

import numpy as np
from layout_mlir.tools import run_tool
from numpy.lib.stride_tricks import sliding_window_view

TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8}
# The image, element, operation, window, stride, and the padding before and after rows and columns.
KINDS = [((1, 6, 30, 31), "f32", "max", 3, 2, (1, 1)), ((3, 5, 16, 17), "f32", "max", 2, 1, (0, 1)),
         ((1, 7, 32, 28), "f32", "mean", 3, 2, (1, 1)), ((1, 13, 40, 41), "i8", "max", 5, 1, (2, 2)),
         ((1, 8, 33, 47), "f16", "max", 3, 3, (1, 0)), ((1, 9, 25, 26), "f32", "conv", 3, 1, (1, 1)),
         ((1, 1, 64, 80), "f32", "max", 3, 2, (1, 1)), ((2, 0, 64, 80), "f32", "max", 3, 2, (1, 1))]


def get_size(kind):
    image, _, _, window, stride, padding = kind
    return [(size + sum(padding) - window) // stride + 1 for size in image[2:]]


def write_module():
    tensor = lambda shape, element: f"tensor<{'x'.join(map(str, (*shape, element)))}>"
    arguments, results, lines, names = [], [], [], []
    for n, (image, element, operation, window, stride, padding) in enumerate(KINDS):
        size = get_size(KINDS[n])
        padded = tensor([*image[:2], *(each + sum(padding) for each in image[2:])], element)
        result, weights = tensor([*image[:2], *size], element), tensor([image[1], window, window], element)
        low = {"i8": "-128", "f16": "0xFC00", "f32": "0xFF800000"}[element] if operation == "max" else "0.0"
        combine = {"max": "arith.maxsi %acc, %a" if element == "i8" else "arith.maximumf %acc, %a",
                   "mean": "arith.addf %acc, %a", "conv": "arith.addf %acc, %m"}[operation]
        arguments.append(f"%x{n}: {tensor(image, element)}")
        if operation == "conv":
            arguments.append(f"%w{n}: {weights}")
        lines += [f"%c{n} = arith.constant {low} : {element}", f"%e{n} = tensor.empty() : {result}",
                  f"%u{n} = tensor.empty() : {weights}",
                  f"%p{n} = tensor.pad %x{n} low[0, 0, {padding[0]}, {padding[0]}] high[0, 0, {padding[1]}, {padding[1]}] {{",
                  "^bb0(%i: index, %j: index, %k: index, %l: index):",
                  f"  tensor.yield %c{n} : {element}", f"}} : {tensor(image, element)} to {padded}",
                  f"%f{n} = linalg.fill ins(%c{n} : {element}) outs(%e{n} : {result}) -> {result}",
                  f"%r{n} = linalg.generic {{indexing_maps = [affine_map<(n, c, h, w, i, j) -> (n, c, {stride} * h + i, "
                  f"{stride} * w + j)>, affine_map<(n, c, h, w, i, j) -> (c, i, j)>, affine_map<(n, c, h, w, i, j) -> "
                  "(n, c, h, w)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
                  f"\"reduction\", \"reduction\"]}} ins(%p{n}, {'%w' if operation == 'conv' else '%u'}{n} : {padded}, "
                  f"{weights}) outs(%f{n} : {result}) {{", f"^bb0(%a: {element}, %b: {element}, %acc: {element}):",
                  *([f"  %m = arith.mulf %a, %b : {element}"] if operation == "conv" else []),
                  f"  %s = {combine} : {element}", f"  linalg.yield %s : {element}", f"}} -> {result}"]
        names.append(f"%r{n}")
        results.append(result)
        if operation == "mean":
            lines += [f"%d{n} = arith.constant {window * window}.0 : f32",
                      f"%q{n} = linalg.generic {{indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, "
                      "affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = [\"parallel\", \"parallel\", "
                      f"\"parallel\", \"parallel\"]}} ins(%r{n} : {result}) outs(%e{n} : {result}) {{",
                      "^bb0(%a: f32, %o: f32):", f"  %s = arith.divf %a, %d{n} : f32", "  linalg.yield %s : f32",
                      f"}} -> {result}"]
            names[-1] = f"%q{n}"
    body = "\n  ".join(lines)
    print(f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n  {body}\n"
          f"  return {', '.join(names)} : {', '.join(results)}\n}}")


def compute(kind, x, w):
    _, _, operation, window, stride, padding = kind
    low = 0 if operation != "max" else np.iinfo(x.dtype).min if x.dtype.kind == "i" else -np.inf
    padded = np.pad(x, [(0, 0), (0, 0), padding, padding], constant_values=low)
    windows = sliding_window_view(padded, (window, window), axis=(2, 3))[:, :, ::stride, ::stride]
    if operation == "max":
        return windows.max(axis=(-1, -2))
    if operation == "mean":
        return windows.astype("f8").sum(axis=(-1, -2)) / window ** 2
    return np.einsum("nchwij,cij->nchw", windows.astype("f8"), w)


def run(folder):
    rng, inputs, wanted = np.random.default_rng(3), [], []
    for n, kind in enumerate(KINDS):
        x = (rng.standard_normal(kind[0]) * 50).astype(TYPES[kind[1]])
        w = rng.standard_normal((kind[0][1], kind[3], kind[3])).astype("f4")
        for name, array in [("x", x), ("w", w)][:1 + (kind[2] == "conv")]:
            inputs.append(f"--input={folder / f'{name}{n}.npy'}")
            np.save(folder / f"{name}{n}.npy", array)
        wanted.append(compute(kind, x, w))
    outputs = [f"--output={folder / f'{n}.npy'}" for n in range(len(KINDS))]
    for program, threads in ("one", 1), ("two", 2), ("plain", 1):
        run_tool("layout-run", folder / f"{program}.mlir", f"--threads={threads}", "--cache=", *inputs, *outputs)
        for n, each in enumerate(wanted):
            found = np.load(folder / f"{n}.npy")
            assert found.shape == each.shape
            tolerance = 1e-5 if each.dtype == np.float64 else 0
            assert np.allclose(found, each, rtol=tolerance, atol=50 * tolerance), (program, KINDS[n])
    # The images of one channel and of none have no blocks.
    assert (folder / "blocks.mlir").read_text().count("scf.for") == len(KINDS) - 2


write_module() if sys.argv[1] == "module" else run(pathlib.Path(sys.argv[2]))
