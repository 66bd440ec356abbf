# RUN: rm -rf %t && mkdir -p %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check the clock of the simulator against the costs of the assignment: equal but for rounding if nothing overlaps.
# CHECK: BM1684: 10070 cycles
# CHECK: BM1684X: 11312 cycles
# CHECK: slow: 13581 cycles
# CHECK: other: 8296 cycles
# CHECK: loads: {{[0-9]+}} cycles
# CHECK: network: {{[0-9]+}} cycles
# CHECK: 3 commands drawn
import json
import pathlib
import sys
import xml.etree.ElementTree

import numpy as np

from layout_mlir import npu
from layout_mlir.npu_timeline import draw_timeline
from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
# 64 channels of 32 x 32 are 4096 bytes of each of 64 cores: 64 steps of 64 bytes. 262144 bytes are loaded and stored.
source = folder / "source.mlir"
source.write_text("""func.func @main(%x: tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> {
  %e = tensor.empty() : tensor<1x64x32x32xf32>
  %r = linalg.negf ins(%x : tensor<1x64x32x32xf32>) outs(%e : tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  return %r : tensor<1x64x32x32xf32>
}
""")
random = np.random.default_rng(3)
x = random.standard_normal((1, 64, 32, 32), dtype=np.float32)


def run(target, source, *inputs, events=0):
    """Returns the program, its results, and its cost."""
    lowered = folder / "lowered.mlir"
    run_tool("layout-opt", source, f"--layout-to-npu=target={{{target}}}", "-o", lowered)
    cost = folder / "cost.json"
    run_tool("layout-opt", source, f"--layout-assign=target={{{target}}}",
             f"--layout-print-cost=target={{{target}}} format=json output={cost}", "-o", folder / "assigned.mlir")
    program = npu.Program(lowered)
    return program, program.run(*inputs, events=events), json.loads(cost.read_text())["assignment"]["cost"]


BYTES = 4 * 64 * 32 * 32


def move(start, rate):
    """Returns the cycles to move the tensor at a rate of bytes per 1000 cycles."""
    return start - -BYTES * 1000 // rate


def check_cost(cost, cycles, cycle):
    """Checks that a cost is the cycles in its unit, but for rounding up each of at most four transfers."""
    assert 0 <= cycles * cycle - cost <= 4 * cycle, (cost, cycles, cycle)


# The costs of a chip that is not published are those of its clock; a cycle costs twice the bytes of a copy.
for name, chip, cycle, wanted in [
        ("BM1684", '"BM1684"', None, move(137, 53369) + 64 + move(45, 53369)),
        ("BM1684X", '"BM1684X"', None, move(0, 54040) + 64 + move(0, 40980)),
        ("slow", '"BM1684", clock = {s2l_start = 200, l2s_rate = 32000, compute_start = 168}', None,
         move(200, 53369) + 168 + 64 + move(45, 32000)),
        ("other", "npus = 64, bytes_per_npu = 524288, eu_bytes = 128", 128, 2 * move(32, 64000) + 8 + 32)]:
    target = f"#layout.npu<chip = #npu.target<{chip}>>"
    program, result, cost = run(target, source, x, events=10)
    assert np.array_equal(result.outputs[0], -x)
    cycles = result.counters["cycles"]
    assert cycles == wanted, (name, cycles, wanted)
    if cycle:
        check_cost(cost, cycles, cycle)
    assert result.counters["dma_cycles"] + result.counters["compute_cycles"] == cycles
    assert [event.name for event in result.events] == ["S2L", "neg", "L2S"]
    assert all(a.end == b.begin for a, b in zip(result.events, result.events[1:]))
    again = program.run(x, events=2)
    assert again.counters == result.counters and again.events == result.events[:2]
    print(f"{name}: {cycles} cycles")
    timeline = draw_timeline(result.events, program.megahertz)

# An image for all channels is loaded into each of 64 cores, so it has as many bytes as the channels.
target = '#layout.npu<chip = #npu.target<"BM1684">>'
source.write_text("""func.func @main(%x: tensor<1x64x32x32xf32>, %w: tensor<32x32xf32>) -> tensor<1x64x32x32xf32> {
  %e = tensor.empty() : tensor<1x64x32x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (c, d)>,
                                        affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %w : tensor<1x64x32x32xf32>, tensor<32x32xf32>) outs(%e : tensor<1x64x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x64x32x32xf32>
  return %r : tensor<1x64x32x32xf32>
}
""")
w = random.standard_normal((32, 32), dtype=np.float32)
_, result, cost = run(target, source, x, w)
assert np.array_equal(result.outputs[0], x + w)
cycles = result.counters["cycles"]
assert cycles == 2 * move(137, 53369) + 64 + move(45, 53369), cycles
print(f"loads: {cycles} cycles")
# The left operand of a product is sent between cores.
source.write_text("""func.func @main(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>, %b: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x64xf32>) outs(%b : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}
""")
left, right, sums = (random.standard_normal(shape, dtype=np.float32) for shape in [(16, 64), (64, 64), (16, 64)])
_, result, cost = run(target, source, left, right, sums)
np.testing.assert_allclose(result.outputs[0], sums + left @ right, rtol=1e-5, atol=1e-5)
cycles = result.counters["cycles"]
print(f"network: {cycles} cycles")
picture = xml.etree.ElementTree.fromstring(timeline)
boxes = [each for each in picture if each.find("{*}title") is not None]
assert xml.etree.ElementTree.fromstring(draw_timeline([], 1000)) is not None
print(f"{len(boxes)} commands drawn")
