# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks that unsigned signatures, dynamic shapes, barriers and composites of StableHLO are imported, and that others
are refused by name."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from stablehlo_modules import Modules  # noqa: E402

RNG = np.random.default_rng(2)


class Forms(Modules):
    def test_unsigned_results(self):
        for element, dtype in (("ui8", "u1"), ("ui16", "u2"), ("ui32", "u4"), ("ui64", "u8")):
            text = f"""func.func @main(%x: tensor<3x{element}>, %y: tensor<3x{element}>)
                -> (tensor<3x{element}> {{jax.result_info = "sum"}}, tensor<3x{element}>, tensor<3xf32>) {{
              %0 = stablehlo.add %x, %y : tensor<3x{element}>
              %1 = stablehlo.divide %x, %y : tensor<3x{element}>
              %2 = stablehlo.convert %x : (tensor<3x{element}>) -> tensor<3xf32>
              return %0, %1, %2 : tensor<3x{element}>, tensor<3x{element}>, tensor<3xf32>
            }}"""
            most = np.iinfo(dtype).max
            x, y = np.array([most, 200, 7], dtype), np.array([2, 3, most], dtype)
            self.check(text, [x, y], x + y, x // y, x.astype("f4"))

    def test_dynamic_broadcast_of_dims_that_may_be_one(self):
        text = """func.func @main(%x: tensor<?x3xf32>, %s: tensor<2xi32>) -> tensor<?x3xf32> {
          %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
          return %0 : tensor<?x3xf32>
        }"""
        for rows in (1, 4):
            x = RNG.standard_normal((rows, 3)).astype("f4")
            self.check(text, [x, np.array([4, 3], "i4")], np.broadcast_to(x, (4, 3)))

    def test_dynamic_reshape(self):
        text = """func.func @main(%x: tensor<?x6xui8>, %s: tensor<3xi32>) -> tensor<?x2x?xui8> {
          %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?x6xui8>, tensor<3xi32>) -> tensor<?x2x?xui8>
          return %0 : tensor<?x2x?xui8>
        }"""
        x = RNG.integers(0, 256, (4, 6)).astype("u1")
        self.check(text, [x, np.array([3, 2, 4], "i4")], x.reshape(3, 2, 4))

    def test_softmax_of_dynamic_rows_as_jax_writes_it(self):
        text = """module attributes {jax.uses_shape_polymorphism = true} {
        func.func @main(%x: tensor<?x9xf32>) -> tensor<?x9xf32> {
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %nine = stablehlo.constant dense<9> : tensor<1xi32>
          %e = stablehlo.exponential %x : tensor<?x9xf32>
          %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x9xf32>, tensor<f32>) -> tensor<?xf32>
          %b = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x9xf32>) -> tensor<i32>
          %b1 = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
          %one = stablehlo.constant dense<1> : tensor<1xi32>
          %c1 = stablehlo.concatenate %b1, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
          %c9 = stablehlo.concatenate %b1, %nine, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
          %s1 = stablehlo.dynamic_broadcast_in_dim %s, %c1, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
          %s9 = stablehlo.dynamic_broadcast_in_dim %s1, %c9, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x9xf32>
          %r = stablehlo.divide %e, %s9 : tensor<?x9xf32>
          return %r : tensor<?x9xf32>
        } }"""
        for rows in (1, 4):
            x = RNG.standard_normal((rows, 9)).astype("f4")
            self.check(text, [x], np.exp(x) / np.exp(x).sum(1, keepdims=True), tolerance=1e-6)

    def test_barriers_and_composites(self):
        text = """module {
        func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
          %0 = stablehlo.optimization_barrier %x : tensor<5xf32>
          %1 = stablehlo.composite "my.twice" %0 {decomposition = @twice} : (tensor<5xf32>) -> tensor<5xf32>
          return %1 : tensor<5xf32>
        }
        func.func private @twice(%x: tensor<5xf32>) -> tensor<5xf32> {
          %0 = stablehlo.add %x, %x : tensor<5xf32>
          return %0 : tensor<5xf32>
        } }"""
        x = RNG.standard_normal(5).astype("f4")
        self.check(text, [x], x + x)


class Refusals(Modules):
    def test_a_custom_call_is_named(self):
        self.check_refused("""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.custom_call @solve(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("layer 7")
          return %0 : tensor<4xf32>
        }""", r"op 'stablehlo.custom_call' of 'solve' at 'layer 7' is not imported: .*stablehlo.composite$")

    def test_a_transform_is_located(self):
        self.check_refused("""func.func @main(%x: tensor<?xf32>) -> tensor<9xcomplex<f32>> {
          %0 = stablehlo.fft %x, type = RFFT, length = [16] : (tensor<?xf32>) -> tensor<9xcomplex<f32>>
          return %0 : tensor<9xcomplex<f32>>
        }""", r"fft' at line 2, column \d+ is not imported: .*product with its matrix$")

    def test_a_module_has_a_main(self):
        self.check_refused("""func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.add %x, %x : tensor<4xf32>
          return %0 : tensor<4xf32>
        }""", "no function @main: rename the function")


if __name__ == "__main__":
    unittest.main(verbosity=2)
