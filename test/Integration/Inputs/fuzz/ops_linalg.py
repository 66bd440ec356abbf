# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structured ops without reductions: elementwise, transpositions, gathers, packing."""

import numpy as np

from values import (EXACT, Size, affine, check_infinities, check_range, dims_of, is_complex, is_float,
                    is_integer, largest, require, suffix)

# Ops on two numbers of one type: the name with ? for f or i, the numpy function, the types.
BINARY = {
    "add": ("arith.add?", np.add, lambda e: True),
    "sub": ("arith.sub?", np.subtract, lambda e: True),
    "mul": ("arith.mul?", np.multiply, lambda e: True),
    "max": ("max", np.maximum, lambda e: not is_complex(e)),
    "min": ("min", np.minimum, lambda e: not is_complex(e)),
    "maxnum": ("arith.maxnumf", np.fmax, is_float),
    "minnum": ("arith.minnumf", np.fmin, is_float),
    "and": ("arith.andi", np.bitwise_and, is_integer),
    "or": ("arith.ori", np.bitwise_or, is_integer),
    "xor": ("arith.xori", np.bitwise_xor, is_integer),
    "first": (None, lambda x, y: x, lambda e: True),
}


def line(op, left, right, element, result="%r"):
    """Returns a line of a body: `result` = left op right."""
    text = BINARY[op][0]
    if op in ("max", "min"):
        text = f"arith.{op}imumf" if is_float(element) else f"arith.{op}{'ui' if element == 'i1' else 'si'}"
    text = text.replace("?", suffix(element))
    if is_complex(element):
        text = text.replace("arith.", "complex.").replace("addi", "add").replace("subi", "sub").replace(
            "muli", "mul")
    return f"{result} = {text} {left}, {right} : {element}"


def compute(op, x, y, element):
    """Evaluates in the arithmetic of the element type; i1 is modulo two."""
    if element == "i1" and op in ("add", "sub"):
        op = "xor"
    if element == "i1" and op == "mul":
        op = "and"
    with np.errstate(all="ignore"):
        data = BINARY[op][1](x, y)
    if element == "i4":
        data = ((data.astype(np.int64) + 8) & 15) - 8
    if element in EXACT:
        check_range(data, element)
    if op == "mul":
        check_infinities(x, y)
    return data


def broadcasted(y, exprs, rank):
    """Returns y broadcast to a tensor of that rank; `exprs` are its dims."""
    order = np.argsort(exprs)
    shape = [1] * rank
    for d, size in zip(exprs, y.shape):
        shape[d] = size
    return y.data.transpose(order).reshape(shape) if exprs else y.data


def init_like(b, x, element=None):
    """Returns a tensor with the shape and layout of x; for other element types the padding is unspecified."""
    encoding = x.encoding
    if encoding and element not in (None, x.element) and encoding.startswith("#layout.padded<"):
        encoding = encoding[len("#layout.padded<"):encoding.rindex(",")]
    return b.empty(b.sizes(x), element or x.element, encoding)


def pointwise(b, x, y, *, exprs, op):
    """Adds an op on x and a tensor whose dims are given by `exprs`."""
    require(BINARY[op][2](x.element) and x.element == y.element and y.rank == len(exprs) and op != "first")
    require(all(x.shape[d] == size for d, size in zip(exprs, y.shape)))
    data = compute(op, x.data, broadcasted(y, exprs, x.rank), x.element)
    init = init_like(b, x)
    maps = [affine(x.rank, dims_of(x.rank)), affine(x.rank, [f"d{d}" for d in exprs])]
    return b.elementwise([x, y], init, line(op, "%x0", "%x1", x.element), data, maps)


