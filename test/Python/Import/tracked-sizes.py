# REQUIRES: onnx
# RUN: %python %s
"""Checks that arithmetic on small integer tensors keeps the sizes that the import tracks."""

import unittest

import numpy as np
from onnx import helper

from layout_mlir.onnx_import.elements import BOOL, F32, I32, I64
from layout_mlir.onnx_import.graph import Importer
from layout_mlir.onnx_import.node import Node, find_operator
from layout_mlir.onnx_import.sizes import Size
from layout_mlir.onnx_import.values import Tensor


class TrackedSizes(unittest.TestCase):
    def setUp(self) -> None:
        graph = helper.make_graph([], "sizes", [], [])
        self.importer = Importer(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
        self.builder = self.importer.builder
        self.x = self.builder.tensor_of("%arg0", F32, [None, None, 8])
        self.n, self.m, _ = self.x.shape

    def sizes(self, *values: Size) -> Tensor:
        return Tensor(I64, (len(values),), integers=values)

    def constant(self, *values: int) -> Tensor:
        return self.builder.constant(np.array(values, np.int64))

    def run_node(self, op: str, *inputs: Tensor, **attributes: object) -> Tensor:
        proto = helper.make_node(op, [f"x{number}" for number in range(len(inputs))], ["y"], **attributes)
        function = find_operator("", op)
        assert function is not None
        result = function(self.builder, Node(proto, self.importer, inputs), *inputs)
        assert isinstance(result, Tensor)
        return result

    def test_arithmetic(self) -> None:
        n, m, shape = self.n, self.m, self.sizes(self.n, self.m, 8)
        two = self.constant(2)
        for op, expected in (("Add", (n + 2, m + 2, 10)), ("Sub", (n - 2, m - 2, 6)), ("Mul", (n * 2, m * 2, 16))):
            self.assertEqual(self.run_node(op, shape, two).integers, expected, op)
        doubled = self.run_node("Mul", shape, two)
        self.assertEqual(self.run_node("Div", doubled, two).integers, (n, m, 8))
        self.assertEqual(self.run_node("Sub", doubled, doubled).known_integers(), (0, 0, 0))
        halves = self.run_node("Div", shape, two).integers
        assert halves is not None
        self.assertEqual(halves[2], 4)
        # Equal quotients are the same size.
        self.assertEqual(self.run_node("Div", shape, two).integers, halves)
        self.assertEqual(self.run_node("Mod", shape, self.constant(3)).integers[2], 2)
        self.assertEqual(self.run_node("Neg", shape).integers, (-n, -m, -8))
        self.assertEqual(self.run_node("Abs", shape).integers, (n, m, 8))
        self.assertEqual(self.run_node("Max", shape, shape).integers, (n, m, 8))
        self.assertEqual(self.run_node("Min", self.sizes(n + 1), self.sizes(n)).integers, (n,))
        self.assertEqual(self.run_node("ReduceProd", shape, keepdims=0).integers, (n * m * 8,))
        self.assertEqual(self.run_node("ReduceSum", shape).shape, (1,))

    def test_quotient_of_what_may_be_negative(self) -> None:
        # ONNX rounds toward zero, which the division of sizes does not.
        self.assertIsNone(self.run_node("Div", self.sizes(self.n - 3), self.constant(2)).integers)
        self.assertEqual(self.run_node("Div", self.sizes(self.n, -7), self.sizes(1, 2)).integers, (self.n, -3))

    def test_conversions(self) -> None:
        shape = self.sizes(self.n, 8)
        narrow = self.run_node("Cast", shape, to=6)
        self.assertEqual((narrow.element, narrow.integers), (I32, (self.n, 8)))
        self.assertIsNone(self.run_node("Cast", shape, to=1).integers)
        self.assertIsNone(self.run_node("Cast", self.sizes(self.n), to=9).array)
        self.assertTrue(self.run_node("Cast", self.sizes(self.n + 1), to=9).array.all())

    def test_choice_of_expand(self) -> None:
        """Checks the shape of Expand as torch.onnx writes it, in which -1 keeps a size."""
        shape = self.sizes(self.n, self.m, 8)
        is_kept = self.run_node("Equal", shape, self.constant(-1, -1, -1))
        self.assertIs(is_kept.element, BOOL)
        self.assertFalse(is_kept.array.any())
        ones = self.run_node("ConstantOfShape", self.constant(3), value=helper.make_tensor("v", 7, [1], [1]))
        self.assertEqual(self.run_node("Where", is_kept, ones, shape).integers, (self.n, self.m, 8))
        self.assertIsNone(self.run_node("Equal", self.sizes(self.n), self.sizes(self.m)).array)

    def test_comparison(self) -> None:
        n = self.n
        for op, a, c, expected in (("Less", n, n + 1, True), ("Less", n, n, False), ("Greater", n + 1, n, True),
                                   ("GreaterOrEqual", n, 0, True), ("LessOrEqual", n, n, True),
                                   ("LessOrEqual", n + 1, n, False), ("Equal", n, n, True)):
            array = self.run_node(op, self.sizes(a), self.sizes(c)).array
            self.assertIsNotNone(array, (op, a, c))
            self.assertEqual(bool(array[0]), expected, (op, a, c))
        self.assertIsNone(self.run_node("Greater", self.sizes(n), self.constant(0)).array)


if __name__ == "__main__":
    unittest.main(verbosity=2)
