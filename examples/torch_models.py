"""PyTorch models with random weights, after those of torchvision and of transformers.

  build(name, small)     a model in evaluation mode, and inputs for a batch size

`small` has the same operations on fewer channels, layers and pixels. Weights are those of PyTorch's initialization, and
statistics of batch normalizations are random, so that no operation is an identity.
"""

import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


def round_to_eight(channels):
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


def conv(inputs, outputs, size, stride=1, groups=1, activation=nn.ReLU):
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


# ------------------------------------------------------------------------ convolutions

class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.body = nn.Sequential(conv(inputs, width, 1), conv(width, width, 3, stride),
                                  conv(width, 4 * width, 1, activation=None))
        same = stride == 1 and inputs == 4 * width
        self.shortcut = nn.Identity() if same else conv(inputs, 4 * width, 1, stride, activation=None)

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


class ResNet50(nn.Module):
    def __init__(self, width=64, depths=(3, 4, 6, 3), classes=1000):
        super().__init__()
        layers, inputs = [conv(3, width, 7, 2), nn.MaxPool2d(3, 2, 1)], width
        for stage, depth in enumerate(depths):
            for block in range(depth):
                layers.append(Bottleneck(inputs, width << stage, 2 if stage and not block else 1))
                inputs = 4 * (width << stage)
        self.features, self.head = nn.Sequential(*layers), nn.Linear(inputs, classes)

    def forward(self, x):
        return self.head(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, squeezed, activation, gate):
        super().__init__()
        self.reduce, self.expand = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)
        self.activation, self.gate = activation(), gate()

    def forward(self, x):
        scale = self.activation(self.reduce(F.adaptive_avg_pool2d(x, 1)))
        return x * self.gate(self.expand(scale))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, expanded, outputs, size, stride, activation, squeeze=None):
        super().__init__()
        layers = [conv(inputs, expanded, 1, activation=activation)] if expanded != inputs else []
        layers.append(conv(expanded, expanded, size, stride, groups=expanded, activation=activation))
        if squeeze:
            layers.append(SqueezeExcitation(expanded, *squeeze))
        layers.append(conv(expanded, outputs, 1, activation=None))
        self.body, self.is_residual = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.body(x)
        return x + y if self.is_residual else y


# kernel, expanded channels, output channels, squeeze-excitation, h-swish, stride
MOBILENET_V3 = [(3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2),
                (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1),
                (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1),
                (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)]


class MobileNetV3(nn.Module):
    def __init__(self, rows=MOBILENET_V3, last=1280, classes=1000):
        super().__init__()
        layers, inputs = [conv(3, 16, 3, 2, activation=nn.Hardswish)], 16
        for size, expanded, outputs, squeezes, is_swish, stride in rows:
            squeeze = (round_to_eight(expanded // 4), nn.ReLU, nn.Hardsigmoid) if squeezes else None
            layers.append(InvertedResidual(inputs, expanded, outputs, size, stride,
                                           nn.Hardswish if is_swish else nn.ReLU, squeeze))
            inputs = outputs
        layers.append(conv(inputs, 6 * inputs, 1, activation=nn.Hardswish))
        self.features = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Linear(6 * inputs, last), nn.Hardswish(), nn.Dropout(0.2),
                                  nn.Linear(last, classes))

    def forward(self, x):
        return self.head(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


# expansion, kernel, stride, output channels, blocks
EFFICIENTNET_B0 = [(1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3),
                   (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)]


class EfficientNet(nn.Module):
    def __init__(self, rows=EFFICIENTNET_B0, stem=32, last=1280, classes=1000):
        super().__init__()
        layers, inputs = [conv(3, stem, 3, 2, activation=nn.SiLU)], stem
        for expansion, size, stride, outputs, blocks in rows:
            for block in range(blocks):
                layers.append(InvertedResidual(inputs, expansion * inputs, outputs, size, 1 if block else stride,
                                               nn.SiLU, (max(1, inputs // 4), nn.SiLU, nn.Sigmoid)))
                inputs = outputs
        layers.append(conv(inputs, last, 1, activation=nn.SiLU))
        self.features, self.head = nn.Sequential(*layers), nn.Linear(last, classes)

    def forward(self, x):
        return self.head(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


# ------------------------------------------------------------------------ transformers

class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask=None):
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(n, length, width))


def mlp(width, hidden):
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))


class Block(nn.Module):
    """A layer of ViT, which normalizes before attention, or of BERT, which normalizes after it."""

    def __init__(self, width, heads, normalizes_after=False):
        super().__init__()
        self.attention, self.mlp = Attention(width, heads), mlp(width, 4 * width)
        self.norms, self.normalizes_after = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)]), normalizes_after

    def forward(self, x, mask=None):
        first, second = self.norms
        if self.normalizes_after:
            x = first(x + self.attention(x, mask))
            return second(x + self.mlp(x))
        x = x + self.attention(first(x), mask)
        return x + self.mlp(second(x))


