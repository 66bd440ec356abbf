# REQUIRES: onnx, python-extension
# RUN: %python %s
"""Checks that a sequence input becomes as many inputs as shapes are stated for it, and that tensors in results are
separate results."""

import pathlib
import tempfile
import unittest

import numpy as np
import onnx.parser
from layout_mlir import LayoutError, compile

SEQUENCES = """<ir_version: 9, opset_import: ["" : 18]>
  sequences (seq(float[]) s, float[2, 3] x) => (float[a, 3] y, seq(float[]) t) {
    t = SequenceInsert (s, x)
    y = ConcatFromSequence <axis = 0> (t)
  }"""
OPTIONALS = """<ir_version: 9, opset_import: ["" : 18]>
  optionals (optional(float[n]) o) => (bool y) { y = OptionalHasElement (o) }"""


class Sequences(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "model.onnx")

    def save(self, text):
        onnx.save(onnx.parser.parse_model(text), self.path)
        return self.path

    def test_tensors_of_a_sequence(self):
        program = compile(self.save(SEQUENCES), shapes={"s": [(1, 3), (4, 3)]})
        self.assertEqual([each.name for each in program.inputs], ["s[0]", "s[1]", "x"])
        a, b, x = (np.full(shape, value, "f4") for value, shape in enumerate(((1, 3), (4, 3), (2, 3))))
        y, *t = program(a, b, x)
        np.testing.assert_array_equal(y, np.concatenate([a, b, x]))
        for got, wanted in zip(t, (a, b, x), strict=True):
            np.testing.assert_array_equal(got, wanted)

    def test_empty_sequence(self):
        x = np.ones((2, 3), "f4")
        y, t = compile(self.save(SEQUENCES), shapes={"s": []})(x)
        np.testing.assert_array_equal(y, x)
        np.testing.assert_array_equal(t, x)

    def test_optional(self):
        self.assertTrue(compile(self.save(OPTIONALS), shapes={"o": (3,)})(np.ones(3, "f4")))
        self.assertFalse(compile(self.save(OPTIONALS), shapes={"o": None})())

    def test_refusals(self):
        for shapes, words in (({}, "input 's' is a sequence or an optional: state the shapes"),
                              ({"s": (4, 3)}, "'s' is a sequence: state a shape for each of its tensors"),
                              ({"s": [(1, 3)], "x": [(2, 3)]}, "'x' is a tensor: state one shape for it")):
            with self.assertRaisesRegex(LayoutError, words):
                compile(self.save(SEQUENCES), shapes=shapes)


unittest.main()
