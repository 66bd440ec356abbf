# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of the tensor dialect: slices, pads, concatenations, reshapes, casts and single elements."""

import numpy as np

from values import Size, require, tensor


def mixed_list(b, numbers, hidden):
    """Returns offsets or sizes; hidden ones are dynamic indices."""
    names = []
    for number, is_hidden in zip(numbers, hidden):
        size = number if isinstance(number, Size) else Size(int(number))
        names.append(size.name or (b.scalar(size.extent, "index") if is_hidden else str(size.extent)))
    return "[" + ", ".join(names) + "]"


def part(b, shape, offsets, sizes, strides, hidden):
    """Returns a slice of a shape as text, its position, and which of its sizes are dynamic."""
    require(len(offsets) == len(sizes) == len(strides) == len(shape) == len(hidden))
    for extent, first, size, step in zip(shape, offsets, sizes, strides):
        # Upstream's verifier requires an offset in bounds, even for an empty slice.
        require(0 <= first < extent and size >= 0 and (size == 0 or first + (size - 1) * step < extent))
    where = tuple(slice(o, o + max((n - 1) * s + 1, 0), s) for o, n, s in zip(offsets, sizes, strides))
    text = (mixed_list(b, offsets, hidden) + " " + mixed_list(b, sizes, hidden) + " " +
            str(list(strides)))
    return text, where


def require_all_ones(sizes, drop, hidden):
    """Requires that a slice drops all unit dims or none, and that none of them is dynamic: otherwise upstream drops a
    different dim."""
    require(not drop or not any(hidden) and drop == [d for d, n in enumerate(sizes) if n == 1])


def extract_slice(b, x, *, offsets, sizes, strides, hidden, drop):
    text, where = part(b, x.shape, offsets, sizes, strides, hidden)
    data, dynamic = x.data[where], list(hidden)
    require_all_ones(sizes, drop, hidden)
    kept = [d for d in range(x.rank) if d not in drop]
    data, dynamic = data.reshape([data.shape[d] for d in kept]), [dynamic[d] for d in kept]
    return b.add(f"tensor.extract_slice {x.name}{text} : {x.type} to "
                 f"{tensor(data.shape, x.element, dynamic)}", x.element, data, dynamic, exact=x.exact)


def insert_slice(b, x, y, *, offsets, strides, hidden, drop):
    """Inserts y into x; `drop` are the dims of x that y lacks."""
    require(y.element == x.element and y.rank + len(drop) == x.rank == len(hidden))
    require(all(d < x.rank for d in drop))
    extents = iter(zip(y.shape, y.dynamic, range(y.rank)))
    sizes = [1 if d in drop else next(extents) for d in range(x.rank)]
    numbers = [1 if size == 1 else size[0] for size in sizes]
    require_all_ones(numbers, drop, [*hidden, *y.dynamic])
    where = part(b, x.shape, offsets, numbers, strides, hidden)[1]
    written = [size if size == 1 else b.size(y, size[2]) for size in sizes]
    data = x.data.copy()
    data[where] = y.data.reshape(numbers)
    # A dynamic size of y is an index, a static one a number.
    text = (mixed_list(b, offsets, hidden) + " " + mixed_list(b, written, [False] * x.rank) + " " +
            str(list(strides)))
    return b.add(f"tensor.insert_slice {y.name} into {x.name}{text} : {y.type} into {x.type}",
                 x.element, data, x.dynamic, exact=x.exact and y.exact)


def pad(b, x, *, low, high, hidden, number):
    require(len(low) == len(high) == len(hidden) == x.rank and x.rank > 0)
    number = x.data.dtype.type(number)
    data = np.pad(x.data, list(zip(low, high)), constant_values=number)
    texts = [mixed_list(b, numbers, hidden) for numbers in (low, high)]
    scalar = b.scalar(number, x.element)
    dynamic = [a or h for a, h in zip(x.dynamic, hidden)]
    type = tensor(data.shape, x.element, dynamic)
    indices = ", ".join(f"%i{d}: index" for d in range(x.rank))
    value = b.add(f"tensor.pad {x.name} low{texts[0]} high{texts[1]} {{", x.element, data, dynamic,
                  exact=x.exact)
    b.write(f"^bb0({indices}):")
    b.write(f"  tensor.yield {scalar} : {x.element}")
    b.write(f"}} : {x.type} to {type}")
    return value


