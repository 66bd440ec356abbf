"""Discrete Fourier transforms as matmuls with tables of cosines and sines.

Rows of the left matrix hold interleaved real and imaginary parts of a signal, so that one matmul with a table [2 *
signal, 2 * frequency] transforms all rows. A long transform of composite length n = a * b is split recursively into
short ones with twiddle factors between them, in O(n * (a + b)) operations.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import Element
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, is_static
from layout_mlir.onnx_import.values import Scalar, Tensor

# The longest transform that is one matmul; longer ones are split if their length is composite.
_MOST_AT_ONCE = 128
# The limit for the elements of a constant table; larger tables are computed at run time.
_MOST_CONSTANT = 1 << 20


@dataclasses.dataclass(frozen=True)
class Transform:
    """A transform of `length` elements. `parts` is 1 for real signals and 2 for complex ones. `sign` is that of the
    exponent."""
    length: Size
    parts: int
    inverse: bool = False

    @property
    def sign(self) -> int:
        return 1 if self.inverse else -1


def table_array(t: Transform, used: int, bins: int) -> NDArray[Any]:
    """Returns the table [used * parts, bins * 2] of a transform of static length, from the first `used` elements of a
    signal to the first `bins` frequencies."""
    assert is_static(t.length)
    phases = np.outer(np.arange(used), np.arange(bins)) % t.length
    waves = np.exp(t.sign * 2j * np.pi * phases / t.length) / (t.length if t.inverse else 1)
    rows = np.stack([waves, 1j * waves], 1)[:, :t.parts]
    return np.stack([rows.real, rows.imag], -1).reshape(used * t.parts, bins * 2)


def inverse_table_array(length: int, used: int) -> NDArray[Any]:
    """Returns the table [used * 2, length] that computes a real signal from its first `used` frequencies. The others
    follow from these by symmetry."""
    place = np.arange(used)
    weight = np.where((place == 0) | (2 * place == length), 1, 2)[:, None] / length
    waves = weight * np.exp(2j * np.pi * (np.outer(place, np.arange(length)) % length) / length)
    return np.stack([waves.real, -waves.imag], 1).reshape(used * 2, length)


def make_table(b: Builder, t: Transform, used: Size, bins: Size, element: Element) -> Tensor:
    """Returns the table of a transform, computed at run time if its sizes are dynamic or large."""
    if is_static(t.length) and is_static(used) and is_static(bins) and used * bins * t.parts * 2 <= _MOST_CONSTANT:
        return b.constant(table_array(t, used, bins), element)

    def body(s: Scalars, row: Scalar, column: Scalar) -> Scalar:
        length = Scalar(b.size(t.length), None)
        n, part = s.div(row, t.parts), s.rem(row, t.parts)
        k, result = s.div(column, 2), s.rem(column, 2)
        phases = s.cast(s.rem(s.mul(n, k), length), element)
        angle = s.mul(phases, s.div(2 * math.pi * t.sign, s.cast(length, element)))
        cosine, sine = s.unary("math.cos", angle), s.unary("math.sin", angle)
        # The imaginary part contributes i * wave, i.e. -sine to the real result.
        imaginary = s.select(s.equal(part, 0), sine, s.neg(sine))
        wave = s.select(s.equal(part, result), cosine, imaginary)
        return s.div(wave, s.cast(length, element)) if t.inverse else wave

    return b.make(body, [used * t.parts, bins * 2], element)


def transform(b: Builder, rows: Tensor, t: Transform, used: Size, bins: Size) -> Tensor:
    """Returns `bins` frequencies [rows, bins, 2] of signals [rows, used * parts]; signals are zero beyond `used`
    elements."""
    length = t.length
    factor = find_factor(length) if is_static(length) and used == length else None
    if factor is None:
        made = b.matmul(rows, make_table(b, t, used, bins, rows.element))
        return b.reshape(made, [rows.shape[0], bins, 2])
    assert is_static(length)
    whole = _split(b, rows, t, length, factor)
    return b.slice(whole, [0, 0, 0], [rows.shape[0], bins, 2])


def find_factor(length: int) -> int | None:
    """Returns the largest divisor up to the square root, or None if the transform is not split."""
    if length <= _MOST_AT_ONCE:
        return None
    return next((each for each in range(math.isqrt(length), 1, -1) if length % each == 0), None)


def _split(b: Builder, rows: Tensor, t: Transform, length: int, a: int) -> Tensor:
    """Returns all frequencies of a transform of a * c elements.

    With n = c * n1 + n2 and k = k1 + a * k2, these are transforms over n1 for each n2, twiddle factors of n2 * k1, and
    transforms over n2 for each k1.
    """
    count, c = rows.shape[0], length // a
    signal = b.transpose(b.reshape(rows, [count, a, c, t.parts]), [0, 2, 1, 3])
    first = transform(b, b.reshape(signal, [count * c, a * t.parts]), Transform(a, t.parts, t.inverse), a, a)
    twiddles = np.exp(t.sign * 2j * np.pi * np.outer(np.arange(c), np.arange(a)) / length)
    turned = _multiply(b, b.reshape(first, [count, c, a, 2]), b.constant(twiddles.real, rows.element),
                       b.constant(twiddles.imag, rows.element))
    second = transform(b, b.reshape(turned, [count * a, c * 2]), Transform(c, 2, t.inverse), c, c)
    return b.reshape(b.transpose(b.reshape(second, [count, a, c, 2]), [0, 2, 1, 3]), [count, length, 2])


def _multiply(b: Builder, x: Tensor, real: Tensor, imaginary: Tensor) -> Tensor:
    """Returns complex products [count, a, c, 2] of x [count, c, a, 2] by factors [c, a]."""
    count, c, a, _ = x.shape
    parts = [b.slice(x, [0, 0, 0, part], [count, c, a, 1]) for part in range(2)]

    def body(s: Scalars, p: Scalar, q: Scalar, u: Scalar, v: Scalar, _: Scalar) -> Scalar:
        is_real = s.equal(b.index(s, 3), 0)
        straight, crossed = s.select(is_real, p, q), s.select(is_real, s.neg(q), p)
        return s.add(s.mul(straight, u), s.mul(crossed, v))

    inputs = [(part, "d0, d2, d1, 0") for part in parts] + [(real, "d2, d1"), (imaginary, "d2, d1")]
    into = b.empty([count, a, c, 2], x.element)
    return b.generic(body, inputs, [(into, "d0, d1, d2, d3")], ["parallel"] * 4)[0]
