# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks ONNX convolutions for all ranks, pads, groups and element types, with static and dynamic sizes."""
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402


RNG = np.random.default_rng(7)
# The sizes of an image and of a kernel, by the number of spatial dims.
SIZES = {1: ((9,), (3,)), 2: ((9, 8), (3, 2)), 3: ((5, 4, 6), (3, 2, 2))}


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def integers(dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, shape, dtype, endpoint=True)


def slide(x: np.ndarray, w: np.ndarray, groups: int, strides: tuple[int, int]) -> np.ndarray:
    """Returns a convolution of padded integers in two dims."""
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int64), w.shape[2:], (2, 3))
    windows = windows[:, :, ::strides[0], ::strides[1]]
    parts = [np.einsum("nchwij,fcij->nfhw", a, b.astype(np.int64))
             for a, b in zip(np.split(windows, groups, 1), np.split(w, groups))]
    return np.concatenate(parts, 1)


class Convolutions(unittest.TestCase):
    def test_floats(self) -> None:
        nodes = Nodes(17)
        for rank, (image, kernel) in SIZES.items():
            x = f32(2, 4, *image)
            pads, strides = [1, 0, 2][:rank] + [2, 1, 0][:rank], [2, 1, 3][:rank]
            for groups, filters in ((1, 6), (2, 6), (4, 4), (4, 8)):
                w, bias = Constant(f32(filters, 4 // groups, *kernel)), Constant(f32(filters))
                nodes.add("Conv", x, w, bias, group=groups, pads=pads, strides=strides)
                nodes.add("Conv", x, w, dynamic=True, group=groups, dilations=[2, 1, 1][:rank], auto_pad="VALID")
                nodes.add("Conv", x, w, dynamic=True, group=groups, strides=strides, auto_pad="SAME_UPPER")
                nodes.add("Conv", x, w, group=groups, strides=strides, auto_pad="SAME_LOWER")
            nodes.add("Conv", x, f32(6, 2, *kernel), f32(6), dynamic=True, group=2)
        nodes.add("Conv", f32(1, 3, 8, 7), Constant(f32(4, 3, 1, 1)), auto_pad="SAME_UPPER", strides=[2, 2])
        x, w = f32(1, 3, 5, 5), f32(2, 3, 3, 3)
        nodes.add("Conv", x.astype(np.float64), Constant(w.astype(np.float64)))
        nodes.add("Conv", x.astype(np.float16), Constant(w.astype(np.float16)), atol=0.01)
        # Negative pads, which ONNX's shape inference rejects, drop elements.
        nodes.add("Conv", x, Constant(w), pads=[-1, 1, 0, -1],
                  expected=[slide_floats(np.pad(x[:, :, 1:, :4], [(0, 0), (0, 0), (0, 0), (1, 0)]), w)])
        nodes.check()

    def test_transposed(self) -> None:
        nodes = Nodes(17)
        for rank, (image, kernel) in SIZES.items():
            x = f32(2, 4, *image)
            forms: list[dict[str, object]] = [
                {"strides": [2, 1, 2][:rank], "pads": [1, 0, 1, 0, 1, 1][:2 * rank]},
                {"strides": [3] * rank, "output_padding": [1] * rank, "dilations": [2] * rank},
                {"strides": [2] * rank, "auto_pad": "SAME_UPPER"}, {"strides": [2] * rank, "auto_pad": "SAME_LOWER"},
                {"strides": [2] * rank, "pads": [3] * (2 * rank)}, {"pads": [2] * (2 * rank)},
                {"strides": [2] * rank, "output_shape": [size * 2 for size in image]}]
            for number, form in enumerate(forms):
                groups = (1, 2, 4)[number % 3]
                w = f32(4, 1 + number % 2, *kernel)
                nodes.add("ConvTranspose", x, Constant(w), Constant(f32(w.shape[1] * groups)), group=groups,
                          dynamic=number % 2 == 0, **form)
            nodes.add("ConvTranspose", x, f32(4, 3, *kernel), group=2, strides=[2] * rank)
        nodes.check()

    def test_integers(self) -> None:
        """Unsigned or signed operands, one zero point or one per filter, pads with the zero point."""
        nodes = Nodes(17)
        for kind in ("uint8", "int8"):
            for weights in ("uint8", "int8"):
                groups = 1 if kind == weights else 2
                x, w, zero = integers(kind, 2, 4, 7, 6), integers(weights, 6, 4 // groups, 3, 3), integers(kind, 1)[0]
                padded = np.pad(x.astype(np.int32) - int(zero), ((0, 0), (0, 0), (1, 2), (0, 1)))
                for zeros in (integers(weights, 1).reshape(()), integers(weights, 6), np.zeros(6, weights)):
                    centered = w.astype(np.int32) - zeros.astype(np.int32).reshape(-1, 1, 1, 1)
                    sums = slide(padded, centered, groups, (1, 2)).astype(np.int32)
                    form = {"group": groups, "pads": [1, 0, 2, 1], "strides": [1, 2]}
                    nodes.add("ConvInteger", x, Constant(w), Constant(np.array(zero)), Constant(zeros),
                              expected=[sums], dynamic=zeros.ndim == 0, **form)
                    nodes.add("ConvInteger", x, w, np.array(zero), zeros, expected=[sums], **form)
                    self.add_quantized(nodes, x, w, zero, zeros, sums, form)
        nodes.add("ConvInteger", x, Constant(w), expected=[slide(x, w, 1, (1, 1)).astype(np.int32)])
        nodes.check()

    def add_quantized(self, nodes: Nodes, x: np.ndarray, w: np.ndarray, zero: np.generic, zeros: np.ndarray,
                      sums: np.ndarray, form: dict[str, object]) -> None:
        scale, y_scale, bias = np.float32(0.03), np.float32(0.2), RNG.integers(-999, 999, 6).astype(np.int32)
        y_zero, limits = integers(x.dtype.name, 1)[0], np.iinfo(x.dtype)
        scales = np.abs(f32(6)) / 50 if zeros.ndim else np.float32(0.01)
        by = (scale * scales / y_scale).reshape(-1, 1, 1) if zeros.ndim else scale * scales / y_scale
        wanted = np.rint((sums + bias.reshape(-1, 1, 1)).astype(np.float32) * by) + int(y_zero)
        wanted = np.clip(wanted, limits.min, limits.max).astype(x.dtype)
        given = [np.asarray(each) for each in (scale, zero, w, scales, zeros, y_scale, y_zero, bias)]
        nodes.add("QLinearConv", x, *map(Constant, given), expected=[wanted], dynamic=zeros.ndim > 0, steps=1, **form)
        nodes.add("QLinearConv", x, *given, expected=[wanted], steps=1, **form)

    def test_fused(self) -> None:
        nodes, x, w = Nodes(17), f32(1, 3, 5, 5), f32(2, 3, 3, 3)
        for activation, parameters in (("Relu", []), ("LeakyRelu", [0.2]), ("HardSigmoid", [0.2, 0.5]),
                                       ("Clip", [-1.0, 1.0]), ("Tanh", []), ("Sigmoid", [])):
            nodes.add("FusedConv", x, Constant(w), Constant(f32(2)), domain="com.microsoft", activation=activation,
                      activation_params=parameters or None)
        nodes.add("FusedConv", x, Constant(w), None, f32(1, 2, 3, 3), domain="com.microsoft", activation="Relu")
        nodes.check()


def slide_floats(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    return np.einsum("nchwij,fcij->nfhw", windows, w)


if __name__ == "__main__":
    unittest.main()
