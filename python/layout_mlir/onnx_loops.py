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


def _of_deform_conv(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    if len(inputs[0].sizes) != 4 or None in inputs[1].sizes[2:]:
        return None
    return deform_conv, {"strides": attributes.get("strides", (1, 1)), "pads": attributes.get("pads", (0, 0)),
                         "dilations": attributes.get("dilations", (1, 1)), "group": attributes.get("group", 1),
                         "groups_of_offsets": attributes.get("offset_group", 1)}


_OPERATORS: dict[str, _Rule] = {
    "RoiAlign": _of_roi_align, "GridSample": _of_grid_sample, "DeformConv": _of_deform_conv,
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
