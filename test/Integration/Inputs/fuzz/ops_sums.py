# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions, convolutions, pooling, reductions and softmax."""

import numpy as np

from ops_linalg import cast_text, init_like, line
from values import (EXACT, affine, check_infinities, check_range, dims_of, is_complex, is_float,
                    is_integer, largest, require, suffix)


# Contractions.


def wide(x):
    if is_complex(x.element):
        return x.data.astype(np.complex128)
    return x.data.astype(np.float64 if is_float(x.element) else np.int64)


def widen_lines(elements, element):
    """Returns lines that extend the inputs to the type of the result, and the names of the extended numbers."""
    lines, names = [], []
    for k, source in enumerate(elements):
        if source == element:
            names.append(f"%x{k}")
            continue
        text = cast_text(source, element)
        require(text in ("arith.extsi", "arith.extui", "arith.extf"))
        lines.append(f"%w{k} = {text} %x{k} : {source} to {element}\n")
        names.append(f"%w{k}")
    return "".join(lines), names


def einsum(spec, *operands):
    with np.errstate(all="ignore"):
        return np.einsum(spec, *operands)


def checked_sum(spec, element, *operands):
    """Returns the sums if all of them are exact in any order."""
    data = einsum(spec, *operands)
    if element in EXACT and all(np.isfinite(x).all() for x in operands):
        check_range(None, element, largest(einsum(spec, *[np.abs(x) for x in operands])))
    check_infinities(*operands)
    return data


def contraction(b, x, y, *, spec, element, order):
    """Adds a sum of x * y with dims given by letters; `order` is that of the loops."""
    left, right, out = spec.replace("->", ",").split(",")
    require(x.rank == len(left) and y.rank == len(right) and element != "index")
    require(sorted(order) == sorted(set(left + right)))
    extents = {}
    for letters, value in ((left, x), (right, y)):
        for d, letter in enumerate(letters):
            require(extents.setdefault(letter, (value, d))[0].shape[extents[letter][1]] == value.shape[d])
    before, (first, second) = widen_lines([x.element, y.element], element)
    data = checked_sum(spec, element, wide(x), wide(y))
    init = b.filled([b.size(*extents[letter]) for letter in out], element)
    exprs = lambda letters: affine(len(order), [f"d{order.index(letter)}" for letter in letters])
    body = before + line("mul", first, second, element, "%m") + "\n" + line("add", "%o", "%m", element)
    return b.generic([x, y], [exprs(left), exprs(right), exprs(out)], init,
                     ["parallel" if letter in out else "reduction" for letter in order], body, data)


MATMULS = {"matmul": "mk,kn->mn", "batch_matmul": "bmk,bkn->bmn", "matvec": "mk,k->m",
           "vecmat": "k,kn->n", "batch_matvec": "bmk,bk->bm", "batch_vecmat": "bk,bkn->bn",
           "dot": "k,k->", "mmt4d": "mkpq,nkrq->mnpr", "batch_mmt4d": "bmkpq,bnkrq->bmnpr",
           "matmul_transpose_a": "km,kn->mn", "matmul_transpose_b": "mk,nk->mn",
           "batch_matmul_transpose_a": "bkm,bkn->bmn", "batch_matmul_transpose_b": "bmk,bnk->bmn",
           "batch_reduce_matmul": "bmk,bkn->mn"}


def matmul(b, x, y, *, name, element):
    spec = MATMULS[name]
    left, right, out = spec.replace("->", ",").split(",")
    require(x.rank == len(left) and y.rank == len(right) and x.element not in ("i1", "index"))
    extents = {}
    for letters, value in ((left, x), (right, y)):
        for d, letter in enumerate(letters):
            require(extents.setdefault(letter, (value, d))[0].shape[extents[letter][1]] == value.shape[d])
    widen_lines([x.element, y.element], element)
    data = checked_sum(spec, element, wide(x), wide(y))
    init = b.filled([b.size(*extents[letter]) for letter in out], element)
    if "transpose" in name:
        op = name[:name.index("_transpose")]
        order = ("b" if op == "batch_matmul" else "") + "mnk"
        maps = ", ".join(affine(len(order), [f"d{order.index(letter)}" for letter in letters])
                         for letters in (left, right, out))
        return b.named(op, [x, y], init, data, f"indexing_maps = [{maps}]")
    return b.named(name, [x, y], init, data)


# Convolutions and pooling. Windows slide along the axes x, y, z.

