"""Inverted residuals with squeeze and excitation, as in the EfficientNets."""

from .builder import Builder
from .layers import same_padding
from .text import Value

# The gain before a SiLU, which halves the mean square of large activations. Without it, activations would shrink from
# block to block to the magnitude of rounding errors.
SILU_GAIN = 2.0
BRANCH_GAIN = 0.5


def _padding(x: Value, kernel: int, stride: int, same: bool):
    return same_padding(x, kernel, stride) if same else kernel // 2


def _residual(b: Builder, x: Value, y: Value, stride: int) -> Value:
    return b.add(x, y, "sum") if stride == 1 and x.shape == y.shape else y


def mbconv(b: Builder, x: Value, channels: int, kernel: int, stride: int, expansion: int,
           same: bool = False) -> Value:
    """Expands, applies a depthwise convolution, squeezes to a quarter of the block's input channels, and projects.
    `same` pads only as much as the stride requires, more at the end; otherwise both sides are padded equally."""
    hidden = x.shape[1] * expansion
    y = x
    if expansion != 1:
        y = b.silu(b.conv_bn(y, hidden, 1, "expand", "expand_bn", gain=SILU_GAIN), "expand_silu")
    y = b.conv_bn(y, hidden, kernel, "depthwise", "depthwise_bn", stride=stride, depthwise=True,
                  padding=_padding(y, kernel, stride, same), gain=SILU_GAIN)
    y = b.excite(b.silu(y, "depthwise_silu"), max(1, x.shape[1] // 4), "se")
    # Scaling by a sigmoid halves the mean square once more.
    y = b.conv_bn(y, channels, 1, "project", "project_bn", gain=2 * SILU_GAIN,
                  branch_gain=BRANCH_GAIN)
    return _residual(b, x, y, stride)


def fused_mbconv(b: Builder, x: Value, channels: int, kernel: int, stride: int,
                 expansion: int) -> Value:
    """Applies expansion and depthwise convolution as one full convolution, without squeeze and excitation."""
    hidden = channels if expansion == 1 else x.shape[1] * expansion
    y = b.conv_bn(x, hidden, kernel, "fused", "fused_bn", stride=stride, padding=kernel // 2,
                  gain=SILU_GAIN)
    y = b.silu(y, "fused_silu")
    if expansion != 1:
        y = b.conv_bn(y, channels, 1, "project", "project_bn", gain=SILU_GAIN,
                      branch_gain=BRANCH_GAIN)
    return _residual(b, x, y, stride)
