"""The U-Net of Stable Diffusion v1, and the denoising loop that uses it."""

# Rombach et al., "High-Resolution Image Synthesis with Latent Diffusion Models", 2022, with the
# sizes of the released v1 model; steps: Song et al., "Denoising Diffusion Implicit Models", 2020;
# guidance: Ho and Salimans, "Classifier-Free Diffusion Guidance", 2022.

from dataclasses import dataclass

import numpy as np

from .attention import attention
from .builder import Builder
from .network import Network
from .options import ChannelOptions, EncoderOptions, OptionError, PixelOptions, again, option
from .text import Scalars, Value

CHANNELS = [320, 640, 1280, 1280]
DEPTH = 2  # blocks per level on the way down; one more on the way up
TIME_WIDTH = 4  # in units of the channels of the first level
LONGEST_PERIOD = 10000.0
NOISE_STEPS, FIRST_NOISE, LAST_NOISE = 1000, 0.00085, 0.012
BRANCH_GAIN = 0.25
EPSILON, ATTENTION_EPSILON = 1e-5, 1e-6


@dataclass
class Options(PixelOptions, ChannelOptions):
    image: int | tuple[int, int] = again(PixelOptions, "image", 64)
    in_channels: int = again(PixelOptions, "in_channels", 4)
    depth: int = option(DEPTH, "blocks of a level")
    norm_groups: int = option(32, "groups of channels that are normalized together")
    heads: int = again(EncoderOptions, "heads", 8)
    tokens: int = option(77, "of the text that guides")
    context: int = option(768, "width of what is known of a token")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("depth", "norm_groups", "heads", "tokens", "context")
        for count in self.levels:
            if count % self.norm_groups:
                raise OptionError(f"{self.norm_groups} groups do not divide {count} channels")
            self.require_heads(self.heads, count)
        step = 1 << (len(self.levels) - 1)
        if any(extent % step for extent in self.size):
            raise OptionError(f"image must be a multiple of {step}, not {self.image}")

    @property
    def levels(self) -> list[int]:
        """Returns the channels of each level."""
        given = CHANNELS if self.channels is None else self.channels
        return self.pick("channels", given, given)


@dataclass
class DenoiseOptions(Options):
    steps: int = option(50, "how often noise is removed")
    guidance: float = option(7.5, "how far to follow the text", float)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("steps")
        if self.batch is None:
            raise OptionError("batch must be a number: the loop doubles it")
        if self.steps > NOISE_STEPS:
            raise OptionError(f"steps must be at most {NOISE_STEPS}, not {self.steps}")


def _time_embedding(b: Builder, options: Options, time: Value) -> Value:
    half, width = options.levels[0] // 2, TIME_WIDTH * options.levels[0]
    with b.scope("time"):
        speeds = b.table("time_speeds", LONGEST_PERIOD ** (-np.arange(half) / half))
        angles = b.pointwise("angles", [(time, (0,)), (speeds, (1,))], lambda s, t, f: s.mul(t, f),
                             (time.shape[0], half))
        x = b.concat("waves", [b.pointwise(name, [angles], lambda s, a: s.op(f"math.{name}", a))
                               for name in ("cos", "sin")], 1)
        x = b.silu(b.linear(x, width, "linear1", gain=2.0), "silu")
        return b.linear(x, width, "linear2")


def _residual(b: Builder, options: Options, x: Value, time: Value, channels: int) -> Value:
    y = b.silu(b.group_norm(x, options.norm_groups, "norm1", EPSILON), "silu1")
    y = b.conv(y, channels, 3, "conv1", padding=1, bias=True)
    shift = b.linear(b.silu(time, "time_silu"), channels, "time")
    y = b.pointwise("timed", [y, (shift, (0, 1))], lambda s, a, t: s.add(a, t))
    y = b.silu(b.group_norm(y, options.norm_groups, "norm2", EPSILON), "silu2")
    y = b.conv(y, channels, 3, "conv2", padding=1, bias=True, gain=BRANCH_GAIN)
    if x.shape[1] != channels:
        x = b.conv(x, channels, 1, "shortcut", bias=True, gain=1.0)
    return b.add(x, y, "sum")


def _feed_forward(b: Builder, x: Value) -> Value:
    """Appends a feed-forward layer in which one half of the projection gates the other."""
    width = 4 * x.shape[2]
    y = b.linear(x, 2 * width, "project", gain=2.0)
    value, gate = (b.slice(name, y, (0, 0, at), (*x.shape[:2], width))
                   for name, at in (("value", 0), ("gate", width)))
    y = b.elementwise("mul", "gated", value, b.gelu(gate, "gelu"))
    return b.linear(y, x.shape[2], "output", gain=BRANCH_GAIN)


def _transformer(b: Builder, options: Options, x: Value, context: Value) -> Value:
    n, c, h, w = x.shape
    y = b.group_norm(x, options.norm_groups, "norm", ATTENTION_EPSILON)
    y = b.conv(y, c, 1, "project_in", bias=True, gain=1.0)
    y = b.collapse("places", b.transpose("last", y, (0, 2, 3, 1)), [[0], [1, 2], [3]])
    for name in ("self", "cross"):
        with b.scope(name):
            z = b.layer_norm(y, "norm", EPSILON)
            z = attention(b, z, z if name == "self" else context, options.heads, bias=False,
                          gain=BRANCH_GAIN)
            y = b.elementwise("add", "sum", y, z)
    with b.scope("feed_forward"):
        y = b.elementwise("add", "sum", y, _feed_forward(b, b.layer_norm(y, "norm", EPSILON)))
    y = b.transpose("second", b.expand("image", y, [n], [h, w], [c]), (0, 3, 1, 2))
    y = b.conv(y, c, 1, "project_out", bias=True, gain=BRANCH_GAIN)
    return b.add(x, y, "sum")


