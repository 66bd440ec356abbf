# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks that gathers and slices of StableHLO clamp their starts, and that scatters drop updates out of bounds."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from stablehlo_modules import Modules  # noqa: E402

RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.standard_normal(shape).astype("f4")


def gather_rows(rows, index, count):
    return f"""func.func @main(%x: tensor<{rows}x4xf32>, %i: tensor<{count}x1x{index}>) -> tensor<{count}x4xf32> {{
  %0 = "stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}}>
    : (tensor<{rows}x4xf32>, tensor<{count}x1x{index}>) -> tensor<{count}x4xf32>
  return %0 : tensor<{count}x4xf32>
}}"""


def scatter(operand, indices, updates, numbers, combine="stablehlo.add %a, %b", element="f32"):
    return f"""func.func @main(%o: tensor<{operand}>, %i: tensor<{indices}>, %u: tensor<{updates}>) -> tensor<{operand}> {{
  %0 = "stablehlo.scatter"(%o, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> ({{
  ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
    %s = {combine} : tensor<{element}>
    stablehlo.return %s : tensor<{element}>
  }}) : (tensor<{operand}>, tensor<{indices}>, tensor<{updates}>) -> tensor<{operand}>
  return %0 : tensor<{operand}>
}}"""


class Gathers(Modules):
    def test_starts_are_clamped(self):
        x, i = draw(5, 4), np.array([[1], [77], [-3]], "i4")
        self.check(gather_rows(5, "i32", 3), [x, i], x[[1, 4, 0]])
        x, i = draw(300, 4), np.array([[200], [255]], "u1")
        self.check(gather_rows(300, "ui8", 2), [x, i], x[[200, 255]])
        self.check(gather_rows(300, "ui64", 2), [x, np.array([[2**64 - 1], [7]], "u8")], x[[299, 7]])

    def test_batches_and_dynamic_sizes(self):
        text = """func.func @main(%x: tensor<?x5xf32>, %i: tensor<?x2x1xi32>) -> tensor<?x2x3xf32> {
          %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2],
            operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1],
            index_vector_dim = 2>, slice_sizes = array<i64: 1, 3>}>
            : (tensor<?x5xf32>, tensor<?x2x1xi32>) -> tensor<?x2x3xf32>
          return %0 : tensor<?x2x3xf32>
        }"""
        x, i = draw(3, 5), np.array([[[0], [1]], [[9], [-9]], [[2], [3]]], "i4")
        want = np.array([[x[b, s:s + 3] for s in np.clip(i[b, :, 0], 0, 2)] for b in range(3)])
        self.check(text, [x, i], want)

    def test_dynamic_slices(self):
        text = """func.func @main(%x: tensor<300xf32>, %u: tensor<3xf32>, %i: tensor<ui8>) -> (tensor<300xf32>, tensor<2xf32>) {
          %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<300xf32>, tensor<3xf32>, tensor<ui8>) -> tensor<300xf32>
          %1 = stablehlo.dynamic_slice %0, %i, sizes = [2] : (tensor<300xf32>, tensor<ui8>) -> tensor<2xf32>
          return %0, %1 : tensor<300xf32>, tensor<2xf32>
        }"""
        x, u = draw(300), draw(3)
        want = x.copy()
        want[200:203] = u
        self.check(text, [x, u, np.array(200, "u1")], want, u[:2])


class Scatters(Modules):
    def test_updates_out_of_bounds_are_dropped(self):
        text = scatter("6xf32", "5x1xi32", "5xf32",
                       "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1")
        i, u = np.array([[2], [2], [9], [-1], [5]], "i4"), np.array([1, 2, 4, 8, 16], "f4")
        self.check(text, [np.zeros(6, "f4"), i, u], np.array([0, 0, 3, 0, 0, 16], "f4"))

    def test_elements_of_windows_are_dropped_one_by_one(self):
        text = scatter("6xf32", "1xi32", "3xf32", "update_window_dims = [0], scatter_dims_to_operand_dims = [0]")
        self.check(text, [np.zeros(6, "f4"), np.array([4], "i4"), np.array([1, 2, 4], "f4")],
                   np.array([0, 0, 0, 0, 1, 2], "f4"))

    def test_batches_and_unsigned_elements(self):
        text = scatter("4x9xui8", "4x5x1xui8", "4x5xui8",
                       "inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], "
                       "scatter_dims_to_operand_dims = [1], index_vector_dim = 2", "stablehlo.maximum %a, %b", "ui8")
        o, u = (RNG.integers(0, 256, shape).astype("u1") for shape in ((4, 9), (4, 5)))
        i, want = RNG.integers(0, 12, (4, 5, 1)).astype("u1"), o.copy()
        for b, j in np.ndindex(4, 5):
            if i[b, j, 0] < 9:
                want[b, i[b, j, 0]] = max(want[b, i[b, j, 0]], u[b, j])
        self.check(text, [o, i, u], want)

    def test_windows_of_dynamic_rows(self):
        text = scatter("?x5x3xf32", "2x1xi64", "?x2x3xf32",
                       "update_window_dims = [0, 2], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], "
                       "index_vector_dim = 1", "stablehlo.subtract %a, %b")
        o, u = draw(2, 5, 3), draw(2, 2, 3)
        want = o.copy()
        want[:, 3] -= u[:, 0]
        self.check(text, [o, np.array([[3], [5]], "i8"), u], want)


if __name__ == "__main__":
    unittest.main(verbosity=2)
