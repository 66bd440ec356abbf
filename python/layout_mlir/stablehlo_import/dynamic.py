"""Replaces StableHLO ops with dynamic result shapes, if the passes do not lower them."""

from __future__ import annotations

from typing import Any

from layout_mlir.stablehlo_import.attributes import integers
from layout_mlir.stablehlo_import.writer import Value, Writer, element_of, shape_of, signless, tensor_of


def mark_nonexpanding(op: Any) -> None:
    """Marks the dynamic dims of a dynamic_broadcast_in_dim as not expanded, because JAX only expands static dims."""
    from iree.compiler import ir

    dims = [dim for dim, size in enumerate(shape_of(str(op.operands[0].type))) if size is None]
    if dims and "known_nonexpanding_dimensions" not in op.attributes:
        op.attributes["known_nonexpanding_dimensions"] = ir.DenseI64ArrayAttr.get(dims, op.context)


def _read_sizes(w: Writer, number: int, rank: int) -> list[Value]:
    """Returns the elements of a shape operand, of type integer or index, as index values."""
    sizes = w.inputs[number]
    if element_of(sizes[1]) != "index":
        sizes = w.to_indices(number)
    read = [w.load(sizes, [w.index(dim)]) for dim in range(rank)]
    return [size if size[1] == "index" else w.as_index(size) for size in read]


def write_dynamic_broadcast(op: Any) -> None:
    """Replaces a dynamic_broadcast_in_dim. If a dynamic dim may be expanded, its index is selected at run time."""
    w = Writer(op)
    operand, into = w.inputs[0], integers(op, "broadcast_dimensions") or []
    shape, type_ = shape_of(operand[1]), signless(str(op.results[0].type))
    sizes = _read_sizes(w, 1, len(shape_of(type_)))
    expanding = {*(integers(op, "known_expanding_dimensions") or []), *(d for d, size in enumerate(shape) if size == 1)}
    kept = [dim for dim in range(len(shape)) if dim not in expanding]
    if {dim for dim in kept if shape[dim] is None} <= {*(integers(op, "known_nonexpanding_dimensions") or [])}:
        w.replace([w.broadcast(_without(w, operand, kept), [into[dim] for dim in kept], sizes, type_)])
        return
    zero, one = w.index(0), w.index(1)
    expands = [w.compare("eq", w.size(operand, dim), one) for dim in range(len(shape))]
    w.replace([w.generate(sizes, type_, lambda at: w.load(
        operand, [w.select(is_one, zero, at[dim]) for is_one, dim in zip(expands, into)]))])


def _without(w: Writer, x: Value, kept: list[int]) -> Value:
    """Removes dims of size 1, except `kept`."""
    shape = shape_of(x[1])
    if len(kept) == len(shape):
        return x
    type_ = tensor_of([shape[dim] for dim in kept], element_of(x[1]))
    sizes = ", ".join("1" if dim not in kept else str(size) if size is not None else w.size(x, dim)[0]
                      for dim, size in enumerate(shape))
    zeros, ones = (", ".join([each] * len(shape)) for each in "01")
    return w.emit(f"tensor.extract_slice {x[0]}[{zeros}] [{sizes}] [{ones}] : {x[1]} to {type_}", type_)


def write_dynamic_reshape(op: Any) -> None:
    """Replaces a dynamic_reshape by a collapse to rank 1 and an expansion."""
    w = Writer(op)
    type_ = signless(str(op.results[0].type))
    new, flat = shape_of(type_), _flatten(w, w.inputs[0])
    count = None if None in new else _product(new)
    flat = w.cast(flat, tensor_of([count], element_of(type_)))
    if not new:
        flat = w.emit(f"tensor.collapse_shape {flat[0]} [] : {flat[1]} into {type_}", type_)
    elif len(new) > 1:
        sizes = _read_sizes(w, 1, len(new))
        written = ", ".join(size[0] if known is None else str(known) for size, known in zip(sizes, new))
        flat = w.emit(f"tensor.expand_shape {flat[0]} [{list(range(len(new)))}] output_shape [{written}] : "
                      f"{flat[1]} into {type_}", type_)
    w.replace([flat])


def _flatten(w: Writer, x: Value) -> Value:
    """Collapses a tensor to rank 1."""
    shape = shape_of(x[1])
    flat = tensor_of([None if None in shape else _product(shape)], element_of(x[1]))
    if not shape:
        return w.emit(f"tensor.expand_shape {x[0]} [] output_shape [1] : {x[1]} into {flat}", flat)
    if len(shape) == 1:
        return x
    return w.emit(f"tensor.collapse_shape {x[0]} [{list(range(len(shape)))}] : {x[1]} into {flat}", flat)


def _product(sizes: list[int | None]) -> int:
    total = 1
    for size in sizes:
        total *= size or 0
    return total


def remove_barrier(op: Any) -> None:
    """Replaces the results of an optimization_barrier by its operands."""
    for result, operand in zip(op.results, list(op.operands)):
        result.replace_all_uses_with(operand)
    op.erase()
