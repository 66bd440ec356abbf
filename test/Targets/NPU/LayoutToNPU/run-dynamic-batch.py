# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check one package for all batch sizes, on three chips against numpy: a norm of rows, a convolution, and bytes.
# CHECK: BM1684: 12 runs
# CHECK: BM1684X: 12 runs
# CHECK: BM1688: 12 runs
# Batches of different sizes, and bytes at unsupported addresses of the DMA engine.
# CHECK: input 1 is [3, 8] of f32 in 96 bytes, found [2, 8] of float32
# CHECK: argument 0 takes 3 bytes for each index of a dynamic batch, which is not a multiple of the 4 bytes that the DMA engine requires: use wider elements, or state the size of the batch
import pathlib
import sys

import numpy as np

from layout_mlir import LayoutError
from layout_mlir.tools import ToolError, run_tool
from vendor_model import Program

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(7)
NPU = '#layout.npu<chip = {}>'


def compile_for(chip, text, name):
    source, lowered = folder / "source.mlir", folder / f"{name}.mlir"
    source.write_text(text)
    run_tool("layout-opt", source, f"--layout-to-npu=target={{{NPU.format(chip)}}}", "-o", lowered)
    return Program(lowered, folder=folder / name)


NORM = """
#id = affine_map<(a, b) -> (a, b)>
#rows = affine_map<(a, b) -> (a)>
func.func @main(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %w: tensor<8x70xf32>) -> (tensor<?x70xf32>, tensor<?x8xf32>) {
  %i = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %i : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x70xf32>) -> tensor<?x70xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x70xf32>) outs(%f : tensor<?x70xf32>) -> tensor<?x70xf32>
  %es = tensor.empty(%n) : tensor<?xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<?x70xf32>) outs(%fs : tensor<?xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<?x70xf32>, tensor<?xf32>) outs(%e : tensor<?x70xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.subf %a, %b : f32
      linalg.yield %v : f32
  } -> tensor<?x70xf32>
  %g = tensor.empty(%n) : tensor<?x8xf32>
  %d = linalg.sub ins(%x, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%g : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r, %d : tensor<?x70xf32>, tensor<?x8xf32>
}
"""
CONVOLUTION = """
func.func @main(%x: tensor<?x3x6x6xf32>, %w: tensor<5x3x3x3xf32>) -> tensor<?x5x4x4xf32> {
  %i = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %i : tensor<?x3x6x6xf32>
  %e = tensor.empty(%n) : tensor<?x5x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x5x4x4xf32>) -> tensor<?x5x4x4xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<?x3x6x6xf32>, tensor<5x3x3x3xf32>) outs(%f : tensor<?x5x4x4xf32>) -> tensor<?x5x4x4xf32>
  return %r : tensor<?x5x4x4xf32>
}
"""
BYTES = """
#id = affine_map<(a, b) -> (a, b)>
func.func @main(%x: tensor<?x3xi8>) -> tensor<?x3xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?x3xi8>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x3xi8>) outs(%e : tensor<?x3xf32>) {
    ^bb0(%a: i8, %o: f32):
      %v = arith.sitofp %a : i8 to f32
      linalg.yield %v : f32
  } -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""


def draw(*shape):
    return random.standard_normal(shape).astype(np.float32)


def check(outputs, wanted):
    for output, expected in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-4)


w, k = draw(8, 70), draw(5, 3, 3, 3)
for name in ("BM1684", "BM1684X", "BM1688"):
    chip = f'#npu.target<"{name}">'
    norm, convolution, numbers = (compile_for(chip, text, f"{name}-{i}") for i, text in enumerate((NORM, CONVOLUTION, BYTES)))
    runs = 0
    for extent in (0, 1, 3, 7):
        x, y = draw(extent, 8), draw(extent, 8)
        product = x.astype(np.float64) @ w
        check(norm.run(x, y, w).outputs, [product - product.sum(axis=1, keepdims=True), x - y])
        image = draw(extent, 3, 6, 6)
        windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.float64), (3, 3), axis=(2, 3))
        check(convolution.run(image, k).outputs, [np.einsum("nchwij,ocij->nohw", windows, k)])
        given = random.integers(-128, 128, (extent, 3), np.int8)
        check(numbers.run(given).outputs, [given])
        runs += 3
    print(f"{name}: {runs} runs")
try:
    norm.run(draw(3, 8), draw(2, 8), w)
except LayoutError as error:
    print(error)
try:
    compile_for("#npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32, dma_alignment = 4>", BYTES, "words")
except (ToolError, LayoutError) as error:
    print(error)
