"""Operators of the domain com.microsoft that are those of ONNX, or differ from them in the order of dims."""

from __future__ import annotations

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import I32
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators import indices, integer_convolutions, sampling, shapes, slices
from layout_mlir.onnx_import.operators.microsoft import (MICROSOFT, fused_matmul, real, run_operator, whole,
                                                        with_channels)
from layout_mlir.onnx_import.operators.norms import embed_layer_normalization
from layout_mlir.onnx_import.operators.shapes import checked_axes
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import is_static
from layout_mlir.onnx_import.values import Scalar, Tensor

for _name, _function in (("GatherND", indices.gather_nd), ("GridSample", sampling.import_grid_sample),
                         ("Pad", slices.pad), ("Range", shapes.range_), ("TransposeMatMul", fused_matmul)):
    operator(_name, domain=MICROSOFT)(_function)


@operator("ExpandDims", domain=MICROSOFT)
def expand_dims(b: Builder, node: Node, x: Tensor, axis: Tensor) -> Tensor:
    place = axis.constant_scalar()
    if place is None:
        node.refuse("its axis is not a constant")
    return b.unsqueeze(x, checked_axes(node, [int(place)], x.rank + 1))


@operator("CDist", domain=MICROSOFT)
def distances(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    """Returns the distance of each row of x from each row of y, as roots or squares."""
    kind = node.attribute("metric", "sqeuclidean")
    if kind not in ("euclidean", "sqeuclidean"):
        node.refuse(f"its metric '{kind}' is not one of ONNX Runtime")
    squares, = b.generic(lambda s, x, y, total: s.add(total, s.mul(s.sub(x, y), s.sub(x, y))),
                         [(x, "d0, d2"), (y, "d1, d2")],
                         [(b.fill([x.shape[0], y.shape[0]], x.element, 0), "d0, d1")],
                         ["parallel", "parallel", "reduction"])
    return squares if kind == "sqeuclidean" else b.elementwise(lambda s, x: s.sqrt(x), squares)


# ------------------------------------------------------------------- quantized

@operator("QLinearWhere", domain=MICROSOFT)
def qlinear_where(b: Builder, node: Node, condition: Tensor, x: Tensor, x_scale: Tensor, x_zero: Tensor, y: Tensor,
                  y_scale: Tensor, y_zero: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    given = [whole(b, real(b, *each), scale, zero, x.element) for each in ((x, x_scale, x_zero), (y, y_scale, y_zero))]
    return b.elementwise(lambda s, c, x, y: s.select(c, x, y), condition, *given, element=x.element)


@operator("NhwcMaxPool", domain=MICROSOFT)
def nhwc_max_pool(b: Builder, node: Node, x: Tensor) -> Tensor:
    names = ["auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"]
    return with_channels(b, x, lambda x: run_operator(b, node, "MaxPool", x, names))


@operator("QLinearConv", domain=MICROSOFT)
def qlinear_conv(b: Builder, node: Node, x: Tensor, *rest: Tensor) -> Tensor:
    """Imports QLinearConv, whose image has channels last with `channels_last`."""
    def convolve(x: Tensor) -> Tensor:
        return integer_convolutions.qlinear_conv(b, node, x, *rest)

    return with_channels(b, x, convolve) if node.attribute("channels_last", 0) else convolve(x)


@operator("QEmbedLayerNormalization", domain=MICROSOFT)
def quantized_embedding(b: Builder, node: Node, ids: Tensor, segments: Tensor | None,
                        *given: Tensor | None) -> list[Tensor]:
    """Imports QEmbedLayerNormalization: EmbedLayerNormalization whose five weights have scales and zero points."""
    weights, mask, scales, zeros = given[:5], given[5], given[6:11], given[11:16]
    tables = {number: real(b, x, scale, zero) for number, (x, scale, zero) in enumerate(zip(weights, scales, zeros))
              if x is not None and scale is not None}
    return embed_layer_normalization(b, node, ids, segments, tables[0], tables[1], tables.get(2), tables[3], tables[4],
                                     mask)


# --------------------------------------------------------------------- lookups

@operator("GatherBlockQuantized", domain=MICROSOFT)
def gather_block_quantized(b: Builder, node: Node, data: Tensor, places: Tensor, scales: Tensor,
                           zeros: Tensor | None = None) -> Tensor:
    """Imports GatherBlockQuantized for integers of 4 or 8 bits in tensors of their own type, whose blocks are along
    `quantize_axis`. Without zero points, that of bytes is 128, and that of others 0."""
    axis, along = node.axis(0, data.rank, "gather_axis"), node.axis(1, data.rank, "quantize_axis")
    size = int(node.attribute("block_size", 128))
    if data.element.bits == 8 and int(node.attribute("bits", 4)) != 8:
        node.refuse("its integers are packed in bytes: export it with tensors of 4-bit integers")
    if axis == along:
        node.refuse("its gather_axis is its quantize_axis")
    parts = [indices.gather(b, each, places, axis) for each in (data, scales, *([zeros] if zeros is not None else []))]
    rank = parts[0].rank
    along += places.rank - 1 if along > axis else 0
    everything = [f"d{dim}" for dim in range(rank)]
    blocks = [f"d{dim} floordiv {size}" if dim == along else f"d{dim}" for dim in range(rank)]

    def body(s: Scalars, x: Scalar, scale: Scalar, *rest: Scalar) -> Scalar:
        zero = s.cast(rest[0], I32) if zeros is not None else 128 if data.element.bits == 8 else 0
        return s.mul(s.cast(s.sub(s.cast(x, I32), zero), scales.element), scale)

    if not is_static(parts[0].shape[along]):
        node.refuse("the size of its quantize_axis is dynamic")
    result, = b.generic(body, [(parts[0], ", ".join(everything)), *[(each, ", ".join(blocks)) for each in parts[1:]]],
                        [(b.empty(parts[0].shape, scales.element), ", ".join(everything))], ["parallel"] * rank)
    return result
