# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check ops tiled for little memory, in the simulator, which reports reads of uninitialized bytes, against numpy; with
# tensors in holes of others and without.
import pathlib
import sys

import numpy as np

from layout_mlir.npu import Program
from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(11)


def check(text, chip, lanes, inputs, wanted):
    source, lowered = folder / "source.mlir", folder / "lowered.mlir"
    source.write_text(text)
    target = f'#layout.npu<chip = {chip}, launch_cost = 256, flops_per_byte = 8>'
    for holes in ("true", "false"):
        run_tool("layout-opt", source, f"--layout-to-npu=target={{{target}}} reuse-holes={holes}", "-o", lowered)
        made, = Program(lowered, folder=folder / holes, simulator_kernels=True).run(*inputs).outputs
        np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-5)


def draw(*shape):
    return random.integers(-3, 4, shape).astype(np.float32)


# The last of three parts is stored to system memory separately, the first two as the tensor in which they were
# assembled.
x, y = draw(2, 5, 1, 9), draw(7, 5, 5, 9)
check("""func.func @main(%x: tensor<2x5x1x9xf32>, %y: tensor<7x5x5x9xf32>) -> tensor<2x7x1x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7x1x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7x1x5xf32>) -> tensor<2x7x1x5xf32>
  %r = linalg.mmt4d ins(%x, %y : tensor<2x5x1x9xf32>, tensor<7x5x5x9xf32>) outs(%f : tensor<2x7x1x5xf32>) -> tensor<2x7x1x5xf32>
  return %r : tensor<2x7x1x5xf32>
}""", "#npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, max_stride = 2048, banks = 8>", 32,
      [x, y], np.einsum("mkac,nkbc->mnab", x, y))

# A window that is never read needs memory next to the operands of a pooling tile.
x = draw(2, 8, 5, 1)
sums = np.stack([x[:, 2 * i:2 * i + 3, 0:3].sum((1, 2)) for i in range(3)], 1)[:, :, None]
check("""func.func @main(%x: tensor<2x8x5x1xf32>) -> tensor<2x3x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<2x3x1x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %r = linalg.pooling_nhwc_sum {strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %window : tensor<2x8x5x1xf32>, tensor<3x3xf32>) outs(%f : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  return %r : tensor<2x3x1x1xf32>
}""", "#npu.target<npus = 1, bytes_per_npu = 256, eu_bytes = 8, banks = 8>", 2, [x], sums)

# A value that is read at one position was computed in another core than the result.
x = draw(2, 8)
check("""func.func @main(%x: tensor<2x8xf32>) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %place = arith.constant dense<2> : tensor<1xi32>
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<2x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %r = tensor.gather %s[%place] gather_dims([0]) : (tensor<8xf32>, tensor<1xi32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}""", "#npu.target<npus = 44, bytes_per_npu = 256, eu_bytes = 128, dma_alignment = 4>", 32, [x], x.sum(0)[2:3])
