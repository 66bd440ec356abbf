# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks models that ONNX Runtime runs on inputs that ONNX does not allow: they are not compared on such inputs, and
compute on valid ones what NumPy does. Checks the rounding that a comparison allows."""

from __future__ import annotations

import pathlib
import tempfile
import unittest
import warnings
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import parser

import layout_mlir
from layout_mlir.onnx_import import compare

HEAD = '<ir_version: 9, opset_import: ["" : 17, "ai.onnx.ml" : 3]>\n'
Array = NDArray[Any]


class LaxRuntime(unittest.TestCase):
    def check(self, text: str, reason: str, given: Array, expected: Array) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(parser.parse_model(HEAD + text), path)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                program = layout_mlir.compile(path, threads=1)
        self.assertRegex(str(caught[0].message), f"not compared with ONNX Runtime: .*not valid.*{reason}")
        got = program(given)
        self.assertEqual(got.shape, expected.shape)
        np.testing.assert_allclose(got, expected, rtol=1e-6)

    def test_sizes_of_a_product_without_elements(self) -> None:
        self.check("g (float[2,n,3,0] x) => (y) <float[5,0,4] w = {}> { y = MatMul(x, w) }",
                   "node 'y': sizes do not broadcast", np.zeros((2, 5, 3, 0), np.float32), np.zeros((2, 5, 3, 4)))

    def test_sizes_of_an_empty_part(self) -> None:
        self.check("g (float[2,n] x) => (y) <float[0,5] w = {}> { s = SequenceConstruct(x, w, x) t = SequenceErase(s) "
                   "y = ConcatFromSequence<axis = 0>(t) }",
                   "node 'y': inputs of a concatenation differ in a size", np.ones((2, 5), np.float32), np.ones((2, 5)))

    def test_the_number_of_features(self) -> None:
        self.check("g (float[m,n] x) => (y) { y = ai.onnx.ml.LinearRegressor<coefficients = [1.0, 2.0, 3.0, 4.0, 5.0], "
                   "targets = 1>(x) }", "node 'y': ", np.ones((2, 5), np.float32), np.full((2, 1), 15))

    def test_rounding_to_halves(self) -> None:
        """The difference that is allowed for a result of 32 bits is that of 16 bits if the model computes in them."""
        whole = parser.parse_model(HEAD + "g (float[2] x) => (float[2] y) { y = Sin(x) }")
        halves = parser.parse_model(HEAD + "g (float[2] x) => (float[2] y) { a = Cast<to = 10>(x) b = Sin(a) "
                                    "y = Cast<to = 1>(b) }")
        given = [[np.array([1.3, -0.7], np.float32)]]
        self.assertLess(compare.run_oracle(whole, given).rounding[0], 1e-5)
        self.assertGreater(compare.run_oracle(halves, given).rounding[0], 1e-4)


if __name__ == "__main__":
    unittest.main()
