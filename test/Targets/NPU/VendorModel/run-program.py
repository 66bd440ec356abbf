# REQUIRES: vendor-model
# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check that a program runs on the vendor's chip model: results of numpy, counters, commands, the batch of each run, and
# the errors for a command that the model refuses, for a chip without a model, and for kernels of the simulator.
import os
import pathlib
import sys

import numpy as np

from layout_mlir import LayoutError
from layout_mlir.npu import Program
from layout_mlir.npu_chip_model import find_model, run_program
from layout_mlir.npu_compiler import compile_program
from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(29)
ROWS = """func.func @main(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %r = linalg.sub ins(%x, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
"""
SUM = """func.func @main(%x: tensor<2x70x3x5xf32>) -> tensor<2x70x3x5xf32> {
  %k = arith.constant dense<2.5> : tensor<2x70x3x5xf32>
  %e = tensor.empty() : tensor<2x70x3x5xf32>
  %r = linalg.add ins(%x, %k : tensor<2x70x3x5xf32>, tensor<2x70x3x5xf32>) outs(%e : tensor<2x70x3x5xf32>)
      -> tensor<2x70x3x5xf32>
  return %r : tensor<2x70x3x5xf32>
}
"""
WIDE = """#include "okk.h"
static void wide(const void *) {
  dim4 shape = {1, 1, 1, 70000};
  okk_initialize();
  okk_gdma_32bit_set_C_local(0, x32{1.0f}, &shape, nullptr);
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(wide)
"""
POWERS = """func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> {
  %e = tensor.empty() : tensor<8xf16>
  %r = linalg.exp ins(%x : tensor<8xf16>) outs(%e : tensor<8xf16>) -> tensor<8xf16>
  return %r : tensor<8xf16>
}
"""


def draw(*shape):
    return random.standard_normal(shape).astype(np.float32)


def lower(text, parameters="", options=""):
    source, lowered = folder / "source.mlir", folder / "lowered.mlir"
    source.write_text(text)
    target = f'#layout.npu<chip = #npu.target<"BM1684"{parameters}>>'
    run_tool("layout-opt", source, f"--layout-to-npu=target={{{target}}}{options}", "-o", lowered)
    return lowered


def refuse(function, *arguments, **options):
    try:
        function(*arguments, **options)
    except LayoutError as error:
        print(f"{type(error).__name__}: {error}")


# The package of the second program replaces that of the first one.
first = Program(lower(SUM), folder=folder / "package")
rows = Program(lower(ROWS), folder=folder / "package", checks=False)
for count in (1, 3):
    x, y = draw(count, 8), draw(count, 8)
    for machine in ("simulator", "vendor"):
        assert np.array_equal(rows.run(x, y, on=machine).outputs[0], x - y)
x = draw(2, 70, 3, 5)
on_vendor, on_simulator = (first.run(x, on=machine, events=2) for machine in ("vendor", "simulator"))
assert np.array_equal(on_vendor.outputs[0], x + np.float32(2.5))
same = [name for name in ("transfers", "computes", "bytes_s2l", "bytes_l2s", "bytes_s2s")
        if on_vendor.counters[name] == on_simulator.counters[name]]
print("as the simulator:", *same)
print(f"cycles: {on_simulator.counters['cycles'] / on_vendor.counters['cycles']:.2f} of the vendor's")
print("busy:", on_vendor.counters["cycles"] > on_vendor.counters["dma_cycles"] > on_vendor.counters["compute_cycles"] > 0)
for event in on_vendor.events:
    print(event.engine, event.begin, event.end > event.begin, event.name)
# CHECK: as the simulator: transfers computes bytes_s2l bytes_l2s bytes_s2s
# CHECK-NEXT: cycles: {{1.00|0.99|1.01}} of the vendor's
# CHECK-NEXT: busy: True
# CHECK-NEXT: dma 0 True TENSOR_GDMA
# CHECK-NEXT: {{dma|compute}} {{[1-9][0-9]*}} True

(folder / "wide.cpp").write_text(WIDE)
wide = compile_program(folder / "wide.cpp", None, has_kernels=False)
refuse(run_program, find_model(first.manifest["chip"]), wide, None, "wide", [], [])
# CHECK: ChipModelError: wide does not run on the vendor's chip model: okk_gdma_32bit_set_C_local requires W>0 && W<=GDMA_MAX_W, and W=70000
refuse(Program(lower(SUM, ", npus = 32")).run, x, on="vendor")
# CHECK: LayoutError: the vendor's chip models are those of BM1684, BM1684X, BM1688; the program is for a chip of 32 cores with 524288 bytes
refuse(Program(lower(POWERS), simulator_kernels=True).run, np.zeros(8, np.float16), on="vendor")
# CHECK: LayoutError: npu_main_kernel has 1 commands that are not functions of OKKernel, which only the simulator runs
os.environ["LAYOUT_CHIP_MODELS"] = str(folder)
refuse(Program(lower(ROWS)).run, draw(1, 8), draw(1, 8), on="vendor")
# CHECK: LayoutError: the vendor's chip model is not installed: run ./dev test, or set LAYOUT_CHIP_MODELS
