# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks ONNX operators that move, slice, gather, scatter and select elements, with static and dynamic operands."""

from __future__ import annotations

import dataclasses
import pathlib
import sys
import unittest
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper, numpy_helper

import layout_mlir
from layout_mlir import onnx_import

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import run_oracle  # noqa: E402

RNG = np.random.default_rng(7)
Array = NDArray[Any]


def f32(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def i64(*values: int) -> Array:
    return np.array(values, np.int64)


def scalar(value: Any, kind: Any = np.int64) -> Array:
    return np.array(value, kind)


@dataclasses.dataclass
class Case:
    """One node: `data` are its inputs, `known` its operands that are also tested as constants; None is omitted."""
    op: str
    data: list[Array | None]
    known: list[Array | None] = dataclasses.field(default_factory=list)
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    opset: int = 21
    outputs: int = 1
    constant: tuple[int, ...] = ()
    dynamic: bool = True

    @property
    def text(self) -> str:
        shapes = [None if x is None else x.shape for x in self.data]
        known = [None if x is None else x.tolist() if x.size < 20 else x.shape for x in self.known]
        return f"{self.op}-{self.opset} {shapes} {known} {self.attributes}"

    def node(self, prefix: str) -> Any:
        names = [f"{prefix}_{number}" if x is not None else "" for number, x in enumerate([*self.data, *self.known])]
        outputs = [f"{prefix}_y{number}" for number in range(self.outputs)]
        return helper.make_node(self.op, names, outputs, **self.attributes)

    def expected(self) -> list[Array]:
        given = {f"c0_{number}": x for number, x in enumerate(self.data) if x is not None}
        return run_oracle(make_model([self], "static", False), given)


def make_model(cases: list[Case], form: str, at_run_time: bool) -> Any:
    """Returns a model of the nodes of all cases, which have one opset."""
    inputs, weights, nodes, outputs = [], [], [], []
    for place, case in enumerate(cases):
        for number, x in enumerate([*case.data, *case.known]):
            if x is None:
                continue
            name, is_data = f"c{place}_{number}", number < len(case.data)
            if is_data or at_run_time and number - len(case.data) not in case.constant:
                kind = helper.np_dtype_to_tensor_dtype(x.dtype)
                shape = [f"{name}_{dim}" if form == "dynamic" and is_data and case.dynamic else size
                         for dim, size in enumerate(x.shape)]
                inputs.append(helper.make_tensor_value_info(name, kind, shape))
            else:
                weights.append(numpy_helper.from_array(x, name))
        node = case.node(f"c{place}")
        nodes.append(node)
        outputs += [helper.make_empty_tensor_value_info(name) for name in node.output]
    graph = helper.make_graph(nodes, "cases", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", cases[0].opset)], ir_version=10)


def run(cases: list[Case], form: str, at_run_time: bool) -> list[list[Array]]:
    """Returns the outputs of each case."""
    model = make_model(cases, form, at_run_time)
    names = {value.name for value in model.graph.input}
    given = [x for place, case in enumerate(cases) for number, x in enumerate([*case.data, *case.known])
             if x is not None and f"c{place}_{number}" in names]
    module = onnx_import.lower(onnx_import.prepare_checked(model))
    program = layout_mlir.compile(module)
    results = program(*given)
    flat = list(results) if isinstance(results, (tuple, list)) else [results]
    parts, at = [], 0
    for case in cases:
        parts.append([np.asarray(x) for x in flat[at:at + case.outputs]])
        at += case.outputs
    return parts


def differs(got: Array, want: Array) -> str:
    if got.shape != want.shape:
        return f"shape {got.shape} is not {want.shape}"
    if got.dtype != want.dtype:
        return f"type {got.dtype} is not {want.dtype}"
    close = np.array_equal(got, want, equal_nan=want.dtype.kind == "f") or (
        want.dtype.kind == "f" and np.allclose(got, want, 1e-5, 1e-6, equal_nan=True))
    return "" if close else f"{got.reshape(-1)[:12]} is not {want.reshape(-1)[:12]}"


MAX, MIN = 2**63 - 1, -2**63
X = f32(5, 7)
SHAPES = [
    Case("Reshape", [f32(2, 3, 4)], [i64(0, -1)]),
    Case("Reshape", [f32(2, 3, 4)], [i64(4, 6)]),
    Case("Reshape", [f32(2, 3, 4)], [i64(-1)]),
    Case("Reshape", [f32(0, 3, 4)], [i64(3, 0)], {"allowzero": 1}),
    Case("Reshape", [f32(1, 1)], [np.zeros(0, np.int64)]),
    Case("Reshape", [f32(6)], [i64(3, 1, 2, 1)]),
    Case("Flatten", [f32(2, 3, 4)], [], {"axis": -1}),
    Case("Flatten", [f32(2, 3, 4)], [], {"axis": 0}),
    Case("Flatten", [f32(2, 3, 4)], [], {"axis": 3}),
    Case("Flatten", [f32(2, 0, 3)], [], {"axis": 1}),
    Case("Flatten", [scalar(3, np.float32)], [], {"axis": 0}),
    Case("Squeeze", [f32(1, 3, 1, 2)], [i64(-2, 0)], constant=(0,)),
    Case("Squeeze", [f32(1, 3, 1, 2)], dynamic=False),
    Case("Unsqueeze", [f32(3, 2)], [i64(0, -2)], constant=(0,)),
    Case("Unsqueeze", [scalar(2, np.float32)], [i64(0, 1)], constant=(0,)),
    Case("Expand", [f32(3, 1)], [i64(2, 1, 6)]),
    Case("Expand", [f32(3, 4)], [i64(1)]),
    Case("Expand", [f32(1, 3, 1)], [i64(2, 1, 4)]),
    Case("Expand", [scalar(2, np.int32)], [i64(2, 3)]),
    Case("Range", [], [scalar(3), scalar(11), scalar(4)]),
    Case("Range", [], [scalar(10), scalar(-4), scalar(-3)]),
    Case("Range", [], [scalar(3), scalar(3), scalar(1)]),
    Case("Range", [], [scalar(5, np.int32), scalar(1, np.int32), scalar(2, np.int32)]),
    Case("Range", [], [scalar(0.5, np.float32), scalar(3, np.float32), scalar(0.7, np.float32)]),
    Case("EyeLike", [np.zeros((3, 5), np.int32)], [], {"k": -1, "dtype": 1}),
    Case("EyeLike", [np.zeros((3, 5), np.float64)], [], {"k": 2}),
    Case("Shape", [f32(2, 3, 4)], [], {"start": -2}),
    Case("Shape", [f32(2, 3, 4)], [], {"start": 1, "end": -1}),
    Case("Size", [f32(2, 0, 4)]),
]
MOVEMENT = [
    Case("Transpose", [f32(2, 3, 4)], [], {"perm": [2, 0, 1]}),
    Case("Transpose", [f32(2, 3, 4)]),
    Case("Transpose", [f32(2, 1, 4)], [], {"perm": [1, 0, 2]}),
    Case("Concat", [f32(2, 3), f32(2, 0), f32(2, 4)], [], {"axis": -1}),
    Case("Concat", [f32(2, 3)], [], {"axis": 0}),
    Case("Concat", [f32(2, 3)], [f32(4, 3)], {"axis": 0}),
    Case("Split", [f32(7, 2)], [], {"axis": 0, "num_outputs": 4}, outputs=4),
    Case("Split", [f32(2, 6)], [i64(1, 0, 5)], {"axis": -1}, outputs=3),
    Case("Split", [f32(6, 2)], [], {}, opset=13, outputs=3),
    Case("Tile", [f32(2, 3)], [i64(2, 3)]),
    Case("Tile", [f32(1, 3, 1)], [i64(4, 1, 2)]),
    Case("Tile", [f32(2, 3)], [i64(0, 2)]),
    Case("DepthToSpace", [f32(2, 8, 2, 3)], [], {"blocksize": 2, "mode": "DCR"}),
    Case("DepthToSpace", [f32(2, 8, 2, 3)], [], {"blocksize": 2, "mode": "CRD"}),
    Case("SpaceToDepth", [f32(2, 2, 4, 6)], [], {"blocksize": 2}),
    Case("SpaceToDepth", [f32(2, 2, 4, 6)], [], {"blocksize": 2, "mode": "CRD"}, 28),
    Case("Trilu", [f32(2, 4, 5)], [scalar(1)]),
    Case("Trilu", [f32(4, 5)], [scalar(-2)], {"upper": 0}),
    Case("Trilu", [f32(0, 5)]),
    Case("ReverseSequence", [f32(4, 3, 2)], [i64(4, 1, 0)]),
    Case("ReverseSequence", [f32(3, 4, 2)], [i64(2, 3, 4)], {"time_axis": 1, "batch_axis": 0}),
    Case("CenterCropPad", [f32(5, 4, 3)], [i64(2, 7, 3)]),
    Case("CenterCropPad", [f32(5, 4, 3)], [i64(4, 6)], {"axes": [-1, 0]}),
    Case("Col2Im", [f32(1, 8, 6)], [i64(3, 4), i64(2, 2)]),
    Case("Col2Im", [f32(2, 8, 4)], [i64(4, 5), i64(2, 2)], {"pads": [1, 0, 1, 0], "strides": [3, 2],
                                                           "dilations": [2, 2]}),
]


def sliced(x: Array, starts: list[int], ends: list[int], axes: list[int] | None = None,
           steps: list[int] | None = None, kind: Any = np.int64) -> Case:
    parts = [np.array(each, kind) if each is not None else None for each in (starts, ends, axes, steps)]
    while parts[-1] is None:
        parts.pop()
    return Case("Slice", [x], parts)


SLICES = [
    *(sliced(f32(10), [start], [end], [0], [step]) for start, end, step in (
        (9, 0, -1), (7, 0, -1), (9, 2, -1), (9, 0, -3), (8, -11, -2), (100, 1, -1), (MAX, MIN, -1), (-1, MIN, -1),
        (-100, -200, -1), (2, 8, -1), (3, 100, 2), (-4, MAX, 3), (12, 20, 1), (0, -3, 1), (-100, 4, 1), (0, MAX, 1))),
    sliced(f32(5, 7), [4], [0], [-1], [-2]),
    sliced(f32(5, 7), [1, 6], [MAX, 1], [0, 1], [2, -1]),
    sliced(f32(5, 7), [1, -3], [4, MAX]),
    sliced(f32(5, 7), [1], [3], [1], kind=np.int32),
    sliced(f32(0, 7), [MAX], [MIN], [0], [-1]),
]


def padded(x: Array, pads: list[int], mode: str = "constant", value: Array | None = None,
           axes: list[int] | None = None, opset: int = 19) -> Case:
    known: list[Array | None] = [i64(*pads)]
    if value is not None or axes is not None:
        known.append(value)
    if axes is not None:
        known.append(i64(*axes))
    return Case("Pad", [x], known, {"mode": mode}, opset)


PADS = [
    padded(f32(2, 3), [1, 0, 0, 2]), padded(f32(2, 3), [1, 0, 0, 2], value=scalar(9, np.float32)),
    padded(np.arange(6, dtype=np.uint8).reshape(2, 3), [0, 1, 1, 0], value=scalar(200, np.uint8)),
    padded(f32(2, 6), [0, -1, 0, 2]), padded(f32(2, 6), [0, -2, 0, -1]), padded(f32(2, 6), [1, -1, -1, 2]),
    padded(f32(2, 6), [0, -1, 0, 2], "reflect"), padded(f32(3, 4), [2, 3, 1, 2], "reflect"),
    padded(f32(3, 4), [2, 3, 1, 5], "edge"), padded(f32(3, 4), [2, 3, 1, 2], "wrap"),
    padded(f32(2, 3), [0, 7, 0, 8], "wrap"), padded(f32(2, 6), [0, -1, 0, 3], "edge"),
    padded(f32(2, 3), [1, 1], "reflect", axes=[-1]), padded(f32(2, 3, 4), [1, 0, 2, 1], axes=[2, 0]),
    padded(f32(1, 3), [1, 0, 1, 0], "edge"),
]
GATHERS = [
    Case("Gather", [f32(5, 7, 3)], [i64(0, -1, 3)], {"axis": 1}),
    Case("Gather", [f32(5, 7)], [scalar(-2)], {"axis": 0}),
    Case("Gather", [f32(5, 7)], [i64(1, 3, 5)], {"axis": -1}),
    Case("Gather", [f32(5, 7)], [np.array([[0, 4], [-5, 2]], np.int32)], {"axis": 0}),
    Case("Gather", [f32(5, 7)], [i64(-3, -2)], {"axis": 0}),
    Case("Gather", [f32(5, 7)], [np.zeros((0, 2), np.int64)], {"axis": 0}),
    Case("Gather", [np.arange(12, dtype=np.uint8)], [i64(3, 2)]),
    Case("GatherElements", [f32(4, 5)], [np.array([[0, -1, 3], [2, 1, 0]], np.int64)], {"axis": 0}),
    Case("GatherElements", [f32(3, 4, 5)], [RNG.integers(-5, 5, (3, 4, 2))], {"axis": -1}),
    Case("GatherND", [f32(4, 5, 6)], [np.array([[[0, -1], [3, 2]]], np.int64)]),
    Case("GatherND", [f32(2, 5, 6)], [np.array([[[1, 0]], [[-2, 3]]], np.int64)], {"batch_dims": 1}),
    Case("GatherND", [f32(2, 3, 4)], [np.array([[1], [0], [2]], np.int64)[None].repeat(2, 0)], {"batch_dims": 1}),
    Case("GatherND", [f32(3, 4)], [np.array([[1], [-1]], np.int64)]),
    Case("OneHot", [np.array([[1, -1, 9], [-9, 0, 2]], np.int64)], [scalar(4), f32(2)]),
    Case("OneHot", [np.array([1.0, 2.0], np.float32)], [scalar(3, np.float32), np.array([7, 9], np.int64)],
         {"axis": 0}),
    Case("OneHot", [np.array([[1, 0], [3, 2]], np.int32)], [scalar(5, np.int32), np.array([0, 1], np.int32)],
         {"axis": 1}),
]
GRID = np.stack(np.meshgrid(np.arange(1, 3), np.arange(2, 5), indexing="ij"), -1).astype(np.int64)
SCATTERS = [
    *(Case("ScatterElements", [f32(4, 5)], [np.array([[0, 1, 0], [0, -2, 3]], np.int64), f32(2, 3)],
           {"axis": 0, "reduction": reduction}, 18) for reduction in ("none", "add", "mul", "min", "max")),
    Case("ScatterElements", [f32(3, 4)], [np.array([[1, 2], [1, 2]], np.int64), f32(2, 2)], {"axis": 1}, 18),
    Case("ScatterElements", [np.arange(6, dtype=np.uint8)], [i64(1, 1), np.array([200, 250], np.uint8)],
         {"reduction": "max"}, 18),
    Case("ScatterElements", [np.array([True, False, True])], [i64(-1), np.array([False])], {}, 18),
    Case("Scatter", [f32(4, 5)], [np.array([[0, 1], [3, 2]], np.int64), f32(2, 2)], {}, 10),
    *(Case("ScatterND", [f32(4, 5)], [np.array([[1], [-1], [1]], np.int64), f32(3, 5)], {"reduction": reduction}, 18)
      for reduction in ("none", "add", "mul", "min", "max")),
    Case("ScatterND", [f32(4, 5, 3)], [GRID, f32(2, 3, 3)], {}, 18),
    Case("ScatterND", [f32(4, 5, 3)], [GRID, f32(2, 3, 3)], {"reduction": "add"}, 18),
    Case("ScatterND", [f32(4, 5)], [np.array([[1, 2], [-1, -1]], np.int64), f32(2)], {}, 18),
    Case("ScatterND", [f32(4, 5)], [np.zeros((0, 2), np.int64), f32(0)], {}, 18),
    Case("ScatterND", [np.arange(8, dtype=np.int64)], [np.array([[1], [7]], np.int64), i64(5, 6)],
         {"reduction": "add"}, 18),
    Case("TensorScatter", [f32(2, 3, 6, 2), f32(2, 3, 2, 2)], [i64(4, 1)], {}, 24),
    Case("TensorScatter", [f32(2, 6, 2), f32(2, 3, 2)], [i64(4, 1)], {"mode": "circular", "axis": 1}, 24),
    Case("MaxUnpool", [np.array([[[[5, 6], [7, 8]]]], np.float32), np.array([[[[5, 7], [13, 15]]]], np.int64)], [],
         {"kernel_shape": [2, 2], "strides": [2, 2]}),
]
REPEATED = np.array([[1, 2], [0, 3], [1, 2], [0, 1]], np.float32)
BOXES = RNG.random((2, 9, 4)).astype(np.float32)
CHOICES = [
    Case("NonZero", [np.array([[1, 0, 3], [0, -0.0, np.nan]], np.float32)]),
    Case("NonZero", [np.array([True, False, True])]),
    Case("NonZero", [np.zeros((2, 0), np.int64)]),
    Case("Compress", [f32(4, 5)], [np.array([False, True, True])], {"axis": 0}),
    Case("Compress", [f32(4, 5)], [np.array([False, True, False, True, True])], {"axis": -1}),
    Case("Compress", [f32(2, 3)], [np.array([False, True, False, True])]),
    Case("Compress", [f32(2, 3)], [np.array([False, False])]),
    *(Case("Unique", [REPEATED], [], {"axis": axis, "sorted": order}, outputs=4)
      for axis in (0, 1) for order in (0, 1)),
    Case("Unique", [np.array([3, 1, 2, 3, 1, 9], np.int64)], [], {"sorted": 0}, outputs=4),
    *(Case("Unique", [], [np.array([[3, 1, 3, 2], [0, 5, 0, 5]], np.float32)], {"axis": 1, "sorted": 0}, outputs=count)
      for count in (1, 4)),
    Case("Unique", [np.array([[3, 1], [2, 3]], np.int64)], outputs=4),
    Case("Unique", [RNG.integers(0, 9, 40)], outputs=4),
    Case("Unique", [RNG.integers(0, 9, 41)], [], {"sorted": 0}, outputs=4),
    Case("NonMaxSuppression", [BOXES, RNG.random((2, 3, 9)).astype(np.float32)],
         [scalar(4), scalar(0.3, np.float32), scalar(0.2, np.float32)]),
    Case("NonMaxSuppression", [BOXES, RNG.random((2, 3, 9)).astype(np.float32)],
         [i64(20), np.array([0.1], np.float32)], {"center_point_box": 1}),
]
OLDER = [
    Case("Slice", [f32(5, 7)], [], {"axes": [1], "starts": [-3], "ends": [100]}, 9),
    Case("Squeeze", [f32(1, 3, 1)], [], {"axes": [0]}, 11),
    Case("Unsqueeze", [f32(3)], [], {"axes": [0, 2]}, 11),
    Case("Split", [f32(5, 2)], [], {"split": [4, 1]}, 11, outputs=2),
    Case("Split", [f32(6, 2)], [], {}, 11, outputs=2),
    Case("DepthToSpace", [f32(1, 8, 2, 3)], [], {"blocksize": 2}, 7),
    Case("Tile", [f32(2, 3)], [i64(1, 2)], {}, 7),
    Case("Flatten", [f32(2, 3, 4)], [], {}, 7),
    Case("Compress", [f32(4, 5)], [np.array([False, True, True])], {"axis": 0}, 9),
]
GROUPS = {"shapes": SHAPES, "movement": MOVEMENT, "slices": SLICES, "pads": PADS, "gathers": GATHERS,
          "scatters": SCATTERS, "choices": CHOICES, "older": OLDER}
FORMS = [("static", False), ("dynamic", False), ("dynamic", True)]


def check(cases: list[Case]) -> list[str]:
    """Returns the differences."""
    found = []
    for opset in sorted({case.opset for case in cases}):
        chosen = [case for case in cases if case.opset == opset]
        expected = [case.expected() for case in chosen]
        for form, at_run_time in FORMS:
            for case, got, want in zip(chosen, run(chosen, form, at_run_time), expected):
                for number, (x, y) in enumerate(zip(got, want, strict=True)):
                    if text := differs(x, y):
                        found.append(f"{form} {at_run_time}: {case.text} output {number}: {text}")
    return found


class Operators(unittest.TestCase):
    def test_forms(self) -> None:
        for name, cases in GROUPS.items():
            with self.subTest(name):
                self.assertEqual(check(cases), [])


if __name__ == "__main__":
    unittest.main()
