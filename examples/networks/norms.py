"""Norms over channels or groups of channels, and softmax."""

from collections.abc import Sequence

from .ops import Ops
from .text import Value

_LINEAR_SPREAD = 0.1  # standard deviation of the learned shift


class Norms(Ops):
    def _standardized(self, x: Value, dims: Sequence[int], epsilon: float) -> Value:
        """Returns (x - mean) / sqrt(variance + epsilon), both over dims with static extents."""
        kept = [i for i in range(x.rank) if i not in dims]
        count = float(self.product(*(x.shape[i] for i in dims)))
        total = self.sum_of("sum", [x], dims, lambda s, a: a)
        mean = self.pointwise("mean", [total], lambda s, a: s.div(a, s.constant(count)))
        centered = self.pointwise("centered", [x, (mean, kept)], lambda s, a, m: s.sub(a, m))
        squares = self.sum_of("squares", [centered], dims, lambda s, a: s.mul(a, a))
        scale = self._inverse_root(squares, count, epsilon)
        return self.pointwise("standardized", [centered, (scale, kept)],
                              lambda s, a, r: s.mul(a, r))

    def _inverse_root(self, squares: Value, count: float, epsilon: float) -> Value:
        return self.pointwise("rstd", [squares], lambda s, a: s.op(
            "math.rsqrt", s.add(s.div(a, s.constant(count)), s.constant(epsilon))))

    def _scaled(self, x: Value, dim: int) -> Value:
        """Applies a learned scale and shift along one dim."""
        scale = self.weight(self.uniform("scale", (x.shape[dim],), 0.8, 1.2))
        shift = self.weight(self.normal("shift", (x.shape[dim],), _LINEAR_SPREAD))
        return self.pointwise("scaled", [x, (scale, (dim,)), (shift, (dim,))],
                              lambda s, a, scale, shift: s.add(s.mul(a, scale), shift))

    def layer_norm(self, x: Value, name: str, epsilon: float) -> Value:
        """Appends a layer norm over the last dim."""
        with self.scope(name):
            return self._scaled(self._standardized(x, [x.rank - 1], epsilon), x.rank - 1)

    def rms_norm(self, x: Value, name: str, epsilon: float) -> Value:
        """Appends a layer norm over the last dim without mean and shift."""
        last = x.rank - 1
        with self.scope(name):
            squares = self.sum_of("squares", [x], [last], lambda s, a: s.mul(a, a))
            rstd = self._inverse_root(squares, float(x.shape[last]), epsilon)
            scale = self.weight(self.uniform("scale", (x.shape[last],), 0.8, 1.2))
            return self.pointwise("scaled", [x, (rstd, range(last)), (scale, (last,))],
                                  lambda s, a, r, scale: s.mul(s.mul(a, r), scale))

    def group_norm(self, x: Value, groups: int, name: str, epsilon: float) -> Value:
        """Appends a norm over groups of the channels of an NCHW tensor, by a reshape."""
        n, c, h, w = x.shape
        with self.scope(name):
            grouped = self.expand("groups", x, [n], [groups, c // groups], [h], [w])
            y = self._standardized(grouped, (2, 3, 4), epsilon)
            return self._scaled(self.collapse("channels", y, [[0], [1, 2], [3], [4]]), 1)

    def softmax(self, x: Value, name: str) -> Value:
        """Appends a softmax over the last dim."""
        last = x.rank - 1
        rows = range(last)
        with self.scope(name):
            top = self.reduce("max", x, [last], "arith.maximumf")
            powers = self.pointwise("exp", [x, (top, rows)], lambda s, a, m: s.exp(s.sub(a, m)))
            total = self.reduce("sum", powers, [last], "arith.addf")
            return self.pointwise("softmax", [powers, (total, rows)], lambda s, a, t: s.div(a, t))

    def gelu(self, x: Value, name: str) -> Value:
        return self.pointwise(name, [x], lambda s, a: s.mul(
            s.mul(a, s.constant(0.5)),
            s.add(s.constant(1.0), s.op("math.erf", s.mul(a, s.constant(0.5 ** 0.5))))))
