# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow around bodies of ops: branches, loops that carry tensors, parallel loops, calls.

A body is a Program whose inputs are the block's arguments; its ops are written once and evaluated once per execution.
"""

import numpy as np

from values import Builder, Value, require, tensor


def compute(body, values):
    """Evaluates a body on values without writing it."""
    return body.run(Builder(quiet=True), values)


def argument(b, value, prefix="%b"):
    return Value(b.name(prefix), value.element, value.data, value.dynamic, value.encoding, value.exact)


def same_types(values, others):
    return len(values) == len(others) and all(v.type == o.type for v, o in zip(values, others))


def yielded(values):
    return f"{', '.join(v.name for v in values)} : {', '.join(v.type for v in values)}"


def results(name, values):
    """Returns values with the names of an op's results."""
    return [Value(name if len(values) == 1 else f"{name}#{k}", v.element, v.data, v.dynamic, v.encoding,
                  v.exact) for k, v in enumerate(values)]


def opened(b, text, count):
    name = b.name()
    b.write(f"{name if count == 1 else f'{name}:{count}'} = {text}")
    b.depth += 1
    return name


def closed(b, text="}"):
    b.depth -= 1
    b.write(text)


def is_positive(b, x):
    """Returns an i1 that is true if the first element is positive; its value is known at run time only."""
    require(x.data.size and x.element in ("f32", "i32", "i8", "f16") and x.exact)
    zero = b.scalar(0, "index")
    number, bit = b.name(), b.name()
    b.write(f"{number} = tensor.extract {x.name}[{', '.join([zero] * x.rank)}] : {x.type}")
    least = b.scalar(x.data.dtype.type(0), x.element)
    kind = "f ogt" if x.element[0] == "f" else "i sgt"
    b.write(f"{bit} = arith.cmp{kind}, {number}, {least} : {x.element}")
    return bit, bool(x.data.flat[0] > 0)


def branch(b, condition, *values, then, otherwise):
    """Adds an scf.if with a body on each side."""
    bit, is_true = is_positive(b, condition)
    made = compute(then if is_true else otherwise, values)
    expected = [compute(body, values) for body in (then, otherwise)]
    # A branch that is not taken may contradict later types of the result, which upstream's verifiers then reject.
    require(same_types(*expected) and all(v.shape == w.shape for v, w in zip(*expected)))
    types = ", ".join(v.type for v in made)
    name = opened(b, f"scf.if {bit} -> ({types}) {{", len(made))
    b.write(f"scf.yield {yielded(then.run(b, values))}")
    closed(b, "} else {")
    b.depth += 1
    b.write(f"scf.yield {yielded(otherwise.run(b, values))}")
    closed(b)
    return results(name, made)


def carried(body, values, trips):
    now = list(values)
    for _ in range(trips):
        made = compute(body, now)
        require(same_types(now, made))
        now = made
    if not trips:
        require(same_types(values, compute(body, values)))
    return now


def loop(b, *values, body, trips, step, hidden):
    """Adds an scf.for that carries tensors."""
    made = carried(body, values, trips)
    low, high, by = (b.scalar(n, "index") for n in (3, 3 + trips * step, step))
    if hidden:  # the trip count is read from a tensor at run time
        name = b.name()
        b.write(f"{name} = tensor.from_elements {high} : tensor<1xindex>")
        zero, high = b.scalar(0, "index"), b.name()
        b.write(f"{high} = tensor.extract {name}[{zero}] : tensor<1xindex>")
    inner = [argument(b, v) for v in values]
    pairs = ", ".join(f"{i.name} = {v.name}" for i, v in zip(inner, values))
    types = ", ".join(v.type for v in values)
    name = opened(b, f"scf.for %iteration{b.numbers} = {low} to {high} step {by} iter_args({pairs}) -> "
                     f"({types}) {{", len(made))
    b.write(f"scf.yield {yielded(body.run(b, inner))}")
    closed(b)
    return results(name, made)


