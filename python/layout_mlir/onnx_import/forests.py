"""Ensembles of decision trees: reads the attributes of ONNX's three operators into arrays, and walks the trees.

`read_by_names` and `read_by_places` return the tests as the model states them. `compare_from_above` turns all of them
into `x <= limit`, so that the walk has no branch but the one that ends it: `add_trees` walks several trees at a time,
until each has reached a leaf, so that the loads of one do not wait for those of another.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.node import Node
from layout_mlir.onnx_import.values import Forbidden

if TYPE_CHECKING:
    from layout_mlir.loops import Tensor, integer, size  # noqa: F401

# Test modes, in the order of TreeEnsemble's numbers.
_MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"]
_LESS_EQUAL, _LESS, _GREATER_EQUAL, _GREATER, _EQUAL, _UNEQUAL, _MEMBER = range(7)


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
    def leaves(self) -> NDArray[Any]:
        """True for nodes that are leaves."""
        own = np.arange(len(self.children))
        leaves: NDArray[Any] = (self.children[:, 0] == own) & (self.children[:, 1] == own)
        return leaves

    def always_reached(self) -> set[int]:
        """Returns the targets that every leaf of some tree has a weight for."""
        leaves, found = self.leaves, set[int]()
        for root in self.roots.tolist():
            common, left = None, [root]
            while left and common != set():
                place = left.pop()
                if leaves[place]:
                    own = set(self.targets[self.firsts[place]:self.firsts[place + 1]].tolist())
                    common = own if common is None else common & own
                else:
                    left.extend(self.children[place].tolist())
            found |= common or set()
        return found

    def check(self, targets: int) -> None:
        """Raises Forbidden if a number of a node, feature or target is out of range, for results of `targets` columns,
        or if a walk may not end."""
        for what, numbers, count in (("node", self.children, len(self.modes)), ("node", self.roots, len(self.modes)),
                                     ("target or class", self.targets, targets),
                                     ("feature", self.features, 1 << 31)):
            wrong = numbers[(numbers < 0) | (numbers >= count)]
            if wrong.size:
                raise Forbidden(f"its trees name {what} {wrong[0]}, but there are {count}")
        leaves, reached = self.leaves, np.unique(self.roots)
        for _ in range(len(self.children) + 1):
            reached = np.unique(self.children[reached[~leaves[reached]]])
            if not reached.size:
                return
        raise Forbidden("its trees have a cycle")


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


def _round_down(limits: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Returns the largest numbers of `dtype` that are not above the limits."""
    with np.errstate(over="ignore"):
        near = limits.astype(dtype)
    return np.where(near > limits, np.nextafter(near, dtype(-np.inf)), near)


