"""Arithmetic on f32 numpy arrays with the methods of Scalars, so that one function computes a table at import or in the
program:

    def places(s, i, scale):            s: Arrays or Scalars
        return s.floor(s.div(s.add(i, 0.5), scale))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from layout_mlir.onnx_import.elements import BOOL, Element


class Arrays:
    """Computes on arrays and Python numbers. Emits no ops."""

    def constant(self, value: float, element: Element | None) -> Any:
        return np.asarray(value, element.dtype if element else np.int64)

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def sub(self, a: Any, b: Any) -> Any:
        return a - b

    def mul(self, a: Any, b: Any) -> Any:
        return a * b

    def div(self, a: Any, b: Any) -> Any:
        with np.errstate(all="ignore"):
            return a / b

    def max(self, a: Any, b: Any) -> Any:
        return np.maximum(a, b)

    def min(self, a: Any, b: Any) -> Any:
        return np.minimum(a, b)

    def clamp(self, x: Any, low: Any, high: Any) -> Any:
        return self.min(self.max(x, low), high)

    def abs(self, x: Any) -> Any:
        return np.abs(x)

    def floor(self, x: Any) -> Any:
        return np.floor(x)

    def ceil(self, x: Any) -> Any:
        return np.ceil(x)

    def less(self, a: Any, b: Any) -> Any:
        return a < b

    def greater(self, a: Any, b: Any) -> Any:
        return a > b

    def bit_or(self, a: Any, b: Any) -> Any:
        return a | b

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        return np.where(condition, a, b).astype(np.result_type(a, b))

    def cast(self, x: Any, element: Element) -> Any:
        return x.astype(element.dtype) if element is not BOOL else x != 0
