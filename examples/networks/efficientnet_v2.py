"""EfficientNetV2-S: fused inverted residuals early, with squeeze and excitation late."""

# Tan and Le, "EfficientNetV2: Smaller Models and Faster Training", 2021, table 4; the channels of
# the stem and the strides are those of the released model.

from dataclasses import dataclass

from .builder import Builder
from .mbconv import SILU_GAIN, fused_mbconv, mbconv
from .network import Network
from .options import BlockOptions, ImageOptions, NormedOptions, again

STEM, HEAD = 24, 1280
# Fused or not, expansion, stride of the first block, channels, blocks.
STAGES = [(True, 1, 1, 24, 2), (True, 4, 2, 48, 4), (True, 4, 2, 64, 4), (False, 4, 2, 128, 6),
          (False, 6, 1, 160, 9), (False, 6, 2, 256, 15)]


@dataclass
class Options(NormedOptions, BlockOptions):
    image: int | tuple[int, int] = again(ImageOptions, "image", 384)


def _body(b: Builder, options: Options) -> None:
    counts = options.pick("blocks", options.blocks, [stage[-1] for stage in STAGES])
    x = b.input("input", (b.batch, options.in_channels, *options.size))
    x = b.conv_bn(x, options.scaled(STEM), 3, "stem", "stem_bn", stride=2, padding=1,
                  gain=SILU_GAIN)
    x = b.silu(x, "stem_silu")
    for i, ((fused, expansion, first_stride, channels, _), count) in enumerate(zip(STAGES, counts)):
        block = fused_mbconv if fused else mbconv
        for j in range(count):
            with b.scope(f"stage{i + 1}.{j}"):
                x = block(b, x, options.scaled(channels), 3, first_stride if j == 0 else 1,
                          expansion)
    x = b.silu(b.conv_bn(x, options.scaled(HEAD), 1, "head", "head_bn", gain=SILU_GAIN),
               "head_silu")
    x = b.flatten(b.global_average_pool(x, "avgpool"), "flatten")
    b.output(b.linear(x, options.classes, "classifier"))


EFFICIENTNET_V2_S = Network(
    "efficientnet_v2_s", "EfficientNetV2-S (Tan and Le 2021)", Options, _body,
    {"image": 64, "width": 0.25, "prime_channels": True, "blocks": [1, 2, 1, 1, 2, 1], "classes": 10})
