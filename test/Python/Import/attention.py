# REQUIRES: python-extension, onnx
# RUN: %python -B %s
"""Checks attention of com.microsoft and rotary embeddings against ONNX Runtime: masks of all ranks, a past, biases,
packed and separate inputs, cross attention, quantized inputs, and odd sizes."""

from __future__ import annotations

import pathlib
import sys
import unittest
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


if __name__ == "__main__":
    unittest.main()
