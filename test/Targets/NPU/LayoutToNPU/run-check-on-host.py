# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check that the host verifies index arguments of an NPU program before it runs the program.

import pathlib
import sys

import numpy as np
from index_cases import lookups, nested

from layout_mlir import LayoutError
from layout_mlir.npu import Program
from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
programs: dict[str, Program] = {}
ran = raised = 0
for case in [*lookups(dynamic=False), *nested()]:
    if case.text not in programs:
        source, lowered = folder / "source.mlir", folder / f"{len(programs)}.mlir"
        source.write_text(case.text)
        run_tool("layout-opt", source, '--layout-to-npu=target={#layout.npu<chip = #npu.target<"BM1684">>}', "-o",
                 lowered)
        programs[case.text] = Program(lowered, folder=folder / f"package{len(programs)}")
    program = programs[case.text]
    if not isinstance(case.wanted, str):
        found = program.run(*case.inputs).outputs
        for made, wanted in zip(found, case.wanted, strict=True):
            np.testing.assert_array_equal(made, wanted, err_msg=case.name)
        ran += 1
        continue
    try:
        program.run(*case.inputs)
        raise SystemExit(f"{case.name}: no error was raised")
    except LayoutError as error:
        node, rest = case.wanted.split("index ")
        size = rest.split(" is out of range ")[1]
        assert f"{node}index is out of range {size}" in str(error) and "input 1 holds" in str(error), error
        raised += 1
assert (ran, raised) == (5, 18), (ran, raised)
