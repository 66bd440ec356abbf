# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random nodes with bodies, nodes with data-dependent result sizes, sequences, and the rest of opsets 18 to
26."""

import numpy as np

from nodes import FLOATS, INTEGERS, Node, Unfit, kind

FLOAT, INT64, BOOL = 1, 7, 9


def make(op, inputs, outputs, **attributes):
    from onnx import helper

    return helper.make_node(op, inputs, outputs if isinstance(outputs, list) else [outputs], **attributes)


def constant(array, name):
    from onnx import numpy_helper

    return make("Constant", [], name, value=numpy_helper.from_array(np.asarray(array), f"{name}_value"))


def body(name, nodes, inputs, outputs):
    """Returns a GraphProto; inputs and outputs are pairs of a name and an element type. Integers and booleans are
    iteration numbers and conditions; arrays have unknown rank."""
    from onnx import helper

    def of(name, element):
        return helper.make_tensor_value_info(name, element, None if element == FLOAT else [])

    return helper.make_graph(nodes, name, [of(*each) for each in inputs], [of(*each) for each in outputs])


# ------------------------------------------------------------------------- bodies

def _branch(d, name, x, label):
    """Returns a body that computes an array with the rank of x from the x of the outer graph."""
    result = f"{label}_y"
    way = d.choose("twice", "negative", "constant", "longer", "itself")
    if way == "constant":
        nodes = [constant(d.array(x.shape), result)]
    elif way == "longer" and x.ndim:
        nodes = [make("Concat", [name, name], result, axis=d.axis(x.ndim))]
    else:
        nodes = [make({"negative": "Neg", "itself": "Identity"}.get(way, "Abs"), [name], result)]
    return body(label, nodes, [], [(result, FLOAT)])


@kind(1.5)
def if_(d):
    name, x = d.of(("float32",))
    branches = {f"{label}_branch": _branch(d, name, x, label) for label in ("then", "else")}
    if d.flag(0.3):
        return Node("If", [np.array(d.flag())], branches, captured=[name])
    return [Node("ReduceMax", [name], {"keepdims": 0}), Node("Greater", ["@0", np.array(0.5, "f4")]),
            Node("If", ["@1"], branches, captured=[name])]


@kind(1.5)
def loop(d):
    name, x = d.of(("float32",))
    nodes = [constant(np.float32(0.5), "half"), make("Mul", ["state", "half"], "less"),
             make("Cast", ["i"], "number", to=FLOAT), make("Add", ["less", "number"], "next"),
             make("Identity", ["next"], "row"), constant(np.array(d.rng.randint(0, 3)), "last"),
             make("Less", ["i", "last"], "more")]
    count = np.array(d.rng.randint(0, 4)) if d.flag(0.8) else ""
    condition = np.array(d.flag(0.9)) if d.flag() or count == "" else ""
    if d.flag() and not isinstance(count, str):
        nodes[-1] = make("Identity", ["on"], "more")
    # ONNX does not define the shape of what a loop without iterations stacks.
    rows = [("row", FLOAT)] if count != 0 and condition != np.array(False) else []
    inner = body("body", nodes, [("i", INT64), ("on", BOOL), ("state", FLOAT)],
                 [("more", BOOL), ("next", FLOAT), *rows])
    return Node("Loop", [count, condition, name], {"body": inner}, outputs=1 + len(rows))


@kind()
def growing_loop(d):
    name, x = d.of(("float32",), range(1, 4))
    inner = body("body", [make("Concat", ["state", name], "next", axis=0), make("Identity", ["on"], "more")],
                 [("i", INT64), ("on", BOOL), ("state", FLOAT)], [("more", BOOL), ("next", FLOAT)])
    return Node("Loop", [np.array(d.rng.randint(0, 3)), "", name], {"body": inner}, captured=[name])


@kind()
def scan(d):
    name, x = d.of(("float32",), range(1, 4))
    if 0 in x.shape:
        raise Unfit  # ONNX Runtime divides by 0
    axis = d.axis(x.ndim)
    inner = body("body", [make("Add", ["state", "slice"], "next"), make("Mul", ["next", "slice"], "row")],
                 [("state", FLOAT), ("slice", FLOAT)], [("next", FLOAT), ("row", FLOAT)])
    shape = np.delete(x.shape, axis)
    return Node("Scan", [d.array(shape), name],
                {"body": inner, "num_scan_inputs": 1, "scan_input_axes": [axis],
                 "scan_input_directions": [int(d.flag(0.3))], "scan_output_directions": [int(d.flag(0.3))],
                 "scan_output_axes": [d.axis(x.ndim)]}, outputs=2)


# ---------------------------------------------------------------- sizes that data decide

@kind()
def compress(d):
    name, x = d.of(FLOATS + INTEGERS, range(1, 5))
    if d.flag(0.3):
        return Node("Compress", [name, d.array([d.rng.randint(0, x.size)], "bool")])
    axis = d.axis(x.ndim)
    return Node("Compress", [name, d.array([d.rng.randint(0, x.shape[axis])], "bool")], {"axis": axis})


@kind()
def unique(d):
    name, x = d.of(("float32", "int64"), range(1, 5))
    if 0 in x.shape:
        raise Unfit
    attributes = {"axis": d.axis(x.ndim)} if d.flag() else {}
    return Node("Unique", [name], {**attributes, "sorted": int(d.flag())}, outputs=d.choose(1, 4))


@kind()
def suppress(d):
    name, x = d.of(("float32",), [3])
    batch, _, count = x.shape
    corners = np.abs(d.array([batch, count, 2]))
    boxes = np.concatenate([corners, corners + np.abs(d.array([batch, count, 2])) + np.float32(0.5)], 2)
    limits = [np.array([d.rng.randint(0, 4)], np.int64), np.array([d.choose(0.0, 0.3, 0.5)], "f4"),
              np.array([d.choose(0.0, 0.5, -9.0)], "f4")]
    return Node("NonMaxSuppression", [boxes, name, *limits[:d.rng.randint(1, 3)]],
                {"center_point_box": int(d.flag(0.3))})


@kind(0.7)
def range_(d):
    dtype = d.choose("int64", "int32", "float32")
    return Node("Range", [np.array(value, dtype) for value in (d.rng.randint(-3, 3), d.rng.randint(-5, 9),
                                                               d.choose(1, 2, -1, 3))])


@kind()
def computed_reshape(d):
    """Draws shapes computed from other shapes, as exporters write them."""
    name, x = d.of(FLOATS + INTEGERS, range(1, 5))
    if 0 in x.shape:
        raise Unfit
    nodes = [Node("Shape", [name]), Node("Gather", ["@0", d.integers([d.rng.randrange(x.ndim)])]),
             Node("Concat", ["@1", d.integers([-1])], {"axis": 0})]
    return [*nodes, Node("Reshape", [name, "@2"])]


@kind()
def computed_slice(d):
    name, x = d.of(FLOATS + INTEGERS, range(1, 5))
    axis = d.axis(x.ndim)
    nodes = [Node("Shape", [name]), Node("Gather", ["@0", d.integers([axis])]),
             Node("Div" if d.flag() else "Sub", ["@1", d.integers([d.rng.randint(1, 2)])])]
    return [*nodes, Node("Slice", [name, d.integers([0]), "@2", d.integers([axis])])]


@kind()
def computed_expand(d):
    name, x = d.of(FLOATS + INTEGERS, range(1, 5))
    fill = Node("ConstantOfShape", ["@0"])
    return [Node("Shape", [name]), fill, Node("Cast", ["@1"], {"to": INT64}),
            Node("Expand", [np.array(3, x.dtype), "@0"])]


# ----------------------------------------------------------------------- sequences

@kind()
def sequence(d):
    name, x = d.of(("float32", "int64"), range(1, 5))
    axis = d.axis(x.ndim)
    made = Node("SequenceConstruct", [name, d.array(x.shape, x.dtype), name][:d.rng.randint(1, 3)])
    if d.flag(0.3):
        return [made, Node("SequenceAt", ["@0", np.array(d.choose(0, -1), np.int64)])]
    if d.flag(0.3):
        return [made, Node("SequenceInsert", ["@0", name, np.array(0, np.int64)]),
                Node("ConcatFromSequence", ["@1"], {"axis": axis})]
    if d.flag():
        return [made, Node("ConcatFromSequence", ["@0"], {"axis": axis})]
    return [made, Node("ConcatFromSequence", ["@0"], {"axis": d.axis(x.ndim + 1), "new_axis": 1})]


@kind()
def split_to_sequence(d):
    name, x = d.of(("float32", "int64"), range(1, 5))
    axis = d.axis(x.ndim)
    if not x.shape[axis]:
        raise Unfit
    parts = Node("SplitToSequence", [name, np.array(d.rng.randint(1, 3), np.int64)][:d.rng.randint(1, 2)],
                 {"axis": axis, "keepdims": 1})
    if d.flag():
        return [parts, Node("ConcatFromSequence", ["@0"], {"axis": axis})]
    return [parts, Node("SequenceLength", ["@0"])]


@kind(0.7)
def shorter_sequence(d):
    name, x = d.of(("float32", "int64"), range(1, 5))
    parts = [name, d.array(x.shape, x.dtype), name]
    place = [np.array(d.rng.randint(-3, 2), np.int64)] if d.flag() else []
    return [Node("SequenceConstruct", parts), Node("SequenceErase", ["@0", *place]),
            Node("ConcatFromSequence", ["@1"], {"axis": d.axis(x.ndim)})]


@kind(0.7)
def optional(d):
    name, _ = d.of(FLOATS + INTEGERS)
    if d.opset < 15:
        raise Unfit
    return [Node("Optional", [name]), Node(d.choose("OptionalGetElement", "OptionalHasElement"), ["@0"])]


# ---------------------------------------------------------------------- the rest


@kind()
def flatten(d):
    name, x = d.of(FLOATS + INTEGERS)
    return Node("Flatten", [name], {"axis": d.rng.randint(-x.ndim, x.ndim)})


@kind(0.3)
def dropout(d):
    name, _ = d.of(FLOATS)
    return Node("Dropout", [name], outputs=d.choose(1, 2))


@kind(0.5)
def bit_cast(d):
    from onnx import helper

    pairs = {"float32": ("int32", "uint32"), "int32": ("float32", "uint32"), "int64": ("float64", "uint64"),
             "uint8": ("int8",), "float16": ("int16",)}
    name, x = d.of(tuple(pairs))
    if d.opset < 26:
        raise Unfit
    return Node("BitCast", [name], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(d.rng.choice(pairs[x.dtype.name])))})


@kind(0.5)
def cumulative_product(d):
    name, x = d.of(("float32", "int64"), range(1, 5))
    if d.opset < 26:
        raise Unfit
    return Node("CumProd", [name, np.array(d.axis(x.ndim), np.int64)],
                {"exclusive": int(d.flag()), "reverse": int(d.flag())})


@kind()
def reverse_sequence(d):
    name, x = d.of(FLOATS + ("int64",), range(2, 5))
    if 0 in x.shape:
        raise Unfit
    time = d.rng.randint(0, 1)
    return Node("ReverseSequence", [name, d.array([x.shape[1 - time]], "int64", 1, x.shape[time] + 1)],
                {"time_axis": time, "batch_axis": 1 - time})


@kind(0.7)
def eye(d):
    return Node("EyeLike", [d.of(("float32", "int64", "int32"), [2])[0]], {"k": d.rng.randint(-3, 3)})


@kind()
def bits(d):
    name, x = d.of(INTEGERS)
    if d.opset < 18 or d.flag(0.3):
        if x.dtype.kind != "u":
            raise Unfit
        return Node("BitShift", [name, d.array(x.shape, x.dtype, 0, 7)], {"direction": d.choose("LEFT", "RIGHT")})
    if d.flag(0.2):
        return Node("BitwiseNot", [name])
    return Node(d.choose("BitwiseAnd", "BitwiseOr", "BitwiseXor"), [name, d.broadcastable(x.shape, x.dtype)])


@kind()
def several(d):
    name, x = d.of(("float32", "float64"))
    others = [d.broadcastable(x.shape, x.dtype) for _ in range(d.rng.randint(0, 3))]
    return Node(d.choose("Sum", "Mean", "Max", "Min"), [name, *others])


@kind()
def powers(d):
    name, x = d.of(("float32", "int32", "int64"))
    exponent = d.choose(0, 1, 2, 3)
    # ONNX does not define a power of integers that overflows.
    overflows = x.dtype.kind == "i" and np.abs(x.astype("f8")).max(initial=0) ** exponent >= np.iinfo(x.dtype).max
    if d.opset < 12 or overflows:
        raise Unfit
    return Node("Pow", [name, np.array(exponent, d.choose("float32", "int32", "int64"))])


@kind()
def floats_modulo(d):
    name, x = d.of(("float32", "float64", "int32"))
    return Node("Mod", [name, np.array(d.choose(2, -3, 5), x.dtype)], {"fmod": 1})


@kind()
def unary_of_some(d):
    op = d.choose("IsInf", "Reciprocal", "Log", "Tan", "Atan", "Sinh", "Asinh", "Acos", "Acosh", "Asin", "Atanh", "Cosh",
                  "Shrink", "Swish", "Size")
    if op == "Swish" and d.opset < 24:
        raise Unfit
    return Node(op, [d.of(("float32",))[0]])


@kind()
def cast_like(d):
    if d.opset < 15:
        raise Unfit
    name, _ = d.of(("float32", "int64", "int32"))
    return Node("CastLike", [name, np.array(1, d.choose("float32", "int32", "int64", "float16", "bool"))])


@kind(0.7)
def reduce_bool(d):
    name, x = d.of(("bool",), range(1, 5))
    if d.opset < 20:
        raise Unfit
    return Node(d.choose("ReduceMax", "ReduceMin"), [name, d.integers(d.axes(x.ndim, 1))], {"keepdims": int(d.flag())})


@kind()
def reduce_nothing(d):
    op = d.choose("ReduceSum", "ReduceMean", "ReduceMax", "ReduceLogSum", "ReduceL1")
    name, x = d.of(("float32",))
    if d.opset < 18 or op == "ReduceMean" and not x.size:
        raise Unfit
    return Node(op, [name, d.integers([])], {"noop_with_empty_axes": int(d.flag()), "keepdims": int(d.flag())})


@kind()
def center(d):
    name, x = d.of(("float32", "int64"), range(1, 5))
    if d.opset < 18:
        raise Unfit
    axes = d.axes(x.ndim, 1)
    return Node("CenterCropPad", [name, d.integers([d.rng.randint(1, 6) for _ in axes])], {"axes": axes})


@kind()
def resize_to_sizes(d):
    name, x = d.of(("float32",), [3, 4])
    if 0 in x.shape or d.opset < 18:
        raise Unfit
    axes = d.rng.sample(range(2, x.ndim), d.rng.randint(1, x.ndim - 2))
    attributes = {"axes": axes, "mode": d.choose("nearest", "linear"), "antialias": int(d.flag(0.3)),
                  "keep_aspect_ratio_policy": d.choose("stretch", "stretch", "not_larger", "not_smaller")}
    if attributes["mode"] == "nearest":
        attributes["antialias"] = 0
    return Node("Resize", [name, "", "", d.integers([d.rng.randint(1, 7) for _ in axes])], attributes)


@kind(0.7)
def unpool(d):
    name, x = d.of(("float32",), [4])
    if 0 in x.shape or min(x.shape[2:]) < 2:
        raise Unfit
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    return [Node("MaxPool", [name], window, outputs=2), Node("MaxUnpool", ["@0", "@0:1"], window)]


@kind(0.7)
def scatter_cache(d):
    name, x = d.of(("float32",), [4])
    if 0 in x.shape or d.opset < 24:
        raise Unfit
    length = d.rng.randint(1, x.shape[2])
    update = d.array([*x.shape[:2], length, x.shape[3]])
    return Node("TensorScatter", [name, update, d.array([x.shape[0]], "int64", 0, x.shape[2] - length + 1)],
                {"axis": 2, "mode": d.choose("linear", "circular")})
