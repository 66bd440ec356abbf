"""Builds the networks of ./dev bench --peers as ONNX models, with seeded random weights.

Six are those of the onnx package, whose constant weights are replaced by random ones. The others are built by one short
function each, whose keyword arguments are the sizes.
"""

import math
import os
import pathlib
import zlib
from typing import NamedTuple

import numpy as np
import onnx
import onnx.version_converter
from onnx import TensorProto, helper, numpy_helper

from layout_mlir.run import positive

OPSET = 17
IR_VERSION = 8


class Value(NamedTuple):
    """A value; `width` is the extent of the dim that weights contract: channels, or the last dim of tokens."""

    name: str
    width: int


class Graph:
    """The nodes and weights of a model under construction, in order of creation."""

    def __init__(self, name):
        self.name, self.random = name, np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes, self.weights, self.inputs = [], [], []

    def input(self, name, *shape, element=TensorProto.FLOAT, width=None):
        self.inputs.append(helper.make_tensor_value_info(name, element, shape))
        return Value(name, width)

    def weight(self, *shape, contracted):
        """Returns random weights, scaled so that a sum of `contracted` products keeps the magnitude of its input."""
        return self.random.standard_normal(shape, np.float32) * np.float32(contracted ** -0.5)

    def op(self, kind, *operands, width=None, **attributes):
        """Adds a node on values, arrays and numbers; the latter two become constants. The result has the width of the
        first operand by default."""
        names = [each.name if isinstance(each, Value) else self._constant(each) for each in operands]
        self.nodes.append(helper.make_node(kind, names, [f"v{len(self.nodes)}"], **attributes))
        return Value(self.nodes[-1].output[0], width or operands[0].width)

    def split(self, x, count, axis):
        names = [f"v{len(self.nodes)}.{part}" for part in range(count)]
        self.nodes.append(helper.make_node("Split", [x.name], names, axis=axis))
        return [Value(name, x.width // count) for name in names]

    def _constant(self, value):
        array = np.asarray(value, np.float32) if isinstance(value, float) else np.asarray(value)
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def model(self, *results):
        outputs = [helper.make_tensor_value_info(each.name, TensorProto.FLOAT, None) for each in results]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                                 ir_version=IR_VERSION)

    # Building blocks of networks.

    def conv(self, x, width, kernel, stride=1, depthwise=False, gain=2.0):
        """Adds a convolution with the bias of a folded batch norm; `gain` compensates for the following activation."""
        inner = 1 if depthwise else x.width
        weight = self.weight(width, inner, kernel, kernel, contracted=inner * kernel ** 2 / gain)
        return self.op("Conv", x, weight, self.weight(width, contracted=100), width=width,
                       strides=[stride] * 2, pads=[kernel // 2] * 4,
                       group=x.width if depthwise else 1)

    def linear(self, x, width, bias=True):
        y = self.op("MatMul", x, self.weight(x.width, width, contracted=x.width), width=width)
        return self.op("Add", y, self.weight(width, contracted=100)) if bias else y

    def classifier(self, x, classes):
        x = self.op("Flatten", self.op("GlobalAveragePool", x))
        return self.op("Gemm", x, self.weight(x.width, classes, contracted=x.width),
                       self.weight(classes, contracted=100), width=classes)

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, math.sqrt(2)))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, 1.0)), 0.5)

    def layer_norm(self, x):
        return self.op("LayerNormalization", x, 1 + self.weight(x.width, contracted=100),
                       self.weight(x.width, contracted=100), axis=-1, epsilon=1e-6)

    def rms_norm(self, x):
        mean = self.op("ReduceMean", self.op("Mul", x, x), axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, 1e-5))
        return self.op("Mul", self.op("Div", x, root), 1 + self.weight(x.width, contracted=100))

    def heads(self, x, heads, order=(0, 2, 1, 3)):
        split = self.op("Reshape", x, np.array([0, 0, heads, -1]), width=x.width // heads)
        return self.op("Transpose", split, perm=order)

    def attend(self, q, k_transposed, v, mask=None):
        """Adds attention on operands [batch, heads, ..]; the result is [batch, rows, heads, ..]."""
        scores = self.op("Div", self.op("MatMul", q, k_transposed), math.sqrt(q.width))
        scores = scores if mask is None else self.op("Add", scores, mask)
        y = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        return self.op("Transpose", y, perm=(0, 2, 1, 3))

    def encoder(self, x, layers, heads, mask=None, norm_first=False):
        """Adds layers of attention and of two products with a GELU between them."""
        def branch(x, function):
            if norm_first:
                return self.op("Add", x, function(self.layer_norm(x)))
            return self.layer_norm(self.op("Add", x, function(x)))

        def attention(x):
            q, k, v = (self.heads(self.linear(x, x.width), heads, order)
                       for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
            y = self.op("Reshape", self.attend(q, k, v, mask), np.array([0, 0, -1]), width=x.width)
            return self.linear(y, x.width)

        for _ in range(layers):
            x = branch(x, attention)
            x = branch(x, lambda x: self.linear(self.gelu(self.linear(x, 4 * x.width)), x.width))
        return x


def mobilenet_v2(g, image=224, scale=1.0, blocks=(1, 2, 3, 4, 3, 3, 1), classes=1000):
    """Sandler et al. 2018, table 2."""
    def relu6(x):
        return g.op("Clip", x, 0.0, 6.0)

    x = g.input("image", 1, 3, image, image, width=3)
    x = relu6(g.conv(x, int(32 * scale), 3, 2))
    for channels, count, expansion, first in zip((16, 24, 32, 64, 96, 160, 320), blocks,
                                                 (1, 6, 6, 6, 6, 6, 6), (1, 2, 2, 2, 1, 2, 1)):
        for stride in [first] + [1] * (count - 1):
            y = x if expansion == 1 else relu6(g.conv(x, x.width * expansion, 1))
            y = relu6(g.conv(y, y.width, 3, stride, depthwise=True))
            y = g.conv(y, int(channels * scale), 1, gain=1.0)
            x = g.op("Add", x, y) if stride == 1 and x.width == y.width else y
    return [g.classifier(relu6(g.conv(x, int(1280 * scale), 1)), classes)]


def efficientnet_b0(g, image=224, scale=1.0, blocks=(1, 2, 2, 3, 3, 4, 1), classes=1000):
    """Tan and Le 2019, table 1: inverted residuals with squeeze and excitation."""
    x = g.input("image", 1, 3, image, image, width=3)
    x = g.silu(g.conv(x, int(32 * scale), 3, 2))
    for channels, count, kernel, expansion, first in zip(
            (16, 24, 40, 80, 112, 192, 320), blocks, (3, 3, 5, 3, 5, 5, 3), (1, 6, 6, 6, 6, 6, 6),
            (1, 2, 2, 2, 1, 2, 1)):
        for stride in [first] + [1] * (count - 1):
            y = x if expansion == 1 else g.silu(g.conv(x, x.width * expansion, 1))
            y = g.silu(g.conv(y, y.width, kernel, stride, depthwise=True))
            gate = g.silu(g.conv(g.op("GlobalAveragePool", y), max(1, x.width // 4), 1))
            y = g.op("Mul", y, g.op("Sigmoid", g.conv(gate, y.width, 1)))
            y = g.conv(y, int(channels * scale), 1)
            x = g.op("Add", x, y) if stride == 1 and x.width == y.width else y
    return [g.classifier(g.silu(g.conv(x, int(1280 * scale), 1)), classes)]


def unet(g, image=256, channels=32, levels=4):
    """Ronneberger et al. 2015, with padding, half of the channels and a 256x256 image."""
    def double(x, width):
        for _ in range(2):
            x = g.op("Relu", g.conv(x, width, 3))
        return x

    x, skips = g.input("image", 1, 1, image, image, width=1), []
    for level in range(levels):
        skips.append(double(x, channels << level))
        x = g.op("MaxPool", skips[-1], kernel_shape=[2, 2], strides=[2, 2])
    x = double(x, channels << levels)
    for skip in reversed(skips):
        up = g.op("ConvTranspose", x, g.weight(x.width, skip.width, 2, 2, contracted=x.width),
                  g.weight(skip.width, contracted=100), width=skip.width, strides=[2, 2])
        x = double(g.op("Concat", skip, up, axis=1, width=2 * skip.width), skip.width)
    return [g.conv(x, 2, 1)]


def vit_b16(g, image=224, patch=16, layers=12, hidden=768, heads=12, classes=1000):
    """Dosovitskiy et al. 2020, table 1."""
    x = g.input("image", 1, 3, image, image, width=3)
    places = (image // patch) ** 2
    weight = g.weight(hidden, 3, patch, patch, contracted=3 * patch ** 2)
    x = g.op("Conv", x, weight, g.weight(hidden, contracted=100), width=hidden, strides=[patch] * 2)
    x = g.op("Transpose", g.op("Reshape", x, np.array([1, hidden, places])), perm=(0, 2, 1))
    token = g.op("Identity", g.weight(1, 1, hidden, contracted=1), width=hidden)
    x = g.op("Add", g.op("Concat", token, x, axis=1), g.weight(places + 1, hidden, contracted=10))
    x = g.layer_norm(g.encoder(x, layers, heads, norm_first=True))
    return [g.linear(g.op("Gather", x, np.array(0), axis=1), classes)]


def bert_base(g, tokens=128, layers=12, hidden=768, heads=12, vocabulary=30522, batch=1):
    """Devlin et al. 2018, with a mask for the padding of sentences."""
    ids, kinds, mask = (g.input(name, batch, tokens, element=TensorProto.INT64)
                        for name in ("ids", "kinds", "mask"))
    x = g.op("Add", *(g.op("Gather", g.op("Identity", g.weight(rows, hidden, contracted=3), width=hidden),
                           at) for rows, at in ((vocabulary, ids), (2, kinds))))
    # The length is a Shape op, as exporters write it for dynamic lengths.
    positions = g.op("Slice", g.weight(512, hidden, contracted=3), np.array([0]),
                     g.op("Shape", ids, start=1, end=2, width=1), np.array([0]), width=hidden)
    x = g.layer_norm(g.op("Add", x, positions))
    counts = g.op("Cast", g.op("Unsqueeze", mask, np.array([1, 2]), width=1), to=TensorProto.FLOAT)
    mask = g.op("Mul", g.op("Sub", counts, 1.0), 1e9)
    x = g.encoder(x, layers, heads, mask)
    return [x, g.op("Tanh", g.linear(g.op("Gather", x, np.array(0), axis=1), hidden))]


def llama_decode(g, past=127, layers=4, hidden=1024, heads=16, groups=8, intermediate=2816,
                 vocabulary=8000):
    """Grattafiori et al. 2024, reduced: one decoding step, with caches as inputs and results."""
    head = hidden // heads
    angles = past * 500000.0 ** (-np.arange(head // 2) / (head // 2))
    cos, sin = (np.tile(function(angles), 2).astype(np.float32) for function in (np.cos, np.sin))

    def rotated(x):
        low, high = g.split(x, 2, axis=-1)
        turned = g.op("Concat", g.op("Neg", high), low, axis=-1, width=head)
        return g.op("Add", g.op("Mul", x, cos), g.op("Mul", turned, sin))

    def repeated(x):
        """Repeats each group of keys or values for its heads of queries."""
        x = g.op("Expand", g.op("Unsqueeze", x, np.array([2])),
                 np.array([1, groups, heads // groups, past + 1, head]))
        return g.op("Reshape", x, np.array([1, heads, past + 1, head]))

    ids = g.input("ids", 1, 1, element=TensorProto.INT64)
    x = g.op("Gather", g.op("Identity", g.weight(vocabulary, hidden, contracted=1), width=hidden), ids)
    caches = []
    for layer in range(layers):
        y = g.rms_norm(x)
        q = rotated(g.heads(g.linear(y, hidden, bias=False), heads))
        new = (g.heads(g.linear(y, groups * head, bias=False), groups) for _ in range(2))
        k, v = (g.op("Concat", g.input(f"{name}{layer}", 1, groups, past, head, width=head),
                     rotated(each) if name == "keys" else each, axis=2)
                for name, each in zip(("keys", "values"), new))
        caches += [k, v]
        y = g.attend(q, g.op("Transpose", repeated(k), perm=(0, 1, 3, 2)), repeated(v))
        y = g.op("Reshape", y, np.array([1, 1, hidden]), width=hidden)
        x = g.op("Add", x, g.linear(y, hidden, bias=False))
        y = g.rms_norm(x)
        gate = g.silu(g.linear(y, intermediate, bias=False))
        y = g.op("Mul", gate, g.linear(y, intermediate, bias=False))
        x = g.op("Add", x, g.linear(y, hidden, bias=False))
    return [g.linear(g.rms_norm(x), vocabulary, bias=False), *caches]


_BLOCKS = (1, 2, 1, 1, 1, 1, 1)
SMALL = {
    mobilenet_v2: {"image": 48, "scale": 0.5, "blocks": _BLOCKS, "classes": 10},
    efficientnet_b0: {"image": 48, "scale": 0.5, "blocks": _BLOCKS, "classes": 10},
    unet: {"image": 32, "channels": 6, "levels": 2},
    vit_b16: {"image": 20, "patch": 4, "layers": 2, "hidden": 33, "heads": 3, "classes": 10},
    bert_base: {"tokens": 11, "layers": 2, "hidden": 33, "heads": 3, "vocabulary": 97},
    llama_decode: {"past": 6, "layers": 2, "hidden": 36, "heads": 6, "groups": 3, "intermediate": 61,
                   "vocabulary": 97},
}
BUILT = {function.__name__: function for function in SMALL}
LIGHT = ("squeezenet", "shufflenet", "inception_v1", "inception_v2", "densenet121", "resnet50")
# In the order of the table.
NETWORKS = ("squeezenet", "mobilenet_v2", "shufflenet", "inception_v1", "inception_v2", "densenet121",
            "resnet50", "unet", "efficientnet_b0", "vit_b16", "bert_base", "llama_decode")


def fill_weights(name):
    """Returns a model of the onnx package with random weights instead of the nodes that make constant ones."""
    folder = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    model = onnx.load(folder / f"light_{name}.onnx")
    graph, random = model.graph, np.random.default_rng(zlib.crc32(name.encode()))
    known = {each.name: each for each in graph.initializer}
    for node in [node for node in graph.node if node.op_type == "ConstantOfShape"]:
        shape = numpy_helper.to_array(known.pop(node.input[0]))
        # Scales, means, variances and biases if the rank is below 2; otherwise a weight before a ReLU.
        array = random.uniform(0.5, 1.5, shape) if len(shape) < 2 else \
            random.standard_normal(shape) * math.sqrt(0.5 / np.prod(shape[1:]))
        known[node.output[0]] = numpy_helper.from_array(array.astype(np.float32), node.output[0])
        graph.node.remove(node)
    inputs = [each for each in graph.input if each.name not in
              {*known, *(tensor.name for tensor in graph.initializer)}]
    del graph.initializer[:], graph.input[:]
    graph.initializer.extend(known.values())
    graph.input.extend(inputs)
    model.ir_version = IR_VERSION  # weights need not be inputs
    # Some runtimes do not support the old form of some operators.
    return onnx.version_converter.convert_version(model, OPSET)


def make(name, small=False):
    """Returns the model, with the shapes of all values."""
    if name in LIGHT:
        model = fill_weights(name)
    else:
        graph, function = Graph(name), BUILT[name]
        model = graph.model(*function(graph, **SMALL[function] if small else {}))
    return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def draw_inputs(model):
    """Yields random inputs of the model; indices are 0 or 1."""
    random = np.random.default_rng(0)
    for value in model.graph.input:
        tensor = value.type.tensor_type
        shape = [dim.dim_value for dim in tensor.shape.dim]
        yield random.integers(0, 2, shape) if tensor.elem_type == TensorProto.INT64 else \
            random.standard_normal(shape, np.float32)


def count(model):
    """Returns the floating-point operations of products and convolutions, and the bytes of inputs, weights and
    results."""
    graph, sizes = model.graph, {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        sizes[value.name] = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    sizes.update((each.name, list(each.dims)) for each in graph.initializer)
    flops = 0
    for node in graph.node:
        if node.op_type in ("Conv", "ConvTranspose"):
            spread = node.input[0] if node.op_type == "ConvTranspose" else node.output[0]
            flops += 2 * math.prod(sizes[spread]) * math.prod(sizes[node.input[1]][1:])
        elif node.op_type in ("MatMul", "Gemm"):
            # No network has a Gemm with a transposed first operand.
            flops += 2 * math.prod(sizes[node.output[0]]) * sizes[node.input[0]][-1]
    moved = sum(len(each.raw_data) for each in graph.initializer)
    return flops, moved + sum(4 * math.prod(sizes[each.name]) for each in (*graph.input, *graph.output))


def add_names(parser):
    """Adds the option that selects networks."""
    parser.add_argument("--networks", metavar="A,B", help="only these of the table")


def add_options(parser):
    """Adds the options that select networks and numbers of threads."""
    add_names(parser)
    parser.add_argument("--small", action="store_true", help="those that are built, as in the tests")
    parser.add_argument("--threads", type=positive, metavar="N", default=len(os.sched_getaffinity(0)),
                        help="measure with 1 and with N (default: %(default)s)")


def get_names(parser, args, known):
    """Returns the networks of `known` that `--networks` selects."""
    names = args.networks.split(",") if args.networks else list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no network is called {unknown[0]}: they are {', '.join(known)}")
    return names


def get_built(parser, args):
    """Returns the networks that the options select."""
    return get_names(parser, args, BUILT if args.small else NETWORKS)
