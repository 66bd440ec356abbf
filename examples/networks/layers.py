"""Layers of convolutional networks; activations are NCHW, filters OIHW."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .ops import LOWEST, SUM_ELEMENT, Ops
from .text import Value
from .weights import Weight

# One number for height and width, or one for each.
Pair = int | tuple[int, int]
# The padding of all sides, of height and width, or (low, high) of each.
Padding = int | tuple[int, int] | tuple[tuple[int, int], tuple[int, int]]


def pair(value: Pair) -> tuple[int, int]:
    return value if isinstance(value, tuple) else (value, value)


def same_padding(x: Value, kernel: int, stride: int) -> Padding:
    """Returns the padding that maps an extent n to ceil(n / stride), with the larger half at the end."""
    totals = [max(0, (-(-n // stride) - 1) * stride + kernel - n) for n in x.shape[2:]]
    return tuple((total // 2, total - total // 2) for total in totals)


class Layers(Ops):
    bn_mode: str = "folded"

    # ----------------------------------------------------------------- windows

    def _window(self, operation: str, layer: str, x: Value, window: Value, channels: int,
                kernel: Pair, stride: Pair, start: float, element: str) -> Value:
        """Appends a named op with a sliding window over height and width; the result has element type `element` and is
        initialized with `start`."""
        (kh, kw), (sh, sw) = pair(kernel), pair(stride)
        h, w = (x.shape[2] - kh) // sh + 1, (x.shape[3] - kw) // sw + 1
        if h <= 0 or w <= 0:
            raise ValueError(f"{self.path(layer)}: a window of {kh}x{kw} does not fit into "
                             f"{x.shape[2]}x{x.shape[3]}; take a larger image")
        strides = f"{sh}" if sh == sw else f"[{sh}, {sw}]"
        init = self.filled(layer, (x.shape[0], channels, h, w), start, element)
        return self.named(operation, [x, window], init, layer,
                          f" {{dilations = dense<1> : vector<2xi64>, "
                          f"strides = dense<{strides}> : vector<2xi64>}}")

    def padded(self, layer: str, x: Value, padding: Padding, number: float = 0.0) -> Value:
        top, left = (pair(side) for side in pair(padding))
        return self.pad(layer, x, (0, 0, top[0], left[0]), (0, 0, top[1], left[1]), number)

    def filter(self, name: str, channels: int, x: Value, kernel: Pair, gain: float,
               depthwise: bool = False) -> Weight:
        """Returns a filter whose variance is `gain` / fan-in: 2 if a ReLU follows, 1 otherwise."""
        kh, kw = pair(kernel)
        if depthwise and channels != x.shape[1]:
            raise ValueError(f"{name}: a depthwise convolution keeps the {x.shape[1]} channels")
        fan_in = kh * kw * (1 if depthwise else x.shape[1])
        shape = (channels, kh, kw) if depthwise else (channels, x.shape[1], kh, kw)
        return self.normal(name + ".weight", shape, math.sqrt(gain / fan_in))

    def conv_with(self, x: Value, weight: Value, name: str, stride: Pair = 1,
                  padding: Padding = 0) -> Value:
        """Appends a convolution with an existing filter; a filter of rank 3 is depthwise."""
        depthwise = weight.rank == 3
        operation = "depthwise_conv_2d_nchw_chw" if depthwise else "conv_2d_nchw_fchw"
        return self._window(operation, name, self.padded(name, x, padding), weight,
                            weight.shape[0], weight.shape[-2:], stride, 0.0,
                            SUM_ELEMENT[x.element])

    def conv(self, x: Value, channels: int, kernel: Pair, name: str, stride: Pair = 1,
             padding: Padding = 0, depthwise: bool = False, bias: bool = False, gain: float = 2.0,
             scale: Weight | None = None, shift: Weight | None = None) -> Value:
        """Appends a convolution. `scale` and `shift` per output channel (a folded batch norm) are multiplied into the
        weights and added as bias."""
        weight = self.filter(name, channels, x, kernel, gain, depthwise)
        if scale is not None:
            weight = weight.scaled(scale)
        y = self.conv_with(x, self.weight(weight), name, stride, padding)
        if bias:
            shift = self.normal(name + ".bias", (channels,), 0.1)
        if shift is None:
            return y
        added = replace(shift, name=self.full_path(name + ".bias"))
        return self.add_bias(y, self.weight(added), name + ".add")

    def conv_bn(self, x: Value, channels: int, kernel: Pair, conv_name: str = "conv",
                bn_name: str = "bn", branch_gain: float = 1.0, bias: bool = False,
                **conv) -> Value:
        """Appends a convolution and its batch norm, folded or as separate ops with the same numbers."""
        if self.bn_mode == "unfolded":
            return self.bn(self.conv(x, channels, kernel, conv_name, bias=bias, **conv), bn_name,
                           branch_gain)
        scale, shift = self._bn_weights(channels, bn_name, branch_gain)
        if bias:
            shift = shift.plus(self.normal(conv_name + ".bias", (channels,), 0.1).scaled(scale))
        return self.conv(x, channels, kernel, conv_name, scale=scale, shift=shift, **conv)

    def _bn_weights(self, channels: int, name: str, gain: float) -> tuple[Weight, Weight]:
        return (self.uniform(name + ".scale", (channels,), 0.8 * gain, 1.2 * gain),
                self.normal(name + ".shift", (channels,), 0.1))

    def bn(self, x: Value, name: str, branch_gain: float = 1.0) -> Value:
        """Appends a scale and a shift per channel as an op."""
        scale, shift = map(self.weight, self._bn_weights(x.shape[1], name, branch_gain))
        return self.pointwise(name, [x, (scale, (1,)), (shift, (1,))],
                              lambda s, a, scale, shift: s.add(s.mul(a, scale), shift))

    def add_bias(self, x: Value, bias: Value, name: str, dim: int = 1) -> Value:
        return self.pointwise(name, [x, (bias, (dim,))], lambda s, a, b: s.add(a, b))

    def max_pool(self, x: Value, kernel: int, stride: int, padding: Padding, name: str) -> Value:
        x = self.padded(name, x, padding, LOWEST[x.element])
        window = self.empty(name + ".window", (kernel, kernel), x.element)
        return self._window("pooling_nchw_max", name, x, window, x.shape[1], kernel, stride,
                            LOWEST[x.element], x.element)

    def average_pool(self, x: Value, kernel: Pair, stride: Pair, name: str,
                     padding: Padding = 0) -> Value:
        """Appends an average pooling; padding counts as zeros."""
        x = self.padded(name, x, padding)
        window = self.empty(name + ".window", pair(kernel), x.element)
        total = self._window("pooling_nchw_sum", name + ".sum", x, window, x.shape[1], kernel,
                             stride, 0.0, SUM_ELEMENT[x.element])
        return self._divided(name, total, math.prod(pair(kernel)))

    def _divided(self, name: str, total: Value, count: int) -> Value:
        return self.pointwise(name, [total], lambda s, a: s.div(a, s.constant(float(count))))

    def global_average_pool(self, x: Value, name: str) -> Value:
        return self.average_pool(x, x.shape[2:], 1, name)

    def upsample(self, x: Value, factor: int, name: str, gather: bool = False) -> Value:
        """Repeats each pixel `factor` x `factor` times, by an affine read or a gather."""
        n, c, h, w = x.shape
        shape = (n, c, h * factor, w * factor)
        if not gather:
            near = (0, 1, f"d2 floordiv {factor}", f"d3 floordiv {factor}")
            return self.pointwise(name, [(x, near)], lambda s, a: a, shape)

        def read(s, *_):
            scale = self.index(factor)
            at = [s.index(0), s.index(1),
                  *(s.line(f"arith.divui {s.index(d)}, {scale} : index") for d in (2, 3))]
            return s.line(f"tensor.extract {x.name}[{', '.join(at)}] : {x.type}")

        return self.pointwise(name, [], read, shape)

    def upconv(self, x: Value, channels: int, name: str) -> Value:
        """Appends a transposed 2x2 convolution with stride 2: zeros between the pixels, then a convolution with the
        flipped filter."""
        n, c, h, w = x.shape
        zeros = self.filled(name + ".zeros", (n, c, 2 * h + 1, 2 * w + 1), 0.0)
        spread = self.insert(name + ".spread", x, zeros, (0, 0, 1, 1), x.shape, (1, 1, 2, 2))
        weight = self.normal(name + ".weight", (channels, c, 2, 2), math.sqrt(1 / c))
        y = self.conv_with(spread, self.weight(weight), name)
        bias = self.normal(name + ".bias", (channels,), 0.1)
        return self.add_bias(y, self.weight(bias), name + ".add")

    # ------------------------------------------------------------- activations

    def relu(self, x: Value, name: str) -> Value:
        return self.pointwise(name, [x], lambda s, a: s.max(a, s.constant(0.0)))

    def relu6(self, x: Value, name: str) -> Value:
        return self.pointwise(name, [x], lambda s, a: s.min(s.max(a, s.constant(0.0)),
                                                            s.constant(6.0)))

    def sigmoid(self, x: Value, name: str) -> Value:
        return self.pointwise(name, [x], lambda s, a: s.div(
            s.constant(1.0), s.add(s.constant(1.0), s.exp(s.op("arith.negf", a)))))

    def silu(self, x: Value, name: str) -> Value:
        return self.elementwise("mul", name, x, self.sigmoid(x, name + ".sigmoid"))

    def add(self, x: Value, y: Value, name: str) -> Value:
        if x.shape != y.shape:
            raise ValueError(f"{name}: cannot add {x.shape} and {y.shape}")
        return self.pointwise(name, [x, y], lambda s, a, b: s.add(a, b))

    def excite(self, x: Value, squeezed: int, name: str) -> Value:
        """Appends a squeeze and excitation: scales each channel by a factor computed from the means of all channels."""
        h, w = x.shape[2:]
        with self.scope(name):
            total = self.sum_of("sum", [x], (2, 3), lambda s, a: a)
            mean = self.pointwise("mean", [total],
                                  lambda s, a: s.div(a, s.constant(float(h * w))))
            y = self.expand("pooled", mean, [x.shape[0]], [x.shape[1], 1, 1])
            y = self.silu(self.conv(y, squeezed, 1, "reduce", bias=True), "silu")
            y = self.conv(y, x.shape[1], 1, "expand", bias=True, gain=1.0)
            gate = self.sigmoid(y, "gate")
            return self.pointwise("scaled", [x, (gate, (0, 1, None, None))],
                                  lambda s, a, b: s.mul(a, b))

    # ------------------------------------------------------------------- dense

    def flatten(self, x: Value, name: str) -> Value:
        return self.collapse(name, x, [[0], [1, 2, 3]])

    def linear(self, x: Value, features: int, name: str, bias: bool = True, gain: float = 1.0,
               transposed: bool = False) -> Value:
        """Appends a product over the last dim. `transposed` weights are [out, in], as in many checkpoints."""
        k = x.shape[-1]
        lead: Sequence = x.shape[:-1]
        rows = x if x.rank == 2 else self.collapse(
            name + ".rows", x, [list(range(x.rank - 1)), [x.rank - 1]])
        shape = (features, k) if transposed else (k, features)
        weight = self.weight(self.normal(name + ".weight", shape, np.sqrt(gain / k)))
        if transposed:
            weight = self.transpose(name + ".weight_t", weight, (1, 0))
        y = self.matmul(name, rows, weight)
        if bias:
            shift = self.weight(self.normal(name + ".bias", (features,), 0.1))
            y = self.add_bias(y, shift, name + ".add")
        return y if x.rank == 2 else self.expand(name + ".split", y, lead, [features])
