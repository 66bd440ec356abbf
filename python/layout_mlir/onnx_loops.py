"""ONNX operators that choose, sort or scatter, as loops (loops.py).

Which elements they read or write depends on values, so that no operation of linalg says it. IREE's
passes have no lowering of them, or one of some forms. The functions below are the operators'
definitions in Python; each is called once for a node of a model, and becomes loops in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from layout_mlir.loops import Type, translate
from layout_mlir.onnx_shapes import is_known

if TYPE_CHECKING:
    from onnx import NodeProto, TypeProto

    from layout_mlir.loops import Tensor, all_of, empty, first, indices, integer, is_number, rank, shape, size


def scalar(x: Tensor) -> Any:
    """Of a tensor of one element."""
    return x[()] if rank(x) == 0 else x[0]


def wrap(i: int, n: int) -> int:
    """An index that may count from the end."""
    return i + n if i < 0 else i


# ----------------------------------------------------------------------- choosing


def goes_before(a: float, b: float, largest: bool) -> bool:
    """NaN comes last."""
    better = a > b if largest else a < b
    return better or (a == a and b != b)


def top_k(x: Tensor, k: Tensor, axis: int, largest: bool, count: int | None) -> tuple[Tensor, Tensor]:
    """A list that stays sorted, for each row; what is equal keeps its order."""
    count = count if count is not None else scalar(k)
    n, around = size(x, axis), (*shape(x)[:axis], *shape(x)[axis + 1:])
    values = empty(x, (*shape(x)[:axis], count, *shape(x)[axis + 1:]))
    places = empty("i64", (*shape(x)[:axis], count, *shape(x)[axis + 1:]))
    for row in indices(around):
        filled = 0
        for i in range(n if count > 0 else 0):
            v = x[(*row[:axis], i, *row[axis:])]
            if True if filled < count else goes_before(v, values[(*row[:axis], count - 1, *row[axis:])], largest):
                here = 0
                for j in range(filled):
                    here += integer(not goes_before(v, values[(*row[:axis], j, *row[axis:])], largest))
                last = min(filled, count - 1)
                for j in range(last - here):
                    to, source = (*row[:axis], last - j, *row[axis:]), (*row[:axis], last - j - 1, *row[axis:])
                    values[to] = values[source]
                    places[to] = places[source]
                values[(*row[:axis], here, *row[axis:])] = v
                places[(*row[:axis], here, *row[axis:])] = i
                filled = last + 1
    return values, places


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


# ------------------------------------------------------------------- accumulating


def accumulate(x: Tensor, axis: Tensor, exclusive: bool, reverse: bool, multiplies: bool) -> Tensor:
    """Each element from the one before it. Where the axis is an input, it is compared with all."""
    y, start = empty(x, shape(x)), 1 if multiplies else 0
    for index in indices(shape(x)):
        to = [size(x, d) - 1 - i if reverse else i for d, i in enumerate(index)]
        source = [i - (-1 if reverse else 1) * integer(scalar(axis) == d or scalar(axis) == d - rank(x))
                  for d, i in enumerate(to)]
        inside = all_of([0 <= i and i < size(x, d) for d, i in enumerate(source)])
        old = y[source] if inside else start
        new = (x[source] if inside else start) if exclusive else x[to]
        y[to] = old * new if multiplies else old + new
    return y


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


def _of_top_k(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    axis = _axis(attributes, inputs[0], -1)
    count = outputs[0].sizes[axis] if outputs[0] else None
    return top_k, {"axis": axis, "largest": attributes.get("largest", 1), "count": count}


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


def _of_accumulation(multiplies: bool) -> _Rule:
    return lambda attributes, inputs, outputs: (
        accumulate, {"exclusive": attributes.get("exclusive", 0), "reverse": attributes.get("reverse", 0),
                     "multiplies": multiplies})


def _of_compress(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    return compress, {"axis": _axis(attributes, inputs[0]) if "axis" in attributes else None}


def _of_tensor_scatter(attributes: _Attributes, inputs: Sequence[Any], outputs: Sequence[Type | None]) -> _Found | None:
    return tensor_scatter, {"axis": _axis(attributes, inputs[0], -2),
                            "circular": attributes.get("mode", b"linear") == b"circular"}


_OPERATORS: dict[str, _Rule] = {
    "TopK": _of_top_k, "NonMaxSuppression": _of_non_max_suppression,
    "NonZero": lambda attributes, inputs, outputs: (non_zero, {}) if inputs[0].sizes else None,
    "Unique": _of_unique, "Scatter": _of_scatter_elements, "ScatterElements": _of_scatter_elements,
    "ScatterND": _of_scatter_nd, "CumSum": _of_accumulation(False), "CumProd": _of_accumulation(True),
    "Compress": _of_compress, "TensorScatter": _of_tensor_scatter,
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
