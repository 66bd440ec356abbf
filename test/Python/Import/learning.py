# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks operators of ai.onnx.ml against ONNX Runtime: trees with all tests, missing values, aggregates and transforms,
one score for two classes, linear models, support vector machines and features."""

from __future__ import annotations

import itertools
import unittest
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import layout_mlir
from layout_mlir import onnx_import

RNG = np.random.default_rng(3)
Array = NDArray[Any]
TESTS = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ", "BRANCH_NEQ"]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]
ROWS = (RNG.integers(-4, 5, (9, 5)) / 2).astype(np.float32)
MISSING = np.where(np.arange(45).reshape(9, 5) % 4 == 0, np.float32(np.nan), ROWS)


class Trees:
    """Random trees as attributes of the operators whose nodes have names."""

    def __init__(self, count: int, targets: list[int], tests: list[str], missing: bool = False,
                 positive: bool = False) -> None:
        self.nodes: dict[str, list[Any]] = {}
        self.leaves: dict[str, list[Any]] = {}
        for tree in range(count):
            self.grow(tree, targets, tests, positive)
        if missing:
            self.nodes["missing_value_tracks_true"] = RNG.integers(0, 2, len(self.nodes["treeids"])).tolist()

    def grow(self, tree: int, targets: list[int], tests: list[str], positive: bool) -> None:
        pending, made = [(0, 0)], 1
        while pending:
            number, depth = pending.pop()
            is_leaf = depth == 4 or (depth > 0 and RNG.random() < 0.3)
            children = (0, 0) if is_leaf else (made, made + 1)
            node = {"treeids": tree, "nodeids": number, "featureids": int(RNG.integers(5)),
                    "values": float(RNG.integers(-2, 3) / 2), "modes": "LEAF" if is_leaf else str(RNG.choice(tests)),
                    "truenodeids": children[0], "falsenodeids": children[1]}
            for name, value in node.items():
                self.nodes.setdefault(name, []).append(value)
            if is_leaf:
                for target in targets:
                    weight = float(RNG.random() if positive else RNG.standard_normal())
                    for name, value in zip(("treeids", "nodeids", "ids", "weights"), (tree, number, target, weight)):
                        self.leaves.setdefault(name, []).append(value)
            else:
                pending += [(child, depth + 1) for child in children]
                made += 2

    def attributes(self, prefix: str) -> dict[str, list[Any]]:
        return {**{f"nodes_{name}": each for name, each in self.nodes.items()},
                **{f"{prefix}_{name}": each for name, each in self.leaves.items()}}


def floats(count: int) -> list[float]:
    return RNG.standard_normal(count).astype(np.float32).tolist()


def make_model(op: str, inputs: list[Array], results: list[int], version: int,
               attributes: dict[str, Any]) -> onnx.ModelProto:
    names = [f"x{number}" for number in range(len(inputs))]
    node = helper.make_node(op, names, [f"y{number}" for number in range(len(results))], domain="ai.onnx.ml",
                            **attributes)
    graph = helper.make_graph(
        [node], "learning", [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype),
                                                           [None, *x.shape[1:]]) for name, x in zip(names, inputs)],
        [helper.make_tensor_value_info(f"y{number}", code, None) for number, code in enumerate(results)])
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18),
                                                                 helper.make_opsetid("ai.onnx.ml", version)])


class Learning(unittest.TestCase):
    def check(self, op: str, inputs: list[Array], results: list[int], version: int = 1,
              expected: list[Array] | None = None, **attributes: Any) -> list[Array]:
        """Compares a node with `expected` or else ONNX Runtime; returns the results of these."""
        model = make_model(op, inputs, results, version, attributes)
        if expected is None:
            session = onnxruntime.InferenceSession(model.SerializeToString())
            expected = session.run(None, dict(zip([value.name for value in session.get_inputs()], inputs)))
        program = layout_mlir.compile(onnx_import.lower_to_text(onnx_import.prepare_checked(model)), threads=1)
        got = program(*inputs)
        for a, b in zip(expected, got if isinstance(got, tuple) else (got,), strict=True):
            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
            np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5)
        return expected

    def test_regressors(self) -> None:
        for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
            trees = Trees(5, [0, 1, 2], TESTS, missing=True)
            with self.subTest(aggregate):
                self.check("TreeEnsembleRegressor", [MISSING], [TensorProto.FLOAT], 3, n_targets=3,
                           aggregate_function=aggregate, base_values=[0.5, -1.0, 2.0], **trees.attributes("target"))

    def test_walks_of_many_trees_and_rows(self) -> None:
        # Less and more trees than are walked together, with remainders, and rows that are not a multiple of theirs.
        for count in (1, 3, 8, 21):
            for rows, limits in ((MISSING, []), (MISSING[:1], [np.inf, -np.inf]), (MISSING[:0], []),
                                 (np.tile(MISSING, (3, 1))[:26], [np.nan, np.inf, -np.inf])):
                trees = Trees(count, [1], TESTS, missing=count != 8)
                values = trees.nodes["values"]
                for place in RNG.permutation(len(values))[:len(values) // 3 if limits else 0]:
                    values[place] = float(RNG.choice(limits))
                x = np.where(RNG.random(rows.shape) < 0.2, np.float32(RNG.choice([np.inf, -np.inf])), rows)
                with self.subTest(count=count, rows=len(rows), limits=limits):
                    self.check("TreeEnsembleRegressor", [x], [TensorProto.FLOAT], 3, n_targets=2,
                               **trees.attributes("target"))
        alone = Trees(1, [0], TESTS)
        alone.nodes = {name: each[:1] for name, each in alone.nodes.items()}
        alone.nodes["modes"], alone.leaves = ["LEAF"], {"treeids": [0], "nodeids": [0], "ids": [0], "weights": [2.5]}
        self.check("TreeEnsembleRegressor", [ROWS], [TensorProto.FLOAT], 3, n_targets=1, **alone.attributes("target"))

    def test_trees_of_doubles(self) -> None:
        # Limits between two floats.
        trees = Trees(4, [0], TESTS)
        for kind in (np.float32, np.float64):
            x = ROWS.astype(kind)
            given = trees.attributes("target")
            values, weights = given.pop("nodes_values"), given.pop("target_weights")
            limits = np.array(values) + RNG.choice([-1e-9, 0, 1e-9], len(values))
            if kind is np.float64:
                self.check("TreeEnsembleRegressor", [x], [TensorProto.FLOAT], 3, n_targets=1, **given,
                           nodes_values_as_tensor=numpy_helper.from_array(limits),
                           target_weights_as_tensor=numpy_helper.from_array(np.array(weights)))
            nodes = {"nodes_featureids": [0, 3, 1], "nodes_splits": numpy_helper.from_array(limits[:3].astype(kind)),
                     "nodes_modes": numpy_helper.from_array(np.array([0, 5, 4], np.uint8)),
                     "nodes_truenodeids": [1, 0, 2], "nodes_trueleafs": [0, 1, 1],
                     "nodes_falsenodeids": [2, 1, 3], "nodes_falseleafs": [0, 1, 1]}
            leaves = {"tree_roots": [0], "n_targets": 2, "leaf_targetids": [0, 1, 0, 1],
                      "leaf_weights": numpy_helper.from_array(np.array([0.5, 0.25, 0.125, 0.75], kind))}

            def check(transform: int, expected: list[Array] | None = None) -> Array:
                code = helper.np_dtype_to_tensor_dtype(x.dtype)
                return self.check("TreeEnsemble", [x], [code], 5, expected, post_transform=transform, **nodes,
                                  **leaves)[0]

            scores = check(0)
            powers = np.exp(scores)
            # ONNX Runtime exchanges the numbers of SOFTMAX and LOGISTIC.
            check(1, [powers / powers.sum(1, keepdims=True)])
            check(2, [1 / (1 + 1 / powers)])
            check(3)
            check(4)

    def test_support_vectors(self) -> None:
        for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
            self.check_support_vectors(kernel)
        weights, linear = floats(15), {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}
        for transform in TRANSFORMS:
            for labels, positive in (([7, 3, 5], False), ([7, 3], False), ([7, 3], True)):
                given = [abs(x) for x in weights] if positive else weights
                self.check("SVMClassifier", [ROWS], [TensorProto.INT64, TensorProto.FLOAT], classlabels_ints=labels,
                           coefficients=given[:5 * len(labels)], rho=[0.25], post_transform=transform, **linear)
        for one_class in (0, 1):
            self.check("SVMRegressor", [ROWS], [TensorProto.FLOAT], coefficients=weights[:5], rho=[0.5],
                       n_supports=0, one_class=one_class, **linear)

    def check_support_vectors(self, kernel: str) -> None:
        parameters = {"kernel_type": kernel, "kernel_params": [0.25, 0.5, 3.0]}
        for one_class in (0, 1):
            self.check("SVMRegressor", [ROWS], [TensorProto.FLOAT], support_vectors=floats(35), n_supports=7,
                       coefficients=floats(7), rho=[0.5], one_class=one_class, **parameters)
        # The scores, which only depend on the kernel, are transformed; with one kernel, in all ways.
        others = itertools.cycle(TRANSFORMS)
        for counts in ([2, 3], [1, 2, 2], [3, 1, 2, 1]):
            total, classes = sum(counts), len(counts)
            pairs = classes * (classes - 1) // 2
            for probable in (False, True):
                for transform in TRANSFORMS if kernel == "RBF" else [next(others)]:
                    extra = {"prob_a": floats(pairs), "prob_b": floats(pairs)} if probable else {}
                    with self.subTest(kernel=kernel, counts=counts, probable=probable, transform=transform):
                        self.check("SVMClassifier", [ROWS], [TensorProto.INT64, TensorProto.FLOAT],
                                   classlabels_ints=[9, 4, 6, 1][:classes], support_vectors=floats(total * 5),
                                   vectors_per_class=counts, coefficients=floats((classes - 1) * total),
                                   rho=floats(pairs), post_transform=transform, **extra, **parameters)

    def test_classifiers(self) -> None:
        for transform in TRANSFORMS:
            # Three classes; one score for two, of either sign or of one; only the score of the second class.
            for labels, targets, positive, base in (([7, 3, 5], [0, 1, 2], True, []), ([7, 3], [0], False, [0.3]),
                                                    ([7, 3], [0], True, []), ([7, 3], [1], False, [])):
                trees = Trees(3, targets, TESTS[:1], positive=positive)
                with self.subTest(transform=transform, targets=targets, positive=positive):
                    self.check("TreeEnsembleClassifier", [ROWS], [TensorProto.INT64, TensorProto.FLOAT], 3,
                               classlabels_int64s=labels, post_transform=transform,
                               **({"base_values": base} if base else {}), **trees.attributes("class"))

    def test_labels_of_reached_classes(self) -> None:
        """A class without a weight in the leaf of a row is not chosen, even if the others have negative scores."""
        tree = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
                "nodes_values": [0.0, 0.0, 0.0], "nodes_modes": ["BRANCH_LT", "LEAF", "LEAF"],
                "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}
        for classes, nodes, weights in (([2, 0], [1, 2], [-1.0, -2.0]), ([2, 1, 1], [1, 1, 2], [-1.0, -2.0, -0.5]),
                                        ([1, 2], [1, 2], [0.0, 2.0])):
            with self.subTest(classes):
                self.check("TreeEnsembleClassifier", [ROWS - 1], [TensorProto.INT64, TensorProto.FLOAT], 3,
                           classlabels_int64s=[7, 3, 5], class_treeids=[0] * len(classes), class_ids=classes,
                           class_nodeids=nodes, class_weights=weights, **tree)

    def test_linear_models(self) -> None:
        weights = RNG.standard_normal(15).astype(np.float32).tolist()
        for transform in TRANSFORMS:
            for labels, count in (([7, 3, 5], 3), ([7, 3], 1), ([7, 3], 2)):
                with self.subTest(transform=transform, labels=labels, rows=count):
                    self.check("LinearClassifier", [ROWS], [TensorProto.INT64, TensorProto.FLOAT],
                               classlabels_ints=labels, coefficients=weights[:5 * count],
                               intercepts=[0.1, 0.2, -0.3][:count], post_transform=transform)
        for transform in [*TRANSFORMS, "PROBIT"]:
            with self.subTest(transform):
                self.check("LinearRegressor", [ROWS / 8], [TensorProto.FLOAT], coefficients=[x / 9 for x in weights[:5]],
                           intercepts=[0.5], post_transform=transform)
                self.check("TreeEnsembleRegressor", [ROWS], [TensorProto.FLOAT], 3, n_targets=1,
                           post_transform=transform, **Trees(2, [0], TESTS, positive=True).attributes("target"))
                self.check("LinearRegressor", [ROWS / 8], [TensorProto.FLOAT], targets=3,
                           coefficients=[x / 9 for x in weights], intercepts=[0.5, 0.5, 0.5], post_transform=transform)

    def test_features(self) -> None:
        real = [TensorProto.FLOAT]
        for norm in ("MAX", "L1", "L2"):
            self.check("Normalizer", [np.vstack([ROWS, np.zeros((1, 5), np.float32)])], real, norm=norm)
        self.check("Scaler", [ROWS.astype(np.int64)], real, offset=[1.0, 2.0, 3.0, 4.0, 5.0], scale=[2.0] * 5)
        self.check("Binarizer", [ROWS], real, threshold=0.5)
        self.check("Imputer", [MISSING], real, imputed_value_floats=[1.0, 2.0, 3.0, 4.0, 5.0],
                   replaced_value_float=float("nan"))
        for counts in ([5, 2], [3, 4], [5, 1]):
            self.check("FeatureVectorizer", [ROWS, ROWS[:, :2]], real, inputdimensions=counts)
        self.check_columns()
        # The first of equal keys counts, and NaN is a key since version 4.
        self.check("LabelEncoder", [np.arange(6)], real, 2, keys_int64s=[1, 2, 3, 2],
                   values_floats=[0.5, 1.5, 2.5, 3.5], default_float=9.0)
        keys = RNG.permutation(600)[:300]
        self.check("LabelEncoder", [np.arange(600).reshape(2, 300)], [TensorProto.INT64], 2, keys_int64s=keys,
                   values_int64s=np.arange(300))
        for version in (2, 4):
            self.check("LabelEncoder", [np.float32([1, np.nan, 3, 9])], [TensorProto.INT64], version,
                       keys_floats=[1.0, np.nan, 3.0], values_int64s=[4, 5, 6])
        self.check("OneHotEncoder", [np.arange(6).reshape(2, 3)], real, cats_int64s=[1, 2, 5])

    def check_columns(self) -> None:
        """Compares the concatenation of rows of dynamic sizes, which are cut or get zeros."""
        model = make_model("FeatureVectorizer", [ROWS, ROWS], [TensorProto.FLOAT], 1, {"inputdimensions": [3, 2]})
        for each in model.graph.input:
            each.type.tensor_type.shape.dim[1].Clear()
        session = onnxruntime.InferenceSession(model.SerializeToString())
        program = layout_mlir.compile(onnx_import.lower_to_text(onnx_import.prepare_checked(model)), threads=1)
        for a, b in ((3, 2), (5, 1), (1, 4), (0, 5)):
            np.testing.assert_array_equal(program(ROWS[:, :a], ROWS[:, :b]),
                                          session.run(None, {"x0": ROWS[:, :a], "x1": ROWS[:, :b]})[0])

    def test_refusals(self) -> None:
        labels = {"classlabels_strings": ["a", "b"], "coefficients": [1.0] * 5, "intercepts": [0.0]}
        model = make_model("LinearClassifier", [ROWS], [TensorProto.STRING, TensorProto.FLOAT], 1, labels)
        with self.assertRaisesRegex(onnx_import.ImportFailed, "its labels are strings"):
            onnx_import.lower_to_text(onnx_import.prepare_checked(model))
        model = make_model("LinearRegressor", [ROWS.reshape(3, 3, 5)], [TensorProto.FLOAT], 1,
                           {"coefficients": [1.0] * 5})
        with self.assertRaisesRegex(onnx_import.ImportFailed, "rank 3, but rows of features have rank 2"):
            onnx_import.lower_to_text(onnx_import.prepare_checked(model))
        far = Trees(1, [0], TESTS[:1])
        far.nodes["featureids"] = [17] * len(far.nodes["featureids"])
        model = make_model("TreeEnsembleRegressor", [ROWS], [TensorProto.FLOAT], 3,
                           {"n_targets": 1, **far.attributes("target")})
        with self.assertRaisesRegex(onnx_import.ImportFailed, "feature 17, but there are 5"):
            onnx_import.lower_to_text(onnx_import.prepare_checked(model))


if __name__ == "__main__":
    unittest.main()
