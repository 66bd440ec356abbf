"""Fourier transforms, windows and mel filters."""

from __future__ import annotations

import functools
import math

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BY_CODE, F32, F64, Element
from layout_mlir.onnx_import.fourier import Transform, inverse_table_array, transform
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.regions import choose
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, is_static, product
from layout_mlir.onnx_import.values import Scalar, Tensor, Value


def _size(b: Builder, value: Tensor) -> Size:
    return b.size_of(b.reshape(value, [1]))


def _computed(element: Element) -> Element:
    """Returns the element type in which a transform is computed."""
    return element if element is F64 else F32


# ------------------------------------------------------------------------------- transforms


@operator("DFT")
def dft(b: Builder, node: Node, x: Tensor, length: Tensor | None = None, axis: Tensor | None = None) -> Tensor:
    if node.opset < 20:
        return _dft_along(b, node, x, length, node.axis(1, x.rank))
    if axis is None or axis.known_integers() is not None:
        return _dft_along(b, node, x, length, (node.integers("axis", 2, [-2]) or [-2])[0] % x.rank)
    place = _size(b, axis)
    s, chosen = b.scalars, Scalar(b.size(b.choose("slt", place, 0, place + x.rank, place)), None)

    def among(first: int) -> list[Value]:
        """Returns the transform along the dynamic axis, which is at least `first`."""
        if first == x.rank - 2:
            b.check(s.equal(chosen, first).name, "the axis is out of range")
            return [_dft_along(b, node, x, length, first)]
        return choose(b, s.equal(chosen, first), lambda: [_dft_along(b, node, x, length, first)],
                      lambda: among(first + 1))

    made = among(0)[0]
    assert isinstance(made, Tensor)
    return made


def _dft_along(b: Builder, node: Node, x: Tensor, length: Tensor | None, place: int) -> Tensor:
    if place == x.rank - 1 or x.shape[-1] not in (1, 2):
        node.refuse("its last dim, of real and imaginary parts, must have 1 or 2 elements and must not be transformed")
    inverse, onesided = bool(node.attribute("inverse", 0)), bool(node.attribute("onesided", 0))
    to_real, last = inverse and onesided, 2 * (x.shape[place] - 1)
    count = _size(b, length) if length is not None else last if to_real else x.shape[place]
    if onesided and not inverse and x.shape[-1] == 2:
        node.refuse("a signal of complex numbers has no one-sided transform")
    # The transformed dim is moved before the real and imaginary parts.
    order = [*(dim for dim in range(x.rank - 1) if dim != place), place, x.rank - 1]
    moved = b.transpose(b.cast(x, _computed(x.element)), order)
    made = _inverse_real(b, node, moved, count) if to_real else _transform(b, moved, count, inverse, onesided)
    return b.cast(b.transpose(made, [order.index(dim) for dim in range(x.rank)]), x.element)


def _first(b: Builder, x: Tensor, used: Size) -> Tensor:
    """Returns the first `used` elements of the second-to-last dim, as rows of a matrix."""
    lead, parts = x.shape[:-2], x.shape[-1]
    return b.reshape(b.slice(x, [0] * x.rank, [*lead, used, parts]), [product(lead), used * parts])


def _transform(b: Builder, x: Tensor, count: Size, inverse: bool, onesided: bool) -> Tensor:
    used, parts = b.minimum(x.shape[-2], count), x.shape[-1]
    assert is_static(parts)
    bins = b.floor_divide(count, 2) + 1 if onesided else count
    made = transform(b, _first(b, x, used), Transform(count, parts, inverse), used, bins)
    return b.reshape(made, [*x.shape[:-2], bins, 2])


