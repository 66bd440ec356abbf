"""Swin-T: attention within windows, which are shifted by half a window in every second block."""

# Liu et al., "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", 2021,
# table 7.

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .attention import attend, fused_qkv, merge_heads
from .builder import Builder
from .network import Network
from .options import (BlockOptions, EncoderOptions, ImageOptions, OptionError, StructureOptions,
                      again, option)
from .text import Value

EPSILON = 1e-5
BRANCH_GAIN = 0.25
PATCH, EXPANSION = 4, 4
BLOCKS = [2, 2, 6, 2]
FIRST_HEADS = 3  # each later stage has twice as many, and is twice as wide
MASKED = -100.0


@dataclass
class Options(ImageOptions, BlockOptions, StructureOptions):
    hidden: int = again(EncoderOptions, "hidden", 96)
    window: int = option(7, "height and width of an attention window")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("hidden", "window")
        self.require_heads(FIRST_HEADS, self.hidden)
        step = PATCH * self.window << (len(self.stages) - 1)
        if any(extent % step for extent in self.size):
            raise OptionError(f"image must be a multiple of {step} for windows of {self.window} "
                              f"in {len(self.stages)} stages, not {self.image}")
        if any(count % 2 for count in self.stages):
            raise OptionError("blocks come in pairs, one with windows that are moved")

    @property
    def stages(self) -> list[int]:
        """Returns the number of blocks of each stage."""
        given = BLOCKS if self.blocks is None else self.blocks
        return self.pick("blocks", given, given)


def _rolled(b: Builder, x: Value, by: int, name: str) -> Value:
    """Rotates rows and columns cyclically so that index `by` comes first."""
    for dim in (1, 2):
        extent = x.shape[dim]
        cut = by % extent
        parts = []
        for part, (start, size) in enumerate(((cut, extent - cut), (0, cut))):
            offsets, sizes = [0] * x.rank, list(x.shape)
            offsets[dim], sizes[dim] = start, size
            parts.append(b.slice(f"{name}.{dim}.{part}", x, offsets, sizes))
        x = b.concat(f"{name}.{dim}", parts, dim)
    return x


