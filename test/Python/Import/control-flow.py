# REQUIRES: python-extension, onnx
# RUN: %python %s %t
"""Checks If, Loop, Scan and sequences against ONNX Runtime: branches of different sizes, loops that carry growing
tensors or sequences, a dynamic number of iterations, scans from both ends."""

from __future__ import annotations

import pathlib
import sys
import unittest
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

import layout_mlir
from layout_mlir import onnx_import
from layout_mlir.onnx_import import compare, draws

WORK = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path("/tmp/control-flow")
RNG = np.random.default_rng(3)
Array = NDArray[Any]


def f32(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')


def compile_model(model: onnx.ModelProto) -> Any:
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / "model.mlirbc"
    path.write_bytes(onnx_import.lower(onnx_import.prepare_checked(model)))
    return layout_mlir.compile(str(path))


BRANCHES = """g (float[n,3] x, bool[1] c) => (float[p,3] y, float[2] z, float[k] w)
    <float[1,3] one = {1, 2, 3}, float[2] two = {4, 5}> {
  y, z, s = If (c) <
    then_branch = t () => (float[n,3] a, float[2] b, seq(float[m]) q) {
      a = Add (x, one)
      b = Identity (two)
      q = SequenceConstruct (two, b) },
    else_branch = e () => (float[m,3] a, float[2] b, seq(float[m]) q) {
      a = Concat <axis = 0> (x, x, one)
      b = Add (two, two)
      d = Concat <axis = 0> (b, two)
      q = SequenceConstruct (d, b) }>
  w = ConcatFromSequence <axis = 0> (s)
}"""

GROWS = """g (float[3] x, int64 most) => (float[p] y, float[s,3] z) {
  y, z = Loop (most, , x) <body = b (int64 i, bool go, float[q] v) => (bool again, float[r] longer, float[3] o) {
    again = Identity (go)
    longer = Concat <axis = 0> (v, x)
    f = Cast <to = 1> (i)
    o = Mul (x, f) }>
}"""

WHILE = """g (float[n] x, int64 most, float limit) => (float[n] y, float[s,n] z, int64[s] w) <bool true = {1}> {
  y, z, w = Loop (most, true, x) <body = b (int64 i, bool go, float[n] v)
      => (bool again, float[n] twice, float[n] o, int64 number) {
    twice = Add (v, v)
    m = ReduceMax <keepdims = 0> (twice)
    again = Less (m, limit)
    o = Sub (twice, x)
    number = Add (i, i) }>
}"""

# The sizes of the stacked tensors are known inside of the loop only.
INSIDE = """g (float[n] x, int64 most) => (float[s,p] z)
    <bool true = {1}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> {
  z = Loop (most, true) <body = b (int64 i, bool go) => (bool again, float[p] o) {
    again = Identity (go)
    places = NonZero (x)
    sizes = Shape (places)
    end = Slice (sizes, one, two)
    part = Slice (x, zero, end)
    f = Cast <to = 1> (i)
    o = Add (part, f) }>
}"""

NESTED = """g (float[n] x, int64 most) => (float[n] y, float[s] z) <bool true = {1}, int64 two = {2}> {
  y, z = Loop (most, true, x) <body = b (int64 i, bool go, float[n] v) => (bool again, float[n] new, float o) {
    again = Identity (go)
    r = Mod (i, two)
    odd = Cast <to = 9> (r)
    new = If (odd) <
      then_branch = t () => (float[n] a) { a = Add (v, x) },
      else_branch = e () => (float[n] a) {
        a = Loop (i, true, v) <body = inner (int64 j, bool c, float[n] u) => (bool d, float[n] next) {
          d = Identity (c)
          f = Cast <to = 1> (j)
          next = Sub (u, f) }> }>
    o = ReduceSum <keepdims = 0> (new) }>
}"""

SEQUENCE = """g (float[n] x, float[m,2] rows) => (float[p] y, float[q,2] z) <int64 five = {5}, bool true = {1}> {
  empty = SequenceEmpty <dtype = 1> ()
  all = Loop (five, true, empty) <body = b (int64 i, bool go, seq(float[n]) v) => (bool again, seq(float[n]) longer) {
    again = Identity (go)
    f = Cast <to = 1> (i)
    item = Add (x, f)
    longer = SequenceInsert (v, item) }>
  y = ConcatFromSequence <axis = 0> (all)
  twice = Concat <axis = 0> (rows, rows)
  s = SequenceConstruct (rows, twice)
  r = SequenceMap (s, rows) <body = m (float[a,2] e, float[c,2] o) => (float[d,2] joined) {
    joined = Concat <axis = 0> (e, o) }>
  z = ConcatFromSequence <axis = 0> (r)
}"""

SCAN = """g (float[2] start, float[n,2] x, float[2,n] w) => (float[2] last, float[n,2] a, float[2,n] b) {
  last, a, b = Scan <num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1],
      scan_output_axes = [0, -1], scan_output_directions = [1, 0],
      body = step (float[2] state, float[2] row, float[2] column) => (float[2] new, float[2] p, float[2] q) {
    new = Add (state, row)
    p = Mul (new, column)
    q = Sub (new, column) }> (start, x, w)
}"""


# One iteration, whose slice drops the last of two dims of size 1.
ONE_COLUMN = """g (float[1,3] start, float[1,3,1] x) => (float[1,3] last, float[1,3,1] all) {
  last, all = Scan <num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [-1],
      body = step (float[1,3] state, float[1,3] column) => (float[1,3] new, float[1,3] p) {
    new = Add (state, column)
    p = Mul (new, column) }> (start, x) }"""


EMPTY_ROWS = """g (float[3,0] x) => (float[0] y, float[3,0] z) <float[0] zero = {}> {
  y, z = Scan <num_scan_inputs = 1, body = b (float[0] s, float[0] v) => (float[0] t, float[0] w) {
    t = Add (s, v)
    w = Mul (s, v) }> (zero, x) }"""


# Each branch supports one number of columns.
RATES = """g (float[2,n] x, int64 rate) => (float[p] y)
    <int64 wide = {16000}, float[3,1] three = {1, 2, 3}, float[2,1] two = {4, 5}, int64[1] last = {1}> {
  c = Equal (rate, wide)
  y = If (c) <
    then_branch = t () => (float[p] a) { m = MatMul (x, three) a = Squeeze (m, last) },
    else_branch = e () => (float[p] a) { m = MatMul (x, two) a = Squeeze (m, last) }>
}"""


# The branches return a scalar or a vector, as exporters write the end of a decoder's loop; what follows broadcasts it.
RANKS = """g (float[3] x, int64 most) => (float[p] y, bool[1] z) <bool[1] done = {0}, bool off = {0}, bool on = {1}, bool[1] on_ = {1}> {
  y, z = Loop (most, on, x, off) <body = b (int64 i, bool go, float[p] v, bool stop) => (bool again, float[q] w, bool end) {
    m = ReduceMax <keepdims = 0> (v)
    limit = Constant <value_float = 9.0> ()
    large = Greater (m, limit)
    e = If (large) <then_branch = t () => (bool a) { a = Constant <value = bool {1}> () },
                    else_branch = f () => (bool a) { a = Or (stop, done) }>
    n = Not (e)
    r = And (n, on_)
    d = Not (r)
    end = Or (d, done)
    s = Constant <value_ints = [0]> ()
    again = Squeeze (r, s)
    w = Add (v, v) }>
}"""


class ControlFlow(unittest.TestCase):
    def check(self, text: str, *runs: list[Any]) -> None:
        model = parse(text)
        program = compile_model(model)
        session = onnxruntime.InferenceSession(model.SerializeToString())
        for given in runs:
            arrays = [np.asarray(x) for x in given]
            want = session.run(None, dict(zip([x.name for x in session.get_inputs()], arrays)))
            got = program(*[np.array(x) for x in arrays])
            for one, other in zip(got if isinstance(got, (tuple, list)) else [got], want):
                np.testing.assert_allclose(one, other, 1e-5, 1e-5)

    def test_branches(self) -> None:
        self.check(BRANCHES, [f32(2, 3), [True]], [f32(4, 3), [False]], [f32(0, 3), [False]])

    def test_growing(self) -> None:
        self.check(GROWS, [f32(3), np.int64(4)], [f32(3), np.int64(1)])

    def test_unknown_count(self) -> None:
        x = np.abs(f32(3)) + np.float32(0.01)
        self.check(WHILE, [x, np.int64(100), np.float32(50)], [x, np.int64(2), np.float32(50)],
                   [x / 1000, np.int64(100), np.float32(5e6)])

    def test_sizes_inside(self) -> None:
        self.check(INSIDE, [np.array([1, 0, 2, 3, 0], np.float32), np.int64(4)])

    def test_nested(self) -> None:
        self.check(NESTED, [f32(3), np.int64(6)])

    def test_sequences(self) -> None:
        self.check(SEQUENCE, [f32(3), f32(2, 2)])

    def test_position_in_a_sequence(self) -> None:
        text = """g (float[5,2] x, int64 i) => (float[p,2] y) {
          two = Constant <value_int = 2> ()
          s = SplitToSequence <axis = 0> (x, two)
          y = SequenceAt (s, i)
        }"""
        x = f32(5, 2)
        self.check(text, *([x, np.int64(place)] for place in (0, 1, 2, -1, -3)))
        program = compile_model(parse(text))
        for place in (3, -4):
            with self.assertRaisesRegex(layout_mlir.LayoutError, "'y': its position is outside of the sequence"):
                program(x, np.array(place))

    def test_scan(self) -> None:
        self.check(SCAN, [f32(2), f32(5, 2), f32(2, 5)])
        self.check(ONE_COLUMN, [f32(1, 3), f32(1, 3, 1)])

    def test_scan_of_nothing(self) -> None:
        """ONNX Runtime divides by 0 here."""
        start = f32(2)
        last, a, b = compile_model(parse(SCAN))(start, f32(0, 2), f32(2, 0))
        np.testing.assert_array_equal(last, start)
        self.assertEqual((a.shape, b.shape), ((0, 2), (2, 0)))

    def test_no_iteration(self) -> None:
        """A loop without iterations returns its inits, and stacks of the sizes that it would stack."""
        y, z = compile_model(parse(GROWS))(np.ones(3, np.float32), np.array(0))
        np.testing.assert_array_equal(y, np.ones(3))
        self.assertEqual(z.shape, (0, 3))

    def test_rows_without_elements(self) -> None:
        y, z = compile_model(parse(EMPTY_ROWS))(np.ones((3, 0), np.float32))
        self.assertEqual((y.shape, z.shape), ((0,), (3, 0)))

    def test_refusals(self) -> None:
        ranks = """g (float[n,3] x, bool c) => (float[p] y) {
          y = If (c) <then_branch = t () => (float[n,3] a) { a = Neg (x) },
                      else_branch = e () => (float[p] a) { a = ReduceSum <keepdims = 0> (x) }> }"""
        endless = """g (float[n] x) => (float[n] y) <bool true = {1}> {
          y = Loop (, true, x) <body = b (int64 i, bool go, float[n] v) => (bool again, float[n] w) {
            again = Identity (go)
            w = Neg (v) }> }"""
        for text, message in (ranks, "rank 2 and rank 0"), (endless, "never ends"):
            with self.assertRaisesRegex(onnx_import.ImportFailed, message):
                onnx_import.lower_to_text(onnx_import.prepare_checked(parse(text)))

    def test_ranks_that_depend_on_data(self) -> None:
        text = """g (float x, bool[1] c, float[2,3] y) => (float[2,3] z, bool[1] d) <bool[1] on = {1}> {
          r = If (c) <then_branch = t () => (float a) { a = Neg (x) },
                      else_branch = e () => (float[p] a) { axis = Constant <value_ints = [0]> () a = Unsqueeze (x, axis) }>
          s = Abs (r)
          z = Mul (s, y)
          f = Cast <to = 9> (s)
          d = And (f, on)
        }"""
        y = f32(2, 3)
        self.check(text, [np.float32(-2), [True], y], [np.float32(3), [False], y])
        self.check(RANKS, [np.ones(3, np.float32), np.int64(9)], [np.ones(3, np.float32), np.int64(2)])
        for result, message in ("s", "result 's' has rank 0 or 1"), ("k", r"node 'k' \(Shape\) is not imported: an input has"):
            wrong = text.replace("(float[2,3] z,", f"({'float[q]' if result == 's' else 'int64[q]'} {result}, float[2,3] z,")
            wrong = wrong.replace("z = Mul", "k = Shape (s) z = Mul") if result == "k" else wrong
            with self.assertRaisesRegex(onnx_import.ImportFailed, message):
                onnx_import.lower_to_text(onnx_import.prepare_checked(parse(wrong)))

    def test_branch_for_other_sizes(self) -> None:
        for columns, rate, other in ((3, 16000, 8000), (2, 8000, 16000)):
            model, x = parse(RATES), f32(2, columns)
            expected, = onnxruntime.InferenceSession(model.SerializeToString()).run(
                None, {"x": x, "rate": np.array(rate)})
            model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = columns
            program = compile_model(model)
            np.testing.assert_allclose(program(x, np.array(rate)), expected, rtol=1e-5)
            with self.assertRaisesRegex(layout_mlir.LayoutError, "the branch that the condition selects is not "
                                                                 "imported"):
                program(x, np.array(other))

    def test_rates_are_drawn(self) -> None:
        model = parse(RATES)
        drawn = list(draws.draw_inputs(model.graph, 0))
        self.assertEqual([int(draw[1]) for draw in drawn[:4]], [16000] * 4)
        self.assertIn(0, [int(draw[1]) for draw in drawn])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
