# Check dynamic images on a target with small limits and image_fallback: images if all of them fit, otherwise buffers,
# with equal results.

# REQUIRES: opencl-device
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
import pathlib
import re
import subprocess
import sys

import numpy as np

from layout_mlir.tools import run_tool, run_tool_for_all

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(5)
PASSES = ["--layout-cpu-prepare-entry-points", "--layout-prepare-decompose-aggregates", "--canonicalize",
          "--convert-layout-to-gpu", "--lower-affine", "--canonicalize", "--cse"]
PARAMETERS = "image2d_max_width = 24, image2d_max_height = 20, assumed_size = 4"
IMAGE = "#layout.rgba_image<in_out_channel, \"NCHW\">"


def compile(name, text, parameters=PARAMETERS + ", image_fallback = true"):
    stem = folder / name
    stem.with_suffix(".mlir").write_text(f"#img = {IMAGE}\nmodule attributes {{layout.target = #layout.opencl<{parameters}>}} {{{text}}}")
    _, remarks = run_tool_for_all("layout-opt", f"{stem}.mlir", *PASSES, "-o", f"{stem}.gpu.mlir",
                                  "--remark-format=emitRemark", "--remarks-filter=convert-layout-to-gpu")
    run_tool("layout-opt", f"{stem}.gpu.mlir", "--layout-gpu-to-opencl", "-o", f"{stem}.ll.mlir")
    return stem, remarks


def run(stem, *inputs, results=1):
    """Returns the results, and true if kernels on images computed them."""
    command = ["layout-run", f"{stem}.ll.mlir", "--opt-level=0", "--opencl-profile"]
    for i, data in enumerate(inputs):
        np.save(f"{stem}.in{i}.npy", data)
        command.append(f"--input={stem}.in{i}.npy")
    command += [f"--output={stem}.out{i}.npy" for i in range(results)]
    done = subprocess.run(command, check=True, text=True, capture_output=True)
    kernels = {line.split()[-1] for line in done.stderr.splitlines() if re.match(r"\s+[\d.]+\s+\d+\s", line)}
    return [np.load(f"{stem}.out{i}.npy") for i in range(results)], kernels


def check(stem, is_image, wanted, *inputs):
    found, kernels = run(stem, *inputs, results=len(wanted))
    for one, other in zip(found, wanted):
        assert one.shape == other.shape, (one.shape, other.shape)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    kernels = {kernel for kernel in kernels if not kernel.startswith("(")}
    assert all(kernel.endswith("_on_buffers") != is_image for kernel in kernels), (is_image, kernels)


def conv(x, w):
    n, _, h, v = x.shape
    p = np.pad(x.astype("f8"), ((0, 0), (0, 0), (1, 1), (1, 1)))
    return sum((np.einsum("nchw,oc->nohw", p[:, :, i:i + h, j:j + v], w[:, :, i, j]) for i in range(3) for j in range(3)),
               np.zeros((n, w.shape[0], h, v)))


# The pad and the sum are fused into their readers, and need no image that fits.
NET = """
func.func @main(%x0: tensor<?x5x?x?xf32>) -> (tensor<?x6x?x?xf32>, tensor<?x10x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %x = layout.convert %x0 : tensor<?x5x?x?xf32> to tensor<?x5x?x?xf32, #img>
  %w = arith.constant dense<WEIGHTS> : tensor<6x5x3x3xf32, #layout.rgba_image<conv2d_filter>>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<?x5x?x?xf32, #img> to tensor<?x5x?x?xf32, #img>
  %n = tensor.dim %x, %c0 : tensor<?x5x?x?xf32, #img>
  %h = tensor.dim %x, %c2 : tensor<?x5x?x?xf32, #img>
  %v = tensor.dim %x, %c3 : tensor<?x5x?x?xf32, #img>
  %e = tensor.empty(%n, %h, %v) : tensor<?x6x?x?xf32, #img>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6x?x?xf32, #img>) -> tensor<?x6x?x?xf32, #img>
  %c = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<?x5x?x?xf32, #img>, tensor<6x5x3x3xf32, #layout.rgba_image<conv2d_filter>>)
                                outs(%f : tensor<?x6x?x?xf32, #img>) -> tensor<?x6x?x?xf32, #img>
  %t = math.tanh %c : tensor<?x6x?x?xf32, #img>
  %y = layout.convert %t : tensor<?x6x?x?xf32, #img> to tensor<?x6x?x?xf32>
  %cc = tensor.concat dim(1) %x, %x : (tensor<?x5x?x?xf32, #img>, tensor<?x5x?x?xf32, #img>) -> tensor<?x10x?x?xf32, #img>
  %z = layout.convert %cc : tensor<?x10x?x?xf32, #img> to tensor<?x10x?x?xf32>
  return %y, %z : tensor<?x6x?x?xf32>, tensor<?x10x?x?xf32>
}
"""
weights = random.standard_normal((6, 5, 3, 3)).astype("f4")
stem, remarks = compile("net", NET.replace("WEIGHTS", str(weights.tolist())))
assert len(re.findall("kernels run on buffers if one of .*2.* images does not fit", remarks)) == 1, remarks
text = stem.with_suffix(".gpu.mlir").read_text()
assert text.count("memref.global") == 1, "versions share constants"
for shape, is_image in (((2, 5, 7, 4), True), ((1, 5, 1, 1), True), ((1, 5, 20, 12), True), ((1, 5, 21, 12), False),
                        ((1, 5, 20, 13), False), ((3, 5, 7, 4), False), ((4, 5, 5, 12), True), ((1, 5, 40, 1), False)):
    x = random.standard_normal(shape).astype("f4")
    check(stem, is_image, [np.tanh(conv(x, weights)), np.concatenate([x, x], 1)], x)
