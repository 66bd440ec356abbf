# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random nodes of ai.onnx.ml: trees, linear models, support vector machines, and features."""

import numpy as np

from nodes import Node, Unfit, kind
from nodes_sums import floats

ML = "ai.onnx.ml"
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
TRANSFORMS = ["NONE", "NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]


def make(op, inputs, attributes=None, outputs=1):
    return Node(op, inputs, attributes or {}, outputs, ML)


def numbers(d, count, low=-3, high=4):
    return [float(each) for each in d.array([count], "float32", low, high)]


def _trees(d, features, targets, prefix):
    """Returns the attributes of a few random trees, whose leaves have weights for some targets."""
    names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
             "missing_value_tracks_true")
    nodes, leaves, mode = {name: [] for name in names}, [], d.rng.choice(MODES)

    def grow(tree, depth):
        at = nodes["treeids"].count(tree)
        inner = depth > 0 and d.flag(0.8)
        row = (tree, at, d.rng.randrange(features) if inner else 0, numbers(d, 1)[0] if inner else 0.0,
               (mode if d.flag(0.8) else d.rng.choice(MODES)) if inner else "LEAF", 0, 0, int(inner and d.flag(0.2)))
        place = len(nodes["treeids"])
        for name, each in zip(names, row):
            nodes[name].append(each)
        if not inner:
            leaves.extend((tree, at, target) for target in d.rng.sample(range(targets), d.rng.randint(1, targets)))
            return at
        nodes["truenodeids"][place], nodes["falsenodeids"][place] = grow(tree, depth - 1), grow(tree, depth - 1)
        return at

    for tree in range(d.rng.randint(1, 3)):
        grow(tree, d.rng.randint(0, 3))
    attributes = {f"nodes_{name}": values for name, values in nodes.items()}
    for number, name in enumerate(("treeids", "nodeids", "ids")):
        attributes[f"{prefix}_{name}"] = [leaf[number] for leaf in leaves]
    attributes[f"{prefix}_weights"] = numbers(d, len(leaves), 0 if d.flag(0.3) else -3)
    return attributes


@kind()
def tree_regressor(d):
    name, x = floats(d, [2])
    targets = d.rng.randint(1, 3)
    attributes = {**_trees(d, x.shape[1], targets, "target"), "n_targets": targets,
                  "aggregate_function": d.choose("SUM", "SUM", "AVERAGE", "MIN", "MAX"),
                  "post_transform": d.rng.choice(TRANSFORMS)}
    # ONNX Runtime adds no base value to a target for which no leaf that a row reaches has a weight.
    if d.flag() and len(attributes["target_ids"]) == targets * attributes["nodes_modes"].count("LEAF"):
        attributes["base_values"] = numbers(d, targets)
    return make("TreeEnsembleRegressor", [name], attributes)


@kind()
def tree_classifier(d):
    name, x = floats(d, [2])
    classes = d.rng.randint(2, 4)
    # For two classes that both have scores, ONNX Runtime does not return the label of the larger one.
    attributes = {**_trees(d, x.shape[1], 1 if classes == 2 else classes, "class"),
                  "classlabels_int64s": d.rng.sample(range(-3, 9), classes), "post_transform": d.rng.choice(TRANSFORMS)}
    return make("TreeEnsembleClassifier", [name], attributes, outputs=2)


@kind()
def linear_model(d):
    name, x = floats(d, [2])
    rows = d.rng.randint(1, 3)
    attributes = {"coefficients": numbers(d, rows * x.shape[1]), "post_transform": d.rng.choice(TRANSFORMS)}
    if d.flag():
        return make("LinearRegressor", [name], {**attributes, "targets": rows,
                                                **({"intercepts": numbers(d, rows)} if d.flag() else {})})
    labels = d.rng.sample(range(-3, 9), 2 if rows == 1 else rows)
    return make("LinearClassifier", [name], {**attributes, "intercepts": numbers(d, rows), "classlabels_ints": labels},
                outputs=2)


@kind()
def support_vectors(d):
    name, x = floats(d, [2])
    columns, classes = x.shape[1], d.rng.randint(2, 4)
    parameters = {"kernel_type": d.rng.choice(["LINEAR", "POLY", "RBF", "SIGMOID"]),
                  "kernel_params": [0.125, 0.5, float(d.rng.randint(1, 3))]}
    if d.flag(0.4):
        count = d.rng.randint(1, 4)
        return make("SVMRegressor", [name], {**parameters, "n_supports": count, "rho": numbers(d, 1),
                                             "coefficients": numbers(d, count), "one_class": int(d.flag(0.3)),
                                             "support_vectors": numbers(d, count * columns)})
    counts = [d.rng.randint(1, 3) for _ in range(classes)]
    pairs = classes * (classes - 1) // 2
    attributes = {**parameters, "classlabels_ints": d.rng.sample(range(-3, 9), classes), "vectors_per_class": counts,
                  "coefficients": numbers(d, (classes - 1) * sum(counts)), "rho": numbers(d, pairs),
                  "support_vectors": numbers(d, sum(counts) * columns), "post_transform": d.rng.choice(TRANSFORMS)}
    if d.flag():
        attributes.update(prob_a=numbers(d, pairs), prob_b=numbers(d, pairs))
    return make("SVMClassifier", [name], attributes, outputs=2)


@kind()
def features(d):
    op = d.choose("Scaler", "Normalizer", "Binarizer", "Imputer", "FeatureVectorizer", "ArrayFeatureExtractor")
    name, x = floats(d, [2])
    columns = x.shape[1]
    if op == "Scaler":
        count = d.choose(1, columns)
        return make(op, [name], {"offset": numbers(d, count), "scale": numbers(d, count)})
    if op == "Normalizer":
        return make(op, [name], {"norm": d.choose("MAX", "L1", "L2")})
    if op == "Binarizer":
        return make(op, [name], {"threshold": d.choose(0.0, 0.5, -1.0)})
    if op == "Imputer":
        return make(op, [name], {"imputed_value_floats": numbers(d, d.choose(1, columns)),
                                 "replaced_value_float": d.choose(0.0, 0.5, float("nan"))})
    if op == "FeatureVectorizer":
        other = d.array([x.shape[0], d.rng.randint(1, 3)])
        return make(op, [name, other], {"inputdimensions": [columns, other.shape[1]]})
    return make(op, [name, d.array([d.rng.randint(1, 4)], "int64", 0, columns)])


@kind()
def encoder(d):
    name, x = d.of(("int64", "float32"), range(1, 4))
    if 0 in x.shape:
        raise Unfit
    if d.flag(0.4):
        categories = d.rng.sample(range(-3, 9), d.rng.randint(1, 4))
        return make("OneHotEncoder", [name], {"cats_int64s": categories, "zeros": 1})
    kind_ = "int64s" if x.dtype == np.int64 else "floats"
    keys = d.rng.sample(range(-3, 9), 3)
    others = numbers(d, 3) if d.flag() else [d.rng.randint(-9, 9) for _ in keys]
    to = "floats" if isinstance(others[0], float) else "int64s"
    return make("LabelEncoder", [name], {f"keys_{kind_}": list(map(int if kind_ == "int64s" else float, keys)),
                                         f"values_{to}": others,
                                         f"default_{to[:-1]}": 0.5 if to == "floats" else 7})