def _before(limits: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Returns the largest numbers of `dtype` below the limits, or NaN below -inf."""
    near = _round_down(limits, dtype)
    below = np.where(near == limits, np.nextafter(near, dtype(-np.inf)), near)
    return np.where(limits == -np.inf, dtype(np.nan), below)


def compare_from_above(forest: Forest, dtype: Any) -> Forest:
    """Returns a forest with equal results for numbers of `dtype`, whose tests are all `x <= limit`, and whose leaves
    are its last nodes. A test `x > limit` has its children exchanged, `x < limit` and `x >= limit` compare with the
    number before the limit, and `x == limit` becomes two tests."""
    modes, limits, missing = forest.modes, forest.limits, forest.missing.astype(np.int64)
    fails, holds = forest.children.T
    # All numbers are >= -inf, as they are <= inf, and none is < -inf.
    least = limits == -np.inf
    limits = np.where(least & (modes == _GREATER_EQUAL), np.inf, np.where(least & (modes == _LESS), np.nan, limits))
    modes = np.where(least & (modes == _GREATER_EQUAL), _LESS_EQUAL, modes)
    upper = np.where(np.isin(modes, [_LESS, _GREATER_EQUAL]), _before(limits, dtype), _round_down(limits, dtype))
    # No number is <= NaN, < NaN, .., and all are != NaN. A missing one that holds takes the exchanged test x <= inf.
    undefined = np.isnan(limits) & ~forest.leaves
    fails = np.where(undefined & (modes == _UNEQUAL), holds, fails)
    swaps = np.where(undefined, missing == 1, np.isin(modes, [_GREATER_EQUAL, _GREATER]))
    upper = np.where(undefined & swaps, dtype(np.inf), upper)
    missing = np.where(undefined, 0, np.where(swaps, 1 - missing, missing))
    first = np.where(swaps[:, None], np.stack([holds, fails], 1), np.stack([fails, holds], 1))
    # x == limit: x <= limit, and then not x <= the number before.
    exact = np.flatnonzero(np.isin(modes, [_EQUAL, _UNEQUAL]) & ~undefined & ~forest.leaves)
    equal = modes[exact] == _EQUAL
    inside, outside = (np.where(equal, each[0][exact], each[1][exact]) for each in ((holds, fails), (fails, holds)))
    first[exact, 0], first[exact, 1] = outside, len(modes) + np.arange(len(exact))
    missing[exact] = np.where(equal, missing[exact], 0)
    result = Forest(np.concatenate([forest.features, forest.features[exact]]),
                    np.concatenate([upper, _before(limits[exact], dtype)]), np.zeros(len(modes) + len(exact), np.int64),
                    np.concatenate([first, np.stack([inside, outside], 1)]),
                    np.concatenate([missing, np.zeros(len(exact), np.int64)]), forest.roots,
                    np.concatenate([forest.firsts, np.repeat(forest.firsts[-1:], len(exact))]), forest.targets,
                    forest.weights)
    return _with_leaves_last(result)


def _with_leaves_last(forest: Forest) -> Forest:
    order = np.argsort(forest.leaves, kind="stable")
    places = np.argsort(order)
    counts = np.diff(forest.firsts)
    entries = np.argsort(places[np.repeat(np.arange(len(order)), counts)], kind="stable")
    return Forest(forest.features[order], forest.limits[order], forest.modes[order], places[forest.children[order]],
                  forest.missing[order], places[forest.roots], np.concatenate([[0], np.cumsum(counts[order])]),
                  forest.targets[entries], forest.weights[entries])


def add_trees(x: Tensor, into: Tensor, roots: Tensor, children: Tensor, features: Tensor, limits: Tensor,
              weights: Tensor, targets: Tensor | None, firsts: Tensor | None, inner: int, width: int,
              aggregate: str) -> Tensor:
    """Combines `into` with the weights of the leaves that each row of x reaches, by their minimum, maximum or sum
    (`aggregate`). All tests are x <= limit, and the nodes from `inner` on are leaves. A leaf has one weight without
    `firsts`, and all targets are 0 without `targets`. About `width` walks are interleaved: trees for one row, and also
    rows if there are fewer trees."""
    y, count = into, size(roots, 0)
    trees = min(count, width)
    rows = width // trees
    whole = count - count % trees
    for first, last, together in [(0, whole, trees), (whole, count, count - whole)]:
        if first < last:
            for t in range((last - first) // together):
                for n in range(size(x, 0) // rows):
                    y = _add_leaves(y, _walk(x, roots, children, features, limits, inner, n * rows, rows,
                                             first + t * together, together),
                                    weights, targets, firsts, n * rows, together, aggregate)
                if rows > 1:
                    for n in range(size(x, 0) // rows * rows, size(x, 0)):
                        y = _add_leaves(y, _walk(x, roots, children, features, limits, inner, n, 1,
                                                 first + t * together, together),
                                        weights, targets, firsts, n, together, aggregate)
    return y


def _walk(x: Tensor, roots: Tensor, children: Tensor, features: Tensor, limits: Tensor, inner: int, n: int, rows: int,
          tree: int, trees: int) -> Sequence[int]:
    """Returns the leaves that `rows` rows from n on reach in `trees` trees from `tree` on, row by row."""
    at = [roots[tree + lane % trees] for lane in range(rows * trees)]
    while min(*at) < inner:
        at = [children[node, integer(x[n + lane // trees, features[node]] <= limits[node])]
              for lane, node in enumerate(at)]
    return at


def _add_leaves(y: Tensor, leaves: Sequence[int], weights: Tensor, targets: Tensor | None, firsts: Tensor | None,
                n: int, trees: int, aggregate: str) -> Tensor:
    """Combines y with the weights of `leaves`, which belong to rows from n on, with `trees` leaves each."""
    for lane, leaf in enumerate(leaves):
        row = n + lane // trees
        if firsts is None:
            target = 0 if targets is None else targets[leaf]
            y[row, target] = _combine(y[row, target], weights[leaf], aggregate)
        else:
            for e in range(firsts[leaf], firsts[leaf + 1]):
                target = 0 if targets is None else targets[e]
                y[row, target] = _combine(y[row, target], weights[e], aggregate)
    return y


def _combine(a: float, b: float, aggregate: str) -> float:
    return min(a, b) if aggregate == "MIN" else max(a, b) if aggregate == "MAX" else a + b
