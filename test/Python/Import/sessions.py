# REQUIRES: onnx, python-extension
# RUN: %python %s
"""Checks the parts that onnx_session divides models into, and that sessions compute what ONNX Runtime computes."""

import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np
import onnx.parser
import onnxruntime
from layout_mlir import LayoutError, onnx_session
from layout_mlir import sessions as planned
from layout_mlir.onnx_import import ImportFailed

# Trilu of com.microsoft stands for any operator that only ONNX Runtime has.
HEAD = '<ir_version: 9, opset_import: ["" : 20, "com.microsoft" : 1]>'


def parse(text):
    return onnx.parser.parse_model(f"{HEAD} model {text}")


def nodes(session):
    return [f"{part.runner}: {' '.join(part.nodes)}" for part in session.parts]


def draw(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


class Sessions(unittest.TestCase):
    def check(self, model, parts, *feeds, **options):
        """Checks the parts of a session, and its results for each feed."""
        session = onnx_session(model, measure=False, **options)
        self.assertEqual(nodes(session), parts)
        theirs = onnxruntime.InferenceSession(model.SerializeToString())
        for feed in feeds:
            for a, b in zip(session.run(None, feed), theirs.run(None, feed), strict=True):
                self.compare(a, b)
        return session

    def compare(self, a, b):
        self.assertEqual(type(a), type(b))
        if isinstance(a, list):
            self.assertEqual(len(a), len(b))
            for x, y in zip(a, b):
                self.compare(x, y)
        elif b.dtype == object:
            self.assertEqual(a.tolist(), b.tolist())
        else:
            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)

    # ------------------------------------------------------------------- the parts

    def test_a_model_that_the_importer_takes_is_one_part(self):
        model = parse("(float[n, 4] x) => (float[n, 4] y) { a = Relu(x) y = Add(a, x) }")
        session = self.check(model, ["layout: a y"], {"x": draw(2, 4)}, {"x": draw(5, 4)})
        self.assertEqual(session.get_providers(), ["LayoutExecutionProvider"])

    def test_a_refused_node_splits_the_model(self):
        model = parse("(float[4, 4] x) => (float[4, 4] y) "
                      "{ a = Relu(x) b = com.microsoft.Trilu(a) c = Exp(b) y = Add(a, c) }")
        session = self.check(model, ["layout: a", "onnxruntime: b", "layout: c y"], {"x": draw(4, 4)})
        self.assertEqual(session.get_providers(), ["LayoutExecutionProvider", "CPUExecutionProvider"])
        self.assertEqual(session.parts[1].reason,
                         "node 'b' (com.microsoft.Trilu) is not imported: ONNX does not define it")

    def test_branches_share_parts(self):
        # Two branches with a refused node each need no more parts than one.
        model = parse("(float[4, 4] x) => (float[4, 4] y) { a = com.microsoft.Trilu(x) b = Neg(x) c = Exp(a) "
                      "d = com.microsoft.Trilu(b) e = Add(c, d) y = com.microsoft.Trilu(e) }")
        self.check(model, ["layout: b", "onnxruntime: a d", "layout: c e", "onnxruntime: y"], {"x": draw(4, 4)})

    def test_strings_stay_with_onnx_runtime(self):
        model = parse("(string[2] s, float[3] x) => (string[2] t, float[3] y) { t = StringConcat(s, s) y = Relu(x) }")
        session = self.check(model, ["layout: y", "onnxruntime: t"], {"s": np.array(["a", "Bc"], object), "x": draw(3)})
        self.assertEqual(session.parts[1].reason, "'s' is a tensor of STRING")

    def test_a_sequence_does_not_cross_a_border(self):
        model = parse("(float[6] x, float[4, 4] m) => (float[3] y, float[6] z, float[4, 4] t) "
                      "<int64 three = {3}, int64 one = {1}> { t = com.microsoft.Trilu(m) "
                      "s = SplitToSequence<axis: int = 0>(x, three) i = SequenceAt(s, one) y = Abs(i) z = Neg(x) }")
        self.check(model, ["layout: s i y z", "onnxruntime: t"], {"x": draw(6), "m": draw(4, 4)})
        model = parse("(seq(float[2]) s, float[2] x) => (float[n] y, float[2] z) "
                      "{ z = Neg(x) t = SequenceInsert(s, z) a = ConcatFromSequence<axis: int = 0>(t) y = Relu(a) }")
        session = self.check(model, ["layout: z", "onnxruntime: t a y"], {"s": [draw(2), draw(2)], "x": draw(2)})
        self.assertEqual(session.parts[1].reason, "'s' is a sequence")

    def test_a_part_returns_a_sequence(self):
        model = parse("(float[2] x, float[2] z) => (seq(float[2]) y, float[2] w) "
                      "{ y = SequenceConstruct(x, z) w = Neg(z) }")
        self.check(model, ["layout: y w"], {"x": draw(2), "z": draw(2)})

    def test_bf16_does_not_cross_a_border(self):
        model = parse("(float[4, 4] x) => (float[4, 4] y) { a = Relu(x) b = Cast<to: int = 16>(a) "
                      "t = com.microsoft.Trilu(b) y = Cast<to: int = 1>(t) }")
        # ONNX Runtime has no Trilu of bf16 for a CPU.
        with self.assertRaisesRegex(LayoutError, "(?s)no runner .*: 'b' at the border of the part is tensor<4x4xbf16>"):
            onnx_session(model, measure=False)

    def test_a_refused_branch_keeps_the_captured_values(self):
        model = parse("(bool c, float[4, 4] x) => (float[4, 4] z) { a = Relu(x) r = If(c) <then_branch = t () => "
                      "(float[4, 4] u) { u = com.microsoft.Trilu(a) }, else_branch = e () => (float[4, 4] v) "
                      "{ v = Neg(a) }> y = Exp(r) z = com.microsoft.Trilu(y) }")
        feeds = [{"c": np.array(value), "x": draw(4, 4)} for value in (False, True)]
        self.check(model, ["layout: a", "onnxruntime: r", "layout: y", "onnxruntime: z"], *feeds)

    def test_a_branch_that_is_not_imported_runs_by_onnx_runtime(self):
        model = parse("(bool c, float[4, 4] x) => (float[4, 4] y) { r = If(c) <then_branch = t () => (float[4, 4] u) "
                      "{ u = com.microsoft.Trilu(x) }, else_branch = e () => (float[4, 4] v) { v = Neg(x) }> "
                      "y = Exp(r) }")
        feeds = [{"c": np.array(value), "x": draw(4, 4)} for value in (False, True)]
        self.check(model, ["layout: r y"], *feeds, inputs=feeds[0])

    def test_sizes_are_constants_on_both_sides(self):
        # Shape is folded, so that Reshape behind the refused node has a static shape.
        model = parse("(float[2, 8] x) => (float[4, 4] y) <int64[2] two = {1, 2}, int64[2] f = {2, 1}> "
                      "{ t = com.microsoft.Trilu(x) s = Shape(t) h = Div(s, two) n = Mul(h, f) r = Reshape(t, n) "
                      "y = Relu(r) }")
        self.check(model, ["onnxruntime: t", "layout: r y"], {"x": draw(2, 8)})

    def test_dynamic_sizes_have_names_in_parts(self):
        model = parse("(float[n, m] x) => (float[n, m] y) { a = Relu(x) t = com.microsoft.Trilu(a) b = Add(t, a) "
                      "y = Mul(b, x) }")
        parts = ["layout: a", "onnxruntime: t", "layout: b y"]
        session = self.check(model, parts, {"x": draw(3, 4)}, {"x": draw(7, 2)})
        self.assertEqual([value.shape for value in session.get_inputs()], [["n", "m"]])
        self.check(model, parts, {"x": draw(3, 4)}, shapes={"x": (3, 4)})

    # --------------------------------------------------------------- the interface

    def test_the_interface_is_that_of_inference_session(self):
        model = parse("(float[n, 4] x, int64[1] k) => (float[n, 4] y, int64[1] j, float[2] w) "
                      "<float[2] w = {1, 2}> { a = Relu(x) y = com.microsoft.Trilu(a) j = Neg(k) }")
        ours, theirs = onnx_session(model, measure=False), onnxruntime.InferenceSession(model.SerializeToString())
        for method in ("get_inputs", "get_outputs"):
            self.assertEqual(*([(value.name, value.type, value.shape) for value in getattr(session, method)()]
                               for session in (ours, theirs)))
        feed = {"x": draw(2, 4), "k": np.array([5])}
        for names in (["j"], ["w", "y"], [], None):
            for a, b in zip(ours.run(names, feed), theirs.run(names, feed), strict=True):
                self.compare(a, b)
        for bad in ({"x": feed["x"]}, {}):
            with self.assertRaisesRegex(ValueError, "Required inputs .* are missing from input feed"):
                ours.run(None, bad)
        with self.assertRaisesRegex(ValueError, "Invalid input name: z"):
            ours.run(None, {**feed, "z": feed["k"]})
        with self.assertRaisesRegex(ValueError, "Invalid output name: z"):
            ours.run(["z"], feed)
        with self.assertRaisesRegex(ValueError, "argument 1 .k. must be an array of int64"):
            ours.run(None, {**feed, "k": draw(1)})

    def test_sources_of_models(self):
        model = parse("(float[3] x) => (float[3] y) { y = Relu(x) }")
        data, expected = model.SerializeToString(), np.maximum(draw(3), 0)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.onnx")
            path.write_bytes(data)
            for source in (model, data, path, str(path)):
                self.compare(onnx_session(source, measure=False).run(None, {"x": draw(3)})[0], expected)
        self.assertEqual(model.SerializeToString(), data)
        with self.assertRaisesRegex(ImportFailed, "not an ONNX model"):
            onnx_session(b"\0")

    def test_a_model_that_onnx_rejects_runs_by_onnx_runtime(self):
        model = parse("(float[3] x) => (float[3] y) { a = Relu(x) y = Neg(a) }")
        model.graph.input[0].type.tensor_type.ClearField("shape")
        session = onnx_session(model)
        self.assertEqual([part.runner for part in session.parts], ["onnxruntime"])
        self.assertIn("Field 'shape' of 'type' is required", session.parts[0].reason)
        self.compare(session.run(None, {"x": draw(3)})[0], -np.maximum(draw(3), 0))

    def test_the_reference_evaluator_runs_what_both_refuse(self):
        model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 22]> model (float[2] x) => (float[2] y)
            { a = Relu(x) b = Bernoulli(a) y = Exp(b) }""")
        session = onnx_session(model)
        self.assertEqual(nodes(session), ["layout: a", "reference: b", "layout: y"])
        self.assertRegex(session.parts[1].reason, "(?s)its result is random.*ONNX Runtime: .*NOT_IMPLEMENTED")
        self.assertEqual(session.get_providers(), ["LayoutExecutionProvider", "ReferenceEvaluator"])
        self.compare(session.run(None, {"x": np.array([-1, 1], np.float32)})[0], np.exp([0, 1], dtype=np.float32))

    def test_texts_of_the_reference_evaluator_are_objects(self):
        model = parse("""(string[2] x) => (string[n] y)
            { y = StringNormalizer <case_change_action = "UPPER", is_case_sensitive = 1, stopwords = ["a"]> (x) }""")
        session = onnx_session(model)
        result = session.run(None, {"x": np.array(["a", "bc"], object)})[0]
        self.assertEqual((result.dtype, result.tolist()), (np.dtype(object), ["BC"]))

    def test_axes_out_of_range_blame_no_part(self):
        # ONNX Runtime accepts any axis of an empty tensor, so that random axes may be invalid.
        model = parse("(float[2, 0, 4] x, int64[1] axes) => (float[a, b, c] y) { y = ReduceMax(x, axes) }")
        session = onnx_session(model, measure=False)
        self.assertEqual(nodes(session), ["layout: y"])

    def test_a_node_without_runner_is_an_error(self):
        model = parse("(float[3] x) => (float[3] y) { a = Relu(x) y = com.microsoft.NoSuchOperator(a) }")
        with self.assertRaisesRegex(LayoutError, "(?s)no runner .*: node 'y'.*ONNX Runtime:.*NoSuchOperator.*the reference evaluator:"):
            onnx_session(model)

    # ------------------------------------------------------------------- the rules

    SPLIT = "(float[64, 64] x) => (float[64, 64] y) { a = MatMul(x, x) b = com.microsoft.Trilu(a) y = MatMul(b, b) }"

    def test_small_parts_stay_with_onnx_runtime(self):
        model = parse("(float[2, 2] x) => (float[2, 2] y) { a = Relu(x) b = com.microsoft.Trilu(a) y = Neg(b) }")
        with mock.patch.object(planned, "time_alternately", lambda runs: [1e-6] * len(runs)):
            session = onnx_session(model)
        self.assertEqual(nodes(session), ["onnxruntime: a b y"])
        self.assertIn("the part is too small: ONNX Runtime takes 0.001 ms, and a part costs 0.002 ms",
                      session.parts[0].reason)

    def choose(self, *times):
        """Returns a session in whose measurements the first runner takes each of `times`, and the other 1 s."""
        model, left, feed = parse(self.SPLIT), iter(times), {"x": draw(64, 64)}
        with mock.patch.object(planned, "time_alternately", lambda runs: [next(left), 1.0]):
            session = onnx_session(model)
        self.assertEqual(list(left), [])
        theirs = onnxruntime.InferenceSession(model.SerializeToString())
        self.compare(session.run(None, feed)[0], theirs.run(None, feed)[0])
        return session

    def test_faster_parts_are_compiled(self):
        # Both parts are large; both are faster; all parts are faster than the model.
        session = self.choose(9, 9, 2, 2, 2)
        self.assertEqual(nodes(session), ["layout: a", "onnxruntime: b", "layout: y"])
        self.assertEqual(session.parts[0].reason, "1e+03 ms, and 2e+03 ms by ONNX Runtime")

    def test_slower_parts_are_not_compiled(self):
        session = self.choose(9, 9, 0.5, 2, 2)
        self.assertEqual(nodes(session), ["onnxruntime: a b", "layout: y"])
        self.assertIn("the part is slower when compiled: 1e+03 ms, and 500 ms by ONNX Runtime", session.parts[0].reason)

    def test_parts_that_are_slower_together_are_not_compiled(self):
        session = self.choose(9, 9, 2, 2, 0.5)
        self.assertEqual(nodes(session), ["onnxruntime: a b y"])
        self.assertIn("3 parts are slower than the whole model", session.parts[0].reason)

    def test_wrong_parts_stay_with_onnx_runtime(self):
        real = planned.compile_module
        with mock.patch.object(planned, "compile_module",
                               lambda *args: lambda arrays: [real(*args)(arrays)[0] + 1]):
            session = onnx_session(parse(self.SPLIT), measure=False)
        self.assertEqual(nodes(session), ["onnxruntime: a b y"])
        self.assertIn("the part is wrong: result 'a' is not what ONNX Runtime computes", session.parts[0].reason)

    def test_given_inputs_may_be_strings_and_sequences(self):
        model = parse("(string[1] s, seq(float[8, 8]) q, float[8, 8] x) => (string[1] t, float[n, 8] z, float[8, 8] y) "
                      "{ t = StringConcat(s, s) z = ConcatFromSequence<axis: int = 0>(q) y = MatMul(x, x) }")
        feed = {"s": np.array(["a"], object), "q": [draw(8, 8), draw(8, 8)], "x": draw(8, 8)}
        with mock.patch.object(planned, "time_alternately", lambda runs: [2.0, 0.5]):
            session = onnx_session(model, inputs=feed)
        self.assertEqual(nodes(session), ["layout: y", "onnxruntime: t z"])
        self.compare(session.run(["t"], feed)[0], np.array(["aa"], object))

    def test_times_need_inputs(self):
        model = parse("(string[1] s, float[2] x) => (string[1] t, float[2] y) { t = StringConcat(s, s) y = Relu(x) }")
        session = onnx_session(model)
        self.assertEqual(nodes(session), ["onnxruntime: t y"])
        self.assertEqual(session.parts[0].reason, "no time was measured: input 's' holds strings\n"
                         "(pass inputs=, or measure=False)")


if __name__ == "__main__":
    unittest.main()
