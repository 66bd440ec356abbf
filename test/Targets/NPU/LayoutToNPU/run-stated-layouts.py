# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check that tensors whose types state a scatter keep it in the assignment and on the cores: every mode and packing, at
# every rank, in the simulator against numpy.
import itertools
import pathlib
import sys

import numpy as np

from layout_mlir.npu import Program
from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
CHIP = "#npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 16>"
NUMPY = {"f32": np.float32, "f16": np.float16, "i8": np.int8}
# Shapes, elements, and the scatters that a tensor passes through.
CASES = [
    ((5,), "f32", ['aligned, start = 1, axes = "C"', 'compact, start = 0, axes = "W"']),
    ((1,), "f16", ['compact, start = 3, axes = "N"', 'aligned, start = 0, pack = n2, axes = "N"']),
    ((8, 8), "f32", ['aligned, start = 0, axes = "NW"', 'aligned, start = 0, axes = "NC"', "matrix 2, start = 0"]),
    ((5, 7), "f32", ["matrix 3, start = 1", 'compact, start = 2, axes = "HC"', "matrix 7, start = 0"]),
    ((1, 4), "f32", ['compact, start = 0, pack = ic2, axes = "NW"', 'compact, start = 0, axes = "CW"']),
    ((3, 1, 2), "f32", ['compact, start = 3, axes = "NWC"', 'aligned, start = 0, axes = "NCW"']),
    ((2, 5, 3, 4), "f32", ["aligned, start = 2", "compact, start = 0", "strided [24, 12, 4, 1], start = 1"]),
    ((3, 5, 2, 3), "f16", ["aligned, start = 0, pack = n2", "compact, start = 3, pack = n2", "aligned, start = 1"]),
    ((7, 3, 3, 1), "i8", ["aligned, start = 0, pack = n4", "compact, start = 2, pack = n4", "compact, start = 0"]),
    ((1, 5, 7, 8), "f32", ['compact, start = 0, axes = "CNHW"', 'compact, start = 0, axes = "WHCN"']),
    ((2, 2, 3, 2, 3), "f32", ['aligned, start = 1, axes = "NNCHW"', 'compact, start = 0, axes = "NCHHW"']),
]


def write(number, shape, element, scatters):
    """Returns conversions of an argument to each layout in turn, with an op on each, and the result."""
    def type_of(scatter):
        encoding = f", #layout.npu_scatter<{scatter}, target = {CHIP}>" if scatter else ""
        return f"tensor<{'x'.join(map(str, (*shape, element)))}{encoding}>"

    op = "arith.maxsi" if element == "i8" else "arith.addf"
    maps = ", ".join(["affine_map<({0}) -> ({0})>".format(", ".join(f"d{d}" for d in range(len(shape))))] * 3)
    loops = ", ".join(['"parallel"'] * len(shape))
    value, before = f"%x{number}", type_of("")
    for step, scatter in enumerate(scatters):
        name, stated = f"{number}_{step}", type_of(scatter)
        yield f"  %c{name} = layout.convert {value} : {before} to {stated}"
        value, before = f"%r{name}", stated
        if step % 2:  # an op on tensors, which becomes a structured one
            yield f"  {value} = {op} %c{name}, %c{name} : {stated}"
            continue
        yield f"""  %e{name} = tensor.empty() : {stated}
  %r{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}}
      ins(%c{name}, %c{name} : {stated}, {stated}) outs(%e{name} : {stated}) {{
    ^bb0(%a: {element}, %b: {element}, %o: {element}):
      %s = {op} %a, %b : {element}
      linalg.yield %s : {element}
  }} -> {stated}"""
    yield f"  %y{number} = layout.convert {value} : {before} to {type_of('')}"


plain = [f"tensor<{'x'.join(map(str, (*shape, element)))}>" for shape, element, _ in CASES]
body = "\n".join(itertools.chain.from_iterable(write(k, *case) for k, case in enumerate(CASES)))
source, lowered = folder / "source.mlir", folder / "lowered.mlir"
source.write_text(f"""func.func @main({', '.join(f'%x{k}: {type}' for k, type in enumerate(plain))}) -> ({', '.join(plain)}) {{
{body}
  return {', '.join(f'%y{k}' for k in range(len(CASES)))} : {', '.join(plain)}
}}
""")
run_tool("layout-opt", source, f"--layout-to-npu=target={{#layout.npu<chip = {CHIP}>}}", "-o", lowered)

random = np.random.default_rng(7)
inputs = [random.integers(-50, 50, shape).astype(NUMPY[element]) for shape, element, _ in CASES]
outputs = Program(lowered, folder=folder / "package", simulator_kernels=True).run(*inputs).outputs
for given, made, (_, element, scatters) in zip(inputs, outputs, CASES, strict=True):
    np.testing.assert_array_equal(made, given if element == "i8" else given * 2 ** len(scatters))
