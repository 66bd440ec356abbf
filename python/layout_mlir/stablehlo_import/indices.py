"""Writes StableHLO gathers and scatters as loops. A gather clamps its start indices; a scatter drops updates out of
bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layout_mlir.stablehlo_import.attributes import DimensionNumbers, integers
from layout_mlir.stablehlo_import.writer import Value, Writer, element_of, shape_of, signless


def _read_starts(w: Writer, indices: Value, vector_dim: int, batch: Sequence[Value], count: int) -> list[Value]:
    """Returns the components of the start index at the given index of the other dims."""
    starts = []
    for component in range(count):
        place = list(batch)
        if vector_dim < len(shape_of(indices[1])):
            place.insert(vector_dim, w.index(component))
        starts.append(w.as_index(w.load(indices, place)))
    return starts


def _batch_places(dims: Sequence[int], vector_dim: int, batch: Sequence[Value]) -> list[Value]:
    """Returns the loop indices of the given dims of the indices operand."""
    return [batch[dim - (dim > vector_dim)] for dim in dims]


def write_gather(op: Any) -> None:
    """Replaces a gather by a linalg.generic that reads one element per result."""
    w = Writer(op)
    numbers = DimensionNumbers(str(op.attributes["dimension_numbers"]))
    operand, indices = w.inputs[0], w.to_indices(1)
    rank = len(shape_of(operand[1]))
    type_ = signless(str(op.results[0].type))
    shape, offsets = shape_of(type_), numbers.dims("offset_dims")
    batching, into = numbers.dims("operand_batching_dims"), numbers.dims("start_index_map")
    window = [dim for dim in range(rank) if dim not in {*numbers.dims("collapsed_slice_dims"), *batching}]
    static = integers(op, "slice_sizes")
    slices = [w.index(size) for size in static] if static is not None else [
        w.as_index(w.load(w.to_indices(2), [w.index(dim)])) for dim in range(rank)]
    outer = [dim for dim in range(len(shape)) if dim not in offsets]
    index_dims = [dim for dim in range(len(shape_of(indices[1]))) if dim != numbers.index_vector_dim]
    sizes = [slices[window[offsets.index(dim)]] if dim in offsets else w.size(indices, index_dims[outer.index(dim)])
             for dim in range(len(shape))]
    limits = {dim: w.binary("subi", w.size(operand, dim), slices[dim]) for dim in into}
    zero = w.index(0)

    def read(at: list[Value]) -> Value:
        batch = [at[dim] for dim in outer]
        places: dict[int, Value] = dict(zip(batching, _batch_places(
            numbers.dims("start_indices_batching_dims"), numbers.index_vector_dim, batch)))
        for dim, start in zip(into, _read_starts(w, indices, numbers.index_vector_dim, batch, len(into))):
            places[dim] = w.binary("maxsi", w.binary("minsi", start, limits[dim]), zero)
        for dim, offset in zip(window, offsets):
            places[dim] = w.binary("addi", places[dim], at[offset]) if dim in places else at[offset]
        return w.load(operand, [places.get(dim, zero) for dim in range(rank)])

    w.replace([w.generate(sizes, type_, read)])


class _Scatter:
    """Writes a scatter: loops over the scatter dims, a bounds check of the start, and loops over the window."""

    def __init__(self, op: Any) -> None:
        self.w = Writer(op)
        self.numbers = DimensionNumbers(str(op.attributes["scatter_dimension_numbers"]))
        count = len(op.results)
        self.operands, self.updates = self.w.inputs[:count], self.w.inputs[count + 1:]
        self.indices = self.w.to_indices(count)
        self.rank = len(shape_of(self.operands[0][1]))
        self.window_dims = self.numbers.dims("update_window_dims")
        self.batching = self.numbers.dims("input_batching_dims")
        skipped = {*self.numbers.dims("inserted_window_dims"), *self.batching}
        self.window = [dim for dim in range(self.rank) if dim not in skipped]
        self.into = self.numbers.dims("scatter_dims_to_operand_dims")
        self.update_rank = len(shape_of(self.updates[0][1]))

    def write(self) -> None:
        w = self.w
        self.limits = [w.size(self.operands[0], dim) for dim in range(self.rank)]
        sizes = [w.size(self.updates[0], dim) for dim in range(self.update_rank)]
        outer = [dim for dim in range(self.update_rank) if dim not in self.window_dims]
        inner = [sizes[dim] for dim in self.window_dims]
        w.replace(w.nest([sizes[dim] for dim in outer], self.operands,
                         lambda at, carried: self._scatter_window(dict(zip(outer, at)), inner, carried)))

    def _scatter_window(self, at: dict[int, Value], sizes: list[Value], carried: list[Value]) -> list[Value]:
        """Writes the window of one start index, if that is in bounds in the dims that the window does not have."""
        w, vector_dim, batch = self.w, self.numbers.index_vector_dim, list(at.values())
        places = dict(zip(self.batching, _batch_places(
            self.numbers.dims("scatter_indices_batching_dims"), vector_dim, batch)))
        places.update(zip(self.into, _read_starts(w, self.indices, vector_dim, batch, len(self.into))))
        checked = [dim for dim in self.into if dim not in self.window]
        return w.when(self._is_within(places, checked), carried, lambda: w.nest(
            sizes, carried, lambda offsets, inner: self._scatter_element(
                {**at, **dict(zip(self.window_dims, offsets))}, places, inner)))

    def _scatter_element(self, at: dict[int, Value], places: dict[int, Value], carried: list[Value]) -> list[Value]:
        w = self.w
        full = dict(places)
        for dim, update_dim in zip(self.window, self.window_dims):
            full[dim] = w.binary("addi", full[dim], at[update_dim]) if dim in full else at[update_dim]
        place = [full[dim] if dim in full else w.index(0) for dim in range(self.rank)]
        update_place = [at[dim] for dim in range(self.update_rank)]

        def update() -> list[Value]:
            old = [w.load(tensor, place) for tensor in carried]
            new = [w.load(tensor, update_place) for tensor in self.updates]
            return [w.store(x, tensor, place) for x, tensor in zip(w.call([*old, *new]), carried)]

        known = shape_of(self.operands[0][1])
        checked = [dim for dim in self.window if dim in self.into or known[dim] is None]
        return w.when(self._is_within(full, checked), carried, update)

    def _is_within(self, places: dict[int, Value], dims: Sequence[int]) -> Value | None:
        """Returns the condition that an index is in bounds, or None if there are no dims to check."""
        within: Value | None = None
        for dim in dims:
            check = self.w.compare("ult", places[dim], self.limits[dim])
            within = check if within is None else self.w.binary("andi", within, check)
        return within


def write_scatter(op: Any) -> None:
    """Replaces a scatter by loops; an update whose place is out of bounds is dropped."""
    _Scatter(op).write()


def write_slice_starts(op: Any) -> None:
    """Converts unsigned starts of a dynamic slice or update to i64, because the lowering clamps them as signed
    integers."""
    first = 1 if op.name == "stablehlo.dynamic_slice" else 2
    if not any(element_of(str(operand.type)).startswith("ui") for operand in list(op.operands)[first:]):
        return
    w = Writer(op)
    operands = [(f"%arg{number}", str(operand.type)) if number < first else w.to_indices(number)
                for number, operand in enumerate(op.operands)]
    sizes = f" <{{slice_sizes = {op.attributes['slice_sizes']}}}>" if "slice_sizes" in op.attributes else ""
    type_ = str(op.results[0].type)
    w.replace([w.emit(f'"{op.name}"({", ".join(x[0] for x in operands)}){sizes} : '
                      f'({", ".join(x[1] for x in operands)}) -> {type_}', type_)])
