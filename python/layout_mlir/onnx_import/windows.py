"""Sliding windows over the spatial dims of a tensor, shared by convolutions and poolings."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32, Element
from layout_mlir.onnx_import.node import Node
from layout_mlir.onnx_import.scalars import Body, Scalars
from layout_mlir.onnx_import.sizes import Size, is_static
from layout_mlir.onnx_import.values import Scalar, Tensor

# How the message of a failed assertion begins if sizes are too small for a window.
TOO_LARGE = "its window reaches over more than the padded input"


@dataclasses.dataclass
class Window:
    """The window in each spatial dim, and the number of its positions.

    `low` and `high` are the numbers of elements that the node adds before and after, negative if it removes some.
    `beyond` is the number of elements that the last positions read after them, nonzero only if sizes are rounded up.
    """
    kernel: list[Size]
    strides: list[int]
    dilations: list[int]
    low: list[Size]
    high: list[Size]
    beyond: list[Size]
    output: list[Size]

    @property
    def rank(self) -> int:
        return len(self.kernel)

    @property
    def is_padded(self) -> bool:
        return any(size != 0 for size in [*self.low, *self.high, *self.beyond])


def read_integers(node: Node, name: str, count: int, default: int) -> list[int]:
    """Returns an attribute with one integer for each of `count` dims."""
    values = [int(value) for value in node.attribute(name) or [default] * count]
    if len(values) != count:
        node.refuse(f"attribute '{name}' has {len(values)} elements instead of {count}")
    return values


def extent(kernel: Size, dilation: int) -> Size:
    """Returns the span of a dilated window, from its first to its last element."""
    return (kernel - 1) * dilation + 1


def split_padding(b: Builder, total: Size, at_end: bool) -> tuple[Size, Size]:
    """Splits padding into halves before and after; an odd element goes to the end if `at_end` is set."""
    half = b.floor_divide(total, 2)
    return (half, total - half) if at_end else (total - half, half)


def read_window(b: Builder, node: Node, sizes: Sequence[Size], kernel: Sequence[Size]) -> Window:
    """Returns the window of a convolution or pooling over spatial dims of the given sizes.

    A window that is larger than the padded input of a pooling has 1 + trunc(free / stride) positions, with the negative
    number `free` of elements around it, as for ONNX Runtime and the shape inference of ONNX: one that the input cuts off,
    or none. (The formula of ONNX rounds down, to none.) For dynamic sizes, cut-off windows are errors unless ceil_mode
    is set: all inputs would be copied to pad them. The window of a convolution must fit, unless the input is empty.
    """
    count, mode = len(sizes), node.attribute("auto_pad", "NOTSET")
    strides, dilations = read_integers(node, "strides", count, 1), read_integers(node, "dilations", count, 1)
    pads = read_integers(node, "pads", 2 * count, 0)
    if min([1, *strides, *dilations]) < 1:
        node.refuse("strides and dilations must be positive")
    if mode not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        node.refuse(f"auto_pad '{mode}' is not defined")
    window, is_pooling = Window(list(kernel), strides, dilations, [], [], [], []), node.op.endswith("Pool")
    for dim, size in enumerate(sizes):
        step, reach = strides[dim], extent(kernel[dim], dilations[dim])
        low: Size = pads[dim] if mode == "NOTSET" else 0
        high: Size = pads[count + dim] if mode == "NOTSET" else 0
        beyond: Size = 0
        if mode.startswith("SAME"):
            output = b.ceil_divide(size, step)
            total = b.maximum((output - 1) * step + reach - size, 0)
            low, high = split_padding(b, total, mode == "SAME_UPPER")
        else:
            free = low + size + high - reach
            # A negative quotient rounded up is the truncated one.
            rounds_up = bool(node.attribute("ceil_mode", 0)) or is_pooling and is_static(free) and free < 0
            if not is_static(free):
                _check_window(b, free, size, step, rounds_up, is_pooling, f"{TOO_LARGE} along dim {dim + 2}")
            output = _count_places(b, free, low + size, step, rounds_up)
            if not is_static(output):
                b.set_checked(output)
            elif output < (0 if is_pooling else 1) and size != 0:
                node.refuse(f"its window reaches over {reach} elements along dim {dim + 2}, but its padded input has "
                            f"{low + size + high}")
            else:
                output = max(output, 0)
            if rounds_up:
                beyond = b.maximum((output - 1) * step - free, 0)
        window.beyond.append(beyond)
        window.low.append(low)
        window.high.append(high)
        window.output.append(output)
    return window


def _check_window(b: Builder, free: Size, size: Size, step: int, rounds_up: bool, is_pooling: bool,
                  message: str) -> None:
    """Writes an assertion that a window fits into a padded input, which has `free` elements around one position. A
    pooling may have no position, and the input of a convolution may be empty; then there is none, too."""
    least = 0 if not is_pooling else 1 - 2 * step if rounds_up else -1 if step == 1 else 0
    fits = b.emit(f"arith.cmpi sge, {b.size(free)}, {b.scalar_constant(least, None)} : index")
    margin = free - size
    value, without = (free, -step) if is_pooling else (size, 0)
    if least == 0 and (is_pooling or is_static(margin) and margin >= -step):
        has_none = b.emit(f"arith.cmpi eq, {b.size(value)}, {b.scalar_constant(without, None)} : index")
        fits = b.emit(f"arith.ori {fits}, {has_none} : i1")
    b.check(fits, message)


def _count_places(b: Builder, free: Size, end: Size, step: int, round_up: bool) -> Size:
    """Returns the number of window positions, with `free` elements around one position. When rounding up, a last
    position that starts after `end`, in the padding, is excluded."""
    if not round_up:
        return b.floor_divide(free, step) + 1
    places = b.ceil_divide(free, step) + 1
    return b.choose("sge", (places - 1) * step, end, places - 1, places)


def pad_for(b: Builder, x: Tensor, window: Window, value: float | bool | Scalar) -> Tensor:
    """Pads the spatial dims of a tensor by the elements that the window reads before and after them."""
    lead: list[Size] = [0] * (x.rank - window.rank)
    high = [a + c for a, c in zip(window.high, window.beyond)]
    return pad_or_crop(b, x, lead + window.low, lead + high, value)


def pad_or_crop(b: Builder, x: Tensor, low: Sequence[Size], high: Sequence[Size],
                value: float | bool | Scalar) -> Tensor:
    """Pads each dim; removes elements for negative amounts."""
    def cut(amount: Size) -> Size:
        return max(-amount, 0) if is_static(amount) else 0

    def added(amount: Size) -> Size:
        return max(amount, 0) if is_static(amount) else amount

    if any(cut(amount) for amount in [*low, *high]):
        x = b.slice(x, [cut(amount) for amount in low],
                    [size - cut(before) - cut(after) for size, before, after in zip(x.shape, low, high)])
    return b.pad(x, [added(amount) for amount in low], [added(amount) for amount in high], value)


def numbers(values: Sequence[int]) -> str:
    """Returns an attribute of a named linalg op as text, for example of strides."""
    return f"dense<{list(values)}> : vector<{len(values)}xi64>"


def window_attributes(window: Window) -> str:
    return f"{{dilations = {numbers(window.dilations)}, strides = {numbers(window.strides)}}}"


def window_map(window: Window, lead: Sequence[str], first: int, inner: int) -> str:
    """Returns the indexing map of a tensor under a window: `lead`, then for each spatial dim its position d`first`, ..
    and window element d`inner`, .."""
    def term(dim: int, factor: int) -> str:
        return f"d{dim} * {factor}" if factor != 1 else f"d{dim}"

    return ", ".join([*lead, *(f"{term(first + dim, window.strides[dim])} + {term(inner + dim, window.dilations[dim])}"
                               for dim in range(window.rank))])


def map_dims(b: Builder, body: Body, x: Tensor, *others: tuple[Tensor, Sequence[int]],
             element: Element | None = None) -> Tensor:
    """Applies `body(s, *elements)` to x and to tensors whose dims are the given dims of x. Constants with one element
    become scalars in the body."""
    scalars = {number: value for number, (tensor, _) in enumerate(others)
               if (value := tensor.constant_scalar()) is not None}

    def inner(s: Scalars, first: Scalar, *elements: Scalar) -> Scalar | tuple[Scalar, ...]:
        rest = iter(elements)
        return body(s, first, *[s.constant(scalars[number], tensor.element) if number in scalars else next(rest)
                                for number, (tensor, _) in enumerate(others)])

    everything = ", ".join(f"d{dim}" for dim in range(x.rank))
    inputs = [(x, everything), *((tensor, ", ".join(f"d{dim}" for dim in dims))
                                 for number, (tensor, dims) in enumerate(others) if number not in scalars)]
    result, = b.generic(inner, inputs, [(b.empty(x.shape, element or x.element), everything)], ["parallel"] * x.rank)
    return result


def sum_element(element: Element) -> Element:
    """Returns the element type of sums: f32 for narrower floats."""
    return F32 if element.is_float and element.bits < 32 else element
