# RUN: %python %s 2>&1 | FileCheck %s
# CHECK-NOT: {{error|Error}}
# CHECK: OK
"""Machine code is kept for other processes, and is that of the module that is compiled."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from layout_mlir import compile

MODULE = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{
  %y = arith.{}f %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}}"""
X = np.arange(8, dtype="f4")
OTHER_PROCESS = f"""
import numpy as np
from layout_mlir import compile
program = compile({MODULE.format('add')!r})
print(program.kept, program(np.arange(8, dtype='f4')).sum())
"""


def start():
    return subprocess.Popen([sys.executable, "-c", OTHER_PROCESS], stdout=subprocess.PIPE, text=True)


class KeptCode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "code"
        self.addCleanup(os.environ.__setitem__, "LAYOUT_CACHE", os.environ["LAYOUT_CACHE"])
        os.environ["LAYOUT_CACHE"] = str(self.folder)

    def entries(self):
        return [path for path in self.folder.glob("llvmcache-*")]

    def compile(self, op="add"):
        program = compile(MODULE.format(op))
        np.testing.assert_array_equal(program(X), {"add": X + X, "mul": X * X}[op])
        return program.kept

    def test_another_process_loads_it(self):
        self.assertFalse(self.compile())
        self.assertEqual(start().communicate()[0], "True 56.0\n")
        self.assertTrue(self.compile())
        self.assertEqual(len(self.entries()), 1)

    def test_a_changed_module_is_compiled(self):
        self.assertFalse(self.compile("add"))
        self.assertFalse(self.compile("mul"))
        self.assertTrue(self.compile("add"))
        self.assertTrue(self.compile("mul"))

    def test_locations_change_nothing(self):
        self.assertFalse(self.compile())
        self.assertTrue(compile("\n\n" + MODULE.format("add")).kept)

    def test_a_damaged_entry_is_compiled_anew(self):
        self.compile()
        (path,) = self.entries()
        whole = path.read_bytes()
        for damaged in b"", whole[:100], whole[:-1] + bytes([whole[-1] ^ 1]), b"\0" * len(whole):
            path.write_bytes(damaged)
            self.assertFalse(self.compile())
            self.assertEqual(path.read_bytes(), whole)
            self.assertTrue(self.compile())

    def test_processes_write_at_the_same_time(self):
        processes = [start() for _ in range(4)]
        for process in processes:
            self.assertRegex(process.communicate()[0], "^(True|False) 56.0\n$")
        self.assertTrue(self.compile())
        self.assertEqual(len(self.entries()), 1)

    def test_nothing_is_kept_without_a_place(self):
        os.environ["LAYOUT_CACHE"] = ""
        self.assertFalse(self.compile())
        self.assertFalse(self.compile())

    def test_the_place_is_in_the_cache_of_the_user(self):
        del os.environ["LAYOUT_CACHE"]
        before = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = str(self.folder)
        try:
            self.assertFalse(self.compile())
            self.assertTrue(self.compile())
        finally:
            if before is None:
                del os.environ["XDG_CACHE_HOME"]
            else:
                os.environ["XDG_CACHE_HOME"] = before
        self.assertEqual(len(list((self.folder / "mlir-layout/programs").glob("llvmcache-*"))), 1)


unittest.main()
