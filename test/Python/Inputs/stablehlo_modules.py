"""Compiles StableHLO modules given as text and compares them with NumPy."""

import pathlib
import tempfile
import unittest

import numpy as np
from layout_mlir import LayoutError, compile


class Modules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "module.mlir"

    def run_module(self, text, *inputs):
        """Returns the results of @main as a list."""
        self.path.write_text(text)
        results = compile(self.path)(*inputs)
        return results if isinstance(results, (list, tuple)) else [results]

    def check(self, text, inputs, *wanted, tolerance=0):
        results = self.run_module(text, *inputs)
        self.assertEqual(len(results), len(wanted))
        for result, want in zip(results, wanted):
            self.assertEqual(np.asarray(result).dtype, want.dtype)
            np.testing.assert_allclose(result, want, rtol=tolerance, atol=tolerance)

    def check_refused(self, text, message):
        self.path.write_text(text)
        with self.assertRaisesRegex(LayoutError, message):
            compile(self.path)
