"""Ensembles of decision trees: reads the attributes of ONNX's three operators into arrays, and walks the trees."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.node import Node
from layout_mlir.onnx_import.values import Forbidden

if TYPE_CHECKING:
    from layout_mlir.loops import Tensor, integer, size  # noqa: F401

# Test modes, in the order of TreeEnsemble's numbers.
_MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"]
_EQUAL, _MEMBER = 4, 6


@dataclasses.dataclass
class Forest:
    """The nodes of all trees, including leaves. A leaf is its own child. Row `i` of `children` holds the next nodes if
    the test of node `i` fails and if it holds; `firsts[i]` to `firsts[i + 1]` are the targets and weights of node
    `i`."""
    features: NDArray[Any]
    limits: NDArray[Any]
    modes: NDArray[Any]
    children: NDArray[Any]
    missing: NDArray[Any]
    roots: NDArray[Any]
    firsts: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[Any]

    @property
    def depths(self) -> NDArray[Any]:
        """The number of tests from each root to its deepest leaf."""
        return np.array([max(self._levels(int(root))) for root in self.roots], np.int64)

    def check(self, targets: int) -> None:
        """Raises Forbidden if a number of a node, feature or target is out of range, for results of `targets`
        columns."""
        for what, numbers, count in (("node", self.children, len(self.modes)), ("node", self.roots, len(self.modes)),
                                     ("target or class", self.targets, targets),
                                     ("feature", self.features, 1 << 31)):
            wrong = numbers[(numbers < 0) | (numbers >= count)]
            if wrong.size:
                raise Forbidden(f"its trees name {what} {wrong[0]}, but there are {count}")

    def _levels(self, root: int) -> Iterator[int]:
        """Yields the depth of each node of a tree."""
        pending = [(root, 0)]
        while pending:
            node, level = pending.pop()
            if level > len(self.features):
                raise Forbidden("its trees have a cycle")
            yield level
            pending += [(int(child), level + 1) for child in self.children[node] if child != node]


def read_floats(node: Node, name: str, default: Any = None) -> NDArray[Any]:
    """Returns a floating-point attribute, which is a tensor if it has doubles."""
    from onnx import numpy_helper

    if node.has(f"{name}_as_tensor"):
        return numpy_helper.to_array(node.attribute(f"{name}_as_tensor"))
    value = node.attribute(name, default)
    return np.asarray(value, np.float32) if isinstance(value, list) else numpy_helper.to_array(value)


def _check_lengths(node: Node, prefix: str, count: int) -> None:
    """Raises Forbidden if a list among the attributes `PREFIX_..` does not have `count` elements."""
    for each in node.proto.attribute:
        if not each.name.startswith(f"{prefix}_"):
            continue
        values = node.attribute(each.name)
        length = math.prod(values.dims) if each.name.endswith("_as_tensor") else len(values)
        if length not in (0, count):
            raise Forbidden(f"attribute '{each.name}' has {length} elements for {count} nodes")


def read_by_names(node: Node, prefix: str) -> Forest:
    """Reads the trees of TreeEnsembleRegressor or TreeEnsembleClassifier, whose nodes have tree and node numbers. The
    weights are those of attributes with the prefix."""
    places = {key: place for place, key in enumerate(zip(node.attribute("nodes_treeids"),
                                                         node.attribute("nodes_nodeids")))}
    count, modes = len(places), node.attribute("nodes_modes")
    _check_lengths(node, "nodes", count)
    _check_lengths(node, prefix, len(node.attribute(f"{prefix}_treeids")))
    trees = [tree for tree, _ in places]
    children = np.repeat(np.arange(count)[:, None], 2, axis=1)
    inner = np.array([mode != "LEAF" for mode in modes])
    for column, name in enumerate(("nodes_falsenodeids", "nodes_truenodeids")):
        numbers = node.attribute(name)
        for place in np.flatnonzero(inner):
            key = trees[place], numbers[place]
            if key not in places:
                raise Forbidden(f"attribute '{name}' names node {key[1]} of tree {key[0]}, which does not exist")
            children[place, column] = places[key]
    roots = sorted(set(range(count)) - set(children[inner].reshape(-1)))
    if {trees[root] for root in roots} != set(trees):
        raise Forbidden("its trees have a cycle")
    owners = np.array([places[key] for key in zip(node.attribute(f"{prefix}_treeids"),
                                                  node.attribute(f"{prefix}_nodeids"))], np.int64)
    order = np.argsort(owners, kind="stable")
    firsts = np.searchsorted(owners[order], np.arange(count + 1))
    missing = node.attribute("nodes_missing_value_tracks_true") or [0] * count
    return Forest(np.where(inner, node.attribute("nodes_featureids"), 0), read_floats(node, "nodes_values"),
                  np.array([_MODES.index(mode) if mode != "LEAF" else 0 for mode in modes]), children,
                  np.array(missing), np.array(roots), firsts,
                  np.array(node.attribute(f"{prefix}_ids"), np.int64)[order],
                  read_floats(node, f"{prefix}_weights")[order])


def read_by_places(node: Node) -> Forest:
    """Reads the trees of TreeEnsemble, whose inner nodes and leaves have separate lists. The result has leaves after
    inner nodes, and one test for each member of a set."""
    limits = read_floats(node, "nodes_splits")
    modes = read_floats(node, "nodes_modes").astype(np.int64)
    count, targets = len(modes), np.array(node.attribute("leaf_targetids"), np.int64)
    children = np.array([node.attribute("nodes_falsenodeids"), node.attribute("nodes_truenodeids")]).T
    children += count * np.array([node.attribute("nodes_falseleafs"), node.attribute("nodes_trueleafs")]).T
    leaves = np.arange(count, count + len(targets))
    missing = np.array(node.attribute("nodes_missing_value_tracks_true") or [0] * count)

    def with_leaves(array: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([array, np.zeros(len(leaves), array.dtype)])

    firsts = np.concatenate([np.zeros(count, np.int64), np.arange(len(leaves) + 1)])
    forest = Forest(with_leaves(np.array(node.attribute("nodes_featureids"))), with_leaves(limits), with_leaves(modes),
                    np.concatenate([children, np.repeat(leaves[:, None], 2, axis=1)]), with_leaves(missing),
                    np.array(node.attribute("tree_roots")), firsts, targets, read_floats(node, "leaf_weights"))
    return _without_sets(forest, read_floats(node, "membership_values", [])) if (modes == _MEMBER).any() else forest


def _without_sets(forest: Forest, values: NDArray[Any]) -> Forest:
    """Replaces each set membership test by a chain of equality tests, each reached if the previous one fails."""
    ends = np.flatnonzero(np.isnan(values))
    sets = [part[~np.isnan(part)] for part in np.split(values, ends)]
    arrays = {name: list(getattr(forest, name)) for name in ("features", "limits", "modes", "children", "missing")}
    for place, members in zip(np.flatnonzero(forest.modes == _MEMBER), sets):
        fails, holds = forest.children[place]
        at = int(place)
        for number, member in enumerate(members):
            last = number == len(members) - 1
            arrays["limits"][at], arrays["modes"][at] = member, _EQUAL
            arrays["children"][at] = np.array([fails if last else len(arrays["features"]), holds])
            if not last:
                at = len(arrays["features"])
                for name in arrays:
                    arrays[name].append(arrays[name][place])
    added = len(arrays["features"]) - len(forest.features)
    firsts = np.concatenate([forest.firsts, np.repeat(forest.firsts[-1:], added)])
    return dataclasses.replace(forest, firsts=firsts, **{name: np.array(each) for name, each in arrays.items()})


def add_trees(x: Tensor, into: Tensor, roots: Tensor, depths: Tensor, features: Tensor, limits: Tensor, modes: Tensor,
              children: Tensor, missing: Tensor, firsts: Tensor, targets: Tensor, weights: Tensor, mode: int | None,
              tracks: bool, aggregate: str) -> Tensor:
    """Combines `into` with the weights of the leaves that each row of x reaches, by their minimum, maximum or sum
    (`aggregate`). `mode` is the mode of all tests, or None if they differ. With `tracks`, a test holds for NaN if
    `missing` is 1."""
    y = into
    for n in range(size(x, 0)):
        for t in range(size(roots, 0)):
            at = roots[t]
            for _ in range(depths[t]):
                value = x[n, features[at]]
                limit = limits[at]
                if mode is None:
                    m = modes[at]
                    holds = (m == 0 and value <= limit) or (m == 1 and value < limit) or (
                        m == 2 and value >= limit) or (m == 3 and value > limit) or (
                        m == 4 and value == limit) or (m == 5 and value != limit)
                elif mode == 0:
                    holds = value <= limit
                elif mode == 1:
                    holds = value < limit
                elif mode == 2:
                    holds = value >= limit
                elif mode == 3:
                    holds = value > limit
                elif mode == 4:
                    holds = value == limit
                else:
                    holds = value != limit
                if tracks:
                    holds = holds or (missing[at] == 1 and value != value)
                at = children[at, integer(holds)]
            for e in range(firsts[at], firsts[at + 1]):
                target = targets[e]
                if aggregate == "MIN":
                    y[n, target] = min(y[n, target], weights[e])
                elif aggregate == "MAX":
                    y[n, target] = max(y[n, target], weights[e])
                else:
                    y[n, target] = y[n, target] + weights[e]
    return y
