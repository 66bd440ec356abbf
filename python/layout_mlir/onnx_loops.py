"""ONNX operators that choose, sort, scatter or sample, as loops (loops.py).

Which elements they read or write depends on values, so that no operation of linalg says it. IREE's
passes have no lowering of them, or one of some forms. The functions below are the operators'
definitions in Python; each is called once for a node of a model, and becomes loops in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from layout_mlir.loops import Type, translate
from layout_mlir.onnx_shapes import is_known

if TYPE_CHECKING:
    from onnx import NodeProto, TypeProto

    from layout_mlir.loops import (Tensor, all_of, ceil, empty, first, floor, indices, integer, is_number,
                                   product_of, rank, real, roundeven, shape, size)


def scalar(x: Tensor) -> Any:
    """Of a tensor of one element."""
    return x[()] if rank(x) == 0 else x[0]


def wrap(i: int, n: int) -> int:
    """An index that may count from the end."""
    return i + n if i < 0 else i


# ----------------------------------------------------------------------- choosing


def corners(boxes: Tensor, b: int, i: int, centered: bool) -> tuple[list[float], list[float]]:
    """The lower and upper end of a box in both directions."""
    p = [boxes[b, i, d] for d in range(4)]
    if centered:
        low = [p[0] - p[2] / 2.0, p[1] - p[3] / 2.0]
        high = [p[0] + p[2] / 2.0, p[1] + p[3] / 2.0]
    else:
        low, high = [min(p[0], p[2]), min(p[1], p[3])], [max(p[0], p[2]), max(p[1], p[3])]
    return low, high


def overlap(boxes: Tensor, b: int, i: int, j: int, centered: bool) -> float:
    """Intersection over union."""
    low, high = corners(boxes, b, i, centered)
    other_low, other_high = corners(boxes, b, j, centered)
    sides = [max(min(high[d], other_high[d]) - max(low[d], other_low[d]), 0.0) for d in range(2)]
    area = (high[0] - low[0]) * (high[1] - low[1])
    other = (other_high[0] - other_low[0]) * (other_high[1] - other_low[1])
    both = sides[0] * sides[1]
    return both / (area + other - both)


def sort_descending(keys: Tensor, order: Tensor, m: int) -> Tensor:
    """The first m places by their keys: runs of twice the length are merged in each step, and what is
    equal keeps its order."""
    merged, width = empty("i64", (size(order, 0),)), 1
    for step in range(63):
        if width < m:
            for run in range((m + 2 * width - 1) // (2 * width)):
                low, middle, high = run * 2 * width, min(run * 2 * width + width, m), min((run + 1) * 2 * width, m)
                i, j = low, middle
                for k in range(low, high):
                    a, b = order[min(i, middle - 1)], order[min(j, high - 1)]
                    takes_first = i < middle and (j >= high or not keys[b] > keys[a])
                    merged[k] = a if takes_first else b
                    i += integer(takes_first)
                    j += 1 - integer(takes_first)
            for k in range(m):
                order[k] = merged[k]
            width = width * 2
    return order


def non_max_suppression(boxes: Tensor, scores: Tensor, most: Tensor | None = None, most_overlap: Tensor | None = None,
                        least_score: Tensor | None = None, centered: bool = False) -> Tensor:
    """Takes the best boxes of each class that overlap none which is taken already."""
    batches, classes, n = shape(scores)
    limit = min(scalar(most), n) if most is not None else 0
    allowed = scalar(most_overlap) if most_overlap is not None else 0.0
    found, total = empty("i64", (batches * classes * limit, 3)), 0
    for b, c in indices((batches, classes)):
        keys, order, m = empty(scores, (n,)), empty("i64", (n,)), 0
        for i in range(n):
            keys[i] = scores[b, c, i]
            order[m] = i
            m += integer(keys[i] > scalar(least_score)) if least_score is not None else 1
        order, start = sort_descending(keys, order, m), total
        for r in range(m):
            if total - start < limit:
                box, free = order[r], True
                for j in range(start, total):
                    free = free and not overlap(boxes, b, found[j, 2], box, centered) > allowed
                if free:
                    found[total, 0], found[total, 1], found[total, 2] = b, c, box
                    total += 1
    return first(found, (total, 3))


def non_zero(x: Tensor) -> Tensor:
    y, count = empty("i64", (rank(x), product_of(shape(x)))), 0
    for index in indices(shape(x)):
        for d, i in enumerate(index):
            y[d, count] = i
        count += integer(x[index] != 0 if is_number(x) else x[index])
    return first(y, (rank(x), count))


def unique(x: Tensor, ordered: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of all elements: a list of those that are there, kept sorted where `ordered`."""
    n = product_of(shape(x))
    values, places, counts, count = empty(x, (n,)), empty("i64", (n,)), empty("i64", (n,)), 0
    inverse, at = empty("i64", (n,)), 0
    for index in indices(shape(x)):
        v, here, known = x[index], 0, False
        for j in range(count):
            known = known or values[j] == v
            here += integer(values[j] < v if ordered else values[j] != v and not known)
        if known:
            counts[here] = counts[here] + 1
        else:
            for j in range(count - here):
                values[count - j] = values[count - j - 1]
                places[count - j] = places[count - j - 1]
                counts[count - j] = counts[count - j - 1]
            values[here], places[here], counts[here] = v, at, 1
            count += 1
        at += 1
    at = 0
    for index in indices(shape(x)):
        for j in range(count):
            if values[j] == x[index]:
                inverse[at] = j
        at += 1
    return first(values, (count,)), first(places, (count,)), inverse, first(counts, (count,))