def concat(b, *values, axis):
    x = values[0]
    require(x.rank > axis and len(values) > 1)
    for y in values:
        require(y.element == x.element and y.rank == x.rank and all(
            d == axis or a == c for d, (a, c) in enumerate(zip(x.shape, y.shape))))
    data = np.concatenate([y.data for y in values], axis)
    # The result's extent is static if that of an operand is.
    dynamic = [(any if d == axis else all)(y.dynamic[d] for y in values) for d in range(x.rank)]
    return b.add(f"tensor.concat dim({axis}) {', '.join(y.name for y in values)} : "
                 f"({', '.join(y.type for y in values)}) -> {tensor(data.shape, x.element, dynamic)}",
                 x.element, data, dynamic, exact=all(y.exact for y in values))


def groups_of(sizes):
    groups, next_dim = [], 0
    for count in sizes:
        groups.append(list(range(next_dim, next_dim + count)))
        next_dim += count
    return groups


def collapse(b, x, *, counts):
    """Collapses groups of adjacent dims; does not apply to a tensor of unit dims only."""
    require(sum(counts) == x.rank and all(counts))
    if not counts or x.rank == 0:
        require(False)
    groups = groups_of(counts)
    shape = [int(np.prod([x.shape[d] for d in group])) for group in groups]
    dynamic = [any(x.dynamic[d] for d in group) for group in groups]
    return b.add(f"tensor.collapse_shape {x.name} {groups} : {x.type} into "
                 f"{tensor(shape, x.element, dynamic)}", x.element, x.data.reshape(shape), dynamic,
                 exact=x.exact)


def collapse_all(b, x):
    """Collapses a tensor of one element to rank 0."""
    require(x.rank and x.data.size == 1 and not any(x.dynamic))
    return b.add(f"tensor.collapse_shape {x.name} [] : {x.type} into {tensor([], x.element)}",
                 x.element, x.data.reshape([]), exact=x.exact)


def expand(b, x, *, factors, dynamic_at):
    """Splits each dim into the given factors; a dynamic dim has one dynamic factor."""
    require(len(factors) == x.rank == len(dynamic_at) and x.rank)
    shape, dynamic, sizes = [], [], []
    for d, (own, at) in enumerate(zip(factors, dynamic_at)):
        require(int(np.prod(own)) == x.shape[d] and len(own) >= 1)
        require(not x.dynamic[d] or all(own))
        for k, factor in enumerate(own):
            shape.append(factor)
            is_dynamic = x.dynamic[d] and k == at % len(own)
            dynamic.append(is_dynamic)
            size = Size(factor)
            if is_dynamic:
                others = int(np.prod([f for j, f in enumerate(own) if j != k]))
                size = b.combine(b.size(x, d), "divsi", others) if others > 1 else b.size(x, d)
            sizes.append(size)
    require(len(shape) <= 6)
    groups = groups_of([len(own) for own in factors])
    return b.add(f"tensor.expand_shape {x.name} {groups} output_shape "
                 f"{mixed_list(b, sizes, [False] * len(sizes))} : {x.type} into "
                 f"{tensor(shape, x.element, dynamic)}", x.element, x.data.reshape(shape), dynamic,
                 exact=x.exact)


def cast(b, x, *, dynamic):
    """Casts to a type with other static extents."""
    require(len(dynamic) == x.rank and tuple(dynamic) != x.dynamic)
    return b.add(f"tensor.cast {x.name} : {x.type} to {tensor(x.shape, x.element, dynamic)}",
                 x.element, x.data, dynamic, exact=x.exact)


