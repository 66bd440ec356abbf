# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check that a tensor without the dim that is distributed over cores is loaded once per core, against NumPy.
import pathlib
import sys

import numpy as np

from layout_mlir.tools import run_tool
from vendor_model import Program

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(29)
CHIP = "#npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 32>"


def type_of(shape, layout=None):
    encoding = f", #layout.npu_scatter<{layout}, target = {CHIP}>" if layout else ""
    return f"tensor<{'x'.join(map(str, shape))}xf32{encoding}>"


def add(name, x, x_type, b, b_type, maps, made):
    rank = maps[0].count("d")
    loops = ", ".join(['"parallel"'] * rank)
    dims = ", ".join(f"d{i}" for i in range(rank))
    maps = ", ".join(f"affine_map<({dims}) -> {map}>" for map in maps)
    return f"""  %{name}e = tensor.empty() : {made}
  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}} ins({x}, {b} : {x_type}, {b_type}) outs(%{name}e : {made}) {{
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.subf %a, %c : f32
      linalg.yield %s : f32
  }} -> {made}
"""


def run(text, *inputs, target=None):
    source, lowered = folder / "source.mlir", folder / "lowered.mlir"
    source.write_text(text)
    passes = (["--convert-layout-to-npu", "--npu-assign-addresses"] if target is None else
              [f"--layout-to-npu=target={{{target}}}"])
    run_tool("layout-opt", source, *passes, "-o", lowered)
    return Program(lowered, folder=folder / "package").run(*inputs)


def check(shape, layout, dims, most):
    """Checks x - b, where b only has these dims."""
    x = random.standard_normal(shape).astype(np.float32)
    b = random.standard_normal([shape[d] for d in dims]).astype(np.float32)
    whole = f"({', '.join(f'd{i}' for i in range(len(shape)))})"
    maps = [whole, f"({', '.join(f'd{d}' for d in dims)})", whole]
    here, there = type_of(shape), type_of(shape, layout)
    text = f"""func.func @main(%x: {here}, %b: {type_of(b.shape)}) -> {here} {{
  %l = layout.convert %x : {here} to {there}
{add("y", "%l", there, "%b", type_of(b.shape), maps, there)}  %r = layout.convert %y : {there} to {here}
  return %r : {here}
}}
"""
    result = run(text, x, b)
    wanted = x - b.reshape([shape[d] if d in dims else 1 for d in range(len(shape))])
    np.testing.assert_array_equal(result.outputs[0], wanted)
    assert result.counters["bytes_s2l"] - x.nbytes == most * b.nbytes, result.counters


check((1, 6, 4, 5), "aligned, start = 1", [3], 4)
check((2, 13, 3, 2), "aligned, start = 3", [0, 2], 4)
check((2, 3, 3, 2), "compact, start = 2", [2, 3], 3)
check((1, 17, 1, 1), "compact, start = 0", [0], 4)
check((9, 30), "matrix 8, start = 0", [0], 4)
check((9, 30), "matrix 8, start = 3", [0], 4)
check((5, 7), "matrix 7, start = 2", [0], 1)
check((5, 11), 'aligned, start = 1, axes = "CW"', [1], 4)
check((3, 4, 11), 'aligned, start = 1, axes = "NHC"', [0, 1], 4)
check((3, 4, 11), "matrix 3, start = 1, axes = \"NNM\"", [1], 4)

# Layouts by the assignment: a bias of rows, and a number per row.
for target in ['#layout.npu<chip = #npu.target<"BM1684">, launch_cost = 4096, flops_per_byte = 32>',
               f"#layout.npu<chip = {CHIP}, launch_cost = 64, flops_per_byte = 8>"]:
    for rows, columns in [(197, 20), (3, 200), (65, 1), (1, 65)]:
        x = random.standard_normal((rows, columns)).astype(np.float32)
        b = random.standard_normal(columns).astype(np.float32)
        m = random.standard_normal(rows).astype(np.float32)
        type = type_of(x.shape)
        text = f"""func.func @main(%x: {type}, %b: {type_of(b.shape)}, %m: {type_of(m.shape)}) -> {type} {{
{add("y", "%x", type, "%b", type_of(b.shape), ["(d0, d1)", "(d1)", "(d0, d1)"], type)}{add("r", "%y", type, "%m", type_of(m.shape), ["(d0, d1)", "(d0)", "(d0, d1)"], type)}  return %r : {type}
}}
"""
        np.testing.assert_array_equal(run(text, x, b, m, target=target).outputs[0], x - b - m[:, None])
