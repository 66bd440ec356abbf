# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random programs: ops, their operands, and their parameters."""

import random

import numpy as np

import ops_control as control
import ops_linalg as la
import ops_sums as sums
import ops_tensor as te
from layouts import has_three_coordinates
from program import Program, Step, constant, convert
from values import DTYPES, Builder, Skip, Value, is_complex, is_float, largest, require

LARGEST = 3000  # elements of a tensor
SIZES = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9]
LONG = [11, 13, 16, 17, 32, 33, 64]
ELEMENTS = ["f32"] * 8 + ["f16", "f16", "i32", "i32", "i8", "i8", "i64", "i16", "bf16", "i1", "i4", "index", "f64",
                                                           "complex<f32>"]
NUMBERS = {"f16": (-1, 2), "bf16": (-1, 2), "i1": (0, 2), "i4": (-2, 3)}


class Profile:
    """The programs that a pipeline supports: elements, kinds of steps, whether dims may be dynamic or empty, and the
    probability that a program starts with a value in a user-defined layout."""

    def __init__(self, elements=ELEMENTS, without=(), dynamic=0.35, empty=0.06, rank=6, specials=0.03,
                 layouts=0.25, operations=(1, 6), stored=0):
        self.elements, self.without, self.dynamic, self.empty = elements, without, dynamic, empty
        self.rank, self.specials, self.layouts, self.operations = rank, specials, layouts, operations
        self.stored = stored


