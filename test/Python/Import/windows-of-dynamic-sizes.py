# REQUIRES: onnx, python-extension
# RUN: %python %s %t
"""Checks that models with dynamic sizes are compared with ONNX Runtime on sizes at which all of their windows fit, and
that sizes at which none does are not held against the import. ONNX Runtime computes one position of a window that is
larger than its input by less than a stride."""

import sys
import unittest
import warnings

import numpy as np
import onnxruntime
from onnx import parser

import layout_mlir

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
RNG = np.random.default_rng(3)
CHAIN = """(float[N,2,H,W] x) => (float[n,2,h,w] y) {
  a = MaxPool <kernel_shape = [7,7], strides = [5,5]> (x)
  b = Relu (a)
  [last] y = AveragePool <kernel_shape = [3,3], strides = [3,3]> (b)
}"""
SOUND = """(float[N,1,L] x, float[4,1,%d] w) => (float[n,4,l] y) {
  a = Conv <strides = [500]> (x, w)
  [last] y = MaxPool <kernel_shape = [3], strides = [2]> (a)
}"""
POOL = "(float[N,2,L] x) => (float[n,2,l] y) { [last] y = MaxPool <kernel_shape = [20000], strides = [19999]> (x) }"
# At most 2 elements are chosen.
CHOICE = """(float[1,2,2] x, bool[2] c) => (float[a,b,n] y) {
  z = Compress <axis = 2> (x, c)
  [last] y = MaxPool <kernel_shape = [3], strides = [3]> (z)
}"""


def f(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


class Windows(unittest.TestCase):
    def compile(self, text: str) -> tuple[object, list[str], onnxruntime.InferenceSession]:
        """Returns the program, the warnings of the import, and the session of a graph."""
        model = parser.parse_model(HEAD + "g " + text)
        path = f"{sys.argv[1]}.onnx"
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            program = layout_mlir.compile(path)
        return program, [str(each.message) for each in said], onnxruntime.InferenceSession(model.SerializeToString())

    def check(self, text: str, inputs: list[np.ndarray], small: list[np.ndarray], says: str | None = None) -> None:
        """Checks the results for `inputs`, and the error for inputs that are too `small`. The import warns of `says`."""
        program, said, session = self.compile(text)
        self.assertEqual([each for each in said if says is None or says not in each], [])
        self.assertEqual(bool(said), says is not None)
        names = [each.name for each in session.get_inputs()]
        if inputs:
            wanted, = session.run(None, dict(zip(names, inputs)))
            np.testing.assert_allclose(program(*inputs), wanted, 1e-3, 1e-3)
        with self.assertRaisesRegex(layout_mlir.LayoutError, r"node 'last': its window reaches over more than the padded"):
            program(*small)

    def test_sizes_grow_until_a_chain_of_windows_fits(self) -> None:
        self.check(CHAIN, [f(2, 2, 64, 47)], [f(1, 2, 15, 64)])

    def test_windows_of_sounds(self) -> None:
        w = f(4, 1, 700) / 30
        self.check(SOUND % 700, [f(1, 1, 3000), w], [f(1, 1, 1300), w])

    def test_no_drawn_size_fits(self) -> None:
        self.check(POOL, [f(1, 2, 50000)], [f(1, 2, 19999)], "no sizes were drawn at which all windows fit")

    def test_a_size_that_depends_on_data(self) -> None:
        x = f(1, 2, 2)
        self.check(CHOICE, [], [x, np.array([True, True])], "no sizes were drawn at which all windows fit")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
