"""DenseNet-121: each layer reads the concatenation of all previous ones; norms precede convolutions."""

# Huang et al., "Densely Connected Convolutional Networks", 2016, table 1.

from dataclasses import dataclass

from .builder import Builder
from .network import Network
from .options import BlockOptions, NormedOptions, option
from .text import Value

BLOCKS = [6, 12, 24, 16]
GROWTH = 32
BOTTLENECK = 4  # in units of the growth rate


@dataclass
class Options(NormedOptions, BlockOptions):
    concat: str = option("flat", "a layer joins all before it at once, or adds itself to their "
                         "concatenation", str, ("flat", "chained"))


def _layer(b: Builder, options: Options, x: Value) -> Value:
    growth = options.scaled(GROWTH)
    x = b.relu(b.bn(x, "norm1"), "relu1")
    x = b.relu(b.conv_bn(x, BOTTLENECK * growth, 1, "conv1", "norm2"), "relu2")
    return b.conv(x, growth, 3, "conv2", padding=1)


def _dense(b: Builder, options: Options, x: Value, count: int) -> Value:
    parts = [x]
    for j in range(count):
        with b.scope(f"layer{j}"):
            y = _layer(b, options, x)
            parts.append(y)
            x = b.concat("concat", parts if options.concat == "flat" else [x, y], 1)
    return x


def _transition(b: Builder, x: Value) -> Value:
    y = b.relu(b.bn(x, "norm"), "relu")
    return b.average_pool(b.conv(y, x.shape[1] // 2, 1, "conv"), 2, 2, "pool")


def _body(b: Builder, options: Options) -> None:
    x = b.input("input", (b.batch, options.in_channels, *options.size))
    x = b.conv_bn(x, options.scaled(2 * GROWTH), 7, "conv0", "norm0", stride=2, padding=3)
    x = b.max_pool(b.relu(x, "relu0"), 3, 2, 1, "pool0")
    for i, count in enumerate(options.pick("blocks", options.blocks, BLOCKS), 1):
        with b.scope(f"block{i}"):
            x = _dense(b, options, x, count)
        if i < len(BLOCKS):
            with b.scope(f"transition{i}"):
                x = _transition(b, x)
    x = b.relu(b.bn(x, "norm5"), "relu5")
    x = b.flatten(b.global_average_pool(x, "avgpool"), "flatten")
    b.output(b.linear(x, options.classes, "classifier"))


DENSENET121 = Network(
    "densenet121", "DenseNet-121 (Huang et al. 2016)", Options, _body,
    {"image": 64, "width": 0.25, "prime_channels": True, "blocks": [2, 3, 2, 2], "classes": 10})
