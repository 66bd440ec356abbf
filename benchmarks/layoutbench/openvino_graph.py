"""Captures the reorders and transpositions in the runtime models of OpenVINO on the CPU.

Subgraphs (fused elementwise operators), pools and concatenations run in each layout that OpenVINO uses for some tensor
of that rank in the network. A transposition is a view if its result has the storage order for that. Other operators,
such as convolutions, keep the layouts that OpenVINO has chosen. What depends on constants only runs once, and is left
out.
"""

import itertools
import math

import openvino

from .capture import Capture, run_capture
from .networks import NETWORKS
from .storage_orders import plain, view_order

UNIFORM = {"Subgraph", "Eltwise", "Pooling", "Concatenation"}


def to_layout(name):
    """Returns the storage order that OpenVINO writes as "acdb", or the name of a blocked layout."""
    return "".join(str(ord(each) - ord("a")) for each in name) if name.isalpha() and name.islower() else name


class Node:
    def __init__(self, op):
        def read(key):
            return str(op.get_rt_info()[key].astype(str))

        self.name, self.kind = op.get_friendly_name(), read("layerType")
        self.shapes = [tuple(each.get_shape()) for each in op.outputs()] if self.kind != "Output" else []
        layouts = [to_layout(each) for each in read("outputLayouts").split(",")]
        self.layouts = layouts if len(layouts) == len(self.shapes) else layouts * len(self.shapes)
        self.values = [f"{self.name}.{i}" for i in range(len(self.shapes))]
        self.element = 8 if "64" in read("outputPrecisions") else 4
        sources = [each.get_source_output() for each in op.inputs()]
        self.operands = [f"{each.get_node().get_friendly_name()}.{each.get_index()}" for each in sources]


def find_permutation(source, result):
    """Returns the permutation of a transposition between two shapes, or None if several are possible. Dims of size 1
    keep their order."""
    found = [p for p in itertools.permutations(range(len(source))) if tuple(source[i] for i in p) == result]
    kept = [p for p in found if [i for i in p if source[i] == 1] == [i for i in range(len(source)) if source[i] == 1]]
    return (kept if len(kept) == 1 else found)[0] if len(kept) == 1 or len(found) == 1 else None


class Network:
    def __init__(self, name, folder):
        compiled = openvino.Core().compile_model(folder / f"{name}.onnx", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        nodes = [Node(op) for op in compiled.get_runtime_model().get_ordered_ops()]
        constant = set()
        for node in nodes:
            if node.kind == "Const" or node.operands and constant.issuperset(node.operands):
                constant.update(node.values)
        self.nodes = [node for node in nodes if not node.values or not constant.issuperset(node.values)]
        for node in self.nodes:
            node.operands = [each for each in node.operands if each not in constant]
        self.of = {value: node for node in self.nodes for value in node.values}
        # A reorder that is a view has another shape.
        self.moved = {node.values[0]: node.operands[0] for node in self.nodes
                      if node.kind == "Reorder" and node.shapes == [self.get_shape(node.operands[0])]}
        self.capture = Capture(f"openvino {openvino.__version__.partition('-')[0]}", name)
        self.used = {}
        for node in self.nodes:
            for shape, layout in zip(node.shapes, node.layouts):
                self.used.setdefault(len(shape), {plain(len(shape)): None})[layout] = None
            if node.kind == "Transpose" and (permutation := self.permutation(node)):
                rank = len(permutation)
                self.used[rank][view_order(plain(rank), permutation)] = None

    def permutation(self, node):
        return find_permutation(self.get_shape(node.operands[0]), node.shapes[0])

    def get_shape(self, value):
        node = self.of[value]
        return node.shapes[node.values.index(value)]

    def root(self, value):
        while value in self.moved:
            value = self.moved[value]
        return value

    def layout(self, value):
        node = self.of[value]
        return node.layouts[node.values.index(value)]

    def bytes_in(self, layout, shape):
        """Blocks, as in aBcd16b, pad the dim of the capital letter."""
        if layout.isdigit():
            return math.prod(shape)
        dim, block = next(ord(each) - ord("A") for each in layout if each.isupper()), int("".join(
            each for each in layout if each.isdigit()))
        return math.prod(shape) // shape[dim] * (-(-shape[dim] // block) * block)

    def add_node(self, node):
        roots = [self.root(each) for each in node.operands]
        chosen = [self.layout(each) for each in (*node.operands, *node.values)]
        rank = len(node.shapes[0]) if node.shapes else 0
        if node.kind == "Transpose" and (permutation := self.permutation(node)):
            orders = [each for each in self.used[rank] if each.isdigit()]
            made = view_order(chosen[0], permutation)
            self.capture.add_op(node.name, roots, node.values,
                                [(each, view_order(each, permutation)) for each in orders], (chosen[0], made))
        elif node.kind in UNIFORM and len(set(chosen)) == 1:
            self.capture.add_uniform(node.name, roots, node.values, self.used[rank], chosen[0])
        else:
            self.capture.add_pinned(node.name, roots, node.values, chosen)

    def build(self):
        kept = [node for node in self.nodes if not self.moved.keys() & set(node.values)]
        for node in kept:
            for value, shape in zip(node.values, node.shapes):
                self.capture.add_tensor(value, {each: self.bytes_in(each, shape) * node.element
                                                for each in self.used[len(shape)]})
        for node in kept:
            self.add_node(node)
        return self.capture


if __name__ == "__main__":
    run_capture(NETWORKS, lambda name, folder: Network(name, folder).build())
