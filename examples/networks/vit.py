"""ViT-B/16: an encoder of the patches of an image, or of a selection of them."""

# Dosovitskiy et al., "An Image is Worth 16x16 Words", 2020, table 1. Encoding a part of the
# patches: He et al., "Masked Autoencoders Are Scalable Vision Learners", 2021, section 3.

from dataclasses import dataclass

from .attention import attend, fused_qkv, merge_heads
from .builder import Builder
from .network import Network
from .options import (EncoderOptions, ImageOptions, OptionError, StructureOptions, TokenOptions,
                      again, option)
from .text import Value

EPSILON = 1e-6
BRANCH_GAIN = 0.25


@dataclass
class Options(EncoderOptions, ImageOptions, StructureOptions):
    patch: int = option(16, "height and width of a patch")
    # The number of selected patches, whose positions are an input; 0 for all patches in order.
    sequence: int | None = again(TokenOptions, "sequence", 0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("patch")
        if any(extent % self.patch for extent in self.size):
            raise OptionError(f"an image of {self.image} has no whole patches of {self.patch}")
        if self.sequence != 0:
            self.require_sequence(self.sequence, self.patches)

    @property
    def patches(self) -> int:
        return self.size[0] * self.size[1] // self.patch ** 2


def _patches(b: Builder, options: Options) -> Value:
    x = b.input("input", (b.batch, options.in_channels, *options.size))
    x = b.conv(x, options.hidden, options.patch, "patches", stride=options.patch, bias=True,
               gain=1.0)
    x = b.collapse("patches.flat", x, [[0], [1], [2, 3]])
    return b.transpose("patches.rows", x, (0, 2, 1))


def _tokens(b: Builder, options: Options, x: Value) -> Value:
    """Returns the class token followed by the patches to encode, with their positions added."""
    hidden = options.hidden
    positions = b.weight(b.normal("positions", (options.patches + 1, hidden), 0.3))
    first = b.weight(b.normal("class_token", (hidden,), 1.0))
    one = (b.batch, 1, hidden)
    token = b.pointwise("class_token.all", [(first, (2,))], lambda s, a: a, one)
    if options.sequence == 0:
        x = b.concat("tokens", [token, x], 1)
        return b.pointwise("placed", [x, (positions, (1, 2))], lambda s, a, p: s.add(a, p))

    own, others = (b.slice(f"positions.{name}", positions, (at, 0), (count, hidden))
                   for name, at, count in (("class", 0, 1), ("patches", 1, options.patches)))
    x = b.pointwise("placed", [x, (others, (1, 2))], lambda s, a, p: s.add(a, p))
    token = b.pointwise("class_token.placed", [token, (own, (1, 2))], lambda s, a, p: s.add(a, p))
    count = "%sequence" if options.sequence is None else options.sequence
    ids = b.input("places", (b.batch, count), "i64", options.patches)
    return b.concat("tokens", [token, b.gather_rows("picked", x, ids)], 1)


def _layer(b: Builder, options: Options, x: Value) -> Value:
    with b.scope("attention"):
        y = b.layer_norm(x, "norm", EPSILON)
        y = merge_heads(b, attend(b, *fused_qkv(b, y, options.heads)), y, options.heads, "merged")
        x = b.elementwise("add", "sum", x,
                          b.linear(y, options.hidden, "output", gain=BRANCH_GAIN))
    with b.scope("mlp"):
        y = b.linear(b.layer_norm(x, "norm", EPSILON), options.intermediate, "linear1", gain=2.0)
        y = b.linear(b.gelu(y, "gelu"), options.hidden, "linear2", gain=BRANCH_GAIN)
        return b.elementwise("add", "sum", x, y)


def _body(b: Builder, options: Options) -> None:
    x = _tokens(b, options, _patches(b, options))
    x = b.chain("layer", [f"layer.{i}" for i in range(options.layers)], x,
                lambda x: _layer(b, options, x))
    x = b.layer_norm(x, "norm", EPSILON)
    x = b.slice("class", x, (0, 0, 0), (b.batch, 1, options.hidden), drop=[1])
    b.output(b.linear(x, options.classes, "head"))


VIT_B16 = Network(
    "vit_b16", "ViT-B/16 (Dosovitskiy et al. 2020)", Options, _body,
    {"image": 20, "patch": 4, "layers": 2, "hidden": 33, "heads": 3, "intermediate": 61,
     "classes": 10})