def on_tensors(b, x, y, *, op):
    """Adds an arith op on tensors."""
    require(BINARY[op][2](x.element) and x.element == y.element and x.shape == y.shape and
            op != "first" and not is_complex(x.element) and x.dynamic == y.dynamic and
            x.encoding == y.encoding)
    # Upstream folds x xor x to a constant, even if no constant has the type.
    require(not (x is y and any(x.dynamic)))
    data = compute(op, x.data, y.data, x.element)
    text = line(op, x.name, y.name, x.element, "").replace("=", "", 1).strip()
    text = f"{text[:text.rindex(':')]}: {x.type}"
    return b.add(text, x.element, data, x.dynamic, x.encoding, x.exact and y.exact)


NAMED = {"add": "add", "sub": "sub", "mul": "mul", "max": "max", "min": "min"}


def named_pointwise(b, x, y, *, op):
    require(x.element == y.element and x.shape == y.shape and x.element not in ("i1", "index") and
            not is_complex(x.element) and op in NAMED)
    data = compute(op, x.data, y.data, x.element)
    return b.named(NAMED[op], [x, y], init_like(b, x), data)


def select(b, x, y, *, kind):
    """Adds a maximum or minimum by a comparison and a select."""
    require(x.element == y.element and x.shape == y.shape and not is_complex(x.element))
    f = is_float(x.element)
    name = {"lt": ("olt", "slt"), "le": ("ole", "sle"), "eq": ("oeq", "eq")}[kind][0 if f else 1]
    if x.element == "i1":
        name = name.replace("s", "u", 1) if name != "eq" else name
    fn = {"lt": np.less, "le": np.less_equal, "eq": np.equal}[kind]
    body = (f"%k = arith.cmp{'f' if f else 'i'} {name}, %x0, %x1 : {x.element}\n"
            f"%r = arith.select %k, %x0, %x1 : {x.element}")
    require(x.exact and y.exact)
    return b.elementwise([x, y], init_like(b, x), body, np.where(fn(x.data, y.data), x.data, y.data))


def compare(b, x, y, *, kind):
    """Adds a comparison with i1 results."""
    require(x.element == y.element and x.shape == y.shape and not is_complex(x.element) and
            x.exact and y.exact)
    f = is_float(x.element)
    name = {"lt": ("olt", "slt"), "ge": ("oge", "sge"), "ne": ("une", "ne")}[kind][0 if f else 1]
    if x.element == "i1" and name != "ne":
        name = "u" + name[1:]
    fn = {"lt": np.less, "ge": np.greater_equal, "ne": np.not_equal}[kind]
    return b.elementwise([x, y], init_like(b, x, "i1"),
                         f"%r = arith.cmp{'f' if f else 'i'} {name}, %x0, %x1 : {x.element}",
                         fn(x.data, y.data))


def unary(b, x, *, op):
    body, data, exact = None, None, x.exact
    e = x.element
    number = x.data
    with np.errstate(all="ignore"):
        if op == "neg":
            require(is_float(e))
            body, data = f"%r = arith.negf %x0 : {e}", -number
        elif op == "abs":
            require(is_float(e) or e in ("i32", "i64", "i16"))
            body, data = f"%r = math.abs{suffix(e)} %x0 : {e}", np.abs(number)
        elif op == "exp":
            require(e == "f32" and largest(number) <= 10 and np.isfinite(number).all())
            body, data, exact = f"%r = math.exp %x0 : {e}", np.exp(number.astype(np.float64)), False
        elif op == "tanh":
            require(e == "f32" and np.isfinite(number).all())
            body, data, exact = f"%r = math.tanh %x0 : {e}", np.tanh(number.astype(np.float64)), False
        elif op == "square":
            body, data = line("mul", "%x0", "%x0", e), compute("mul", number, number, e)
        elif op == "increment":  # zero does not stay zero
            require(not is_complex(e))
            one = "true" if e == "i1" else f"1{'.0' if is_float(e) else ''} : {e}"
            body = f"%i = arith.constant {one}\n" + line("add", "%x0", "%i", e)
            data = compute("add", number, np.ones_like(number), e)
    return b.elementwise([x], init_like(b, x), body, data, exact=exact)


