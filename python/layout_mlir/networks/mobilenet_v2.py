"""MobileNetV2, inverted residuals with linear bottlenecks."""

from dataclasses import dataclass

from .builder import Builder
from .options import CommonOptions, previous_prime

NAME = "mobilenet_v2"
CHANNELS = [32, 16, 24, 32, 64, 96, 160, 320, 1280]  # stem, stages, last
BLOCKS = [1, 2, 3, 4, 3, 3, 1]
EXPANSIONS = [1, 6, 6, 6, 6, 6, 6]
STRIDES = [1, 2, 2, 2, 1, 2, 1]
BRANCH_GAIN = 0.5


@dataclass
class Options(CommonOptions):
    pass


def _divisible(count):
    """To the nearest multiple of 8, but never below nine tenths."""
    rounded = max(8, int(count + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * count else rounded


def _channels(options):
    if options.channels is not None:
        return options.pick("channels", options.channels, CHANNELS)
    scaled = [_divisible(count * options.width) for count in CHANNELS[:-1]]
    # The last convolution does not get narrower than it is in width 1.
    scaled.append(_divisible(CHANNELS[-1] * max(1.0, options.width)))
    return [previous_prime(count) for count in scaled] if options.ragged else scaled


def _inverted_residual(b, x, channels, stride, expansion, name):
    hidden = x.shape[1] * expansion
    y = x
    if expansion != 1:
        y = b.conv_bn(y, hidden, 1, f"{name}.expand", f"{name}.expand_bn")
        y = b.relu6(y, f"{name}.expand_relu")
    y = b.conv_bn(y, hidden, 3, f"{name}.depthwise", f"{name}.depthwise_bn", stride=stride,
                  padding=1, depthwise=True)
    y = b.relu6(y, f"{name}.depthwise_relu")
    residual = stride == 1 and x.shape[1] == channels
    y = b.conv_bn(y, channels, 1, f"{name}.project", f"{name}.project_bn",
                  branch_gain=BRANCH_GAIN if residual else 1.0)
    return b.add(x, y, f"{name}.sum") if residual else y


def build(options):
    b = Builder(NAME, options.batch, options.seed, options.bn, options.runnable)
    stem, *stages, last = _channels(options)
    x = b.input((options.in_channels, options.image, options.image))
    x = b.relu6(b.conv_bn(x, stem, 3, "stem", "stem_bn", stride=2, padding=1), "stem_relu")
    blocks = options.pick("blocks", options.blocks, BLOCKS)
    for i, (channels, count) in enumerate(zip(stages, blocks)):
        for j in range(count):
            x = _inverted_residual(b, x, channels, STRIDES[i] if j == 0 else 1, EXPANSIONS[i],
                                   f"stage{i + 1}.{j}")
    x = b.relu6(b.conv_bn(x, last, 1, "last", "last_bn"), "last_relu")
    x = b.flatten(b.global_average_pool(x, "avgpool"), "flatten")
    b.output(b.linear(x, options.classes, "fc"))
    return b
