"""Captures the reorders and transpositions that ONNX Runtime leaves in its optimized models.

Layouts are `blocked` (NCHWc: channels in blocks of 16, padded) and storage orders. ONNX Runtime has kernels for
blocked tensors of its own operators of the domain nchwc, of pools, of concatenations along channels, and of
elementwise operators on operands of one shape or of one element, which read blocked tensors as they read others. Where
ONNX Runtime has not chosen blocks itself, the channels must fill them. Elementwise operators and concatenations also
run in any storage order. Convolutions keep the kernel that ONNX Runtime has chosen, and all others read and write the
plain order.
"""

import collections
import math
import tempfile

import onnx
import onnxruntime

from .capture import Capture, run_capture
from .networks import NETWORKS, draw_inputs
from .storage_orders import plain, reachable_orders, view_order

BLOCK = 16
NCHWC = "com.microsoft.nchwc"
MOVES = {"ReorderInput", "ReorderOutput"}
POOLS = {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"}
ELEMENTWISE = {"Add", "Sub", "Mul", "Div", "Sum", "Relu", "Sigmoid", "Tanh", "Clip", "Neg", "Sqrt", "Erf", "Elu",
               "HardSigmoid", "LeakyRelu", "Gelu", "QuickGelu", "Identity"}


def optimize(path):
    """Returns the model as ONNX Runtime rewrites it, and the shape and element size of each of its values."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath = f"{folder}/optimized.onnx"
        options.log_severity_level = 3
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        model = onnx.load(options.optimized_model_filepath)
    shapes = {each.name: (tuple(each.dims), 4) for each in model.graph.initializer}
    inputs = dict(draw_inputs(model))
    shapes |= {name: (array.shape, array.itemsize) for name, array in inputs.items()}
    every = onnx.ModelProto()
    every.CopyFrom(model)
    del every.graph.output[:]
    names = [name for node in model.graph.node for name in node.output if name]
    every.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    plainly = onnxruntime.SessionOptions()
    plainly.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    plainly.log_severity_level = 3
    session = onnxruntime.InferenceSession(every.SerializeToString(), plainly, providers=["CPUExecutionProvider"])
    shapes |= {name: (array.shape, array.itemsize) for name, array in zip(names, session.run(names, inputs))}
    return model, shapes


def find_blocked(nodes):
    """Returns the values that are blocked in the optimized model."""
    blocked = set()
    for node in nodes:
        is_blocked = node.domain == NCHWC and node.op_type != "ReorderOutput"
        if is_blocked or (node.op_type in ELEMENTWISE | {"Concat"} and blocked & set(node.input)):
            blocked.update(node.output)
    return blocked


def attribute(node, name, default=None):
    found = [onnx.helper.get_attribute_value(each) for each in node.attribute if each.name == name]
    return found[0] if found else default


class Network:
    def __init__(self, name, folder):
        self.model, self.shapes = optimize(folder / f"{name}.onnx")
        self.nodes = self.model.graph.node
        self.constants = {each.name for each in self.model.graph.initializer}
        self.blocked = find_blocked(self.nodes)
        self.capture = Capture(f"onnxruntime {onnxruntime.__version__}", name)
        permutations = [attribute(node, "perm") for node in self.nodes if node.op_type == "Transpose"]
        self.orders = reachable_orders({len(shape) for shape, _ in self.shapes.values()}, permutations)
        self.moved = {node.output[0]: node.input[0] for node in self.nodes if node.op_type in MOVES}

    def root(self, value):
        while value in self.moved:
            value = self.moved[value]
        return value

    def layout(self, value):
        return "blocked" if value in self.blocked else plain(len(self.shapes[value][0]))

    def add_tensors(self):
        """Adds one tensor for all values that reorders make of another."""
        values = collections.defaultdict(list)
        for value in self.shapes:
            if value not in self.constants:
                values[self.root(value)].append(value)
        for root, names in values.items():
            unpadded = [name for name in names if name not in self.blocked] or names
            shape, element = self.shapes[unpadded[0]]
            size = math.prod(shape) * element
            bytes_of = dict.fromkeys(self.orders[len(shape)], size)
            if len(shape) == 4 and element == 4:
                bytes_of["blocked"] = size // shape[1] * (-(-shape[1] // BLOCK) * BLOCK)
            self.capture.add_tensor(root, bytes_of)

    def can_block(self, node, operands):
        """Returns true if there is a kernel for blocked operands that are not blocked in the optimized model."""
        shapes = [self.shapes[each][0] for each in operands]
        if not all(len(shape) == 4 and shape[1] % BLOCK == 0 for shape in shapes):
            return False
        if node.op_type == "Concat":
            return attribute(node, "axis") == 1 and len(operands) == len(node.input)
        return node.op_type in POOLS or node.op_type in ELEMENTWISE and self.is_uniform(node)

    def is_uniform(self, node):
        shapes = {self.shapes[each][0] for each in node.input if each and math.prod(self.shapes[each][0]) > 1}
        return len(shapes) <= 1

    def add_node(self, node):
        values = [each for each in node.input if each and each not in self.constants]
        operands, results = [self.root(each) for each in values], list(node.output)
        results = [each for each in results if each]
        name, rank = node.output[0], len(self.shapes[node.output[0]][0])
        if node.op_type == "Transpose":
            permutation = attribute(node, "perm")
            self.capture.add_op(name, operands, results, [(order, view_order(order, permutation))
                                                          for order in self.orders[rank]],
                                (plain(rank), view_order(plain(rank), permutation)))
            return
        chosen = [self.layout(each) for each in (*values, *results)]
        layouts = self.orders[rank] if node.op_type == "Concat" or node.op_type in ELEMENTWISE and \
            self.is_uniform(node) else [plain(rank)]
        if "blocked" in chosen or self.can_block(node, values):
            layouts = [*layouts, "blocked"]
        if node.op_type in POOLS | ELEMENTWISE | {"Concat"} and values and len(set(chosen)) == 1:
            self.capture.add_uniform(name, operands, results, layouts, chosen[0])
        else:
            self.capture.add_pinned(name, operands, results, chosen)

    def build(self):
        self.add_tensors()
        for each in self.model.graph.input:
            self.capture.add_pinned(each.name, [], [each.name], [self.layout(each.name)])
        for node in self.nodes:
            if node.op_type not in MOVES and node.op_type != "Constant":
                self.add_node(node)
        for each in self.model.graph.output:
            self.capture.add_pinned("result", [self.root(each.name)], [], [self.layout(each.name)])
        return self.capture


if __name__ == "__main__":
    run_capture(NETWORKS, lambda name, folder: Network(name, folder).build())