def clamp(b, x, *, element):
    """Adds a clamp to small values, in smaller elements if the numbers are whole."""
    require(not is_complex(x.element) and x.element not in ("i1", "index"))
    require(not np.isnan(x.data.astype(np.float64)).any())
    require(element == x.element or is_integer(x.element) and is_integer(element) and
            element != "index" and np.iinfo(x.data.dtype).bits > 8 and element in ("i8", "i4"))
    low, high = b.scalar(-2, x.element), b.scalar(3, x.element)
    least, most = ("maxsi", "minsi") if is_integer(element) else ("maximumf", "minimumf")
    body = (f"%l = arith.{least} %x0, {low} : {x.element}\n"
            f"{'%r' if element == x.element else '%h'} = arith.{most} %l, {high} : {x.element}")
    if element != x.element:
        body += f"\n%r = arith.trunci %h : {x.element} to {element}"
    return b.elementwise([x], init_like(b, x, element), body, np.clip(x.data, -2, 3))


WIDTH = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16,
         "f32": 32, "f64": 64}


def cast_text(source, target):
    """Returns the op that converts one element type to the other, or None."""
    if "index" in (source, target):
        return "arith.index_cast" if is_integer(source) and is_integer(target) and "i1" not in (
            source, target) and source != target else None
    if is_complex(source) or is_complex(target) or source == target:
        return None
    if is_float(source) and is_float(target):
        # No runtime library has the function that converts f64 to bf16.
        if WIDTH[source] == WIDTH[target] or (source, target) == ("f64", "bf16"):
            return None
        return "arith.extf" if WIDTH[target] > WIDTH[source] else "arith.truncf"
    if is_float(source):
        return "arith.fptosi" if target != "i1" else None
    if is_float(target):
        return "arith.uitofp" if source == "i1" else "arith.sitofp"
    if WIDTH[target] < WIDTH[source]:
        return "arith.trunci"
    return "arith.extui" if source == "i1" else "arith.extsi"


def cast(b, x, *, element):
    """Adds a cast to another element type that represents the same numbers."""
    text = cast_text(x.element, element)
    require(text and np.isfinite(x.data.astype(np.float64)).all())
    require(is_float(element) or x.exact)
    data = np.trunc(x.data.astype(np.float64)) if is_integer(element) else x.data
    if element == "i1":
        require(is_integer(x.element))
        data = x.data & 1
    else:
        check_range(data, element)
    return b.elementwise([x], init_like(b, x, element), f"%r = {text} %x0 : {x.element} to {element}",
                         data)


def mixed(b, x, y, *, element):
    """Adds x * y + x in wider elements."""
    require(x.shape == y.shape and x.exact and y.exact)
    texts = []
    for value, name in ((x, "x0"), (y, "x1")):
        text = cast_text(value.element, element)
        if value.element == element:
            texts.append((f"%{name}", ""))
            continue
        require(text and text not in ("arith.truncf", "arith.trunci", "arith.fptosi"))
        texts.append((f"%w{name}", f"%w{name} = {text} %{name} : {value.element} to {element}\n"))
    require(element != "i1" and not is_complex(element) and element != "index")
    wide = np.int64 if is_integer(element) else np.float64
    require(np.isfinite(x.data.astype(np.float64)).all() and np.isfinite(y.data.astype(np.float64)).all())
    data = x.data.astype(wide) * y.data.astype(wide) + x.data.astype(wide)
    check_range(data, element)
    (left, before), (right, more) = texts
    body = (before + more + line("mul", left, right, element, "%m") + "\n" +
            line("add", "%m", left, element))
    return b.elementwise([x, y], init_like(b, x, element), body, data)


def make_complex(b, x, y):
    require(x.element == "f32" and y.element == "f32" and x.shape == y.shape)
    require(np.isfinite(x.data).all() and np.isfinite(y.data).all())
    return b.elementwise([x, y], init_like(b, x, "complex<f32>"),
                         "%r = complex.create %x0, %x1 : complex<f32>", x.data + 1j * y.data)


