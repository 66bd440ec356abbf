"""Captures the copies that torch.compile's Inductor leaves for library calls on the CPU.

Inductor runs convolutions channels last (its layout optimization), which needs copies where a tensor is stored
otherwise. What is captured is the list of kernels before they are fused, with frozen weights. A kernel that only loads
and stores elements is a copy; other generated kernels are loops, and calls of oneDNN, MKL and ATen are library calls
(storage_copies.py). What depends on weights only is left out. The models are the small ones of
examples/torch_models.py.
"""

import math
import sys
from importlib import metadata

import torch
from torch._inductor import config, ir
from torch._inductor.virtualized import V

from .capture import Capture, run_capture
from .storage_copies import Program, regroup

MODELS = ("resnet50", "mobilenet_v3", "efficientnet_b0", "vit_b16", "swin_t", "bert_base", "llama")


class CapturedError(Exception):
    """Stops the compilation after the kernels were captured."""


def read_strides(index, variables):
    """Returns the stride of each variable in a linear index without offset, or None."""
    strides = [index.coeff(each) for each in variables]
    is_linear = index == sum(stride * each for stride, each in zip(strides, variables))
    return list(map(int, strides)) if is_linear and all(each.is_Integer for each in strides) else None


def order_loops(sizes, strides):
    """Returns the loops from the largest stride to the smallest, or None if they do not reach each element once."""
    order = sorted((i for i, size in enumerate(sizes) if size > 1), key=lambda i: -strides[i])
    inner = [math.prod(sizes[i] for i in order[at + 1:]) for at in range(len(order))]
    return order if inner == [strides[i] for i in order] else None


class Kernels:
    def __init__(self, capture):
        self.program, self.parents = Program(capture), {}

    def capture(self, nodes):
        """A pass of Inductor on the kernels before they are fused."""
        for name, each in V.graph.graph_inputs.items():
            self.program.add_input(name, *self.measure(each))
        for node in nodes:
            read = list(dict.fromkeys(each.name for each in node.read_writes.reads))
            for output in node.get_outputs():
                self.add(node, output.node, output.get_name(), read)
        for name in V.graph.get_output_names():
            self.program.add_output(name)
        raise CapturedError

    def measure(self, value):
        """Returns the number of elements and the bytes of one."""
        return int(math.prod(value.get_size())), value.get_dtype().itemsize

    def add(self, node, buffer, name, read):
        if isinstance(buffer, ir.MutationOutput):
            changed = V.graph.get_buffer(buffer.get_mutation_names()[0])
            self.program.add_op(name, read, *self.measure(changed), is_loop=False)
        elif isinstance(buffer, ir.MultiOutput):
            self.program.add_op(name, self.parents[read[0]], *self.measure(buffer), is_loop=False)
        elif isinstance(buffer.layout, (ir.MultiOutputLayout, ir.NoneLayout)):
            self.parents[name] = read
        elif not isinstance(buffer, ir.ComputedBuffer):
            self.program.add_op(name, read, *self.measure(buffer), is_loop=False)
        elif groups := self.find_copy(node, read):
            self.program.add_copy(name, read[0], groups)
        else:
            self.program.add_op(name, read, *self.measure(buffer), is_loop=True)

    def find_copy(self, node, read):
        """Returns the groups of digits of a copy in the order of memory, or None."""
        body = node._body
        counts = {key: count for key, count in body.op_counts.items() if key != "output"}
        digits = self.program.get_digits(read[0]) if len(read) == 1 else None
        if counts != {"load": 1, "store": 1} or digits is None:
            return None
        sizes = [int(size) for size in body.sizes[0]]
        source, result = (read_strides(each[0], body.iter_vars) for each in (body.get_read_exprs(),
                                                                             body.get_write_exprs()))
        if source is None or result is None or math.prod(sizes) != math.prod(size for size, _ in digits):
            return None
        read_order, written_order = order_loops(sizes, source), order_loops(sizes, result)
        groups = read_order and written_order and regroup(digits, [sizes[i] for i in read_order])
        return groups and [groups[read_order.index(i)] for i in written_order]


def capture(name, models):
    sys.path.insert(0, str(models))
    import torch_models

    torch.compiler.reset()
    kernels = Kernels(Capture(f"inductor {metadata.version('torch')}", name))
    with torch.no_grad(), config.patch(freezing=True, _pre_fusion_custom_pass=kernels.capture):
        try:
            torch.compile(torch_models.build(name, small=True))(*torch_models.draw_inputs(name, small=True))
        except torch._inductor.exc.InductorError as error:
            if not isinstance(error.inner_exception, CapturedError):
                raise
    return kernels.program.write()


if __name__ == "__main__":
    run_capture(MODELS, capture)
