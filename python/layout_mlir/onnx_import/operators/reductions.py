"""Operators that reduce dims of a tensor."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from layout_mlir.onnx_import import tracked
from layout_mlir.onnx_import.axes import find_dims, sizes_of_kept
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F64, I64, Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.scalars import Body, Scalars
from layout_mlir.onnx_import.sizes import Size, Symbol, product
from layout_mlir.onnx_import.values import Scalar, Tensor
from layout_mlir.onnx_import.windows import map_dims, sum_element

_Unary = Callable[[Scalars, Scalar], Scalar]


def computed(element: Element) -> Element:
    """Returns the float type in which elementwise functions are computed."""
    return sum_element(element) if element.is_float else F64


@dataclasses.dataclass(frozen=True)
class Reduction:
    """A reduction over `axes` of the tensor `x`, whose result is reshaped to `shape`."""
    x: Tensor
    axes: list[int]
    shape: list[Size]


def plan(b: Builder, node: Node, x: Tensor) -> Reduction:
    """Returns the reduction of a node. The axes are an attribute or in newer opsets an input; without axes all dims are
    reduced, unless `noop_with_empty_axes` is set."""
    keepdims, given = bool(node.attribute("keepdims", 1)), node.input(1) if len(node.inputs) > 1 else None
    if given is not None and given.known_integers() is None and given.count != 0:
        return _plan_by_values(b, node, x, given, keepdims)
    axes = (node.integers("axes", 1, []) or []) if given is None or given.count != 0 else []
    for axis in axes:
        if not -x.rank <= axis < max(x.rank, 1):
            node.refuse(f"axis {axis} is out of range for rank {x.rank}")
    if not axes and not node.attribute("noop_with_empty_axes", 0):
        axes = list(range(x.rank))
    axes = sorted({axis % x.rank for axis in axes}) if x.rank else []
    shape = [1 if dim in axes else size for dim, size in enumerate(x.shape) if keepdims or dim not in axes]
    return Reduction(x, axes, shape)


def _plan_by_values(b: Builder, node: Node, x: Tensor, axes: Tensor, keepdims: bool) -> Reduction:
    """Plans a reduction over axes known at run time: the tensor gets each dim twice, once to keep and once to reduce,
    and one of the two has size 1."""
    if not isinstance(axes.count, int):
        node.refuse("the number of its axes is unknown")
    s, rank = b.scalars, x.rank
    is_reduced = find_dims(b, axes, rank)
    sizes = [Scalar(b.size(size), None) for size in x.shape]
    kept: list[Size] = [Symbol(s.select(found, 1, size).name) for found, size in zip(is_reduced, sizes)]
    reduced: list[Size] = [Symbol(s.select(found, size, 1).name) for found, size in zip(is_reduced, sizes)]
    name = b.use(x)

    def read(s: Scalars, *indices: Scalar) -> Scalar:
        return b.extract(s, Tensor(x.element, x.shape, name),
                         [s.add(indices[dim], indices[rank + dim]) for dim in range(rank)])

    doubled = b.make(read, [*kept, *reduced], x.element)
    shape = kept if keepdims else sizes_of_kept(b, is_reduced, x, rank - axes.count)
    return Reduction(doubled, list(range(rank, 2 * rank)), shape)


def reduce(b: Builder, node: Node, x: Tensor, combine: Body, initial: float, element: Element,
           before: _Unary = lambda s, x: x, after: _Unary | None = None) -> Tensor:
    """Reduces `before` of the elements in another element type, and applies `after` to the results, which have the
    element type of x."""
    return reduce_by(b, plan(b, node, x), combine, initial, element, before, after)


def reduce_by(b: Builder, given: Reduction, combine: Body, initial: float, element: Element,
              before: _Unary = lambda s, x: x, after: _Unary | None = None) -> Tensor:
    own = given.x.element
    result = b.reduce(lambda s, acc, x: s.cast(combine(s, acc, before(s, s.cast(x, element))), element), given.x,
                      given.axes, initial, element=element)
    if after is not None or element != own:
        result = b.elementwise(lambda s, y: s.cast(after(s, y) if after else y, own), result, element=own)
    return b.reshape(result, given.shape)


def with_rows(b: Builder, body: Body, x: Tensor, axes: Sequence[int], rows: Sequence[Tensor],
              element: Element | None = None) -> Tensor:
    """Applies `body(s, x, *rows)` to x and to tensors without the dims `axes` of x."""
    kept = [dim for dim in range(x.rank) if dim not in axes]
    return map_dims(b, body, x, *((row, kept) for row in rows), element=element)


def _add(s: Scalars, acc: Scalar, x: Scalar) -> Scalar:
    return s.add(acc, x)


def _known(b: Builder, node: Node, x: Tensor, function: Callable[[Size, Size], Size]) -> Tensor | None:
    """Returns the reduction of all elements of x, which are sizes known at import. If they are not known, or a dim is
    not reduced, returns None."""
    if x.integers is None or len(plan(b, node, x).axes) != x.rank:
        return None
    return tracked.reduce(b, function, x, bool(node.attribute("keepdims", 1)))


@operator("ReduceSum")
def reduce_sum(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    known = _known(b, node, x, lambda a, c: a + c)
    return known or reduce(b, node, x, _add, 0, sum_element(x.element))


@operator("ReduceProd")
def reduce_prod(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    known = _known(b, node, x, lambda a, c: a * c)
    return known or reduce(b, node, x, lambda s, acc, x: s.mul(acc, x), 1, sum_element(x.element))


@operator("ReduceMax")
def reduce_max(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    known = _known(b, node, x, b.maximum)
    return known or reduce(b, node, x, lambda s, acc, x: s.max(acc, x), x.element.lowest, x.element)


@operator("ReduceMin")
def reduce_min(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    known = _known(b, node, x, b.minimum)
    return known or reduce(b, node, x, lambda s, acc, x: s.min(acc, x), x.element.highest, x.element)


@operator("ReduceMean")
def reduce_mean(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    """Imports ReduceMean. The mean of no elements, undefined in ONNX, is 0."""
    given = plan(b, node, x)
    count = b.maximum(product([given.x.shape[axis] for axis in given.axes]), 1)

    def divide(s: Scalars, total: Scalar) -> Scalar:
        number = s.constant(count, total.element) if isinstance(count, int) else s.cast(
            Scalar(b.size(count), None), total.element)
        return s.div(total, number)

    return reduce_by(b, given, _add, 0, sum_element(x.element), after=divide)


@operator("ReduceL1")
def reduce_l1(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    return reduce(b, node, x, _add, 0, sum_element(x.element), lambda s, x: s.abs(x))


@operator("ReduceSumSquare")
def reduce_sum_square(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    return reduce(b, node, x, _add, 0, sum_element(x.element), lambda s, x: s.mul(x, x))


@operator("ReduceL2")
def reduce_l2(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    return reduce(b, node, x, _add, 0, computed(x.element), lambda s, x: s.mul(x, x), lambda s, y: s.sqrt(y))


@operator("ReduceLogSum")
def reduce_log_sum(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    return reduce(b, node, x, _add, 0, computed(x.element), after=lambda s, y: s.log(y))


@operator("ReduceLogSumExp")
def reduce_log_sum_exp(b: Builder, node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    """Computes log(sum(exp(x - m))) + m, where m is the maximum, or 0 if that is not finite."""
    given, element = plan(b, node, x), computed(x.element)
    wide = b.cast(given.x, element)
    most = b.elementwise(lambda s, m: s.select(s.less(s.abs(m), math.inf), m, 0), b.reduce_max(wide, given.axes))
    powers = with_rows(b, lambda s, x, m: s.exp(s.sub(x, m)), wide, given.axes, [most])
    sums = b.reduce_sum(powers, given.axes)
    result = b.elementwise(lambda s, y, m: s.cast(s.add(s.log(y), m), x.element), sums, most, element=x.element)
    return b.reshape(result, given.shape)


# ------------------------------------------------------------------------ places

def place_of_best(b: Builder, x: Tensor, axis: int, is_max: bool, takes_last: bool = False) -> Tensor:
    """Returns the index of the maximum or minimum along an axis, which the result lacks. NaN is both, as in numpy."""
    kept = [dim for dim in range(x.rank) if dim != axis]
    shape = [x.shape[dim] for dim in kept]
    best = b.fill(shape, x.element, x.element.lowest if is_max else x.element.highest)
    everything, left = (", ".join(f"d{dim}" for dim in dims) for dims in (range(x.rank), kept))

    def body(s: Scalars, x: Scalar, best: Scalar, place: Scalar) -> tuple[Scalar, ...]:
        better = _is_better(s, x, best, is_max, takes_last)
        here = s.cast(b.index(s, axis), I64)
        return s.select(better, x, best), s.select(better, here, place)

    _, places = b.generic(body, [(x, everything)], [(best, left), (b.fill(shape, I64, 0), left)],
                          ["reduction" if dim == axis else "parallel" for dim in range(x.rank)])
    return places


def _is_better(s: Scalars, x: Scalar, best: Scalar, is_max: bool, takes_last: bool) -> Scalar:
    better = s.compare(("ge" if takes_last else "gt") if is_max else ("le" if takes_last else "lt"), x, best)
    if x.element is None or not x.element.is_float:
        return better
    is_nan = s.compare("ne", x, x)
    if not takes_last:
        is_nan = s.bit_and(is_nan, s.equal(best, best))
    return s.bit_or(better, is_nan)


@operator("ArgMax", "ArgMin")
def arg(b: Builder, node: Node, x: Tensor) -> Tensor:
    scalar = x.rank == 0
    axis = node.axis(0, x.rank)
    if not scalar and x.shape[axis] == 0:
        node.refuse(f"axis {axis} has size 0: it has no {'largest' if node.op == 'ArgMax' else 'smallest'} element")
    places = place_of_best(b, b.reshape(x, [1]) if scalar else x, axis, node.op == "ArgMax",
                           bool(node.attribute("select_last_index", 0)))
    if scalar or not node.attribute("keepdims", 1):
        return places
    return b.reshape(places, [1 if dim == axis else size for dim, size in enumerate(x.shape)])
