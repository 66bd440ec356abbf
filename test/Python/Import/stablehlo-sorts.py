# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks that sorts, top_k and cumulative reductions of StableHLO are loops over tensors, and that unsigned elements
compare as unsigned."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from stablehlo_modules import Modules  # noqa: E402

RNG = np.random.default_rng(1)


def sort(shape, element, dim, order=""):
    key, place = f"tensor<{shape}x{element}>", f"tensor<{shape}xi32>"
    return f"""func.func @main(%x: {key}, %p: {place}) -> ({key}, {place}) {{
  %0:2 = "stablehlo.sort"(%x, %p) <{{dimension = {dim} : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<{element}>, %b: tensor<{element}>, %c: tensor<i32>, %d: tensor<i32>):
    %less = stablehlo.compare LT, %a, %b{order} : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }}) : ({key}, {place}) -> ({key}, {place})
  return %0#0, %0#1 : {key}, {place}
}}"""


def top_k(shape, result, element, k):
    return f"""func.func @main(%x: tensor<{shape}x{element}>) -> (tensor<{result}x{element}>, tensor<{result}xi32>) {{
  %0:2 = chlo.top_k(%x, k = {k}) : tensor<{shape}x{element}> -> (tensor<{result}x{element}>, tensor<{result}xi32>)
  return %0#0, %0#1 : tensor<{result}x{element}>, tensor<{result}xi32>
}}"""


def cumulate(shape, dim, pads, op="stablehlo.add", element="f32", start="0.0"):
    sizes = shape.split("x")
    window = ", ".join(size if number == dim else "1" for number, size in enumerate(sizes))
    padding = ", ".join(str(pads) if number == dim else "[0, 0]" for number in range(len(sizes)))
    type_, scalar = f"tensor<{shape}x{element}>", f"tensor<{element}>"
    return f"""func.func @main(%x: {type_}) -> {type_} {{
  %z = stablehlo.constant dense<{start}> : {scalar}
  %0 = "stablehlo.reduce_window"(%x, %z) <{{window_dimensions = array<i64: {window}>,
    padding = dense<[{padding}]> : tensor<{len(sizes)}x2xi64>}}> ({{
  ^bb0(%a: {scalar}, %b: {scalar}):
    %s = {op} %a, %b : {scalar}
    stablehlo.return %s : {scalar}
  }}) : ({type_}, {scalar}) -> {type_}
  return %0 : {type_}
}}"""


class Sorts(Modules):
    def check_sort(self, x, dim, shape, element, order=""):
        places = np.broadcast_to(np.arange(x.shape[dim], dtype="i4").reshape(
            [-1 if each == dim else 1 for each in range(x.ndim)]), x.shape).copy()
        by = np.argsort(x, axis=dim, kind="stable")
        self.check(sort(shape, element, dim, order), [x, places], np.take_along_axis(x, by, dim), by.astype("i4"))

    def test_equal_elements_keep_their_order(self):
        for size in (1, 2, 3, 17):
            self.check_sort(RNG.integers(-2, 3, (3, size)).astype("i4"), 1, f"3x{size}", "i32")
        self.check_sort(RNG.integers(0, 3, (33, 2)).astype("f4"), 0, "33x2", "f32")

    def test_unsigned_elements(self):
        self.check_sort(RNG.integers(0, 256, (2, 50)).astype("u1"), 1, "2x50", "ui8")

    def test_dynamic_sizes(self):
        for rows in (0, 1, 6):
            self.check_sort(RNG.integers(-9, 9, (rows, 5)).astype("i8"), 0, "?x5", "i64")

    def test_total_order(self):
        x = np.array([[np.nan, 1, -0.0, 0.0, -np.inf, np.inf, -1]], "f4")
        keys, places = self.run_module(sort("1x7", "f32", 1, ", TOTALORDER"), x, np.arange(7, dtype="i4")[None])
        np.testing.assert_array_equal(places, [[4, 6, 2, 3, 1, 5, 0]])
        np.testing.assert_array_equal(np.signbit(keys[0, 2:4]), [True, False])


class Tops(Modules):
    def test_top_k(self):
        for element, dtype in (("f32", "f4"), ("i32", "i4"), ("ui8", "u1")):
            x = RNG.integers(0, 256, (3, 12)).astype(dtype)
            by = np.argsort(-x.astype("i8"), axis=1, kind="stable")[:, :5]
            self.check(top_k("3x12", "3x5", element, 5), [x], np.take_along_axis(x, by, 1), by.astype("i4"))

    def test_dynamic_rows(self):
        x = RNG.standard_normal((4, 6)).astype("f4")
        by = np.argsort(-x, axis=1)[:, :2]
        self.check(top_k("?x6", "?x2", "f32", 2), [x], np.take_along_axis(x, by, 1), by.astype("i4"))


class Scans(Modules):
    def test_sums_of_either_direction(self):
        x = RNG.integers(-9, 9, (3, 7)).astype("f4")
        self.check(cumulate("3x7", 1, [6, 0]), [x], np.cumsum(x, 1))
        self.check(cumulate("3x7", 1, [0, 6]), [x], np.cumsum(x[:, ::-1], 1)[:, ::-1])
        self.check(cumulate("3x7", 0, [2, 0]), [x], np.cumsum(x, 0))

    def test_maxima_of_unsigned_elements(self):
        x = RNG.integers(0, 256, (2, 40)).astype("u1")
        self.check(cumulate("2x40", 1, [39, 0], "stablehlo.maximum", "ui8", "0"), [x], np.maximum.accumulate(x, 1))

    def test_long_sums_take_linear_time(self):
        x = RNG.integers(-9, 9, 200_000).astype("i4")
        self.check(cumulate("200000", 0, [199999, 0], "stablehlo.add", "i32", "0"), [x], np.cumsum(x, dtype="i4"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