def _partition(b: Builder, x: Value, window: int) -> Value:
    """Reshapes [n, h, w, c] to [n * windows, places, c]."""
    n, h, w, c = x.shape
    y = b.expand("windows", x, [n], [h // window, window], [w // window, window], [c])
    y = b.transpose("windows.transpose", y, (0, 1, 3, 2, 4, 5))
    return b.collapse("windows.flat", y, [[0, 1, 2], [3, 4], [5]])


def _reverse(b: Builder, x: Value, shape: Sequence, window: int) -> Value:
    n, h, w, c = shape
    y = b.expand("grid", x, [n, h // window, w // window], [window, window], [c])
    y = b.transpose("grid.transpose", y, (0, 1, 3, 2, 4, 5))
    return b.collapse("grid.image", y, [[0], [1, 2], [3, 4], [5]])


def _relative_places(window: int) -> np.ndarray:
    """Returns, for each pair of positions in a window, the row of their offset in the table of biases."""
    y, x = np.divmod(np.arange(window * window), window)
    dy, dx = y[:, None] - y[None, :], x[:, None] - x[None, :]
    return ((dy + window - 1) * (2 * window - 1) + dx + window - 1).reshape(-1)


def _seam_mask(height: int, width: int, window: int, shift: int) -> np.ndarray:
    """Returns a mask [windows, places, places] against attention between positions that only the cyclic shift made
    adjacent."""
    def bands(extent: int) -> np.ndarray:
        return np.digitize(np.arange(extent), [extent - window, extent - shift])

    region = 3 * bands(height)[:, None] + bands(width)[None, :]
    grid = region.reshape(height // window, window, width // window, window)
    rows = grid.transpose(0, 2, 1, 3).reshape(-1, window * window)
    return np.where(rows[:, :, None] == rows[:, None, :], 0.0, MASKED)


def _position_bias(b: Builder, heads: int, window: int) -> Value:
    """Returns biases [heads, places, places] from a learned table."""
    places = window * window
    table = b.weight(b.normal("bias_table", ((2 * window - 1) ** 2, heads), 0.3))
    rows = b.gather("bias.rows", table, b.table(f"relative_places.{window}",
                                                _relative_places(window)))
    split = b.expand("bias.split", rows, [places, places], [heads])
    return b.transpose("bias", split, (2, 0, 1))


def window_attention(b: Builder, x: Value, heads: int, window: int, shift: int) -> Value:
    n, h, w, c = x.shape
    if shift:
        x = _rolled(b, x, shift, "roll")
    windows = _partition(b, x, window)
    bias = _position_bias(b, heads, window)
    places, count = window * window, (h // window) * (w // window)

    def add_bias(scores: Value) -> Value:
        y = b.expand("by_window", scores, [n, count, heads], [places], [places])
        if shift:
            seams = b.table(f"seams.{h}x{w}.{window}", _seam_mask(h, w, window, shift))
            y = b.pointwise("biased", [y, (bias, (2, 3, 4)), (seams, (1, 3, 4))],
                            lambda s, a, p, m: s.add(s.add(a, p), m))
        else:
            y = b.pointwise("biased", [y, (bias, (2, 3, 4))], lambda s, a, p: s.add(a, p))
        return b.collapse("by_head", y, [[0, 1, 2], [3], [4]])

    context = attend(b, *fused_qkv(b, windows, heads), mask=add_bias)
    y = merge_heads(b, context, windows, heads, "merged")
    y = _reverse(b, b.linear(y, c, "output", gain=BRANCH_GAIN), (n, h, w, c), window)
    return _rolled(b, y, -shift, "unroll") if shift else y


def _block(b: Builder, x: Value, heads: int, window: int, shift: int) -> Value:
    with b.scope("attention"):
        y = window_attention(b, b.layer_norm(x, "norm", EPSILON), heads, window, shift)
        x = b.elementwise("add", "sum", x, y)
    with b.scope("mlp"):
        c = x.shape[3]
        y = b.linear(b.layer_norm(x, "norm", EPSILON), EXPANSION * c, "linear1", gain=2.0)
        y = b.linear(b.gelu(y, "gelu"), c, "linear2", gain=BRANCH_GAIN)
        return b.elementwise("add", "sum", x, y)


def _pair(b: Builder, x: Value, heads: int, window: int) -> Value:
    """Appends a block with unshifted windows, and one with shifted windows if there is more than one window."""
    with b.scope("plain"):
        x = _block(b, x, heads, window, 0)
    several = x.shape[1] > window or x.shape[2] > window
    with b.scope("moved"):
        return _block(b, x, heads, window, window // 2 if several else 0)


def _merged(b: Builder, x: Value) -> Value:
    """Halves the resolution: four neighbors are concatenated and projected to twice the channels."""
    n, h, w, c = x.shape
    parts = [b.slice(f"part{row}{column}", x, (0, row, column, 0), (n, h // 2, w // 2, c),
                     (1, 2, 2, 1)) for column in (0, 1) for row in (0, 1)]
    y = b.layer_norm(b.concat("parts", parts, 3), "norm", EPSILON)
    return b.linear(y, 2 * c, "reduction", bias=False)


def _body(b: Builder, options: Options) -> None:
    x = b.input("input", (b.batch, options.in_channels, *options.size))
    x = b.conv(x, options.hidden, PATCH, "patches", stride=PATCH, bias=True, gain=1.0)
    x = b.layer_norm(b.transpose("patches.last", x, (0, 2, 3, 1)), "patches.norm", EPSILON)
    for i, count in enumerate(options.stages):
        if i > 0:
            with b.scope(f"merge{i}"):
                x = _merged(b, x)
        pairs = [f"stage{i + 1}.{j}" for j in range(count // 2)]
        x = b.chain(f"stage{i + 1}", pairs, x,
                    lambda x: _pair(b, x, FIRST_HEADS << i, options.window))
    x = b.layer_norm(x, "norm", EPSILON)
    count = float(x.shape[1] * x.shape[2])
    total = b.sum_of("pool.sum", [x], (1, 2), lambda s, a: a)
    x = b.pointwise("pool", [total], lambda s, a: s.div(a, s.constant(count)))
    b.output(b.linear(x, options.classes, "head"))


SWIN_T = Network(
    "swin_t", "Swin-T (Liu et al. 2021)", Options, _body,
    {"image": 32, "hidden": 15, "window": 2, "blocks": [2, 2], "classes": 10})
