# Check long reductions with few results, which work-items of a work-group share: integer sums and maxima exactly as
# NumPy's, in SPIR-V and in OpenCL C and in work-groups of 32.

# REQUIRES: opencl-device
# RUN: env PYTHONPATH=%S/Inputs LAYOUT_OPENCL_SOURCE=0 POCL_MAX_WORK_GROUP_SIZE=32 %python %s %t
# RUN: env PYTHONPATH=%S/Inputs LAYOUT_OPENCL_SOURCE=1 %python %s %t

import re
import subprocess
import sys

import numpy as np

from on_device import run

random = np.random.default_rng(5)
TYPES = {"f32": "f4", "f16": "f2", "i32": "i4"}
LAYOUTS = {  # of the matrix and of its sums
    "lanes are results": ("(a, b) -> image2d(x = a floordiv 4, y = b, lane = a mod 4)",
                          "(a) -> image2d(x = a floordiv 4, y = 0, lane = a mod 4)"),
    "lanes are summed": ("(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)",
                         "(a) -> image2d(x = a floordiv 4, y = 0, lane = a mod 4)"),
    "linear": ("(a, b) -> buffer(a, b)", "(a) -> buffer(a)"),
}


def reduce(element, rows, columns, combiner, start, wanted, layouts, parameters="split_reads = 4", tail="", rtol=0.0):
    matrix, sums = (f", #layout.map<{layout}>>" for layout in LAYOUTS[layouts])
    x = random.integers(-9, 10, (rows, columns)).astype(TYPES[element])
    t = {"x": f"tensor<{rows}x{columns}x{element}", "y": f"tensor<{rows}x{element}"}
    text = f"""
module attributes {{layout.target = #layout.opencl<{parameters}>}} {{
func.func @main(%x0: {t["x"]}>) -> {t["y"]}> {{
  %start = arith.constant {start} : {element}
  %x = layout.convert %x0 : {t["x"]}> to {t["x"]}{matrix}
  %e = tensor.empty() : {t["y"]}{sums}
  %f = linalg.fill ins(%start : {element}) outs(%e : {t["y"]}{sums}) -> {t["y"]}{sums}
  %r = linalg.reduce {{arith.{combiner}}} ins(%x : {t["x"]}{matrix}) outs(%f : {t["y"]}{sums}) dimensions = [1]
  {tail.format(type=t["y"] + sums) or "%s = layout.convert %r : " + t["y"] + sums + " to " + t["y"] + sums}
  %y = layout.convert %s : {t["y"]}{sums} to {t["y"]}>
  return %y : {t["y"]}>
}}
}}"""
    found = run(text, x)
    remarks = subprocess.run(["layout-opt", f"{sys.argv[1]}.mlir", "--convert-layout-to-gpu", "-o", "-",
                              "--remarks-filter=convert-layout-to-gpu", "--remark-format=emitRemark"],
                             check=True, text=True, capture_output=True).stderr
    np.testing.assert_allclose(found, wanted(x), rtol=rtol)
    groups = re.findall(r"groups of (\d+)", remarks)
    return int(groups[0]) if groups else 1


def check(parts, *args, **options):
    found = reduce(*args, **options)
    assert found == parts, f"groups of {found}, not {parts}"


for layouts in LAYOUTS:
    linear = layouts == "linear"
    check(24 if layouts == "lanes are summed" else 32, "i32", 13, 95, "addi", 7, lambda x: x.sum(1) + 7, layouts)
    check(2 if layouts == "lanes are summed" else 5, "i32", 1, 5, "addi", 0, lambda x: x.sum(1), layouts,
          parameters="split_reads = 1")
    check(32, "f32", 9, 801, "maximumf", "-1.0", lambda x: np.maximum(x.max(1), -1), layouts)
    check(32, "f16", 6, 260, "addf", "0.5", lambda x: x.astype("f4").sum(1) + 0.5, layouts, rtol=2e-2)
    # The epilogue is computed by the first work-item of a work-group.
    check(32, "f32", 9, 333, "addf", "0.0", lambda x: -x.sum(1), layouts, tail="%s = arith.negf %r : {type}", rtol=1e-5)
    # Not shared: there are enough work-items, few reads, or work-groups of one work-item.
    for parameters in "fewest_items = 2, split_reads = 0", "split_reads = 1000", "split_reads = 0, group_items = 1":
        check(1, "i32", 9, 64, "addi", 0, lambda x: x.sum(1), layouts, parameters=parameters)
    # A product of i1 is not shared, because byte elements have no work-group memory here.
check(3, "i32", 9, 64, "muli", 1, lambda x: x.prod(1), "lanes are results", parameters="split_reads = 0, group_items = 3")
check(32, "f32", 5, 4099, "addf", "0.0", lambda x: x.sum(1, dtype="f8"), "lanes are summed", rtol=1e-5,
      parameters="split_reads = 0")
