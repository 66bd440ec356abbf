"""HRNet-W32 for poses: branches of several resolutions that exchange features."""

# Sun et al., "Deep High-Resolution Representation Learning for Human Pose Estimation", 2019,
# section 3.

from collections.abc import Sequence
from dataclasses import dataclass

from .builder import Builder
from .network import Network
from .options import BlockOptions, ImageOptions, NormedOptions, again, option
from .resnet import BRANCH_GAIN, bottleneck
from .text import Value

STEM, FIRST_WIDTH, EXPANDED = 64, 64, 256
CHANNELS = 32  # of the highest resolution; each lower one has twice as many
MODULES = [1, 4, 3]  # of the stages with 2, 3 and 4 branches
UNITS = 4  # residual units per branch and module


@dataclass
class Options(NormedOptions, BlockOptions):
    image: int | tuple[int, int] = again(ImageOptions, "image", (256, 192))
    classes: int = again(ImageOptions, "classes", 17)
    units: int = option(UNITS, "residual units of a branch in a module")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("units")


def _conv_bn(b: Builder, x: Value, channels: int, kernel: int, name: str, stride: int = 1,
             relu: bool = True, gain: float = 2.0) -> Value:
    with b.scope(name):
        y = b.conv_bn(x, channels, kernel, stride=stride, padding=kernel // 2,
                      gain=gain if relu else 1.0)
        return b.relu(y, "relu") if relu else y


def _unit(b: Builder, x: Value) -> Value:
    """Returns a residual unit of two 3x3 convolutions."""
    y = b.relu(b.conv_bn(x, x.shape[1], 3, "conv1", "bn1", padding=1), "relu1")
    y = b.conv_bn(y, x.shape[1], 3, "conv2", "bn2", padding=1, gain=1.0, branch_gain=BRANCH_GAIN)
    return b.relu(b.add(y, x, "sum"), "relu2")


def _resampled(b: Builder, x: Value, source: int, target: int, channels: Sequence[int]) -> Value:
    """Returns branch `source` at the resolution of branch `target`."""
    if source > target:
        y = _conv_bn(b, x, channels[target], 1, f"from{source}", relu=False)
        return b.upsample(y, 1 << (source - target), f"from{source}.up")
    for step in range(target - source):
        last = step == target - source - 1
        x = _conv_bn(b, x, channels[target] if last else x.shape[1], 3, f"from{source}.{step}",
                     stride=2, relu=not last)
    return x


def _fused(b: Builder, branches: Sequence[Value], targets: int, channels: Sequence[int]
           ) -> list[Value]:
    """Returns each target branch as the sum of all resampled branches."""
    results = []
    for target in range(targets):
        with b.scope(f"fuse{target}"):
            total = None
            for source, x in enumerate(branches):
                y = _resampled(b, x, source, target, channels)
                total = y if total is None else b.add(total, y, f"sum{source}")
            results.append(b.relu(total, "relu"))
    return results


def _body(b: Builder, options: Options) -> None:
    modules = options.pick("blocks", options.blocks, MODULES)
    channels = [options.scaled(CHANNELS << i) for i in range(len(modules) + 1)]
    x = b.input("input", (b.batch, options.in_channels, *options.size))
    for i in (1, 2):
        x = _conv_bn(b, x, options.scaled(STEM), 3, f"stem{i}", stride=2)
    for j in range(options.units):
        with b.scope(f"stage1.{j}"):
            x = bottleneck(b, x, options.scaled(FIRST_WIDTH), options.scaled(EXPANDED))
    branches = [_conv_bn(b, x, channels[0], 3, "transition1.0")]
    lowest = x  # the input of the next branch
    for stage, count in enumerate(modules, 2):
        with b.scope(f"transition{stage - 1}"):
            branches.append(_conv_bn(b, lowest, channels[stage - 1], 3, f"{stage - 1}", stride=2))
        for m in range(count):
            with b.scope(f"stage{stage}.module{m}"):
                for i in range(stage):
                    for j in range(options.units):
                        with b.scope(f"branch{i}.{j}"):
                            branches[i] = _unit(b, branches[i])
                # Only the highest resolution of the last module is used.
                final = stage == len(modules) + 1 and m == count - 1
                branches = _fused(b, branches, 1 if final else stage, channels)
        lowest = branches[-1]
    b.output(b.conv(branches[0], options.classes, 1, "heatmaps", bias=True, gain=1.0))


HRNET_W32 = Network(
    "hrnet_w32", "HRNet-W32 for poses (Sun et al. 2019)", Options, _body,
    {"image": (64, 32), "width": 0.2, "prime_channels": True, "blocks": [1, 1, 1], "units": 1,
     "classes": 5})
