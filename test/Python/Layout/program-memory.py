# RUN: %python %s 2>&1 | FileCheck %s
# Only the summary is printed: errors are raised.
# CHECK-NOT: {{error|Error|LLVM|no such}}
# CHECK: OK
"""Checks whose memory a program reads and writes: inputs are read in place, and results own their memory."""

import gc
import unittest

import numpy as np
from layout_mlir import compile

NEGATE = """func.func @main(%x: tensor<{0}xf32>) -> tensor<{0}xf32> {{
  %y = arith.negf %x : tensor<{0}xf32>
  return %y : tensor<{0}xf32>
}}"""
# The result is the argument with one other element, so bufferization would write to the argument if it could.
INSERT = """func.func @main(%x: tensor<{0}xf32>{1}) -> tensor<{0}xf32> {{
  %zero = arith.constant 0 : index
  %seven = arith.constant 7.0 : f32
  %y = tensor.insert %seven into %x[%zero] : tensor<{0}xf32>
  return %y : tensor<{0}xf32>
}}"""
# Two results are the halves of one tensor.
HALVES = """func.func @main(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = arith.negf %x : tensor<8xf32>
  %a = tensor.extract_slice %y[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b = tensor.extract_slice %y[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}"""
SMALL, LARGE = 5, 3_000_001  # elements; results above 4 MiB have their own blocks


class Memory(unittest.TestCase):
    def test_inputs_stay(self):
        for size in (SMALL, LARGE, "?"):
            for writable in ("", " {bufferization.writable = false}", " {bufferization.writable = true}"):
                with self.subTest(size=size, writable=writable):
                    program = compile(INSERT.format(size, writable))
                    x = np.arange(1000 if size == "?" else size, dtype="f4")
                    x.flags.writeable = False
                    for _ in range(2):
                        y = program(x)
                        self.assertEqual((y[0], x[0]), (7, 0))
                        np.testing.assert_array_equal(y[1:], x[1:])

    def test_results_do_not_share_memory(self):
        same = compile("func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
                       "  return %x, %x : tensor<4xf32>, tensor<4xf32>\n}")
        x = np.arange(4, dtype="f4")
        y, z = same(x)
        y[:] = 5
        z[:] = 6
        self.assertEqual((x.tolist(), y.tolist(), z.tolist()), ([0, 1, 2, 3], [5] * 4, [6] * 4))
        y, z = compile(HALVES)(np.arange(8, dtype="f4"))
        y[:] = 5
        self.assertEqual(z.tolist(), [-4, -5, -6, -7])
        constant = compile("func.func @main() -> tensor<2xf32> {\n"
                           "  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>\n  return %c : tensor<2xf32>\n}")
        y = constant()
        y[:] = 5
        self.assertEqual(constant().tolist(), [1, 2])

    def test_results_outlive_other_runs_and_the_program(self):
        for size in (SMALL, LARGE):
            with self.subTest(size=size):
                program = compile(NEGATE.format(size))
                results = [program(np.full(size, i, "f4")) for i in range(6)]
                views = [each[1:] for each in results]
                del results, program
                gc.collect()
                other = compile(NEGATE.format(size))
                other(np.full(size, 9, "f4"))
                for i, view in enumerate(views):
                    self.assertTrue((view == -i).all())
                    self.assertTrue(view.flags.writeable)

    def test_large_results_reuse_memory(self):
        program, x = compile(NEGATE.format(LARGE)), np.ones(LARGE, "f4")
        addresses = {program(x).ctypes.data for _ in range(8)}
        self.assertLessEqual(len(addresses), 2)

    def test_unaligned_and_strided_inputs(self):
        program = compile(NEGATE.format(SMALL))
        x = np.arange(SMALL, dtype="f4")
        for offset in range(4):
            unaligned = np.frombuffer(bytes(offset) + x.tobytes(), "f4", offset=offset)
            np.testing.assert_array_equal(program(unaligned), -x)
        np.testing.assert_array_equal(program(np.repeat(x, 3)[::3]), -x)
        np.testing.assert_array_equal(program(x[::-1]), -x[::-1])
        np.testing.assert_array_equal(program(np.broadcast_to(np.float32(3), SMALL)), [-3] * SMALL)
        empty = compile(NEGATE.format("?"))
        self.assertEqual(empty(np.zeros(0, "f4")).shape, (0,))


if __name__ == "__main__":
    unittest.main()
