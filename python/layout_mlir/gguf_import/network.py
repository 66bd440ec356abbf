"""Writes the network of a GGUF file as linalg on tensors."""

from __future__ import annotations

import math

from layout_mlir.gguf_import.file import BUNDLES, File, Weight
from layout_mlir.gguf_import.parameters import FREQUENCIES, Parameters, read_parameters
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BF16, F16, F32, F64, I8, I64, Element
from layout_mlir.onnx_import.errors import Lowered
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Symbol
from layout_mlir.onnx_import.values import Scalar, Tensor, type_of

_ELEMENTS = {"F32": F32, "F16": F16, "BF16": BF16}


def _multiply(s: Scalars, x: Scalar, y: Scalar, total: Scalar) -> Scalar:
    return s.add(total, s.mul(s.cast(x, F32), s.cast(y, F32)))


class Network:
    """Writes one function: tokens, caches and weights to the logits of the last token, and the new keys and values."""

    def __init__(self, file: File, tokens: int | None) -> None:
        self.builder = Builder()
        self.file, self.parameters = file, read_parameters(file)
        self.arguments: list[tuple[Tensor, str]] = []
        self.tokens = self._argument("tokens", I64, [tokens])
        p = self.parameters
        self.caches = [self._argument(f"cache.{layer}.{name}", F32, [None, p.groups, size])
                       for layer in range(p.layers) for name, size in (("keys", p.key), ("values", p.value))]
        self.weights = {weight.name: self._argument(weight.name, _ELEMENTS.get(weight.kind, I8), weight.data.shape)
                        for weight in list_weights(file)}
        # Sizes are those of the arguments: all caches have the same number of rows.
        self.count, self.past = self.tokens.shape[0], self.caches[0].shape[0]

    def _argument(self, label: str, element: Element, shape: tuple[int, ...] | list[int | None]) -> Tensor:
        name = self.builder.new_name()
        with self.builder.at_node(label):
            tensor = self.builder.tensor_of(name, element, shape)
        self.arguments.append((tensor, label))
        return tensor

    # ------------------------------------------------------------------ weights

    def _decode(self, weight: Weight, rows: int, stream: Tensor) -> Tensor:
        """Returns the values of `rows` rows of a weight in blocks, from their bytes."""
        b, shape = self.builder, (rows, weight.shape[1])
        coded = f'tensor<{rows}x{shape[1]}xf32, #layout.bundle<"{BUNDLES[weight.kind]}">>'
        whole = b.emit(f"layout.assemble {stream.name} : {stream.type} to {coded}")
        return Tensor(F32, shape, b.emit(f"layout.convert {whole} : {coded} to {type_of(shape, F32)}"))

    def _linear(self, x: Tensor, name: str, weight: str = "") -> Tensor:
        """Returns x * w^T, and adds the bias if there is one."""
        b, source = self.builder, self.file.weights[weight or f"{name}.weight"]
        with b.at_node(name):
            w = self.weights[source.name]
            if source.kind in BUNDLES:
                w = self._decode(source, source.shape[0], w)
            y, = b.generic(_multiply, [(x, "d0, d2"), (w, "d1, d2")],
                           [(b.fill([x.shape[0], source.shape[0]], F32, 0), "d0, d1")],
                           ["parallel", "parallel", "reduction"])
            bias = self.weights.get(f"{name}.bias")
            return y if bias is None else b.elementwise(lambda s, x, y: s.add(x, y), y, bias)

    def _embed(self) -> Tensor:
        """Returns a row for each token; only these rows of the table are decoded."""
        b, shape = self.builder, [self.count, self.parameters.width]
        with b.at_node("token_embd"):
            if self.count == 1:
                return self._row(Symbol(b.scalar_constant(0, None)))
            into, place = b.empty(shape, F32), b.new_name()
            zero, one, size = b.scalar_constant(0, None), b.scalar_constant(1, None), b.size(self.count)
            carried = Tensor(F32, into.shape, b.new_name())
            with b.region() as lines:
                done = b.insert(self._row(Symbol(place)), carried, [Symbol(place), 0])
                b.emit_many(f"scf.yield {done.name} : {done.type}", 0)
            return Tensor(F32, into.shape, b.emit("\n".join([
                f"scf.for {place} = {zero} to {size} step {one} iter_args({carried.name} = {into.name}) -> ({into.type}) {{",
                *lines, "}"])))

    def _row(self, place: Symbol) -> Tensor:
        """Returns the row of the token at `place`."""
        b, source = self.builder, self.file.weights["token_embd.weight"]
        table = self.weights[source.name]
        token = b.scalars.index_of(Scalar(
            b.emit(f"tensor.extract {b.use(self.tokens)}[{place.value}] : {self.tokens.type}"), I64))
        b.check(b.emit(f"arith.cmpi ult, {token.name}, {b.scalar_constant(source.shape[0], None)} : index"),
                f"a token is not below {source.shape[0]}")
        if source.kind not in BUNDLES:
            return b.cast(b.slice(table, [Symbol(token.name), 0], [1, source.shape[1]]), F32)
        size = source.data.size // source.shape[0]
        first = Symbol(b.scalars.op(f"arith.muli {token.name}, {b.scalar_constant(size, None)} : index", None).name)
        return self._decode(source, 1, b.slice(table, [first], [size]))

    # ------------------------------------------------------------------- layers

    def _norm(self, x: Tensor, name: str) -> Tensor:
        b, p = self.builder, self.parameters
        with b.at_node(name):
            squares = b.elementwise(lambda s, x: s.mul(x, x), x)
            scales = b.elementwise(lambda s, total: s.div(1.0, s.sqrt(s.add(s.div(total, float(p.width)), p.epsilon))),
                                   b.reduce_sum(squares, [1], keepdims=True))
            return b.elementwise(lambda s, x, scale, weight: s.mul(s.mul(x, scale), weight), x, scales,
                                 self.weights[f"{name}.weight"])

    def _angles(self) -> list[Tensor]:
        """Returns the cosines and sines of the positions of the tokens, computed in f64."""
        b, speeds = self.builder, self.builder.constant(self.parameters.speeds, F64)
        past = Scalar(b.size(self.past), None)

        def angle(s: Scalars, speed: Scalar) -> Scalar:
            return s.mul(s.cast(s.add(b.index(s, 0), past), F64), speed)

        shape = [self.count, 1, len(self.parameters.speeds)]
        with b.at_node("rope"):
            speeds = b.reshape(speeds, [1, *shape[1:]])
            return [b.elementwise(lambda s, speed, name=name: s.cast(s.unary(name, angle(s, speed)), F32), speeds,
                                  element=F32, shape=shape) for name in ("math.cos", "math.sin")]

    def _rotate(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Rotates the pairs of each head of [tokens, heads, values]. The first values of all pairs become adjacent: queries
        and keys have the same order, so that their products are those of the file's order."""
        b, half = self.builder, len(self.parameters.speeds)
        sizes = [*x.shape[:2], half]
        step = 2 if self.parameters.is_interleaved else 1
        low, high = (b.slice(x, [0, 0, at], sizes, [1, 1, step]) for at in (0, 1 if step == 2 else half))
        rest = x.shape[2] - 2 * half
        parts = [
            b.elementwise(lambda s, x, y, cos, sin: s.sub(s.mul(x, cos), s.mul(y, sin)), low, high, cos, sin),
            b.elementwise(lambda s, x, y, cos, sin: s.add(s.mul(x, sin), s.mul(y, cos)), low, high, cos, sin)]
        if rest:
            parts.append(b.slice(x, [0, 0, 2 * half], [*x.shape[:2], rest]))
        return b.concat(parts, 2)

    def _attend(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Returns the attention of [tokens, groups, heads of a group, key] to [positions, groups, ..]."""
        b, p = self.builder, self.parameters
        count, groups, heads, _ = queries.shape
        positions = keys.shape[0]
        scores, = b.generic(_multiply, [(queries, "d2, d0, d1, d4"), (keys, "d3, d0, d4")],
                            [(b.fill([groups, heads, count, positions], F32, 0), "d0, d1, d2, d3")],
                            ["parallel"] * 4 + ["reduction"])
        past = Scalar(b.size(self.past), None)

        def scale(s: Scalars, x: Scalar) -> Scalar:
            x = s.mul(x, 1 / math.sqrt(p.key))
            if count == 1:
                return x
            seen = s.compare("le", b.index(s, 3), s.add(b.index(s, 2), past))
            return s.select(seen, x, -math.inf)

        scores = b.elementwise(scale, scores)
        powers = b.elementwise(lambda s, x, top: s.exp(s.sub(x, top)), scores, b.reduce_max(scores, [3], keepdims=True))
        weights = b.elementwise(lambda s, x, total: s.div(x, total), powers, b.reduce_sum(powers, [3], keepdims=True))
        result, = b.generic(_multiply, [(weights, "d1, d2, d0, d4"), (values, "d4, d1, d3")],
                            [(b.fill([count, groups, heads, p.value], F32, 0), "d0, d1, d2, d3")],
                            ["parallel"] * 4 + ["reduction"])
        return b.reshape(result, [count, p.heads * p.value])

    def _layer(self, number: int, x: Tensor, angles: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        b, p, prefix = self.builder, self.parameters, f"blk.{number}."
        y = self._norm(x, f"{prefix}attn_norm")
        queries, keys, values = (self._linear(y, f"{prefix}attn_{name}") for name in "qkv")
        with b.at_node(f"{prefix}attention"):
            queries = self._rotate(b.reshape(queries, [self.count, p.heads, p.key]), *angles)
            new = [self._rotate(b.reshape(keys, [self.count, p.groups, p.key]), *angles),
                   b.reshape(values, [self.count, p.groups, p.value])]
            caches = [b.cast_shape(cache, [self.past, *cache.shape[1:]])
                      for cache in self.caches[2 * number:2 * number + 2]]
            y = self._attend(b.reshape(queries, [self.count, p.groups, p.heads // p.groups, p.key]),
                             *(b.concat([cache, each], 0) for cache, each in zip(caches, new)))
        x = self._add(x, self._linear(y, f"{prefix}attn_output"), f"{prefix}attn_sum")
        y = self._norm(x, f"{prefix}ffn_norm")
        gate, up = (self._linear(y, f"{prefix}ffn_{name}") for name in ("gate", "up"))
        with b.at_node(f"{prefix}ffn_product"):
            y = b.elementwise(lambda s, gate, up: s.mul(s.mul(gate, s.sigmoid(gate)), up), gate, up)
        return self._add(x, self._linear(y, f"{prefix}ffn_down"), f"{prefix}ffn_sum"), new

    def _add(self, x: Tensor, y: Tensor, name: str) -> Tensor:
        with self.builder.at_node(name):
            return self.builder.elementwise(lambda s, x, y: s.add(x, y), x, y)

    def write(self) -> Lowered:
        """Returns the module with the function @main."""
        b, p = self.builder, self.parameters
        for cache, label in self.arguments[1:2 * p.layers + 1]:
            with b.at_node(label):
                b.check_equal(cache.shape[0], self.past, "all caches must have the same number of rows")
        with b.at_node("tokens"):
            b.check_at_most(1, self.count, "there are no tokens")
        x, angles, results = self._embed(), self._angles(), []
        for layer in range(p.layers):
            x, new = self._layer(layer, x, angles)
            results += new
        last = b.slice(x, [self.count - 1, 0], [1, p.width])
        output = "output.weight" if "output.weight" in self.weights else "token_embd.weight"
        logits = self._linear(self._norm(last, "output_norm"), "output", output)
        return b.finish("main", self.arguments, [b.reshape(logits, [p.vocabulary]), *results], ""), b.arrays


def list_weights(file: File) -> list[Weight]:
    """Returns the weights that are arguments, in their order."""
    return [weight for weight in file.weights.values() if weight.name != FREQUENCIES]


def lower_file(file: File, tokens: int | None = None) -> Lowered:
    """Returns a module whose @main computes `tokens` tokens after those of the caches, or any number if it is None."""
    return Network(file, tokens).write()