for shape in (3, 5, 0, 4), (0, 5, 30, 30), (1, 5, 30, 0):
    x = np.zeros(shape, "f4")
    found, _ = run(stem, x, results=2)
    assert found[0].shape == (shape[0], 6, *shape[2:]) and found[1].shape == (shape[0], 10, *shape[2:])

# The fallback is not emitted without the option, nor if no image has a dynamic size.
stem, remarks = compile("without", NET.replace("WEIGHTS", str(weights.tolist())), PARAMETERS)
assert "_on_buffers" not in stem.with_suffix(".gpu.mlir").read_text() and "does not fit" not in remarks
STATIC = """
func.func @main(%x0: tensor<2x5x7x4xf32>) -> tensor<2x5x7x4xf32> {
  %x = layout.convert %x0 : tensor<2x5x7x4xf32> to tensor<2x5x7x4xf32, #img>
  %t = math.absf %x : tensor<2x5x7x4xf32, #img>
  %y = layout.convert %t : tensor<2x5x7x4xf32, #img> to tensor<2x5x7x4xf32>
  return %y : tensor<2x5x7x4xf32>
}
"""
stem, remarks = compile("static", STATIC)
assert "_on_buffers" not in stem.with_suffix(".gpu.mlir").read_text()
x = random.standard_normal((2, 5, 7, 4)).astype("f4")
check(stem, True, [np.abs(x)], x)

# Private functions: @half takes and returns images, so that its caller decides; @plain decides itself, as does each of
# the two public functions.
CALLS = """
func.func private @half(%x: tensor<?x4x?x3xf32, #img>) -> tensor<?x4x?x3xf32, #img> {
  %h = arith.constant 0.5 : f32
  %r = linalg.map ins(%x : tensor<?x4x?x3xf32, #img>) outs(%x : tensor<?x4x?x3xf32, #img>) (%in: f32, %o: f32) {
    %m = arith.mulf %in, %h : f32
    linalg.yield %m : f32
  }
  return %r : tensor<?x4x?x3xf32, #img>
}
func.func private @plain(%x0: tensor<?x4x?x3xf32>) -> tensor<?x4x?x3xf32> {
  %x = layout.convert %x0 : tensor<?x4x?x3xf32> to tensor<?x4x?x3xf32, #img>
  %t = math.absf %x : tensor<?x4x?x3xf32, #img>
  %y = layout.convert %t : tensor<?x4x?x3xf32, #img> to tensor<?x4x?x3xf32>
  return %y : tensor<?x4x?x3xf32>
}
func.func @main(%x0: tensor<?x4x?x3xf32>) -> tensor<?x4x?x3xf32> {
  %x = layout.convert %x0 : tensor<?x4x?x3xf32> to tensor<?x4x?x3xf32, #img>
  %a = func.call @half(%x) : (tensor<?x4x?x3xf32, #img>) -> tensor<?x4x?x3xf32, #img>
  %b = func.call @half(%a) : (tensor<?x4x?x3xf32, #img>) -> tensor<?x4x?x3xf32, #img>
  %y = layout.convert %b : tensor<?x4x?x3xf32, #img> to tensor<?x4x?x3xf32>
  %z = func.call @plain(%y) : (tensor<?x4x?x3xf32>) -> tensor<?x4x?x3xf32>
  return %z : tensor<?x4x?x3xf32>
}
"""
stem, remarks = compile("calls", CALLS)
assert "if one of 5 images does not fit" in remarks, remarks
for shape, is_image in ((4, 4, 5, 3), True), ((3, 4, 7, 3), False):
    x = random.standard_normal(shape).astype("f4")
    check(stem, is_image, [np.abs(x / 4)], x)

