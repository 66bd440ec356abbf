# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs with different addresses of tensors in the simulator and compares them with numpy.

Covers four ops placed with and without known banks, a convolution whose weights are in separate rows or in the holes of
its data, and two branches that are concatenated, with one batch and two.
"""

import pathlib
import re
import sys
import tempfile

import numpy as np

from layout_mlir.npu import Program
from layout_mlir.tools import run_tool

CHIP = "npus = 4, bytes_per_npu = {bytes}, eu_bytes = 128"
TARGET = ('#layout.npu<chip = #npu.target<{chip}>, launch_cost = 64, '
          "flops_per_byte = 8>")
# Channels of 80 bytes in rows of 128; three of four cores have one.
TYPE = "tensor<2x3x4x5xf32>"
NETWORK = f"""func.func @main(%x: {TYPE}, %y: {TYPE}, %z: {TYPE}) -> {TYPE} {{
  %e = tensor.empty() : {TYPE}
  %a = linalg.add ins(%x, %y : {TYPE}, {TYPE}) outs(%e : {TYPE}) -> {TYPE}
  %b = linalg.mul ins(%a, %z : {TYPE}, {TYPE}) outs(%e : {TYPE}) -> {TYPE}
  %c = linalg.sub ins(%b, %x : {TYPE}, {TYPE}) outs(%e : {TYPE}) -> {TYPE}
  %d = linalg.max ins(%c, %y : {TYPE}, {TYPE}) outs(%e : {TYPE}) -> {TYPE}
  return %d : {TYPE}
}}
"""


DATA, WEIGHTS = "tensor<1x3x4x5xf32>", "tensor<3x3x1x1xf32>"
CONVOLUTION = f"""func.func @main(%x: {DATA}, %w: {WEIGHTS}) -> {DATA} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {DATA}
  %f = linalg.fill ins(%zero : f32) outs(%e : {DATA}) -> {DATA}
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : {DATA}, {WEIGHTS}) outs(%f : {DATA}) -> {DATA}
  return %c : {DATA}
}}
"""


def branches(batches):
    x, a, b = (f"tensor<{batches}x{channels}x4x5xf32>" for channels in (5, 6, 3))
    c = f"tensor<{batches}x9x4x5xf32>"
    v, w = "tensor<6x5x1x1xf32>", "tensor<3x5x1x1xf32>"
    return f"""func.func @main(%x: {x}, %v: {v}, %w: {w}) -> {c} {{
  %zero = arith.constant 0.0 : f32
  %ea = tensor.empty() : {a}
  %eb = tensor.empty() : {b}
  %fa = linalg.fill ins(%zero : f32) outs(%ea : {a}) -> {a}
  %fb = linalg.fill ins(%zero : f32) outs(%eb : {b}) -> {b}
  %a = linalg.conv_2d_nchw_fchw ins(%x, %v : {x}, {v}) outs(%fa : {a}) -> {a}
  %b = linalg.conv_2d_nchw_fchw ins(%x, %w : {x}, {w}) outs(%fb : {b}) -> {b}
  %c = tensor.concat dim(1) %a, %b : ({a}, {b}) -> {c}
  %e = tensor.empty() : {c}
  %r = linalg.abs ins(%c : {c}) outs(%e : {c}) -> {c}
  return %r : {c}
}}
"""


def lower(folder, network, chip, options=""):
    source, lowered = folder / "network.mlir", folder / "lowered.mlir"
    source.write_text(network)
    target = TARGET.format(chip=chip)
    run_tool("layout-opt", source, f"--layout-to-npu=target={{{target}}} {options}", "-o", lowered)
    return lowered.read_text()


def run(name, text, folder, inputs, expected):
    result = Program(text, folder=folder / name, simulator_kernels=True).run(*inputs)
    assert np.array_equal(result.outputs[0], expected), name
    print(name, *(f"{key}={result.counters[key]}" for key in (
        "computes", "bank_conflicts", "parallel_regions", "region_conflicts", "transfers",
        "bytes_l2l", "peak_bytes", "live_bytes")))


def main():
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(prefix="npu-memory-") as name:
        folder = pathlib.Path(name)
        x, y, z = (random.integers(-9, 9, (2, 3, 4, 5)).astype(np.float32) for _ in range(3))
        expected = np.maximum((x + y) * z - x, y)
        chip = CHIP.format(bytes=4096)
        # The same addresses on a chip with banks.
        blind = re.sub(re.escape(chip), chip + ", banks = 8", lower(folder, NETWORK, chip))
        run("blind", blind, folder, (x, y, z), expected)
        run("apart", lower(folder, NETWORK, chip + ", banks = 8"), folder, (x, y, z), expected)
        x = random.integers(-9, 9, (1, 3, 4, 5)).astype(np.float32)
        w = random.integers(-9, 9, (3, 3, 1, 1)).astype(np.float32)
        expected = np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0])
        run("rows", lower(folder, CONVOLUTION, CHIP.format(bytes=512)), folder, (x, w), expected)
        text = lower(folder, CONVOLUTION, CHIP.format(bytes=512), "reuse-holes=true")
        run("holes", text, folder, (x, w), expected)
        for batches in (1, 2):
            x = random.integers(-9, 9, (batches, 5, 4, 5)).astype(np.float32)
            v, w = (random.integers(-9, 9, (n, 5, 1, 1)).astype(np.float32) for n in (6, 3))
            expected = np.abs(np.einsum("nchw,oc->nohw", x, np.concatenate([v, w])[:, :, 0, 0]))
            text = lower(folder, branches(batches), CHIP.format(bytes=8192))
            run(f"branches-{batches}", text, folder, (x, v, w), expected)


if __name__ == "__main__":
    sys.exit(main())
