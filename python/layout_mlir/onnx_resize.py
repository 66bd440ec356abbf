"""What an ONNX Resize reads along each axis: places and their weights, as ONNX defines them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import NodeProto

# The array of a constant, by its name.
_Known = Callable[[str], NDArray[Any] | None]
# An axis, places along it and their weights; places without weights are taken as they are.
_Taps = tuple[int, Iterable[NDArray[np.int64]], NDArray[np.float64] | None]


def _coordinates(mode: str, old: int, new: int, scale: float) -> NDArray[np.float64]:
    """Where each new element lies among the old ones."""
    x = np.arange(new, dtype=np.float64)
    if mode == "asymmetric":
        return x / scale
    if mode == "align_corners":
        return x * (old - 1) / (new - 1) if new > 1 else x
    middle = (x + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel" and new == 1:
        return x
    if mode == "half_pixel_symmetric":
        return old / 2 * (1 - new / (old * scale)) + middle
    return middle


def _round(x: NDArray[np.float64], mode: str) -> NDArray[np.int64]:
    return {"round_prefer_floor": np.ceil(x - 0.5), "round_prefer_ceil": np.floor(x + 0.5),
            "floor": np.floor(x), "ceil": np.ceil(x)}[mode].astype(np.int64)


def _linear(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(1 - distance, 0, None)


def _cubic(distance: NDArray[np.float64], a: float) -> NDArray[np.float64]:
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


def _weigh(x: NDArray[np.float64], old: int, scale: float,
           attributes: Mapping[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places and weights of the neighbors of each of `x`."""
    is_cubic = attributes["mode"] == "cubic"
    shrink = min(scale, 1.0) if attributes["antialias"] else 1.0
    reach = (2 if is_cubic else 1) / shrink
    taps = np.arange(np.floor(-reach) + 1, np.ceil(reach) + 1).astype(np.int64)
    places = np.floor(x).astype(np.int64) + taps[:, None]
    distance = np.abs(places - x) * shrink
    weights = _cubic(distance, attributes["cubic_coeff_a"]) if is_cubic else _linear(distance)
    if attributes["exclude_outside"]:
        weights = np.where((places >= 0) & (places < old), weights, 0)
    return np.clip(places, 0, old - 1), weights / weights.sum(0)


_DEFAULTS: dict[str, Any] = {
    "mode": "nearest", "coordinate_transformation_mode": "half_pixel", "antialias": 0, "exclude_outside": 0,
    "cubic_coeff_a": -0.75, "nearest_mode": "round_prefer_floor", "keep_aspect_ratio_policy": "stretch",
    "axes": None}


def _sizes(node: NodeProto, shape: Sequence[int], attributes: Mapping[str, Any],
           known: _Known) -> list[tuple[int, int, float]] | None:
    """(axis, new size, scale) of each axis that is named; None where they are not known."""
    axes = attributes["axes"] if attributes["axes"] is not None else range(len(shape))
    axes = [axis % len(shape) for axis in axes]
    given = [known(name) if name else None for name in [*node.input, "", "", ""][2:4]]
    if given[0] is not None and given[0].size:
        return [(axis, int(shape[axis] * scale), float(scale)) for axis, scale in zip(axes, given[0])]
    if given[1] is None:
        return None
    scales = [size / shape[axis] for axis, size in zip(axes, given[1])]
    policy = attributes["keep_aspect_ratio_policy"]
    if policy == "stretch":
        return [(axis, int(size), scale) for axis, size, scale in zip(axes, given[1], scales)]
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [(axis, int(np.floor(shape[axis] * scale + 0.5)), scale) for axis in axes]


def find_taps(node: NodeProto, shape: Sequence[int], known: _Known) -> list[_Taps] | None:
    """[(axis, places, weights)] of the axes that change, where the import has no form of its own for
    the node; None else. `known`: the array of a constant."""
    from onnx import helper

    given = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    attributes = {**_DEFAULTS, **{name: each.decode() if isinstance(each, bytes) else each
                                  for name, each in given.items()}}
    transform = attributes["coordinate_transformation_mode"]
    is_plain = attributes["mode"] != "cubic" and not attributes["antialias"] and attributes["axes"] is None and \
        attributes["keep_aspect_ratio_policy"] == "stretch" and \
        (attributes["mode"] != "nearest" or transform != "align_corners")
    sizes = None if is_plain or transform == "tf_crop_and_resize" else _sizes(node, shape, attributes, known)
    if sizes is None:
        return None
    taps: list[_Taps] = []
    for axis, new, scale in sizes:
        if new == shape[axis] and scale == 1:
            continue
        x = _coordinates(transform, shape[axis], new, scale)
        if attributes["mode"] == "nearest":
            places = np.clip(_round(x, attributes["nearest_mode"]), 0, shape[axis] - 1)
            taps.append((axis, [places], None))
        else:
            taps.append((axis, *_weigh(x, shape[axis], scale, attributes)))
    return taps
