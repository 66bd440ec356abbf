# RUN: %python %s 2>&1 | FileCheck %s
# CHECK-NOT: {{error|Error}}
# CHECK: OK
"""Checks that programs and their code are cached for other processes, and match what is compiled."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from layout_mlir import LayoutError, compile

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
        """Returns the cache entries of a program by size: the whole program, and its code only."""
        return sorted(self.folder.glob("llvmcache-*"), key=lambda path: path.stat().st_size)

    def compile(self, op="add"):
        program = compile(MODULE.format(op))
        np.testing.assert_array_equal(program(X), {"add": X + X, "mul": X * X}[op])
        return program.kept

    def test_another_process_loads_it(self):
        self.assertFalse(self.compile())
        self.assertEqual(start().communicate()[0], "True 56.0\n")
        self.assertTrue(self.compile())
        self.assertEqual(len(self.entries()), 2)

    def test_either_entry_is_enough(self):
        self.compile()
        for path in self.entries():
            whole = path.read_bytes()
            path.unlink()
            self.assertTrue(self.compile())
            path.write_bytes(whole)

    def test_a_changed_module_is_compiled(self):
        self.assertFalse(self.compile("add"))
        self.assertFalse(self.compile("mul"))
        self.assertTrue(self.compile("add"))
        self.assertTrue(self.compile("mul"))

    def test_locations_change_nothing(self):
        self.assertFalse(self.compile())
        self.assertTrue(compile("\n\n" + MODULE.format("add")).kept)

    def test_damaged_entries_are_compiled_anew(self):
        self.compile()
        paths = self.entries()
        wholes = [path.read_bytes() for path in paths]
        damages = [lambda whole: b"", lambda whole: whole[:100], lambda whole: b"\0" * len(whole),
                   lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]),
                   lambda whole: bytes([whole[0] ^ 1]) + whole[1:]]
        for damage in damages:
            for path, whole in zip(paths, wholes):
                path.write_bytes(damage(whole))
            self.assertFalse(self.compile())
            self.assertEqual([path.read_bytes() for path in paths], wholes)
            self.assertTrue(self.compile())

    def test_processes_write_at_the_same_time(self):
        processes = [start() for _ in range(4)]
        for process in processes:
            self.assertRegex(process.communicate()[0], "^(True|False) 56.0\n$")
        self.assertTrue(self.compile())
        self.assertEqual(len(self.entries()), 2)

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
        self.assertEqual(len(list((self.folder / "mlir-layout/programs").glob("llvmcache-*"))), 2)

    def test_weights_names_and_signatures_are_those_of_the_module(self):
        rng = np.random.default_rng(7)
        x = rng.standard_normal((3, 70), "f4")
        weights = {"w": rng.standard_normal((70, 41), "f4"), "b": rng.standard_normal((41,), "f4")}
        module = """func.func @f(%x: tensor<?x70xf32>, %n: tensor<i64>) -> (tensor<?x41xf32>, tensor<i64>) {
          %w = arith.constant dense_resource<w> : tensor<70x41xf32>
          %b = arith.constant dense_resource<b> : tensor<41xf32>
          %zero = arith.constant 0 : index
          %rows = tensor.dim %x, %zero : tensor<?x70xf32>
          %e = tensor.empty(%rows) : tensor<?x41xf32>
          %i = linalg.broadcast ins(%b : tensor<41xf32>) outs(%e : tensor<?x41xf32>) dimensions = [0]
          %y = linalg.matmul ins(%x, %w : tensor<?x70xf32>, tensor<70x41xf32>) outs(%i : tensor<?x41xf32>) -> tensor<?x41xf32>
          return %y, %n : tensor<?x41xf32>, tensor<i64>
        }"""
        # The 41 numbers are part of the code, the others are stored beside it.
        for kept, changed in (False, None), (True, None), (False, "b"), (True, "w"), (True, "w"):
            arrays = dict(weights)
            if changed:
                arrays[changed] = arrays[changed] + 1
            program = compile((module, arrays), function="f")
            self.assertEqual((program.kept, changed), (kept, changed))
            self.assertEqual(repr(program), "<Program @f(%x: float32(None, 70), %n: int64()) -> "
                                            "(float32(None, 41), int64())>")
            y, n = program(x, np.array(5))
            np.testing.assert_allclose(y, x @ arrays["w"] + arrays["b"], rtol=1e-4, atol=1e-4)
            self.assertEqual(n, 5)
            with self.assertRaisesRegex(LayoutError, "argument 0 .%x. must be"):
                program(x[:, 1:], np.array(5))

    def test_shared_arrays_are_not_stored(self):
        table = np.random.default_rng(8).standard_normal((5000, 8), "f4")
        module = """func.func @main(%n: tensor<i64>) -> tensor<8xf32> {
          %table = arith.constant dense_resource<table> : tensor<5000x8xf32>
          %e = tensor.empty() : tensor<8xf32>
          %y = linalg.generic {indexing_maps = [affine_map<(c) -> ()>, affine_map<(c) -> (c)>], iterator_types = ["parallel"]}
              ins(%n : tensor<i64>) outs(%e : tensor<8xf32>) {
            ^bb0(%i: i64, %o: f32):
              %row = arith.index_cast %i : i64 to index
              %c = linalg.index 0 : index
              %x = tensor.extract %table[%row, %c] : tensor<5000x8xf32>
              linalg.yield %x : f32
          } -> tensor<8xf32>
          return %y : tensor<8xf32>
        }"""

        def place(byte):
            """Returns a copy of the table at `byte` after a multiple of 64 bytes."""
            memory = np.empty(table.nbytes + 128, "u1")
            start = -memory.ctypes.data % 64 + byte
            copy = memory[start:start + table.nbytes].view("f4").reshape(table.shape)
            copy[:] = table
            return copy

        # An array that is aligned to less than the program needs is copied. Code is kept for any table.
        for shares, byte, kept in (True, 0, False), (True, 0, True), (True, 4, True), (False, 0, True):
            array = place(byte)
            program = compile((module, {"table": array}), shares_arrays=shares)
            self.assertEqual(program.kept, kept)
            np.testing.assert_array_equal(program(np.array(4999)), table[4999])
            # The table is in no entry but that of the program with its own copy.
            self.assertEqual(self.entries()[-1].stat().st_size > table.nbytes, not shares)
            array[7] = 5  # shows whether the program reads this memory
            self.assertEqual((program(np.array(7)) == 5).all(), shares and byte == 0)
        self.assertEqual(len(self.entries()), 3)
        compile((module, {"table": place(0) + 1}), shares_arrays=True)
        self.assertEqual(len(self.entries()), 4)

    def test_long_modules_are_compiled_in_parts(self):
        # Kernels of many shapes, so that no two of them are the same function.
        sizes = range(3, 43)
        types = ", ".join(f"tensor<{n}x{2 * n}xf32>" for n in sizes)
        ops = "".join(f"""
          %e{n} = tensor.empty() : tensor<{n}x{2 * n}xf32>
          %y{n} = linalg.transpose ins(%x{n} : tensor<{2 * n}x{n}xf32>) outs(%e{n} : tensor<{n}x{2 * n}xf32>) permutation = [1, 0]
          %z{n} = math.exp %y{n} : tensor<{n}x{2 * n}xf32>""" for n in sizes)
        module = f"""func.func @main({", ".join(f"%x{n}: tensor<{2 * n}x{n}xf32>" for n in sizes)}) -> ({types}) {{{ops}
          return {", ".join(f"%z{n}" for n in sizes)} : {types}
        }}"""
        inputs = [np.random.default_rng(n).standard_normal((2 * n, n), "f4") for n in sizes]
        for kept in False, True:
            program = compile(module)
            self.assertEqual(program.kept, kept)
            for x, z in zip(inputs, program(*inputs)):
                np.testing.assert_allclose(z, np.exp(x.T), rtol=1e-6)
        for entry in self.entries():
            self.assertGreater(entry.read_bytes().count(b"part/ "), 1)

    def test_a_failed_assertion_is_an_error_of_a_loaded_program(self):
        module = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
          %zero = arith.constant 0 : index
          %eight = arith.constant 8 : index
          %n = tensor.dim %x, %zero : tensor<?xf32>
          %whole = arith.cmpi eq, %n, %eight : index
          cf.assert %whole, "not eight"
          %z = arith.addf %x, %x : tensor<?xf32>
          return %z : tensor<?xf32>
        }"""
        for kept in False, True:
            program = compile(module)
            self.assertEqual(program.kept, kept)
            np.testing.assert_array_equal(program(X), X + X)
            with self.assertRaisesRegex(LayoutError, "not eight"):
                program(X[1:])

    def test_a_target_or_threads_of_its_own(self):
        module = MODULE.format("add")
        self.assertFalse(compile(module, threads=1).kept)
        program = compile(module, threads=2)
        self.assertEqual((program.kept, program.threads), (True, compile(module, threads=2).threads))
        entries = len(self.entries())
        compile(module, target="#layout.cpu<lanes = 4>")
        self.assertGreater(len(self.entries()), entries)

    def test_loops_for_one_thread_and_for_several(self):
        module = MODULE.format("add").replace("8x", "1048576x")
        x = np.arange(1048576, dtype="f4")
        for threads, kept in (1, False), (2, False), (1, True), (3, True):
            program = compile(module, threads=threads)
            self.assertEqual((program.kept, program.threads), (kept, threads))
            np.testing.assert_array_equal(program(x), x + x)

    def test_a_file_that_changed_is_read_again(self):
        path = self.folder.parent / "model.mlir"
        for op, kept in ("add", False), ("add", True), ("mul", False), ("add", True):
            path.write_text(MODULE.format(op))
            program = compile(path)
            self.assertEqual((op, program.kept), (op, kept))
            np.testing.assert_array_equal(program(X), {"add": X + X, "mul": X * X}[op])

    def test_what_cannot_be_read_is_an_error_as_ever(self):
        for given in "no module", "\udc80", b"", 5, (1, 2), ("text", 5), "missing.mlir", "missing.onnx":
            with self.assertRaises((LayoutError, TypeError, UnicodeError)):
                compile(given)
        self.assertEqual(self.entries(), [])


unittest.main()
