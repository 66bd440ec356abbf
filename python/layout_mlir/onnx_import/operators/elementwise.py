"""Elementwise arithmetic, comparison and logic, with numpy's broadcasting."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from layout_mlir.onnx_import import tracked
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BOOL, F32, F64
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.conversions import largest_finite
from layout_mlir.onnx_import.scalars import Body, Scalars
from layout_mlir.onnx_import.sizes import Size
from layout_mlir.onnx_import.values import Scalar, Tensor


def in_f32(body: Body) -> Body:
    """Wraps a body so that floats narrower than f32 are computed in f32 and results are rounded once. Operands with
    other element types than the first one are unchanged."""
    def wide(s: Scalars, *xs: Scalar) -> Scalar | tuple[Scalar, ...]:
        element = xs[0].element
        if element is None or not element.is_float or element.bits >= 32:
            return body(s, *xs)
        result = body(s, *[s.cast(x, F32) if x.element == element else x for x in xs])
        assert isinstance(result, Scalar)
        return s.cast(result, element) if result.element is F32 else result

    return wide


def aligned(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    """Returns the second operand so that it broadcasts as in numpy: below opset 7, its first dim is dim `axis` of the
    first operand."""
    if node.opset >= 7 or not node.attribute("broadcast", 0) or not node.has("axis"):
        return y
    axis = node.axis(0, x.rank)
    return b.reshape(y, [*y.shape, *[1] * (x.rank - axis - y.rank)])


# ------------------------------------------------------------------- one operand

_MATH = {"Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Erf": "erf", "Sin": "sin", "Cos": "cos", "Tan": "tan",
         "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Asinh": "asinh",
         "Acosh": "acosh", "Atanh": "atanh", "Floor": "floor", "Ceil": "ceil", "Round": "roundeven"}


@operator(*_MATH)
def math_function(b: Builder, node: Node, x: Tensor) -> Tensor:
    if not x.element.is_float:  # of these functions, only Erf is defined on integers
        return b.elementwise(lambda s, x: s.cast(s.unary(f"math.{_MATH[node.op]}", s.cast(x, F64)), x.element), x)
    return b.elementwise(lambda s, x: s.unary(f"math.{_MATH[node.op]}", x), x)


@operator("Neg")
def neg(b: Builder, node: Node, x: Tensor) -> Tensor:
    return tracked.track(b, lambda a: -a, [x]) or b.elementwise(lambda s, x: s.neg(x), x)


@operator("Abs")
def absolute(b: Builder, node: Node, x: Tensor) -> Tensor:
    known = tracked.track(b, lambda a: tracked.absolute(b, a), [x])
    return known or b.elementwise(lambda s, x: s.abs(x), x)


@operator("Sign")
def sign(b: Builder, node: Node, x: Tensor) -> Tensor:
    def body(s: Scalars, x: Scalar) -> Scalar:
        # A value that is neither above nor below 0 is 0 or NaN, and so is |x|.
        negative = s.constant(-1, x.element) if not x.element or not x.element.is_unsigned else x
        return s.select(s.greater(x, 0), 1, s.select(s.less(x, 0), negative, s.abs(x)))

    return b.elementwise(in_f32(body), x)


@operator("Reciprocal")
def reciprocal(b: Builder, node: Node, x: Tensor) -> Tensor:
    return b.elementwise(lambda s, x: s.div(1, x), x)


@operator("Not", "BitwiseNot")
def invert(b: Builder, node: Node, x: Tensor) -> Tensor:
    return b.elementwise(lambda s, x: s.invert(x), x)


@operator("IsNaN")
def is_nan(b: Builder, node: Node, x: Tensor) -> Tensor:
    return b.elementwise(in_f32(lambda s, x: s.compare("ne", x, x)), x, element=BOOL)


@operator("IsInf")
def is_inf(b: Builder, node: Node, x: Tensor) -> Tensor:
    signs = [value for name, value in (("detect_positive", math.inf), ("detect_negative", -math.inf))
             if node.attribute(name, 1)]

    def body(s: Scalars, x: Scalar) -> Scalar:
        return functools.reduce(s.bit_or, [s.equal(x, value) for value in signs], s.constant(False, BOOL))

    return b.elementwise(in_f32(body), x, element=BOOL)


# ------------------------------------------------------------------ two operands

def _register_binary(name: str, body: Callable[[Scalars, Scalar, Scalar], Scalar],
                     known: Callable[[Builder, Size, Size], Size | None] | None = None) -> None:
    """Registers an operator with two operands; `known` computes it on sizes."""
    @operator(name)
    def binary(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
        y = aligned(b, node, x, y)
        result = tracked.track(b, lambda a, c: known(b, a, c), [x, y]) if known else None
        return result or b.elementwise(body, x, y)


_register_binary("Add", lambda s, x, y: s.add(x, y), lambda b, x, y: x + y)
_register_binary("Sub", lambda s, x, y: s.sub(x, y), lambda b, x, y: x - y)
_register_binary("Mul", lambda s, x, y: s.mul(x, y), lambda b, x, y: x * y)


def _check_divisor(b: Builder, node: Node, y: Tensor) -> None:
    """Writes an assertion that no element of an integer divisor is 0."""
    if y.element.is_float:
        return
    if y.array is not None:
        if not y.array.all():
            node.refuse("it divides integers by a constant that is 0")
        return
    dims = ", ".join(f"d{dim}" for dim in range(y.rank))
    holds, = b.generic(lambda s, divisor, so_far: s.bit_and(so_far, s.compare("ne", divisor, 0)), [(y, dims)],
                       [(b.fill([], BOOL, True), "")], ["reduction"] * y.rank)
    b.check(b.scalar_of(holds).name, "an integer is divided by 0")


def _divide(s: Scalars, x: Scalar, y: Scalar) -> Scalar:
    """Divides; integers wrap around, and their divisor is not 0."""
    if x.element is None or x.element.is_float or x.element.is_unsigned:
        return s.div(x, y)
    negates = s.equal(y, -1)
    return s.select(negates, s.sub(0, x), s.div(x, s.select(negates, 1, y)))


@operator("Div")
def divide(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    y = aligned(b, node, x, y)
    known = tracked.track(b, lambda a, c: tracked.quotient(b, a, c), [x, y])
    if known is not None:
        return known
    _check_divisor(b, node, y)
    return b.elementwise(_divide, x, y)


_register_binary("And", lambda s, x, y: s.bit_and(x, y))
_register_binary("Or", lambda s, x, y: s.bit_or(x, y))
_register_binary("Xor", lambda s, x, y: s.bit_xor(x, y))
_register_binary("BitwiseAnd", lambda s, x, y: s.bit_and(x, y))
_register_binary("BitwiseOr", lambda s, x, y: s.bit_or(x, y))
_register_binary("BitwiseXor", lambda s, x, y: s.bit_xor(x, y))

_PREDICATES = {"Equal": "eq", "Greater": "gt", "Less": "lt", "GreaterOrEqual": "ge", "LessOrEqual": "le"}


@operator(*_PREDICATES)
def compare(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    y, predicate = aligned(b, node, x, y), _PREDICATES[node.op]
    known = tracked.track(b, lambda a, c: tracked.holds(b, predicate, a, c), [x, y], BOOL)
    return known or b.elementwise(in_f32(lambda s, x, y: s.compare(predicate, x, y)), x, y, element=BOOL)


@operator("Mod")
def mod(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    has_sign_of_divisor = not node.attribute("fmod", 0)
    known = tracked.track(b, lambda a, c: tracked.remainder(b, a, c, has_sign_of_divisor), [x, y])
    if known is not None:
        return known
    _check_divisor(b, node, y)

    def body(s: Scalars, x: Scalar, y: Scalar) -> Scalar:
        is_signed = x.element is not None and not x.element.is_float and not x.element.is_unsigned
        rest = s.rem(x, s.select(s.equal(y, -1), 1, y) if is_signed else y)  # the remainder of any number by -1 is 0
        if not has_sign_of_divisor or (x.element and x.element.is_unsigned):
            return rest
        differs = s.bit_and(s.compare("ne", rest, 0), s.bit_xor(s.less(rest, 0), s.less(y, 0)))
        result = s.select(differs, s.add(rest, y), rest)
        if not x.element or not x.element.is_float:
            return result
        zero = s.op(f"math.copysign {s.constant(0, y.element).name}, {y.name} : {y.type}", y.element)
        return s.select(s.equal(rest, 0), zero, result)

    return b.elementwise(in_f32(body), x, y)


@operator("BitShift")
def bit_shift(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    """Shifts bits; a right shift of signed integers keeps the sign. If the amount is negative or at least the bit
    width, the result is 0, or the sign for a right shift of signed integers."""
    def body(s: Scalars, x: Scalar, y: Scalar) -> Scalar:
        assert x.element is not None
        inside = s.op(f"arith.cmpi ult, {y.name}, {s.constant(x.element.bits, y.element).name} : {y.type}", BOOL)
        if node.attribute("direction") == "RIGHT" and not x.element.is_unsigned:
            amount = s.select(inside, y, x.element.bits - 1)
            return s.op(f"arith.shrsi {x.name}, {amount.name} : {x.type}", x.element)
        name = "arith.shli" if node.attribute("direction") == "LEFT" else "arith.shrui"
        return s.select(inside, s.op(f"{name} {x.name}, {y.name} : {x.type}", x.element), 0)

    return b.elementwise(body, x, y)


@operator("Pow")
def power(b: Builder, node: Node, x: Tensor, y: Tensor) -> Tensor:
    y = aligned(b, node, x, y)
    exponent = y.constant_scalar()

    def body(s: Scalars, x: Scalar, y: Scalar) -> Scalar:
        assert x.element is not None and y.element is not None
        if exponent in (1, 2, 3):
            return functools.reduce(s.mul, [x] * int(exponent))
        if not x.element.is_float or (y.element.bits >= 32 and not y.element.is_float):
            return s.cast(s.pow(s.cast(x, F64), s.cast(y, F64)), x.element)
        if exponent == -1:
            return s.div(1, x)
        if exponent == 0.5:  # pow and sqrt differ for -inf and -0
            return s.select(s.equal(x, -math.inf), math.inf, s.add(s.sqrt(x), 0))
        return s.pow(x, s.cast(y, x.element))

    return b.elementwise(in_f32(body), x, y)


@operator("Where")
def where(b: Builder, node: Node, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    known = tracked.select(b, condition, x, y)
    return known or b.elementwise(lambda s, c, x, y: s.select(c, x, y), condition, x, y, element=x.element)


# ----------------------------------------------------------------- many operands

@operator("Max")
def maximum(b: Builder, node: Node, *xs: Tensor) -> Tensor:
    known = tracked.track(b, lambda *sizes: functools.reduce(b.maximum, sizes), xs)
    return known or b.elementwise(lambda s, *xs: functools.reduce(s.max, xs), *xs)


@operator("Min")
def minimum(b: Builder, node: Node, *xs: Tensor) -> Tensor:
    known = tracked.track(b, lambda *sizes: functools.reduce(b.minimum, sizes), xs)
    return known or b.elementwise(lambda s, *xs: functools.reduce(s.min, xs), *xs)


@operator("Sum")
def total(b: Builder, node: Node, *xs: Tensor) -> Tensor:
    return b.elementwise(in_f32(lambda s, *xs: functools.reduce(s.add, xs)), *xs)


@operator("Mean")
def mean(b: Builder, node: Node, *xs: Tensor) -> Tensor:
    return b.elementwise(in_f32(lambda s, *xs: s.div(functools.reduce(s.add, xs), len(xs))), *xs)


@operator("Clip")
def clip(b: Builder, node: Node, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    """Clips to the bounds. A value above both bounds becomes `high`, even if `low` is above `high`."""
    if node.opset < 11:
        largest = min(largest_finite(x.element), largest_finite(F32))  # the default bound
        low = b.constant(node.attribute("min", -largest), x.element)
        high = b.constant(node.attribute("max", largest), x.element)
    known = tracked.track(b, lambda a, *bounds: _clip_size(b, a, low, high, bounds),
                          [x, *[bound for bound in (low, high) if bound is not None]])
    if known is not None:
        return known
    bounds = [b.reshape(bound, []) for bound in (low, high) if bound is not None]

    def body(s: Scalars, x: Scalar, *bounds: Scalar) -> Scalar:
        rest = iter(bounds)
        if low is not None:
            x = s.max(x, next(rest))
        return s.min(x, next(rest)) if high is not None else x

    return b.elementwise(body, x, *bounds, shape=x.shape) if bounds else x


def _clip_size(b: Builder, a: Size, low: Tensor | None, high: Tensor | None, bounds: tuple[Size, ...]) -> Size:
    rest = iter(bounds)
    if low is not None:
        a = b.maximum(a, next(rest))
    return b.minimum(a, next(rest)) if high is not None else a
