# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check that names of a module are escaped: a package contains no C++ from the text of the module, compiles and runs,
# and no two functions are merged.
import json
import pathlib
import re
import sys

import numpy as np

from layout_mlir.npu import Program
from layout_mlir.tools import ToolError, run_tool

NAMES = ["x(){} static int z = __builtin_printf(\\22INJECTED\\22); void y", "*/ INJECTED /*", "class",
         "int", "printf", "NULL", "okk_initialize", "layout_kernel_0", "npu_main", "main", "part_0_of_npu_a",
         "a b", "a_b", "a/b", "a.b", "a\\0Ab", "\\22;INJECTED", "#include <INJECTED>", "na\\C3\\AFve",
         "\\FF\\FE", "x" * 3000, "x" * 3001, "$(INJECTED)", "</script>INJECTED"]
folder = pathlib.Path(sys.argv[1])
SYSTEM = "memref<2x3x4x5xf32, #npu.memory<system>>"
LOCAL = "memref<2x3x4x5xf32, #a, #npu.memory<local>>"


def write(name, factor):
    return f"""func.func @"{name}"(%x: {SYSTEM}, %y: {SYSTEM} {{npu.result}}) {{
  %f = arith.constant {factor}.0 : f32
  %t = npu.alloc {{address = 0}} : {LOCAL}
  npu.copy %x to %t : {SYSTEM} to {LOCAL}
  linalg.generic {{indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
      outs(%t : {LOCAL}) {{
  ^bb0(%o: f32):
    %p = arith.mulf %o, %f : f32
    linalg.yield %p : f32
  }}
  npu.copy %t to %y : {LOCAL} to {SYSTEM}
  return
}} loc("INJECTED\\22); */ location")
"""


# A body of more than one part.
many = "\n".join(f"npu.copy %x to %y : {SYSTEM} to {SYSTEM}" for _ in range(300))
text = ("#a = #layout.npu_scatter<aligned, start = 0, target = #npu.target<npus = 4, bytes_per_npu = 1024, "
        "eu_bytes = 128>>\n#id = affine_map<(a, b, c, d) -> (a, b, c, d)>\n"
        f"func.func @a(%x: {SYSTEM}, %y: {SYSTEM} {{npu.result}}) {{\n{many}\n return }}\n")
text += "".join(write(name, factor) for factor, name in enumerate(NAMES, 2))
module = folder / "module.mlir"
module.write_text(text)
data = np.random.default_rng(1).standard_normal((2, 3, 4, 5)).astype(np.float32)
for factor, name in list(enumerate(NAMES, 2))[:3] + [(11, "main")]:
    name = name.replace("\\22", '"')
    program = Program(module, function=name, folder=folder / str(factor))
    assert np.array_equal(program.run(data).outputs[0], data * factor), name
    assert json.loads((program.folder / "manifest.json").read_text())["function"] == name
source = (folder / "2/program.cpp").read_text()
assert "INJECTED" not in re.sub(r"\bnpu_\w+", "", source), source
assert len(set(re.findall(r"^void (npu_\w+)\(", source, re.MULTILINE))) == len(NAMES) + 1
assert all(len(word) < 200 for word in re.findall(r"\w+", source))

# Ops of emitc with C++ as text.
for op in ['emitc.verbatim "INJECTED"', '%z = emitc.literal "INJECTED" : f32']:
    module.write_text(f"func.func @main() {{ {op}\n return }}\n")
    try:
        run_tool("layout-opt", "--convert-npu-to-emitc", module)
        raise AssertionError(op)
    except ToolError as error:
        assert "is C++ as text, which is not supported" in str(error), error
