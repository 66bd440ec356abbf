# REQUIRES: target-npu
# RUN: %python %s 2>&1 | FileCheck %s
# Only the summary is printed: errors are raised.
# CHECK-NOT: {{error|Error|LLVM|no such}}
# CHECK: OK
"""Checks that assign decides layouts in this process and reports them with their costs and reasons."""

import json
import pathlib
import subprocess
import tempfile
import threading
import unittest
import warnings

import numpy as np
from layout_mlir import Conversion, Layout, LayoutError, Target, assign, run_pipeline
from layout_mlir.tools import find_tool

CONVOLUTION = """
func.func @main(%a: tensor<1x64x9x9xf32>) -> tensor<1x32x7x7xf32> {
  %w = arith.constant dense<1.0> : tensor<32x64x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x7x7xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%a, %w : tensor<1x64x9x9xf32>, tensor<32x64x3x3xf32>)
                                outs(%i : tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  return %c : tensor<1x32x7x7xf32>
}
"""
TARGET = "#layout.cpu<lanes = 16>"


class Assign(unittest.TestCase):
    def says(self, message, *args, error=LayoutError, **kwargs):
        with self.assertRaisesRegex(error, message) as caught:
            assign(*args, **kwargs)
        return caught.exception

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content):
        path = pathlib.Path(self.folder.name, name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read_table(self):
        """Returns the same table by the tools."""
        assigned = self.path("assigned.mlir", run_pipeline(CONVOLUTION, f"layout-assign{{target={{{TARGET}}}}}"))
        cost = assigned.with_name("cost.json")
        subprocess.run([find_tool("layout-opt"), assigned, "-o", "/dev/null",
                        f"--layout-print-cost=format=json output={cost}"], check=True)
        return json.loads(cost.read_text())

    def test_figures_are_those_of_the_tool(self):
        a, table = assign(CONVOLUTION, target=TARGET), self.read_table()
        self.assertEqual((a.cost, a.lower_bound), (table["assignment"]["cost"], table["assignment"]["lower_bound"]))
        self.assertEqual(a.gap, a.cost - a.lower_bound)
        self.assertEqual(a.target, TARGET)
        for rows, wanted in (a.conversions, table["conversions"]), (a.constants, table["constants"]):
            self.assertEqual(len(rows), wanted["count"])
            self.assertGreater(len(rows), 0)
            for row, each in zip(rows, wanted["rows"]):
                self.assertEqual((row.kind, row.bytes_read, row.bytes_written, row.cost, row.why, row.how),
                                 (each["kind"], each["bytes_read"], each["bytes_written"], each["cost"],
                                  each["why"], each["plan"]))
                self.assertIn(f"{'x'.join(map(str, row.shape))}x{row.to_layout.element}", each["shape"])

    def test_conversions_are_layouts_with_a_reason(self):
        a = assign(CONVOLUTION)
        first = a.conversions[0]
        self.assertIsInstance(first, Conversion)
        self.assertEqual((first.name, first.shape), ("%c", (1, 32, 7, 7)))
        plain = Layout("#layout.map<(a, b, c, d) -> buffer(a, b, c, d)>", element="f32")
        self.assertEqual((first.to_layout, a.layouts["%a"]), (plain, plain))
        self.assertEqual(a.layouts["%c"], first.from_layout)
        self.assertNotEqual(first.from_layout, plain)
        self.assertEqual(first.from_layout.pack(np.ones(first.shape, "f4")).nbytes, first.bytes_read)
        self.assertRegex(first.why, "conv_2d.* makes 'from'")
        self.assertIn(first.why, repr(first))
        self.assertEqual({each.name for each in a.constants}, {"%w"})

    def test_values_have_the_names_of_the_text(self):
        layouts = assign(CONVOLUTION).layouts
        self.assertLessEqual({"%a", "%w", "%c"}, set(layouts))
        self.assertEqual(layouts["%c"].stored_shape((1, 32, 7, 7))[-1], 16)
        split = """func.func @f(%x: tensor<2xf32>, %n: index, %m: index) -> (tensor<2xf32>, tensor<2xf32>) {
          %r:2 = scf.for %i = %n to %m step %n iter_args(%p = %x, %q = %x) -> (tensor<2xf32>, tensor<2xf32>) {
            %y = arith.addf %p, %q : tensor<2xf32> loc("layer.add")
            scf.yield %q, %y : tensor<2xf32>, tensor<2xf32>
          }
          return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
        }"""
        self.assertEqual(set(assign(split).layouts), {"%x", "%r#0", "%r#1", "%p", "%q", "layer.add"})

    def test_module_comes_back_as_text_and_bytecode(self):
        a = assign(CONVOLUTION)
        self.assertEqual(a.module, run_pipeline(CONVOLUTION, f"layout-assign{{target={{{TARGET}}}}}"))
        self.assertEqual(run_pipeline(a.bytecode, "", bytecode=False), a.module)

    def test_text_bytecode_and_files_are_modules(self):
        wanted = assign(CONVOLUTION).module
        bytecode = run_pipeline(CONVOLUTION, "", bytecode=True)
        text, binary = self.path("net.mlir", CONVOLUTION), self.path("net.mlirbc", bytecode)
        for module in (bytecode, text, str(text), binary, self.path("net", CONVOLUTION)):
            with self.subTest(module=module):
                self.assertEqual(assign(module).module, wanted)
        self.assertEqual(assign(bytecode).conversions[0].name, "%c")

    def test_target_of_the_module(self):
        stated = f"module attributes {{layout.target = #layout.cpu<lanes = 8>}} {{{CONVOLUTION}}}"
        self.assertIn("lanes = 8", assign(stated).target)
        self.assertIn("lanes = 4", assign(stated, "#layout.cpu<lanes = 4>").target)
        self.says("no target|target", CONVOLUTION, target="42 : i32")
        self.assertEqual(assign(CONVOLUTION, Target.named("BM1684")).target,
                         '#layout.npu<chip = #npu.target<"BM1684">>')

    def test_repr_is_short(self):
        self.assertEqual(repr(assign("")), "<Assignment of cost 0, which is optimal: 0 conversions, 0 bytes moved, "
                                           "0 constants packed>")
        text = repr(assign(CONVOLUTION))
        self.assertRegex(text, "^<Assignment of cost [0-9]+, which is optimal: 1 conversion, 12544 bytes moved, "
                               "1 constant packed>$")

    def test_faults_of_a_module(self):
        error = self.says("not found", "func.func @f() {\n  nothing.here\n  return\n}")
        self.assertEqual((error.line, error.text), (2, "  nothing.here"))
        self.says("No such file", "nowhere.mlir")
        self.says("net.onnx: .", self.path("net.onnx", "no model"))
        self.says("not MLIR bytecode", b"func.func")
        self.says("for the inputs of an .onnx, .pt2 or .gguf file", CONVOLUTION, shapes={0: (1, 2)}, error=TypeError)
        for module in (5, None, ["a.mlir"]):
            self.says("text as a str", module, error=TypeError)

    def test_threads(self):
        wanted, results = repr(assign(CONVOLUTION)), []
        threads = [threading.Thread(target=lambda: results.append(repr(assign(CONVOLUTION)))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [wanted] * 4)


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
