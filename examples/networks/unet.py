"""U-Net: convolutions without padding, and skip connections that are cropped and concatenated."""

# Ronneberger et al., "U-Net: Convolutional Networks for Biomedical Image Segmentation", 2015,
# figure 1: 23 convolutions, 572x572 in, 388x388 out.

from dataclasses import dataclass

from .builder import Builder
from .network import Network
from .options import ImageOptions, OptionError, ScaledOptions, again, option
from .text import Value

CHANNELS = 64  # of the first level; each level below has twice as many


@dataclass
class Options(ScaledOptions):
    image: int | tuple[int, int] = again(ImageOptions, "image", 572)
    in_channels: int = again(ImageOptions, "in_channels", 1)
    classes: int = again(ImageOptions, "classes", 2)
    levels: int = option(4, "how often the image is halved")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("levels")


def _double(b: Builder, x: Value, channels: int) -> Value:
    for i in (1, 2):
        x = b.relu(b.conv(x, channels, 3, f"conv{i}", bias=True), f"relu{i}")
    return x


def _crop(b: Builder, x: Value, like: Value) -> Value:
    """Returns the center of x."""
    (h, w), (small_h, small_w) = x.shape[2:], like.shape[2:]
    return b.slice("crop", x, (0, 0, (h - small_h) // 2, (w - small_w) // 2),
                   (*x.shape[:2], small_h, small_w))


def _body(b: Builder, options: Options) -> None:
    x = b.input("input", (b.batch, options.in_channels, *options.size))
    channels = [options.scaled(CHANNELS << level) for level in range(options.levels + 1)]
    skips = []
    for level in range(options.levels):
        with b.scope(f"down{level}"):
            skips.append(_double(b, x, channels[level]))
            if skips[-1].shape[2] % 2 or skips[-1].shape[3] % 2:
                raise OptionError(f"level {level} has {skips[-1].shape[2]}x{skips[-1].shape[3]} "
                                  "pixels, which cannot be halved; take another image size")
            x = b.max_pool(skips[-1], 2, 2, 0, "pool")
    with b.scope("bottom"):
        x = _double(b, x, channels[-1])
    for level in reversed(range(options.levels)):
        with b.scope(f"up{level}"):
            up = b.upconv(x, channels[level], "upconv")
            x = _double(b, b.concat("concat", [_crop(b, skips[level], up), up], 1),
                        channels[level])
    b.output(b.conv(x, options.classes, 1, "classifier", bias=True, gain=1.0))


UNET = Network(
    "unet", "U-Net (Ronneberger et al. 2015)", Options, _body,
    {"image": 60, "width": 0.2, "prime_channels": True, "levels": 2})
