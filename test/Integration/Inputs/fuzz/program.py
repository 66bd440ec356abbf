# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program: inputs, ops in order, results. It can be written and evaluated repeatedly."""

import copy
from typing import NamedTuple

import numpy as np

from values import DTYPES, Builder, Value, dense, require, tensor, to_file

class Step:
    """results = op(operands, **params); operands and results are numbers of values."""

    def __init__(self, op, operands, params, results):
        self.op, self.operands, self.params, self.results = op, operands, params, results

    def __repr__(self):
        shown = {k: v for k, v in self.params.items() if k != "data"}
        return f"{self.results} = {self.op.__name__}{self.operands} {shown}"


class Program:
    """`inputs` are numbers of values; `arguments` are the values themselves, for a whole program."""

    def __init__(self, inputs=(), steps=(), results=(), arguments=()):
        self.inputs, self.steps, self.results = list(inputs), list(steps), list(results)
        self.arguments = list(arguments)

    def copy(self):
        other = copy.copy(self)
        other.inputs, other.steps = list(self.inputs), list(self.steps)
        other.results, other.arguments = list(self.results), list(self.arguments)
        return other

    def run(self, b, values):
        """Writes all ops for the values of the inputs and returns the results."""
        known = dict(zip(self.inputs, values, strict=True))
        for step in self.steps:
            made = step.op(b, *(known[i] for i in step.operands), **step.params)
            made = [made] if isinstance(made, Value) else made
            known.update(zip(step.results, made, strict=True))
        self.known = known
        return [known[i] for i in self.results]

    def write(self):
        """Returns a Text of the function @main and the functions that it calls."""
        b = Builder()
        b.depth = 1
        inputs, files, heads = [], [], []
        for value in self.arguments:
            inputs.append(enter(b, value, files, heads))
        outs = [leave(b, value) for value in self.run(b, inputs)]
        types = ", ".join(v.type for v in outs)
        names = ", ".join(v.name for v in outs)
        lines = "\n".join(b.lines)
        functions = "".join(f"{function}\n" for function in b.functions)
        text = (f"{functions}func.func @main({', '.join(heads)}) -> ({types}) {{\n{lines}\n"
                f"  return {names} : {types}\n}}\n")
        return Text(text, files, [Wanted(v.data, v.element, self.bound(v)) for v in outs])

    def bound(self, value):
        """Returns the tolerance of a result relative to its largest number: numbers that are not whole are rounded in
        the narrowest type in between."""
        elements = {v.element for v in self.known.values()}
        return 0 if value.exact else max(BOUNDS.get(element, 0) for element in elements)


BOUNDS = {"f32": 1e-4, "f64": 1e-4, "f16": 3e-2, "bf16": 1e-1}


class Wanted(NamedTuple):
    data: np.ndarray
    element: str
    bound: float


class Text(NamedTuple):
    body: str
    inputs: list
    wanted: list


def enter(b, value, files, heads):
    """Returns the value of an argument from an array at the function boundary."""

    def argument(element, data):
        one = Value(f"%a{len(files)}", element, data, value.dynamic, None, value.exact)
        heads.append(f"{one.name}: {one.type}")
        files.append(to_file(one.data, one.element))
        return one
    if value.encoding:
        one = argument(value.element, value.data)
        return b.add(f"layout.convert {one.name} : {one.type} to {value.type}", value.element, value.data,
                     value.dynamic, value.encoding)
    return argument(value.element, value.data)


def leave(b, value):
    """Returns the part of a result that crosses the function boundary."""
    if value.encoding:
        plain = tensor(value.shape, value.element, value.dynamic)
        value = b.add(f"layout.convert {value.name} : {value.type} to {plain}", value.element, value.data,
                      value.dynamic, None, value.exact)
    return value


def constant(b, *, element, data, shape):
    """Adds a constant tensor."""
    data = np.asarray(data, DTYPES[element]).reshape(shape)
    return b.add(f"arith.constant {dense(data, element)} : {tensor(shape, element)}", element, data)


def convert(b, x, *, encoding):
    """Converts x to another layout, or returns x if `encoding` is None."""
    require(encoding != x.encoding)
    to = tensor(x.shape, x.element, x.dynamic, encoding)
    return b.add(f"layout.convert {x.name} : {x.type} to {to}", x.element, x.data, x.dynamic, encoding,
                 x.exact)