def part_of_complex(b, x, *, part):
    require(is_complex(x.element))
    return b.elementwise([x], init_like(b, x, "f32"), f"%r = complex.{part} %x0 : complex<f32>",
                         x.data.real if part == "re" else x.data.imag)


def positions(b, x, *, factors):
    """Adds x plus a number that depends on the index."""
    require(x.element in ("i32", "i64", "index") and len(factors) == x.rank)
    body, last = "", "%x0"
    data = x.data.astype(np.int64)
    for d, factor in enumerate(factors):
        body += f"%i{d} = linalg.index {d} : index\n"
        name = f"%i{d}"
        if x.element != "index":
            body += f"%j{d} = arith.index_cast %i{d} : index to {x.element}\n"
            name = f"%j{d}"
        body += f"%f{d} = arith.constant {factor} : {x.element}\n"
        body += f"%m{d} = arith.muli {name}, %f{d} : {x.element}\n"
        body += f"%q{d} = arith.addi {last}, %m{d} : {x.element}\n"
        last = f"%q{d}"
        shape = [1] * x.rank
        shape[d] = -1
        data = data + factor * np.arange(x.shape[d]).reshape(shape)
    check_range(data, x.element)
    zero = "%zero = arith.constant 0 : " + x.element
    return b.elementwise([x], init_like(b, x),
                         f"{body}{zero}\n" + line("add", last, "%zero", x.element), data)


# Data movement.


def transpose(b, x, *, order):
    require(len(order) == x.rank and x.rank)  # upstream's verifier fails on rank 0
    sizes = b.sizes(x)
    init = b.empty([sizes[d] for d in order], x.element)
    return b.add(f"linalg.transpose ins({x.name} : {x.type}) outs({init.name} : {init.type}) "
                 f"permutation = {list(order)}", x.element, x.data.transpose(order), init.dynamic,
                 exact=x.exact)


def broadcast(b, x, *, at, extents):
    """Adds a linalg.broadcast with new dims at the given positions."""
    require(x.rank + len(at) <= 6 and all(d < x.rank + len(at) for d in at))
    sizes, shape = iter(b.sizes(x)), []
    data = x.data
    extents = dict(zip(at, extents))
    for d in range(x.rank + len(at)):
        shape.append(Size(extents[d]) if d in extents else next(sizes))
    data = np.expand_dims(data, tuple(at))
    init = b.empty(shape, x.element)
    return b.add(f"linalg.broadcast ins({x.name} : {x.type}) outs({init.name} : {init.type}) "
                 f"dimensions = {sorted(at)}", x.element, np.broadcast_to(data, init.shape),
                 init.dynamic, exact=x.exact)


def gather(b, x, i, *, axis):
    """Gathers rows of x along an axis by the indices i, with tensor.extract in a generic op."""
    require(axis < x.rank and x.shape[axis] > 0 and i.element in ("index", "i64", "i32") and i.exact)
    require(i.data.size == 0 or (i.data.min() >= 0 and i.data.max() < x.shape[axis]))
    rank = x.rank - 1 + i.rank
    require(rank <= 6)
    sizes = b.sizes(x)
    init = b.empty([*sizes[:axis], *b.sizes(i), *sizes[axis + 1:]], x.element)
    own = list(range(axis)) + list(range(axis + i.rank, rank))
    body = "".join(f"%i{d} = linalg.index {d} : index\n" for d in own)
    number = "%x0"
    if i.element != "index":
        body += f"%n = arith.index_cast %x0 : {i.element} to index\n"
        number = "%n"
    at = [f"%i{d}" for d in own]
    at.insert(axis, number)
    body += f"%r = tensor.extract {x.name}[{', '.join(at)}] : {x.type}"
    maps = [affine(rank, [f"d{axis + d}" for d in range(i.rank)])]
    return b.elementwise([i], init, body, np.take(x.data, i.data, axis), maps, x.exact)


