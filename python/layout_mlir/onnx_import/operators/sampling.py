"""Operators that read a tensor at positions from other tensors, written as loops (loops.py)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.convolution_forms import check_operands
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import is_static
from layout_mlir.onnx_import.values import Scalar
from layout_mlir.onnx_import.values import Tensor as Value
from layout_mlir.onnx_import.windows import read_integers, read_window

if TYPE_CHECKING:
    from layout_mlir.loops import (Tensor, all_of, ceil, empty, floor, indices, integer, product_of, rank, real,
                                   roundeven, shape, size)

# ------------------------------------------------------------------------ regions


def interpolate(x: Tensor, n: int, c: int, h: float, w: float, takes_max: bool) -> float:
    """Interpolates between four pixels; returns 0 more than one pixel outside of the image."""
    height, width = size(x, 2), size(x, 3)
    inside = h >= -1.0 and h <= real(height) and w >= -1.0 and w <= real(width)
    result = 0.0
    if inside:
        y, x_ = min(max(h, 0.0), real(height - 1)), min(max(w, 0.0), real(width - 1))
        top, left = integer(floor(y)), integer(floor(x_))
        bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
        v, u = y - floor(y), x_ - floor(x_)
        parts = [(1.0 - v) * (1.0 - u) * x[n, c, top, left], (1.0 - v) * u * x[n, c, top, right],
                 v * (1.0 - u) * x[n, c, bottom, left], v * u * x[n, c, bottom, right]]
        result = max(*parts) if takes_max else parts[0] + parts[1] + parts[2] + parts[3]
    return result


def roi_align(x: Tensor, rois: Tensor, batches: Tensor, mode: str, height: int, width: int, ratio: int, scale: float,
              offset: float, least: float) -> Tensor:
    """Pools a grid of sample points in each cell of a region."""
    y = empty(x, (size(rois, 0), size(x, 1), height, width))
    for r, c, i, j in indices((size(rois, 0), size(x, 1), height, width)):
        n = batches[r]
        left, top = rois[r, 0] * scale - offset, rois[r, 1] * scale - offset
        cell_h = max(rois[r, 3] * scale - offset - top, least) / height
        cell_w = max(rois[r, 2] * scale - offset - left, least) / width
        rows = ratio if ratio > 0 else integer(ceil(cell_h))
        columns = ratio if ratio > 0 else integer(ceil(cell_w))
        total, largest = 0.0, 0.0
        for p, q in indices((rows, columns)):
            h = top + i * cell_h + (real(p) + 0.5) * cell_h / rows
            w = left + j * cell_w + (real(q) + 0.5) * cell_w / columns
            v = interpolate(x, n, c, h, w, mode == "max")
            total += v
            largest = v if p + q == 0 else max(largest, v)
        y[r, c, i, j] = largest if mode == "max" else total / max(rows * columns, 1)
    return y


@operator("RoiAlign")
def import_roi_align(b: Builder, node: Node, x: Value, rois: Value, batches: Value) -> Value:
    default = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    half = node.attribute("coordinate_transformation_mode", default) == "half_pixel"
    b.match_sizes(rois.shape[1], 4, "its regions do not have 4 coordinates")
    batches = b.match_shape(batches, [rois.shape[0]], "it does not have a batch index for each region")
    return b.loops(roi_align, x, rois, batches, mode=node.attribute("mode", "avg"),
                   height=node.attribute("output_height", 1), width=node.attribute("output_width", 1),
                   ratio=node.attribute("sampling_ratio", 0), scale=node.attribute("spatial_scale", 1.0),
                   offset=0.5 if half else 0.0, least=-3e38 if half else 1.0)[0]


def round_away(x: float) -> float:
    """Rounds to the nearest integer, ties away from 0."""
    return floor(x + 0.5) if x >= 0.0 else ceil(x - 0.5)


def max_roi_pool(x: Tensor, rois: Tensor, height: int, width: int, scale: float) -> Tensor:
    """Returns the maximum of each cell of a region with integral corners; 0 for an empty cell."""
    y = empty(x, (size(rois, 0), size(x, 1), height, width))
    for r, c, i, j in indices((size(rois, 0), size(x, 1), height, width)):
        n = integer(rois[r, 0])
        left, top = round_away(rois[r, 1] * scale), round_away(rois[r, 2] * scale)
        right, bottom = round_away(rois[r, 3] * scale), round_away(rois[r, 4] * scale)
        cell_h, cell_w = max(bottom - top + 1.0, 1.0) / height, max(right - left + 1.0, 1.0) / width
        first_h = min(max(integer(floor(i * cell_h) + top), 0), size(x, 2))
        last_h = min(max(integer(ceil((i + 1) * cell_h) + top), 0), size(x, 2))
        first_w = min(max(integer(floor(j * cell_w) + left), 0), size(x, 3))
        last_w = min(max(integer(ceil((j + 1) * cell_w) + left), 0), size(x, 3))
        largest = 0.0
        for p, q in indices((max(last_h - first_h, 0), max(last_w - first_w, 0))):
            value = x[n, c, first_h + p, first_w + q]
            largest = value if p + q == 0 else max(largest, value)
        y[r, c, i, j] = largest
    return y


@operator("MaxRoiPool")
def import_max_roi_pool(b: Builder, node: Node, x: Value, rois: Value) -> Value:
    height, width = read_integers(node, "pooled_shape", 2, 1)
    scale = float(node.attribute("spatial_scale", 1.0))
    b.match_sizes(rois.shape[1], 5, "its regions do not have a batch index and 4 coordinates")
    return b.loops(max_roi_pool, x, rois, height=height, width=width, scale=scale)[0]


# --------------------------------------------------------------------------- grids


def place_of(g: float, n: int, aligned: bool) -> float:
    """Converts a grid coordinate, -1 to 1, to a pixel coordinate."""
    return (g + 1.0) / 2.0 * (n - 1) if aligned else ((g + 1.0) * n - 1.0) / 2.0


def cubic(t: float) -> tuple[float, float, float, float]:
    """Returns the cubic weights of four neighbors."""
    a = -0.75
    return (((a * (t + 1.0) - 5.0 * a) * (t + 1.0) + 8.0 * a) * (t + 1.0) - 4.0 * a,
            ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0,
            ((a + 2.0) * (1.0 - t) - (a + 3.0)) * (1.0 - t) * (1.0 - t) + 1.0,
            ((a * (2.0 - t) - 5.0 * a) * (2.0 - t) + 8.0 * a) * (2.0 - t) - 4.0 * a)


def inside_of(i: int, n: int, padding: str, aligned: bool) -> int:
    """Returns the pixel for an index that may be outside: clamped to the edge, or mirrored."""
    if padding == "reflection":
        period = max(2 * n - 2, 1) if aligned else 2 * n
        i = (i % period + period) % period
        i = min(i, 2 * n - 2 - i if aligned else 2 * n - 1 - i)
    return max(min(i, n - 1), 0)


def grid_sample(x: Tensor, grid: Tensor, mode: str, padding: str, aligned: bool) -> Tensor:
    dims, count = shape(x)[2:], rank(x) - 2
    y = empty(x, (*shape(x)[:2], *shape(grid)[1:-1]))
    for index in indices((size(x, 0), *shape(grid)[1:-1])):
        points = [place_of(grid[(*index, count - 1 - d)], dims[d], aligned) for d in range(count)]
        nearest = [roundeven(p) if mode == "nearest" else floor(p) for p in points]
        weights = [(1.0,) if mode == "nearest" else cubic(p - q) if mode == "cubic" else (1.0 - (p - q), p - q)
                   for p, q in zip(points, nearest)]
        starts = [integer(q) - (1 if mode == "cubic" else 0) for q in nearest]
        for c in range(size(x, 1)):
            total = 0.0
            for tap in product(*[range(len(w)) for w in weights]):
                at = [start + t for start, t in zip(starts, tap)]
                weight = product_of([w[t] for w, t in zip(weights, tap)])
                known = all_of([0 <= i and i < n for i, n in zip(at, dims)]) if padding == "zeros" else True
                pixel = (index[0], c, *[inside_of(i, n, padding, aligned) for i, n in zip(at, dims)])
                total += weight * x[pixel] if known else 0.0
            y[(index[0], c, *index[1:])] = total
    return y


@operator("GridSample")
def import_grid_sample(b: Builder, node: Node, x: Value, grid: Value) -> Value:
    mode = node.attribute("mode", "linear")
    b.match_sizes(grid.shape[0], x.shape[0], "its grid and its input differ in the number of batches")
    b.match_sizes(grid.shape[-1], x.rank - 2, "its grid does not have a coordinate for each spatial dim")
    for dim, size in enumerate(x.shape[2:], 2):
        b.check_at_most(1, size, f"its input has no elements along dim {dim}")
    return b.loops(grid_sample, x, grid, mode={"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode),
                   padding=node.attribute("padding_mode", "zeros"), aligned=bool(node.attribute("align_corners", 0)))[0]


@operator("AffineGrid")
def affine_grid(b: Builder, node: Node, theta: Value, sizes: Value) -> Value:
    """Returns theta * (x, y, .., 1) for each image position, with coordinates from -1 to 1."""
    count = next((size for size in (sizes.shape[0] - 2, theta.shape[1]) if is_static(size)), None)
    if count is None:
        node.refuse("its input has an unknown number of dims")
    spatial = [b.size_of(sizes, 2 + dim) for dim in range(count)]
    element, aligned = theta.element, bool(node.attribute("align_corners", 0))
    lengths = [Scalar(b.size(size), None) for size in spatial]
    b.use(theta)

    def coordinate(s: Scalars, place: Scalar, length: Scalar) -> Scalar:
        at, number = s.cast(place, element), s.cast(length, element)
        if aligned:
            last = s.sub(number, 1.0)
            return s.sub(s.div(s.mul(at, 2.0), s.select(s.greater(last, 0.0), last, 1.0)), 1.0)
        return s.sub(s.div(s.add(s.mul(at, 2.0), 1.0), number), 1.0)

    def body(s: Scalars, n: Scalar, *index: Scalar) -> Scalar:
        row = index[-1]
        total = b.extract(s, theta, [n, row, s.constant(count, None)])
        for dim, (place, length) in enumerate(zip(index, lengths)):
            factor = b.extract(s, theta, [n, row, s.constant(count - 1 - dim, None)])
            total = s.add(total, s.mul(factor, coordinate(s, place, length)))
        return total

    return b.make(body, [theta.shape[0], *spatial, count], element)


# ------------------------------------------------------------ deformed convolutions


def deform_conv(x: Tensor, w: Tensor, offset: Tensor, b: Tensor | None = None, mask: Tensor | None = None,
                strides: Sequence[int] = (), pads: Sequence[int] = (), dilations: Sequence[int] = (), group: int = 1,
                groups_of_offsets: int = 1) -> Tensor:
    """Computes a convolution whose taps are shifted by offsets and weighted by a mask."""
    kh, kw = shape(w)[2:]
    y = empty(x, (size(x, 0), size(w, 0), *shape(offset)[2:]))
    for n, m, i, j in indices(shape(y)):
        total = b[m] if b is not None else 0.0
        for c, p, q in indices((size(w, 1), kh, kw)):
            channel = m // (size(w, 0) // group) * size(w, 1) + c
            part = channel // (size(x, 1) // groups_of_offsets)
            at = (part * kh + p) * kw + q
            h = real(i * strides[0] - pads[0] + p * dilations[0]) + offset[n, 2 * at, i, j]
            v = real(j * strides[1] - pads[1] + q * dilations[1]) + offset[n, 2 * at + 1, i, j]
            total += w[m, c, p, q] * sample(x, n, channel, h, v) * (mask[n, at, i, j] if mask is not None else 1.0)
        y[n, m, i, j] = total
    return y


def sample(x: Tensor, n: int, c: int, h: float, w: float) -> float:
    """Interpolates between four pixels, with zeros outside."""
    total, top, left = 0.0, integer(floor(h)), integer(floor(w))
    for p, q in product((0, 1), (0, 1)):
        inside = 0 <= top + p and top + p < size(x, 2) and 0 <= left + q and left + q < size(x, 3)
        v, u = h - floor(h), w - floor(w)
        weight = (v if p == 1 else 1.0 - v) * (u if q == 1 else 1.0 - u)
        total += weight * x[n, c, top + p, left + q] if inside else 0.0
    return total


@operator("DeformConv")
def import_deform_conv(b: Builder, node: Node, x: Value, w: Value, offset: Value, bias: Value | None = None,
                       mask: Value | None = None) -> Value:
    if x.rank != 4:
        node.refuse(f"its input has rank {x.rank}, but only rank 4 is supported")
    groups, parts = int(node.attribute("group", 1)), int(node.attribute("offset_group", 1))
    check_operands(node, x, w, groups)
    window = read_window(b, node, x.shape[2:], w.shape[2:])
    b.match_sizes(x.shape[1], w.shape[1] * groups, "its input does not have the channels of its weights")
    count = w.shape[2] * w.shape[3] * parts
    offset = b.match_shape(offset, [x.shape[0], 2 * count, *window.output], "its offsets do not have the sizes of its result")
    if bias is not None:
        b.match_sizes(bias.shape[0], w.shape[0], "its bias does not have one element for each channel")
    if mask is not None:
        mask = b.match_shape(mask, [x.shape[0], count, *window.output], "its mask does not have the sizes of its result")
    return b.loops(deform_conv, x, w, offset, bias, mask, strides=window.strides, pads=read_integers(node, "pads", 4, 0),
                   dilations=window.dilations, group=groups, groups_of_offsets=parts)[0]
