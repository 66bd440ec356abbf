"""Weights: random numbers that are drawn when they are written.

The generator of each weight is seeded by (seed, name), so that the numbers depend neither on the order of layers nor on
the structure of the text.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

import numpy as np

# The first four bytes of a resource's blob are its alignment.
_BLOB_ALIGNMENT = (64).to_bytes(4, "little").hex()


@dataclass(frozen=True)
class Weight:
    """A weight; `size` is the typical magnitude of the numbers that `draw` returns."""

    name: str
    shape: tuple[int, ...]
    size: float
    draw: Callable[[], np.ndarray]
    element: str = "f32"

    def scaled(self, scale: "Weight") -> "Weight":
        """Returns the weight multiplied by one number for each index of the first dim."""
        def draw() -> np.ndarray:
            return self.draw() * scale.draw().reshape(-1, *[1] * (len(self.shape) - 1))
        return Weight(self.name, self.shape, self.size * scale.size, draw)

    def plus(self, other: "Weight") -> "Weight":
        return Weight(self.name, self.shape, self.size + other.size,
                      lambda: self.draw() + other.draw())

    def splat(self, seed: int) -> float:
        """Returns one number for the whole weight, which differs between weights so that equal shapes do not become
        equal constants."""
        generator = _generator(seed, self.name + " (splat)")
        number = float(np.float32(self.size * generator.uniform(0.5, 1.5)))
        return number if self.element == "f32" else max(1.0, round(number))


def _generator(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def draw_normal(seed: int, name: str, shape: Sequence[int], deviation: float) -> np.ndarray:
    draw = _generator(seed, name).standard_normal(tuple(shape), dtype=np.float32)
    return draw * np.float32(deviation)


def draw_uniform(seed: int, name: str, shape: Sequence[int], low: float, high: float) -> np.ndarray:
    return _generator(seed, name).uniform(low, high, tuple(shape)).astype(np.float32)


def draw_integers(seed: int, name: str, shape: Sequence[int], below: int) -> np.ndarray:
    return _generator(seed, name).integers(0, below, tuple(shape), dtype=np.int64)


def normal(seed: int, name: str, shape: Sequence[int], deviation: float) -> Weight:
    return Weight(name, tuple(shape), float(deviation),
                  lambda: draw_normal(seed, name, shape, deviation))


def uniform(seed: int, name: str, shape: Sequence[int], low: float, high: float) -> Weight:
    return Weight(name, tuple(shape), (low + high) / 2,
                  lambda: draw_uniform(seed, name, shape, low, high))


_INTEGERS = {"i8": np.int8, "i32": np.int32}


def rounded(numbers: np.ndarray, element: str) -> np.ndarray:
    """Returns the nearest integers, clamped symmetrically to the range of `element`."""
    limit = np.iinfo(_INTEGERS[element]).max
    return np.clip(np.rint(numbers), -limit, limit).astype(_INTEGERS[element])


def integers(name: str, shape: Sequence[int], element: str, size: float,
             draw: Callable[[], np.ndarray]) -> Weight:
    """Returns a weight with the numbers of `draw` rounded to integers."""
    return Weight(name, tuple(shape), size, lambda: rounded(draw(), element), element)


def stack(name: str, weights: Sequence[Weight]) -> Weight:
    """Returns weights of one shape stacked along a new first dim."""
    return Weight(name, (len(weights), *weights[0].shape), weights[0].size,
                  lambda: np.stack([weight.draw() for weight in weights]), weights[0].element)


def write_resources(file: TextIO, blobs: dict[str, Callable[[], np.ndarray]]) -> None:
    """Writes the section with the data of `dense_resource` constants, as hexadecimal blobs."""
    if not blobs:
        return
    file.write("\n{-#\n  dialect_resources: {\n    builtin: {\n")
    for i, (name, draw) in enumerate(blobs.items()):
        array = draw()
        little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        file.write(f'{"," + chr(10) if i else ""}      {name}: "0x{_BLOB_ALIGNMENT}')
        file.write(little_endian.tobytes().hex())
        file.write('"')
    file.write("\n    }\n  }\n#-}\n")
