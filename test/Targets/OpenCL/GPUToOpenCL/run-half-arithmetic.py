# Check half-precision arithmetic, compiled by clang for this processor, against NumPy; sums have f32 precision.

# REQUIRES: clang, spirv-val
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs/half_device.c
import ctypes
import itertools
import json
import pathlib
import subprocess
import sys

import numpy as np

from layout_mlir.tools import run_tool

folder, device = pathlib.Path(sys.argv[1]), sys.argv[2]
random = np.random.default_rng(5)
DTYPES = {"f16": "f2", "f32": "f4", "i8": "i1", "i32": "i4", "i64": "i8"}
CTYPES = {"f32": ctypes.c_float, "i32": ctypes.c_uint32, "i64": ctypes.c_uint64}


class Image(ctypes.Structure):
    _fields_ = [("pixels", ctypes.c_void_p), ("width", ctypes.c_long), ("height", ctypes.c_long)]


def clang(*options):
    subprocess.run(["clang-22", "-O1", "-fPIC", *map(str, options)], check=True)


def run(name, text, *inputs):
    """Returns the results of the package of @main, its source, and the text of its SPIR-V."""
    stem = folder / name
    stem.with_suffix(".mlir").write_text(text)
    run_tool("layout-opt", f"{stem}.mlir", "--layout-cpu-prepare-entry-points", "--convert-layout-to-gpu",
             "--lower-affine", "--canonicalize", "--cse", "-o", f"{stem}.gpu.mlir")
    run_tool("layout-translate", "--layout-to-opencl-package", f"{stem}.gpu.mlir", "-o", stem)
    manifest = json.loads((stem / "manifest.json").read_text())
    # The validator's OpenCL 1.2 environment rejects what requires an extension.
    subprocess.run(["spirv-val", "--target-env", "spv1.0", stem / "kernels.spv"], check=True)
    source = (stem / "kernels.cl").read_text()
    flags = ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-Werror"]
    clang(*flags, "-target", "spir64", "-fsyntax-only", stem / "kernels.cl")
    clang(*flags, "-c", stem / "kernels.cl", "-o", stem / "kernels.o")
    clang("-shared", stem / "kernels.o", device, "-o", stem / "kernels.so", "-lm", "-Wl,-z,defs")
    library = ctypes.CDLL(str(stem / "kernels.so"))
    kernels = {kernel["name"]: kernel for kernel in manifest["kernels"]}
    memory = []
    for each in manifest["memory"]:
        is_image = each["kind"] == "image2d"
        count = 4 * each["width"] * each["height"] if is_image else each["elements"]
        data = np.full(count, 99, DTYPES["f16" if is_image else each["element"]])
        memory.append((data, Image(data.ctypes.data, each["width"], each["height"]) if is_image else None))
    outputs = {}
    for command in manifest["commands"]:
        kind = command["command"]
        if kind == "upload":
            memory[command["memory"]][0][:] = inputs[command["input"]].reshape(-1)
        elif kind == "download":
            outputs[command["output"]] = memory[command["memory"]][0]
        elif kind == "launch":
            kernel = kernels[command["kernel"]]
            values = []
            for argument, given in zip(kernel["arguments"], command["arguments"]):
                if "scalar" in given:
                    values.append(CTYPES[argument["type"]](given["scalar"]))
                    continue
                data, image = memory[given["memory"]]
                values.append(ctypes.byref(image) if image else ctypes.c_void_p(data.ctypes.data))
            function = getattr(library, kernel["source_name"])
            grid = [g * i for g, i in zip(command["groups"], command["items"])]
            for at in itertools.product(*map(range, grid)):
                library.set_global_id(*map(ctypes.c_size_t, at))
                function(*values)
    words = subprocess.run(["spirv-dis", stem / "kernels.spv"], check=True, text=True, capture_output=True).stdout
    return outputs[0], source, words


