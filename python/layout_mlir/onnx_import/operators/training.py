"""Optimizers of ai.onnx.preview.training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import Element
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.values import Scalar, Tensor

_DOMAIN = "ai.onnx.preview.training"


def _update(b: Builder, node: Node, body: Callable[..., tuple[Scalar, ...]], rate: Tensor, step: Tensor,
            tensors: Sequence[Tensor], kinds: int) -> list[Tensor]:
    """Updates parameters: `body(s, rate, step, *elements)` receives one element of each of the `kinds` groups of
    tensors, of which the first are parameters and gradients, and returns new elements for all except the gradients."""
    count = len(tensors) // kinds
    if count * kinds != len(tensors):
        node.refuse(f"it has {len(tensors)} tensors, which is not a multiple of {kinds}")
    results: list[list[Tensor]] = [[] for _ in range(kinds - 1)]
    for number in range(count):
        group = list(tensors[number::count])
        element = group[0].element
        scalars = [b.cast(b.reshape(each, []), element) for each in (rate, step)]
        made = b.elementwise_many(body, [*scalars, *group], [element] * (kinds - 1), shape=group[0].shape)
        for column, tensor in zip(results, made):
            column.append(tensor)
    return [tensor for column in results for tensor in column]


def _regular(s: Scalars, node: Node, x: Scalar, gradient: Scalar) -> Scalar:
    """Returns the gradient including that of the L2 regularization of the parameter."""
    norm = float(node.attribute("norm_coefficient", 0.0))
    return s.add(s.mul(x, norm), gradient) if norm else gradient


@operator("Adagrad", domain=_DOMAIN)
def adagrad(b: Builder, node: Node, rate: Tensor, step: Tensor, *tensors: Tensor) -> list[Tensor]:
    decay, epsilon = float(node.attribute("decay_factor", 0.0)), float(node.attribute("epsilon", 1e-6))

    def body(s: Scalars, r: Scalar, t: Scalar, x: Scalar, g: Scalar, h: Scalar, *_: Scalar) -> tuple[Scalar, ...]:
        r = s.div(r, s.add(s.mul(t, decay), 1))
        g = _regular(s, node, x, g)
        h = s.add(h, s.mul(g, g))
        return s.sub(x, s.div(s.mul(r, g), s.add(s.sqrt(h), epsilon))), h

    return _update(b, node, body, rate, step, tensors, 3)


@operator("Momentum", domain=_DOMAIN)
def momentum(b: Builder, node: Node, rate: Tensor, step: Tensor, *tensors: Tensor) -> list[Tensor]:
    alpha, beta = float(node.attribute("alpha")), float(node.attribute("beta"))
    is_nesterov = node.attribute("mode") == "nesterov"

    def body(s: Scalars, r: Scalar, t: Scalar, x: Scalar, g: Scalar, v: Scalar, *_: Scalar) -> tuple[Scalar, ...]:
        g = _regular(s, node, x, g)
        factor = s.select(s.greater(t, 0), s.constant(beta, x.element), 1)
        v = s.add(s.mul(v, alpha), s.mul(factor, g))
        return s.sub(x, s.mul(r, s.add(g, s.mul(v, alpha)) if is_nesterov else v)), v

    return _update(b, node, body, rate, step, tensors, 3)


@operator("Adam", domain=_DOMAIN)
def adam(b: Builder, node: Node, rate: Tensor, step: Tensor, *tensors: Tensor) -> list[Tensor]:
    alpha, beta = float(node.attribute("alpha", 0.9)), float(node.attribute("beta", 0.999))
    epsilon, after = float(node.attribute("epsilon", 1e-6)), float(node.attribute("norm_coefficient_post", 0.0))

    def corrected(s: Scalars, r: Scalar, t: Scalar, element: Element | None) -> Scalar:
        """Returns the rate with the bias correction of the first steps."""
        first, second = (s.sub(1, s.pow(s.constant(each, element), t)) for each in (alpha, beta))
        return s.select(s.greater(t, 0), s.div(s.mul(r, s.sqrt(second)), first), r)

    def body(s: Scalars, r: Scalar, t: Scalar, x: Scalar, g: Scalar, v: Scalar, h: Scalar,
             *_: Scalar) -> tuple[Scalar, ...]:
        g = _regular(s, node, x, g)
        v = s.add(s.mul(v, alpha), s.mul(g, 1 - alpha))
        h = s.add(s.mul(h, beta), s.mul(s.mul(g, g), 1 - beta))
        x = s.sub(x, s.div(s.mul(corrected(s, r, t, x.element), v), s.add(s.sqrt(h), epsilon)))
        return (s.mul(x, 1 - after) if after else x), v, h

    return _update(b, node, body, rate, step, tensors, 4)