def compress(x: Tensor, chosen: Tensor, axis: int | None) -> Tensor:
    """The slices that are chosen; of all elements where there is no axis."""
    count, at = 0, 0
    for i in range(size(chosen, 0)):
        count += integer(chosen[i])
    if axis is None:
        y, count = empty(x, (count,)), 0
        for index in indices(shape(x)):
            if chosen[at] if at < size(chosen, 0) else False:
                y[count] = x[index]
                count += 1
            at += 1
    else:
        y, count = empty(x, (*shape(x)[:axis], count, *shape(x)[axis + 1:])), 0
        for i in range(size(chosen, 0)):
            if chosen[i]:
                for rest in indices((*shape(x)[:axis], *shape(x)[axis + 1:])):
                    y[(*rest[:axis], count, *rest[axis:])] = x[(*rest[:axis], i, *rest[axis:])]
                count += 1
    return y


# --------------------------------------------------------------------- scattering


def combine(old: Any, new: Any, reduction: str) -> Any:
    if reduction == "add":
        new = old + new
    elif reduction == "mul":
        new = old * new
    elif reduction == "min":
        new = min(old, new)
    elif reduction == "max":
        new = max(old, new)
    return new


def scatter_elements(data: Tensor, places: Tensor, updates: Tensor, axis: int, reduction: str) -> Tensor:
    y = data
    for index in indices(shape(places)):
        to = (*index[:axis], wrap(places[index], size(data, axis)), *index[axis + 1:])
        y[to] = combine(y[to], updates[index], reduction)
    return y


def scatter_nd(data: Tensor, places: Tensor, updates: Tensor, reduction: str) -> Tensor:
    y, depth = data, shape(places)[-1]
    for index in indices(shape(places)[:-1]):
        head = [wrap(places[(*index, d)], size(data, d)) for d in range(depth)]
        for inner in indices(shape(data)[depth:]):
            to = (*head, *inner)
            y[to] = combine(y[to], updates[(*index, *inner)], reduction)
    return y


def tensor_scatter(cache: Tensor, update: Tensor, starts: Tensor | None = None, axis: int = 0,
                   circular: bool = False) -> Tensor:
    """Writes a sequence into a cache, from a place of its own for each batch."""
    y = cache
    for index in indices(shape(update)):
        place = index[axis] + (starts[index[0]] if starts is not None else 0)
        y[(*index[:axis], place % size(cache, axis) if circular else place, *index[axis + 1:])] = update[index]
    return y


def max_unpool(x: Tensor, places: Tensor, shape_of_result: tuple[int, ...]) -> Tensor:
    y = empty(x, shape_of_result)
    for index in indices(shape_of_result):
        y[index] = 0.0
    for index in indices(shape(x)):
        left, to = places[index], []  # type: int, list[int]
        for n in shape_of_result[::-1]:
            to = [left % n, *to]
            left = left // n
        y[to] = x[index]
    return y


