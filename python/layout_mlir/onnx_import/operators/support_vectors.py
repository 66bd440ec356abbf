"""Support vector machines of ai.onnx.ml, as ONNX Runtime computes them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32, I64
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.learning import (ML, add_row, as_rows, label_of_best, labels_of, transform,
                                                       two_scores)
from layout_mlir.onnx_import.operators.reductions import place_of_best
from layout_mlir.onnx_import.operators.indices import gather
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import is_static
from layout_mlir.onnx_import.values import Forbidden, Scalar, Tensor

if TYPE_CHECKING:
    from layout_mlir import loops
    from layout_mlir.loops import size  # noqa: F401

_Array = NDArray[Any]


def _floats(node: Node, name: str) -> _Array:
    return np.array(node.attribute(name) or [], np.float32)


def _matrix(node: Node, name: str, rows: int) -> _Array:
    """Returns an attribute as a matrix; rejects one whose elements do not fill `rows` rows."""
    values = _floats(node, name)
    if rows <= 0 or not values.size or values.size % rows:
        raise Forbidden(f"attribute '{name}' has {values.size} elements, which are not {rows} rows")
    return values.reshape(rows, -1)


# ------------------------------------------------------------------------ kernels

def _products(b: Builder, x: Tensor, rows: _Array) -> Tensor:
    return b.matmul(x, b.constant(np.ascontiguousarray(rows.T)))


def _power(s: Scalars, x: Scalar, degree: float) -> Scalar:
    """Returns a power; one with a small whole exponent is a product, which negative numbers have, too."""
    if degree not in range(1, 17):
        return s.pow(x, degree)
    result = x
    for _ in range(int(degree) - 1):
        result = s.mul(result, x)
    return result


def kernels(b: Builder, node: Node, x: Tensor, vectors: _Array) -> Tensor:
    """Returns the kernel of each row of x with each support vector."""
    if x.shape[1] != vectors.shape[1]:
        if is_static(x.shape[1]):
            raise Forbidden(f"its support vectors have {vectors.shape[1]} features, but there are {x.shape[1]}")
        b.check_equal(x.shape[1], vectors.shape[1], "its support vectors have another number of features")
    kind = node.attribute("kernel_type", "LINEAR")
    gamma, shift, degree = node.attribute("kernel_params") or [0.0, 0.0, 0.0]
    if kind == "RBF":
        distances, = b.generic(
            lambda s, x, vector, total: s.add(total, s.mul(s.sub(x, vector), s.sub(x, vector))),
            [(x, "d0, d2"), (b.constant(vectors), "d1, d2")], [(b.fill([x.shape[0], len(vectors)], F32, 0), "d0, d1")],
            ["parallel", "parallel", "reduction"])
        return b.elementwise(lambda s, x: s.exp(s.mul(x, -gamma)), distances)
    if kind not in ("LINEAR", "POLY", "SIGMOID"):
        node.refuse(f"its kernel_type '{kind}' is unknown")
    products = _products(b, x, vectors)
    if kind == "LINEAR":
        return products

    def body(s: Scalars, x: Scalar) -> Scalar:
        x = s.add(s.mul(x, gamma), shift)
        return _power(s, x, degree) if kind == "POLY" else s.tanh(x)

    return b.elementwise(body, products)


def _rows(b: Builder, x: Tensor) -> Tensor:
    return as_rows(b, b.cast(x, F32))


@operator("SVMRegressor", domain=ML)
def svm_regressor(b: Builder, node: Node, x: Tensor) -> Tensor:
    """Imports SVMRegressor: without support vectors, it is a linear model."""
    if node.attribute("post_transform", "NONE") != "NONE":
        node.refuse("its post_transform is not NONE: ONNX Runtime ignores it; write it as a node after this one")
    x, count = _rows(b, x), int(node.attribute("n_supports", 0))
    weights = _matrix(node, "coefficients", 1)
    scores = x if count == 0 else kernels(b, node, x, _matrix(node, "support_vectors", count))
    y = add_row(b, _products(b, scores, weights), _floats(node, "rho")[:1])
    if not node.attribute("one_class", 0):
        return y
    return b.elementwise(lambda s, x: s.select(s.greater(x, 0), 1, s.constant(-1, F32)), y)


# -------------------------------------------------------------------- classifiers

def _pair_weights(node: Node, counts: list[int]) -> _Array:
    """Returns the weights of the support vectors for each pair of classes. The attribute has for each support vector
    its weights against the other classes, in their order."""
    total = sum(counts)
    given = _matrix(node, "coefficients", len(counts) - 1)
    if given.shape[1] != total:
        raise Forbidden(f"attribute 'coefficients' has {given.shape[1]} elements for each class, but there are {total} "
                        "support vectors")
    ends = np.cumsum(counts)
    columns = []
    for i, j in itertools.combinations(range(len(counts)), 2):
        column = np.zeros(total, np.float32)
        own, other = slice(ends[i] - counts[i], ends[i]), slice(ends[j] - counts[j], ends[j])
        column[own], column[other] = given[j - 1, own], given[i, other]
        columns.append(column)
    return np.array(columns)


def _best_by_votes(b: Builder, scores: Tensor, count: int) -> Tensor:
    """Returns the first class that wins most pairs: a positive score is a vote for the first class of the pair."""
    pairs = list(itertools.combinations(range(count), 2))
    votes = np.zeros((count, len(pairs)), np.float32)
    for number, (i, j) in enumerate(pairs):
        votes[i, number], votes[j, number] = 1, -1
    wins = b.elementwise(lambda s, x: s.cast(s.greater(x, 0), F32), scores)
    lost = np.array([np.count_nonzero(row < 0) for row in votes], np.float32)
    return place_of_best(b, add_row(b, _products(b, wins, votes), lost), 1, is_max=True)


def couple(r: loops.Tensor, into: loops.Tensor, q: loops.Tensor, qp: loops.Tensor) -> loops.Tensor:
    """Returns the probabilities of the classes of each row from those of the first class of each pair, r[n, i, j], by
    the second method of Wu, Lin and Weng (2004). `q` and `qp` are scratch memory."""
    y, count = into, size(r, 1)
    for n in range(size(r, 0)):
        for t in range(count):
            y[n, t] = 1 / count
            total = 0.0
            for j in range(count):
                if j != t:
                    total = total + r[n, j, t] * r[n, j, t]
                    q[t, j] = 0 - r[n, j, t] * r[n, t, j]
            q[t, t] = total
        step, moves = 0, True
        while step < max(100, count) and moves:
            squares = 0.0
            for t in range(count):
                total = 0.0
                for j in range(count):
                    total = total + q[t, j] * y[n, j]
                qp[t] = total
                squares = squares + y[n, t] * total
            error = 0.0
            for t in range(count):
                error = max(error, max(qp[t] - squares, squares - qp[t]))
            moves = error >= 0.005 / count
            if moves:
                for t in range(count):
                    change = (squares - qp[t]) / q[t, t]
                    y[n, t] = y[n, t] + change
                    squares = (squares + change * (change * q[t, t] + 2 * qp[t])) / (1 + change) / (1 + change)
                    for j in range(count):
                        qp[j] = (qp[j] + change * q[t, j]) / (1 + change)
                        y[n, j] = y[n, j] / (1 + change)
            step = step + 1
    return y


def _probabilities(b: Builder, node: Node, scores: Tensor, count: int) -> Tensor:
    """Returns the probabilities of the classes from the scores of their pairs."""
    pairs = list(itertools.combinations(range(count), 2))
    slopes, shifts = _floats(node, "prob_a"), _floats(node, "prob_b")
    if len(slopes) != len(pairs) or len(shifts) != len(pairs):
        raise Forbidden(f"attributes 'prob_a' and 'prob_b' have {len(slopes)} and {len(shifts)} elements for "
                        f"{len(pairs)} pairs of classes")

    def body(s: Scalars, x: Scalar, a: Scalar, c: Scalar) -> Scalar:
        return s.clamp(s.sub(1, s.sigmoid(s.add(s.mul(x, a), c))), 1e-7, 1 - 1e-7)

    first = b.elementwise(body, scores, b.constant(slopes), b.constant(shifts), shape=scores.shape)
    # Column i * count + j has the probability of i against j.
    places, signs = np.zeros((count, count), np.int64), np.ones((count, count), np.float32)
    for number, (i, j) in enumerate(pairs):
        places[i, j] = places[j, i] = number
        signs[j, i] = -1
    chosen = gather(b, first, b.constant(places.reshape(-1)), 1)
    both = b.elementwise(lambda s, p, sign: s.select(s.less(sign, 0), s.sub(1, p), p), chosen,
                         b.constant(signs.reshape(1, -1)), shape=chosen.shape)
    shape = [scores.shape[0], count, count]
    into = [b.fill(sizes, F32, 0) for sizes in (shape[:2], shape[1:], shape[1:2])]
    result, = b.loops(couple, b.reshape(both, shape), *into)
    return result


@operator("SVMClassifier", domain=ML)
def svm_classifier(b: Builder, node: Node, x: Tensor) -> list[Tensor | None]:
    labels, x, name = labels_of(b, node, "classlabels"), _rows(b, x), node.attribute("post_transform", "NONE")
    count = len(node.attribute("classlabels_ints") or node.attribute("classlabels_strings") or [])
    counts, shift = [int(each) for each in node.attribute("vectors_per_class") or []], _floats(node, "rho")
    if sum(counts) == 0:
        return _linear_svm(b, node, x, labels, count)
    if len(counts) != count or count < 2:
        raise Forbidden(f"attribute 'vectors_per_class' has {len(counts)} elements for {count} classes")
    weights = _pair_weights(node, counts)
    if len(shift) != len(weights):
        raise Forbidden(f"attribute 'rho' has {len(shift)} elements for {len(weights)} pairs of classes")
    rows = kernels(b, node, x, _matrix(node, "support_vectors", sum(counts)))
    pairs = add_row(b, _products(b, rows, weights), shift)
    label = None if labels is None else gather(b, labels, _best_by_votes(b, pairs, count), 0)
    if node.attribute("prob_a"):
        return [label, transform(b, node, _probabilities(b, node, pairs, count), name)]
    return [label, two_scores(b, node, pairs, name != "NONE", name) if count == 2 else transform(b, node, pairs, name)]


def _linear_svm(b: Builder, node: Node, x: Tensor, labels: Tensor | None, count: int) -> list[Tensor | None]:
    """Returns label and scores of a model without support vectors. Of two classes, ONNX Runtime returns the second one
    if any score is large."""
    weights = _matrix(node, "coefficients", count)
    scores = add_row(b, _products(b, x, weights), np.repeat(_floats(node, "rho")[:1], count))
    label = label_of_best(b, labels, scores)
    if label is not None and labels is not None and labels.array is not None and count == 2:
        second, is_positive = int(labels.array[1]), bool((weights >= 0).all())

        def choose(s: Scalars, most: Scalar, best: Scalar) -> Scalar:
            wins = s.compare("ge", most, 0.5) if is_positive else s.greater(most, 0)
            return s.select(wins, s.constant(second, I64), best)

        label = b.elementwise(choose, b.reduce_max(scores, [1]), label, element=I64)
    return [label, transform(b, node, scores, node.attribute("post_transform", "NONE"))]
