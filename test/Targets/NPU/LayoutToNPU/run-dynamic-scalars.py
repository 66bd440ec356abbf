# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check dynamic scalars, and elements at data-dependent positions, in the simulator against numpy, without kernels.
import pathlib
import sys

import numpy as np

from layout_mlir.npu import Program
from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(3)


def check(text, inputs, *wanted, chip="BM1684"):
    source, lowered = folder / "source.mlir", folder / "lowered.mlir"
    source.write_text(text)
    run_tool("layout-opt", source, f'--layout-to-npu=target={{#layout.npu<chip = #npu.target<"{chip}">>}}',
             "-o", lowered)
    outputs = Program(lowered, folder=folder / "package").run(*inputs).outputs
    for made, result in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(made, result, rtol=1e-6, atol=1e-6)


def draw(*shape):
    return random.standard_normal(shape).astype(np.float32)


# Read from elements, computed, and used in tensors, bodies, fills and pads.
x, scale = draw(3, 5), draw()
number = scale * 2 + x[1, 2]
inserted = x.copy()
inserted[2, 4] = number
program = """func.func @main(%x: tensor<3x5xf32>, %t: tensor<f32>) ->
    (tensor<4x6xf32>, tensor<2x2xf32>, tensor<3x5xf32>, tensor<5x3xf32>, tensor<4x6xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %two = arith.constant 2.0 : f32
  %a = tensor.extract %x[%c1, %c2] : tensor<3x5xf32>
  %b = tensor.extract %t[] : tensor<f32>
  %d = arith.mulf %b, %two : f32
  %n = arith.addf %d, %a : f32
  %splat = tensor.splat %n : tensor<4x6xf32>
  %some = tensor.from_elements %n, %two, %b, %n : tensor<2x2xf32>
  %put = tensor.insert %n into %x[%c2, %c4] : tensor<3x5xf32>
  %shape = arith.constant dense<[5, 3]> : tensor<2xi64>
  %turned = tensor.reshape %x(%shape) : (tensor<3x5xf32>, tensor<2xi64>) -> tensor<5x3xf32>
  %e = tensor.empty() : tensor<3x5xf32>
  %f = linalg.fill ins(%b : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xf32>) outs(%f : tensor<3x5xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.mulf %v, %n : f32
    %z = arith.addf %s, %o : f32
    linalg.yield %z : f32
  } -> tensor<3x5xf32>
  %p = tensor.pad %r low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %b : f32
  } : tensor<3x5xf32> to tensor<4x6xf32>
  return %splat, %some, %put, %turned, %p :
    tensor<4x6xf32>, tensor<2x2xf32>, tensor<3x5xf32>, tensor<5x3xf32>, tensor<4x6xf32>
}
"""
padded = np.pad(x * number + scale, ((1, 0), (0, 1)), constant_values=scale)
check(program, [x, scale], np.full((4, 6), number), np.array([[number, 2], [scale, number]]), inserted,
      x.reshape(5, 3), padded)

# Reads of an activation with infinities, at one index and at two.
table, ids = draw(2, 9, 5), np.array([[1, 8], [0, 0], [1, 3]], np.int32)
table[0, 0, 1], table[1, 3, 0] = np.inf, -np.inf
gathers = """func.func @main(%x: tensor<2x9x5xf32>, %ids: tensor<3x2xi32>) -> (tensor<2x3x5xf32>, tensor<3x1x1x5xf32>) {
  %y = tensor.empty() : tensor<2x9x5xf32>
  %n = linalg.negf ins(%x : tensor<2x9x5xf32>) outs(%y : tensor<2x9x5xf32>) -> tensor<2x9x5xf32>
  %e = tensor.empty() : tensor<2x3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (b, 1)>, affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids : tensor<3x2xi32>) outs(%e : tensor<2x3x5xf32>) {
  ^bb0(%id: i32, %o: f32):
    %a = linalg.index 0 : index
    %c = linalg.index 2 : index
    %at = arith.index_cast %id : i32 to index
    %v = tensor.extract %n[%a, %at, %c] : tensor<2x9x5xf32>
    linalg.yield %v : f32
  } -> tensor<2x3x5xf32>
  %g = tensor.gather %x[%ids] gather_dims([0, 1]) : (tensor<2x9x5xf32>, tensor<3x2xi32>) -> tensor<3x1x1x5xf32>
  return %r, %g : tensor<2x3x5xf32>, tensor<3x1x1x5xf32>
}
"""
for chip in ("BM1684", "BM1688"):
    check(gathers, [table, ids], -table[:, ids[:, 1]], table[ids[:, 0], ids[:, 1]].reshape(3, 1, 1, 5), chip=chip)
