# RUN: %python %s
# Check transposing copies of every strategy, element size and vector length against NumPy, with any number of threads.
import pathlib
import tempfile

import numpy as np

from layout_mlir.tools import run_tool

# Extents and the order of the result.
TRANSPOSES = [
    ((64, 80), (1, 0)), ((61, 37), (1, 0)), ((3, 70), (1, 0)), ((70, 3), (1, 0)), ((2, 65), (1, 0)),
    ((7, 5), (1, 0)), ((64, 2048), (1, 0)), ((16, 32, 1, 1), (1, 2, 3, 0)), ((2, 16, 32, 9), (0, 3, 2, 1)),
    ((2, 5, 7, 49), (0, 2, 3, 1)), ((9, 21, 16), (1, 0, 2)), ((9, 21, 3), (1, 0, 2)), ((9, 21, 70), (1, 0, 2)),
    ((4, 6, 1000), (1, 0, 2)), ((1, 33, 1), (2, 1, 0)), ((2, 3, 4, 5), (3, 1, 0, 2)), ((6, 0, 8), (2, 1, 0)),
    ((17, 4, 12), (1, 2, 0)), ((3, 3, 24, 20), (3, 2, 0, 1)),
    ((512, 49), (1, 0)), ((320, 16, 49), (2, 1, 0)), ((520, 512), (1, 0)), ((512, 530), (1, 0)), ((1024, 200), (1, 0)), ((2, 300, 1024), (0, 2, 1)),
    ((2, 20, 17, 9), (0, 3, 2, 1)), ((5, 70), (1, 0)), ((70, 5), (1, 0)), ((7, 65), (1, 0)), ((2, 65, 7), (0, 2, 1)),
    ((9, 70), (1, 0)), ((2, 40, 9), (0, 2, 1)), ((2, 16, 3, 16, 9), (0, 2, 4, 3, 1)),
    ((11, 70), (1, 0)), ((2, 67, 11), (0, 2, 1)), ((13, 65), (1, 0)), ((71, 13), (1, 0)),
    ((1024, 120), (1, 0)), ((1030, 250), (1, 0)), ((1024, 250), (1, 0)), ((99, 3072), (1, 0)), ((28, 8192), (1, 0))]
DYNAMIC = (5, 24, 20)
# Channels of an image that is packed in blocks of 16, and unpacked again.
PACKED = (2, 35, 3, 7)
TYPES = {"i1": np.bool_, "i4": np.int8, "i8": np.int8, "f16": np.float16, "bf16": np.uint16,
         "f32": np.float32, "f64": np.float64, "i64": np.int64}


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, (*shape, element)))}>"


def write(element):
    """Returns one function of all copies, and the shapes of its arguments."""
    zero = "0.0" if "f" in element else "0"
    shapes = [shape for shape, _ in TRANSPOSES] + [DYNAMIC, PACKED]
    types = [tensor(shape, element) for shape in shapes]
    batch = tensor(("?", *DYNAMIC[1:]), element)
    types[-2] = batch
    lines, results = ["%c0 = arith.constant 0 : index", f"%zero = arith.constant {zero} : {element}"], []

    def add(op, type):
        results.append((f"%r{len(results)}", type))
        lines.append(f"{results[-1][0]} = {op}")

    for i, (shape, order) in enumerate(TRANSPOSES):
        turned = tensor([shape[d] for d in order], element)
        lines.append(f"%e{i} = tensor.empty() : {turned}")
        add(f"linalg.transpose ins(%x{i} : {types[i]}) outs(%e{i} : {turned}) permutation = {list(order)}", turned)
    i += 1
    turned = tensor(("?", DYNAMIC[2], DYNAMIC[1]), element)
    lines += [f"%n = tensor.dim %x{i}, %c0 : {batch}", f"%e{i} = tensor.empty(%n) : {turned}"]
    add(f"linalg.transpose ins(%x{i} : {batch}) outs(%e{i} : {turned}) permutation = [0, 2, 1]", turned)
    i += 1
    n, c, h, w = PACKED
    blocks = tensor((n, -(-c // 16), h, w, 16), element)
    lines.append(f"%e{i} = tensor.empty() : {blocks}")
    add(f"linalg.pack %x{i} padding_value(%zero : {element}) inner_dims_pos = [1] inner_tiles = [16] into "
        f"%e{i} : {types[i]} -> {blocks}", blocks)
    lines.append(f"%plain = tensor.empty() : {types[i]}")
    add(f"linalg.unpack {results[-1][0]} inner_dims_pos = [1] inner_tiles = [16] into %plain : {blocks} -> "
        f"{types[i]}", types[i])
    arguments = ", ".join(f"%x{i}: {type}" for i, type in enumerate(types))
    names, given = (", ".join(part) for part in zip(*results))
    body = "\n  ".join(lines)
    return f"func.func @main({arguments}) -> ({given}) {{\n  {body}\n  return {names} : {given}\n}}\n", shapes


def expect(inputs):
    results = [x.transpose(order) for x, (_, order) in zip(inputs, TRANSPOSES)]
    results.append(inputs[-2].transpose(0, 2, 1))
    n, c, h, w = PACKED
    padded = np.pad(inputs[-1], ((0, 0), (0, -c % 16), (0, 0), (0, 0)))
    results.append(padded.reshape(n, -1, 16, h, w).transpose(0, 1, 3, 4, 2))
    return [*results, inputs[-1]]


rng = np.random.default_rng(0)
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    for element, numpy_type in TYPES.items():
        text, shapes = write(element)
        (folder / "in.mlir").write_text(text)
        low, high = (0, 2) if element == "i1" else (-8, 8) if element == "i4" else (0, 100)
        inputs = [rng.integers(low, high, shape).astype(numpy_type) for shape in shapes]
        expected = expect(inputs)
        files = []
        for i, x in enumerate(inputs):
            np.save(folder / f"x{i}.npy", x)
            files.append(f"--input={folder / f'x{i}.npy'}")
        files += [f"--output={folder / f'r{i}.npy'}" for i in range(len(expected))]
        # LLVM's optimizations are of f32 only, because they take most of the time.
        level = int(element == "f32")
        for options in ("cpu=x86-64-v3", "cpu=x86-64-v4 parallel-loops=false", "target={#layout.cpu<lanes = 16, vector_bits = 128>}"):
            if element not in ("i8", "f16", "f32") and options != "cpu=x86-64-v3":
                continue
            run_tool("layout-opt", folder / "in.mlir", f"--layout-linalg-to-llvm={options}", "-o",
                     folder / "out.mlir")
            run_tool("layout-run", folder / "out.mlir", *files, "--threads=2", f"--opt-level={level}")
            for i, want in enumerate(expected):
                result = np.load(folder / f"r{i}.npy")
                assert np.array_equal(result, want), (element, options, i, want.shape)
