"""Sizes of tensors as polynomials over dynamic sizes.

    n = Symbol("%3")            a size in an SSA value of type index
    n * 2 + 1 == 1 + n + n      equality of polynomials
    (n * 12).divide(4)          n * 3, because the division is exact; None otherwise

A static size is an int. Results in which all symbols cancel are ints again, so that `is_static(size)` is a type test.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_numbers = itertools.count()


class Expr:
    """A polynomial with integer coefficients: {sorted symbols of a monomial: coefficient}."""

    def __init__(self, terms: Mapping[tuple["Symbol", ...], int]) -> None:
        self.terms = dict(terms)

    def __add__(self, other: Size) -> Size:
        terms = dict(self.terms)
        for monomial, factor in _terms(other).items():
            terms[monomial] = terms.get(monomial, 0) + factor
        return _normalize(terms)

    __radd__ = __add__

    def __neg__(self) -> Size:
        return _normalize({monomial: -factor for monomial, factor in self.terms.items()})

    def __sub__(self, other: Size) -> Size:
        return self + (-other)

    def __rsub__(self, other: Size) -> Size:
        return -self + other

    def __mul__(self, other: Size) -> Size:
        terms: dict[tuple[Symbol, ...], int] = {}
        for (a, x), (b, y) in itertools.product(self.terms.items(), _terms(other).items()):
            monomial = tuple(sorted((*a, *b), key=lambda symbol: symbol.number))
            terms[monomial] = terms.get(monomial, 0) + x * y
        return _normalize(terms)

    __rmul__ = __mul__

    def divide(self, other: Size) -> Size | None:
        """Returns the quotient if `other` is one monomial that divides every term, else None. Symbols are assumed to be
        nonzero."""
        divisor = _terms(other)
        if len(divisor) != 1:
            return 1 if self == other else None
        (symbols, factor), = divisor.items()
        terms = {}
        for monomial, own in self.terms.items():
            rest = list(monomial)
            for symbol in symbols:
                if symbol not in rest:
                    return None
                rest.remove(symbol)
            if factor == 0 or own % factor:
                return None
            terms[tuple(rest)] = own // factor
        return _normalize(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        return " + ".join("*".join([str(factor), *(symbol.value for symbol in monomial)])
                          for monomial, factor in self.terms.items())


class Symbol(Expr):
    """A size in the SSA value `value`, which has type index. `is_data` is true if it depends on elements of tensors.
    `is_signed` is true if it may be negative, as data may."""

    def __init__(self, value: str, is_data: bool = False, is_signed: bool = False) -> None:
        self.value, self.number, self.is_data, self.is_signed = value, next(_numbers), is_data, is_data or is_signed
        super().__init__({(self,): 1})

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expr) and not isinstance(other, Symbol) and self.terms == other.terms)

    def __hash__(self) -> int:
        return self.number


Size = Union[int, Expr]


def _terms(size: Size) -> Mapping[tuple[Symbol, ...], int]:
    if isinstance(size, Expr):
        return size.terms
    return {(): size} if size else {}


def _normalize(terms: Mapping[tuple[Symbol, ...], int]) -> Size:
    kept = {monomial: factor for monomial, factor in terms.items() if factor}
    if not kept:
        return 0
    if set(kept) == {()}:
        return kept[()]
    if len(kept) == 1:
        (monomial, factor), = kept.items()
        if factor == 1 and len(monomial) == 1:
            return monomial[0]
    return Expr(kept)


def is_static(size: Size) -> TypeIs[int]:
    """Returns true if the size is static."""
    return isinstance(size, int)


def is_data(size: Size) -> bool:
    """Returns true if a size depends on elements of tensors."""
    return isinstance(size, Expr) and any(symbol.is_data for monomial in size.terms for symbol in monomial)


def product(sizes: Sequence[Size]) -> Size:
    result: Size = 1
    for size in sizes:
        result = size * result
    return result


def divide(size: Size, other: Size) -> Size | None:
    """Returns the exact quotient, or None if it is inexact or unknown."""
    if isinstance(size, Expr):
        return size.divide(other)
    if isinstance(other, Expr) or other == 0 or size % other:
        return None
    return size // other
