"""Converts operands to the element type in which an op computes: unsigned ones of products and convolutions, which the
passes would extend as signed, so that 255 would become -1, and those of reductions and scatters that compute in a wider
type than they read, which have no lowering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layout_mlir.stablehlo_import.writer import Writer, element_of, shape_of, signless, tensor_of


def _extend(op: Any) -> None:
    """Writes a stablehlo.convert as a linalg.generic, which the passes do not fold into its user."""
    w = Writer(op)
    source, target = element_of(str(op.operands[0].type)), element_of(signless(str(op.results[0].type)))
    name = ("extui" if source[0] == "u" else "extsi") if target[0] == "i" else "uitofp" if source[0] == "u" else "sitofp"
    x = w.inputs[0]
    element, sizes = element_of(x[1]), shape_of(x[1])
    type_ = tensor_of(sizes, target)
    w.replace([w.convert(x, type_, lambda: w.emit(f"arith.{name} %in : {element} to {target}", target))])


def _convert(op: Any, number: int, element: str) -> Any:
    """Converts an operand to an element type; returns the stablehlo.convert, or None if none is needed."""
    from iree.compiler import ir

    operand = op.operands[number]
    type_ = str(operand.type)
    if element_of(type_) == element:
        return None
    wide = ir.Type.parse(tensor_of(shape_of(type_), element), op.context)
    with ir.InsertionPoint(op), op.location:
        made = ir.Operation.create("stablehlo.convert", [wide], [operand])
    op.operands[number] = made.results[0]
    return made


def widen_unsigned(op: Any) -> None:
    """Converts the factors of a product or convolution to the element type of the result if one is unsigned."""
    if any(element_of(str(operand.type)).startswith("ui") for operand in list(op.operands)[:2]):
        made = [_convert(op, number, element_of(str(op.results[0].type))) for number in range(2)]
        for each in made:
            if each is not None:
                _extend(each)


def reverse_signless(op: Any) -> None:
    """Reverses unsigned elements as signless ones."""
    w = Writer(op)
    x = w.inputs[0]
    if str(op.operands[0].type) != x[1]:
        w.replace([w.emit(f"stablehlo.reverse {x[0]}, dims = {list(op.attributes['dimensions'])} : {x[1]}", x[1])])


def _operands_of_region(op: Any) -> Sequence[int]:
    """Returns the numbers of the operands that the arguments of the op's region stand for."""
    count = len(op.results)
    return [*range(count), *range(len(op.operands) - count, len(op.operands))]


def widen_to_region(op: Any) -> None:
    """Converts the operands of a reduction or scatter to the element types that its region computes in."""
    for number, argument in zip(_operands_of_region(op), op.regions[0].blocks[0].arguments):
        _convert(op, number, element_of(str(argument.type)))
