# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks models that are valid but unusual against ONNX Runtime: formats 3 to 13, the other name of ONNX's domain,
default values of function attributes, sparse weights, results that are inputs, odd names, and nested control flow."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper, parser

import layout_mlir
from layout_mlir import onnx_import

RNG = np.random.default_rng(29)
Array = NDArray[Any]
X = RNG.standard_normal((2, 3)).astype(np.float32)
TWO = np.array(2)


def head(opset: int = 17, version: int = 8, local: bool = False) -> str:
    more = ', "local" : 1' if local else ""
    return f'<ir_version: {version}, opset_import: ["" : {opset}{more}]>\n'


def compile_model(model: onnx.ModelProto) -> Any:
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    return layout_mlir.compile(onnx_import.lower_to_text(onnx_import.prepare_checked(copy)), threads=1)


class Unusual(unittest.TestCase):
    def check(self, text: str, *inputs: Array, change: Callable[[onnx.ModelProto], object] = lambda model: None,
              expected: list[Array] | None = None) -> None:
        """Compares a model with `expected` or else ONNX Runtime."""
        model = parser.parse_model(text)
        change(model)
        if expected is None:
            session = onnxruntime.InferenceSession(model.SerializeToString())
            expected = session.run(None, dict(zip([value.name for value in session.get_inputs()], inputs)))
        got = compile_model(model)(*inputs)
        for a, b in zip(expected, got if isinstance(got, tuple) else (got,), strict=True):
            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)

    def test_nodes_are_in_any_order(self) -> None:
        # Also nodes of bodies, of functions, and nodes whose value only a body uses.
        graph = """(float[2,3] x, bool c) => (float[2,3] y, float[2,3] z) <int64 most = {3}, bool on = {1}> {
          a = Relu (x)
          b = Neg (a)
          y = If (c) <then_branch = t () => (float[2,3] u) { u = Exp (b) }, else_branch = e () => (float[2,3] v) {
            r = Abs (x)
            s = Add (r, a)
            v = Mul (s, b) }>
          d = local.double (y)
          z = Loop (most, on, x) <body = l (int64 i, bool go, float[2,3] p) => (bool again, float[2,3] q) {
            again = Identity (go)
            w = Add (p, d)
            q = Mul (w, b) }>
        }
        <domain: "local", opset_import: ["" : 17]> double (x) => (y) { h = Add (x, x) y = Sigmoid (h) }"""

        def reverse(part: onnx.GraphProto | onnx.FunctionProto) -> None:
            nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in reversed(part.node)]
            del part.node[:]
            part.node.extend(nodes)
            for body in [each.g for node in part.node for each in node.attribute if each.HasField("g")]:
                reverse(body)

        # ONNX Runtime only sorts the nodes of the main graph.
        text = head(local=True) + "g " + graph
        session = onnxruntime.InferenceSession(parser.parse_model(text).SerializeToString())
        for value in (False, True):
            expected = session.run(None, {"x": X, "c": np.array(value)})
            self.check(text, X, np.array(value), expected=expected, change=lambda model: [
                reverse(part) for part in [model.graph, *model.functions]])

    def test_sorted_nodes_keep_their_order(self) -> None:
        text = "g (float[2] x) => (float[2] y) { a = Neg(x) b = Exp(a) c = Abs(x) d = Exp(c) y = Add(d, b) }"
        model = onnx_import.prepare_checked(parser.parse_model(head() + text))
        self.assertEqual([node.output[0] for node in model.graph.node], list("abcdy"))

    def test_a_cycle_is_refused(self) -> None:
        model = parser.parse_model(head() + "g (float[2] x) => (float[2] y) { a = Add(x, b) b = Neg(a) y = Exp(b) }")
        with self.assertRaisesRegex(onnx_import.ImportFailed, r"in a cycle: node 'a' \(Add\) -> node 'b' \(Neg\) -> "
                                    r"node 'a' \(Add\)"):
            onnx_import.prepare_checked(model)

    def test_formats(self) -> None:
        for version in (3, 4, 7, 8, 10, 11, 12, 13):
            with self.subTest(version=version):
                self.check(head(9, version) + "g (float[2,3] x) => (float[2,3] y) <float[1] w = {2}> { y = Add(x, w) }",
                           X, change=lambda model: model.graph.input.append(
                               helper.make_tensor_value_info("w", TensorProto.FLOAT, [1])))

    def test_the_other_name_of_the_domain(self) -> None:
        body = "g (float[2,3] x) => (float[2,3] y) { z = ai.onnx.Relu(x) y = Neg(z) }"
        for imports in ('"ai.onnx" : 17', '"" : 17', '"ai.onnx" : 17, "" : 17'):
            with self.subTest(imports):
                self.check(f"<ir_version: 8, opset_import: [{imports}]>\n{body}", X, expected=[-np.maximum(X, 0)])

    def test_results_and_inputs(self) -> None:
        for body in ("g (float[2,3] x) => (float[2,3] x) { }",
                     "g (float[2,3] x) => (float[2,3] x, float[2,3] y) { y = Relu(x) }",
                     "g (float[2,3] x) => (float[2,3] y, float[2,3] y) { y = Relu(x) }",
                     "g (float[2,3] x) => (float[2,3] y, float[1] w) <float[1] w = {2}> { y = Add(x, w) }"):
            with self.subTest(body):
                self.check(head() + body, X)
        self.check(head() + "g (float[2,3] x, int64[n] z) => (float[2,3] y) { y = Relu(x) }", X, np.arange(4))
        self.check(head() + "g () => (float[2] y) <float[2] w = {2, 3}> { y = Exp(w) }")

    def test_fields_of_the_model(self) -> None:
        text = head() + "g (float[2,3] x) => (float[2,3] y) { z = Relu(x) y = Exp(z) }"

        def rename(model: onnx.ModelProto) -> None:
            graph, name = model.graph, 'a"b\n\\c:0/%d \u00e9'
            graph.input[0].name = graph.node[0].input[0] = name
            graph.output[0].name = graph.node[1].output[0] = graph.node[1].name = 'out"\n'

        def train(model: onnx.ModelProto) -> None:
            model.training_info.add().algorithm.CopyFrom(helper.make_graph(
                [helper.make_node("Neg", ["x"], ["n"])], "training", [],
                [helper.make_tensor_value_info("n", TensorProto.FLOAT, None)]))

        for change in (rename, train, lambda model: helper.set_model_props(model, {"a": "\u00e9\n"}),
                       lambda model: model.graph.output[0].type.tensor_type.ClearField("shape")):
            self.check(text, X, change=change)
        self.check(text, X, change=lambda model: model.graph.ClearField("name"), expected=[np.exp(np.maximum(X, 0))])

    def test_weights(self) -> None:
        text, values = head() + "g (float[2,3] x) => (float[2,3] y) { y = Add(x, w) }", np.float32([5, 7])
        for places in ([1, 4], [[0, 1], [1, 1]]):
            sparse = helper.make_sparse_tensor(numpy_helper.from_array(values, "w"),
                                               numpy_helper.from_array(np.array(places)), [2, 3])
            wide = X.copy()
            wide.reshape(-1)[[1, 4]] += values
            self.check(text, X, change=lambda model: model.graph.sparse_initializer.append(sparse), expected=[wide])
        self.check(text, X, change=lambda model: model.graph.initializer.append(
            TensorProto(name="w", data_type=TensorProto.FLOAT, float_data=[2.5])))
        self.check(text.replace("float[2,3]", "float16[2,3]"), X.astype(np.float16),
                   change=lambda model: model.graph.initializer.append(TensorProto(
                       name="w", data_type=TensorProto.FLOAT16, dims=[1], int32_data=[0x4200])))

    def test_functions(self) -> None:
        body = "{ b = LeakyRelu<alpha: float = @alpha>(a) }"
        local = '\n<opset_import: ["" : 17, "local" : 1], domain: "local"> '
        for call, parameters in (("leaky", "<alpha: float = 0.25>"), ("leaky<alpha: float = 0.5>", "<alpha>"),
                                 ("leaky<alpha: float = 0.5>", "<alpha: float = 0.25>"), ("leaky", "<alpha>")):
            with self.subTest(call=call, parameters=parameters):
                slope = 0.5 if "<" in call else 0.25 if "=" in parameters else 0.01
                inner = f"{head(local=True)}g (float[2,3] x) => (float[2,3] y) {{ y = local."
                leaky = f"{local}leaky {parameters} (a) => (b) {body}"
                expected = [np.where(X < 0, X * np.float32(slope), X)]
                self.check(f"{inner}{call}(x) }}{leaky}", X, expected=expected)
                self.check(f"{inner}outer(x) }}{local}outer (a) => (b) {{ c = Neg(a) d = Neg(c) b = local.{call}(d) }}"
                           f"{leaky}", X, expected=expected)
        self.check(head(local=True) + "g (float[2,3] x, bool c) => (float[2,3] y) { y = local.pick(x, c) }" + local +
                   "pick <alpha: float = 0.5> (a, c) => (b) { b = If(c) <then_branch = t () => (float[2,3] u) "
                   "{ u = LeakyRelu<alpha: float = @alpha>(a) }, else_branch = e () => (float[2,3] v) "
                   "{ v = Neg(a) }> }", X, np.array(True), expected=[np.where(X < 0, X * np.float32(0.5), X)])

    def test_control_flow(self) -> None:
        self.check(head() + "g (float[2,3] x, bool c, bool d) => (float[2,3] y) { k = Relu(x) y = If(c) <"
                   "then_branch = t () => (float[2,3] r) { r = If(d) <then_branch = t2 () => (float[2,3] a) "
                   "{ a = Add(k, x) }, else_branch = e2 () => (float[2,3] a) { a = Neg(k) }> }, "
                   "else_branch = e () => (float[2,3] r) { r = Exp(x) }> }", X, np.array(True), np.array(False))
        self.check(head() + "g (float[2,3] x, bool c) => (float[n,m] y) { y = If(c) <then_branch = t () => "
                   "(float[2,3] u) { u = Identity(x) }, else_branch = e () => (float[3,2] v) { v = Transpose(x) }> }",
                   X, np.array(False))
        loop = ("y, s = Loop(n, c, x) <body = b (int64 i, bool cc, float[2,3] a) => (bool oc, float[2,3] ao, "
                "float[2,3] so) { oc = Identity(cc) f = Cast<to: int = 1>(i) z = Add(a, f) ao = Add(z, k) "
                "so = Neg(ao) }>")
        for count, runs in ((3, True), (0, True), (4, False)):
            self.check(head() + "g (float[2,3] x, int64 n, bool c) => (float[2,3] y, float[p,2,3] s) { k = Relu(x) "
                       f"{loop} }}", X, np.array(count), np.array(runs))
        self.check(head() + "g (float[2,3] x, int64 n) => (float[p,3] y) <bool c = {1}> { y = Loop(n, c, x) <body = b "
                   "(int64 i, bool cc, float[q,3] a) => (bool oc, float[r,3] ao) { ao = Concat<axis: int = 0>(a, x) "
                   "oc = Identity(cc) }> }", X, TWO)
        self.check(head() + "g (float[3] s, float[2,4] xs) => (float[2] y, float[3,4] ys) <float[2] z = {0, 0}> "
                   "{ y, ys = Scan<num_scan_inputs: int = 1, scan_input_axes: ints = [1], "
                   "scan_input_directions: ints = [1], scan_output_axes: ints = [-1], "
                   "scan_output_directions: ints = [1], body = b (float[2] st, float[2] e) => (float[2] so, "
                   "float[3] o) { so = Add(st, e) r = ReduceSum<keepdims: int = 0>(so) o = Add(s, r) }>(z, xs) }",
                   X[0], RNG.standard_normal((2, 4)).astype(np.float32))

    def test_sequences_and_optionals(self) -> None:
        self.check(head() + "g (float[2,3] x) => (float[4,3] y) { a = Neg(x) s = SequenceConstruct(x, a) "
                   "t = SequenceInsert(s, x) e = SequenceErase(t) y = ConcatFromSequence<axis: int = 0>(e) }", X)
        self.check(head() + "g (float[2,3] x) => (float[2,3] y) { s = SplitToSequence<axis: int = 0>(x) "
                   "t = SequenceMap<body = b (float[1,3] e) => (float[1,3] o) { o = Exp(e) }>(s) "
                   "y = ConcatFromSequence<axis: int = 0>(t) }", X)
        self.check(head(18) + "g (float[2,3] x) => (float[2,3] y, bool h) { o = Optional(x) "
                   "h = OptionalHasElement(o) y = OptionalGetElement(o) }", X)


if __name__ == "__main__":
    unittest.main()
