# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks products and convolutions of unsigned elements, and reductions and scatters in a wider type than they read."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from stablehlo_modules import Modules  # noqa: E402

X = np.array([[200, 127, 1], [2, 3, 252]], "u1")
Y = np.array([[255, 1], [2, 200], [3, 4]], "u1")
DTYPES = {"ui8": "u1", "i8": "i1", "ui32": "u4", "i32": "i4", "f32": "f4"}


class Products(Modules):
    def check_product(self, x, y, element, left, right, sizes="2x3"):
        rows = sizes.split("x")[0]
        types = f"(tensor<{sizes}x{left}>, tensor<3x2x{right}>) -> tensor<{rows}x2x{element}>"
        text = f"""func.func @main(%x: tensor<{sizes}x{left}>, %y: tensor<3x2x{right}>) -> tensor<{rows}x2x{element}> {{
          %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : {types}
          return %0 : tensor<{rows}x2x{element}>
        }}"""
        self.check(text, [x, y], (x.astype("i8") @ y.astype("i8")).astype(DTYPES[element]))

    def test_unsigned_factors(self):
        for element in ("ui32", "i32", "f32", "ui8"):
            with self.subTest(element):
                self.check_product(X, Y, element, "ui8", "ui8")
        self.check_product(X, Y, "i32", "ui8", "ui8", "?x3")

    def test_factors_of_both_kinds(self):
        self.check_product(X, Y.view("i1"), "i32", "ui8", "i8")
        self.check_product(X.view("i1"), Y, "i32", "i8", "ui8")

    def test_unsigned_convolution(self):
        x, w = np.array([200, 255, 3, 128], "u1"), np.array([255, 2], "u1")
        text = """func.func @main(%x: tensor<1x4x1xui8>, %w: tensor<2x1x1xui8>) -> tensor<1x3x1xi32> {
          %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]}
               {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
               : (tensor<1x4x1xui8>, tensor<2x1x1xui8>) -> tensor<1x3x1xi32>
          return %0 : tensor<1x3x1xi32>
        }"""
        wanted = np.convolve(x.astype("i4"), w[::-1].astype("i4"), "valid").astype("i4")
        self.check(text, [x.reshape(1, 4, 1), w.reshape(2, 1, 1)], wanted.reshape(1, 3, 1))


class WiderRegions(Modules):
    REGION = """({ ^bb0(%p: tensor<ui32>, %q: tensor<ui32>):
      %s = stablehlo.add %p, %q : tensor<ui32>
      stablehlo.return %s : tensor<ui32> })"""

    def test_reductions(self):
        self.check(f"""func.func @main(%x: tensor<2x3xui8>) -> tensor<2xui32> {{
          %z = stablehlo.constant dense<7> : tensor<ui8>
          %0 = "stablehlo.reduce"(%x, %z) {self.REGION} {{dimensions = array<i64: 1>}}
               : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2xui32>
          return %0 : tensor<2xui32>
        }}""", [X], X.sum(1, dtype="u4") + np.uint32(7))

    def test_windows(self):
        x = np.array([200, 255, 3, 128], "u1")
        self.check(f"""func.func @main(%x: tensor<4xui8>) -> tensor<2xui32> {{
          %z = stablehlo.constant dense<0> : tensor<ui8>
          %0 = "stablehlo.reduce_window"(%x, %z) {self.REGION}
               {{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}}
               : (tensor<4xui8>, tensor<ui8>) -> tensor<2xui32>
          return %0 : tensor<2xui32>
        }}""", [x], x.reshape(2, 2).sum(1, dtype="u4"))

    def test_scatters(self):
        x, updates = np.array([200, 255, 3], "u1"), np.array([200, 100], "u1")
        self.check(f"""func.func @main(%x: tensor<3xui8>, %i: tensor<2x1xi32>, %u: tensor<2xui8>) -> tensor<3xui32> {{
          %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
               inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> {self.REGION}
               : (tensor<3xui8>, tensor<2x1xi32>, tensor<2xui8>) -> tensor<3xui32>
          return %0 : tensor<3xui32>
        }}""", [x, np.zeros((2, 1), "i4"), updates], np.array([500, 255, 3], "u4"))


if __name__ == "__main__":
    unittest.main()
