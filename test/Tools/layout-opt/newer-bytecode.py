# REQUIRES: jax
# RUN: %python %s layout-opt
"""Checks that layout-opt reads each builtin attribute and type as IREE 3.13 writes it in bytecode of MLIR 24, and that
malformed bytes of these are errors."""

import io
import subprocess
import sys
import unittest

from iree.compiler import ir

TOOL = sys.argv.pop(1)
ATTRIBUTES = [
    "affine_map<() -> ()>",
    "affine_map<(d0, d1) -> (d0, d1)>",
    "affine_map<(d0, d1, d2) -> (d2, d0, d1)>",
    "affine_map<(d0, d1, d2) -> (d2, d0)>",
    "affine_map<(d0, d1) -> (d0, d0)>",
    "affine_map<(d0)[s0] -> (d0)>",
    "affine_map<(d0)[s0] -> (d0 mod s0, -d0, d0 * 9223372036854775807)>",
    "affine_map<(d0, d1)[s0] -> (d0 floordiv 3 + s0 * 2 - 5, d1 mod 7, d1 ceildiv 2)>",
    "affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 0)>",
    "strided<[]>",
    "strided<[-2, 1], offset: 3>",
    "strided<[?, 1], offset: ?>",
    "dense<true> : tensor<3xi1>",
    "dense<[true, false, true, false, false, false, false, false, true]> : tensor<9xi1>",
    "dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3FN>",
]
TYPES = [
    "tf32", "f8E5M2", "f8E4M3", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E3M4", "f4E2M1FN",
    "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU", "memref<2xf32>", "memref<2x3xf32, strided<[4, 1]>>",
    "memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>",
]


def write(*attributes):
    """Returns the text and the bytecode of a module with attributes, as IREE writes them."""
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse("\n".join(f'"test.op"() {{value = {each}}} : () -> ()' for each in attributes))
        bytecode = io.BytesIO()
        module.operation.write_bytecode(bytecode)
        return str(module), bytecode.getvalue()


def read(module):
    return subprocess.run([TOOL, "--allow-unregistered-dialect"], input=module, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


class Bytecode(unittest.TestCase):
    def test_read(self):
        text, bytecode = write(*ATTRIBUTES, *TYPES)
        self.assertIn(b"MLIR24", bytecode[:20])
        found = read(bytecode)
        self.assertEqual(found.stderr, b"")
        self.assertEqual(found.stdout.decode().splitlines(), [*text.splitlines(), ""])

    def test_malformed(self):
        _, bytecode = write("affine_map<(d0, d1) -> (d1 + 2, d0)>")
        # Code 23; a map with expressions of two dims, no symbol and two results: d1 + 2 and d0.
        encoded = bytes(number << 1 | 1 for number in (23, 2 << 2 | 3, 0, 2, 3, 0, 1, 2, 4, 0, 0))
        self.assertEqual(bytecode.count(encoded), 1)
        for change, message in (
                ({6: 2}, "an affine expression has the dim or symbol 2 of 2"),
                ({5: 1}, "an affine expression has the dim or symbol 1 of 0"),
                ({4: 9}, "an affine expression has the unknown code 9"),
                ({3: 127}, "error"), ({0: 26}, "unknown attribute code: 26"),
                ({4: 3, 5: 3, 6: 3, 7: 3, 8: 3, 9: 3, 10: 3}, "error")):
            with self.subTest(change):
                changed = bytearray(encoded)
                for at, number in change.items():
                    changed[at] = number << 1 | 1
                found = read(bytecode.replace(encoded, bytes(changed)))
                self.assertEqual(found.returncode, 1)
                self.assertIn(message, found.stderr.decode())
                self.assertIn("bytecode version 6 produced by: MLIR24", found.stderr.decode())


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
