# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random layouts of linear memory over the whole type grammar; layout_values.py defines them.

    layout = random_layout(random.Random(7), (3, 17), dynamic=(False, True))
"""

import math
import string

import numpy as np

from layout_values import (Constant, Dim, Div, Group, Layout, MapLayout, Mod, Pad, Replica, Size, Sum,
                           TableLayout, Xor, row_major)

# Maps.

FACTORS = [2, 2, 3, 4, 4, 5, 8, 16]


def cut(rng, x, factors):
    """Returns the digits of x, most significant first."""
    digits, below = [], x
    for k in factors:
        digits.append(Mod(below, k))
        below = Div(below, k)
    return [below, *digits[::-1]]


def reverse(x, d, dynamic, size):
    constants = [Size(1, [d]), Size(-1)] if dynamic else [Size(size - 1)]
    return Sum([x], [Size(-1)], constants)


def random_sources(rng, shape, dynamic):
    """Returns values that determine the index, each of one or several dims."""
    sources = []
    dims = list(range(len(shape)))
    while dims:
        d = dims.pop(0)
        x = Dim(d)
        if rng.random() < 0.08 and shape[d] > 0:
            x = reverse(x, d, dynamic[d], shape[d])
        elif rng.random() < 0.1:
            x = Pad(x, rng.randrange(4), rng.randrange(4))
        if rng.random() < 0.08:
            x = Group([x], rng.choice(FACTORS))
        if sources and rng.random() < 0.2:
            other = sources.pop()
            x = Group([other, x] if rng.random() < 0.7 else [x, other], rng.choice([1, 1, 1, 4]))
            if rng.random() < 0.1:
                x = Pad(x, rng.randrange(3), rng.randrange(3))
        sources.append(x)
    return sources


def random_digits(rng, shape, dynamic):
    digits = []
    for x in random_sources(rng, shape, dynamic):
        factors = [rng.choice(FACTORS) for _ in range(rng.choice([0, 0, 1, 1, 2, 3]))]
        digits += cut(rng, x, factors) if factors else [x]
    return digits


def drop_constant(rng, digits, shape, dynamic):
    """Drops some digits that are zero on this shape."""
    if any(dynamic) or rng.random() < 0.5:
        return digits
    index = np.ogrid[tuple(slice(size) for size in shape)] if shape else []
    kept = [x for x in digits
            if rng.random() < 0.3 or np.any(np.asarray(x.at(index, shape)) != 0)]
    return kept or digits[:1]


def swizzle(rng, digits):
    """Replaces one digit of 2^n values by the xor of itself and others."""
    where = [n for n, x in enumerate(digits) if isinstance(x, Mod) and x.k in (2, 4, 8, 16)]
    if not where:
        return digits
    n = rng.choice(where)
    others = [x for m, x in enumerate(digits) if m != n]
    extra = rng.sample(others, min(len(others), rng.choice([1, 1, 2])))
    if not extra or rng.random() < 0.1:
        extra.append(Constant(rng.randrange(digits[n].k)))
    return [*digits[:n], Xor([digits[n], *extra], digits[n].k), *digits[n + 1:]]


def nest(rng, values):
    """Groups some adjacent values, and aligns some groups."""
    while len(values) > 1 and rng.random() < 0.3:
        low = rng.randrange(len(values) - 1)
        high = rng.randrange(low + 1, len(values)) + 1
        group = Group(values[low:high], rng.choice([1, 2, 3, 4, 8, 32]))
        values = [*values[:low], group, *values[high:]]
    return values


def with_strides(rng, values, shape, dynamic):
    """Returns explicit strides with holes; strides may be products of dynamic sizes."""
    strides, stride = [], Size(rng.choice([1, 1, 2, 3]))
    for x in reversed(values):
        strides.append(stride)
        if isinstance(x, Dim) and dynamic[x.d]:
            stride = Size(stride.number, [*stride.dims, x.d], stride.ceils)
        elif isinstance(x, Div) and isinstance(x.parts[0], Dim) and dynamic[x.parts[0].d]:
            stride = Size(stride.number, stride.dims, [*stride.ceils, (x.parts[0].d, x.k)])
        else:
            number = stride.number * max(x.extent(shape), 1) + rng.choice([0, 0, 1, 2])
            stride = Size(number, stride.dims, stride.ceils)
    values = list(reversed(values))
    if len(values) > 1 and rng.random() < 0.3:
        order = list(range(len(values)))
        rng.shuffle(order)
        values, strides = [values[i] for i in order], [strides[i] for i in order]
    constants = [Size(rng.randrange(1, 6))] if rng.random() < 0.2 else []
    if not any(dynamic) and values and rng.random() < 0.2:
        n = rng.randrange(len(values))
        reach = (values[n].extent(shape) - 1) * strides[n].number
        if reach >= 0:
            strides[n] = Size(-strides[n].number)
            constants.append(Size(reach))
    return Sum(values, strides, constants)


def random_value(rng, rank, depth):
    """Returns any value of the grammar; few of these are valid layouts."""
    if depth == 0 or rng.random() < 0.25:
        return Dim(rng.randrange(rank)) if rng.random() < 0.95 else Constant(rng.randrange(3))
    def inner():
        return random_value(rng, rank, depth - 1)
    kind = rng.randrange(7)
    if kind == 0:
        return Div(inner(), rng.choice(FACTORS))
    if kind in (1, 2):
        return Mod(inner(), rng.choice([1, *FACTORS]))
    if kind == 3:
        return Pad(inner(), rng.randrange(3), rng.randrange(3))
    if kind == 4:
        return Group([inner() for _ in range(rng.choice([1, 2, 2, 3]))], rng.choice([1, 1, 4]))
    if kind == 5:
        return Xor([inner() for _ in range(rng.choice([1, 2, 2]))], rng.choice([2, 4, 8]))
    return Sum([inner(), inner()], [Size(rng.choice([1, 2, 3])), Size(rng.choice([1, 1, 4]))])


def free_map(rng, shape, dynamic):
    rank = len(shape)
    if rank == 0:
        return MapLayout(0, Group([Constant(rng.randrange(3))] * rng.randrange(2)))
    values = [random_value(rng, rank, rng.choice([1, 2, 3])) for _ in range(rng.randrange(3))]
    for d in range(rank):
        if rng.random() < 0.85:
            values.append(Dim(d))
    rng.shuffle(values)
    return MapLayout(rank, Group(nest(rng, values)))


def digit_map(rng, shape, dynamic):
    values = drop_constant(rng, random_digits(rng, shape, dynamic), shape, dynamic)
    while rng.random() < 0.3:
        values = swizzle(rng, values)
    replicas = [rng.choice([2, 2, 3, 4]) for _ in range(rng.choice([1, 1, 2]))] \
        if rng.random() < 0.12 else []
    values += [Replica(r, count) for r, count in enumerate(replicas)]
    if rng.random() < 0.75:
        rng.shuffle(values)
    if values and rng.random() < 0.25:
        value = with_strides(rng, values, shape, dynamic)
        stated = None
        if not any(dynamic) and rng.random() < 0.3:
            stated = max(value.extent(shape), 0) + rng.randrange(4)
        return MapLayout(len(shape), value, replicas, stated)
    return MapLayout(len(shape), Group(nest(rng, values)), replicas)


# Families and notations.


def blocked(rng, shape, dynamic):
    """Returns a blocked layout with named axes; a dim of static size may be a part of another one."""
    rank = len(shape)
    if rank == 0:
        return None
    letters = rng.sample(string.ascii_uppercase, rank)
    source, value_of = [], {}
    for d, letter in enumerate(letters):
        if source and not dynamic[d] and shape[d] > 1 and rng.random() < 0.1:
            major = source[-1][-1].upper()
            source.append(f"{shape[d]}{major.lower()}")
            value_of[major] = Group([value_of[major], Dim(d)])
        else:
            source.append(letter)
            value_of[letter] = Dim(d)
    tokens = []  # text and value
    for letter, x in value_of.items():
        factors = [rng.choice(FACTORS) for _ in range(rng.choice([0, 0, 1, 1, 2]))]
        outer, *digits = cut(rng, x, factors[::-1])
        tokens.append((letter, [(letter, outer)] + [
            (f"{k}{letter.lower()}", digit) for k, digit in zip(factors, digits, strict=True)]))
    queues, order = [queue for _, queue in tokens], []
    # The parts of a letter keep their order; the primal axis may follow them.
    primal = [queue.pop(0) for queue in queues]
    while any(queues):
        order.append(rng.choice([queue for queue in queues if queue]).pop(0))
    for token in primal:
        order.insert(rng.randrange(len(order) + 1), token)
    if rng.random() < 0.5:
        order.sort(key=lambda token: token[0][0].isdigit())
    text, values, n = "", [], 0
    while n < len(order):
        m = n
        while m < len(order) and order[m][0][0].isdigit():
            m += 1
        if m - n > 1 and rng.random() < 0.4:
            text += "[" + "".join(t for t, _ in order[n:m]) + "]"
            values.append(Group([x for _, x in order[n:m]]))
            n = m
        else:
            text += order[n][0]
            values.append(order[n][1])
            n += 1
    return Layout(f'#layout.blocked<"{"".join(source)}" to "{text}">', Group(values))


def relations(rng, shape, dynamic):
    names = [f"a{d}" for d in range(len(shape))]
    axes = {name: Dim(d) for d, name in enumerate(names)}
    dims = [name if dynamic[d] or rng.random() < 0.8 or shape[d] == 0 else f"{name} : {shape[d]}"
            for d, name in enumerate(names)]
    said, number = [], 0
    for _ in range(rng.randrange(5) if axes else 0):
        if rng.random() < 0.6 or len(axes) < 2:
            name = rng.choice(list(axes))
            factors = [rng.choice(FACTORS) for _ in range(rng.choice([1, 1, 2]))]
            parts = [f"p{number + i}" for i in range(len(factors) + 1)]
            digits = cut(rng, axes.pop(name), factors[::-1])
            axes.update(zip(parts, digits, strict=True))
            said.append(f"split {name} -> ({parts[0]}" + "".join(
                f", {part} : {k}" for part, k in zip(parts[1:], factors, strict=True)) + ")")
        else:
            some = rng.sample(list(axes), rng.choice([2, 2, min(3, len(axes))]))
            parts = [f"p{number}"]
            axes[parts[0]] = Group([axes.pop(name) for name in some])
            said.append(f"fuse ({', '.join(some)}) -> {parts[0]}")
        number += len(parts)
    order = list(axes)
    rng.shuffle(order)
    said.append(f"store ({', '.join(order)})")
    return Layout(f"#layout.relations<({', '.join(dims)}), {', '.join(said)}>",
                  Group([axes[name] for name in order]))


def packed_dims(rng, shape, dynamic):
    if any(dynamic) or 0 in shape:
        return None
    left, weight, stride = list(shape), [1] * len(shape), 1
    said, values, strides = [], [], []

    def add(text, value, count, d):
        nonlocal stride
        said.append(text)
        values.append(value)
        strides.append(Size(stride))
        stride *= count
        weight[d] *= count
        left[d] //= count

    for _ in range(rng.randrange(4) if shape else 0):
        d = rng.randrange(len(shape))
        rest = Div(Dim(d), weight[d])
        fits = [k for k in range(2, left[d] + 1) if left[d] % k == 0]
        if not fits:
            continue
        k = rng.choice(fits)
        if k % 2 == 0 and rng.random() < 0.5:
            x = Mod(rest, k)
            add(f"{d} : oddeven {k}",
                Sum([Div(x, 2), Mod(x, 2)], [Size(1), Size(k // 2)]), k, d)
        else:
            add(f"{d} : {k}", Mod(rest, k), k, d)
    order = list(range(len(shape)))
    rng.shuffle(order)
    for d in order:
        if left[d] > 1 or shape[d] == 1 and rng.random() < 0.7 or not said:
            add(str(d), Div(Dim(d), weight[d]), left[d], d)
    if not values:
        return None
    return Layout(f"#layout.packed_dims<[{', '.join(said[::-1])}]>", Sum(values, strides))


def xla(rng, shape, dynamic):
    """Returns an XLA layout: tiles apply to the last physical dims, later ones to the result of earlier ones."""
    order = list(range(len(shape)))
    rng.shuffle(order)
    dims, tiles = [Dim(d) for d in order], ""
    for _ in range(rng.choice([0, 1, 1, 2, 3]) if dims else 0):
        count = rng.randrange(1, min(len(dims), 4) + 1)
        tile = [rng.choice([1, *FACTORS]) for _ in range(count)]
        outer, said = dims[:-count], []
        inner = dims[-count:]
        n, counted = 0, []
        while n < count:
            x, text = inner[n], [str(tile[n])]
            while n + 1 < count and rng.random() < 0.15:
                text.insert(0, "*")
                n += 1
                x = Group([x, inner[n]])
                text[-1] = str(tile[n])
            counted.append((x, tile[n]))
            said += text
            n += 1
        dims = (outer + [Div(x, k) for x, k in counted] + [Mod(x, k) for x, k in counted])
        tiles += f"({','.join(said)})"
    minor_to_major = ",".join(str(d) for d in reversed(order))
    return Layout(f'#layout.import<xla, "{{{minor_to_major}{":T" + tiles if tiles else ""}}}">',
                  Group(dims))


def onednn(rng, shape, dynamic):
    rank = len(shape)
    if not 1 <= rank <= 6:
        return None
    blocks = [[] for _ in range(rank)]
    said = []
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        d = rng.randrange(rank)
        k = rng.choice([2, 4, 8, 16])
        said.append((d, k, len(blocks[d])))
        blocks[d].append(k)
    digits = [cut(None, Dim(d), blocks[d][::-1]) for d in range(rank)]
    order = list(range(rank))
    rng.shuffle(order)
    text = "".join(chr(ord("A" if blocks[d] else "a") + d) for d in order)
    text += "".join(f"{k}{chr(ord('a') + d)}" for d, k, _ in said)
    values = [digits[d][0] for d in order] + [digits[d][1 + n] for d, _, n in said]
    return Layout(f'#layout.import<onednn, "{text}">', Group(values))


def cute(rng, shape, dynamic):
    """Returns a CuTe layout: modes of nested shapes, the leftmost fastest; a swizzle xors bits of the offset."""
    if any(dynamic) or 0 in shape or not shape:
        return None
    modes = []  # of each dim: [size, stride]
    for size in shape:
        parts = []
        while rng.random() < 0.4:
            fits = [k for k in range(2, size + 1) if size % k == 0]
            if not fits:
                break
            parts.append(rng.choice(fits))
            size //= parts[-1]
        modes.append([[k, 0] for k in [*parts, size]])
    order = [mode for parts in modes for mode in parts]
    rng.shuffle(order)
    stride = 1
    for mode in order:
        mode[1] = stride
        stride *= mode[0]
        if rng.random() < 0.1:
            stride += rng.randrange(3)

    def show(which):
        texts = [str(parts[0][which]) if len(parts) == 1 else
                 f"({','.join(str(mode[which]) for mode in parts)})" for parts in modes]
        return f"({','.join(texts)})"

    table = np.zeros(shape, np.int64)
    for d, parts in enumerate(modes):
        rest = np.arange(shape[d])
        offset = np.zeros_like(rest)
        for size, step in parts:
            offset += rest % size * step
            rest //= size
        table = table + offset.reshape([-1 if e == d else 1 for e in range(len(shape))])
    text = f"{show(0)}:{show(1)}"
    if rng.random() < 0.5:
        bits, base, shift = rng.randrange(1, 4), rng.randrange(3), rng.randrange(1, 5)
        shift = max(shift, bits)
        if table.max() < 1 << (base + shift + bits + 2):
            start = rng.choice([0, 0, 0, 3])
            table = table + start
            table = table ^ ((table >> (base + shift)) & ((1 << bits) - 1)) << base
            text = (f"Sw<{bits},{base},{shift}> o {start} o {text}" if start or rng.random() < 0.5
                    else f"S<{bits},{base},{shift}> o {text}")
    return TableLayout(f'#layout.import<cute, "{text}">', shape, table[np.newaxis])


def triton(rng, shape, dynamic):
    """Returns a Triton layout: for each bit of the offset the logical index that it adds by xor."""
    if any(dynamic) or not shape or any(size < 1 or size & (size - 1) for size in shape):
        return None
    bits = [(d, b) for d, size in enumerate(shape) for b in range(size.bit_length() - 1)]
    if len(bits) > 8:
        return None
    n = len(bits)
    columns = [1 << i for i in range(n)]
    rng.shuffle(columns)
    for _ in range(rng.randrange(4) if n > 1 else 0):
        a, b = rng.sample(range(n), 2)
        columns[a] ^= columns[b]
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        columns.insert(rng.randrange(len(columns) + 1), rng.randrange(1 << n))

    def unpack(number):
        index = [0] * len(shape)
        for i, (d, b) in enumerate(bits):
            index[d] |= (number >> i & 1) << b
        return index

    points = {}
    for offset in range(1 << len(columns)):
        number = 0
        for bit, column in enumerate(columns):
            if offset >> bit & 1:
                number ^= column
        points.setdefault(tuple(unpack(number)), []).append(offset)
    table = np.zeros([len(columns) and 1 << (len(columns) - n) or 1, *shape], np.int64)
    for index, offsets in points.items():
        table[(slice(None), *index)] = offsets
    text = ",".join("[" + ",".join(map(str, unpack(c))) + "]" for c in columns)
    return TableLayout(f'#layout.import<triton, "offset=[{text}] : [{",".join(map(str, shape))}]">',
                       shape, table)


# Layouts of all shapes, and those of some shapes only.
FAMILIES = [(blocked, 2), (relations, 3), (xla, 2), (onednn, 1)]
KINDS = [*FAMILIES, (digit_map, 10), (free_map, 3), (packed_dims, 2), (cute, 2), (triton, 2)]


def random_layout(rng, shape, dynamic, valid=True, kinds=KINDS):
    """Returns a layout for tensors of this shape whose text does not depend on the sizes of `dynamic` dims. If not
    `valid`, it only needs to parse."""
    for _ in range(60):
        kind, = rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        layout = kind(rng, tuple(shape), tuple(dynamic))
        if layout and (layout.extent(shape) or 0) <= 20000 and (
                not valid or layout.is_valid(shape)):
            return layout
    return row_major(len(shape))