class Generator:
    def __init__(self, rng, profile, layouts, inputs=None):
        self.rng, self.profile, self.layouts = rng, profile, layouts
        self.is_body = inputs is not None
        self.program, self.values, self.pool = Program(), [], []
        self.is_dynamic = rng.random() < profile.dynamic
        self.may_be_empty = rng.random() < profile.empty
        for value in inputs or ():
            self.program.inputs.append(self.number(value))
            self.pool.append(value)

    # Values.

    def number(self, value):
        value.number = len(self.values)
        self.values.append(value)
        return value.number

    def shape(self, rank):
        sizes = SIZES + LONG * (self.rng.random() < 0.15) + [0, 0] * self.may_be_empty
        shape = [self.rng.choice(sizes) for _ in range(rank)]
        while np.prod(shape) > LARGEST:
            shape[int(np.argmax(shape))] = 2
        return shape

    def data(self, shape, element, low=None, high=None):
        if low is None:
            low, high = NUMBERS.get(element, (-3, 4))
        generator = np.random.default_rng(self.rng.randrange(1 << 30))
        data = generator.integers(low, high, shape)
        if is_complex(element):
            data = data + 1j * generator.integers(low, high, shape)
        data = np.asarray(data).astype(DTYPES[element])
        if is_float(element) and data.size and self.rng.random() < self.profile.specials:
            data = data.copy()
            data.flat[self.rng.randrange(data.size)] = self.rng.choice([np.inf, -np.inf, np.nan])
        return data

    def unknown(self, rank):
        return tuple(self.is_dynamic and self.rng.random() < 0.5 for _ in range(rank))

    def operand(self, shape, element, low=None, high=None, dynamic=None):
        """Returns an operand: usually an argument, sometimes a constant with one or several numbers."""
        shape = [int(n) for n in shape]
        require(np.prod(shape) <= LARGEST and len(shape) <= self.profile.rank)
        data = self.data(shape, element, low, high)
        if not self.is_body and self.rng.random() < 0.7:
            value = Value("%in", element, data, self.unknown(len(shape)) if dynamic is None else dynamic)
            self.program.inputs.append(self.number(value))
            self.program.arguments.append(value)
            return value
        if self.rng.random() < 0.3 and data.size:
            data = np.full(shape, data.flat[0])
        return self.do(constant, element=element, data=data, shape=shape)

    def do(self, op, /, *operands, **params):
        """Adds an op; its results become values of the program."""
        made = op(Builder(quiet=True), *operands, **params)
        made = [made] if isinstance(made, Value) else made
        for value in made:
            require(value.data.size <= LARGEST and value.rank <= self.profile.rank)
            require(value.element in self.profile.elements)
        step = Step(op, [v.number for v in operands], params, [self.number(v) for v in made])
        self.program.steps.append(step)
        return made[0] if len(made) == 1 else made

    def like(self, x):
        """Returns a value with the shape and element type of x."""
        same = [v for v in self.pool if v.shape == x.shape and v.element == x.element and
                v.encoding == x.encoding]
        if same and self.rng.random() < 0.6 or x.encoding:
            return self.rng.choice(same)
        return self.operand(x.shape, x.element)

    def wider(self, element):
        """Returns a type that holds sums of `element`, often `element` itself."""
        if element in ("i8", "i4"):
            return "i32"
        if element in ("f16", "bf16") and self.rng.random() < 0.4:
            return "f32"
        return element

    # Steps. Each takes a value and adds an op that uses it, or raises Skip.

    def elementwise(self, x):
        op = self.rng.choice(list(la.BINARY))
        if self.rng.random() < 0.5:
            op = self.rng.choice(["add", "sub", "mul", "max"])
        kind = self.rng.random()
        if kind < 0.2:
            return self.do(la.on_tensors, x, self.like(x), op=op)
        if kind < 0.35:
            return self.do(la.named_pointwise, x, self.like(x), op=op)
        exprs = [d for d in range(x.rank) if self.rng.random() < 0.5]
        if self.rng.random() < 0.3:
            return self.do(la.pointwise, x, self.like(x), exprs=list(range(x.rank)), op=op)
        if self.rng.random() < 0.2:
            self.rng.shuffle(exprs)
        return self.do(la.pointwise, x, self.operand([x.shape[d] for d in exprs], x.element), exprs=exprs,
                       op=op)

    def choose(self, x):
        if self.rng.random() < 0.5:
            return self.do(la.select, x, self.like(x), kind=self.rng.choice(["lt", "le", "eq"]))
        return self.do(la.compare, x, self.like(x), kind=self.rng.choice(["lt", "ge", "ne"]))

    def unary(self, x):
        return self.do(la.unary, x, op=self.rng.choice(
            ["neg", "abs", "exp", "tanh", "square", "increment"]))

    def clamp(self, x):
        element = self.rng.choice([x.element, x.element, "i8", "i4"])
        return self.do(la.clamp, x, element=element)

    def cast(self, x):
        if x.element == "f32" and self.rng.random() < 0.15:
            return self.do(la.make_complex, x, self.like(x))
        if is_complex(x.element):
            return self.do(la.part_of_complex, x, part=self.rng.choice(["re", "im"]))
        return self.do(la.cast, x, element=self.rng.choice(self.profile.elements))

    def mixed(self, x):
        y = self.operand(x.shape, self.rng.choice(self.profile.elements))
        element = self.rng.choice([e for e in ("f32", "i32", "i64", "f64") if e in self.profile.elements])
        return self.do(la.mixed, x, y, element=element)

    def positions(self, x):
        return self.do(la.positions, x, factors=[self.rng.choice([0, 1, 2, 10]) for _ in x.shape])

    def contraction(self, x):
        require(x.element not in ("i1", "index"))
        letters = "abcdef"[:x.rank]
        shared = [c for c in letters if self.rng.random() < 0.6]
        new = self.rng.sample("uv", self.rng.choice([0, 1, 1, 2]))
        right = shared + new
        self.rng.shuffle(right)
        sizes = dict(zip(letters, x.shape))
        sizes.update({c: n for c, n in zip("uv", self.shape(2))})
        out = [c for c in letters if c not in shared or self.rng.random() < 0.4] + new
        if self.rng.random() < 0.5:
            self.rng.shuffle(out)
        order = sorted(set(letters) | set(right))
        self.rng.shuffle(order)
        y = self.operand([sizes[c] for c in right], x.element)
        return self.do(sums.contraction, x, y, spec=f"{letters},{''.join(right)}->{''.join(out)}",
                       element=self.wider(x.element), order="".join(order))

    def matmul(self, x):
        names = [n for n, spec in sums.MATMULS.items() if spec.index(",") == x.rank]
        require(names)
        name = self.rng.choice(names)
        left, right, _ = sums.MATMULS[name].replace("->", ",").split(",")
        sizes = {c: self.rng.choice(SIZES + [13, 33]) for c in right}
        sizes.update(zip(left, x.shape))
        y = self.operand([sizes[c] for c in right], x.element)
        return self.do(sums.matmul, x, y, name=name, element=self.wider(x.element))

    def steps(self, count):
        return ([self.rng.choice([1, 1, 1, 2, 3]) for _ in range(count)],
                [self.rng.choice([1, 1, 1, 2]) for _ in range(count)])

    def kernel(self, letters, own):
        sizes = {c: self.rng.choice([1, 1, 2, 3, 3]) for c in sums.SPATIAL}
        sizes.update({c: self.rng.choice(SIZES + [11, 17]) for c in "fm"})
        return [own[c] if c in own and c not in sums.SPATIAL else sizes[c] for c in letters]

    def convolution(self, x):
        require(x.element not in ("i1", "index") and not is_complex(x.element))
        names = [n for n, spec in sums.CONVOLUTIONS.items() if spec.index(",") == x.rank]
        if self.rng.random() < 0.3:
            names = [n for n in names if "2d" in n] or names
        require(names)
        name = self.rng.choice(names)
        image, kernel, out = sums.CONVOLUTIONS[name].replace("->", ",").split(",")
        strides, dilations = self.steps(sum(c in sums.SPATIAL for c in image))
        if len(image) < 3:
            strides, dilations = [1] * len(strides), [1] * len(strides)
        params = {"strides": strides, "dilations": dilations, "element": self.wider(x.element)}
        if self.rng.random() < 0.25:  # the same reduction with axes in any order
            mix = lambda text: "".join(self.rng.sample(text, len(text)))
            image, kernel, out = mix(image), mix(kernel), mix(out)
            count = len(strides)
            loops = set(out + kernel + image) - set(sums.SPATIAL) | set(sums.OUTER[:count] + sums.KERNEL[:count])
            w = self.operand(self.kernel(kernel, dict(zip(image, x.shape))), x.element)
            order = "".join(self.rng.sample(sorted(loops), len(loops)))
            return self.do(sums.generic_convolution, x, w, spec=f"{image},{kernel}->{out}", order=order,
                           **params)
        w = self.operand(self.kernel(kernel, dict(zip(image, x.shape))), x.element)
        return self.do(sums.convolution, x, w, name=name, **params)

    def transposed_convolution(self, x):
        """Adds a zero-stuffed image with padding, followed by a convolution."""
        require(x.rank in (3, 4) and is_float(x.element) and 0 not in x.shape)
        count = x.rank - 2
        first = self.rng.choice([1, 2])
        stride = [self.rng.choice([1, 2, 3]) for _ in range(count)]
        size = [(n - 1) * s + 1 for n, s in zip(x.shape[first:], stride)]
        wide = [*x.shape[:first], *size, *x.shape[first + count:]]
        zero = self.do(constant, element=x.element, data=np.zeros(wide), shape=wide)
        x = self.do(te.insert_slice, zero, x, offsets=[0] * x.rank, hidden=[False] * x.rank, drop=[],
                    strides=[stride[d - first] if first <= d < first + count else 1 for d in range(x.rank)])
        border = [self.rng.choice([0, 1, 2]) if first <= d < first + count else 0 for d in range(x.rank)]
        self.pool.append(self.do(te.pad, x, low=border, high=border, hidden=[False] * x.rank, number=0))
        return self.convolution(self.pool[-1])

    def pooling(self, x):
        names = [n for n, spec in sums.POOLINGS.items() if spec[0].index(",") == x.rank]
        require(names)
        name = self.rng.choice(names)
        count = sum(c in sums.SPATIAL for c in sums.POOLINGS[name][0].split(",")[0])
        strides, dilations = self.steps(count)
        return self.do(sums.pooling, x, name=name, size=[self.rng.choice([1, 2, 3]) for _ in range(count)],
                       strides=strides, dilations=dilations)

    def reduce(self, x):
        require(x.rank)
        over = self.rng.sample(range(x.rank), self.rng.randint(1, x.rank))
        if self.rng.random() < 0.2:
            return self.do(sums.named_reduce, x, over=over)
        if self.rng.random() < 0.15:
            value, place = self.do(sums.argmax, x, axis=over[0])
            self.pool.append(value)
            return place
        return self.do(sums.reduce, x, over=over, kind=self.rng.choice(["sum", "max", *sums.REDUCTIONS]))

    def softmax(self, x):
        require(x.rank)
        return self.do(sums.softmax, x, axis=self.rng.randrange(x.rank))

    def transpose(self, x):
        return self.do(la.transpose, x, order=self.rng.sample(range(x.rank), x.rank))

    def broadcast(self, x):
        count = self.rng.choice([1, 1, 2])
        at = sorted(self.rng.sample(range(x.rank + count), count))
        return self.do(la.broadcast, x, at=at, extents=[self.rng.choice(SIZES) for _ in at])

    def gather(self, x):
        require(x.rank)
        axis = self.rng.randrange(x.rank)
        require(x.shape[axis])
        element = self.rng.choice([e for e in ("i32", "i64", "index") if e in self.profile.elements])
        if self.rng.random() < 0.3:
            return self.do(la.reverse, x, axis=axis)
        if self.rng.random() < 0.25:
            dims = sorted(self.rng.sample(range(x.rank), self.rng.choice([1, min(2, x.rank)])))
            require(all(x.shape[d] for d in dims))
            i = self.operand([*self.shape(self.rng.choice([0, 1, 2])), len(dims)], "i32" if "i32" in
                             self.profile.elements else element, 0, min(x.shape[d] for d in dims))
            return self.do(te.tensor_gather, x, i, dims=dims)
        i = self.operand(self.shape(self.rng.choice([0, 1, 1, 2])), element, 0, x.shape[axis])
        return self.do(la.gather, x, i, axis=axis)

    def pack(self, x):
        require(x.rank)
        if x.rank > 2 and self.rng.random() < 0.4:
            count = self.rng.choice([1, min(2, x.rank // 2)])
            rank = x.rank - count
            dims = self.rng.sample(range(rank), count)
            outer = self.rng.sample(range(rank), rank) if self.rng.random() < 0.3 else []
            return self.do(la.unpack, x, dims=dims, outer=outer, cut=[
                self.rng.randrange(max(x.shape[rank + k], 1)) * (self.rng.random() < 0.5)
                for k in range(count)])
        dims = self.rng.sample(range(x.rank), self.rng.choice([1, min(2, x.rank)]))
        outer = self.rng.sample(range(x.rank), x.rank) if self.rng.random() < 0.3 else []
        return self.do(la.pack, x, dims=dims, outer=outer, tiles=[self.rng.choice([2, 3, 4, 8]) for _ in dims])

    def hidden(self, rank):
        return [self.is_dynamic and self.rng.random() < 0.4 for _ in range(rank)]

    def pad(self, x):
        low, high = ([self.rng.choice([0, 0, 1, 2]) for _ in x.shape] for _ in range(2))
        return self.do(te.pad, x, low=low, high=high, hidden=self.hidden(x.rank),
                       number=self.rng.choice([0, 0, 1]))

    def part(self, shape):
        offsets, sizes, strides = [], [], []
        for size in shape:
            if size == 0 or self.rng.random() < 0.5:
                offsets.append(0), sizes.append(size), strides.append(1)
                continue
            first, step = self.rng.randrange(size), self.rng.choice([1, 1, 1, 2, 3])
            offsets.append(first), strides.append(step)
            sizes.append(self.rng.randint(1, (size - first + step - 1) // step))
        return offsets, sizes, strides

    def extract(self, x):
        offsets, sizes, strides = self.part(x.shape)
        hidden = self.hidden(x.rank)
        drop = [d for d in range(x.rank) if sizes[d] == 1] * (self.rng.random() < 0.4)
        return self.do(te.extract_slice, x, offsets=offsets, sizes=sizes, strides=strides, hidden=hidden,
                       drop=drop)

    def insert(self, x):
        if self.rng.random() < 0.1:
            require(x.data.size)
            return self.do(te.insert, x, at=[self.rng.randrange(n) for n in x.shape], number=1)
        offsets, sizes, strides = self.part(x.shape)
        hidden = self.hidden(x.rank)
        drop = [d for d in range(x.rank) if sizes[d] == 1] * (self.rng.random() < 0.3)
        shape = [n for d, n in enumerate(sizes) if d not in drop]
        same = [v for v in self.pool if list(v.shape) == shape and v.element == x.element and not v.encoding]
        y = self.rng.choice(same) if same else self.operand(shape, x.element)
        return self.do(te.insert_slice, x, y, offsets=offsets, strides=strides, hidden=hidden, drop=drop)

    def concat(self, x):
        require(x.rank)
        axis = self.rng.randrange(x.rank)
        shape = list(x.shape)
        shape[axis] = self.rng.choice(SIZES)
        values = [x, self.operand(shape, x.element)]
        values += [v for v in self.pool[-4:] if v.element == x.element and v.rank == x.rank and
                   not v.encoding and all(d == axis or a == c for d, (a, c) in
                                          enumerate(zip(v.shape, x.shape)))][:3]
        self.rng.shuffle(values)
        return self.do(te.concat, *values, axis=axis)

    def collapse(self, x):
        if x.data.size == 1 and self.rng.random() < 0.3:
            return self.do(te.collapse_all, x)
        counts, left = [], x.rank
        while left:
            counts.append(min(left, self.rng.choice([1, 1, 2, 3])))
            left -= counts[-1]
        require(len(counts) < x.rank)
        return self.do(te.collapse, x, counts=counts)

    def expand(self, x):
        factors = []
        for n in x.shape:
            own = [n]
            if self.rng.random() < 0.5:
                k = self.rng.choice([k for k in range(1, max(n, 1) + 1) if n % k == 0])
                own = [k, n // k]
            factors.append(own)
        require(sum(map(len, factors)) > x.rank)
        return self.do(te.expand, x, factors=factors,
                       dynamic_at=[self.rng.randrange(2) for _ in factors])

    def retype(self, x):
        return self.do(te.cast, x, dynamic=[self.rng.random() < 0.4 for _ in x.shape])

    def elements(self, x):
        require(x.data.size)
        at = [self.rng.randrange(n) for n in x.shape]
        kind = self.rng.random()
        if kind < 0.3:
            return self.do(te.splat, x, at=at, extents=self.shape(self.rng.choice([1, 2, 3])))
        if kind < 0.5:
            return self.do(te.generate, x)
        if kind < 0.7:
            return self.do(te.from_elements, x, numbers=[1] * self.rng.randint(1, 5))
        if kind < 0.85:
            return self.do(la.fill_of, x, number=self.rng.choice([0, 1, 2]))
        shape = [x.data.size] if self.rng.random() < 0.5 else [1, x.data.size, 1]
        return self.do(te.reshape, x, extents=shape, hidden=self.hidden(len(shape)))

    # Bodies.

    def body(self, values, count, keep=True):
        """Returns a body of ops on copies of values; results have the types of the values if `keep`."""
        inputs = [Value("%b", v.element, v.data, v.dynamic, v.encoding, v.exact) for v in values]
        inner = Generator(self.rng, self.profile, self.layouts, inputs)
        inner.is_dynamic = False
        for _ in range(count):
            inner.step(BODY)
        results = []
        for value in values:
            same = [v for v in inner.pool if v.type == value.type]
            v = same[-1] if self.rng.random() < 0.8 else self.rng.choice(same)
            if keep and v.element not in ("i1", "index") and not is_complex(v.element):
                v = inner.do(la.clamp, v, element=v.element)
            results.append(v)
        inner.program.results = [v.number for v in results]
        return inner.program

    def some(self, x):
        """Returns x, and sometimes other values that are compatible with it."""
        return [x] + [v for v in self.rng.sample(self.pool, min(len(self.pool), 2))
                      if self.rng.random() < 0.4 and v is not x]

    def several(self, made):
        made = [made] if isinstance(made, Value) else made
        self.pool.extend(made[1:])
        return made[0]

    def branch(self, x):
        condition = self.rng.choice([v for v in self.pool if v.element in ("f32", "i32", "f16", "i8") and
                                     not v.encoding] or [x])
        values = self.some(x)
        bodies = [self.body(values, self.rng.randint(0, 2), keep=False) for _ in range(2)]
        return self.several(self.do(control.branch, condition, *values, then=bodies[0],
                                    otherwise=bodies[1]))

    def loop(self, x):
        values = self.some(x)
        body = self.body(values, self.rng.randint(1, 3))
        trips = self.rng.choice([0, 1, 2, 3])
        if self.rng.random() < 0.3:
            return self.several(self.do(control.repeat, *values, body=body, trips=trips))
        return self.several(self.do(control.loop, *values, body=body, trips=trips,
                                    step=self.rng.choice([1, 2]), hidden=self.rng.random() < 0.3))

    def parallel(self, x):
        require(x.rank and not x.encoding and x.data.size)
        axis = self.rng.randrange(x.rank)
        data = np.take(x.data, [0], axis)
        part = Value("%part", x.element, data, [d != axis and n for d, n in enumerate(x.dynamic)])
        return self.do(control.parallel, x, body=self.body([part], self.rng.randint(1, 2)), axis=axis)

    def call(self, x):
        require(not self.is_body)
        values = self.some(x)
        return self.several(self.do(control.call, *values, body=self.body(values, self.rng.randint(1, 3)),
                                    twice=self.rng.random() < 0.3))

    def stored(self, x):
        """Adds a conversion to a user-defined layout, or back."""
        require(self.rng.random() < self.profile.layouts * 2 and self.layouts)
        if x.encoding and self.rng.random() < 0.4:
            return self.do(convert, x, encoding=None)
        return self.do(convert, x, encoding=self.layouts(self.rng, x))

    # The program.

    def step(self, kinds):
        """Adds one op on a value of the pool, preferring recent ones; returns false if no op was added."""
        for _ in range(30):
            x = self.rng.choice(self.pool[-2:] if self.rng.random() < 0.8 else self.pool)
            names = [name for name in kinds if name not in self.profile.without]
            name = self.rng.choices(names, [kinds[name] for name in names])[0]
            if x.encoding and (name not in ENCODED or name in TO_INTEGERS and has_three_coordinates(x.encoding)):
                continue
            # An op that raises Skip must leave no trace.
            marks = [len(self.values), len(self.program.steps), len(self.program.inputs),
                     len(self.program.arguments), len(self.pool)]
            try:
                made = getattr(self, name)(x)
                self.pool.append(made)
                self.tame(made)
                return True
            except Skip:
                for kept, length in zip((self.values, self.program.steps, self.program.inputs,
                                         self.program.arguments, self.pool), marks):
                    del kept[length:]
        return False

    def tame(self, x):
        """Adds an op that makes large numbers small."""
        bound = {"i8": 20, "i4": 5, "f16": 100, "bf16": 20}.get(x.element, 5000)
        if x.element in ("i1", "index") or is_complex(x.element) or largest(x.data) <= bound or x.encoding:
            return
        if np.isfinite(x.data.astype(np.float64)).all():
            self.pool.append(self.do(la.clamp, x, element=x.element))

    def write(self):
        rank = min(self.rng.choice([4, 4, 4, 4, 3, 3, 2, 2, 1, 5, 5, 6, 0]), self.profile.rank)
        element = self.rng.choice(self.profile.elements)
        value = Value("%in", element, self.data(self.shape(rank), element), self.unknown(rank))
        self.program.inputs.append(self.number(value))
        self.program.arguments.append(value)
        self.pool.append(value)
        if self.profile.stored and self.rng.random() < self.profile.stored:
            self.pool.append(self.do(convert, value, encoding=self.layouts(self.rng, value)))
        for _ in range(self.rng.randint(*self.profile.operations)):
            self.step(KINDS)
        results = [self.pool[-1]]
        while self.rng.random() < 0.3:
            results.append(self.rng.choice(self.pool))
        self.program.results = [v.number for v in results]
        return self.program


# Weights of the kinds of steps.
KINDS = {"elementwise": 8, "unary": 3, "clamp": 2, "cast": 4, "mixed": 2, "choose": 2, "positions": 1,
         "contraction": 4, "matmul": 8, "convolution": 12, "transposed_convolution": 2, "pooling": 5,
         "reduce": 6, "softmax": 2, "transpose": 4, "broadcast": 2, "gather": 3, "pack": 3, "pad": 4,
         "extract": 4, "insert": 4, "concat": 5, "collapse": 4, "expand": 4, "retype": 1, "elements": 2,
         "branch": 2, "loop": 3, "parallel": 1, "call": 2, "stored": 4}
BODY = {"elementwise": 10, "unary": 3, "clamp": 2, "choose": 1, "transpose": 2, "matmul": 2, "pooling": 1,
        "convolution": 2, "reduce": 1, "pad": 1, "extract": 1, "insert": 2, "concat": 1, "stored": 1,
        "branch": 1, "elements": 1, "gather": 1, "cast": 1}
# The kinds of steps on a value in a user-defined layout.
ENCODED = ("elementwise", "unary", "clamp", "cast", "choose", "stored", "loop", "branch", "call", "softmax",
           "convolution", "matmul", "reduce", "contraction", "pooling")

# Steps that may create integers, which not every device supports in images with three coordinates.
TO_INTEGERS = ("cast", "choose", "clamp")


def generate(seed, profile, layouts=None):
    return Generator(random.Random(seed), profile, layouts).write()