def _inverse_real(b: Builder, node: Node, x: Tensor, count: Size) -> Tensor:
    if not is_static(count) or x.shape[-1] != 2:
        node.refuse("the length of its real result is unknown at import")
    used = b.minimum(x.shape[-2], count // 2 + 1)
    if not is_static(used):
        node.refuse("the number of frequencies is unknown at import")
    table = b.constant(inverse_table_array(count, used), x.element)
    return b.reshape(b.matmul(_first(b, x, used), table), [*x.shape[:-2], count, 1])


@operator("STFT")
def stft(b: Builder, node: Node, signal: Tensor, step: Tensor, window: Tensor | None = None,
         length: Tensor | None = None) -> Tensor:
    if signal.rank == 2:
        signal = b.unsqueeze(signal, [2])
    batch, samples, parts = signal.shape
    hop = _size(b, step)
    count = _size(b, length) if length is not None else window.shape[0] if window is not None else samples
    onesided = bool(node.attribute("onesided", 1))
    if not is_static(parts) or parts not in (1, 2):
        node.refuse("the dim of real and imaginary parts must have 1 or 2 elements")
    if onesided and parts == 2:
        node.refuse("a signal of complex numbers has no one-sided transform")
    element = _computed(signal.element)
    frames = b.floor_divide(samples - count, hop) + 1
    bins = b.floor_divide(count, 2) + 1 if onesided else count
    rows = b.reshape(_frames(b, b.cast(signal, element), window, hop, [batch, frames, count, parts]),
                     [batch * frames, count * parts])
    made = transform(b, rows, Transform(count, parts), count, bins)
    return b.cast(b.reshape(made, [batch, frames, bins, 2]), signal.element)


def _frames(b: Builder, signal: Tensor, window: Tensor | None, hop: Size, shape: list[Size]) -> Tensor:
    """Returns overlapping frames of a signal, multiplied by the window."""
    def body(s: Scalars, n: Scalar, frame: Scalar, sample: Scalar, part: Scalar, *factors: Scalar) -> Scalar:
        x = b.extract(s, signal, [n, s.add(s.mul(frame, Scalar(b.size(hop), None)), sample), part])
        return s.mul(x, s.cast(factors[0], x.element)) if factors else x

    return b.make(body, shape, signal.element, [] if window is None else [(window, "d2")])


# ---------------------------------------------------------------------------------- windows


def _window(b: Builder, node: Node, size: Tensor, factors: list[float]) -> Tensor:
    """Returns the window sum over i of factors[i] * cos(2 * pi * i * n / N)."""
    code = int(node.attribute("output_datatype", F32.code))
    if code not in BY_CODE or not (BY_CODE[code].is_float or BY_CODE[code].is_integer):
        node.refuse(f"elements of type {code} are not numbers")
    element = BY_CODE[code]
    count = _size(b, size)
    period = count if node.attribute("periodic", 1) else count - 1

    def body(s: Scalars, n: Scalar) -> Scalar:
        phase = s.div(s.cast(n, F64), s.cast(Scalar(b.size(period), None), F64))
        waves = [s.mul(s.unary("math.cos", s.mul(phase, 2 * math.pi * number)), factor)
                 for number, factor in enumerate(factors[1:], 1)]
        # The constant is added last, so that the center of a window is exactly 1.
        return s.cast(s.add(functools.reduce(s.add, waves), factors[0]), element)

    return b.make(body, [count], element)


@operator("HannWindow")
def hann_window(b: Builder, node: Node, size: Tensor) -> Tensor:
    return _window(b, node, size, [0.5, -0.5])


@operator("HammingWindow")
def hamming_window(b: Builder, node: Node, size: Tensor) -> Tensor:
    return _window(b, node, size, [25 / 46, -21 / 46])


@operator("BlackmanWindow")
def blackman_window(b: Builder, node: Node, size: Tensor) -> Tensor:
    return _window(b, node, size, [0.42, -0.5, 0.08])


# -------------------------------------------------------------------------------------- mel


@operator("MelWeightMatrix")
def mel_weight_matrix(b: Builder, node: Node, bins: Tensor, length: Tensor, rate: Tensor, low: Tensor,
                      high: Tensor) -> Tensor:
    """Imports MelWeightMatrix: triangular filters between frequencies equally spaced on the mel scale."""
    element = BY_CODE[int(node.attribute("output_datatype", F32.code))]
    count, samples = _size(b, bins), _size(b, length)
    to_mel = [b.elementwise(lambda s, x: s.mul(s.unary("math.log1p", s.div(s.cast(x, F64), 700)),
                                               2595 / math.log(10)), b.reshape(each, []), element=F64)
              for each in (low, high)]

    def edge(s: Scalars, number: Scalar, first: Scalar, last: Scalar, rate: Scalar) -> Scalar:
        """Returns the frequency bin at which a triangle starts."""
        step = s.div(s.sub(last, first), s.cast(Scalar(b.size(count + 2), None), F64))
        mel = s.add(s.mul(s.cast(number, F64), step), first)
        hertz = s.mul(s.unary("math.expm1", s.mul(mel, math.log(10) / 2595)), 700)
        return s.floor(s.div(s.mul(hertz, s.cast(Scalar(b.size(samples + 1), None), F64)), s.cast(rate, F64)))

    inputs = [(to_mel[0], ""), (to_mel[1], ""), (b.reshape(rate, []), "")]
    edges = b.make(edge, [count + 2], F64, inputs)

    def body(s: Scalars, frequency: Scalar, number: Scalar) -> Scalar:
        here = s.cast(frequency, F64)
        left, center, right = (b.extract(s, edges, [s.add(number, offset)]) for offset in range(3))
        rising = s.div(s.sub(here, left), s.sub(center, left))
        falling = s.div(s.sub(right, here), s.sub(right, center))
        is_flat = s.equal(left, center)
        rises = s.bit_and(s.compare("ge", here, left), s.compare("le", here, center))
        falls = s.bit_and(s.compare("ge", here, center), s.less(here, right))
        start = s.select(s.bit_and(is_flat, s.equal(here, center)), s.constant(1, F64),
                         s.select(s.bit_and(rises, s.invert(is_flat)), rising, 0))
        return s.cast(s.select(falls, falling, start), element)

    return b.make(body, [b.floor_divide(samples, 2) + 1, count], element)
