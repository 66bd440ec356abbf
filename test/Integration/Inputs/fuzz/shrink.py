# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reduces a failing program: fewer ops and results, smaller shapes, simpler types.

A candidate is a program with one simplification. Candidates are written again, which detects invalid ones, and are
tested in batches. The first candidate that fails in the same way replaces the program, until none does.
"""

import numpy as np

from program import Program, Step, constant
from values import Value

TOGETHER = 12


def without_unused(program):
    """Removes ops and arguments that no result needs."""
    needed, steps = set(program.results), []
    for step in reversed(program.steps):
        if needed & set(step.results):
            needed |= set(step.operands)
            steps.append(step)
    program.steps = steps[::-1]
    if program.arguments:
        kept = [(i, v) for i, v in zip(program.inputs, program.arguments) if i in needed]
        program.inputs, program.arguments = [i for i, _ in kept], [v for _, v in kept]
    return program


def renamed(program, old, new):
    """Replaces uses of `old` by `new`."""
    swap = lambda numbers: [new if n == old else n for n in numbers]
    other = program.copy()
    other.steps = [Step(s.op, swap(s.operands), s.params, s.results) for s in program.steps
                   if old not in s.results or len(s.results) > 1]
    other.results = swap(program.results)
    return other


def fewer_results(program):
    for k in range(len(program.results)):
        if len(program.results) > 1:
            other = program.copy()
            other.results = [program.results[k]]
            yield other
    # an op before the last one
    for step in program.steps[:-1]:
        other = program.copy()
        other.results = list(step.results)
        yield other


def as_arguments(program):
    """Yields programs in which the results of an op become arguments."""
    for at, step in reversed(list(enumerate(program.steps))):
        other = program.copy()
        other.steps = program.steps[:at] + program.steps[at + 1:]
        for number in step.results:
            value = program.known[number]
            other.inputs.append(number)
            other.arguments.append(Value("%in", value.element, value.data, value.dynamic, None,
                                         value.exact))
        yield other


def bypassed(program):
    """Yields programs in which an op is replaced by its operand."""
    for step in program.steps:
        for number in step.results:
            for operand in step.operands:
                yield renamed(program, number, operand)


def inlined(program):
    """Yields programs in which a loop, branch or call is replaced by its body."""
    for at, step in enumerate(program.steps):
        for body in (step.params.get(key) for key in ("body", "then", "otherwise")):
            if body is None:
                continue
            operands = step.operands[-len(body.inputs):]
            first = 1 + max([n for s in program.steps for n in s.results] + program.inputs)
            names = dict(zip(body.inputs, operands))
            steps = []
            for inner in body.steps:
                for n in inner.results:
                    names[n] = first
                    first += 1
                steps.append(Step(inner.op, [names[n] for n in inner.operands], inner.params,
                                  [names[n] for n in inner.results]))
            other = program.copy()
            other.steps = program.steps[:at] + steps + program.steps[at + 1:]
            for number, inner in zip(step.results, body.results):
                other = renamed(other, number, names[inner])
            yield other


def smaller_bodies(program):
    for at, step in enumerate(program.steps):
        for key in ("body", "then", "otherwise"):
            if key not in step.params:
                continue
            for body in bypassed(step.params[key]):
                other = program.copy()
                params = dict(step.params, **{key: without_unused(body)})
                other.steps = list(program.steps)
                other.steps[at] = Step(step.op, step.operands, params, step.results)
                yield other
        for key, plain in (("trips", 1), ("hidden", False), ("twice", False)):
            value = step.params.get(key)
            if isinstance(value, (bool, int)) and value != plain and value:
                other = program.copy()
                other.steps = list(program.steps)
                other.steps[at] = Step(step.op, step.operands, dict(step.params, **{key: plain}),
                                       step.results)
                yield other


def plainer(program):
    """Yields programs with static extents, of all or one argument, and with constants as arguments."""
    def known(value):
        return Value("%in", value.element, value.data, None, value.encoding, value.exact)

    def shown(step):
        hidden = step.params.get("hidden")
        if isinstance(hidden, list) and any(hidden):
            return Step(step.op, step.operands, dict(step.params, hidden=[False] * len(hidden)),
                        step.results)
        return step
    if any(any(v.dynamic) for v in program.arguments) or any(shown(s) is not s for s in program.steps):
        other = program.copy()
        other.arguments = [known(v) for v in program.arguments]
        other.steps = [shown(s) for s in program.steps]
        yield other
    for at, value in enumerate(program.arguments):
        if any(value.dynamic):
            other = program.copy()
            other.arguments[at] = known(value)
            yield other
        for d in range(value.rank):
            if value.dynamic[d] and sum(value.dynamic) > 1:
                other = program.copy()
                dynamic = [k != d and n for k, n in enumerate(value.dynamic)]
                other.arguments[at] = Value("%in", value.element, value.data, dynamic, None, value.exact)
                yield other
        if not np.array_equal(value.data, np.ones_like(value.data)):
            other = program.copy()
            other.arguments[at] = Value("%in", value.element, np.ones_like(value.data), value.dynamic,
                                        None, value.exact)
            yield other
    for at, step in enumerate(program.steps):
        for key in ("strides", "dilations", "low", "high", "offsets"):
            numbers = step.params.get(key)
            plain = 1 if key in ("strides", "dilations") else 0
            for k, n in enumerate(numbers or ()):
                if n != plain:
                    changed = [plain if j == k else m for j, m in enumerate(numbers)]
                    other = program.copy()
                    other.steps = list(program.steps)
                    other.steps[at] = Step(step.op, step.operands, dict(step.params, **{key: changed}),
                                           step.results)
                    yield other


def cut(data, old, new):
    """Returns the first `new` indices along axes of extent `old`."""
    return data[tuple(slice(0, new) if n == old else slice(None) for n in data.shape)]


def smaller_shapes(program):
    """Yields programs in which all dims of one extent get a smaller one."""
    extents = {n for v in program.arguments for n in v.shape}
    extents |= {n for s in program.steps if s.op is constant for n in s.params["shape"]}
    for old in sorted((n for n in extents if n > 1), reverse=True):
        for new in sorted({1, 2, 3, 4, old // 2, old - 1}):
            if not 0 < new < old:
                continue
            other = program.copy()
            other.arguments = [Value("%in", v.element, cut(v.data, old, new), v.dynamic, None, v.exact)
                               for v in program.arguments]
            swap = lambda numbers: [new if n == old else n for n in numbers]
            other.steps = []
            for s in program.steps:
                params = dict(s.params)
                if s.op is constant:
                    data = np.asarray(params["data"]).reshape(params["shape"])
                    params["data"], params["shape"] = cut(data, old, new), swap(params["shape"])
                for key in ("sizes", "extents"):
                    if key in params:
                        params[key] = swap(params[key])
                other.steps.append(Step(s.op, s.operands, params, s.results))
            yield other
    for at, value in enumerate(program.arguments):
        for d, n in enumerate(value.shape):
            if n > 1:
                other = program.copy()
                data = value.data[(slice(None),) * d + (slice(0, max(1, n // 2)),)]
                other.arguments[at] = Value("%in", value.element, data, value.dynamic, None, value.exact)
                yield other


WAYS = (fewer_results, as_arguments, inlined, bypassed, smaller_bodies, plainer, smaller_shapes)


def size_of(program):
    """Returns the size by which candidates are compared."""
    steps = sum(1 + sum(len(p.steps) for p in s.params.values() if isinstance(p, Program))
                for s in program.steps)
    return steps, sum(v.data.size for v in program.arguments)


def candidates(program, prune):
    for way in WAYS:
        for other in way(program):
            try:
                other = prune(other)
                text = other.write()
            except Exception:  # Invalid programs are not candidates.
                continue
            yield other, text


def shrink(program, text, fails, seconds, clock):
    """Returns the smallest program found; `fails(texts)` returns which texts fail in the same way."""
    end, is_done = clock() + seconds, False
    # Ops that no result needs may be the cause of the failure.
    used = without_unused(program.copy())
    prune = lambda other: other
    try:
        used_text = used.write()
    except Exception:
        return program, text
    if fails([used_text])[0]:
        program, text, prune = used, used_text, without_unused
    while not is_done and clock() < end:
        is_done, batch = True, []
        for other in candidates(program, prune):
            batch.append(other)
            if len(batch) == TOGETHER:
                found = first_failing(batch, fails)
                batch = []
                if found:
                    break
            else:
                found = None
            if clock() > end:
                break
        else:
            found = first_failing(batch, fails)
        if found:
            (program, text), is_done = found, False
    return program, text


def first_failing(batch, fails):
    if not batch:
        return None
    for other, is_bad in zip(batch, fails([text for _, text in batch])):
        if is_bad:
            return other
    return None