# ----------------------------------------------------------------------- sampling


def interpolate(x: Tensor, n: int, c: int, h: float, w: float, takes_max: bool) -> float:
    """Between four pixels; nothing beyond the one next to the edge."""
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
    """Pools a grid of points in each cell of a region."""
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


def place_of(g: float, n: int, aligned: bool) -> float:
    """From the coordinates of the grid, -1 to 1, to those of pixels."""
    return (g + 1.0) / 2.0 * (n - 1) if aligned else ((g + 1.0) * n - 1.0) / 2.0


def cubic(t: float) -> tuple[float, float, float, float]:
    """The weights of four neighbors."""
    a = -0.75
    return (((a * (t + 1.0) - 5.0 * a) * (t + 1.0) + 8.0 * a) * (t + 1.0) - 4.0 * a,
            ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0,
            ((a + 2.0) * (1.0 - t) - (a + 3.0)) * (1.0 - t) * (1.0 - t) + 1.0,
            ((a * (2.0 - t) - 5.0 * a) * (2.0 - t) + 8.0 * a) * (2.0 - t) - 4.0 * a)


def inside_of(i: int, n: int, padding: str, aligned: bool) -> int:
    """The pixel that stands for one outside, at the edge or mirrored."""
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


def deform_conv(x: Tensor, w: Tensor, offset: Tensor, b: Tensor | None = None, mask: Tensor | None = None,
                strides: Sequence[int] = (), pads: Sequence[int] = (), dilations: Sequence[int] = (), group: int = 1,
                groups_of_offsets: int = 1) -> Tensor:
    """A convolution whose taps are moved by offsets and weighed by a mask."""
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
    """Between four pixels, zero outside."""
    total, top, left = 0.0, integer(floor(h)), integer(floor(w))
    for p, q in product((0, 1), (0, 1)):
        inside = 0 <= top + p and top + p < size(x, 2) and 0 <= left + q and left + q < size(x, 3)
        v, u = h - floor(h), w - floor(w)
        weight = (v if p == 1 else 1.0 - v) * (u if q == 1 else 1.0 - u)
        total += weight * x[n, c, top + p, left + q] if inside else 0.0
    return total


# ---------------------------------------------------------------- nodes to functions

_Attributes = Mapping[str, Any]
# The function of a node and what it is given beside the inputs.
_Found = tuple[Callable[..., Any], dict[str, Any]]
# Of the attributes, the types of the inputs and those of the results. The inputs that are read cannot
# be left out.
_Rule = Callable[[_Attributes, Sequence[Any], Sequence[Type | None]], _Found | None]


def _axis(attributes: _Attributes, x: Type, default: int = 0) -> int:
    axis: int = attributes.get("axis", default)
    return axis + len(x.sizes) if axis < 0 else axis


def _of_non_max_suppression(attributes: _Attributes, inputs: Sequence[Any],
                            outputs: Sequence[Type | None]) -> _Found | None:
    return non_max_suppression, {"centered": attributes.get("center_point_box", 0)}


