# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random nodes of ONNX graphs.

A kind is a function of a Draw that returns a Node, or raises Unfit if the available values do not match the operator.
Constant operands (axes, shapes, weights) are arrays among the inputs.
"""

import dataclasses

import numpy as np

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64")
MOST = 4096  # elements of a value


class Unfit(Exception):
    """Raised if the available values do not match the operator."""


@dataclasses.dataclass
class Node:
    """`inputs` are names of values, constant arrays, or "" for an omitted one. `captured` are the values that bodies
    among the attributes use. A kind may return a list of Nodes, in which "@k" is the first output of node k and "@k:n"
    its output n; only the outputs of the last one become values of the graph."""
    op: str
    inputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    outputs: int = 1
    domain: str = ""
    captured: list = dataclasses.field(default_factory=list)

    @property
    def used(self):
        """Returns the names of the values that the node reads."""
        return [name for name in self.inputs if isinstance(name, str) and name] + self.captured


class Draw:
    """Draws random values of a graph. `has_dynamic_dims` is true if the inputs have dynamic dims."""

    def __init__(self, rng, values, opset, has_dynamic_dims=False):
        self.rng, self.values, self.opset, self.has_dynamic_dims = rng, values, opset, has_dynamic_dims

    def value(self, fits=lambda array: True):
        """Returns the name of a matching value, preferring newer ones."""
        names = [name for name, array in self.values.items() if fits(array)]
        if not names:
            raise Unfit
        return names[min(self.rng.randrange(len(names)), self.rng.randrange(len(names)))] \
            if self.rng.random() < 0.3 else names[-1 - min(self.rng.randrange(len(names)), self.rng.randrange(len(names)))]

    def of(self, dtypes=FLOATS, ranks=range(9)):
        name = self.value(lambda a: a.dtype.name in dtypes and a.ndim in ranks)
        return name, self.values[name]

    def choose(self, *options):
        return self.rng.choice(options)

    def flag(self, odds=0.5):
        return self.rng.random() < odds

    def axis(self, rank):
        return self.rng.randrange(-rank, rank)

    def axes(self, rank, least=0):
        count = self.rng.randint(min(least, rank), rank)
        return [axis - rank * self.flag(0.3) for axis in self.rng.sample(range(rank), count)]

    def array(self, shape, dtype="float32", low=-3, high=4):
        generator = np.random.default_rng(self.rng.randrange(1 << 30))
        kind = np.dtype(dtype).kind
        if kind == "b":
            numbers = generator.integers(0, 2, shape)
        elif kind in "iu":
            numbers = generator.integers(max(low, 0) if kind == "u" else low, high, shape)
        else:
            numbers = generator.integers(low * 4, high * 4, shape) / 4
        return np.asarray(numbers, dtype)

    def integers(self, values):
        return np.array(values, np.int64)

    def broadcastable(self, shape, dtype):
        """Returns a constant that broadcasts with a shape: unit dims, and dropped dims."""
        sizes = [1 if self.flag(0.4) else size for size in shape]
        return self.array(sizes[self.rng.randint(0, len(sizes)):], dtype)

    def axes_input(self, node, axes, since):
        """Adds axes as the opset requires: as an attribute, or from `since` on as an input."""
        if self.opset >= since:
            node.inputs.append(self.integers(axes))
        else:
            node.attributes["axes"] = axes
        return node


KINDS = []


def kind(weight=1.0):
    def register(function):
        KINDS.append((function, weight))
        return function
    return register


# ------------------------------------------------------------------- elementwise

@kind(3)
def unary(d):
    op = d.choose("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Exp", "Erf", "Softplus", "Softsign", "Floor", "Ceil", "Round",
                  "HardSigmoid", "LeakyRelu", "Elu", "Selu", "HardSwish", "Identity", "Sqrt", "Sign", "Sin", "Cos",
                  "ThresholdedRelu", "Celu", "Mish", "Gelu", "IsNaN")
    since = {"HardSwish": 14, "Mish": 18, "Gelu": 20, "Celu": 12}
    if d.opset < since.get(op, 0):
        raise Unfit
    dtypes = FLOATS + ("int32", "int64", "int8") if op in ("Abs", "Neg", "Sign", "Identity") else ("float32",)
    return Node(op, [d.of(dtypes)[0]])


@kind(3)
def binary(d):
    op = d.choose("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Mod", "Equal", "Less", "Greater", "LessOrEqual",
                  "GreaterOrEqual", "PRelu")
    if op in ("LessOrEqual", "GreaterOrEqual") and d.opset < 12:
        raise Unfit
    dtypes = ("float32",) if op in ("Pow", "PRelu") else INTEGERS if op == "Mod" else FLOATS + INTEGERS
    if op in ("Max", "Min", "Div") and d.flag(0.7):
        dtypes = ("float32", "int64", "int32")
    name, x = d.of(dtypes)
    same = [n for n, a in d.values.items() if a.dtype == x.dtype and a.shape == x.shape]
    other = d.rng.choice(same) if d.flag() else d.broadcastable(x.shape, x.dtype)
    if op in ("Div", "Mod") and not isinstance(other, str):
        other = np.where(other == 0, np.ones_like(other), other)
    elif op in ("Div", "Mod") and x.dtype.kind in "iu":
        raise Unfit
    if op == "Pow":
        other = np.full((), 2, "f4")
    inputs = [name, other] if op in ("PRelu", "Pow", "Div", "Mod") or d.flag(0.7) else [other, name]
    return Node(op, inputs)


@kind()
def where(d):
    name, x = d.of(FLOATS + INTEGERS)
    condition = d.broadcastable(x.shape, "bool")
    return Node("Where", [condition, name, d.broadcastable(x.shape, x.dtype)])


@kind(1.5)
def cast(d):
    from onnx import helper

    name, x = d.of(FLOATS + INTEGERS + ("bool",))
    target = d.choose("float32", "float32", "int64", "int32", "uint8", "int8", "bool", "float16", "float64", "uint32")
    if x.dtype.kind == "f" and target.startswith("u"):
        raise Unfit  # negative values are not supported
    return Node("Cast", [name], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(target))})


@kind()
def clip(d):
    name, x = d.of(("float32", "int32", "int64", "uint8"))
    low, high = (np.array(v, x.dtype) for v in ((0, 2) if x.dtype.kind == "u" else (-1, 2)))
    return Node("Clip", [name, low if d.flag(0.8) else "", high] if d.flag(0.8) else [name, low])


@kind()
def logic(d):
    name, x = d.of(("bool",))
    return Node("Not", [name]) if d.flag(0.3) else Node(d.choose("And", "Or", "Xor"),
                                                        [name, d.broadcastable(x.shape, "bool")])


# -------------------------------------------------------------------- reductions

@kind(2)
def reduction(d):
    op = d.choose("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                  "ReduceSumSquare", "ReduceLogSumExp")
    name, x = d.of(("float32",) if d.flag(0.7) or op in ("ReduceL2", "ReduceLogSumExp", "ReduceMean")
                   else ("int32", "int64"))
    if op == "ReduceMean" and not x.size:
        raise Unfit  # ONNX does not define the mean of nothing
    node = Node(op, [name], {"keepdims": int(d.flag())})
    if x.ndim and d.flag(0.8):
        axes = d.axes(x.ndim, 1)
        if not x.size:
            axes = [axis % x.ndim for axis in axes]  # ONNX Runtime does not reduce an empty tensor along negative axes
        d.axes_input(node, axes, 13 if op == "ReduceSum" else 18)
    return node


@kind()
def arg_reduction(d):
    name, x = d.of(("float32", "int32"), range(1, 9))
    attributes = {"axis": d.axis(x.ndim), "keepdims": int(d.flag())}
    if not x.size:
        attributes["axis"] %= x.ndim  # ONNX Runtime does not reduce an empty tensor along a negative axis
    if d.opset >= 12:
        attributes["select_last_index"] = int(d.flag(0.3))
    return Node(d.choose("ArgMax", "ArgMin"), [name], attributes)


@kind(1.5)
def softmax(d):
    name, x = d.of(("float32",), range(1, 9))
    return Node(d.choose("Softmax", "LogSoftmax", "Hardmax"), [name], {"axis": d.axis(x.ndim)} if d.flag(0.8) else {})


@kind()
def cumsum(d):
    name, x = d.of(("float32", "int64", "int32"), range(1, 9))
    return Node("CumSum", [name, np.array(d.axis(x.ndim), np.int64)],
                {"exclusive": int(d.flag()), "reverse": int(d.flag())})


@kind()
def top_k(d):
    name, x = d.of(("float32", "int64"), range(1, 9))
    axis = d.axis(x.ndim)
    return Node("TopK", [name, d.integers([d.rng.randint(0, x.shape[axis])])],
                {"axis": axis, "largest": int(d.flag())}, outputs=2)


# ---------------------------------------------------------------------- movement

@kind(2)
def transpose(d):
    name, x = d.of(FLOATS + INTEGERS + ("bool",))
    return Node("Transpose", [name], {"perm": d.rng.sample(range(x.ndim), x.ndim)} if d.flag(0.8) and x.ndim else {})


@kind(2)
def reshape(d):
    name, x = d.of(FLOATS + INTEGERS + ("bool",))
    left, sizes = x.size, []
    while left > 1 and len(sizes) < 4:
        size = d.rng.choice([n for n in range(1, left + 1) if left % n == 0][:8] + [left])
        sizes.append(size)
        left //= size
    sizes += [left] * (left != 1)
    if x.size == 0:
        raise Unfit
    d.rng.shuffle(sizes)
    if sizes and d.flag():
        sizes[d.rng.randrange(len(sizes))] = -1
    elif sizes and x.ndim and sizes[0] == x.shape[0]:
        sizes[0] = 0
    return Node("Reshape", [name, d.integers(sizes)])


@kind()
def squeeze(d):
    name, x = d.of(FLOATS + INTEGERS)
    ones = [axis for axis in range(x.ndim) if x.shape[axis] == 1]
    if ones and d.flag():
        return d.axes_input(Node("Squeeze", [name]), ones, 13)
    rank = x.ndim + 1
    return d.axes_input(Node("Unsqueeze", [name]), [d.axis(rank)], 13)


@kind(2)
def slice_(d):
    name, x = d.of(FLOATS + INTEGERS + ("bool",), range(1, 9))
    axes = d.axes(x.ndim, 1)
    steps = [d.choose(1, 1, 2, -1, -2, 3) for _ in axes]
    far = 2**31 - 1
    starts = [d.choose(0, 1, -1, -2, d.rng.randint(-9, 9), far if step < 0 else 0) for step in steps]
    ends = [d.choose(far, -1, d.rng.randint(-9, 9)) if step > 0 else d.choose(-far, 0, d.rng.randint(-9, 9))
            for step in steps]
    inputs = [name, d.integers(starts), d.integers(ends)]
    if d.flag(0.9):
        inputs += [d.integers(axes), d.integers(steps)]
    elif len(axes) < x.ndim:
        raise Unfit
    return Node("Slice", inputs)


@kind(1.5)
def concat(d):
    name, x = d.of(FLOATS + INTEGERS + ("bool",), range(1, 9))
    axis = d.axis(x.ndim)
    shape = list(x.shape)
    shape[axis] = d.rng.randint(0, 3)
    if d.has_dynamic_dims and 0 in shape:
        raise Unfit  # ONNX Runtime ignores the sizes of an empty part, which may define dynamic dims
    parts = [name, d.array(shape, x.dtype)]
    if d.flag(0.3):
        parts.append(name)
    d.rng.shuffle(parts)
    return Node("Concat", parts, {"axis": axis})


@kind(1.5)
def pad(d):
    name, x = d.of(("float32", "int64", "uint8", "int32"), range(1, 9))
    mode = d.choose("constant", "constant", "reflect", "edge", "wrap")
    if mode == "wrap" and d.opset < 19 or x.size == 0:
        raise Unfit
    amounts = [d.rng.randint(-1 if mode == "constant" else 0, 2) for _ in range(2 * x.ndim)]
    inputs = [name, d.integers(amounts)]
    if mode == "constant" and d.flag():
        inputs.append(np.array(3, x.dtype))
    return Node("Pad", inputs, {"mode": mode})


@kind()
def tile(d):
    name, x = d.of(FLOATS + INTEGERS)
    return Node("Tile", [name, d.integers([d.rng.randint(0 if d.flag(0.1) else 1, 3) for _ in x.shape])])


@kind()
def expand(d):
    name, x = d.of(FLOATS + INTEGERS)
    shape = [d.rng.randint(1, 3) if size == 1 else d.choose(1, size) for size in x.shape]
    return Node("Expand", [name, d.integers([d.rng.randint(1, 3)] * d.flag(0.3) + shape)])


@kind()
def split(d):
    name, x = d.of(FLOATS + INTEGERS, range(1, 9))
    axis = d.axis(x.ndim)
    first = d.rng.randint(0, x.shape[axis])
    sizes = [first, x.shape[axis] - first]
    node = Node("Split", [name], {"axis": axis}, outputs=2)
    if d.opset >= 13:
        node.inputs.append(d.integers(sizes))
    else:
        node.attributes["split"] = sizes
    return node


@kind()
def space(d):
    name, x = d.of(("float32",), [4])
    if d.flag():
        return Node("SpaceToDepth", [name], {"blocksize": d.choose(1, 2)})
    return Node("DepthToSpace", [name], {"blocksize": d.choose(1, 2), "mode": d.choose("DCR", "CRD")})


@kind()
def trilu(d):
    if d.opset < 14:
        raise Unfit
    name, x = d.of(("float32", "int64"), range(2, 9))
    return Node("Trilu", [name, np.array(d.rng.randint(-3, 3), np.int64)], {"upper": int(d.flag())})


# ----------------------------------------------------------------------- indices

@kind(1.5)
def gather(d):
    name, x = d.of(FLOATS + INTEGERS, range(1, 9))
    axis = d.axis(x.ndim)
    size = x.shape[axis]
    if not size:
        raise Unfit
    op = d.choose("Gather", "Gather", "GatherElements")
    shape = x.shape if op == "GatherElements" else [d.rng.randint(0, 3) for _ in range(d.rng.randint(0, 2))]
    return Node(op, [name, d.array(shape, d.choose("int64", "int32"), -size, size)], {"axis": axis})


@kind()
def gather_nd(d):
    name, x = d.of(("float32", "int64"), range(1, 9))
    depth = d.rng.randint(1, x.ndim)
    if 0 in x.shape:
        raise Unfit
    count = d.rng.randint(1, 3)
    places = np.stack([d.array([count], "int64", -size, size) for size in x.shape[:depth]], 1)
    return Node("GatherND", [name, places])


@kind()
def scatter(d):
    name, x = d.of(("float32", "int64"), range(1, 9))
    if 0 in x.shape:
        raise Unfit
    attributes = {}
    if d.opset >= 16:
        attributes["reduction"] = d.choose("none", "add", "mul") if d.opset < 18 else d.choose("add", "max", "min")
    if d.flag():
        axis = d.axis(x.ndim)
        shape = [d.rng.randint(1, size) for size in x.shape]
        if attributes.get("reduction", "none") == "none":
            shape[axis] = 1
        places = d.array(shape, "int64", -x.shape[axis], x.shape[axis])
        return Node("ScatterElements", [name, places, d.array(shape, x.dtype)], {**attributes, "axis": axis})
    places = np.stack([d.array([1], "int64", -size, size) for size in x.shape[:1]], 1)
    return Node("ScatterND", [name, places, d.array((1, *x.shape[1:]), x.dtype)], attributes)


@kind(0.5)
def one_hot(d):
    name, x = d.of(("int64", "int32"))
    return Node("OneHot", [name, np.array(4, np.int64), np.array([0, 1], np.float32)], {"axis": d.axis(x.ndim + 1)})


@kind(0.7)
def of_shape(d):
    name, x = d.of(FLOATS + INTEGERS + ("bool",))
    return Node(d.choose("Shape", "Size"), [name])


@kind(0.5)
def non_zero(d):
    return Node("NonZero", [d.of(("float32", "int64", "bool"), range(1, 5))[0]])


# ---------------------------------------------------------------- sums of products

@kind(2)
def matmul(d):
    name, x = d.of(("float32", "float32", "float64", "int32"), range(1, 9))
    k, n = x.shape[-1], d.rng.randint(1, 7)
    batch = [d.choose(1, size) for size in x.shape[:-2]] if d.flag(0.3) else []
    other = d.array([*batch, k, n], x.dtype) if d.flag(0.85) else d.array([k], x.dtype)
    return Node("MatMul", [name, other])


@kind()
def gemm(d):
    name, x = d.of(("float32", "float64"), [2])
    m, k, n = *x.shape, d.rng.randint(1, 7)
    transposed = d.flag()
    other = d.array([n, k] if transposed else [k, n], x.dtype)
    inputs = [name, other, d.array(d.choose([n], [1, n], [m, 1], []), x.dtype)] if d.flag(0.7) else [name, other]
    return Node("Gemm", inputs, {"transB": int(transposed), "alpha": d.choose(1.0, 0.5), "beta": d.choose(1.0, 2.0)})


def _window(d, sizes):
    return {"strides": [d.rng.randint(1, 3) for _ in sizes], "dilations": [d.choose(1, 1, 2) for _ in sizes],
            "pads": [d.rng.randint(0, 2) for _ in range(2 * len(sizes))]}


@kind(2.5)
def conv(d):
    name, x = d.of(("float32",), [3, 4])
    channels = x.shape[1]
    group = d.choose(1, 1, channels) if channels else 1
    outputs = group * d.rng.randint(1, 5)
    kernel = [d.rng.randint(1, 3) for _ in x.shape[2:]]
    if 0 in x.shape:
        raise Unfit
    attributes = _window(d, kernel) if d.flag(0.7) else {"auto_pad": d.choose("SAME_UPPER", "SAME_LOWER", "VALID")}
    weights = d.array([outputs, channels // group, *kernel])
    bias = [d.array([outputs])] if d.flag() else []
    return Node("Conv", [name, weights, *bias], {**attributes, "group": group})


@kind()
def conv_transpose(d):
    name, x = d.of(("float32",), [3, 4])
    kernel = [d.rng.randint(1, 3) for _ in x.shape[2:]]
    if 0 in x.shape:
        raise Unfit
    strides = [d.rng.randint(1, 3) for _ in kernel]
    group = d.choose(1, x.shape[1])
    return Node("ConvTranspose", [name, d.array([x.shape[1], d.rng.randint(1, 4), *kernel])],
                {"strides": strides, "group": group, "pads": [d.rng.randint(0, 1) for _ in range(2 * len(kernel))],
                 "output_padding": [d.rng.randint(0, stride - 1) for stride in strides]})


@kind(2)
def pool(d):
    op = d.choose("MaxPool", "AveragePool", "AveragePool", "LpPool")
    name, x = d.of(("float32",), [3, 4])
    if 0 in x.shape:
        raise Unfit
    kernel = [d.rng.randint(1, 3) for _ in x.shape[2:]]
    attributes = {"kernel_shape": kernel, "strides": [d.rng.randint(1, 3) for _ in kernel],
                  "pads": [d.rng.randint(0, size - 1) for size in kernel * 2]}
    if op == "MaxPool":
        attributes["dilations"] = [d.choose(1, 1, 2) for _ in kernel]
    if op != "LpPool":
        attributes["ceil_mode"] = int(d.flag())
    if op == "AveragePool":
        attributes["count_include_pad"] = int(d.flag())
    return Node(op, [name], attributes, outputs=2 if op == "MaxPool" and d.flag(0.2) else 1)


@kind(0.7)
def global_pool(d):
    return Node(d.choose("GlobalAveragePool", "GlobalMaxPool"), [d.of(("float32",), [3, 4])[0]])


@kind()
def normalization(d):
    op = d.choose("BatchNormalization", "InstanceNormalization", "LayerNormalization", "LpNormalization", "LRN")
    name, x = d.of(("float32",), [3, 4] if op != "LayerNormalization" else range(1, 5))
    if 0 in x.shape:
        raise Unfit
    if op == "LayerNormalization":
        if d.opset < 17:
            raise Unfit
        axis = d.axis(x.ndim)
        return Node(op, [name, d.array(x.shape[axis:])], {"axis": axis})
    if op == "LpNormalization":
        return Node(op, [name], {"axis": d.axis(x.ndim), "p": d.choose(1, 2)})
    if op == "LRN":
        return Node(op, [name], {"size": d.choose(1, 2, 3, 5)})
    c = x.shape[1]
    rest = [d.array([c]), np.abs(d.array([c])) + 1] if op == "BatchNormalization" else []
    return Node(op, [name, d.array([c]), d.array([c]), *rest])


@kind()
def resize(d):
    name, x = d.of(("float32",), [4])
    if 0 in x.shape:
        raise Unfit
    scales = np.array([1, 1, d.choose(1, 2, 0.5, 1.5), d.choose(1, 2, 0.5, 3)], np.float32)
    mode = d.choose("nearest", "linear", "cubic")
    way = d.choose("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel")
    attributes = {"mode": mode, "coordinate_transformation_mode": way}
    if mode == "nearest":
        attributes["nearest_mode"] = d.choose("floor", "round_prefer_floor", "ceil")
    return Node("Resize", [name, "", scales], attributes)


# --------------------------------------------------------------- quantized, recurrent

@kind()
def quantize(d):
    if d.flag():
        name, x = d.of(("uint8", "int8"))
        return Node("DequantizeLinear", [name, np.array(0.25, "f4"), np.array(3, x.dtype)])
    name, _ = d.of(("float32",))
    return Node("QuantizeLinear", [name, np.array(0.25, "f4"), np.array(3, d.choose("u1", "i1"))])


@kind(0.5)
def recurrent(d):
    op, gates = d.choose(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    name, x = d.of(("float32",), [3])
    if 0 in x.shape:
        raise Unfit
    both = d.flag(0.3)
    directions, hidden = 1 + both, d.rng.randint(1, 4)
    inputs = [name, d.array([directions, gates * hidden, x.shape[2]]) / 8,
              d.array([directions, gates * hidden, hidden]) / 8]
    if d.flag():
        inputs.append(d.array([directions, 2 * gates * hidden]) / 8)
        if d.flag():
            inputs.append(d.array([x.shape[1]], "int32", 1, x.shape[0] + 1))
    way = "bidirectional" if both else d.choose("forward", "reverse")
    return Node(op, inputs, {"hidden_size": hidden, "direction": way}, outputs=2)
