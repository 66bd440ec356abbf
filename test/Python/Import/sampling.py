# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks ONNX operators that read at computed positions for all modes and kinds of padding."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402


RNG = np.random.default_rng(19)


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


class Sampling(unittest.TestCase):
    def test_grid_sample(self) -> None:
        nodes = Nodes(20)
        images = f32(2, 3, 5, 7), f32(1, 2, 3, 4, 5)
        grids = [RNG.uniform(-1.5, 1.5, shape).astype(np.float32) for shape in ((2, 4, 6, 2), (1, 2, 3, 2, 3))]
        for padding in ("zeros", "border", "reflection"):
            for aligned in (0, 1):
                for mode in ("linear", "nearest", "cubic"):
                    for x, grid in list(zip(images, grids))[:1 if mode == "cubic" else 2]:
                        nodes.add("GridSample", x, grid, mode=mode, padding_mode=padding, align_corners=aligned,
                                  dynamic=aligned == 0, atol=1e-5)
        nodes.check()
        nodes = Nodes(16)
        for mode in ("bilinear", "nearest", "bicubic"):
            nodes.add("GridSample", images[0], grids[0], mode=mode, atol=1e-5)
        nodes.check()

    def test_affine_grid(self) -> None:
        nodes = Nodes(20)
        for aligned in (0, 1):
            nodes.add("AffineGrid", f32(2, 2, 3), Constant(i64(2, 3, 5, 6)), align_corners=aligned, atol=1e-5)
            nodes.add("AffineGrid", f32(2, 3, 4), Constant(i64(2, 3, 4, 5, 6)), align_corners=aligned, dynamic=True,
                      atol=1e-5)
            nodes.add("AffineGrid", f32(2, 2, 3), i64(2, 3, 5, 6), align_corners=aligned, atol=1e-5)
        nodes.check()

    def test_regions(self) -> None:
        rois = np.array([[0, 0, 3, 4], [1, 1, 6, 2], [-1, 2, 9, 9]], np.float32)
        for opset in (10, 16):
            nodes, x = Nodes(opset), f32(2, 3, 5, 7)
            for mode in ("avg", "max"):
                for ratio in (0, 2):
                    nodes.add("RoiAlign", x, rois, i64(0, 1, 1), mode=mode, output_height=3, output_width=2,
                              sampling_ratio=ratio, spatial_scale=0.7, dynamic=ratio == 0, atol=1e-5)
            whole = np.array([[0, 0, 0, 3, 4], [1, 1, 1, 6, 2], [1, 2, 2, 9, 9], [0, 4, 4, 2, 2]], np.float32)
            for scale in (1.0, 0.6):
                nodes.add("MaxRoiPool", x, whole, pooled_shape=[2, 3], spatial_scale=scale)
            nodes.check()

    def test_deformed(self) -> None:
        nodes, x = Nodes(19), f32(2, 3, 5, 7)
        nodes.add("DeformConv", x, Constant(f32(2, 3, 3, 2)), f32(2, 36, 3, 8), Constant(f32(2)), f32(2, 18, 3, 8),
                  offset_group=3, pads=[1, 0, 1, 2], strides=[2, 1], dynamic=True, atol=1e-5)
        nodes.check()


if __name__ == "__main__":
    unittest.main()
