"""Captures the transitions that the Vulkan delegate of ExecuTorch inserts between representations of tensors.

A representation is a buffer or a texture, with a packed dim. The delegate's registry states the representations that
each operator supports, and which of its operands and results must agree; these are the configurations of an op. Inputs
of a graph and prepacked weights have any of them. A transition reads and writes a tensor, whose bytes in a texture are
those of the texels that the delegate allocates. The models are the small ones of examples/torch_models.py.
"""

import itertools
import math
import operator
import sys
import warnings
from importlib import metadata

import executorch.backends.vulkan.utils as utils
import executorch.backends.vulkan.vulkan_preprocess as delegate
import torch
from executorch.backends.vulkan.op_registry import get_op_features
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.serialization.vulkan_graph_schema import VkMemoryLayout, VkStorageType
from executorch.exir import to_edge_transform_and_lower

from .capture import Capture, run_capture

MODELS = ("resnet50", "mobilenet_v3", "efficientnet_b0", "vit_b16", "swin_t")
STORAGES = {VkStorageType.BUFFER: "buffer", VkStorageType.TEXTURE_3D: "texture"}
LAYOUTS = {f"{storage} {layout.name}": (kind, layout) for kind, storage in STORAGES.items()
           for layout in (VkMemoryLayout.TENSOR_WIDTH_PACKED, VkMemoryLayout.TENSOR_HEIGHT_PACKED,
                          VkMemoryLayout.TENSOR_CHANNELS_PACKED)}


def name_repr(each):
    return f"{STORAGES[each.storage_type]} {each.memory_layout.name}"


def list_layouts(repset):
    """Returns the names of the representations in a set of ExecuTorch."""
    return [name for name, (kind, layout) in LAYOUTS.items() if layout in (
        repset.valid_buffer_layouts if kind == VkStorageType.BUFFER else repset.valid_texture_layouts)]


def get_packed_dim(name):
    kind, layout = LAYOUTS[name]
    return utils.PackedDimInfo.from_repr(layout, kind)


def count_bytes(value):
    """Returns {representation: bytes} of a tensor."""
    sizes = {}
    for name, (kind, layout) in LAYOUTS.items():
        if kind == VkStorageType.BUFFER:
            sizes[name] = value.numel() * value.element_size()
        elif value.dim() <= 4:
            sizes[name] = 4 * math.prod(utils.required_image_extents(value.shape, layout)) * value.element_size()
    return sizes


class Recorder(delegate.TagMemoryMetaPass):
    """The pass that chooses representations. Adds the graphs that it is run on to `capture`."""

    capture, graphs = None, 0

    def call(self, graph_module):
        nodes = list(graph_module.graph.nodes)
        sources = {node: self.list_operands(node) for node in nodes}
        result = super().call(graph_module)
        type(self).graphs += 1
        self.known = {}
        for node in nodes:
            if self.is_non_constant_tensor_node(node) and node.op != "output":
                self.add_tensors(node)
        for node in nodes:
            if node in self.known or self.is_valid_op_node(node):
                self.add_node(node, sources[node])
        return result

    def list_operands(self, node):
        """Returns [(number of the argument, node)]; a list of tensors is one argument."""
        return [(i, each) for i, arg in enumerate(node.args)
                for each in (arg if isinstance(arg, (list, tuple)) else [arg])
                if isinstance(each, torch.fx.Node) and self.is_non_constant_tensor_node(each)]

    def add_tensors(self, node):
        values = node.meta["val"] if isinstance(node.meta["val"], (list, tuple)) else [node.meta["val"]]
        if node.target == operator.getitem:
            self.known[node] = [self.known[node.args[0]][node.args[1]]]
            return
        self.known[node] = [f"{self.graphs}.{node.name}.{i}" for i in range(len(values))]
        for name, value in zip(self.known[node], values):
            self.capture.add_tensor(name, count_bytes(value))

    def chosen(self, node):
        """Returns the representations of the results that the pass has chosen, or an empty list if it chose none."""
        specs = node.meta.get("spec")
        return [name_repr(each.etvk_node_repr) for each in (specs if isinstance(specs, (list, tuple)) else [specs])
                if hasattr(each, "etvk_node_repr")]

    def add_node(self, node, before):
        if node.target == operator.getitem:
            return
        name, results = node.name, self.known.get(node, [])
        made = self.chosen(node)
        if not self.is_valid_op_node(node):
            if len(made) == len(results):
                every = list(dict.fromkeys(itertools.chain(*(self.capture.get_layouts(each) for each in results))))
                self.capture.add_op(name, [], results, itertools.product(every, repeat=len(results)), made)
            return
        repsets = get_op_features(node.target).make_op_repsets(node, self.texture_limits)
        after = self.list_operands(node)
        operands = [self.known[each][0] for _, each in before]
        chosen = [self.chosen(each)[0] for _, each in after] + made
        self.capture.add_op(name, operands, results, self.list_configurations(repsets, [i for i, _ in before],
                                                                              len(results)), chosen)

    def list_configurations(self, repsets, arguments, results):
        """Yields the configurations of an op. Ends that the registry keeps in step have the same packed dim."""
        numbers = list(dict.fromkeys(arguments))
        ends = [repsets.get_arg_repset(i) for i in numbers] + [repsets.get_out_repset(i) for i in range(results)]
        for layouts in itertools.product(*map(list_layouts, ends)):
            packed = list(map(get_packed_dim, layouts))
            operands, made = packed[:len(numbers)], packed[len(numbers):]
            primary = repsets.primary_arg_idx
            if repsets.sync_args_repr and len(set(operands)) > 1 or repsets.sync_outs_repr and len(set(made)) > 1:
                continue
            if repsets.sync_primary_io_repr and primary in numbers and made and \
                    operands[numbers.index(primary)] != made[0]:
                continue
            yield [layouts[numbers.index(i)] for i in arguments] + list(layouts[len(numbers):])


def capture(name, models):
    sys.path.insert(0, str(models))
    import torch_models

    Recorder.capture, Recorder.graphs = Capture(f"executorch {metadata.version('executorch')}", name), 0
    delegate.TagMemoryMetaPass = Recorder
    program = torch.export.export(torch_models.build(name, small=True), torch_models.draw_inputs(name, small=True))
    to_edge_transform_and_lower(program, partitioner=[VulkanPartitioner()])
    return Recorder.capture


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run_capture(MODELS, capture)