CONVOLUTIONS = {
    "conv_1d_ncw_fcw": "ncx,fcx->nfx", "conv_1d_nwc_wcf": "nxc,xcf->nxf",
    "conv_2d_nchw_fchw": "ncxy,fcxy->nfxy", "conv_2d_nhwc_hwcf": "nxyc,xycf->nxyf",
    "conv_2d_nhwc_fhwc": "nxyc,fxyc->nxyf", "conv_2d_ngchw_fgchw": "ngcxy,fgcxy->ngfxy",
    "conv_2d_ngchw_gfchw": "ngcxy,gfcxy->ngfxy", "conv_2d_nhwgc_gfhwc": "nxygc,gfxyc->nxygf",
    "conv_3d_ncdhw_fcdhw": "ncxyz,fcxyz->nfxyz", "conv_3d_ndhwc_dhwcf": "nxyzc,xyzcf->nxyzf",
    "depthwise_conv_1d_ncw_cw": "ncx,cx->ncx", "depthwise_conv_1d_nwc_wc": "nxc,xc->nxc",
    "depthwise_conv_1d_nwc_wcm": "nxc,xcm->nxcm", "depthwise_conv_2d_nchw_chw": "ncxy,cxy->ncxy",
    "depthwise_conv_2d_nhwc_hwc": "nxyc,xyc->nxyc", "depthwise_conv_2d_nhwc_hwcm": "nxyc,xycm->nxycm",
    "depthwise_conv_3d_ndhwc_dhwc": "nxyzc,xyzc->nxyzc",
    "depthwise_conv_3d_ncdhw_cdhw": "ncxyz,cxyz->ncxyz",
    "depthwise_conv_3d_ndhwc_dhwcm": "nxyzc,xyzcm->nxyzcm",
    "conv_1d": "x,x->x", "conv_2d": "xy,xy->xy", "conv_3d": "xyz,xyz->xyz",
}
POOLINGS = {
    f"pooling_{order}_{kind}": (f"{letters},{kernel}->{letters}", kind)
    for order, letters, kernel, kinds in (
        ("ncw", "ncx", "x", ("sum", "max")), ("nwc", "nxc", "x", ("sum", "max", "min")),
        ("nchw", "ncxy", "xy", ("sum", "max")), ("nhwc", "nxyc", "xy", ("sum", "max", "min")),
        ("ndhwc", "nxyzc", "xyz", ("sum", "max", "min")))
    for kind in kinds}
SPATIAL, OUTER, KERNEL = "xyz", "opq", "ijk"


def windows(x, letters, size, strides, dilations):
    """Returns the image with the window axes last, and its letters."""
    axes = [letters.index(letter) for letter in SPATIAL[:len(size)]]
    spans = [(k - 1) * d + 1 for k, d in zip(size, dilations)]
    require(all(k > 0 for k in size) and all(x.shape[a] >= s for a, s in zip(axes, spans)))
    view = np.lib.stride_tricks.sliding_window_view(wide(x), spans, axes)
    index = [slice(None)] * view.ndim
    for k, axis in enumerate(axes):
        index[axis] = slice(None, None, strides[k])
        index[x.rank + k] = slice(None, None, dilations[k])
    for k in range(len(size)):
        letters = letters.replace(SPATIAL[k], OUTER[k])
    return view[tuple(index)], letters + KERNEL[:len(size)]


def out_sizes(b, letters, sources, out, strides, dilations):
    """Returns the sizes of the result by letter; those along which windows slide are computed."""
    sizes = []
    for letter in out:
        value, d = sources[0][letter] if letter in sources[0] else sources[1][letter]
        size = b.size(value, d)
        if letter in SPATIAL:
            k = SPATIAL.index(letter)
            kernel = b.size(*sources[1][letter])
            span = b.combine(b.combine(b.combine(kernel, "subi", 1), "muli", dilations[k]), "addi", 1)
            size = b.combine(b.combine(b.combine(size, "subi", span), "divsi", strides[k]), "addi", 1)
        sizes.append(size)
    return sizes


def attributes_of(strides, dilations):
    count = len(strides)
    text = ", ".join(f"{name} = dense<{list(numbers)}> : tensor<{count}xi64>"
                     for name, numbers in (("dilations", dilations), ("strides", strides)))
    return "{" + text + "}"


def window_op(b, x, w, spec, strides, dilations, element):
    """Returns the windows, letters, sizes and sources that convolutions and poolings share."""
    image, kernel, out = spec.replace("->", ",").split(",")
    require(x.rank == len(image) and w.rank == len(kernel))
    count = sum(letter in SPATIAL for letter in image)
    require(len(strides) == count == len(dilations))
    sources = ({letter: (x, d) for d, letter in enumerate(image)},
               {letter: (w, d) for d, letter in enumerate(kernel)})
    for letter in kernel:
        if letter not in SPATIAL and letter in sources[0]:
            require(x.shape[sources[0][letter][1]] == w.shape[sources[1][letter][1]])
    size = [w.shape[kernel.index(letter)] for letter in SPATIAL[:count]]
    view, letters = windows(x, image, size, strides, dilations)
    sizes = out_sizes(b, image, sources, out, strides, dilations)
    outer, inner = str.maketrans(SPATIAL, OUTER), str.maketrans(SPATIAL, KERNEL)
    return view, letters, kernel.translate(inner), out.translate(outer), sizes


