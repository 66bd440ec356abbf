"""EfficientDet-D0: EfficientNet-B0, a bidirectional feature pyramid, and heads that share weights."""

# Tan et al., "EfficientDet: Scalable and Efficient Object Detection", 2019, table 1 and figure 3;
# backbone: Tan and Le, "EfficientNet", 2019, table 1.

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from .builder import Builder
from .layers import same_padding
from .mbconv import SILU_GAIN, mbconv
from .network import Network
from .options import BlockOptions, ImageOptions, NormedOptions, OptionError, again, option
from .text import Scalars, Value

STEM = 32
# Expansion, kernel, stride of the first block, channels, blocks.
STAGES = [(1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
          (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)]
FEATURES = (2, 4, 6)  # the stages whose results are levels 3, 4 and 5
LEVELS = 5  # levels 3 to 7
PYRAMID = 64  # channels of the pyramid
CELLS, HEAD_LAYERS, ANCHORS = 3, 3, 9


@dataclass
class Options(NormedOptions, BlockOptions):
    image: int | tuple[int, int] = again(ImageOptions, "image", 512)
    classes: int = again(ImageOptions, "classes", 90)
    cells: int = option(CELLS, "cells of the feature pyramid")
    head_layers: int = option(HEAD_LAYERS, "layers of a head before its last one")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("cells", "head_layers")
        if any(extent % 128 for extent in self.size):
            raise OptionError(f"image must be a multiple of 128 for {LEVELS} levels, not "
                              f"{self.image}")


def _backbone(b: Builder, options: Options) -> list[Value]:
    counts = options.pick("blocks", options.blocks, [stage[-1] for stage in STAGES])
    x = b.input("input", (b.batch, options.in_channels, *options.size))
    x = b.conv_bn(x, options.scaled(STEM), 3, "stem", "stem_bn", stride=2,
                  padding=same_padding(x, 3, 2), gain=SILU_GAIN)
    x = b.silu(x, "stem_silu")
    features = []
    for i, ((expansion, kernel, first_stride, channels, _), count) in enumerate(
            zip(STAGES, counts)):
        for j in range(count):
            with b.scope(f"stage{i + 1}.{j}"):
                x = mbconv(b, x, options.scaled(channels), kernel, first_stride if j == 0 else 1,
                           expansion, same=True)
        if i in FEATURES:
            features.append(x)
    return features


def _lateral(b: Builder, x: Value, channels: int, name: str) -> Value:
    """Projects x to the channels of the pyramid if necessary."""
    if x.shape[1] == channels:
        return x
    with b.scope(name):
        return b.conv_bn(x, channels, 1, bias=True, gain=1.0)


def _halved(b: Builder, x: Value, name: str) -> Value:
    return b.max_pool(x, 3, 2, same_padding(x, 3, 2), name)


def weighted_sum(b: Builder, inputs: Sequence[Value]) -> Value:
    """Returns the sum of the inputs, weighted by learned positive numbers with a sum of about 1."""
    count = len(inputs)
    learned = b.weight(b.uniform("weights", (count,), 0.5, 1.5))
    positive = b.relu(learned, "positive")
    total = b.sum_of("total", [positive], (0,), lambda s, a: a)
    share = b.pointwise("share", [positive, (total, ())], lambda s, a, t: s.div(
        a, s.add(t, s.constant(1e-4))))
    factors = [b.slice(f"factor{i}", share, [i], [1], drop=[0]) for i in range(count)]

    def weigh(s: Scalars, *elements: str) -> str:
        terms = [s.mul(a, factor) for a, factor in zip(elements[:count], elements[count:])]
        return functools.reduce(s.add, terms)

    return b.pointwise("sum", [*inputs, *((factor, ()) for factor in factors)], weigh,
                       inputs[0].shape)


def _joined(b: Builder, inputs: Sequence[Value], name: str) -> Value:
    """Returns a node of the pyramid: a weighted sum followed by a separable convolution."""
    with b.scope(name):
        x = weighted_sum(b, inputs)
        x = b.conv(b.silu(x, "silu"), x.shape[1], 3, "depthwise", padding=1, depthwise=True,
                   gain=SILU_GAIN)
        return b.conv_bn(x, x.shape[1], 1, "pointwise", bias=True, gain=1.0)


def _cell(b: Builder, levels: list[Value], channels: int) -> list[Value]:
    """Returns the levels after a top-down path and a bottom-up path, which reads the inputs again."""
    down = [_lateral(b, x, channels, f"lateral{i}") for i, x in enumerate(levels)]
    # The bottom-up path has its own lateral convolutions of the inputs.
    again = [down[0], *(_lateral(b, x, channels, f"again{i}") for i, x in
                        enumerate(levels[1:], 1))]
    top = LEVELS - 1
    middle = list(down)
    for i in reversed(range(top)):
        middle[i] = _joined(b, [down[i], b.upsample(middle[i + 1], 2, f"up{i}", gather=True)],
                            f"down{i}")
    results = [middle[0]]
    for i in range(1, LEVELS):
        below = _halved(b, results[-1], f"halved{i}")
        inputs = [again[i], middle[i], below] if i < top else [again[i], below]
        results.append(_joined(b, inputs, f"out{i}"))
    return results


def _head(b: Builder, levels: Sequence[Value], layers: int, outputs: int, name: str) -> Value:
    """Applies the same convolutions to every level, with separate batch norms. Returns the positions of all levels as
    rows of `outputs` numbers."""
    channels = levels[0].shape[1]
    results = list(levels)
    with b.scope(name):
        for layer in range(layers + 1):
            last = layer == layers
            target = ANCHORS * outputs if last else channels
            depthwise, pointwise, bias = (b.weight(weight) for weight in (
                b.filter(f"depthwise{layer}", channels, levels[0], 3, SILU_GAIN, depthwise=True),
                b.filter(f"pointwise{layer}", target, levels[0], 1, 1.0),
                b.normal(f"pointwise{layer}.bias", (target,), 0.1)))
            for i, x in enumerate(results):
                with b.scope(f"level{i}.{layer}"):
                    x = b.conv_with(x, depthwise, "depthwise", padding=1)
                    x = b.add_bias(b.conv_with(x, pointwise, "pointwise"), bias, "add")
                    results[i] = x if last else b.silu(b.bn(x, "bn"), "silu")
        rows = []
        for i, x in enumerate(results):
            n, _, h, w = x.shape
            with b.scope(f"level{i}.rows"):
                x = b.expand("anchors", b.transpose("last", x, (0, 2, 3, 1)),
                             [n], [h], [w], [ANCHORS, outputs])
                rows.append(b.collapse("flat", x, [[0], [1, 2, 3], [4]]))
        return b.concat("concat", rows, 1)


def _body(b: Builder, options: Options) -> None:
    levels = _backbone(b, options)
    channels = options.scaled(PYRAMID)
    levels.append(_halved(b, _lateral(b, levels[-1], channels, "level6"), "level6.halved"))
    levels.append(_halved(b, levels[-1], "level7.halved"))
    for cell in range(options.cells):
        with b.scope(f"cell{cell}"):
            levels = _cell(b, levels, channels)
    b.output(*(_head(b, levels, options.head_layers, outputs, name)
               for outputs, name in ((options.classes, "classes"), (4, "boxes"))))


EFFICIENTDET_D0 = Network(
    "efficientdet_d0", "EfficientDet-D0 (Tan et al. 2019)", Options, _body,
    {"image": 128, "width": 0.2, "prime_channels": True, "blocks": [1, 1, 1, 1, 1, 1, 1], "cells": 1,
     "head_layers": 1, "classes": 3})
