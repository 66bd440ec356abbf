"""Writes stablehlo.reduce_window as a linear-time scan if its windows grow from one end of a dim to the whole dim."""

from __future__ import annotations

from typing import Any

import numpy as np

from layout_mlir.stablehlo_import.attributes import integers
from layout_mlir.stablehlo_import.writer import Value, Writer, element_of, shape_of


def find_scan(op: Any) -> tuple[int, bool] | None:
    """Returns the dim of a cumulative reduction and whether it starts at the end, or None for other windows."""
    window = integers(op, "window_dimensions") or []
    shape = shape_of(str(op.operands[0].type))
    padding = np.zeros((len(shape), 2), int)
    if "padding" in op.attributes:
        padding = np.array(op.attributes["padding"]).reshape(-1, 2)
    steps = [step for name in ("window_strides", "base_dilations", "window_dilations")
             for step in integers(op, name) or []]
    long = [dim for dim, size in enumerate(window) if size != 1]
    if len(long) != 1 or any(step != 1 for step in steps):
        return None
    dim, size = long[0], window[long[0]]
    if size != shape[dim] or any(padding[other].any() for other in range(len(shape)) if other != dim):
        return None
    pads = (int(padding[dim][0]), int(padding[dim][1]))
    return (dim, pads[0] == 0) if pads in ((size - 1, 0), (0, size - 1)) else None


def write_scan(op: Any) -> None:
    """Replaces a cumulative reduction by a loop that carries the partial result; keeps other reductions."""
    found = find_scan(op)
    if found is None:
        return
    dim, is_reversed = found
    w = Writer(op)
    count = len(op.results)
    inputs, starts = w.inputs[:count], [w.load(x, []) for x in w.inputs[count:]]
    shape = shape_of(inputs[0][1])
    sizes = [w.size(inputs[0], each) for each in range(len(shape))]
    results = [w.empty(sizes, shape, element_of(x[1])) for x in inputs]
    size = sizes.pop(dim)
    zero, one = w.index(0), w.index(1)
    last = w.binary("subi", size, one)

    def scan_line(at: list[Value], tensors: list[Value]) -> list[Value]:
        def step(i: Value, carried: list[Value]) -> list[Value]:
            i = w.binary("subi", last, i) if is_reversed else i
            place = [*at[:dim], i, *at[dim:]]
            sums, elements = carried[:count], [w.load(x, place) for x in inputs]
            sums = w.call([*elements, *sums] if is_reversed else [*sums, *elements])
            return [*sums, *(w.store(x, to, place) for x, to in zip(sums, carried[count:]))]

        return w.loop(zero, size, one, [*starts, *tensors], step)[count:]

    w.replace(w.nest(sizes, results, scan_line))