# A loop carries an image, and a branch returns one of two.
LOOP = """
func.func @main(%x0: tensor<?x4x?x3xf32>, %n: tensor<i32>) -> tensor<?x4x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %i = tensor.extract %n[] : tensor<i32>
  %count = arith.index_cast %i : i32 to index
  %x = layout.convert %x0 : tensor<?x4x?x3xf32> to tensor<?x4x?x3xf32, #img>
  %l = scf.for %k = %c0 to %count step %c1 iter_args(%v = %x) -> (tensor<?x4x?x3xf32, #img>) {
    %s = arith.addf %v, %v : tensor<?x4x?x3xf32, #img>
    scf.yield %s : tensor<?x4x?x3xf32, #img>
  }
  %is = arith.cmpi sgt, %i, %zero : i32
  %o = scf.if %is -> (tensor<?x4x?x3xf32, #img>) {
    %s = math.absf %l : tensor<?x4x?x3xf32, #img>
    scf.yield %s : tensor<?x4x?x3xf32, #img>
  } else {
    scf.yield %l : tensor<?x4x?x3xf32, #img>
  }
  %y = layout.convert %o : tensor<?x4x?x3xf32, #img> to tensor<?x4x?x3xf32>
  return %y : tensor<?x4x?x3xf32>
}
"""
stem, remarks = compile("loop", LOOP)
for shape, is_image in ((4, 4, 5, 3), True), ((3, 4, 7, 3), False):
    for count in 0, 3:
        x = random.standard_normal(shape).astype("f4")
        check(stem, is_image, [np.abs(x * 8) if count else x], x, np.array(count, "i4"))
assert "images does not fit" in remarks and "not known" not in remarks, remarks

# A loop that enlarges its image, and a data-dependent size: always buffers.
for name, text in (("grows", LOOP.replace("%s = arith.addf %v, %v : tensor<?x4x?x3xf32, #img>\n", """
    %t = tensor.concat dim(0) %v, %v : (tensor<?x4x?x3xf32, #img>, tensor<?x4x?x3xf32, #img>) -> tensor<?x4x?x3xf32, #img>
    %s = arith.negf %t : tensor<?x4x?x3xf32, #img>
""", 1)), ("data", """
func.func @main(%x0: tensor<?x4x?x3xf32>, %n: tensor<i32>) -> tensor<?x4x?x3xf32> {
  %c2 = arith.constant 2 : index
  %m = arith.addi %n, %n : tensor<i32>
  %i = tensor.extract %m[] : tensor<i32>
  %count = arith.index_cast %i : i32 to index
  %x = layout.convert %x0 : tensor<?x4x?x3xf32> to tensor<?x4x?x3xf32, #img>
  %h = tensor.dim %x, %c2 : tensor<?x4x?x3xf32, #img>
  %s = tensor.extract_slice %x[0, 0, 0, 0] [%count, 4, %h, 3] [1, 1, 1, 1] : tensor<?x4x?x3xf32, #img> to tensor<?x4x?x3xf32, #img>
  %a = math.absf %s : tensor<?x4x?x3xf32, #img>
  %n1 = math.exp %a : tensor<?x4x?x3xf32, #img>
  %n2 = math.log %a : tensor<?x4x?x3xf32, #img>
  %t = arith.addf %n1, %n2 : tensor<?x4x?x3xf32, #img>
  %y = layout.convert %t : tensor<?x4x?x3xf32, #img> to tensor<?x4x?x3xf32>
  return %y : tensor<?x4x?x3xf32>
}
""")):
    stem, remarks = compile(name, text)
    assert "so the function runs on buffers" in remarks, remarks
    for shape, count in ((4, 4, 5, 3), 2), ((2, 4, 2, 3), 1), ((6, 4, 7, 3), 0), ((5, 4, 9, 3), 2):
        x = random.standard_normal(shape).astype("f4")
        wanted = np.exp(np.abs(x[:2 * count])) + np.log(np.abs(x[:2 * count]))
        if name == "grows":
            wanted = np.abs(np.concatenate([x] * 2**count)) if count else x
        check(stem, False, [wanted], x, np.array(count, "i4"))