def splat(b, x, *, at, extents):
    """Splats one element of x."""
    require(x.data.size and len(at) == x.rank and all(i < n for i, n in zip(at, x.shape)))
    names = ", ".join(b.scalar(i, "index") for i in at)
    number = b.name()
    b.write(f"{number} = tensor.extract {x.name}[{names}] : {x.type}")
    return b.add(f"tensor.splat {number} : {tensor(extents, x.element)}", x.element,
                 np.full(extents, x.data[tuple(at)]), exact=x.exact)


def insert(b, x, *, at, number):
    """Replaces one element of x by a number."""
    require(x.data.size and len(at) == x.rank and all(i < n for i, n in zip(at, x.shape)))
    number = x.data.dtype.type(number)
    scalar = b.scalar(number, x.element)
    names = ", ".join(b.scalar(i, "index") for i in at)
    data = x.data.copy()
    data[tuple(at)] = number
    return b.add(f"tensor.insert {scalar} into {x.name}[{names}] : {x.type}", x.element, data, x.dynamic,
                 exact=x.exact)


def generate(b, x):
    """Adds a tensor.generate that copies x element by element."""
    require(x.rank)
    names = ", ".join(size.name for size in b.sizes(x) if size.name)
    value = b.add(f"tensor.generate {names} {{", x.element, x.data, x.dynamic, exact=x.exact)
    indices = [f"%i{d}" for d in range(x.rank)]
    b.write(f"^bb0({', '.join(i + ': index' for i in indices)}):")
    b.write(f"  %e = tensor.extract {x.name}[{', '.join(indices)}] : {x.type}")
    b.write(f"  tensor.yield %e : {x.element}")
    b.write(f"}} : {x.type}")
    return value


def from_elements(b, x, *, numbers):
    """Adds a tensor.from_elements of the element type of x, with constant and computed elements."""
    require(x.data.size and numbers)
    zero = b.scalar(0, "index")
    first = b.name()
    b.write(f"{first} = tensor.extract {x.name}[{', '.join([zero] * x.rank)}] : {x.type}")
    numbers = [x.data.dtype.type(n) for n in numbers]
    names = [first] + [b.scalar(n, x.element) for n in numbers]
    data = np.array([x.data.flat[0], *numbers], x.data.dtype)
    return b.add(f"tensor.from_elements {', '.join(names)} : {tensor(data.shape, x.element)}", x.element,
                 data, exact=x.exact)


def reshape(b, x, *, extents, hidden):
    """Adds a tensor.reshape to sizes stored in a tensor."""
    require(int(np.prod(extents)) == x.data.size and len(extents) == len(hidden))
    require(len(extents) > 0)
    names = [b.scalar(n, "index") for n in extents]
    shape = b.name()
    b.write(f"{shape} = tensor.from_elements {', '.join(names)} : tensor<{len(extents)}xindex>")
    return b.add(f"tensor.reshape {x.name}({shape}) : ({x.type}, tensor<{len(extents)}xindex>) -> "
                 f"{tensor(extents, x.element, hidden)}", x.element, x.data.reshape(extents), hidden,
                 exact=x.exact)


def tensor_gather(b, x, i, *, dims):
    """Adds a tensor.gather of slices with size one along dims."""
    require(i.rank >= 1 and i.shape[-1] == len(dims) and not i.dynamic[-1] and i.element in ("index", "i32"))
    require(all(d < x.rank for d in dims) and list(dims) == sorted(set(dims)) and i.exact)
    index = i.data.reshape(-1, len(dims))
    require(all(index.size == 0 or 0 <= index[:, k].min() and index[:, k].max() < x.shape[d]
                for k, d in enumerate(dims)))
    require(not any(x.dynamic) and not any(i.dynamic))
    kept = [d for d in range(x.rank) if d not in dims]
    moved = x.data.transpose([*dims, *kept])
    data = moved[tuple(index[:, k] for k in range(len(dims)))]
    shape = [*i.shape[:-1], *[1 if d in dims else x.shape[d] for d in range(x.rank)]]
    require(len(shape) <= 6)
    return b.add(f"tensor.gather {x.name}[{i.name}] gather_dims({list(dims)}) : ({x.type}, {i.type}) -> "
                 f"{tensor(shape, x.element)}", x.element, data.reshape(shape), exact=x.exact)
