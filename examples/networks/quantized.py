"""Integer networks, as post-training quantization produces them from f32 networks.

An activation is an i8 that represents its value times 2^-bits. `bits` is derived from the expected mean square, so that
activations neither saturate nor vanish. A weight is i8 with its own unit. A layer sums products as i32, adds an i32
bias in units of the products, and requantizes to i8 in one op:

    clamp(((sum + bias) * multiplier + 2^(SHIFT - 1)) >> SHIFT, low, high)

with a 64-bit product and an i32 multiplier per channel. A following activation determines low and high, so the op is
only written when its consumer is known. Without floats, every correct implementation returns the same bits.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from . import weights as w
from .builder import Builder
from .layers import Pair, Padding, pair
from .text import Dim, Scalars, Value
from .weights import Weight

SHIFT = 24
LOW, HIGH = -128, 127
INPUT_BITS = 5
# The range before a relu6 is known: 6 is represented by 96.
RELU6_BITS = 4
# The minimal number of standard deviations in the range of activations and weights.
ACTIVATION_RANGE = 4.0
WEIGHT_RANGE = 4.0
# The mean square of the maximum of several positive neighbors, relative to that of each.
MAX_POWER = 5.0
# The growth of the mean square with each residual block.
BLOCK_GROWTH = 1.25


@dataclass(frozen=True)
class Fixed(Value):
    """An i8 activation that represents its value times 2^-bits; `power` is the expected mean square of the represented
    value."""

    bits: int = 0
    power: float = 1.0


@dataclass
class Sums:
    """A sum that is not yet i8. `power` is its expected mean square, `rectified` that after a ReLU; `bits` is None
    unless it is determined already. `write(layer, bits, low, high)` appends the requantization, whose result is stored
    in `value`."""

    shape: tuple[Dim, ...]
    power: float
    rectified: float
    bits: int | None
    layer: str
    write: Callable[[str, int, int, int], Value]
    value: Fixed | None = None


def fitting_bits(power: float) -> int:
    """Returns the number of bits that leaves a range of ACTIVATION_RANGE standard deviations."""
    return math.floor(math.log2(HIGH / (ACTIVATION_RANGE * math.sqrt(power))))


def relu6_power(power: float) -> float:
    """Returns the mean square of a normal distribution with mean 0, clamped to 0 .. 6."""
    end = 6 / math.sqrt(power)
    below = math.erf(end / math.sqrt(2)) / 2
    density = math.exp(-end * end / 2) / math.sqrt(2 * math.pi)
    return power * (below - end * density) + 36 * (0.5 - below)


def covered(extent: int, kernel: int, stride: int, low: int, high: int) -> float:
    """Returns the share of window positions that are inside the image and not in its padding."""
    starts = np.arange(0, extent + low + high - kernel + 1, stride) - low
    places = starts[:, None] + np.arange(kernel)
    return float(((places >= 0) & (places < extent)).mean())


class IntegerBuilder(Builder):
    """Writes the networks that have --element. Layers that these do not use are not integer layers."""

    # ------------------------------------------------------------ from sums to i8

    def _settled(self, x: Fixed | Sums, bits: int | None = None) -> Fixed:
        """Returns x as i8 without an activation. `bits` is used if x does not determine its own."""
        if isinstance(x, Fixed):
            return x
        if x.value is None:
            bits = next(b for b in (x.bits, bits, fitting_bits(x.power)) if b is not None)
            self._settle(x, x.layer, bits, LOW, HIGH, x.power)
        return x.value

    def _settle(self, x: Sums, layer: str, bits: int, low: int, high: int, power: float) -> Fixed:
        value = x.write(layer, bits, low, high)
        x.value = Fixed(value.name, value.shape, value.element, bits, power)
        return x.value

    def _activated(self, x: Sums, layer: str, bits: int, high: int, power: float) -> Fixed:
        if x.value is not None:
            raise ValueError(f"{self.path(layer)}: the sums before it have become i8 already")
        return self._settle(x, layer, bits, 0, high, power)

    def _clamped(self, s: Scalars, number: str, low: int, high: int, element: str) -> str:
        """Clamps and truncates the number to i8."""
        for operation, limit in ("max", low), ("min", high):
            number = s.op(f"arith.{operation}si", number, s.constant(limit, element),
                          element=element)
        return s.line(f"arith.trunci {number} : {element} to i8")

    def _requantized(self, layer: str, sums: Value, bias: Value, multiplier: Value, low: int,
                     high: int) -> Value:
        def body(s: Scalars, a: str, b: str, m: str) -> str:
            biased = s.op("arith.addi", a, b, element="i32")
            factors = [s.line(f"arith.extsi {i32} : i32 to i64") for i32 in (biased, m)]
            half = s.constant(1 << (SHIFT - 1), "i64")
            product = s.op("arith.muli", *factors, element="i64")
            raised = s.op("arith.addi", product, half, element="i64")
            shifted = s.op("arith.shrsi", raised, s.constant(SHIFT, "i64"), element="i64")
            return self._clamped(s, shifted, low, high, "i64")

        return self.pointwise(layer, [sums, (bias, (1,)), (multiplier, (1,))], body, element="i8")

    @contextmanager
    def _at(self, scope: list[str]) -> Iterator[None]:
        """Names layers as in another scope of the function."""
        outer, self._scope = self._scope, scope
        yield
        self._scope = outer

    # ---------------------------------------------------------------- the layers

    def _quantized(self, weight: Weight, fan_in: int) -> tuple[Weight, float]:
        """Returns a normally distributed weight as i8, and its unit."""
        if fan_in * LOW * -HIGH >= 2 ** 31:
            raise ValueError(f"{weight.name}: sums of {fan_in} products do not fit i32")
        unit = WEIGHT_RANGE * weight.size / HIGH
        return w.integers(weight.name, weight.shape, "i8", weight.size / unit,
                          lambda: weight.draw() / unit), unit

    def input(self, name: str, shape: Sequence[Dim]) -> Fixed:
        value = self._argument(name, shape, "i8", lambda extents: w.rounded(
            w.draw_normal(self.seed, name, extents, 1.0) * 2 ** INPUT_BITS, "i8"))
        return Fixed(value.name, value.shape, value.element, INPUT_BITS, 1.0)

    def output(self, *values: Fixed | Sums | Value) -> None:
        super().output(*(self._settled(v) if isinstance(v, Sums) else v for v in values))

    def chain(self, label: str, blocks: Sequence[str], x: Fixed | Sums, body: Callable,
              shared: Sequence[Value] = ()) -> Fixed:
        """Blocks take and return i8 activations, because sums do not cross function boundaries."""
        x = self._settled(x)
        y = super().chain(label, blocks, x, lambda *each: self._settled(body(*each)), shared)
        residual = y.shape == x.shape and y.bits == x.bits
        return replace(y, power=y.power * BLOCK_GROWTH ** len(blocks)) if residual else y

    def conv_bn(self, x: Fixed | Sums, channels: int, kernel: Pair, conv_name: str = "conv",
                bn_name: str = "bn", branch_gain: float = 1.0, stride: Pair = 1,
                padding: Padding = 0, depthwise: bool = False, gain: float = 2.0) -> Sums:
        """The scale of the norm is part of the multipliers, its shift is the bias."""
        x = self._settled(x)
        real = self.filter(conv_name, channels, x, kernel, gain, depthwise)
        fan_in = math.prod(real.shape[1:])
        weight, unit = self._quantized(real, fan_in)
        y = self.conv_with(x, self.weight(weight), conv_name, stride, padding)
        scale, shift = self._bn_weights(channels, bn_name, branch_gain)
        seen = math.prod(covered(*each) for each in zip(
            x.shape[2:], pair(kernel), pair(stride), *zip(*map(pair, pair(padding)))))
        power = x.power * real.size ** 2 * fan_in * seen * scale.size ** 2 + shift.size ** 2
        product = unit * 2.0 ** -x.bits  # unit of the sums, before the scale
        scope = list(self._scope)

        def write(layer: str, bits: int, low: int, high: int) -> Value:
            factor = product * 2.0 ** (SHIFT + bits)
            with self._at(scope):
                bias = self.weight(w.integers(
                    self.full_path(conv_name + ".bias"), shift.shape, "i32",
                    shift.size / (product * scale.size),
                    lambda: shift.draw() / (scale.draw() * product)))
                multiplier = self.weight(w.integers(
                    self.full_path(conv_name + ".multiplier"), scale.shape, "i32",
                    scale.size * factor, lambda: scale.draw() * factor))
                return self._requantized(layer, y, bias, multiplier, low, high)

        return Sums(y.shape, power, power / 2, None, conv_name + ".requantize", write)

    def relu(self, x: Sums, name: str) -> Fixed:
        bits = fitting_bits(x.power) if x.bits is None else x.bits
        return self._activated(x, name, bits, HIGH, x.rectified)

    def relu6(self, x: Sums, name: str) -> Fixed:
        bits = RELU6_BITS if x.bits is None else x.bits
        return self._activated(x, name, bits, min(HIGH, round(6 * 2.0 ** bits)),
                               relu6_power(x.power))

    def add(self, x: Fixed | Sums, y: Fixed | Sums, name: str) -> Sums:
        """Adds operands with equal bits: those of an operand that is already i8, or bits that fit the sum."""
        if x.shape != y.shape:
            raise ValueError(f"{name}: cannot add {x.shape} and {y.shape}")
        given = [v if isinstance(v, Fixed) else v.value for v in (x, y)]
        old = next((v for v in given if v is not None), None)
        power = x.power + y.power
        bits = fitting_bits(power) if old is None else old.bits
        x, y = (self._settled(v, bits) for v in (x, y))
        if x.bits != y.bits:
            raise ValueError(f"{name}: cannot add numbers of {x.bits} and {y.bits} bits")
        scope = list(self._scope)

        def body(s: Scalars, a: str, b: str, low: int, high: int) -> str:
            wide = [s.line(f"arith.extsi {i8} : i8 to i32") for i8 in (a, b)]
            return self._clamped(s, s.op("arith.addi", *wide, element="i32"), low, high, "i32")

        def write(layer: str, _: int, low: int, high: int) -> Value:
            with self._at(scope):
                return self.pointwise(layer, [x, y], lambda s, a, b: body(s, a, b, low, high),
                                      element="i8")

        # Repeated blocks get the same bits and power, so that they can share one text.
        return Sums(x.shape, power, power / 2 if old is None else old.power, bits, name, write)

    def max_pool(self, x: Fixed | Sums, kernel: int, stride: int, padding: Padding,
                 name: str) -> Fixed:
        x = self._settled(x)
        y = super().max_pool(x, kernel, stride, padding, name)
        return Fixed(y.name, y.shape, y.element, x.bits, x.power * MAX_POWER)

    def average_pool(self, x: Fixed | Sums, kernel: Pair, stride: Pair, name: str,
                     padding: Padding = 0) -> Fixed:
        x = self._settled(x)
        y = super().average_pool(x, kernel, stride, name, padding)
        return Fixed(y.name, y.shape, y.element, x.bits, x.power)

    def _divided(self, name: str, total: Value, count: int) -> Value:
        """Rounds to the nearest integer, halves upward. The dividend is offset to be nonnegative, because a sum of
        `count` numbers is at least LOW * count."""
        def body(s: Scalars, a: str) -> str:
            raised = s.op("arith.addi", a, s.constant(-LOW * count + count // 2, "i32"),
                          element="i32")
            mean = s.op("arith.divui", raised, s.constant(count, "i32"), element="i32")
            lowered = s.op("arith.addi", mean, s.constant(LOW, "i32"), element="i32")
            return s.line(f"arith.trunci {lowered} : i32 to i8")

        return self.pointwise(name, [total], body, element="i8")

    def flatten(self, x: Fixed, name: str) -> Fixed:
        y = super().flatten(x, name)
        return Fixed(y.name, y.shape, y.element, x.bits, x.power)

    def linear(self, x: Fixed, features: int, name: str, gain: float = 1.0) -> Value:
        """Appends the last layer, whose result is i32 sums with bias."""
        k = x.shape[1]
        weight, unit = self._quantized(
            self.normal(name + ".weight", (k, features), math.sqrt(gain / k)), k)
        shift = self.normal(name + ".bias", (features,), 0.1)
        product = unit * 2.0 ** -x.bits
        y = self.matmul(name, x, self.weight(weight))
        bias = self.weight(w.integers(shift.name, shift.shape, "i32", shift.size / product,
                                      lambda: shift.draw() / product))
        return self.pointwise(name + ".add", [y, (bias, (1,))],
                              lambda s, a, b: s.op("arith.addi", a, b, element="i32"),
                              element="i32")
