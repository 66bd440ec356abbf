"""Operators of ai.onnx.ml: tree ensembles, linear models and feature scaling."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32, F64, I64, of_dtype
from layout_mlir.onnx_import.forests import (Forest, add_trees, compare_from_above, read_by_names, read_by_places,
                                            read_floats)
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.reductions import place_of_best
from layout_mlir.onnx_import.operators.indices import gather
from layout_mlir.onnx_import.operators.softmax import softmax_over
from layout_mlir.onnx_import.scalars import Scalars
from layout_mlir.onnx_import.sizes import Size, is_static
from layout_mlir.onnx_import.values import Forbidden, Scalar, Tensor

ML = "ai.onnx.ml"
_AGGREGATES = ["AVERAGE", "SUM", "MIN", "MAX"]
_TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


def as_rows(b: Builder, x: Tensor) -> Tensor:
    """Returns a vector as a matrix with one row; rejects other ranks than 1 and 2."""
    if x.rank not in (1, 2):
        raise Forbidden(f"its input has rank {x.rank}, but rows of features have rank 2, and one row has rank 1")
    return b.unsqueeze(x, [0]) if x.rank == 1 else x


# ----------------------------------------------------------------------- scores

def probit(s: Scalars, x: Scalar) -> Scalar:
    """Computes sqrt(2) * erfinv(2 * x - 1) by Winitzki's formula, as ONNX Runtime does."""
    y = s.sub(s.mul(x, 2), 1)
    log = s.log(s.mul(s.sub(1, y), s.add(y, 1)))
    v = s.add(s.mul(log, 0.5), 2 / (np.pi * 0.147))
    root = s.sqrt(s.sub(s.sqrt(s.sub(s.mul(v, v), s.mul(log, 1 / 0.147))), v))
    return s.mul(s.select(s.less(y, 0), s.neg(root), root), float(np.sqrt(2)))


def transform(b: Builder, node: Node, scores: Tensor, name: str) -> Tensor:
    """Applies a post_transform to each row of scores."""
    if name == "LOGISTIC":
        return b.elementwise(lambda s, x: s.sigmoid(x), scores)
    if name == "PROBIT":
        return b.elementwise(probit, scores)
    if name == "SOFTMAX":
        return softmax_over(b, scores, [1])
    if name == "SOFTMAX_ZERO":
        return _softmax_of_others(b, scores)
    if name != "NONE":
        node.refuse(f"its post_transform '{name}' is unknown")
    return scores


def transform_targets(b: Builder, node: Node, scores: Tensor, name: str) -> Tensor:
    """Applies the post_transform of a regressor. ONNX Runtime transforms a single target by PROBIT only."""
    return scores if scores.shape[1] == 1 and name in _TRANSFORMS and name != "PROBIT" else transform(
        b, node, scores, name)


def _softmax_of_others(b: Builder, scores: Tensor) -> Tensor:
    """Computes the softmax of the nonzero scores; scores of 0 stay 0."""
    most = b.unsqueeze(b.reduce_max(scores, [1]), [1])

    def is_zero(s: Scalars, x: Scalar) -> Scalar:
        return s.bit_and(s.less(x, 1e-7), s.greater(x, -1e-7))

    powers = b.elementwise(lambda s, x, most: s.select(is_zero(s, x), s.mul(x, s.exp(s.neg(most))),
                                                       s.exp(s.sub(x, most))), scores, most)
    total = b.unsqueeze(b.reduce_sum(powers, [1]), [1])
    return b.elementwise(lambda s, y, total: s.select(s.equal(total, 0), y, s.div(y, total)), powers, total)


# -------------------------------------------------------------------------- trees

# The number of interleaved walks: more do not fit into the registers.
_WALKS = 8


def sum_trees(b: Builder, node: Node, x: Tensor, given: Forest, targets: int, aggregate: str) -> Tensor:
    """Returns the scores of rows: the weights of the leaves that each row reaches, combined by target."""
    given.check(targets)
    forest = compare_from_above(given, x.element.dtype.type)
    inner = int(np.count_nonzero(~forest.leaves))
    columns = int(forest.features[:inner].max(initial=0)) + 1
    if is_static(x.shape[1]) and columns > x.shape[1]:
        node.refuse(f"its trees test feature {columns - 1}, but there are {x.shape[1]}")
    start = {"MIN": np.inf, "MAX": -np.inf}.get(aggregate, 0)
    element = F64 if F64 in (x.element, of_dtype(forest.weights.dtype)) else F32
    into = b.fill([x.shape[0], targets], element, start)
    rows, features = _with_directions(b, x, forest, inner, columns)
    is_single = bool((np.diff(forest.firsts)[inner:] == 1).all())
    owned = np.r_[np.zeros(inner, np.int64), forest.firsts[inner:-1]] if is_single else slice(None)
    weights, to = forest.weights[owned], forest.targets[owned].astype(np.int32)
    arrays = [forest.roots.astype(np.int32), forest.children.astype(np.int32), features.astype(np.int32),
              forest.limits, weights, to if forest.targets.any() else None,
              None if is_single else forest.firsts.astype(np.int32)]
    scores, = b.loops(add_trees, rows, into, *[None if each is None else b.constant(each) for each in arrays],
                      inner=inner, width=_WALKS, aggregate=aggregate)
    if aggregate == "AVERAGE":
        return b.elementwise(lambda s, y: s.div(y, len(forest.roots)), scores)
    if start:
        return b.elementwise(lambda s, y: s.select(s.equal(y, start), 0, y), scores)
    return scores