def _of_unique(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    return None if "axis" in attributes else (unique, {"ordered": attributes.get("sorted", 1)})


def _of_scatter_elements(attributes: _Attributes, inputs: Sequence[Any],
                         outputs: Sequence[Type | None]) -> _Found | None:
    return scatter_elements, {"axis": _axis(attributes, inputs[0]),
                              "reduction": attributes.get("reduction", b"none").decode()}


def _of_scatter_nd(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    known = inputs[1].sizes and inputs[1].sizes[-1] is not None
    return (scatter_nd, {"reduction": attributes.get("reduction", b"none").decode()}) if known else None


def _of_roi_align(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    half = attributes.get("coordinate_transformation_mode", b"half_pixel") == b"half_pixel"
    return roi_align, {"mode": attributes.get("mode", b"avg").decode(),
                       "height": attributes.get("output_height", 1), "width": attributes.get("output_width", 1),
                       "ratio": attributes.get("sampling_ratio", 0),
                       "scale": attributes.get("spatial_scale", 1.0),
                       "offset": 0.5 if half else 0.0, "least": -3e38 if half else 1.0}


def _of_grid_sample(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    mode = attributes.get("mode", b"linear").decode()
    return grid_sample, {"mode": {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode),
                         "padding": attributes.get("padding_mode", b"zeros").decode(),
                         "aligned": attributes.get("align_corners", 0)}


def _of_compress(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    return compress, {"axis": _axis(attributes, inputs[0]) if "axis" in attributes else None}


def _of_tensor_scatter(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    return tensor_scatter, {"axis": _axis(attributes, inputs[0], -2),
                            "circular": attributes.get("mode", b"linear") == b"circular"}


def _of_max_unpool(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    """Places count in the shape that the attributes imply, which another output shape would hide."""
    if len(inputs) != 2 or not outputs[0] or None in outputs[0].sizes:
        return None
    return max_unpool, {"shape_of_result": outputs[0].sizes}


def _of_deform_conv(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    if len(inputs[0].sizes) != 4 or None in inputs[1].sizes[2:]:
        return None
    return deform_conv, {"strides": attributes.get("strides", (1, 1)), "pads": attributes.get("pads", (0, 0)),
                         "dilations": attributes.get("dilations", (1, 1)), "group": attributes.get("group", 1),
                         "groups_of_offsets": attributes.get("offset_group", 1)}


_OPERATORS: dict[str, _Rule] = {
    "NonMaxSuppression": _of_non_max_suppression,
    "NonZero": lambda attributes, inputs, outputs: (non_zero, {}) if inputs[0].sizes else None,
    "Unique": _of_unique, "Scatter": _of_scatter_elements, "ScatterElements": _of_scatter_elements,
    "ScatterND": _of_scatter_nd,
    "RoiAlign": _of_roi_align, "GridSample": _of_grid_sample, "Compress": _of_compress,
    "TensorScatter": _of_tensor_scatter, "MaxUnpool": _of_max_unpool, "DeformConv": _of_deform_conv,
}
_ELEMENTS = {1: "f32", 2: "ui8", 3: "si8", 4: "ui16", 5: "si16", 6: "si32", 7: "si64", 9: "i1", 10: "f16",
             11: "f64", 12: "ui32", 16: "bf16"}


def tensor_type(proto: TypeProto) -> Type | None:
    """The Type of a tensor whose elements loops can read, and whose rank is known; else None."""
    tensor = proto.tensor_type
    if tensor.elem_type not in _ELEMENTS or not tensor.HasField("shape"):
        return None
    element = _ELEMENTS[tensor.elem_type]
    return Type(element.lstrip("us"), tuple(dim.dim_value if is_known(dim) else None for dim in tensor.shape.dim),
                element.startswith("u"))


_ABSENT = "!torch.none"


def torch_type(type_: Type | str) -> str:
    """That of IREE's importer for a tensor."""
    if isinstance(type_, str):
        return type_
    sizes = ",".join("?" if size is None else str(size) for size in type_.sizes)
    sign = "" if type_.element[0] != "i" or type_.element == "i1" else "u" if type_.unsigned else "s"
    return f"!torch.vtensor<[{sizes}],{sign}{type_.element}>"


def find_loops(node: NodeProto, name: str, inputs: Iterable[TypeProto],
               outputs: Iterable[TypeProto]) -> tuple[str, Sequence[Type | str], Sequence[Type]] | None:
    """The function of a node: its text and the types of its arguments and results; None where it has
    none. `inputs`, `outputs`: what the graph says of their types; nothing of what is left out."""
    from onnx import helper

    types = [tensor_type(proto) if proto.WhichOneof("value") else _ABSENT for proto in inputs]
    arguments = [each for each in types if each is not None]
    if node.domain not in ("", "ai.onnx") or node.op_type not in _OPERATORS or len(arguments) < len(types):
        return None
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    results = [tensor_type(proto) for proto in outputs]
    found = _OPERATORS[node.op_type](attributes, arguments, results)
    if not found:
        return None
    text, made = translate(found[0], name, arguments, results, **found[1])
    return text, arguments, made
