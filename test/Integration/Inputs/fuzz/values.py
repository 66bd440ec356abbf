# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values with their data, and the text of a function that is written op by op.

An op is a function `op(builder, *operands, **parameters)` that adds its text to the builder and returns one or several
values with their data by numpy. It raises Skip if it does not support the operands. Its effect only depends on operands
and parameters, so that a program, a list of ops, can be written again with ops removed or with other inputs.
"""

from typing import NamedTuple, Optional

import numpy as np

# bf16 is stored in float32; data are small enough to be equal in both.
DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.float32, "f64": np.float64,
          "i1": np.bool_, "i4": np.int8, "i8": np.int8, "i16": np.int16, "i32": np.int32,
          "i64": np.int64, "index": np.int64, "complex<f32>": np.complex64}
# Whole numbers up to these limits, and sums of them, are exact in any order.
EXACT = {"f32": 1 << 24, "f16": 1 << 11, "bf16": 1 << 8, "f64": 1 << 53, "complex<f32>": 1 << 23}
# Integers wrap in any order, but smaller results detect more errors.
RANGE = {"i1": 1, "i4": 7, "i8": 127, "i16": 32767, "i32": 1 << 30, "i64": 1 << 62, "index": 1 << 40}


def to_file(data, element):
    """Returns the array that represents the data in a file; bf16 is stored as bits."""
    return (data.view(np.uint32) >> 16).astype(np.uint16) if element == "bf16" else data


def from_file(array, element):
    if element == "bf16" and array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


class Skip(Exception):
    """Raised if an op does not support its operands."""


def require(condition):
    if not condition:
        raise Skip


def is_float(element):
    return element in ("f32", "f16", "bf16", "f64")


def is_complex(element):
    return element == "complex<f32>"


def is_integer(element):
    return not is_float(element) and not is_complex(element)


def suffix(element):
    return "f" if is_float(element) else "i"


def largest(data):
    finite = np.abs(data[np.isfinite(data)] if data.dtype.kind in "fc" else data.astype(np.float64))
    return float(finite.max(initial=0))


def limit(element):
    return EXACT.get(element) or RANGE[element]


class Size(NamedTuple):
    """An extent, and the name of the index with its value if the extent is dynamic."""
    extent: int
    name: Optional[str] = None


class Value:
    def __init__(self, name, element, data, dynamic=None, encoding=None, exact=True):
        self.name, self.element, self.encoding, self.exact = name, element, encoding, exact
        self.data = np.asarray(data).astype(DTYPES[element])
        self.dynamic = tuple(dynamic or (False,) * self.data.ndim)
        assert len(self.dynamic) == self.data.ndim

    @property
    def shape(self):
        return self.data.shape

    @property
    def rank(self):
        return self.data.ndim

    @property
    def type(self):
        return tensor(self.shape, self.element, self.dynamic, self.encoding)

    def __repr__(self):
        return f"{self.name}: {self.type}"


def tensor(shape, element, dynamic=None, encoding=None):
    dynamic = dynamic or [False] * len(shape)
    sizes = "".join("?x" if unknown else f"{size}x" for size, unknown in zip(shape, dynamic))
    return f"tensor<{sizes}{element}{', ' + encoding if encoding else ''}>"


def dims_of(rank):
    return [f"d{d}" for d in range(rank)]


def affine(rank, exprs):
    return f"affine_map<({', '.join(dims_of(rank))}) -> ({', '.join(exprs)})>"


def literal(number, element):
    """Returns a number as an MLIR constant."""
    if is_complex(element):
        return f"({literal(number.real, 'f32')}, {literal(number.imag, 'f32')})"
    if is_float(element):
        if not np.isfinite(number):
            bits = {"f32": ("0x7F800000", "0xFF800000", "0x7FC00000"),
                    "f16": ("0x7C00", "0xFC00", "0x7E00"), "bf16": ("0x7F80", "0xFF80", "0x7FC0"),
                    "f64": ("0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000")}
            return bits[element][2 if np.isnan(number) else int(number < 0)]
        return f"{float(number):e}"
    if element == "i1":
        return "true" if number else "false"
    return str(int(number))


def dense(data, element):
    """Returns the attribute of a constant tensor."""
    if data.size == 0:
        return "dense<>"
    if (data == data.flat[0]).all():
        return f"dense<{literal(data.flat[0], element)}>"

    def nested(part):
        if part.ndim == 0:
            return literal(part[()], element)
        return "[" + ", ".join(nested(row) for row in part) + "]"
    return f"dense<{nested(data)}>"


class Builder:
    """The lines of a function so far. If `quiet`, values are evaluated without writing text."""

    def __init__(self, quiet=False):
        self.lines, self.functions, self.quiet, self.numbers = [], [], quiet, 0
        self.depth = 0

    def name(self, prefix="%v"):
        self.numbers += 1
        return f"{prefix}{self.numbers}"

    def write(self, line):
        if not self.quiet:
            self.lines.append("  " * self.depth + line)

    def add(self, text, element, data, dynamic=None, encoding=None, exact=True):
        """Adds a value that an op creates."""
        value = Value(self.name(), element, data, dynamic, encoding, exact)
        self.write(f"{value.name} = {text}")
        return value

    # Numbers and sizes.

    def scalar(self, number, element):
        name = self.name("%c")
        if is_complex(element):
            parts = [literal(part, "f32") for part in (number.real, number.imag)]
            self.write(f"{name} = complex.constant [{parts[0]} : f32, {parts[1]} : f32] : complex<f32>")
        else:
            text = literal(number, element)
            typed = "" if element == "i1" else f" : {element}"
            self.write(f"{name} = arith.constant {text}{typed}")
        return name

    def size(self, value, d):
        if not value.dynamic[d]:
            return Size(value.shape[d])
        at, name = self.scalar(d, "index"), self.name("%n")
        self.write(f"{name} = tensor.dim {value.name}, {at} : {value.type}")
        return Size(value.shape[d], name)

    def sizes(self, value):
        return [self.size(value, d) for d in range(value.rank)]

    def index(self, size):
        return size.name or self.scalar(size.extent, "index")

    def combine(self, a, op, b):
        """Returns a op b of sizes; the value is known if both are."""
        a, b = (Size(x) if isinstance(x, (int, np.integer)) else x for x in (a, b))
        extent = {"addi": a.extent + b.extent, "subi": a.extent - b.extent,
                  "muli": a.extent * b.extent,
                  "divsi": a.extent // max(b.extent, 1)}[op]
        if a.name is None and b.name is None:
            return Size(extent)
        left, right, name = self.index(a), self.index(b), self.name("%n")
        self.write(f"{name} = arith.{op} {left}, {right} : index")
        return Size(extent, name)

    # Destination tensors.

    def empty(self, sizes, element, encoding=None):
        sizes = [Size(size) if isinstance(size, (int, np.integer)) else size for size in sizes]
        names = ", ".join(size.name for size in sizes if size.name)
        shape = [size.extent for size in sizes]
        dynamic = [size.name is not None for size in sizes]
        return self.add(f"tensor.empty({names}) : {tensor(shape, element, dynamic, encoding)}", element,
                        np.zeros(shape), dynamic, encoding)

    def filled(self, sizes, element, number=0, encoding=None):
        number = DTYPES[element](number)
        empty, scalar = self.empty(sizes, element, encoding), self.scalar(number, element)
        return self.add(f"linalg.fill ins({scalar} : {element}) outs({empty.name} : {empty.type}) -> "
                        f"{empty.type}", element, np.full(empty.shape, number), empty.dynamic, encoding)

    # Structured ops.

    def named(self, op, inputs, init, data, attributes="", exact=None):
        names = ", ".join(value.name for value in inputs)
        types = ", ".join(value.type for value in inputs)
        require(data.shape == init.shape)
        return self.add(f"linalg.{op} {attributes} ins({names} : {types}) outs({init.name} : "
                        f"{init.type}) -> {init.type}", init.element, data, init.dynamic,
                        init.encoding, all(v.exact for v in inputs) if exact is None else exact)

    def generic(self, inputs, maps, inits, iterators, body, datas, exact=None):
        """Adds a linalg.generic; `body` reads %x0.. of the inputs and %o, %o1.. of the results, and defines %r, %r1..
        for one init or several."""
        one = isinstance(inits, Value)
        inits, datas = ([inits], [datas]) if one else (inits, datas)
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        number = [""] + list(range(1, len(inits)))
        arguments = ", ".join([f"%x{i}: {value.element}" for i, value in enumerate(inputs)] +
                              [f"%o{k}: {init.element}" for k, init in zip(number, inits)])
        ins = ""
        if inputs:
            ins = (f"ins({', '.join(v.name for v in inputs)} : {', '.join(v.type for v in inputs)}) ")
        types = ", ".join(init.type for init in inits)
        name = self.name()
        head = name if one else f"{name}:{len(inits)}"
        self.write(f"{head} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = "
                   f"[{kinds}]}} {ins}outs({', '.join(init.name for init in inits)} : {types}) {{")
        self.write(f"^bb0({arguments}):")
        for line in body.split("\n"):
            self.write("  " + line.strip())
        results = ", ".join(f"%r{k}" for k in number)
        self.write(f"  linalg.yield {results} : {', '.join(init.element for init in inits)}")
        self.write(f"}} -> {types if one else f'({types})'}")
        exact = all(v.exact for v in inputs) if exact is None else exact
        values = []
        for k, (init, data) in enumerate(zip(inits, datas)):
            require(np.shape(data) == init.shape)
            values.append(Value(name if one else f"{name}#{k}", init.element, data, init.dynamic,
                                init.encoding, exact))
        return values[0] if one else values

    def elementwise(self, inputs, init, body, data, maps=None, exact=None):
        dims = dims_of(init.rank)
        maps = maps or [affine(init.rank, dims)] * len(inputs)
        return self.generic(inputs, [*maps, affine(init.rank, dims)], init, ["parallel"] * init.rank,
                            body, data, exact)


def check_range(data, element, bound=None):
    """Raises Skip unless intermediate sums are exact, too."""
    if bound is None:
        bound = largest(np.asarray(data))
    require(bound <= limit(element))


def check_infinities(*factors):
    """Raises Skip if a rounded factor near 0 meets an infinity, because the product is then undetermined."""
    finite = [np.isfinite(x) if x.dtype.kind in "fc" else np.ones(x.shape, bool) for x in factors]
    require(all(known.all() for known in finite) or
            all((x[known] == np.rint(x[known])).all() for x, known in zip(factors, finite)))
