"""MobileNetV2: inverted residuals with linear bottlenecks."""

# Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018, table 2.

from dataclasses import dataclass

from .builder import Builder
from .network import Network
from .options import BlockOptions, ChannelOptions, ElementOptions, OptionError
from .text import Value

CHANNELS = [32, 16, 24, 32, 64, 96, 160, 320, 1280]  # stem, stages, last
BLOCKS = [1, 2, 3, 4, 3, 3, 1]
EXPANSIONS = [1, 6, 6, 6, 6, 6, 6]
STRIDES = [1, 2, 2, 2, 1, 2, 1]
BRANCH_GAIN = 0.5


@dataclass
class Options(ElementOptions, BlockOptions, ChannelOptions):
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.channels is not None and (self.prime_channels or self.width != 1.0):
            raise OptionError("channels are final: give no width and no prime channels with them")

    def all_channels(self) -> list[int]:
        if self.channels is not None:
            return self.pick("channels", self.channels, CHANNELS)
        # The last convolution is not narrower than with width 1.
        last = round(CHANNELS[-1] * max(1.0, 1.0 / self.width))
        return [self.scaled_to_8(count) for count in [*CHANNELS[:-1], last]]


def _inverted_residual(b: Builder, x: Value, channels: int, stride: int, expansion: int) -> Value:
    hidden = x.shape[1] * expansion
    y = x
    if expansion != 1:
        y = b.relu6(b.conv_bn(y, hidden, 1, "expand", "expand_bn"), "expand_relu")
    y = b.conv_bn(y, hidden, 3, "depthwise", "depthwise_bn", stride=stride, padding=1,
                  depthwise=True)
    y = b.relu6(y, "depthwise_relu")
    residual = stride == 1 and x.shape[1] == channels
    y = b.conv_bn(y, channels, 1, "project", "project_bn",
                  branch_gain=BRANCH_GAIN if residual else 1.0)
    return b.add(x, y, "sum") if residual else y


def _body(b: Builder, options: Options) -> None:
    stem, *stages, last = options.all_channels()
    x = b.input("input", (b.batch, options.in_channels, *options.size))
    x = b.relu6(b.conv_bn(x, stem, 3, "stem", "stem_bn", stride=2, padding=1), "stem_relu")
    blocks = options.pick("blocks", options.blocks, BLOCKS)
    for i, (channels, count) in enumerate(zip(stages, blocks)):
        for j in range(count):
            with b.scope(f"stage{i + 1}.{j}"):
                x = _inverted_residual(b, x, channels, STRIDES[i] if j == 0 else 1, EXPANSIONS[i])
    x = b.relu6(b.conv_bn(x, last, 1, "last", "last_bn"), "last_relu")
    x = b.flatten(b.global_average_pool(x, "avgpool"), "flatten")
    b.output(b.linear(x, options.classes, "fc"))


MOBILENET_V2 = Network(
    "mobilenet_v2", "MobileNetV2 (Sandler et al. 2018)", Options, _body,
    {"image": 48, "width": 0.5, "prime_channels": True, "blocks": [1, 1, 2, 1, 1, 1, 1], "classes": 10})