IMAGES = {  # of the operands and of the result of a product
    "linear": ("", "", ""),
    "images": (", #layout.map<(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)>",
               ", #layout.map<(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)>",
               ", #layout.map<(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)>"),
    "lanes": (", #layout.map<(a, b) -> image2d(x = b, y = a floordiv 4, lane = a mod 4)>", "",
              ", #layout.map<(a, b) -> image2d(x = b, y = a floordiv 4, lane = a mod 4)>"),
}
PARAMETERS = "half_arithmetic = true, group_items = 1"


def elementwise(images, m, n):
    t = f"tensor<{m}x{n}xf16"
    x = (random.standard_normal((m, n)) * 4).astype("f2")
    y = (random.standard_normal((m, n)) * 4).astype("f2")
    found, source, words = run(f"elementwise_{images}_{m}_{n}", f"""
module attributes {{layout.target = #layout.opencl<{PARAMETERS}>}} {{
func.func @main(%x0: {t}>, %y0: {t}>) -> {t}> {{
  %x = layout.convert %x0 : {t}> to {t}{IMAGES[images][0]}>
  %y = layout.convert %y0 : {t}> to {t}{IMAGES[images][0]}>
  %c = arith.constant dense<1.2998e+00> : {t}{IMAGES[images][0]}>
  %z = arith.constant dense<-5.9605e-08> : {t}{IMAGES[images][0]}>
  %a = arith.mulf %x, %y : {t}{IMAGES[images][0]}>
  %b = arith.addf %a, %c : {t}{IMAGES[images][0]}>
  %d = arith.divf %b, %x : {t}{IMAGES[images][0]}>
  %e = arith.maximumf %d, %z : {t}{IMAGES[images][0]}>
  %f = math.exp %e : {t}{IMAGES[images][0]}>
  %g = arith.subf %f, %y : {t}{IMAGES[images][0]}>
  %less = arith.cmpf ult, %g, %x : {t}{IMAGES[images][0]}>
  %h = arith.select %less, %g, %e : tensor<{m}x{n}xi1{IMAGES[images][0]}>, {t}{IMAGES[images][0]}>
  %r = layout.convert %h : {t}{IMAGES[images][0]}> to {t}>
  return %r : {t}>
}}
}}""", x, y)
    with np.errstate(all="ignore"):
        d = (x * y + np.float16(1.2998)) / x
        e = np.maximum(d, np.float16(-5.9605e-08))
        g = np.exp(e.astype("f4")).astype("f2") - y
        wanted = np.where(~(g >= x), g, e)
    assert wanted.dtype == np.float16
    np.testing.assert_array_equal(found.reshape(m, n), wanted)
    assert "cl_khr_fp16" in source and "vload_half" not in source and "OpCapability Float16\n" in words, source


def product(images, m, k, n):
    """Checks that each product rounds to f16, and the sum only at its end."""
    a, b, c = (IMAGES[images][i] for i in range(3))
    x = random.standard_normal((m, k)).astype("f2")
    y = random.standard_normal((k, n)).astype("f2")
    start = random.standard_normal((m, n)).astype("f2")
    found, source, words = run(f"product_{images}_{m}_{k}_{n}", f"""
module attributes {{layout.target = #layout.opencl<{PARAMETERS}>}} {{
func.func @main(%x0: tensor<{m}x{k}xf16>, %y0: tensor<{k}x{n}xf16>, %s0: tensor<{m}x{n}xf16>) -> tensor<{m}x{n}xf16> {{
  %x = layout.convert %x0 : tensor<{m}x{k}xf16> to tensor<{m}x{k}xf16{a}>
  %y = layout.convert %y0 : tensor<{k}x{n}xf16> to tensor<{k}x{n}xf16{b}>
  %s = layout.convert %s0 : tensor<{m}x{n}xf16> to tensor<{m}x{n}xf16{c}>
  %p = linalg.matmul ins(%x, %y : tensor<{m}x{k}xf16{a}>, tensor<{k}x{n}xf16{b}>) outs(%s : tensor<{m}x{n}xf16{c}>)
      -> tensor<{m}x{n}xf16{c}>
  %r = layout.convert %p : tensor<{m}x{n}xf16{c}> to tensor<{m}x{n}xf16>
  return %r : tensor<{m}x{n}xf16>
}}
}}""", x, y, start)
    products = x[:, :, None] * y[None]
    assert products.dtype == np.float16
    wanted = start.astype("f8") + products.astype("f8").sum(1)
    # One rounding to f16, of a sum with f32 precision.
    error = np.abs(found.reshape(m, n) - wanted)
    assert np.all(error <= np.spacing(np.abs(wanted).astype("f2")) * 0.502 + 1e-6 * k), error.max()
    assert not k or ("float" in source and "cl_khr_fp16" in source), source


