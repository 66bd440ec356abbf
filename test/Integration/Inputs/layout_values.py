# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts of linear memory as Python objects with their text and element positions, by the definition of maps.

The objects follow docs/spec.md and use no project code.

    layout = MapLayout(2, Group([Div(Dim(1), 4), Dim(0), Mod(Dim(1), 4)]))
    layout.text              # '#layout.map<(d0, d1) -> buffer((d1) floordiv 4, d0, (d1) mod 4)>'
    layout.positions(shape)  # an array [replica, *index] of positions in storage
    layout.extent(shape)     # the number of positions; None if the notation does not define it
    layout.simpler()         # simpler layouts

`is_valid` returns true if all positions are distinct and in bounds, which the verifier must determine.
"""

import math

import numpy as np

# Values. Each has a text, `at(index, sizes)` on arrays of indices, and `extent(sizes)`, the number of positions that it
# reserves. `replace` returns the values with one part simplified.


class Value:
    parts = ()

    def with_parts(self, parts):
        raise NotImplementedError

    def simpler(self):
        yield from self.parts
        for number, part in enumerate(self.parts):
            for other in part.simpler():
                yield self.with_parts([*self.parts[:number], other, *self.parts[number + 1:]])


class Dim(Value):
    def __init__(self, d):
        self.d, self.text = d, f"d{d}"

    def at(self, index, _):
        return index[self.d]

    def extent(self, sizes):
        return sizes[self.d]


class Replica(Value):
    """The r-th replica dim; its index follows those of the logical dims."""

    def __init__(self, number, count):
        self.number, self.count, self.text = number, count, f"r{number}"

    def at(self, index, sizes):
        return index[len(sizes) + self.number]

    def extent(self, _):
        return self.count


class Constant(Value):
    def __init__(self, number):
        self.number, self.text = number, str(number)

    def at(self, *_):
        return np.int64(self.number)

    def extent(self, _):
        return self.number + 1


class Div(Value):
    def __init__(self, x, k):
        self.parts, self.k = (x,), k
        self.text = f"({x.text}) floordiv {k}"

    def with_parts(self, parts):
        return Div(parts[0], self.k)

    def at(self, index, sizes):
        return self.parts[0].at(index, sizes) // self.k

    def extent(self, sizes):
        return -(-self.parts[0].extent(sizes) // self.k)


class Mod(Value):
    def __init__(self, x, k):
        self.parts, self.k = (x,), k
        self.text = f"({x.text}) mod {k}"

    def with_parts(self, parts):
        return Mod(parts[0], self.k)

    def at(self, index, sizes):
        return self.parts[0].at(index, sizes) % self.k

    def extent(self, _):
        return self.k


class Pad(Value):
    def __init__(self, x, low, high):
        self.parts, self.low, self.high = (x,), low, high
        self.text = f"pad({x.text}, {low}, {high})"

    def with_parts(self, parts):
        return Pad(parts[0], self.low, self.high)

    def at(self, index, sizes):
        return self.parts[0].at(index, sizes) + self.low

    def extent(self, sizes):
        return self.parts[0].extent(sizes) + self.low + self.high


class Group(Value):
    """A row-major group, slowest value first."""

    def __init__(self, parts, align=1):
        self.parts, self.align = tuple(parts), align
        self.inside = ", ".join(part.text for part in parts)
        self.text = f"[{self.inside}]" + (f" align {align}" if align != 1 else "")

    def with_parts(self, parts):
        return Group(parts, self.align)

    def at(self, index, sizes):
        result = np.int64(0)
        for part in self.parts:
            result = result * part.extent(sizes) + part.at(index, sizes)
        return result

    def extent(self, sizes):
        count = math.prod(part.extent(sizes) for part in self.parts)
        return -(-count // self.align) * self.align

    def simpler(self):
        yield from super().simpler()
        if self.align != 1:
            yield Group(self.parts)
        for number in range(len(self.parts) if len(self.parts) > 1 else 0):
            yield Group([*self.parts[:number], *self.parts[number + 1:]], self.align)


class Xor(Value):
    def __init__(self, parts, count):
        self.parts, self.count = tuple(parts), count
        self.text = f"xor({', '.join(part.text for part in parts)} : {count})"

    def with_parts(self, parts):
        return Xor(parts, self.count)

    def at(self, index, sizes):
        result = np.int64(0)
        for part in self.parts:
            result = result ^ (part.at(index, sizes) & (self.count - 1))
        return result

    def extent(self, _):
        return self.count


class Size:
    """number * size(d) .. * ceil(size(d), k) ..: a stride or a constant."""

    def __init__(self, number, dims=(), ceils=()):
        self.number, self.dims, self.ceils = number, tuple(dims), tuple(ceils)
        factors = [f"size(d{d})" for d in dims] + [f"ceil(size(d{d}), {k})" for d, k in ceils]
        if number != 1 or not factors:
            factors.insert(0, str(number))
        self.text = " * ".join(factors)

    def of(self, sizes):
        return (self.number * math.prod(sizes[d] for d in self.dims) *
                math.prod(-(-sizes[d] // k) for d, k in self.ceils))


class Sum(Value):
    """A sum of values times strides, and constants."""

    def __init__(self, parts, strides, constants=()):
        self.parts, self.strides, self.constants = tuple(parts), tuple(strides), tuple(constants)
        terms = [f"({part.text})" + (f" * {stride.text}" if stride.text != "1" else "")
                 for part, stride in zip(parts, strides, strict=True)]
        self.text = "(" + " + ".join(terms + [c.text for c in constants]) + ")"

    def with_parts(self, parts):
        return Sum(parts, self.strides, self.constants)

    def at(self, index, sizes):
        result = np.int64(sum(c.of(sizes) for c in self.constants))
        for part, stride in zip(self.parts, self.strides):
            result = result + part.at(index, sizes) * stride.of(sizes)
        return result

    def extent(self, sizes):
        reach = [(part.extent(sizes) - 1) * stride.of(sizes)
                 for part, stride in zip(self.parts, self.strides) if stride.number > 0]
        return sum(reach) + sum(c.of(sizes) for c in self.constants) + 1

    def simpler(self):
        yield from super().simpler()
        if len(self.parts) > 1:
            for number in range(len(self.parts)):
                yield Sum([*self.parts[:number], *self.parts[number + 1:]],
                          [*self.strides[:number], *self.strides[number + 1:]], self.constants)


# Layouts.


class Layout:
    """A value that is the position, with the text of a family."""

    def __init__(self, text, value, replicas=(), is_extent_known=True):
        self.text, self.value, self.replicas = text, value, tuple(replicas)
        self.is_extent_known = is_extent_known

    def positions(self, shape):
        box = [*shape, *self.replicas]
        index = np.ogrid[tuple(slice(size) for size in box)] if box else []
        at = np.broadcast_to(np.asarray(self.value.at(index, shape), np.int64), box)
        count = math.prod(self.replicas)
        return np.moveaxis(at.reshape([*shape, count]), -1, 0)

    def extent(self, shape):
        return max(self.value.extent(shape), 0) if self.is_extent_known else None

    def is_valid(self, shape):
        at = self.positions(shape).ravel()
        extent = self.extent(shape)
        inside = at.size == 0 or (at.min() >= 0 and (extent is None or at.max() < extent))
        return bool(inside) and np.unique(at).size == at.size

    def simpler(self):
        return iter(())


class MapLayout(Layout):
    """`value` is a group of axes, or a sum that is the offset."""

    def __init__(self, rank, value, replicas=(), stated=None):
        self.rank, self.stated = rank, stated
        dims = ", ".join(f"d{d}" for d in range(rank))
        copies = ", ".join(f"r{r} : {count}" for r, count in enumerate(replicas))
        inside = value.inside if isinstance(value, Group) and value.align == 1 else (
            f"offset = {value.text}" + (f" extent {stated}" if stated is not None else ""))
        super().__init__(f"#layout.map<({dims})" + (f" replicate({copies})" if copies else "") +
                         f" -> buffer({inside})>", value, replicas)

    def extent(self, shape):
        return super().extent(shape) if self.stated is None else self.stated

    def simpler(self):
        if self.replicas:
            text = f"r{len(self.replicas) - 1}"
            values = [v for v in self.value.simpler() if text not in v.text]
            yield from (MapLayout(self.rank, v, self.replicas[:-1], self.stated) for v in values)
        yield from (MapLayout(self.rank, v, self.replicas, self.stated)
                    for v in self.value.simpler())


class TableLayout(Layout):
    """Positions of one shape as a table; the notation defines their number."""

    def __init__(self, text, shape, table):
        super().__init__(text, None, is_extent_known=False)
        self.shape, self.table = tuple(shape), np.asarray(table)

    def positions(self, shape):
        if tuple(shape) != self.shape:
            raise ValueError("another shape")
        return self.table

    def is_valid(self, shape):
        return tuple(shape) == self.shape and super().is_valid(shape)


def row_major(rank):
    return MapLayout(rank, Group([Dim(d) for d in range(rank)]))