def reverse(b, x, *, axis):
    """Reverses an axis, with tensor.extract in a generic op."""
    require(axis < x.rank)
    size = b.index(b.size(x, axis))
    init = init_like(b, x)
    body = "".join(f"%i{d} = linalg.index {d} : index\n" for d in range(x.rank))
    body += f"%one = arith.constant 1 : index\n%e = arith.subi {size}, %one : index\n"
    body += f"%b = arith.subi %e, %i{axis} : index\n"
    at = ", ".join("%b" if d == axis else f"%i{d}" for d in range(x.rank))
    body += f"%r = tensor.extract {x.name}[{at}] : {x.type}"
    return b.generic([], [affine(x.rank, dims_of(x.rank))], init, ["parallel"] * x.rank, body,
                     np.flip(x.data, axis), x.exact)


def pack(b, x, *, dims, tiles, outer):
    """Adds a linalg.pack with zero padding."""
    require(all(d < x.rank for d in dims) and x.rank + len(dims) <= 6 and x.element not in ("index",))
    require(not is_complex(x.element) and len(outer) in (0, x.rank))
    data = x.data
    tile = dict(zip(dims, tiles))
    pads = [(0, -size % tile.get(d, 1)) for d, size in enumerate(x.shape)]
    data = np.pad(data, pads)
    shape = []
    for d, size in enumerate(data.shape):
        shape += [size // tile[d], tile[d]] if d in tile else [size]
    at = {d: d + sum(1 for t in tile if t < d) for d in range(x.rank)}
    order = [at[d] for d in (outer or range(x.rank))] + [at[d] + 1 for d in dims]
    data = data.reshape(shape).transpose(order)
    sizes = []
    for d in (outer or range(x.rank)):
        size = b.size(x, d)
        if d in tile:
            size = b.combine(b.combine(size, "addi", tile[d] - 1), "divsi", tile[d])
        sizes.append(size)
    init = b.empty([*sizes, *tiles], x.element)
    zero = b.scalar(x.data.dtype.type(0), x.element)
    orders = f"outer_dims_perm = {list(outer)} " if outer else ""
    return b.add(f"linalg.pack {x.name} padding_value({zero} : {x.element}) {orders}inner_dims_pos = "
                 f"{list(dims)} inner_tiles = {list(tiles)} into {init.name} : {x.type} -> {init.type}",
                 x.element, data, init.dynamic, exact=x.exact)


def unpack(b, x, *, dims, outer, cut):
    """Adds a linalg.unpack of tiles in the last dims of x; `cut` is the number of elements missing at the end."""
    rank = x.rank - len(dims)
    require(rank > 0 and all(d < rank for d in dims) and not any(x.dynamic[rank:]))
    require(len(outer) in (0, rank) and x.element != "index" and not is_complex(x.element))
    tiles = x.shape[rank:]
    require(all(tiles))
    order = list(outer or range(rank))
    data = np.moveaxis(x.data, range(rank), order) if outer else x.data
    axes, sizes = [], []
    for d in range(rank):
        axes.append(d)
        size = b.size(x, order.index(d))
        if d in dims:
            axes.append(rank + dims.index(d))
            size = b.combine(size, "muli", tiles[dims.index(d)])
        sizes.append(size)
    data = data.transpose(axes).reshape([size.extent for size in sizes])
    for d, less in zip(dims, cut):
        require(0 <= less < tiles[dims.index(d)] and sizes[d].extent > less)
        sizes[d] = b.combine(sizes[d], "subi", less)
    data = data[tuple(slice(0, size.extent) for size in sizes)]
    init = b.empty(sizes, x.element)
    orders = f"outer_dims_perm = {order} " if outer else ""
    return b.add(f"linalg.unpack {x.name} {orders}inner_dims_pos = {list(dims)} inner_tiles = "
                 f"{list(tiles)} into {init.name} : {x.type} -> {init.type}", x.element, data,
                 init.dynamic, exact=x.exact)


def fill_of(b, x, *, number):
    """Adds a fill of a tensor like x with one number."""
    require(not is_complex(x.element) and x.element != "i1")
    return b.filled(b.sizes(x), x.element, number, x.encoding)