def convolution(b, x, w, *, name, strides, dilations, element):
    spec = CONVOLUTIONS[name]
    widen_lines([x.element, w.element], element)
    require(x.element not in ("i1", "index") and not is_complex(x.element))
    view, image, kernel, out, sizes = window_op(b, x, w, spec, strides, dilations, element)
    data = checked_sum(f"{image},{kernel}->{out}", element, view, wide(w))
    text = attributes_of(strides, dilations)
    if name in ("conv_1d", "conv_2d", "conv_3d"):
        require(all(n == 1 for n in (*strides, *dilations)))
        text = ""
    return b.named(name, [x, w], b.filled(sizes, element), data, text)


def generic_convolution(b, x, w, *, spec, order, strides, dilations, element):
    """Adds a convolution as a generic op, with letters in any order; `order` is that of the loops."""
    before, (first, second) = widen_lines([x.element, w.element], element)
    view, image, kernel, out, sizes = window_op(b, x, w, spec, strides, dilations, element)
    data = checked_sum(f"{image},{kernel}->{out}", element, view, wide(w))
    require(sorted(order) == sorted(set(image + kernel)) and element != "index")
    at = lambda letter: f"d{order.index(letter)}"
    own = spec.split(",")[0]

    def window(letter):
        if letter not in SPATIAL:
            return at(letter)
        k = SPATIAL.index(letter)
        times = lambda text, n: text if n == 1 else f"{text} * {n}"
        return f"{times(at(OUTER[k]), strides[k])} + {times(at(KERNEL[k]), dilations[k])}"
    maps = [affine(len(order), exprs) for exprs in (
        [window(letter) for letter in own], [at(letter) for letter in kernel],
        [at(letter) for letter in out])]
    body = before + line("mul", first, second, element, "%m") + "\n" + line("add", "%o", "%m", element)
    return b.generic([x, w], maps, b.filled(sizes, element),
                     ["parallel" if letter in out else "reduction" for letter in order], body, data)


