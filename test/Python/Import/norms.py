# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks ONNX norms for all axes, ranks, opsets and element types, with static and dynamic sizes."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402


RNG = np.random.default_rng(13)
Array = np.ndarray


def f32(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def statistics(channels: int) -> list[Constant]:
    return [Constant(x) for x in (f32(channels), f32(channels), f32(channels), np.abs(f32(channels)))]


class Norms(unittest.TestCase):
    def test_batch(self) -> None:
        for opset in (7, 9, 15):
            nodes = Nodes(opset)
            for image in ((), (5,), (5, 6), (3, 4, 2)):
                given = statistics(4)
                nodes.add("BatchNormalization", f32(3, 4, *image), *given, epsilon=1e-3)
                nodes.add("BatchNormalization", f32(3, 4, *image), *(x.array for x in given), dynamic=True)
            if opset == 7:
                x, (scale, bias, mean, variance) = f32(2, 3, 4), (f32(3, 4), f32(3, 4), f32(3, 4), np.abs(f32(3, 4)))
                wanted = (x - mean) / np.sqrt(variance + np.float32(1e-5)) * scale + bias
                nodes.add("BatchNormalization", x, *map(Constant, (scale, bias, mean, variance)), spatial=0,
                          expected=[wanted])
            nodes.check()

    def test_training(self) -> None:
        nodes = Nodes(15)
        for image in ((), (5,), (5, 6)):
            x, (scale, bias, mean, variance) = f32(3, 4, *image) + 5, (each.array for each in statistics(4))
            axes = (0, *range(2, x.ndim))
            own = x.mean(axes), x.var(axes)
            wide = [each.reshape(-1, *[1] * len(image)) for each in (scale, bias, *own)]
            y = (x - wide[2]) / np.sqrt(wide[3] + np.float32(1e-5)) * wide[0] + wide[1]
            nodes.add("BatchNormalization", x, scale, bias, mean, variance, outputs=3, training_mode=1, momentum=0.75,
                      expected=[y, mean * 0.75 + own[0] * 0.25, variance * 0.75 + own[1] * 0.25], atol=2e-5)
        nodes.check()

    def test_images_and_groups(self) -> None:
        nodes = Nodes(21)
        for number, image in enumerate(((5,), (5, 6), (3, 4, 2))):
            x, scale, bias = f32(2, 4, *image) + 100, Constant(f32(4)), Constant(f32(4))
            nodes.add("InstanceNormalization", x, scale, bias, dynamic=number == 1, expected=[
                self.normalize(x, tuple(range(2, x.ndim)), scale.array, bias.array)], atol=1e-3)
            parts = x.reshape(2, 2, 2, *image)
            nodes.add("GroupNormalization", x, scale, bias, dynamic=number == 0, num_groups=2, expected=[
                self.normalize(parts, tuple(range(2, parts.ndim)), scale.array, bias.array, x.shape)], atol=1e-3)
        x = f32(2, 3, 4, 8)
        for activation in (0, 1):
            parts, given = x.reshape(2, 3, 4, 2, 4), (f32(8), f32(8))
            mean, variance = parts.mean((1, 2, 4), keepdims=True), parts.var((1, 2, 4), keepdims=True)
            y = ((parts - mean) / np.sqrt(variance + np.float32(1e-5))).reshape(x.shape) * given[0] + given[1]
            nodes.add("GroupNorm", x, *map(Constant, given), domain="com.microsoft", groups=2, activation=activation,
                      dynamic=activation == 0, expected=[y / (1 + np.exp(-y)) if activation else y], atol=1e-5)
        nodes.check()

    @staticmethod
    def normalize(x: Array, axes: tuple[int, ...], scale: Array, bias: Array, shape: tuple[int, ...] = ()) -> Array:
        """Computes in f64: images with a mean far from 0 detect a one-pass variance."""
        wide = x.astype(np.float64)
        y = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + 1e-5)
        y = y.reshape(shape or x.shape)
        columns = [each.reshape(-1, *[1] * (y.ndim - 2)) for each in (scale, bias)]
        return (y * columns[0] + columns[1]).astype(np.float32)

    def test_rows(self) -> None:
        for opset in (17, 23):
            nodes, x = Nodes(opset), f32(2, 3, 4, 5)
            for axis in range(-4, 4):
                shape = x.shape[axis:]
                scale, bias = f32(*shape), f32(*shape)
                nodes.add("LayerNormalization", x, Constant(scale), Constant(bias), axis=axis, outputs=3, atol=1e-5)
                nodes.add("LayerNormalization", x, scale, axis=axis, dynamic=True, atol=1e-5)
                if opset >= 23:
                    nodes.add("RMSNormalization", x, Constant(scale), axis=axis, dynamic=axis < 0, atol=1e-5)
            half = f32(2, 64).astype(np.float16)
            nodes.add("LayerNormalization", half, Constant(half[0]), outputs=2, atol=4e-3)
            nodes.add("LayerNormalization", half.astype(np.float64), Constant(half[0].astype(np.float64)))
            nodes.check()

    def test_with_sums(self) -> None:
        """Checks the norms of ONNX Runtime's own domain."""
        nodes = Nodes(17)
        x, y, given = f32(2, 3, 8), f32(2, 3, 8), [Constant(f32(8)) for _ in range(3)]
        nodes.add("SkipLayerNormalization", x, y, *given, domain="com.microsoft", dynamic=True, atol=1e-5)
        nodes.add("SkipLayerNormalization", x, Constant(y[:1]), given[0], domain="com.microsoft", atol=1e-5)
        nodes.add("SkipSimplifiedLayerNormalization", x, y, *given[:2], domain="com.microsoft", atol=1e-5)
        ids, segments = (RNG.integers(0, 3, (2, 5)).astype(np.int32) for _ in range(2))
        mask = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1]], np.int32)
        tables = [Constant(f32(rows, 8)) for rows in (9, 6, 3)]
        nodes.add("EmbedLayerNormalization", ids, segments, *tables, *given[:2], mask, domain="com.microsoft",
                  outputs=3, atol=1e-5)
        nodes.add("EmbedLayerNormalization", ids, None, *tables[:2], None, *given[:2], domain="com.microsoft",
                  outputs=2, dynamic=True, atol=1e-5)
        nodes.check()

    def test_others(self) -> None:
        nodes, x = Nodes(17), f32(2, 3, 4, 5)
        x[0, 1] = 0
        for axis in range(-4, 4):
            for p in (1, 2):
                nodes.add("LpNormalization", x, axis=axis, p=p, dynamic=p == 1)
        nodes.add("LpNormalization", Constant(x), axis=1, p=1)
        nodes.add("MeanVarianceNormalization", x + 100, dynamic=True, atol=1e-3)
        nodes.add("MeanVarianceNormalization", x, axes=[1, -1], atol=1e-5)
        x = f32(3, 3, 4, 5)  # the reference, which alone supports even windows, counts images instead of channels
        for size in range(1, 6):
            nodes.add("LRN", x, size=size, alpha=0.3, beta=(0.6, 0.75, 0.5, 1.0, 0.75)[size - 1], bias=1.5,
                      dynamic=size % 2 == 0)
        nodes.check()


if __name__ == "__main__":
    unittest.main()