for images in IMAGES:
    for m, n in (3, 5), (4, 8), (1, 1), (7, 33):
        elementwise(images, m, n)
    for m, k, n in (3, 5, 7), (1, 1, 1), (4, 600, 8), (2, 6, 4), (5, 131, 3):
        product(images, m, k, n)
product("linear", 2, 0, 3)

# A maximum of halves, of pairs with their index, and a body of several ops.
x = (random.standard_normal((5, 37)) * 9).astype("f2")
found, source, words = run("bodies", f"""
module attributes {{layout.target = #layout.opencl<{PARAMETERS}, fma = true>}} {{
func.func @main(%x: tensor<5x37xf16>) -> tensor<5xf16> {{
  %low = arith.constant 0xFC00 : f16
  %zero = arith.constant 0.0 : f16
  %none = arith.constant 0 : i32
  %e = tensor.empty() : tensor<5xf16>
  %i = tensor.empty() : tensor<5xi32>
  %fe = linalg.fill ins(%low : f16) outs(%e : tensor<5xf16>) -> tensor<5xf16>
  %fi = linalg.fill ins(%none : i32) outs(%i : tensor<5xi32>) -> tensor<5xi32>
  %m:2 = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a)>],
      iterator_types = ["parallel", "reduction"]}} ins(%x : tensor<5x37xf16>) outs(%fe, %fi : tensor<5xf16>, tensor<5xi32>) {{
    ^bb0(%in: f16, %best: f16, %at: i32):
      %b = linalg.index 1 : index
      %bi = arith.index_cast %b : index to i32
      %more = arith.cmpf ogt, %in, %best : f16
      %r = arith.select %more, %in, %best : f16
      %ri = arith.select %more, %bi, %at : i32
      linalg.yield %r, %ri : f16, i32
  }} -> (tensor<5xf16>, tensor<5xi32>)
  %fz = linalg.fill ins(%zero : f16) outs(%e : tensor<5xf16>) -> tensor<5xf16>
  %s = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
      iterator_types = ["parallel", "reduction"]}} ins(%x : tensor<5x37xf16>) outs(%fz : tensor<5xf16>) {{
    ^bb0(%in: f16, %sum: f16):
      %bits = arith.bitcast %in : f16 to i16
      %back = arith.bitcast %bits : i16 to f16
      %w = arith.extf %in : f16 to f32
      %t = arith.truncf %w : f32 to f16
      %p = arith.mulf %back, %t : f16
      %q = math.absf %p : f16
      %r = arith.addf %q, %sum : f16
      linalg.yield %r : f16
  }} -> tensor<5xf16>
  %o = linalg.map ins(%s, %m#0, %m#1 : tensor<5xf16>, tensor<5xf16>, tensor<5xi32>) outs(%e : tensor<5xf16>)
    (%s1: f16, %v: f16, %at: i32, %o: f16) {{
      %f = arith.sitofp %at : i32 to f16
      %y = arith.divf %s1, %v : f16
      %z = arith.addf %y, %f : f16
      linalg.yield %z : f16
    }}
  return %o : tensor<5xf16>
}}
}}""", x)
total = np.abs(x * x).astype("f4").sum(1, dtype="f4").astype("f2")
wanted = total / x.max(1) + x.argmax(1).astype("f2")
assert wanted.dtype == np.float16
np.testing.assert_allclose(found, wanted, rtol=2e-3)
