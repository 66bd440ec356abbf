"""Operators that move elements to positions that are known at import or depend on sizes only."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import I64
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.shapes import checked_axes, read_sizes
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, divide, is_static, product
from layout_mlir.onnx_import.values import MOST_TRACKED, Scalar, Tensor

if TYPE_CHECKING:
    from layout_mlir.loops import Tensor as LoopTensor
    from layout_mlir.loops import indices, shape, size


def permute(b: Builder, x: Tensor, order: Sequence[int]) -> Tensor:
    """Transposes a tensor; reshapes it if only dims of size 1 move."""
    moved = [dim for dim in order if x.shape[dim] != 1]
    if moved == sorted(moved):
        return b.reshape(x, [x.shape[dim] for dim in order])
    return b.transpose(x, order)


@operator("Transpose")
def transpose(b: Builder, node: Node, x: Tensor) -> Tensor:
    order = list(node.attribute("perm", range(x.rank - 1, -1, -1)))
    if sorted(order) != list(range(x.rank)):
        node.refuse(f"{order} is not a permutation of the dims of an input of rank {x.rank}")
    result = permute(b, x, order)
    if (bytes_ := node.importer.dequantized.get(x)) and x.rank:
        node.importer.dequantized[result] = dataclasses.replace(
            bytes_, values=permute(b, bytes_.values, order), axis=order.index(bytes_.axis))
    return result


@operator("Concat")
def concat(b: Builder, node: Node, *tensors: Tensor) -> Tensor:
    rank = max(x.rank for x in tensors)
    if node.opset >= 4 and not node.has("axis"):
        node.refuse("it has no attribute 'axis'")
    axis = node.axis(1, rank)
    # ONNX Runtime accepts empty tensors of rank 1 beside tensors of any rank.
    parts = [x for x in tensors if x.rank == rank and x.shape[axis] != 0]
    for x in tensors:
        if x.rank != rank and x.shape != (0,):
            node.refuse(f"inputs have ranks {x.rank} and {rank}")
    for dim in range(rank):
        sizes = {x.shape[dim] for x in parts if is_static(x.shape[dim])}
        if dim != axis and len(sizes) > 1:
            node.refuse(f"inputs differ in dim {dim}: {', '.join(map(str, sizes))}")
    return b.concat(parts or [next(x for x in tensors if x.rank == rank)], axis)


def _integers(b: Builder, x: Tensor) -> Tensor:
    """Returns sizes as integers: the first opsets have them in tensors of the type of the data."""
    if not x.element.is_float:
        return x
    return b.constant(x.array.astype(np.int64)) if x.array is not None else b.cast(x, I64)


def _part_sizes(b: Builder, node: Node, whole: Size, given: Tensor | None) -> list[Size]:
    if node.has("split"):
        return list(node.attribute("split"))
    if given is not None:
        return read_sizes(b, node, _integers(b, given))[0]
    count = int(node.attribute("num_outputs", node.output_count))
    if isinstance(whole, int) and whole % count and not node.has("num_outputs"):
        node.refuse(f"{whole} is not divisible into {count} equal parts")
    if not node.has("num_outputs"):
        return [b.floor_divide(whole, count)] * count
    part = b.ceil_divide(whole, count)
    if part * count == whole:
        return [part] * count
    # The last part is smaller; parts beyond the end are empty.
    return [part, *(b.maximum(b.minimum(part, whole - part * number), 0) for number in range(1, count))]


@operator("Split")
def split(b: Builder, node: Node, x: Tensor, given: Tensor | None = None) -> list[Tensor]:
    axis = node.axis(0, x.rank)
    whole = x.shape[axis]
    parts = _part_sizes(b, node, whole, given)
    total: Size = 0
    for part in parts:
        total = part + total
    if is_static(total) and is_static(whole) and total != whole or len(parts) != node.output_count:
        node.refuse(f"parts of sizes {parts} do not make up a dim of size {whole} in {node.output_count} outputs")
    if not node.has("num_outputs"):
        b.check_equal(total, whole, "the parts of a split do not sum up to the size")
    results: list[Tensor] = []
    offset: Size = 0
    for part in parts:
        offsets: list[Size] = [0] * x.rank
        offsets[axis] = offset
        results.append(b.slice(x, offsets, [*x.shape[:axis], part, *x.shape[axis + 1:]]))
        offset = part + offset
    return results


@operator("Tile")
def tile(b: Builder, node: Node, x: Tensor, given: Tensor, axis: Tensor | None = None) -> Tensor:
    if node.opset < 6 and axis is not None:
        at = axis.constant_scalar()
        if at is None:
            node.refuse("its input 'axis' is not a constant")
        repeats: list[Size] = [1] * x.rank
        repeats[int(at)] = b.size_of(_integers(b, given))
    else:
        repeats, _ = read_sizes(b, node, given)
    if len(repeats) != x.rank:
        node.refuse(f"{len(repeats)} repeats are given for rank {x.rank}")
    known = x.known_integers()
    if known is not None and x.rank == 1 and isinstance(repeats[0], int) and len(known) * repeats[0] <= MOST_TRACKED:
        return b.integers(list(known) * repeats[0], x.element)
    before: list[Size] = []
    after: list[Size] = []
    for count, value in zip(repeats, x.shape):
        if count != 1 and value != 1:
            before, after = [*before, 1], [*after, count]
        before, after = [*before, value], [*after, value if value != 1 else count]
    wide = b.broadcast_to(b.reshape(x, before), after)
    return b.reshape(wide, [count * value for count, value in zip(repeats, x.shape)])


# ----------------------------------------------------------------------- blocks


def divide_dim(b: Builder, node: Node, x: Tensor, dim: int, block: int) -> Tensor:
    """Returns the tensor with a dim whose size is known to be a multiple of `block`, with a run-time check."""
    size = x.shape[dim]
    if divide(size, block) is not None:
        return x
    if is_static(size):
        node.refuse(f"its dim {dim} of size {size} is not divisible by {block}")
    whole = b.floor_divide(size, block) * block
    b.check_equal(size, whole, f"dim {dim} is not divisible by {block}")
    return Tensor(x.element, (*x.shape[:dim], whole, *x.shape[dim + 1:]), b.use(x))


@operator("DepthToSpace")
def depth_to_space(b: Builder, node: Node, x: Tensor) -> Tensor:
    block = node.attribute("blocksize")
    x = divide_dim(b, node, x, 1, block ** (x.rank - 2))
    n, c, *sizes = x.shape
    depth = b.floor_divide(c, block ** len(sizes))
    blocks, spatial = [block] * len(sizes), range(len(sizes))
    if node.attribute("mode", "DCR") == "DCR":
        x = b.reshape(x, [n, *blocks, depth, *sizes])
        channel, first_block = len(sizes) + 1, 1
    else:
        x = b.reshape(x, [n, depth, *blocks, *sizes])
        channel, first_block = 1, 2
    first_size = x.rank - len(sizes)
    order = [0, channel, *(dim for d in spatial for dim in (first_size + d, first_block + d))]
    return b.reshape(permute(b, x, order), [n, depth, *(value * block for value in sizes)])


@operator("SpaceToDepth")
def space_to_depth(b: Builder, node: Node, x: Tensor) -> Tensor:
    block = node.attribute("blocksize")
    for dim in range(2, x.rank):
        x = divide_dim(b, node, x, dim, block)
    n, c, *sizes = x.shape
    parts = [b.floor_divide(value, block) for value in sizes]
    x = b.reshape(x, [n, c, *(each for part in parts for each in (part, block))])
    spatial = range(len(sizes))
    blocks = [3 + 2 * d for d in spatial]
    channels = [1, *blocks] if node.attribute("mode", "DCR") == "CRD" else [*blocks, 1]
    order = [0, *channels, *(2 + 2 * d for d in spatial)]
    return b.reshape(permute(b, x, order), [n, c * block ** len(sizes), *parts])


# --------------------------------------------------------------------- by index


@operator("Trilu")
def trilu(b: Builder, node: Node, x: Tensor, k: Tensor | None = None) -> Tensor:
    offset = b.size(b.size_of(k)) if k is not None else b.size(0)
    keeps = "ge" if node.attribute("upper", 1) else "le"

    def body(s: Scalars, *parts: Scalar) -> Scalar:
        *_, row, column, value = parts
        return s.select(s.compare(keeps, s.sub(column, row), Scalar(offset, None)), value, 0)

    dims = ", ".join(f"d{dim}" for dim in range(x.rank))
    return b.make(body, x.shape, x.element, [(x, dims)])


@operator("ReverseSequence")
def reverse_sequence(b: Builder, node: Node, x: Tensor, lengths: Tensor) -> Tensor:
    time, batch = node.axis(0, x.rank, "time_axis"), node.axis(1, x.rank, "batch_axis")

    def body(s: Scalars, *parts: Scalar) -> Scalar:
        *index, length = parts
        end, step = s.index_of(length), index[time]
        index[time] = s.select(s.less(step, end), s.sub(s.sub(end, step), 1), step)
        return b.extract(s, x, index)

    b.use(x)
    return b.make(body, x.shape, x.element, [(lengths, f"d{batch}")])


@operator("CenterCropPad")
def center_crop_pad(b: Builder, node: Node, x: Tensor, given: Tensor) -> Tensor:
    axes = checked_axes(node, node.attribute("axes", range(x.rank)), x.rank)
    targets, _ = read_sizes(b, node, given)
    zeros: list[Size] = [0] * x.rank
    offsets, kept, low, high = list(zeros), list(x.shape), list(zeros), list(zeros)
    for axis, target in zip(axes, targets):
        value = x.shape[axis]
        offsets[axis] = b.floor_divide(b.maximum(value - target, 0), 2)
        kept[axis] = b.minimum(value, target)
        low[axis] = b.floor_divide(b.maximum(target - value, 0), 2)
        high[axis] = target - kept[axis] - low[axis]
    return b.pad(b.slice(x, offsets, kept), low, high, 0)


def add_columns(x: LoopTensor, y: LoopTensor, strides: tuple[int, ...], pads: tuple[int, ...],
                dilations: tuple[int, ...], counts: tuple[int, ...], block: tuple[int, ...]) -> LoopTensor:
    """Adds each element of columns (n, c, *block, *counts) to its element of the image (n, c, *sizes)."""
    for n, c in indices((size(x, 0), size(x, 1))):
        for tap in indices(block):
            for column in indices(counts):
                at = [column[d] * strides[d] + tap[d] * dilations[d] - pads[d] for d, stride in enumerate(strides)]
                if inside(at, shape(y)[2:]):
                    y[(n, c, *at)] = y[(n, c, *at)] + x[(n, c, *tap, *column)]
    return y


def inside(at: Sequence[int], sizes: Sequence[int]) -> bool:
    result = True
    for d, i in enumerate(at):
        result = result and 0 <= i and i < sizes[d]
    return result


@operator("Col2Im")
def col2im(b: Builder, node: Node, x: Tensor, image: Tensor, kernel: Tensor) -> Tensor:
    sizes, _ = read_sizes(b, node, image)
    block, _ = read_sizes(b, node, kernel)
    rank = len(block)
    strides = node.attribute("strides", [1] * rank)
    pads = node.attribute("pads", [0] * 2 * rank)
    dilations = node.attribute("dilations", [1] * rank)
    counts = [b.floor_divide(value + pads[d] + pads[rank + d] - dilations[d] * (block[d] - 1) - 1, strides[d]) + 1
              for d, value in enumerate(sizes)]
    taps = product(block)
    if isinstance(taps, int):
        x = divide_dim(b, node, x, 1, taps)
    channels = b.floor_divide(x.shape[1], taps)
    columns = b.reshape(x, [x.shape[0], channels, *block, *counts])
    into = b.fill([x.shape[0], channels, *sizes], x.element, 0)
    result, = b.loops(add_columns, columns, into, strides=tuple(strides), pads=tuple(pads),
                      dilations=tuple(dilations), counts=tuple(loop_size(b, each) for each in counts),
                      block=tuple(loop_size(b, each) for each in block))
    return Tensor(x.element, into.shape, result.name)


def loop_size(b: Builder, value: Size) -> object:
    """Returns a size as a known value for loops.py."""
    from layout_mlir.loops import Value

    return value if is_static(value) else Value(b.size(value), "index")
