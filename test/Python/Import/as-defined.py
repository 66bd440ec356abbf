# REQUIRES: onnx, python-extension
# RUN: %python %s %t
"""Checks forms of operators that ONNX Runtime and the reference evaluator compute otherwise than ONNX defines them:
compile accepts them, and the results are those of the definition in NumPy."""

import itertools
import sys
import unittest
import warnings

import numpy as np
from onnx import parser

import layout_mlir

RNG = np.random.default_rng(0)


# A version that ONNX Runtime has, and one that only the reference evaluator has.
OLD, NEW = '<ir_version: 10, opset_import: ["" : 22]>', '<ir_version: 14, opset_import: ["" : 28]>'


def run(text, *inputs, version=OLD):
    with open(f"{sys.argv[1]}.onnx", "wb") as file:
        file.write(parser.parse_model(f"{version}\ng {text}").SerializeToString())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that nothing was compared
        return layout_mlir.compile(f"{sys.argv[1]}.onnx")(*inputs)


def pool(x, op, mode, kernel, dilation, stride, counts_padding):
    """Pools the last dim by the definition: ceil(size / stride) windows, and half of the padding before the input."""
    size = len(x)
    count = -(-size // stride)
    total = max((count - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    first = -(total // 2 if mode == "SAME_UPPER" else total - total // 2)
    rows = []
    for start in range(first, first + count * stride, stride):
        places = [start + step * dilation for step in range(kernel)]
        values = [x[place] for place in places if 0 <= place < size]
        rows.append({"MaxPool": lambda: max(values), "LpPool": lambda: np.sqrt(np.sum(np.square(values))),
                     "AveragePool": lambda: np.sum(values) / (kernel if counts_padding else len(values))}[op]())
    return np.array(rows)


class AsDefined(unittest.TestCase):
    def test_dilated_pools(self):
        forms = [("MaxPool", 0), ("LpPool", 0), ("AveragePool", 0), ("AveragePool", 1)]
        for (op, counts), mode, (size, kernel, dilation, stride) in itertools.product(
                forms, ("SAME_UPPER", "SAME_LOWER"), ((9, 3, 2, 1), (10, 2, 3, 1), (8, 3, 2, 3))):
            with self.subTest(op=op, counts=counts, mode=mode, size=size):
                x = RNG.standard_normal((1, 1, size)).astype(np.float32)
                more = f", count_include_pad = {counts}" if counts else ""
                text = (f"(float[1,1,{size}] x) => (float[1,1,n] y) {{ y = {op} <auto_pad = \"{mode}\", kernel_shape = [{kernel}], "
                        f"dilations = [{dilation}], strides = [{stride}]{more}> (x) }}")
                np.testing.assert_allclose(run(text, x)[0, 0], pool(x[0, 0], op, mode, kernel, dilation, stride, counts), 1e-5)

    def test_pools_of_constants(self):
        """Also of windows that are cut off, with one position (see pools.py)."""
        x = np.arange(1, 10, dtype=np.float32) % 5
        values = ", ".join(map(str, x))
        for op in ("MaxPool", "LpPool", "AveragePool"):
            for kernel, stride in ((3, 2), (5, 3)):
                text = (f"() => (float[a,b,c] y) {{ x = Constant <value = float[1,1,9] {{{values}}}> () y = {op} "
                        f"<auto_pad = \"SAME_UPPER\", kernel_shape = [{kernel}], dilations = [2], strides = [{stride}]> (x) }}")
                np.testing.assert_allclose(run(text)[0, 0], pool(x, op, "SAME_UPPER", kernel, 2, stride, 0), 1e-5)
            text = (f"() => (float[a,b,c] y) {{ x = Constant <value = float[1,1,2] {{3.0, 4.0}}> () y = {op} "
                    f"<kernel_shape = [4], strides = [3]> (x) }}")
            self.assertAlmostEqual(run(text).item(), {"MaxPool": 4, "LpPool": 5, "AveragePool": 3.5}[op])

    def test_one_hot_of_constants(self):
        """Floats are converted to int64, towards zero, also if the node is computed at import."""
        text = """() => (float[6,n] y) {
          i = Constant <value = float[6] {0.0, 1.5, 2.9, -0.5, -1.7, 4.0}> ()
          d = Constant <value = float {3.7}> ()
          v = Constant <value = float[2] {0.0, 1.0}> ()
          y = OneHot (i, d, v) }"""
        for version in OLD, NEW:
            np.testing.assert_array_equal(run(text, version=version), np.eye(5, 3)[[0, 1, 2, 0, 2, 4]])

    def test_one_hot_floats(self):
        """Indices that are floats are converted to int64, towards zero."""
        text = """(float[12] i) => (float[12,3] y, float[3,12] z) {
          d = Constant <value = int64[1] {3}> ()
          v = Constant <value = float[2] {0.0, 1.0}> ()
          y = OneHot (i, d, v)
          z = OneHot <axis = 0> (i, d, v) }"""
        i = np.array([0, 1, 1.5, 2.9, -0.5, -1, -1.7, -3, -4, 3, 5, 0.3], np.float32)
        places = np.trunc(i).astype(int)
        y, z = run(text, i)
        np.testing.assert_array_equal(y, np.where(places < 0, places + 3, places)[:, None] == np.arange(3))
        np.testing.assert_array_equal(z, y.T)

    def test_one_hot_depths(self):
        """A depth that is a float is converted to int64, towards zero."""
        text = "(float f, int64[2] i, float[2] v) => (float[2,n] y) { c = Constant <value = float {0.7}> () " \
               "s = Cos (f) d = Div (c, s) e = Add (d, c) y = OneHot (i, e, v) }"
        for version in OLD, NEW:
            y = run(text, np.zeros([], np.float32), np.array([0, -1]), np.array([2, 5], np.float32), version=version)
            np.testing.assert_array_equal(y, [[5], [5]])

    def test_empty_optionals(self):
        """An Optional without an operand has no element."""
        text = "() => (bool y) { o = Optional <type: type_proto = float[2]> () y = OptionalHasElement (o) }"
        for version in OLD, NEW:
            self.assertEqual(run(text, version=version), False)

    def test_products_of_bytes(self):
        """Without VNNI, ONNX Runtime saturates sums of two products of uint8 and int8 at 16 bits by default."""
        for kind in ("", "computed"):
            add = "w = Add (v, v)" if kind else "w = Identity (v)"
            x = np.full((2, 256), 255, np.uint8)
            v = np.full((256, 3), 63 if kind else 127, np.int8)
            text = f"(uint8[2,256] x, int8[256,3] v) => (int32[2,3] y) {{ {add} y = MatMulInteger (x, w) }}"
            np.testing.assert_array_equal(run(text, x, v), np.full((2, 3), 255 * 256 * (126 if kind else 127)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