def _with_directions(b: Builder, x: Tensor, forest: Forest, inner: int,
                     columns: int) -> tuple[Tensor, NDArray[Any]]:
    """Returns rows of numbers, and for each node the column that it tests. Tests that hold for a missing number, NaN,
    read columns in which it is -inf, so that it is not above any limit."""
    if not is_static(x.shape[1]):
        b.check(b.emit(f"arith.cmpi uge, {b.size(x.shape[1])}, {b.size(columns)} : index"),
                f"its trees test feature {columns - 1}, but there are fewer")
    x, features, holds = b.slice(x, [0, 0], [x.shape[0], columns]), forest.features, forest.missing[:inner] == 1
    if not holds.any():
        return x, features
    present = b.elementwise(lambda s, x: s.select(s.compare("ne", x, x), -np.inf, x), x)
    if holds.all():
        return present, features
    return b.concat([present, x], 1), np.where(forest.missing == 1, features, features + columns)


def _features(b: Builder, x: Tensor) -> Tensor:
    return as_rows(b, b.cast(x, F64 if x.element is F64 else F32))


def add_row(b: Builder, scores: Tensor, row: np.ndarray[Any, Any]) -> Tensor:
    """Adds one value to each column, if there are any values."""
    if not row.size:
        return scores
    return b.elementwise(lambda s, y, base: s.add(y, base), scores, b.constant(row, scores.element),
                         shape=scores.shape)


@operator("TreeEnsemble", domain=ML)
def tree_ensemble(b: Builder, node: Node, x: Tensor) -> Tensor:
    scores = sum_trees(b, node, _features(b, x), read_by_places(node), int(node.attribute("n_targets", 1)),
                       _AGGREGATES[node.attribute("aggregate_function", 1)])
    return b.cast(transform_targets(b, node, scores, _TRANSFORMS[node.attribute("post_transform", 0)]), x.element)


@operator("TreeEnsembleRegressor", domain=ML)
def tree_ensemble_regressor(b: Builder, node: Node, x: Tensor) -> Tensor:
    scores = sum_trees(b, node, _features(b, x), read_by_names(node, "target"), int(node.attribute("n_targets", 1)),
                       node.attribute("aggregate_function", "SUM"))
    scores = add_row(b, scores, read_floats(node, "base_values", []))
    return b.cast(transform_targets(b, node, scores, node.attribute("post_transform", "NONE")), F32)


def labels_of(b: Builder, node: Node, name: str) -> Tensor | None:
    """Returns class labels, or None if they are strings and no output needs them."""
    if node.attribute(f"{name}_strings"):
        if node.has_output(0):
            node.refuse("its labels are strings, which are not numbers: make the scores the only result of the model")
        return None
    found: list[int] = node.attribute(f"{name}_int64s") or node.attribute(f"{name}_ints") or []
    return b.constant(np.array(found, np.int64))


def label_of_best(b: Builder, labels: Tensor | None, scores: Tensor) -> Tensor | None:
    """Returns the label of the first maximum score of each row."""
    if labels is None:
        return None
    return gather(b, labels, place_of_best(b, scores, 1, is_max=True), 0)


def label_by(b: Builder, labels: Tensor | None, score: Tensor, limit: float) -> Tensor | None:
    """Returns the second label for scores above a limit, and the first label otherwise, or None if the labels are not
    constant integers."""
    if labels is None or labels.array is None:
        return None
    first, second = (int(each) for each in labels.array.reshape(-1)[:2])
    return b.elementwise(lambda s, x: s.select(s.greater(x, limit), s.constant(second, I64), s.constant(first, I64)),
                         b.reshape(score, [score.shape[0]]), element=I64)


def two_scores(b: Builder, node: Node, score: Tensor, sums_to_one: bool, name: str) -> Tensor:
    """Returns the scores of two classes from the one score of the model, [N, 1]. Softmax does not change them, as in
    ONNX Runtime."""
    if name == "PROBIT":
        node.refuse("its post_transform 'PROBIT' is not defined for two classes with one score")
    if name == "LOGISTIC":
        both = b.concat([b.elementwise(lambda s, x: s.neg(x), score), score], 1)
        return b.elementwise(lambda s, x: s.sigmoid(x), both)
    other = b.elementwise(lambda s, x: s.sub(1, x) if sums_to_one else s.neg(x), score)
    return b.concat([other, score], 1)


