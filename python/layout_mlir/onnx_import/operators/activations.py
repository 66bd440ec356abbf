"""Elementwise activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F64
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.elementwise import in_f32
from layout_mlir.onnx_import.scalars import Body, Scalars
from layout_mlir.onnx_import.values import Scalar, Tensor

# Returns the body of an operator for a node with its attributes.
Activation = Callable[[Node], Body]
ACTIVATIONS: dict[str, Activation] = {}


def activation(name: str) -> Callable[[Activation], Activation]:
    """Registers an operator with one input by its body. Narrow floats are computed in f32."""
    def register(function: Activation) -> Activation:
        ACTIVATIONS[name] = function

        @operator(name)
        def apply(b: Builder, node: Node, x: Tensor) -> Tensor:
            return b.elementwise(in_f32(function(node)), x)

        return function

    return register


@activation("Relu")
def relu(node: Node) -> Body:
    return lambda s, x: s.max(x, 0)


@activation("LeakyRelu")
def leaky_relu(node: Node) -> Body:
    alpha = node.attribute("alpha", 0.01)
    return lambda s, x: s.select(s.compare("ge", x, 0), x, s.mul(x, alpha))


@activation("Tanh")
def tanh(node: Node) -> Body:
    return lambda s, x: s.tanh(x)


@activation("Elu")
def elu(node: Node) -> Body:
    alpha = node.attribute("alpha", 1.0)
    return lambda s, x: s.select(s.less(x, 0), s.mul(s.sub(s.exp(x), 1), alpha), x)


@activation("Selu")
def selu(node: Node) -> Body:
    old = node.opset < 6
    alpha = node.attribute("alpha", 1.6732 if old else 1.67326319217681884765625)
    gamma = node.attribute("gamma", 1.0507 if old else 1.05070102214813232421875)
    return lambda s, x: s.mul(s.select(s.greater(x, 0), x, s.mul(s.sub(s.exp(x), 1), alpha)), gamma)


@activation("Celu")
def celu(node: Node) -> Body:
    alpha = node.attribute("alpha", 1.0)
    return lambda s, x: s.add(s.max(x, 0), s.min(s.mul(s.sub(s.exp(s.div(x, alpha)), 1), alpha), 0))


@activation("Sigmoid")
def sigmoid(node: Node) -> Body:
    return lambda s, x: s.sigmoid(x)


@activation("HardSigmoid")
def hard_sigmoid(node: Node) -> Body:
    alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
    return lambda s, x: s.clamp(s.add(s.mul(x, alpha), beta), 0, 1)


@activation("HardSwish")
def hard_swish(node: Node) -> Body:
    return lambda s, x: s.mul(x, s.clamp(s.add(s.mul(x, 1 / 6), 0.5), 0, 1))


@activation("Swish")
def swish(node: Node) -> Body:
    return swish_of(node.attribute("alpha", 1.0))


def swish_of(alpha: float) -> Body:
    return lambda s, x: s.mul(x, s.sigmoid(s.mul(x, alpha) if alpha != 1 else x))


def softplus_of(s: Scalars, x: Scalar) -> Scalar:
    """Computes log(1 + exp(x)) without an overflow of exp."""
    return s.add(s.max(x, 0), s.unary("math.log1p", s.exp(s.neg(s.abs(x)))))


@activation("Softplus")
def softplus(node: Node) -> Body:
    return softplus_of


@activation("Mish")
def mish(node: Node) -> Body:
    return lambda s, x: s.mul(x, s.tanh(softplus_of(s, x)))


@activation("Softsign")
def softsign(node: Node) -> Body:
    return lambda s, x: s.div(x, s.add(s.abs(x), 1))


@activation("ThresholdedRelu")
def thresholded_relu(node: Node) -> Body:
    alpha = node.attribute("alpha", 1.0)
    return lambda s, x: s.select(s.greater(x, alpha), x, 0)


def gelu_of(s: Scalars, x: Scalar) -> Scalar:
    return s.mul(s.mul(x, 0.5), s.add(s.erf(s.mul(x, math.sqrt(0.5))), 1))


def gelu_by_tanh(s: Scalars, x: Scalar) -> Scalar:
    cubic = s.mul(s.mul(s.mul(x, x), x), 0.044715)
    return s.mul(s.mul(x, 0.5), s.add(s.tanh(s.mul(s.add(x, cubic), math.sqrt(2 / math.pi))), 1))


@activation("Gelu")
def gelu(node: Node) -> Body:
    return gelu_by_tanh if node.attribute("approximate", "none") == "tanh" else gelu_of


@operator("Shrink")
def shrink(b: Builder, node: Node, x: Tensor) -> Tensor:
    bias, bound = node.attribute("bias", 0.0), node.attribute("lambd", 0.5)

    def body(s: Scalars, x: Scalar) -> Scalar:
        element = x.element
        if element is not None and not element.is_float:
            return s.cast(body(s, s.cast(x, F64)), element)
        return s.select(s.less(x, -bound), s.add(x, bias), s.select(s.greater(x, bound), s.sub(x, bias), 0))

    return b.elementwise(in_f32(body), x)


@operator("PRelu")
def prelu(b: Builder, node: Node, x: Tensor, slope: Tensor) -> Tensor:
    if node.opset < 7 and slope.rank == 1 and slope.shape[0] != 1 and x.rank > 1:
        slope = b.reshape(slope, [*slope.shape, *[1] * (x.rank - 2)])  # one slope for each channel
    return b.elementwise(lambda s, x, slope: s.select(s.less(x, 0), s.mul(x, slope), x), x, slope)
