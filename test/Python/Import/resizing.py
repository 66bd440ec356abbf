# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks Resize and Upsample for all modes, transforms and opsets, with static and dynamic sizes."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402


RNG = np.random.default_rng(17)
TRANSFORMS = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
MODES = ["nearest", "linear", "cubic"]


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def scales(*values: float) -> Constant:
    return Constant(np.array(values, np.float32))


def sizes(*values: int) -> Constant:
    return Constant(np.array(values, np.int64))


class Resizing(unittest.TestCase):
    def test_nearest(self) -> None:
        nodes, x = Nodes(19), f32(1, 2, 5, 7)
        # The middle of 5 rows is at 2.0, while ONNX Runtime computes 1.99.
        exact = {("half_pixel_symmetric", "floor"): [x[:, :, [0, 2, 3]][..., [0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 5]]]}
        for transform in TRANSFORMS:
            for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
                form = {"mode": "nearest", "coordinate_transformation_mode": transform, "nearest_mode": rounding}
                nodes.add("Resize", x, None, scales(1, 1, 2, 3), dynamic=True, **form)
                nodes.add("Resize", x, None, scales(1, 1, 0.6, 1.7), expected=exact.get((transform, rounding)), **form)
                nodes.add("Resize", x, None, None, sizes(1, 2, 4, 9), dynamic=True, **form)
        nodes.check()

    def test_repeated_elements(self) -> None:
        nodes = Nodes(19)
        form = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
        for factor in (2, 4, 8):
            for width in (1, 3, 37):
                nodes.add("Resize", f32(2, 3, width), None, scales(1, 2, factor), dynamic=True, **form)
        for kind in (np.float64, np.int8):
            nodes.add("Resize", (10 * f32(2, 3, 37)).astype(kind), None, scales(1, 1, 4), **form)
        nodes.check()

    def test_interpolation(self) -> None:
        nodes, x = Nodes(19), f32(1, 2, 5, 7)
        for transform in TRANSFORMS:
            for mode in ("linear", "cubic"):
                form = {"mode": mode, "coordinate_transformation_mode": transform}
                nodes.add("Resize", x, None, scales(1, 1, 2, 3), **form, atol=1e-5)
                nodes.add("Resize", x, None, scales(1, 1, 0.6, 1.7), dynamic=True, **form, atol=1e-5)
                nodes.add("Resize", x, None, None, sizes(1, 2, 1, 9), dynamic=True, **form, atol=1e-5)
            nodes.add("Resize", x, None, scales(1, 1, 0.6, 1.7), mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5,
                      coordinate_transformation_mode=transform, atol=1e-5)
        nodes.add("Resize", f32(1, 2, 3, 4, 5), None, scales(1, 1, 2, 1.5, 2), mode="linear", atol=1e-5)
        for kind in (np.float16, np.float64):
            nodes.add("Resize", x.astype(kind), None, scales(1, 1, 2, 1.5), mode="linear", atol=2e-3)
        nodes.check()

    def test_antialias(self) -> None:
        nodes, x = Nodes(19), f32(1, 2, 9, 11)
        for mode in ("linear", "cubic"):
            for outside in (0, 1):
                nodes.add("Resize", x, None, scales(1, 1, 0.6, 0.3), mode=mode, antialias=1, exclude_outside=outside,
                          dynamic=outside == 1, atol=1e-5, expected=self.reference(x, mode, outside))
        nodes.check()

    @staticmethod
    def reference(x: np.ndarray, mode: str, outside: int) -> list[np.ndarray]:
        from onnx import helper
        from onnx.reference import ReferenceEvaluator

        node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode, antialias=1, exclude_outside=outside)
        return list(ReferenceEvaluator(node).run(None, {"x": x, "s": np.array([1, 1, 0.6, 0.3], np.float32)}))

    def test_sizes_of_the_program(self) -> None:
        nodes, x = Nodes(19), f32(1, 2, 5, 7)
        for mode in MODES:
            nodes.add("Resize", x, None, np.array([1, 1, 1.5, 0.6], np.float32), mode=mode, atol=1e-5)
            nodes.add("Resize", x, None, None, np.array([6, 4], np.int64), mode=mode, axes=[2, 3], dynamic=True,
                      atol=1e-5)
            for policy in ("not_larger", "not_smaller"):
                nodes.add("Resize", x, None, None, sizes(9, 9), mode=mode, axes=[2, 3], keep_aspect_ratio_policy=policy,
                          dynamic=True, atol=1e-5)
        nodes.check()

    def test_crops(self) -> None:
        nodes, x, roi = Nodes(19), f32(1, 2, 5, 7), np.array([0, 0, 0.1, -0.2, 1, 1, 0.8, 1.3], np.float32)
        for mode in MODES:
            form = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}
            nodes.add("Resize", x, Constant(roi), None, sizes(1, 2, 4, 6), **form, atol=1e-5)
            nodes.add("Resize", x, roi, None, sizes(1, 2, 4, 6), **form, atol=1e-5)
        nodes.check()

    def test_old_opsets(self) -> None:
        x = f32(1, 2, 5, 7)
        for opset in (7, 9, 10, 11, 13, 18):
            nodes = Nodes(opset)
            for mode in MODES[:2]:
                by = scales(1, 1, 2, 1.5), scales(1, 1, 0.6, 0.5)
                if opset == 7:
                    nodes.add("Upsample", x, mode=mode, scales=[1.0, 1.0, 2.0, 3.0])
                elif opset == 9:
                    nodes.add("Upsample", x, by[0], mode=mode, dynamic=True)
                elif opset == 10:
                    for each in by:
                        nodes.add("Resize", x, each, mode=mode, dynamic=True)
                else:
                    nodes.add("Resize", x, Constant(np.zeros(0, np.float32)), by[1], mode=mode, atol=1e-5)
            nodes.check()


if __name__ == "__main__":
    unittest.main()
