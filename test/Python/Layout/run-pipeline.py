# RUN: %python %s 2>&1 | FileCheck %s
# Only the summary is printed: errors are raised.
# CHECK-NOT: {{error|Error|LLVM|no such}}
# CHECK: OK
"""Checks that run_pipeline behaves like layout-opt, in this process."""

import subprocess
import threading
import unittest
import warnings

from layout_mlir import LayoutError, run_pipeline
from layout_mlir.tools import find_tool

MODULE = """
func.func @main(%a: tensor<1x64x9x9xf32>, %w: tensor<32x64x3x3xf32>) -> tensor<1x32x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x7x7xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%a, %w : tensor<1x64x9x9xf32>, tensor<32x64x3x3xf32>)
                                outs(%i : tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  return %c : tensor<1x32x7x7xf32>
}
"""
TARGET = '{#layout.cpu<lanes = 16>}'


class Pipelines(unittest.TestCase):
    def says(self, message, *args):
        with self.assertRaisesRegex(LayoutError, message) as caught:
            run_pipeline(*args)
        return caught.exception

    def test_same_text_as_the_tool(self):
        for name in ("layout-assign", "layout-to-cpu"):
            tool = subprocess.run([find_tool("layout-opt"), f"--{name}=target={TARGET}"],
                                  input=MODULE, stdout=subprocess.PIPE, text=True, check=True)
            self.assertEqual(run_pipeline(MODULE, f"{name}{{target={TARGET}}}").strip(),
                             tool.stdout.strip())

    def test_may_name_the_module(self):
        self.assertEqual(run_pipeline(MODULE, f" builtin.module(layout-assign{{target={TARGET}}})"),
                         run_pipeline(MODULE, f"layout-assign{{target={TARGET}}}"))
        self.assertEqual(run_pipeline(MODULE, "builtin.module(func.func(convert-linalg-to-loops))"),
                         run_pipeline(MODULE, "func.func(convert-linalg-to-loops)"))
        self.says("the pipeline is invalid", MODULE, "builtin.module(canonicalize")

    def test_upstream_passes_and_nested_ones(self):
        out = run_pipeline(MODULE, "func.func(canonicalize, cse), symbol-dce")
        self.assertIn("linalg.conv_2d_nchw_fchw", out)
        self.assertIn("module", run_pipeline("", ""))

    def test_bytecode(self):
        bytecode = run_pipeline(MODULE, "", bytecode=True)
        self.assertIsInstance(bytecode, bytes)
        text = run_pipeline(MODULE, "cse")
        self.assertEqual(run_pipeline(run_pipeline(bytecode, "cse"), "", bytecode=False), text)
        self.says("not MLIR bytecode", b"module {}", "cse")
        self.says(".", bytecode[:len(bytecode) // 2], "cse")
        error = self.says("<module>:5:8: layouts cannot be assigned without a target|layouts cannot be assigned", bytecode,
                          "layout-assign")
        self.assertIsNone(error.line)

    def test_resources_of_bytecode(self):
        text = run_pipeline("""func.func @f() -> tensor<4xi8> {
          %0 = arith.constant dense_resource<blob> : tensor<4xi8>
          return %0 : tensor<4xi8>
        }
        {-# dialect_resources: { builtin: { blob: "0x4000000001020304" } } #-}""", "")
        bytecode = run_pipeline(text, "", bytecode=True)
        self.assertEqual(run_pipeline(bytecode, "", bytecode=False), text)

    def test_faults_of_the_text(self):
        error = self.says("not found", "func.func @f() {\n  nothing.here\n  return\n}", "cse")
        self.assertEqual((error.line, error.text), (2, "  nothing.here"))
        for text in ("func.func", "\0", "module {", "}", "\N{SNOWMAN}", "// only" + "(" * 5000 + "\n}"):
            with self.subTest(text=text):
                self.says(".", text, "cse")
        self.says("nested more than 1000", "module {" * 5000, "cse")

    def test_faults_of_a_verifier(self):
        error = self.says(r"\(L1\)", "func.func private @f(tensor<2x3xf32, "
                          "#layout.map<(i, j) -> buffer(offset = i + j)>>)", "cse")
        self.assertEqual(error.line, 1)

    def test_faults_of_a_pipeline(self):
        self.says("nothing-here", MODULE, "nothing-here")
        self.says("the pipeline is invalid", MODULE, "layout-assign{nothing=1}")
        for pipeline in ("cse,", "cse(", ")", "{", "func.func(", "func.func(layout-to-cpu)" * 3):
            with self.subTest(pipeline=pipeline):
                self.says(".", MODULE, pipeline)

    def test_faults_of_a_pass(self):
        self.says("layouts cannot be assigned without a target", MODULE, "layout-assign")
        self.says("must be|unknown kind|expected", MODULE,
                  'layout-assign{target={#layout.gpu<lanes = 16>}}')

    def test_kinds_of_arguments(self):
        for arguments in ((), (MODULE,), (5, "cse"), (MODULE, 5), (MODULE, "cse", True)):
            self.assertRaises((TypeError, AttributeError), run_pipeline, *arguments)

    def test_threads(self):
        wanted = run_pipeline(MODULE, f"layout-assign{{target={TARGET}}}")
        results = []

        def work():
            results.append(run_pipeline(MODULE, f"layout-assign{{target={TARGET}}}"))
            try:
                run_pipeline(MODULE, "layout-assign")
            except LayoutError as error:
                results.append("target" in str(error) and wanted)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [wanted] * 8)


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