def unet(b: Builder, options: Options, x: Value, time: Value, context: Value) -> Value:
    """Returns the predicted noise in x."""
    levels = options.levels
    time = _time_embedding(b, options, time)

    def block(x: Value, level: int) -> Value:
        """Appends a residual block, and attention on all levels except the lowest."""
        with b.scope("residual"):
            x = _residual(b, options, x, time, levels[level])
        if level == len(levels) - 1:
            return x
        with b.scope("transformer"):
            return _transformer(b, options, x, context)

    x = b.conv(x, levels[0], 3, "conv_in", padding=1, bias=True, gain=1.0)
    skips = [x]
    for level, channels in enumerate(levels):
        for i in range(options.depth):
            with b.scope(f"down{level}.{i}"):
                x = block(x, level)
            skips.append(x)
        if level < len(levels) - 1:
            x = b.conv(x, channels, 3, f"down{level}.halve", stride=2, padding=1, bias=True,
                       gain=1.0)
            skips.append(x)
    with b.scope("middle"):
        with b.scope("residual1"):
            x = _residual(b, options, x, time, levels[-1])
        with b.scope("transformer"):
            x = _transformer(b, options, x, context)
        with b.scope("residual2"):
            x = _residual(b, options, x, time, levels[-1])
    for level in reversed(range(len(levels))):
        for i in range(options.depth + 1):
            with b.scope(f"up{level}.{i}"):
                x = block(b.concat("skip", [x, skips.pop()], 1), level)
        if level > 0:
            with b.scope(f"up{level}.double"):
                x = b.conv(b.upsample(x, 2, "upsample"), levels[level], 3, "conv", padding=1,
                           bias=True, gain=1.0)
    x = b.silu(b.group_norm(x, options.norm_groups, "norm_out", EPSILON), "silu_out")
    return b.conv(x, options.in_channels, 3, "conv_out", padding=1, bias=True)


def _once(b: Builder, options: Options) -> None:
    x = b.input("latent", (b.batch, options.in_channels, *options.size))
    time = b.input("time", (b.batch,))
    context = b.input("text", (b.batch, options.tokens, options.context))
    b.output(unet(b, options, x, time, context))


def _schedule(b: Builder, steps: int) -> tuple[Value, Value, Value]:
    """Returns tables with the time of each step, and the share of the image before and after the step."""
    noise = np.linspace(FIRST_NOISE ** 0.5, LAST_NOISE ** 0.5, NOISE_STEPS) ** 2
    left = np.cumprod(1 - noise)
    times = (np.arange(steps) * (NOISE_STEPS // steps))[::-1]
    after = np.append(left[times[1:]], 1.0)
    return tuple(b.table(name, array) for name, array in (
        ("times", times.astype(np.float32)), ("left", left[times]), ("left_after", after)))


def guided_step(b: Builder, x: Value, free: Value, guided: Value, left: str, after: str,
                guidance: float) -> Value:
    """Returns x, whose image share is `left`, denoised to the share `after` by the noise that was predicted without and
    with the text."""
    def root(s: Scalars, a: str) -> str:
        return s.op("math.sqrt", a)

    def move(s: Scalars, x: str, free: str, guided: str) -> str:
        one = s.constant(1.0)
        noise = s.add(free, s.mul(s.constant(guidance), s.sub(guided, free)))
        image = s.div(s.sub(x, s.mul(root(s, s.sub(one, left)), noise)), root(s, left))
        return s.add(s.mul(root(s, after), image), s.mul(root(s, s.sub(one, after)), noise))

    return b.pointwise("step.moved", [x, free, guided], move)


def _denoise(b: Builder, options: DenoiseOptions) -> None:
    shape = (b.batch, options.in_channels, *options.size)
    latent = b.input("latent", shape)
    # Rows without a text come first, then those with a text.
    context = b.input("texts", (2 * b.batch, options.tokens, options.context))
    schedule = _schedule(b, options.steps)

    def step(index: str, carried: list[Value]) -> list[Value]:
        x, = carried
        time, left, after = (b.element(f"step.{name}", table, [index])
                             for name, table in zip(("time", "left", "after"), schedule))
        times = b.pointwise("step.times", [], lambda s: time, (2 * b.batch,))
        noise = unet(b, options, b.concat("step.both", [x, x], 0), times, context)
        free, guided = (b.slice(f"step.{name}", noise, (at, 0, 0, 0), shape)
                        for name, at in (("free", 0), ("guided", b.batch)))

        return [guided_step(b, x, free, guided, left, after, options.guidance)]

    b.output(*b.loop("steps", options.steps, [latent], step))


_SMALL = {"image": 8, "channels": [10, 20], "depth": 1, "norm_groups": 5, "heads": 2,
          "tokens": 7, "context": 13}
SD_UNET = Network("sd_unet", "U-Net of Stable Diffusion v1 (Rombach et al. 2022)", Options, _once,
                  _SMALL)
SD_DENOISE = Network(
    "sd_denoise", "the same in a loop over guided denoising steps (Song et al. 2020)",
    DenoiseOptions, _denoise, {**_SMALL, "steps": 2})
