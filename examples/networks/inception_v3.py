"""Inception v3: parallel towers of factorized convolutions, joined by concatenation."""

# Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2015, table 1,
# without the auxiliary classifier; tower widths are those of the released model.

from dataclasses import dataclass

from .builder import Builder
from .layers import Padding, Pair, pair
from .network import Network
from .options import BlockOptions, ImageOptions, NormedOptions, OptionError, again
from .text import Value

BLOCKS = [3, 4, 2]  # modules on the 35x35, 17x17 and 8x8 grids


@dataclass
class Options(NormedOptions, BlockOptions):
    image: int | tuple[int, int] = again(ImageOptions, "image", 299)


def _conv(b: Builder, x: Value, options: Options, channels: int, kernel: Pair, name: str,
          stride: int = 1, padding: Padding | None = None) -> Value:
    """Returns a convolution with batch norm and ReLU; the default padding keeps the size."""
    if padding is None:
        padding = tuple(k // 2 for k in pair(kernel))
    with b.scope(name):
        return b.relu(b.conv_bn(x, options.scaled(channels), kernel, stride=stride,
                                padding=padding), "relu")


def _towers(b: Builder, o: Options, x: Value, **towers: list[tuple]) -> list[Value]:
    """Returns the results of chains of convolutions, each given as (channels, kernel, further arguments)."""
    results = []
    for name, tower in towers.items():
        y = x
        for i, (channels, kernel, *more) in enumerate(tower):
            y = _conv(b, y, o, channels, kernel, f"{name}.{i}", *more)
        results.append(y)
    return results


def _pooled(b: Builder, o: Options, x: Value, channels: int) -> Value:
    return _conv(b, b.average_pool(x, 3, 1, "pool", padding=1), o, channels, 1, "pool.proj")


def _grid35(b: Builder, o: Options, x: Value, pool: int) -> Value:
    towers = _towers(b, o, x, one=[(64, 1)], five=[(48, 1), (64, 5)],
                     three=[(64, 1), (96, 3), (96, 3)])
    return b.concat("concat", [*towers, _pooled(b, o, x, pool)], 1)


def _grid17(b: Builder, o: Options, x: Value, width: int) -> Value:
    row, column = (1, 7), (7, 1)
    towers = _towers(
        b, o, x, one=[(192, 1)], seven=[(width, 1), (width, row), (192, column)],
        double=[(width, 1), (width, column), (width, row), (width, column), (192, row)])
    return b.concat("concat", [*towers, _pooled(b, o, x, 192)], 1)


def _grid8(b: Builder, o: Options, x: Value) -> Value:
    def fork(y: Value, name: str) -> Value:
        return b.concat(f"{name}.concat", _towers(b, o, y, **{
            f"{name}.row": [(384, (1, 3))], f"{name}.column": [(384, (3, 1))]}), 1)

    one, three, double = _towers(b, o, x, one=[(320, 1)], three=[(384, 1)],
                                 double=[(448, 1), (384, 3)])
    return b.concat("concat", [one, fork(three, "three"), fork(double, "double"),
                               _pooled(b, o, x, 192)], 1)


def _shrink(b: Builder, o: Options, x: Value, **towers: list[tuple]) -> Value:
    return b.concat("concat", [*_towers(b, o, x, **towers), b.max_pool(x, 3, 2, 0, "pool")], 1)


def _body(b: Builder, options: Options) -> None:
    o = options
    counts = o.pick("blocks", o.blocks, BLOCKS)
    if any(count > full for count, full in zip(counts, BLOCKS)):
        raise OptionError(f"blocks are at most {','.join(map(str, BLOCKS))}")
    x = b.input("input", (b.batch, o.in_channels, *o.size))
    x, = _towers(b, o, x, stem=[(32, 3, 2, 0), (32, 3, 1, 0), (64, 3)])
    x = b.max_pool(x, 3, 2, 0, "stem.pool1")
    x, = _towers(b, o, x, stem2=[(80, 1), (192, 3, 1, 0)])
    x = b.max_pool(x, 3, 2, 0, "stem.pool2")
    for i, pool in enumerate([32, 64, 64][:counts[0]]):
        with b.scope(f"mixed35.{i}"):
            x = _grid35(b, o, x, pool)
    with b.scope("reduce17"):
        x = _shrink(b, o, x, three=[(384, 3, 2, 0)], double=[(64, 1), (96, 3), (96, 3, 2, 0)])
    for i, width in enumerate([128, 160, 160, 192][:counts[1]]):
        with b.scope(f"mixed17.{i}"):
            x = _grid17(b, o, x, width)
    with b.scope("reduce8"):
        x = _shrink(b, o, x, three=[(192, 1), (320, 3, 2, 0)],
                    seven=[(192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, 0)])
    for i in range(counts[2]):
        with b.scope(f"mixed8.{i}"):
            x = _grid8(b, o, x)
    x = b.flatten(b.global_average_pool(x, "avgpool"), "flatten")
    b.output(b.linear(x, o.classes, "fc"))


INCEPTION_V3 = Network(
    "inception_v3", "Inception v3 (Szegedy et al. 2015)", Options, _body,
    {"image": 79, "width": 0.125, "prime_channels": True, "blocks": [1, 1, 1], "classes": 10})
