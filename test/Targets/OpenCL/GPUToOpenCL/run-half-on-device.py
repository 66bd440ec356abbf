# Check half-precision arithmetic on a device that has it, from SPIR-V and from OpenCL C, in buffers and in images:
# elementwise ops round to f16 like NumPy, and sums of products have f32 precision.

# REQUIRES: opencl-device, opencl-fp16
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
import os
import pathlib
import sys

import numpy as np

from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(7)
TARGET = "#layout.opencl<half_arithmetic = true>"
IMAGES = {
    "buffers": "",
    "columns": ", #layout.map<(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)>",
    "rows": ", #layout.map<(a, b) -> image2d(x = b, y = a floordiv 4, lane = a mod 4)>",
}


def run(name, text, *inputs):
    """Returns the results of @main from SPIR-V and from OpenCL C."""
    stem = folder / name
    stem.with_suffix(".mlir").write_text(text)
    run_tool("layout-opt", f"{stem}.mlir", f"--layout-to-opencl=target={{{TARGET}}}", "-o", f"{stem}.ll.mlir")
    for i, data in enumerate(inputs):
        np.save(f"{stem}.{i}.npy", data)
    for source in "01":
        os.environ["LAYOUT_OPENCL_SOURCE"] = source
        run_tool("layout-run", f"{stem}.ll.mlir", *(f"--input={stem}.{i}.npy" for i in range(len(inputs))),
                 f"--output={stem}.out{source}.npy")
        yield np.load(f"{stem}.out{source}.npy")


def check_elementwise(name, m, n):
    plain, stored = f"tensor<{m}x{n}xf16>", f"tensor<{m}x{n}xf16{IMAGES[name]}>"
    x, y = ((random.standard_normal((m, n)) * 4).astype("f2") for _ in range(2))
    text = f"""
func.func @main(%x0: {plain}, %y0: {plain}) -> {plain} {{
  %x = layout.convert %x0 : {plain} to {stored}
  %y = layout.convert %y0 : {plain} to {stored}
  %c = arith.constant dense<1.2998e+00> : {stored}
  %a = arith.mulf %x, %y : {stored}
  %b = arith.addf %a, %c : {stored}
  %d = arith.subf %b, %x : {stored}
  %e = arith.maximumf %d, %y : {stored}
  %r = layout.convert %e : {stored} to {plain}
  return %r : {plain}
}}"""
    wanted = np.maximum(x * y + np.float16(1.2998) - x, y)
    for found in run(f"elementwise-{name}-{m}x{n}", text, x, y):
        np.testing.assert_array_equal(found, wanted)


def check_product(name, m, k, n):
    types = [f"tensor<{a}x{b}xf16{{}}>" for a, b in ((m, k), (k, n), (m, n))]
    (x, y, z), (sx, sy, sz) = ([each.format(layout) for each in types] for layout in ("", IMAGES[name]))
    a, b = random.standard_normal((m, k)).astype("f2"), random.standard_normal((k, n)).astype("f2")
    text = f"""
func.func @main(%x0: {x}, %y0: {y}) -> {z} {{
  %zero = arith.constant dense<0.0> : {sz}
  %x = layout.convert %x0 : {x} to {sx}
  %y = layout.convert %y0 : {y} to {sy}
  %p = linalg.matmul ins(%x, %y : {sx}, {sy}) outs(%zero : {sz}) -> {sz}
  %r = layout.convert %p : {sz} to {z}
  return %r : {z}
}}"""
    wanted = (a[:, :, None] * b[None]).astype("f8").sum(1)
    for found in run(f"product-{name}-{m}x{k}x{n}", text, a, b):
        error = np.abs(found - wanted)
        assert np.all(error <= np.spacing(np.abs(wanted).astype("f2")) * 0.502 + 1e-6 * k), (name, m, k, n, error.max())


for name in IMAGES:
    for m, n in (3, 5), (7, 33):
        check_elementwise(name, m, n)
    for m, k, n in (3, 5, 7), (4, 600, 8):
        check_product(name, m, k, n)
