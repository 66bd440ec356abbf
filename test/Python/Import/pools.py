# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks ONNX poolings for all ranks, pads, rounding and counting modes, with static and dynamic sizes."""

import itertools
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402


RNG = np.random.default_rng(11)


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def forms(rank: int) -> list[dict[str, object]]:
    return [{"kernel_shape": [3, 2, 2][:rank], "pads": [1, 0, 1, 0, 1, 0][:2 * rank]},
            {"kernel_shape": [3] * rank, "strides": [2] * rank, "pads": [1] * (2 * rank), "ceil_mode": 1},
            {"kernel_shape": [3] * rank, "strides": [2] * rank, "pads": [1] * rank + [0] * rank, "ceil_mode": 1},
            {"kernel_shape": [2] * rank, "strides": [3] * rank, "ceil_mode": 1},
            {"kernel_shape": [3] * rank, "strides": [2] * rank, "auto_pad": "SAME_UPPER"},
            {"kernel_shape": [2] * rank, "auto_pad": "SAME_LOWER"},
            {"kernel_shape": [2] * rank, "strides": [2] * rank, "dilations": [2] * rank, "pads": [1] * (2 * rank)}]


class Pools(unittest.TestCase):
    def test_maxima(self) -> None:
        nodes = Nodes(17)
        for rank, image in ((1, (9,)), (2, (9, 8)), (3, (5, 6, 4))):
            x = np.round(f32(2, 3, *image) * 2) - 9  # negative, and often equal
            for number, form in enumerate(forms(rank)):
                nodes.add("MaxPool", x, dynamic=number % 2 == 0, outputs=2, storage_order=0, **form)
                nodes.add("MaxPool", x, dynamic=number % 2 == 1, outputs=1 + (rank > 1), storage_order=rank > 1, **form)
            nodes.add("GlobalMaxPool", x, dynamic=True)
        for dtype in ("int8", "uint8"):
            x = RNG.integers(0, 256, (1, 2, 6, 7)).astype(np.uint8).view(dtype)
            nodes.add("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
        x = np.full((1, 1, 4, 4), -np.inf, np.float32)
        nodes.add("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, expected=[x])
        nodes.check()

    def test_no_window_fits(self) -> None:
        nodes = Nodes(19)
        x = f32(1, 2, 1, 4)
        for op in ("MaxPool", "AveragePool", "LpPool"):
            for ceil in (0, 1):
                nodes.add(op, x, dynamic=True, kernel_shape=[3, 2], strides=[2, 1], ceil_mode=ceil,
                          expected=[np.zeros((1, 2, 0, 3), np.float32)])
                nodes.add(op, x, kernel_shape=[4, 2], strides=[2, 1], ceil_mode=ceil,
                          expected=[np.zeros((1, 2, 0, 3), np.float32)])
        nodes.check()

    def test_a_window_is_cut_off(self) -> None:
        # 5 elements at a stride of 4 over 2 or 3: the quotient -3 / 4 or -2 / 4 is truncated, and one position is left.
        for opset, size, pads, ceil in itertools.product((17, 22), (2, 3), ([0, 0], [1, 0]), (0, 1)):
            nodes, x = Nodes(opset), f32(1, 2, size)
            form = {"kernel_shape": [5], "strides": [4], "pads": pads, "dynamic": bool(ceil), "ceil_mode": ceil}
            # Of a window that is cut off, ONNX Runtime counted all elements before opset 19, unless ceil_mode is set.
            count = size + sum(pads) if ceil or opset > 19 else 5
            nodes.add("MaxPool", x, expected=[x.max(2, keepdims=True)], **form)
            nodes.add("AveragePool", x, expected=[x.mean(2, keepdims=True)], **form)
            nodes.add("AveragePool", x, count_include_pad=1, expected=[x.sum(2, keepdims=True) / np.float32(count)], **form)
            if opset > 19:
                nodes.add("LpPool", x, expected=[np.sqrt((x * x).sum(2, keepdims=True))], **form)
            nodes.check()

    def test_means(self) -> None:
        for opset in (11, 19):
            nodes = Nodes(opset)
            for rank, image in ((1, (9,)), (2, (9, 8)), (3, (5, 6, 4))):
                x = f32(2, 3, *image)
                for number, form in enumerate(forms(rank)):
                    for with_padding in (0, 1):
                        if opset >= 19 or "dilations" not in form:
                            nodes.add("AveragePool", x, dynamic=(number + with_padding) % 2 == 0,
                                      count_include_pad=with_padding, **form)
                nodes.add("GlobalAveragePool", x)
                nodes.add("GlobalAveragePool", x, dynamic=True)
            x = f32(1, 2, 40, 40).astype(np.float16) + np.float16(2)
            wide = x.astype(np.float32).mean((2, 3), keepdims=True).astype(np.float16)
            nodes.add("GlobalAveragePool", x, expected=[wide])
            nodes.check()

    def test_norms(self) -> None:
        nodes = Nodes(18)
        for rank, image in ((1, (9,)), (2, (9, 8)), (3, (5, 6, 4))):
            x = f32(2, 3, *image)
            for number, form in enumerate(forms(rank)):
                nodes.add("LpPool", x, dynamic=number % 2 == 0, p=1 + number % 3, **form)
            for p in (1, 2, 3):
                nodes.add("GlobalLpPool", x, dynamic=True, p=p)
        nodes.check()


if __name__ == "__main__":
    unittest.main()