class ViT(nn.Module):
    def __init__(self, width=768, layers=12, heads=12, patch=16, pixels=224, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(1, (pixels // patch) ** 2 + 1, width))
        self.blocks, self.norm = nn.Sequential(*[Block(width, heads) for _ in range(layers)]), nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


class WindowAttention(nn.Module):
    """Attention in windows of a feature map, which is shifted by half a window in every second layer."""

    def __init__(self, width, heads, window, shift):
        super().__init__()
        self.window, self.shift, self.heads = window, shift, heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.bias = nn.Parameter(0.02 * torch.randn((2 * window - 1) ** 2, heads))
        grid = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        offsets = grid[:, :, None] - grid[:, None, :] + window - 1
        self.register_buffer("index", offsets[0] * (2 * window - 1) + offsets[1])

    def get_mask(self, height, width, x):
        regions = x.new_zeros(height, width)
        parts = (slice(0, -self.window), slice(-self.window, -self.shift), slice(-self.shift, None))
        for i, rows in enumerate(parts):
            for j, columns in enumerate(parts):
                regions[rows, columns] = 3 * i + j
        w = self.window
        regions = regions.view(height // w, w, width // w, w).permute(0, 2, 1, 3).reshape(-1, w * w)
        return torch.where(regions[:, None, :] == regions[:, :, None], 0.0, -100.0)

    def forward(self, x):
        n, height, width, channels = x.shape
        w, tokens, per_head = self.window, self.window ** 2, channels // self.heads
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        x = x.view(n, height // w, w, width // w, w, channels).permute(0, 1, 3, 2, 4, 5).reshape(-1, tokens, channels)
        q, k, v = self.qkv(x).view(-1, tokens, 3, self.heads, per_head).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q * per_head ** -0.5) @ k.transpose(-2, -1)
        scores = scores + self.bias[self.index.view(-1)].view(tokens, tokens, -1).permute(2, 0, 1)
        if self.shift:
            mask = self.get_mask(height, width, x)
            scores = (scores.view(n, -1, self.heads, tokens, tokens) + mask[:, None]).view(scores.shape)
        x = self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(-1, tokens, channels))
        x = x.view(n, height // w, width // w, w, w, channels).permute(0, 1, 3, 2, 4, 5)
        x = x.reshape(n, height, width, channels)
        return torch.roll(x, (self.shift, self.shift), (1, 2)) if self.shift else x


class SwinBlock(nn.Module):
    def __init__(self, width, heads, window, shift):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.mlp = WindowAttention(width, heads, window, shift), mlp(width, 4 * width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.reduction = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        return self.reduction(self.norm(torch.cat(parts, -1)))


class Swin(nn.Module):
    def __init__(self, width=96, depths=(2, 2, 6, 2), heads=(3, 6, 12, 24), window=7, pixels=224, classes=1000):
        super().__init__()
        self.patches, self.norm0 = nn.Conv2d(3, width, 4, 4), nn.LayerNorm(width)
        layers, size = [], pixels // 4
        for stage, (depth, count) in enumerate(zip(depths, heads)):
            if stage:
                layers.append(PatchMerging(width))
                width, size = 2 * width, size // 2
            layers += [SwinBlock(width, count, window, window // 2 if block % 2 and size > window else 0)
                       for block in range(depth)]
        self.layers, self.norm, self.head = nn.Sequential(*layers), nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.norm0(self.patches(x).permute(0, 2, 3, 1))
        return self.head(self.norm(self.layers(x)).mean((1, 2)))


class Bert(nn.Module):
    def __init__(self, width=768, layers=12, heads=12, words=30522, positions=512):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(positions, width)
        self.types, self.norm = nn.Embedding(2, width), nn.LayerNorm(width)
        self.blocks = nn.ModuleList([Block(width, heads, normalizes_after=True) for _ in range(layers)])
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens, mask):
        x = self.words(tokens) + self.positions.weight[:tokens.shape[1]] + self.types.weight[0]
        x, bias = self.norm(x), torch.where(mask, 0.0, -1e9)[:, None, None, :]
        for block in self.blocks:
            x = block(x, bias)
        return x, torch.tanh(self.pooler(x[:, 0]))


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, shared, hidden):
        super().__init__()
        self.heads, self.shared, per_head = heads, shared, width // heads
        self.norm1, self.norm2 = nn.RMSNorm(width, 1e-5), nn.RMSNorm(width, 1e-5)
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, shared * per_head, bias=False) for _ in range(2))
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def attend(self, x, cos, sin):
        n, length, width = x.shape

        def split(y, heads):
            return y.view(n, length, heads, -1).transpose(1, 2)

        def rotate(y):
            first, second = y.chunk(2, -1)
            return y * cos + torch.cat([-second, first], -1) * sin

        q, k, v = rotate(split(self.q(x), self.heads)), rotate(split(self.k(x), self.shared)), split(self.v(x),
                                                                                                    self.shared)
        k, v = (y.repeat_interleave(self.heads // self.shared, 1) for y in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(n, length, width))

    def forward(self, x, cos, sin):
        x = x + self.attend(self.norm1(x), cos, sin)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, width=768, layers=12, heads=12, shared=4, hidden=2048, words=32000):
        super().__init__()
        self.words, self.norm = nn.Embedding(words, width), nn.RMSNorm(width, 1e-5)
        self.blocks = nn.ModuleList([LlamaBlock(width, heads, shared, hidden) for _ in range(layers)])
        self.head = nn.Linear(width, words, bias=False)
        per_head = width // heads
        self.register_buffer("frequencies", 10000.0 ** (-torch.arange(0, per_head, 2) / per_head))

    def forward(self, tokens):
        angles = torch.arange(tokens.shape[1])[:, None] * self.frequencies
        angles = torch.cat([angles, angles], -1)
        x, cos, sin = self.words(tokens), angles.cos(), angles.sin()
        for block in self.blocks:
            x = block(x, cos, sin)
        return self.head(self.norm(x))


# --------------------------------------------------------------------------------- all

@dataclasses.dataclass
class Entry:
    model: type
    small: dict
    pixels: tuple = (0, 0)  # of the inputs at full size and small; 0 for tokens


MODELS = {
    "resnet50": Entry(ResNet50, {"width": 8, "depths": (1, 2), "classes": 10}, (224, 64)),
    "mobilenet_v3": Entry(MobileNetV3, {"rows": [MOBILENET_V3[row] for row in (0, 1, 3, 4, 6)], "last": 64,
                                        "classes": 10}, (224, 64)),
    "efficientnet_b0": Entry(EfficientNet, {"rows": [*EFFICIENTNET_B0[:2], (6, 5, 2, 40, 1)], "last": 64,
                                            "classes": 10}, (224, 64)),
    "vit_b16": Entry(ViT, {"width": 64, "layers": 1, "heads": 4, "patch": 8, "pixels": 32, "classes": 10}, (224, 32)),
    "swin_t": Entry(Swin, {"width": 16, "depths": (2, 1), "heads": (2, 4), "window": 4, "pixels": 64, "classes": 10},
                    (224, 64)),
    "bert_base": Entry(Bert, {"width": 64, "layers": 1, "heads": 4, "words": 100, "positions": 32}),
    "llama": Entry(Llama, {"width": 64, "layers": 1, "heads": 4, "shared": 2, "hidden": 128, "words": 100}),
}


def draw_inputs(name, small, batch=1, tokens=None):
    """Returns random inputs of a model."""
    entry = MODELS[name]
    if entry.pixels[small]:
        return (torch.randn(batch, 3, entry.pixels[small], entry.pixels[small]),)
    tokens = tokens or (16 if small else 128)
    drawn = torch.randint(0, 100, (batch, tokens))
    return (drawn, torch.arange(tokens).expand(batch, -1) < tokens - 3) if name == "bert_base" else (drawn,)


def build(name, small, seed=0):
    """Returns a model in evaluation mode."""
    torch.manual_seed(seed)
    model = MODELS[name].model(**(MODELS[name].small if small else {})).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.normal_(module.running_mean, 0, 0.1)
    return model
