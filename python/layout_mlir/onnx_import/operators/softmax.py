"""Softmax, LogSoftmax and Hardmax."""

from __future__ import annotations

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import I64
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.reductions import computed, place_of_best, with_rows
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.values import Scalar, Tensor


def axes_of(node: Node, x: Tensor) -> list[int]:
    """Returns the dims of a row: one, or below opset 13 all from `axis` on."""
    if node.opset >= 13:
        return [node.axis(-1, x.rank)] if x.rank else []
    return list(range(node.axis(1, x.rank), x.rank))


def softmax_over(b: Builder, x: Tensor, axes: list[int], takes_log: bool = False) -> Tensor:
    """Writes linalg.softmax if there is one dim, else the maximum, differences, exponentials, their sum, and quotients
    or differences of logarithms. Narrow floats are computed in f32."""
    element = computed(x.element)
    if element == x.element and len(axes) == 1 and not takes_log:
        into = b.empty(x.shape, element)
        return Tensor(element, x.shape, b.emit(
            f"linalg.softmax dimension({axes[0]}) ins({b.use(x)} : {x.type}) outs({into.name} : {into.type}) -> {x.type}"))
    most = b.reduce_max(x, axes)

    def exponential(s: Scalars, x: Scalar, most: Scalar) -> Scalar:
        return s.exp(s.sub(s.cast(x, element), s.cast(most, element)))

    powers = with_rows(b, exponential, x, axes, [most], element)
    sums = b.reduce_sum(powers, axes)
    if not takes_log:
        return with_rows(b, lambda s, y, total: s.cast(s.div(y, total), x.element), powers, axes, [sums], x.element)

    # One logarithm for each row, not for each element.
    logs = b.elementwise(lambda s, total: s.log(total), sums)

    def difference(s: Scalars, x: Scalar, most: Scalar, log: Scalar) -> Scalar:
        return s.cast(s.sub(s.sub(s.cast(x, element), s.cast(most, element)), log), x.element)

    return with_rows(b, difference, x, axes, [most, logs])


@operator("Softmax")
def softmax(b: Builder, node: Node, x: Tensor) -> Tensor:
    return softmax_over(b, x, axes_of(node, x))


@operator("LogSoftmax")
def log_softmax(b: Builder, node: Node, x: Tensor) -> Tensor:
    return softmax_over(b, x, axes_of(node, x), takes_log=True)


@operator("Hardmax")
def hardmax(b: Builder, node: Node, x: Tensor) -> Tensor:
    """Returns 1 at the first maximum of a row, and 0 elsewhere."""
    axes = axes_of(node, x)
    rows = x if len(axes) == 1 else b.flatten(x, axes[0]) if axes else b.reshape(x, [1])
    axis = axes[0] if len(axes) == 1 else rows.rank - 1
    places = b.unsqueeze(place_of_best(b, rows, axis, is_max=True), [axis])

    def body(s: Scalars, place: Scalar) -> Scalar:
        return s.cast(s.equal(place, s.cast(b.index(s, axis), I64)), x.element)

    return b.reshape(b.elementwise(body, places, element=x.element, shape=rows.shape), x.shape)