@operator("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(b: Builder, node: Node, x: Tensor) -> list[Tensor | None]:
    forest, labels = read_by_names(node, "class"), labels_of(b, node, "classlabels")
    count = len(node.attribute("classlabels_int64s") or node.attribute("classlabels_strings"))
    name, base = node.attribute("post_transform", "NONE"), read_floats(node, "base_values", [])
    features, used = _features(b, x), np.unique(forest.targets)
    limit = 0.5 if (forest.weights >= 0).all() else 0
    if count == 2 and used.tolist() == [0]:
        score = add_row(b, sum_trees(b, node, features, forest, 1, "SUM"), base[-1:])
        return [label_by(b, labels, score, limit), b.cast(two_scores(b, node, score, limit > 0, name), F32)]
    scores = add_row(b, sum_trees(b, node, features, forest, count, "SUM"), base)
    if count == 2 and used.size == 1:
        label = label_by(b, labels, b.slice(scores, [0, 1], [scores.shape[0], 1]), limit)
    elif base.size or len(forest.always_reached()) == count:
        label = label_of_best(b, labels, scores)
    else:  # as in ONNX Runtime, the label is one of the classes for which a leaf that the row reaches has a weight
        each = dataclasses.replace(forest, weights=np.ones_like(forest.weights))
        reached = sum_trees(b, node, features, each, count, "SUM")
        label = label_of_best(b, labels, b.elementwise(
            lambda s, n, score: s.select(s.less(0, n), score, -np.inf), reached, scores))
    return [label, b.cast(transform(b, node, scores, name), F32)]


# ------------------------------------------------------------------------- linear

def linear(b: Builder, node: Node, x: Tensor, rows: int) -> Tensor:
    """Returns x * coefficients + intercepts, with one row of coefficients for each result."""
    x = as_rows(b, b.cast(x, F32))
    weights = np.array(node.attribute("coefficients"), np.float32).reshape(rows, -1).T
    return add_row(b, b.matmul(x, b.constant(np.ascontiguousarray(weights))),
                   np.array(node.attribute("intercepts") or [], np.float32))


@operator("LinearRegressor", domain=ML)
def linear_regressor(b: Builder, node: Node, x: Tensor) -> Tensor:
    scores = linear(b, node, x, int(node.attribute("targets", 1)))
    return transform_targets(b, node, scores, node.attribute("post_transform", "NONE"))


@operator("LinearClassifier", domain=ML)
def linear_classifier(b: Builder, node: Node, x: Tensor) -> list[Tensor | None]:
    labels = labels_of(b, node, "classlabels")
    count = len(node.attribute("classlabels_ints") or node.attribute("classlabels_strings") or [])
    rows, name = len(node.attribute("intercepts") or [0] * count), node.attribute("post_transform", "NONE")
    scores = linear(b, node, x, rows)
    if rows == 1 and count == 2:
        label = label_by(b, labels, scores, 0)
        return [label, two_scores(b, node, scores, True, name)]
    return [label_of_best(b, labels, scores), transform(b, node, scores, name)]


# ----------------------------------------------------------------------- features

def _row(b: Builder, values: Sequence[float] | None, default: float) -> Tensor:
    return b.constant(np.array(values if values else [default], np.float32))


@operator("Scaler", domain=ML)
def scaler(b: Builder, node: Node, x: Tensor) -> Tensor:
    offset, scale = _row(b, node.attribute("offset"), 0), _row(b, node.attribute("scale"), 1)
    return b.elementwise(lambda s, x, offset, scale: s.mul(s.sub(x, offset), scale), b.cast(x, F32), offset, scale,
                         shape=x.shape)


@operator("Normalizer", domain=ML)
def normalizer(b: Builder, node: Node, x: Tensor) -> Tensor:
    """Divides rows by their largest element, sum of magnitudes, or root of the sum of squares."""
    kind, x, axes = node.attribute("norm", "MAX"), b.cast(x, F32), [x.rank - 1]
    if kind == "MAX":
        total = b.reduce_max(x, axes)
    elif kind == "L1":
        total = b.reduce(lambda s, acc, x: s.add(acc, s.abs(x)), x, axes, 0)
    elif kind == "L2":
        total = b.reduce(lambda s, acc, x: s.add(acc, s.mul(x, x)), x, axes, 0)
        total = b.elementwise(lambda s, x: s.sqrt(x), total)
    else:
        node.refuse(f"its norm '{kind}' is unknown")
    return b.elementwise(lambda s, x, total: s.select(s.equal(total, 0), x, s.div(x, total)), x,
                         b.unsqueeze(total, axes))


@operator("Binarizer", domain=ML)
def binarizer(b: Builder, node: Node, x: Tensor) -> Tensor:
    limit = node.attribute("threshold", 0.0)
    return b.elementwise(lambda s, x: s.select(s.greater(x, limit), 1, s.constant(0, x.element)), x)


@operator("FeatureVectorizer", domain=ML)
def feature_vectorizer(b: Builder, node: Node, *inputs: Tensor) -> Tensor:
    """Concatenates the columns of the inputs, of which `inputdimensions` states how many: it cuts, and adds zeros."""
    parts = [as_rows(b, b.cast(each, F32)) for each in inputs]
    counts: list[Size] = list(node.integers("inputdimensions") or []) or [part.shape[1] for part in parts]
    if len(counts) != len(parts):
        node.refuse(f"its attribute 'inputdimensions' has {len(counts)} elements for {len(parts)} inputs")
    for number, (part, count) in enumerate(zip(parts, counts)):
        kept = b.minimum(part.shape[1], count)
        for size in (kept, count - kept):
            if is_static(size) and size < 0:
                node.refuse(f"its attribute 'inputdimensions' states {count} columns of input {number}")
            elif not is_static(size):
                b.set_checked(size)
        parts[number] = b.pad(b.slice(part, [0, 0], [part.shape[0], kept]), [0, 0], [0, count - kept], 0)
    return b.concat(parts, 1)


@operator("Imputer", domain=ML)
def imputer(b: Builder, node: Node, x: Tensor) -> Tensor:
    floats = x.element.is_float
    values = node.attribute("imputed_value_floats" if floats else "imputed_value_int64s")
    old = node.attribute("replaced_value_float" if floats else "replaced_value_int64", 0)

    def body(s: Scalars, x: Scalar, new: Scalar) -> Scalar:
        return s.select(s.compare("ne", x, x) if old != old else s.equal(x, old), new, x)

    return b.elementwise(body, x, b.constant(np.array(values), x.element), shape=x.shape)


@operator("LabelEncoder", domain=ML)
def label_encoder(b: Builder, node: Node, x: Tensor) -> Tensor:
    """Maps numbers to numbers, and unknown ones to a default."""
    from onnx import numpy_helper

    def read(name: str) -> np.ndarray[Any, Any]:
        for kind, dtype in (("int64s", np.int64), ("floats", np.float32)):
            if node.has(f"{name}_{kind}"):
                return np.array(node.attribute(f"{name}_{kind}"), dtype)
        if not node.has(f"{name}_tensor"):
            node.refuse(f"its {name} are strings, which are not numbers: do this outside of the model")
        return numpy_helper.to_array(node.attribute(f"{name}_tensor"))

    keys, values = read("keys"), read("values")
    element = of_dtype(values.dtype)
    if node.has("default_tensor"):
        default = numpy_helper.to_array(node.attribute("default_tensor")).reshape(-1)[0].item()
    else:
        default = node.attribute("default_float", -0.0) if element.is_float else node.attribute("default_int64", -1)

    # The first of equal keys counts, so it comes last. NaN is a key since version 4.
    order = np.flatnonzero(keys == keys if node.opset < 4 else np.ones(len(keys), bool))[::-1]
    tables = [b.constant(each) for each in (keys[order], values[order])]

    def body(s: Scalars, x: Scalar, key: Scalar, value: Scalar, result: Scalar) -> Scalar:
        x = s.cast(x, of_dtype(keys.dtype))
        found = s.equal(x, key)
        if keys.dtype.kind == "f":
            found = s.bit_or(found, s.bit_and(s.compare("ne", x, x), s.compare("ne", key, key)))
        return s.select(found, value, result)

    everything = ", ".join(f"d{dim}" for dim in range(x.rank))
    result, = b.generic(body, [(x, everything), *[(each, f"d{x.rank}") for each in tables]],
                        [(b.fill(x.shape, element, default), everything)], ["parallel"] * x.rank + ["reduction"])
    return result


@operator("OneHotEncoder", domain=ML)
def one_hot_encoder(b: Builder, node: Node, x: Tensor) -> Tensor:
    """Adds a last dim with 1 at the category of the element, if it has one, and 0 elsewhere."""
    if not node.has("cats_int64s"):
        node.refuse("its categories are strings, which are not numbers: do this outside of the model")
    categories = b.constant(np.array(node.attribute("cats_int64s"), np.int64))
    whole = b.elementwise(lambda s, x: s.cast(x, I64), x, element=I64)
    return b.elementwise(lambda s, x, each: s.cast(s.equal(x, each), F32), b.unsqueeze(whole, [x.rank]), categories,
                         element=F32)
