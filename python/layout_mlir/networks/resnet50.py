"""ResNet-50 (v1.5: the stride is on the 3x3 convolution)."""

from dataclasses import dataclass

from .builder import Builder
from .options import CommonOptions, previous_prime

NAME = "resnet50"
CHANNELS = [64, 64, 128, 256, 512]  # the stem, then the width of each stage
BLOCKS = [3, 4, 6, 3]
EXPANSION = 4
# The last batch norm of a branch; with 1 the sums would grow with each block.
BRANCH_GAIN = 0.5


@dataclass
class Options(CommonOptions):
    pass


def _channels(options):
    """The stem's channels and (width, expanded width) of each stage."""
    def scaled(count):
        count = max(1, round(count * options.width))
        return previous_prime(count) if options.ragged else count

    if options.channels is not None:
        stem, *widths = options.pick("channels", options.channels, CHANNELS)
        return stem, [(width, EXPANSION * width) for width in widths]
    stem, *widths = CHANNELS
    return scaled(stem), [(scaled(width), scaled(EXPANSION * width)) for width in widths]


def _bottleneck(b, x, width, expanded, stride, name):
    def conv_bn(x, channels, kernel, i, **conv):
        return b.conv_bn(x, channels, kernel, f"{name}.conv{i}", f"{name}.bn{i}", **conv)

    y = b.relu(conv_bn(x, width, 1, 1), f"{name}.relu1")
    y = b.relu(conv_bn(y, width, 3, 2, stride=stride, padding=1), f"{name}.relu2")
    y = conv_bn(y, expanded, 1, 3, gain=1.0, branch_gain=BRANCH_GAIN)
    shortcut = x
    if stride != 1 or x.shape[1] != expanded:
        shortcut = b.conv_bn(x, expanded, 1, f"{name}.downsample.0", f"{name}.downsample.1",
                             stride=stride, gain=1.0)
    return b.relu(b.add(y, shortcut, f"{name}.sum"), f"{name}.relu3")


def build(options):
    b = Builder(NAME, options.batch, options.seed, options.bn, options.runnable)
    stem, stages = _channels(options)
    x = b.input((options.in_channels, options.image, options.image))
    x = b.relu(b.conv_bn(x, stem, 7, "conv1", "bn1", stride=2, padding=3), "relu")
    x = b.max_pool(x, 3, stride=2, padding=1, name="maxpool")
    blocks = options.pick("blocks", options.blocks, BLOCKS)
    for i, ((width, expanded), count) in enumerate(zip(stages, blocks)):
        for j in range(count):
            stride = 2 if i > 0 and j == 0 else 1
            x = _bottleneck(b, x, width, expanded, stride, f"layer{i + 1}.{j}")
    x = b.flatten(b.global_average_pool(x, "avgpool"), "flatten")
    b.output(b.linear(x, options.classes, "fc"))
    return b
