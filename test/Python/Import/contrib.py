# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks operators of com.microsoft that ONNX Runtime has beside those of ONNX: inverses, distances, images with
channels last, quantized choices and embeddings, and lookups in tables of 4-bit integers."""

from __future__ import annotations

import pathlib
import sys
import unittest
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Inputs"))

from onnx_nodes import Constant, Nodes  # noqa: E402

RNG = np.random.default_rng(11)


def real(*shape: int) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(np.float32)


def whole(kind: Any, *shape: int) -> NDArray[Any]:
    return RNG.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)


class Contrib(unittest.TestCase):
    def setUp(self) -> None:
        self.nodes = Nodes(opset=17)

    def tearDown(self) -> None:
        self.nodes.check()

    def add(self, op: str, *given: Any, **attributes: Any) -> None:
        self.nodes.add(op, *given, domain="com.microsoft", **attributes)

    def test_matrices(self) -> None:
        self.add("Inverse", real(2, 3, 3) + 2 * np.eye(3, dtype=np.float32), atol=1e-4)
        self.add("Inverse", real(1, 1) + 3, atol=1e-4)
        self.add("Inverse", real(4, 4).astype(np.float64), atol=1e-6, dynamic=True)
        for metric in ("euclidean", "sqeuclidean"):
            self.add("CDist", real(5, 3), real(2, 3), metric=metric, atol=1e-4)
        self.add("TransposeMatMul", real(2, 3, 4), real(2, 5, 3), transA=1, transB=1, alpha=0.5, atol=1e-5)

    def test_forms_of_onnx(self) -> None:
        self.add("GatherND", real(3, 4), np.array([[1, 2], [2, 0]]))
        self.add("Range", Constant(np.float32(1)), Constant(np.float32(4)), Constant(np.float32(0.5)))
        self.add("ExpandDims", real(3, 4), Constant(np.array(-1, np.int32)))
        for mode in ("constant", "edge", "reflect"):
            self.add("Pad", real(3, 4), Constant(np.array([1, 0, 2, 1])), Constant(np.float32(2)), mode=mode)
        for mode, padding in (("bilinear", "zeros"), ("nearest", "border"), ("bicubic", "reflection")):
            self.add("GridSample", real(1, 2, 5, 4), np.tanh(real(1, 3, 2, 2)) * 1.2, mode=mode, padding_mode=padding,
                     atol=1e-5)

    def test_channels_last(self) -> None:
        for kind in (np.uint8, np.int8):
            self.add("NhwcMaxPool", whole(kind, 2, 7, 5, 3), kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 0, 1])
            for groups in (1, 3):
                # Weights of 7 bits: with AVX2, ONNX Runtime saturates sums of two products of uint8 and int8.
                self.add("QLinearConv", whole(kind, 1, 6, 5, 3), Constant(np.float32(0.02)), Constant(kind(3)),
                         Constant(whole(np.int8, 6, 3 // groups, 3, 3) >> 1), Constant(np.float32(0.01)),
                         Constant(np.int8(0)), Constant(np.float32(0.5)), Constant(kind(7)),
                         Constant(RNG.integers(-99, 99, 6).astype(np.int32)), channels_last=1, group=groups,
                         pads=[1, 1, 1, 1], steps=1)

    def test_quantized(self) -> None:
        for kind in (np.uint8, np.int8):
            scalars = [np.float32(0.02), kind(3)]
            self.add("QLinearWhere", RNG.random((3, 4)) < 0.5, whole(kind, 3, 4), *scalars, whole(kind, 1, 4),
                     np.float32(0.04), kind(9), np.float32(0.03), kind(5), steps=1)
        tables = [Constant(whole(np.uint8, *shape)) for shape in ((9, 8), (6, 8), (2, 8), (8,), (8,))]
        scales = [Constant(np.float32(scale)) for scale in (0.01, 0.02, 0.03, 0.01, 0.02)]
        zeros = [Constant(np.uint8(zero)) for zero in (128, 120, 100, 20, 110)]
        ids = RNG.integers(0, 9, (2, 5)).astype(np.int32)
        self.add("QEmbedLayerNormalization", ids, ids % 2, *tables, None, *scales, *zeros, outputs=2, atol=1e-4)

    def test_tables_of_blocks(self) -> None:
        for kind, low in ((ml_dtypes.int4, -8), (ml_dtypes.uint4, 0)):
            table = RNG.integers(low, low + 16, (6, 33)).astype(kind)
            scales, zeros = Constant(real(6, 3)), Constant(RNG.integers(low, low + 16, (6, 3)).astype(kind))
            places = np.array([[5, 0], [2, 2]])
            for rest in ([scales], [scales, zeros]):
                self.add("GatherBlockQuantized", Constant(table), places, *rest, block_size=16, gather_axis=0,
                         quantize_axis=1, atol=1e-5)
        table, scales = Constant(whole(np.uint8, 6, 32)), Constant(real(6, 2))
        for rest in ([], [Constant(whole(np.uint8, 6, 2))]):  # without zero points, that of bytes is 128
            self.add("GatherBlockQuantized", table, np.array([4, 1]), scales, *rest, bits=8, block_size=16,
                     quantize_axis=1, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