def repeat(b, *values, body, trips):
    """Adds an scf.while that counts."""
    made = carried(body, values, trips)
    zero, one, count = b.scalar(0, "index"), b.scalar(1, "index"), b.scalar(trips, "index")
    before, after = ([argument(b, v) for v in values] for _ in range(2))
    step, bit, after_step, next_step = b.name(), b.name(), b.name(), b.name()
    pairs = ", ".join([f"{step} = {zero}"] + [f"{i.name} = {v.name}" for i, v in zip(before, values)])
    types = ", ".join(["index"] + [v.type for v in values])
    name = b.name()
    b.write(f"{name}:{len(values) + 1} = scf.while ({pairs}) : ({types}) -> ({types}) {{")
    b.write(f"  {bit} = arith.cmpi slt, {step}, {count} : index")
    names = ", ".join([step] + [i.name for i in before])
    b.write(f"  scf.condition({bit}) {names} : {types}")
    b.write("} do {")
    head = ", ".join([f"{after_step}: index"] + [f"{i.name}: {i.type}" for i in after])
    b.write(f"^bb0({head}):")
    b.depth += 1
    b.write(f"{next_step} = arith.addi {after_step}, {one} : index")
    out = body.run(b, after)
    b.write(f"scf.yield {', '.join([next_step] + [v.name for v in out])} : {types}")
    closed(b)
    return [Value(f"{name}#{k + 1}", v.element, v.data, v.dynamic, v.encoding, v.exact)
            for k, v in enumerate(made)]


def parallel(b, x, *, body, axis):
    """Adds an scf.forall over the slices of x along an axis, each through a body that keeps its shape."""
    require(x.rank > axis and x.encoding is None)
    slices = np.split(x.data, x.shape[axis], axis) if x.shape[axis] else []
    inner_dynamic = [False if d == axis else x.dynamic[d] for d in range(x.rank)]
    shape = [1 if d == axis else n for d, n in enumerate(x.shape)]
    parts = []
    for data in slices or [np.zeros(shape, x.data.dtype)]:
        out, = compute(body, [Value("%part", x.element, data, inner_dynamic, None, x.exact)])
        require(out.shape == data.shape and out.dynamic == tuple(inner_dynamic) and out.encoding is None)
        parts.append(out)
    element = parts[0].element
    data = np.concatenate([p.data for p in parts], axis) if slices else x.data.astype(parts[0].data.dtype)
    sizes = b.sizes(x)
    init, trips = b.empty(sizes, element), b.index(sizes[axis])
    index, shared = b.name("%t"), b.name("%s")
    offsets = ", ".join(index if d == axis else "0" for d in range(x.rank))
    extents = ", ".join("1" if d == axis else size.name or str(size.extent) for d, size in enumerate(sizes))
    text = f"[{offsets}] [{extents}] [{', '.join('1' * x.rank)}]"
    name = opened(b, f"scf.forall ({index}) in ({trips}) shared_outs({shared} = {init.name}) -> "
                     f"({init.type}) {{", 1)
    part = b.add(f"tensor.extract_slice {x.name}{text} : {x.type} to "
                 f"{tensor(shape, x.element, inner_dynamic)}", x.element, np.zeros(shape), inner_dynamic)
    if slices:
        part = Value(part.name, x.element, slices[0], inner_dynamic, None, x.exact)
    out, = body.run(b, [part])
    b.write("scf.forall.in_parallel {")
    b.write(f"  tensor.parallel_insert_slice {out.name} into {shared}{text} : {out.type} into {init.type}")
    b.write("}")
    closed(b)
    return Value(name, element, data, init.dynamic, None, parts[0].exact)


def call(b, *values, body, twice):
    """Adds a function that is called once, or again on its own results."""
    made = compute(body, values)
    function = Builder(b.quiet)
    function.numbers = 1000 * (len(b.functions) + 1)
    inner = [argument(function, v) for v in values]
    out = body.run(function, inner)
    name = f"@callee{len(b.functions)}"
    b.functions.extend(function.functions)
    arguments = ", ".join(f"{v.name}: {v.type}" for v in inner)
    types = ", ".join(v.type for v in out)
    b.functions.append(f"func.func private {name}({arguments}) -> ({types}) {{\n  " +
                       "\n  ".join(function.lines) + f"\n  return {yielded(out)}\n}}")
    operands = values
    for number in range(2 if twice else 1):
        if number:
            require(same_types(operands, values))
            made = compute(body, operands)
        result = b.name()
        head = result if len(made) == 1 else f"{result}:{len(made)}"
        b.write(f"{head} = func.call {name}({', '.join(v.name for v in operands)}) : "
                f"({', '.join(v.type for v in operands)}) -> ({types})")
        operands = results(result, made)
        require(", ".join(v.type for v in operands) == types)
    return operands
