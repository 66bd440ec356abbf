# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks attention of com.microsoft and rotary embeddings against ONNX Runtime: masks of all ranks, a past, biases,
packed and separate inputs, cross attention, quantized inputs, and odd sizes."""

from __future__ import annotations

import pathlib
import sys
import unittest
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper

import layout_mlir
from layout_mlir import onnx_import

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Inputs"))

from onnx_nodes import Constant, Nodes  # noqa: E402

RNG = np.random.default_rng(7)
MS = "com.microsoft"


def real(*shape: int) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(np.float32)


def whole(low: int, high: int, *shape: int, dtype: Any = np.int32) -> NDArray[Any]:
    return RNG.integers(low, high, shape).astype(dtype)


class Attention(unittest.TestCase):
    def setUp(self) -> None:
        self.nodes = Nodes(opset=17)

    def tearDown(self) -> None:
        if self.nodes.cases:
            self.nodes.check()

    def add(self, op: str, *given: Any, **attributes: Any) -> None:
        self.nodes.add(op, *given, domain=MS, atol=1e-5, **attributes)

    def test_attention(self) -> None:
        n, s, heads, width = 2, 5, 3, 4
        d = heads * width
        x, w, bias = real(n, s, d), Constant(real(d, 3 * d)), Constant(real(3 * d))
        masks = [None, np.array([3, 5], np.int32), np.array([3, 5, 1, 2], np.int32), whole(0, 2, n, s),
                 whole(0, 2, n, s, s) | np.eye(s, dtype=np.int32)]
        for mask in masks:
            for unidirectional in (0, 1):
                self.add("Attention", x, w, bias, mask, num_heads=heads, unidirectional=unidirectional)
        self.add("Attention", x, w, bias, None, None, real(n, heads, s, s), num_heads=heads, scale=0.3)
        self.add("Attention", x, w, bias, None, None, real(1, 1, s, s), num_heads=heads, unidirectional=1)
        for rows in (1, 2):  # one query has no causal mask
            self.add("Attention", real(n, rows, d), w, bias, whole(0, 2, n, 3 + rows) | 1, real(2, n, heads, 3, width),
                     outputs=2, num_heads=heads, unidirectional=1)
        # The width of a value head differs from that of a query head.
        self.add("Attention", x, Constant(real(d, 2 * 6 + 9)), Constant(real(21)), num_heads=heads,
                 qkv_hidden_sizes=[6, 6, 9])
        self.add("Attention", x, w, bias, whole(0, 2, n, s) | 1, num_heads=heads, dynamic=True)

    def test_quantized_attention(self) -> None:
        n, s, heads, width = 2, 3, 2, 5
        d = heads * width
        for kind, weight_kind in ((np.uint8, np.int8), (np.uint8, np.uint8)):
            x = whole(0, 100, n, s, d, dtype=kind)
            w = Constant(whole(0, 100, d, 3 * d, dtype=weight_kind))
            zeros = kind(50), weight_kind(40)
            self.add("QAttention", x, w, Constant(real(3 * d)), np.float32(0.02), np.float32(0.01),
                     whole(0, 2, n, s) | 1, *zeros, num_heads=heads)

    def test_separate_inputs(self) -> None:
        n, s, t, heads, width, values = 2, 3, 4, 2, 5, 6
        d, dv = heads * width, heads * values
        bias = Constant(real(2 * d + dv))
        q, k, v = real(n, s, d), real(n, t, d), real(n, t, dv)
        add = self.add
        add("MultiHeadAttention", q, k, v, num_heads=heads)
        add("MultiHeadAttention", q, k, v, bias, num_heads=heads, scale=0.5)
        add("MultiHeadAttention", q, k, v, bias, whole(0, 2, n, t) | np.eye(n, t, dtype=np.int32), num_heads=heads)
        add("MultiHeadAttention", q, k, v, None, np.array([2, 4], np.int32), real(1, heads, s, t), num_heads=heads)
        add("MultiHeadAttention", q, k, v, None, None, real(n, 1, s, t), num_heads=heads)
        add("MultiHeadAttention", q, k, v, num_heads=heads, unidirectional=1)
        add("MultiHeadAttention", k, q, real(n, s, dv), num_heads=heads, unidirectional=1)
        # Keys and values by heads, as those of a cross attention.
        add("MultiHeadAttention", q, real(n, heads, t, width), real(n, heads, t, width), num_heads=heads)
        for rows in (1, 2):
            add("MultiHeadAttention", real(n, rows, d), real(n, rows, d), real(n, rows, d), None, None, None,
                real(n, heads, t, width), real(n, heads, t, width), outputs=3, num_heads=heads, unidirectional=1)

    def test_rotary_embeddings(self) -> None:
        n, s, heads, width, longest = 2, 3, 2, 6, 8
        cosines, sines = (Constant(real(longest, width // 2)) for _ in range(2))
        places = whole(0, longest, n, s, dtype=np.int64)
        for interleaved in (0, 1):
            self.add("RotaryEmbedding", real(n, s, heads * width), places, cosines, sines, interleaved=interleaved)
            self.add("RotaryEmbedding", real(n, heads, s, width), np.array([4]), cosines, sines,
                     interleaved=interleaved)
            self.add("RotaryEmbedding", real(n, s, heads * 10), places, cosines, sines, interleaved=interleaved,
                     num_heads=heads, rotary_embedding_dim=width)

    def test_groups_of_queries(self) -> None:
        heads, shared, width = 4, 2, 16
        caches = [Constant(real(16, width // 2)) for _ in range(2)]

        def add(n: int, s: int, past: int, lengths: list[int], *rest: Any, packed: bool = False, dynamic: bool = False,
                **attributes: Any) -> None:
            given = [real(n, s, (heads + 2 * shared) * width), None, None] if packed else [
                real(n, s, count * width) for count in (heads, shared, shared)]
            states = [real(n, shared, past, width) if past else None for _ in range(2)]
            self.add("GroupQueryAttention", *given, *states, np.array(lengths, np.int32) - 1,
                     np.array(max(lengths), np.int32), *rest, outputs=3, num_heads=heads,
                     kv_num_heads=shared, dynamic=dynamic, **attributes)

        for rotary in (0, 1):
            extra = caches if rotary else []
            for packed in (False, True):
                add(2, 3, 0, [3, 3], *extra, do_rotary=rotary, packed=packed)
            add(1, 1, 4, [5], *extra, do_rotary=rotary, rotary_interleaved=rotary)
            add(1, 2, 4, [6], *extra, do_rotary=rotary, packed=True)
        add(1, 3, 0, [3], scale=0.25, softcap=2.0)
        add(1, 6, 0, [6], local_window_size=2)
        add(1, 1, 6, [7], local_window_size=3)
        add(2, 1, 5, [6, 6], None, None, None, real(2, heads, 1, 6))
        add(1, 2, 5, [7], *caches, np.array([[5, 6]]), do_rotary=1)

    def test_a_cache_of_dynamic_size(self) -> None:
        heads, shared, width = 2, 1, 16
        states, sizes = ("n", shared, "p", width), ("n", "s", heads * width)
        inputs = {"q": sizes, "k": ("n", "s", width), "v": ("n", "s", width), "pk": states, "pv": states}
        node = helper.make_node("GroupQueryAttention", [*inputs, "lengths", "total"], ["y", "ok", "ov"], domain=MS,
                                num_heads=heads, kv_num_heads=shared)
        types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
        types += [helper.make_tensor_value_info("lengths", TensorProto.INT32, ["n"]),
                  helper.make_tensor_value_info("total", TensorProto.INT32, [])]
        graph = helper.make_graph([node], "cache", types, [helper.make_empty_tensor_value_info(name)
                                                           for name in node.output])
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17),
                                                                       helper.make_opsetid(MS, 1)])
        session = onnxruntime.InferenceSession(model.SerializeToString())
        program = layout_mlir.compile(onnx_import.lower_to_text(onnx_import.prepare_checked(model)), threads=1)
        states_of = [np.zeros((1, shared, 0, width), np.float32)] * 2
        for count, total in ((3, 3), (1, 4), (2, 6)):
            given = [real(1, count, heads * width), real(1, count, width), real(1, count, width), *states_of,
                     np.array([total - 1], np.int32), np.array(total, np.int32)]
            expected = session.run(None, dict(zip([value.name for value in types], given)))
            for a, b in zip(expected, program(*given), strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5)
            states_of = expected[1:]
        # Sequences of different lengths: keys after a shorter one are unspecified.
        lengths, past = [4, 6], [real(2, shared, 5, width) for _ in range(2)]
        given = [real(2, 1, heads * width), real(2, 1, width), real(2, 1, width), *past,
                 np.array(lengths, np.int32) - 1, np.array(6, np.int32)]
        expected = session.run(None, dict(zip([value.name for value in types], given)))
        for number, (a, b) in enumerate(zip(expected, program(*given), strict=True)):
            for x, y, length in zip(a, b, lengths):
                np.testing.assert_allclose(*((x, y) if number == 0 else (x[:, :length], y[:, :length])), rtol=1e-5,
                                           atol=1e-5)


if __name__ == "__main__":
    unittest.main()
