"""Activation functions of recurrent operators, by their ONNX names."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence

from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.values import Forbidden, Scalar

_Function = Callable[[Scalars, Scalar, float, float], Scalar]


def _leaky_relu(s: Scalars, x: Scalar, alpha: float, beta: float) -> Scalar:
    return s.select(s.less(x, 0), s.mul(x, alpha), x)


def _elu(s: Scalars, x: Scalar, alpha: float, beta: float) -> Scalar:
    return s.select(s.less(x, 0), s.mul(s.sub(s.exp(x), 1), alpha), x)


def _softplus(s: Scalars, x: Scalar, alpha: float, beta: float) -> Scalar:
    """Computes log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    return s.add(s.max(x, 0), s.unary("math.log1p", s.exp(s.neg(s.abs(x)))))


# Marks a parameter that the model must state: ONNX has no default, or ONNX Runtime has a different one.
_GIVEN = math.nan
# Maps a name to the function and the defaults of alpha and beta, or None for a parameter that it does not have.
_TABLE: dict[str, tuple[_Function, float | None, float | None]] = {
    "relu": (lambda s, x, a, b: s.max(x, 0), None, None),
    "tanh": (lambda s, x, a, b: s.tanh(x), None, None),
    "sigmoid": (lambda s, x, a, b: s.sigmoid(x), None, None),
    "softsign": (lambda s, x, a, b: s.div(x, s.add(s.abs(x), 1)), None, None),
    "softplus": (_softplus, None, None),
    "leakyrelu": (_leaky_relu, 0.01, None),
    "thresholdedrelu": (lambda s, x, a, b: s.select(s.greater(x, a), x, s.constant(0, x.element)), _GIVEN, None),
    "elu": (_elu, 1.0, None),
    "affine": (lambda s, x, a, b: s.add(s.mul(x, a), b), _GIVEN, _GIVEN),
    "scaledtanh": (lambda s, x, a, b: s.mul(s.tanh(s.mul(x, b)), a), _GIVEN, _GIVEN),
    "hardsigmoid": (lambda s, x, a, b: s.clamp(s.add(s.mul(x, a), b), 0, 1), 0.2, 0.5),
}


@dataclasses.dataclass(frozen=True)
class Activation:
    """An activation with its parameters."""
    name: str
    alpha: float
    beta: float

    def __call__(self, s: Scalars, x: Scalar) -> Scalar:
        return _TABLE[self.name][0](s, x, self.alpha, self.beta)


def find_activations(names: Sequence[str], alphas: Sequence[float], betas: Sequence[float]) -> list[Activation]:
    """Returns the named activations. `alphas` and `betas` list the parameters of those activations that have one, in
    order. Raises ValueError if ONNX does not define a name, or if a parameter without a default is missing."""
    given_alphas, given_betas = iter(alphas), iter(betas)

    def parameter(default: float | None, given: Iterator[float]) -> float:
        return 0.0 if default is None else float(next(given, default))

    result = []
    for name in names:
        known = _TABLE.get(name.lower())
        if known is None:
            raise Forbidden(f"ONNX does not define the activation '{name}'")
        found = Activation(name.lower(), parameter(known[1], given_alphas), parameter(known[2], given_betas))
        if math.isnan(found.alpha) or math.isnan(found.beta):
            raise Forbidden(f"runtimes differ in the default parameters of the activation '{name}': set "
                            "activation_alpha and activation_beta")
        result.append(found)
    return result