def neutral(kind, element):
    if kind in ("sum", "xor", "or", "sub", "squares", "count"):
        return 0
    if kind == "and":
        return -1 if element != "i1" else 1
    if kind in ("mul",):
        return 1
    sign = -1 if kind in ("max", "maxabs", "argmax") else 1
    if kind == "maxabs":
        return 0
    if is_float(element):
        return sign * np.inf
    if element == "i1":
        return 0 if sign < 0 else 1
    bits = {"i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}[element]
    return -(1 << (bits - 1)) if sign < 0 else (1 << (bits - 1)) - 1


def pooling(b, x, *, name, size, strides, dilations):
    spec, kind = POOLINGS[name]
    require(x.element not in ("i1", "index", "i4") and not is_complex(x.element))
    w = b.empty(list(size), x.element)
    view, image, kernel, out, sizes = window_op(b, x, w, spec, strides, dilations, x.element)
    if kind == "sum":
        data = checked_sum(f"{image}->{out}", x.element, view)
    else:
        moved = np.einsum(f"{image}->{out}{kernel}", view)
        data = (np.max if kind == "max" else np.min)(moved, tuple(range(len(out), moved.ndim)))
    init = b.filled(sizes, x.element, neutral(kind, x.element))
    return b.named(name, [x, w], init, data, attributes_of(strides, dilations))


# Reductions.

REDUCTIONS = ("sum", "max", "min", "mul", "and", "or", "xor", "sub", "squares", "maxabs", "count")


def reduce_data(x, over, kind):
    e, data = x.element, wide(x)
    with np.errstate(all="ignore"):
        if kind in ("sum", "sub"):
            return (1 if kind == "sum" else -1) * data.sum(over), np.abs(data).sum(over)
        if kind == "squares":
            return (data * data).sum(over), (data * data).sum(over)
        if kind == "mul":
            return data.prod(over), np.maximum(np.abs(data), 1).prod(over)
        if kind == "count":
            return (data != 0).sum(over), (data != 0).sum(over)
        if kind in ("and", "or", "xor"):
            start = x.data.dtype.type(neutral(kind, e) & 1 if e == "i1" else neutral(kind, e))
            fn = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[kind]
            return fn.reduce(x.data, over, initial=start), None
        data = np.abs(x.data) if kind == "maxabs" else x.data
        start = neutral(kind, e)
        return (np.min if kind == "min" else np.max)(data, over, initial=data.dtype.type(start)), None


def reduce_body(kind, e):
    if kind in ("sum", "max", "min", "mul", "and", "or", "xor"):
        return line("add" if kind == "sum" else kind, "%x0", "%o", e)
    if kind == "sub":
        return line("sub", "%o", "%x0", e)
    if kind == "squares":
        return line("mul", "%x0", "%x0", e, "%m") + "\n" + line("add", "%m", "%o", e)
    if kind == "maxabs":
        return f"%a = math.abs{suffix(e)} %x0 : {e}\n" + line("max", "%a", "%o", e)
    f = is_float(e)
    return (f"%z = arith.constant 0{'.0' if f else ''} : {e}\n%i = arith.constant 1{'.0' if f else ''} : {e}\n"
            f"%k = arith.cmp{'f une' if f else 'i ne'}, %x0, %z : {e}\n"
            f"%n = arith.select %k, %i, %z : {e}\n" + line("add", "%n", "%o", e))


def reduce(b, x, *, over, kind):
    e = x.element
    require(x.rank and all(d < x.rank for d in over) and not is_complex(e))
    require(not (kind in ("and", "or", "xor") and not is_integer(e)))
    require(not (kind in ("maxabs", "count", "squares", "mul", "sub", "sum") and e == "i1"))
    require(not (kind == "maxabs" and e not in ("f32", "i32", "f16", "i64")))
    require(not (kind == "mul" and (e == "i4" or largest(x.data) > 3)))
    require(kind not in ("count",) or x.exact)
    data, bound = reduce_data(x, tuple(over), kind)
    if bound is not None and e in EXACT and np.isfinite(bound).all():
        check_range(None, e, largest(np.asarray(bound)))
    if e == "i4":
        data = ((np.asarray(data).astype(np.int64) + 8) & 15) - 8
    kept = [d for d in range(x.rank) if d not in over]
    init = b.filled([b.size(x, d) for d in kept], e, neutral(kind, e))
    dims = dims_of(x.rank)
    return b.generic([x], [affine(x.rank, dims), affine(x.rank, [dims[d] for d in kept])], init,
                     ["reduction" if d in over else "parallel" for d in range(x.rank)],
                     reduce_body(kind, e), data)


def named_reduce(b, x, *, over):
    """Adds a linalg.reduce with sums."""
    e = x.element
    require(x.rank and all(d < x.rank for d in over) and not is_complex(e) and e != "i1")
    data, bound = reduce_data(x, tuple(over), "sum")
    if e in EXACT and np.isfinite(bound).all():
        check_range(None, e, largest(np.asarray(bound)))
    if e == "i4":
        data = ((np.asarray(data).astype(np.int64) + 8) & 15) - 8
    kept = [d for d in range(x.rank) if d not in over]
    init = b.filled([b.size(x, d) for d in kept], e, 0)
    return b.add(f"linalg.reduce {{ arith.add{suffix(e)} }} ins({x.name} : {x.type}) outs({init.name} : "
                 f"{init.type}) dimensions = {sorted(over)}", e, data, init.dynamic, exact=x.exact)


def argmax(b, x, *, axis):
    """Adds a maximum along an axis and the index of its first occurrence: two results."""
    require(x.rank > axis and is_float(x.element) and x.exact and not np.isnan(x.data).any())
    require(x.shape[axis] > 0)
    kept = [d for d in range(x.rank) if d != axis]
    sizes = [b.size(x, d) for d in kept]
    inits = [b.filled(sizes, x.element, -np.inf), b.filled(sizes, "i32", 0)]
    dims = dims_of(x.rank)
    out = affine(x.rank, [dims[d] for d in kept])
    # Among equal numbers the first index counts, so that any loop order gives the same result.
    require((x.data > -np.inf).any(axis).all())
    body = f"""%i = linalg.index {axis} : index
               %j = arith.index_cast %i : index to i32
               %g = arith.cmpf ogt, %x0, %o : {x.element}
               %e = arith.cmpf oeq, %x0, %o : {x.element}
               %l = arith.cmpi slt, %j, %o1 : i32
               %f = arith.andi %e, %l : i1
               %k = arith.ori %g, %f : i1
               %r = arith.select %k, %x0, %o : {x.element}
               %r1 = arith.select %k, %j, %o1 : i32"""
    return b.generic([x], [affine(x.rank, dims), out, out], inits,
                     ["reduction" if d == axis else "parallel" for d in range(x.rank)], body,
                     [x.data.max(axis), x.data.argmax(axis)])


def softmax(b, x, *, axis):
    require(x.element in ("f32", "f16") and axis < x.rank and np.isfinite(x.data).all())
    require(x.data.size == 0 or x.shape[axis] > 0)
    init = init_like(b, x)
    data = x.data.astype(np.float64)
    if data.size:
        power = np.exp(data - data.max(axis, keepdims=True))
        data = power / power.sum(axis, keepdims=True)
    return b.add(f"linalg.softmax dimension({axis}) ins({x.name} : {x.type}) outs({init.name} "
                 f": {init.type}) -> {init.type}", x.element, data, init.dynamic, x.encoding, False)
