# RUN: rm -rf %t && mkdir -p %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# The clock of the simulator and the prices of the assignment: of a program in
# which nothing overlaps the cost is the time, by hand and by both. Figures of the
# chip change both alike; a picture has a box for each command.
# CHECK: BM1684: 8296 cycles
# CHECK: BM1684X: 8328 cycles
# CHECK: slow: 16984 cycles
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
# 64 channels of 32 x 32 are 4096 bytes of each of 64 cores: 32 steps of 128 bytes,
# 64 of 64 bytes. 262144 bytes are loaded and stored.
source = folder / "source.mlir"
source.write_text("""func.func @main(%x: tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> {
  %e = tensor.empty() : tensor<1x64x32x32xf32>
  %r = linalg.negf ins(%x : tensor<1x64x32x32xf32>) outs(%e : tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  return %r : tensor<1x64x32x32xf32>
}
""")
x = np.random.default_rng(3).standard_normal((1, 64, 32, 32), dtype=np.float32)
for name, chip, dma_bytes, wanted in [
        ("BM1684", '"BM1684"', 64, 2 * (32 + 4096) + 8 + 32),
        ("BM1684X", '"BM1684X"', 64, 2 * (32 + 4096) + 8 + 64),
        ("slow", '"BM1684", dma_bytes_per_cycle = 32, dma_start = 200, compute_start = 168', 32,
         2 * (200 + 8192) + 168 + 32)]:
    target = f"#layout.npu<chip = #npu.target<{chip}>>"
    lowered = folder / "lowered.mlir"
    run_tool("layout-opt", source, f"--layout-to-npu=target={{{target}}}", "-o", lowered)
    cost = folder / "cost.json"
    run_tool("layout-opt", source, f"--layout-assign=target={{{target}}}",
             f"--layout-print-cost=target={{{target}}} format=json output={cost}", "-o", folder / "assigned.mlir")
    program = npu.Program(lowered)
    result = program.run(x, events=10)
    assert np.array_equal(result.outputs[0], -x)
    cycles = result.counters["cycles"]
    assert cycles == wanted, (name, cycles, wanted)
    assert json.loads(cost.read_text())["assignment"]["cost"] == cycles * 2 * dma_bytes, (name, cost.read_text())
    assert result.counters["dma_cycles"] + result.counters["compute_cycles"] == cycles
    assert [event.name for event in result.events] == ["S2L", "neg", "L2S"]
    assert all(a.end == b.begin for a, b in zip(result.events, result.events[1:]))
    again = program.run(x, events=2)
    assert again.counters == result.counters and again.events == result.events[:2]
    print(f"{name}: {cycles} cycles")
picture = xml.etree.ElementTree.fromstring(draw_timeline(result.events, program.megahertz))
boxes = [each for each in picture if each.find("{*}title") is not None]
assert xml.etree.ElementTree.fromstring(draw_timeline([], 1000)) is not None
print(f"{len(boxes)} commands drawn")
