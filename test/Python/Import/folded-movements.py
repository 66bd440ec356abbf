# REQUIRES: onnx
# RUN: %python %s
"""Checks that movements of constants are evaluated as ONNX's reference does, without loading it."""

import sys
import unittest
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper

from layout_mlir.onnx_import.functions import evaluate

X = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
LOWEST, HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


# The operator, its opset, inputs and attributes.
CASES: list[tuple[str, int, list[np.ndarray], dict[str, Any]]] = [
    ("Cast", 13, [i64(-1, 2**40, 7)], {"to": TensorProto.INT32}),
    ("Cast", 13, [np.array([True, False])], {"to": TensorProto.INT64}),
    ("Cast", 13, [np.array(3, np.int32)], {"to": TensorProto.INT64}),
    ("Concat", 13, [i64(1), i64(2, 3), i64()], {"axis": 0}),
    ("Concat", 13, [X, X], {"axis": -2}),
    ("Reshape", 13, [X, i64(0, -1)], {}),
    ("Reshape", 5, [X, i64(4, 0, 2)], {}),
    ("Reshape", 13, [np.float32(2), i64(1, 1)], {}),
    ("Reshape", 13, [X[:1, :1, 0], i64()], {}),
    ("Slice", 13, [X, i64(0), i64(HIGHEST), i64(1), i64(2)], {}),
    ("Slice", 13, [X, i64(-1), i64(LOWEST), i64(-1), i64(-3)], {}),
    ("Slice", 10, [X, i64(5, -9), i64(9, 2), i64(0, 2)], {}),
    ("Transpose", 13, [X], {}),
    ("Transpose", 13, [X], {"perm": [1, 2, 0]}),
    ("Unsqueeze", 13, [X, i64(-1, 0)], {}),
    ("Unsqueeze", 13, [np.array(5), i64(0)], {}),
    ("Unsqueeze", 11, [X], {"axes": [2, 4]}),
]
# These are left to the reference: a cast of floats, opset 1, and arguments that ONNX does not allow.
OTHERS: list[tuple[str, int, list[np.ndarray], dict[str, Any]]] = [
    ("Cast", 13, [X - 11.5], {"to": TensorProto.INT64}),
    ("Add", 13, [X, X], {}),
    ("Reshape", 14, [X[:0], i64(3, 0, 1)], {"allowzero": 1}),
]
WRONG: list[tuple[str, int, list[np.ndarray], dict[str, Any]]] = [
    ("Reshape", 13, [X, i64(5)], {}),
    ("Concat", 13, [X, X[:, :2]], {"axis": 0}),
    ("Unsqueeze", 13, [X, i64(7)], {}),
]


def run(case: tuple[str, int, list[np.ndarray], dict[str, Any]]) -> list[Any] | None:
    operator, opset, inputs, attributes = case
    node = helper.make_node(operator, [f"x{number}" for number in range(len(inputs))], ["y"], **attributes)
    return evaluate(node, [np.asarray(each) for each in inputs], {"": opset})


def reference(case: tuple[str, int, list[np.ndarray], dict[str, Any]]) -> np.ndarray:
    from onnx.reference import ReferenceEvaluator

    operator, opset, inputs, attributes = case
    arrays = {f"x{number}": np.asarray(each) for number, each in enumerate(inputs)}
    node: NodeProto = helper.make_node(operator, list(arrays), ["y"], **attributes)
    graph = helper.make_graph([node], "node", [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
        for name, each in arrays.items()], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return np.asarray(ReferenceEvaluator(model).run(None, arrays)[0])


class FoldedMovements(unittest.TestCase):
    def test_equal(self) -> None:
        got = [run(case) for case in CASES]
        self.assertNotIn("onnx.reference.ops", sys.modules)
        for case, results in zip([*CASES, *OTHERS], [*got, *map(run, OTHERS)], strict=True):
            with self.subTest(case[0], case=case):
                assert results is not None
                wanted = reference(case)
                self.assertEqual((results[0].dtype, results[0].shape), (wanted.dtype, wanted.shape))
                np.testing.assert_array_equal(results[0], wanted)
                self.assertTrue(results[0].flags.c_contiguous)

    def test_types_of_sums(self) -> None:
        """Checks that sums of squares of int32 are not taken from the reference, which returns int64."""
        for operator in ("ReduceSumSquare", "ReduceL1", "ReduceSum", "ReduceProd", "ReduceMax", "CumSum"):
            for dtype in (np.int32, np.uint8, np.float32):
                inputs = [np.arange(5, dtype=dtype), *([np.array(0)] if operator == "CumSum" else [])]
                results = run((operator, 18, inputs, {}))
                if results is not None:
                    self.assertEqual(np.asarray(results[0]).dtype, dtype, operator)
        self.assertIsNone(run(("ReduceSumSquare", 18, [np.arange(5, dtype=np.int32)], {"keepdims": 0})))

    def test_wrong(self) -> None:
        for case in WRONG:
            self.assertIsNone(run(case), case)


if __name__ == "__main__":
    unittest.main()
