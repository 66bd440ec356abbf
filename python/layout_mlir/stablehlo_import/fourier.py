"""Writes Fourier transforms as products with tables of cosines and sines. A long transform of composite length n = a * b
is split recursively into short ones with twiddle factors between them, in O(n * (a + b)) operations."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.errors import ImportFailed
from layout_mlir.onnx_import.fourier import Transform, find_factor, inverse_table_array, table_array
from layout_mlir.stablehlo_import.refusals import refuse
from layout_mlir.stablehlo_import.writer import Value, Writer, element_of, shape_of, tensor_of

# The longest prime length: its table has the square of it in elements.
_MOST_PRIME = 2048

# The real and the imaginary part of a tensor; None for 0.
Complex = tuple[Value, Value | None]


class _Transforms(Writer):
    """Writes transforms of the last dim of tensors whose real and imaginary parts have `element`."""

    def __init__(self, op: Any, element: str) -> None:
        super().__init__(op)
        self.element = element

    def table(self, values: NDArray[Any]) -> Value:
        type_ = tensor_of(values.shape, self.element)
        data = np.ascontiguousarray(values, np.float32 if self.element == "f32" else np.float64).tobytes().hex()
        return self.emit(f'stablehlo.constant dense<"0x{data}"> : {type_}', type_)

    def elementwise(self, name: str, a: Value, b: Value) -> Value:
        return self.emit(f"stablehlo.{name} {a[0]}, {b[0]} : {a[1]}", a[1])

    def shaped(self, name: str, x: Value, sizes: Sequence[int | None], options: str = "") -> Value:
        type_ = tensor_of(sizes, self.element)
        return self.emit(f"stablehlo.{name} {x[0]}{options} : ({x[1]}) -> {type_}", type_)

    def transposed(self, x: Complex, order: Sequence[int]) -> Complex:
        def transpose(part: Value) -> Value:
            sizes = shape_of(part[1])
            return self.shaped("transpose", part, [sizes[dim] for dim in order], f", dims = {list(order)}")

        return self.parts(transpose, x)

    def reshaped(self, x: Complex, sizes: Sequence[int | None]) -> Complex:
        return self.parts(lambda part: self.shaped("reshape", part, sizes), x)

    @staticmethod
    def parts(write: Any, x: Complex) -> Complex:
        return write(x[0]), None if x[1] is None else write(x[1])

    def product(self, x: Value, table: NDArray[Any]) -> Value:
        sizes = shape_of(x[1])
        right = self.table(table)
        type_ = tensor_of([*sizes[:-1], table.shape[1]], self.element)
        return self.emit(f"stablehlo.dot_general {x[0]}, {right[0]}, contracting_dims = [{len(sizes) - 1}] x [0] : "
                         f"({x[1]}, {right[1]}) -> {type_}", type_)

    def multiplied(self, x: Complex, waves: NDArray[Any], multiply: Any) -> Complex:
        """Multiplies complex numbers, where `multiply` is a product of a real tensor and a real table."""
        real, imaginary = multiply(x[0], waves.real), multiply(x[0], waves.imag)
        if x[1] is None:
            return real, imaginary
        return (self.elementwise("subtract", real, multiply(x[1], waves.imag)),
                self.elementwise("add", imaginary, multiply(x[1], waves.real)))

    def twiddle(self, x: Value, values: NDArray[Any]) -> Value:
        """Multiplies the matrices of the last two dims of `x` with one matrix."""
        sizes = shape_of(x[1])
        dims = [len(sizes) - 2, len(sizes) - 1]
        return self.elementwise("multiply", x, self.shaped(
            "broadcast_in_dim", self.table(values), sizes, f", dims = {dims}"))

    def transform(self, x: Complex, inverse: bool, bins: int | None = None) -> Complex:
        """Transforms the last dim, of which the first `bins` frequencies are computed."""
        sizes = shape_of(x[0][1])
        n, rest, rank = sizes[-1] or 0, sizes[:-1], len(sizes)
        first = find_factor(n)
        if first is None:
            table = table_array(Transform(n, 1, inverse), n, n if bins is None else bins)
            return self.multiplied(x, table[:, 0::2] + 1j * table[:, 1::2], self.product)
        # Element i * second + j, frequency k + first * m.
        second = n // first
        outer, swapped = [*range(rank - 1)], [*range(rank - 1), rank, rank - 1]
        y = self.transform(self.transposed(self.reshaped(x, [*rest, first, second]), swapped), inverse)
        twiddles = np.exp((2j if inverse else -2j) * np.pi * np.outer(np.arange(second), np.arange(first)) / n)
        y = self.transposed(self.multiplied(y, twiddles, self.twiddle), swapped)
        y = self.reshaped(self.transposed(self.transform(y, inverse), [*outer, rank, rank - 1]), sizes)
        if bins is None:
            return y
        limits = ", ".join(f"0:{size}" for size in [*rest, bins])
        return self.parts(lambda part: self.shaped("slice", part, [*rest, bins], f" [{limits}]"), y)

    def along(self, x: Complex, dim: int, inverse: bool, bins: int | None = None) -> Complex:
        """Transforms a dim."""
        rank = len(shape_of(x[0][1]))
        order = [*(each for each in range(rank) if each != dim), dim]
        if dim == rank - 1:
            return self.transform(x, inverse, bins)
        y = self.transform(self.transposed(x, order), inverse, bins)
        return self.transposed(y, [order.index(each) for each in range(rank)])

    def to_real(self, x: Complex, length: int) -> Value:
        """Transforms the first frequencies of the last dim to a real signal."""
        table = inverse_table_array(length, length // 2 + 1)
        assert x[1] is not None
        return self.elementwise("add", self.product(x[0], table[0::2]), self.product(x[1], table[1::2]))


def _check(op: Any, lengths: Sequence[int]) -> None:
    def refused(reason: str) -> ImportFailed:
        return refuse(op.name, str(op.location), reason)

    if any(size is None for size in shape_of(str(op.operands[0].type))):
        raise refused("a size of its operand is dynamic")
    for length in lengths:
        largest, rest = 1, length
        for factor in range(2, math.isqrt(length) + 1):
            while rest % factor == 0:
                largest, rest = factor, rest // factor
        if max(largest, rest) > _MOST_PRIME:
            raise refused(f"the length {length} has a prime factor above {_MOST_PRIME}")


def write_fft(op: Any) -> None:
    """Replaces a stablehlo.fft by products. Raises ImportFailed for dynamic sizes and long prime lengths."""
    kind = re.findall(r"\w+", str(op.attributes["fft_type"]))[-1]
    lengths = list(op.attributes["fft_length"])
    _check(op, lengths)
    given, made = str(op.operands[0].type), str(op.results[0].type)
    element = element_of(made if kind == "IRFFT" else given).removeprefix("complex<").rstrip(">")
    w = _Transforms(op, element)
    x: Complex = w.inputs[0], None
    if kind != "RFFT":
        part = tensor_of(shape_of(given), element)
        x = (w.emit(f"stablehlo.real {x[0][0]} : ({given}) -> {part}", part),
             w.emit(f"stablehlo.imag {x[0][0]} : ({given}) -> {part}", part))
    rank, inverse = len(shape_of(given)), kind in ("IFFT", "IRFFT")
    if kind != "IRFFT":
        x = w.along(x, rank - 1, inverse, lengths[-1] // 2 + 1 if kind == "RFFT" else None)
    for dim in range(rank - len(lengths), rank - 1):
        x = w.along(x, dim, inverse)
    if kind == "IRFFT":
        w.replace([w.to_real(x, lengths[-1])])
        return
    assert x[1] is not None
    w.replace([w.emit(f"stablehlo.complex {x[0][0]}, {x[1][0]} : {made}", made)])
