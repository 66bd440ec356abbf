"""Resize and Upsample: each element is a weighted sum of input elements near a position.

Positions and weights along an axis are tables: constants if the sizes are static, else 1-D tensors that the program
computes with the same functions in f32. A linalg.generic then reads the taps of all axes, or of one axis at a time if
there are many. Nearest-neighbor scaling by an integer needs no table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from layout_mlir.onnx_import.arrays import Arrays
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL, F32, F64, I32, I64, Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, Symbol, is_static
from layout_mlir.onnx_import.values import Scalar, Tensor

# The limit for elements that one linalg.generic reads for each result element.
_MOST_READS = 2
_MODES = ("nearest", "linear", "cubic")
_TRANSFORMS = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
               "tf_crop_and_resize")
_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@dataclasses.dataclass
class _Axis:
    """The resizing of one dim. `scale` is the ratio of the sizes, or the scale that the node states; `roi` is the range
    of tf_crop_and_resize."""
    dim: int
    old: Size
    new: Size
    scale: float | Scalar
    roi: tuple[float | Scalar, float | Scalar] | None = None

    @property
    def is_known(self) -> bool:
        return is_static(self.old) and is_static(self.new) and not any(
            isinstance(each, Scalar) for each in (self.scale, *(self.roi or ())))


@dataclasses.dataclass
class _Taps:
    """The taps along a dim: tables of positions and weights (None for 1), and if required, whether a position is
    outside of the input."""
    dim: int
    places: list[Tensor]
    weights: list[Tensor | None]
    outside: Tensor | None


@dataclasses.dataclass
class _Form:
    """The attributes of a Resize or Upsample node that determine positions and weights."""
    mode: str
    transform: str
    nearest: str
    antialias: bool
    exclude_outside: bool
    cubic: float
    extrapolation: float


def _read_form(node: Node) -> _Form:
    mode = str(node.attribute("mode", "nearest"))
    mode = {"bilinear": "linear", "trilinear": "linear"}.get(mode, mode)
    is_old = node.op == "Upsample" or node.opset < 11
    form = _Form(mode, str(node.attribute("coordinate_transformation_mode", "asymmetric" if is_old else "half_pixel")),
                 "simple" if is_old else str(node.attribute("nearest_mode", "round_prefer_floor")),
                 bool(node.attribute("antialias", 0)) and mode != "nearest", bool(node.attribute("exclude_outside", 0)),
                 float(node.attribute("cubic_coeff_a", -0.75)), float(node.attribute("extrapolation_value", 0.0)))
    if form.transform == "tf_half_pixel_for_nn" and node.opset < 13:
        return form
    for what, value, known in (("mode", form.mode, _MODES), ("nearest_mode", form.nearest, (*_NEAREST, "simple")),
                               ("coordinate_transformation_mode", form.transform, _TRANSFORMS)):
        if value not in known:
            node.refuse(f"{what} '{value}' is not one of {', '.join(known)}")
    return form


# --------------------------------------------------------------------------- axes


def _float_of(b: Builder, size: Size) -> Scalar:
    return b.scalars.cast(Scalar(b.size(size), None), F32)


def _element(b: Builder, tensor: Tensor, number: int) -> float | Scalar:
    """Returns an element of a vector as a number, or as an f32 scalar if it is dynamic."""
    if tensor.array is not None:
        return float(tensor.array.reshape(-1)[number])
    place = b.scalar_constant(number, None)
    name = b.emit(f"tensor.extract {b.use(tensor)}[{place}] : {tensor.type}")
    return b.scalars.cast(Scalar(name, tensor.element), F32)


def _scaled_size(b: Builder, size: Size, scale: float | Scalar, half: bool = False) -> Size:
    """Returns the size times the scale, rounded down, or to the nearest integer with `half`."""
    if not isinstance(scale, Scalar):
        if is_static(size):
            return int(np.floor(np.float32(float(size)) * np.float32(scale) + np.float32(0.5 if half else 0)))
        if scale == int(scale):
            return size * int(scale)
        inverse = round(1 / scale)
        if not half and inverse > 1 and 1 / inverse == scale:
            return b.floor_divide(size, inverse)
    s = b.scalars
    product = s.mul(_float_of(b, size), scale)
    whole = s.cast(s.add(product, 0.5) if half else product, I64)
    return Symbol(s.index_of(whole).name, is_data=True)


def _read_axes(b: Builder, node: Node, x: Tensor, form: _Form, inputs: Sequence[Tensor | None]) -> list[_Axis]:
    """Returns the axes that the node resizes."""
    roi, scales, sizes = (None if given is None or given.count == 0 else given for given in inputs)
    axes = [int(axis) % x.rank for axis in node.attribute("axes") or range(x.rank)]
    given = scales if scales is not None else sizes
    if given is None:
        node.refuse("it has neither scales nor sizes")
    if is_static(given.shape[0]) and given.shape[0] != len(axes):
        node.refuse(f"it has {given.shape[0]} scales or sizes for {len(axes)} axes")
    crops = form.transform == "tf_crop_and_resize"
    if crops and roi is None:
        node.refuse("coordinate_transformation_mode 'tf_crop_and_resize' needs the input 'roi'")
    if scales is not None:
        factors = [_element(b, scales, number) for number in range(len(axes))]
        for factor in factors:
            if not isinstance(factor, Scalar) and not 0 < factor < np.inf:
                node.refuse(f"its scale is {factor}, but scales must be positive")
        result = [_Axis(dim, x.shape[dim], _scaled_size(b, x.shape[dim], factor), factor)
                  for dim, factor in zip(axes, factors)]
    else:
        result = _fit_sizes(b, node, x, axes, [b.size_of(given, number) for number in range(len(axes))])
    if crops and roi is not None:
        for number, axis in enumerate(result):
            axis.roi = (_element(b, roi, number), _element(b, roi, len(axes) + number))
    return [axis for axis in result
            if axis.roi not in (None, (0.0, 1.0)) or axis.new != axis.old or axis.scale not in (1.0,)]


def _fit_sizes(b: Builder, node: Node, x: Tensor, axes: Sequence[int], sizes: Sequence[Size]) -> list[_Axis]:
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")

    def scale(dim: int, size: Size) -> float | Scalar:
        if size == x.shape[dim]:
            return 1.0
        old = x.shape[dim]
        if is_static(size) and is_static(old):
            return float(np.float32(size) / np.float32(old))
        return b.scalars.div(_float_of(b, size), _float_of(b, x.shape[dim]))

    scales = [scale(dim, size) for dim, size in zip(axes, sizes)]
    if policy == "stretch":
        return [_Axis(dim, x.shape[dim], size, each) for dim, size, each in zip(axes, sizes, scales)]
    if policy not in ("not_larger", "not_smaller"):
        node.refuse(f"keep_aspect_ratio_policy '{policy}' is not one of stretch, not_larger, not_smaller")
    is_least = policy == "not_larger"
    known = [each for each in scales if not isinstance(each, Scalar)]
    common: float | Scalar = 0.0
    if len(known) == len(scales):
        common = (min if is_least else max)(known)
    else:
        s = b.scalars
        values = [each if isinstance(each, Scalar) else s.constant(each, F32) for each in scales]
        common = values[0]
        for each in values[1:]:
            common = s.min(common, each) if is_least else s.max(common, each)
    return [_Axis(dim, x.shape[dim], _scaled_size(b, x.shape[dim], common, half=True), common) for dim in axes]


# ------------------------------------------------------------------------- tables


def _coordinate(s: Any, i: Any, axis: dict[str, Any], transform: str) -> Any:
    """Returns the input position of result element i, as a float."""
    old, new, scale = axis["old"], axis["new"], axis["scale"]
    if transform == "asymmetric":
        return s.div(i, scale)
    if transform == "align_corners":
        many = s.greater(new, 1.0)
        return s.select(many, s.div(s.mul(i, s.sub(old, 1.0)), s.select(many, s.sub(new, 1.0), 1.0)), 0.0)
    if transform == "tf_crop_and_resize":
        start, end, many = axis["start"], axis["end"], s.greater(new, 1.0)
        last = s.sub(old, 1.0)
        step = s.div(s.mul(s.mul(i, s.sub(end, start)), last), s.select(many, s.sub(new, 1.0), 1.0))
        return s.select(many, s.add(s.mul(start, last), step), s.mul(s.mul(s.add(start, end), 0.5), last))
    if transform == "half_pixel_symmetric":  # relative to the centers, which thus coincide without rounding
        from_middle = s.sub(s.add(i, 0.5), s.mul(new, 0.5))
        return s.add(s.sub(s.mul(old, 0.5), 0.5), s.div(from_middle, scale))
    middle = s.div(s.add(i, 0.5), scale)
    if transform == "tf_half_pixel_for_nn":
        return middle
    middle = s.sub(middle, 0.5)
    if transform == "pytorch_half_pixel":
        return s.select(s.greater(new, 1.0), middle, 0.0)
    return middle


def _round(s: Any, x: Any, axis: dict[str, Any], mode: str) -> Any:
    if mode == "floor":
        return s.floor(x)
    if mode == "ceil":
        return s.ceil(x)
    if mode == "round_prefer_ceil":
        return s.floor(s.add(x, 0.5))
    if mode == "simple":
        return s.select(s.less(axis["scale"], 1.0), s.ceil(x), s.floor(x))
    return s.ceil(s.sub(x, 0.5))


def _cubic_weight(s: Any, distance: Any, a: float) -> Any:
    squared = s.mul(distance, distance)
    near = s.add(s.mul(s.sub(s.mul(distance, a + 2), a + 3), squared), 1.0)
    far = s.sub(s.mul(s.add(s.mul(s.sub(s.mul(distance, a), 5 * a), distance), 8 * a), distance), 4 * a)
    return s.select(s.greater(distance, 1.0), s.select(s.less(distance, 2.0), far, 0.0), near)


def _weigh(s: Any, x: Any, axis: dict[str, Any], form: _Form, shrink: float) -> tuple[list[Any], list[Any]]:
    """Returns the positions of the taps, as floats that may be out of range, and their weights. Weights are normalized
    if the filter is widened by 1 / shrink or excludes outside elements."""
    is_cubic, base = form.mode == "cubic", s.floor(x)
    reach = (2 if is_cubic else 1) / shrink
    places, weights = [], []
    for tap in range(int(np.floor(-reach)) + 1, int(np.ceil(reach)) + 1):
        place = s.add(base, float(tap))
        distance = s.mul(s.abs(s.sub(place, x)), shrink)
        weight = _cubic_weight(s, distance, form.cubic) if is_cubic else s.max(s.sub(1.0, distance), 0.0)
        if form.exclude_outside:
            outside = s.bit_or(s.less(place, 0.0), s.greater(place, s.sub(axis["old"], 1.0)))
            weight = s.select(outside, 0.0, weight)
        places.append(place)
        weights.append(weight)
    if form.exclude_outside or form.antialias:
        total = weights[0]
        for weight in weights[1:]:
            total = s.add(total, weight)
        weights = [s.div(weight, total) for weight in weights]
    return places, weights


def _tables(s: Any, i: Any, axis: dict[str, Any], form: _Form, shrink: float, element: Element) -> list[Any]:
    """Returns the positions, the weights except for nearest-neighbor, and with extrapolation whether the position is
    outside."""
    x, last = _coordinate(s, i, axis, form.transform), s.sub(axis["old"], 1.0)
    outside = []
    if form.transform == "tf_crop_and_resize":
        outside = [s.bit_or(s.less(x, 0.0), s.greater(x, last))]
    if form.mode == "nearest":
        return [s.cast(s.clamp(_round(s, x, axis, form.nearest), 0.0, last), I32), *outside]
    places, weights = _weigh(s, x, axis, form, shrink)
    return [*(s.cast(s.clamp(place, 0.0, last), I32) for place in places), *(s.cast(each, element) for each in weights),
            *outside]


def _make_taps(b: Builder, node: Node, axis: _Axis, form: _Form, element: Element) -> _Taps:
    shrink = 1.0
    if form.antialias:
        if isinstance(axis.scale, Scalar):
            node.refuse("antialias needs a scale that is known at import")
        shrink = min(axis.scale, 1.0)
    is_nearest, crops = form.mode == "nearest", form.transform == "tf_crop_and_resize"
    if is_static(axis.new) and axis.is_known:
        s: Any = Arrays()
        values = {name: np.float32(value) for name, value in _values(axis)}
        made = _tables(s, np.arange(axis.new, dtype=np.float32), values, form, shrink, element)
        tables = [b.constant(np.broadcast_to(each, (axis.new,))) for each in made]
    else:
        numbers = {name: value if isinstance(value, Scalar) else _float_of(b, value) if name in ("old", "new") else
                   b.scalars.constant(value, F32) for name, value in _values(axis)}
        sample = {"old": np.float32(1)}
        taps = 1 if is_nearest else len(_weigh(Arrays(), np.zeros(1, np.float32), sample, form, shrink)[0])
        elements = [I32] * taps + ([] if is_nearest else [element] * taps) + ([BOOL] if crops else [])
        tables = b.generic(lambda s, *_: tuple(_tables(s, s.cast(b.index(s, 0), F32), numbers, form, shrink, element)),
                           [], [(b.empty([axis.new], each), "d0") for each in elements], ["parallel"])
    outside = tables.pop() if crops else None
    if is_nearest:
        return _Taps(axis.dim, tables, [None], outside)
    half = len(tables) // 2
    return _Taps(axis.dim, tables[:half], list(tables[half:]), outside)


def _values(axis: _Axis) -> list[tuple[str, Any]]:
    start, end = axis.roi or (0.0, 1.0)
    return [("old", axis.old), ("new", axis.new), ("scale", axis.scale), ("start", start), ("end", end)]


# ------------------------------------------------------------------------- reading


def _sample(b: Builder, x: Tensor, taps: Sequence[_Taps], form: _Form, element: Element, result: Element) -> Tensor:
    """Returns the weighted sums of the taps of some dims."""
    shape = list(x.shape)
    inputs: list[tuple[Tensor, str]] = []
    numbers: list[dict[str, list[int | None]]] = []
    for each in taps:
        shape[each.dim] = each.places[0].shape[0]
        count: dict[str, list[int | None]] = {}
        for name, tensors in (("places", each.places), ("weights", each.weights), ("outside", [each.outside])):
            count[name] = []
            for tensor in tensors:
                count[name].append(None if tensor is None else len(inputs))
                if tensor is not None:
                    inputs.append((tensor, f"d{each.dim}"))
        numbers.append(count)
    b.use(x)

    def body(s: Scalars, *values: Scalar) -> Scalar:
        index, elements = values[:len(shape)], values[len(shape):]
        total = read(s, elements, list(index), 0)
        flags = [elements[number] for count in numbers for number in count["outside"] if number is not None]
        for flag in flags:
            total = s.select(flag, form.extrapolation, total)
        if result.is_integer and element.is_float:
            total = s.clamp(s.round_even(total), float(result.lowest), float(result.highest))
        return s.cast(total, result)

    def read(s: Scalars, elements: Sequence[Scalar], at: list[Scalar], depth: int) -> Scalar:
        if depth == len(taps):
            return s.cast(b.extract(s, x, at), element)
        total: Scalar | None = None
        for place, weight in zip(numbers[depth]["places"], numbers[depth]["weights"]):
            assert place is not None
            at[taps[depth].dim] = s.index_of(elements[place])
            term = read(s, elements, at, depth + 1)
            term = term if weight is None else s.mul(elements[weight], term)
            total = term if total is None else s.add(total, term)
        assert total is not None
        return total

    return b.make(body, shape, result, inputs)


def _repeat(b: Builder, x: Tensor, factors: dict[int, int]) -> Tensor:
    """Repeats each element `factor` times along dims."""
    shape = [size * factors.get(dim, 1) for dim, size in enumerate(x.shape)]
    source = ", ".join(f"d{dim} floordiv {factors[dim]}" if dim in factors else f"d{dim}" for dim in range(x.rank))
    result, = b.generic(lambda s, a, _: a, [(x, source)],
                        [(b.empty(shape, x.element), ", ".join(f"d{dim}" for dim in range(x.rank)))],
                        ["parallel"] * x.rank)
    return result


def _whole_factor(axis: _Axis, form: _Form) -> int | None:
    """Returns the number of repetitions if the node repeats each element, else None."""
    if form.mode != "nearest" or isinstance(axis.scale, Scalar) or axis.scale != int(axis.scale) or axis.scale < 1:
        return None
    factor = int(axis.scale)
    if axis.new != axis.old * factor:
        return None
    old = axis.old
    if not is_static(old):
        # These transforms are equal for all sizes.
        if form.transform not in ("asymmetric", "half_pixel"):
            return None
        old = 64
    sample = _Axis(axis.dim, old, old * factor, axis.scale)
    values = {name: np.float32(value) for name, value in _values(sample)}
    if form.transform == "tf_crop_and_resize" or not is_static(sample.new):
        return None
    places, = _tables(Arrays(), np.arange(sample.new, dtype=np.float32), values, form, 1.0, F32)
    return factor if np.array_equal(places, np.arange(len(places)) // factor) else None


@operator("Resize")
def resize(b: Builder, node: Node, x: Tensor, *inputs: Tensor | None) -> Tensor:
    """Imports Resize. The inputs after the tensor are roi, scales and sizes, or only scales before opset 11."""
    given = [None, *inputs] if node.opset < 11 else list(inputs)
    return _resize(b, node, x, [*given, None, None][:3])


@operator("Upsample")
def upsample(b: Builder, node: Node, x: Tensor, scales: Tensor | None = None) -> Tensor:
    if scales is None:
        given = node.attribute("scales")
        if given is None:
            given = [1.0] * (x.rank - 2) + [node.attribute("height_scale"), node.attribute("width_scale")]
        scales = b.constant(np.array(given, np.float32))
    return _resize(b, node, x, [None, scales, None])


def _resize(b: Builder, node: Node, x: Tensor, inputs: Sequence[Tensor | None]) -> Tensor:
    form = _read_form(node)
    axes = _read_axes(b, node, x, form, inputs)
    factors = {axis.dim: _whole_factor(axis, form) for axis in axes}
    whole = {dim: factor for dim, factor in factors.items() if factor is not None}
    if len(whole) == len(axes):
        return _repeat(b, x, whole) if whole else x
    element = x.element if form.mode == "nearest" else F64 if x.element is F64 else F32
    taps = [_make_taps(b, node, axis, form, element if element.is_float else F32) for axis in axes]
    reads = int(np.prod([len(each.places) for each in taps]))
    if reads <= _MOST_READS or form.transform == "tf_crop_and_resize":
        return _sample(b, x, taps, form, element, x.element)
    result = x.element
    # The last dim comes first, because its sums have fewer rows.
    for each in reversed(taps[1:]):
        x = _sample(b, x, [each], form, element, element)
    return _sample(b, x, taps[:1], form, element, result)
