"""ResNet-50 and ResNet-152: bottlenecks with the stride on the 3x3 convolution (v1.5)."""

# He et al., "Deep Residual Learning for Image Recognition", 2015, table 1.

from collections.abc import Sequence
from dataclasses import dataclass

from .builder import Builder
from .network import Network
from .options import (BlockOptions, ChannelOptions, ElementOptions, NormedOptions, OptionError,
                      StructureOptions)
from .text import Value

CHANNELS = [64, 64, 128, 256, 512]  # stem, then the width of each stage
EXPANSION = 4
# The gain of the last batch norm of a branch; with 1 the sums would grow with each block.
BRANCH_GAIN = 0.5


@dataclass
class StageOptions(NormedOptions, BlockOptions, ChannelOptions):
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.channels is not None and (self.prime_channels or self.width != 1.0):
            raise OptionError("channels are final: give no width and no prime channels with them")

    def stages(self) -> tuple[int, list[tuple[int, int]]]:
        """Returns the channels of the stem, and (width, expanded width) of each stage."""
        if self.channels is not None:
            stem, *widths = self.pick("channels", self.channels, CHANNELS)
            return stem, [(width, EXPANSION * width) for width in widths]
        stem, *widths = CHANNELS
        return self.scaled(stem), [(self.scaled(width), self.scaled(EXPANSION * width))
                                   for width in widths]


@dataclass
class Options(StageOptions, StructureOptions):
    pass


@dataclass
class ShallowOptions(Options, ElementOptions):
    """The variant that supports integers: within a stage all blocks use the same bits, which sums of deep stages would
    exceed."""


def bottleneck(b: Builder, x: Value, width: int, expanded: int, stride: int = 1) -> Value:
    y = b.relu(b.conv_bn(x, width, 1, "conv1", "bn1"), "relu1")
    y = b.relu(b.conv_bn(y, width, 3, "conv2", "bn2", stride=stride, padding=1), "relu2")
    y = b.conv_bn(y, expanded, 1, "conv3", "bn3", gain=1.0, branch_gain=BRANCH_GAIN)
    shortcut = x
    if stride != 1 or x.shape[1] != expanded:
        shortcut = b.conv_bn(x, expanded, 1, "downsample.0", "downsample.1", stride=stride,
                             gain=1.0)
    return b.relu(b.add(y, shortcut, "sum"), "relu3")


def stem(b: Builder, options: StageOptions, channels: int) -> Value:
    x = b.input("input", (b.batch, options.in_channels, *options.size))
    x = b.relu(b.conv_bn(x, channels, 7, "conv1", "bn1", stride=2, padding=3), "relu")
    return b.max_pool(x, 3, stride=2, padding=1, name="maxpool")


def classify(b: Builder, x: Value, options: StageOptions) -> None:
    x = b.flatten(b.global_average_pool(x, "avgpool"), "flatten")
    b.output(b.linear(x, options.classes, "fc"))


def _body(blocks: Sequence[int]):
    def body(b: Builder, options: Options) -> None:
        channels, stages = options.stages()
        counts = options.pick("blocks", options.blocks, blocks)
        x = stem(b, options, channels)
        for i, ((width, expanded), count) in enumerate(zip(stages, counts), 1):
            names = [f"layer{i}.{j}" for j in range(count)]
            first_stride = 1 if i == 1 else 2
            x = b.chain(f"layer{i}", names[:1], x,
                        lambda x: bottleneck(b, x, width, expanded, first_stride))
            x = b.chain(f"layer{i}", names[1:], x, lambda x: bottleneck(b, x, width, expanded))
        classify(b, x, options)
    return body


RESNET50 = Network(
    "resnet50", "ResNet-50 v1.5 (He et al. 2015)", ShallowOptions, _body([3, 4, 6, 3]),
    {"image": 64, "channels": [7, 5, 11, 13, 17], "blocks": [1, 2, 2, 1], "classes": 10})
RESNET152 = Network(
    "resnet152", "ResNet-152 v1.5 (He et al. 2015)", Options, _body([3, 8, 36, 3]),
    {"image": 64, "channels": [7, 5, 11, 13, 17], "blocks": [1, 2, 4, 1], "classes": 10})
