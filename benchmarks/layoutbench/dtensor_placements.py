"""Captures the redistributions that PyTorch's DTensor inserts between placements of tensors on a mesh of four devices.

A placement is replicated, sharded along a dim, or partial: the sum over devices is still to be computed. A combination
of placements that DTensor's propagation accepts without a redistribution is a configuration of an op. An op that
DTensor runs on shards stays divided: each of its configurations has a shard. Parameters, inputs and the result, which
is placed as the inputs are, keep the placements of the plan. A redistribution costs the bytes that all devices send
(ring algorithms). The models are those of examples/torch_models.py with four layers, on meta
tensors, so that no data is needed. A network is a model and a plan:

  weights   projections are split by columns or rows, and DTensor alone decides the rest
  tensor    likewise, and the results of those split by rows are replicated (tensor parallelism)
  sequence  likewise, but these are sharded along the sequence, and replicated before the next projections
"""

import itertools
import sys
from importlib import metadata

import torch
import torch.distributed as dist
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor,
                                      init_device_mesh)
from torch.distributed.tensor._dtensor_spec import DTensorSpec
from torch.distributed.tensor._op_schema import OpSchema
from torch.distributed.tensor.experimental import implicit_replication
from torch.distributed.tensor.placement_types import _StridedShard
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from .capture import Capture, run_capture

DEVICES, BATCH, LAYERS = 4, 8, 4
NETWORKS = ("llama_weights", "llama_tensor", "llama_sequence", "bert_base_weights", "bert_base_tensor",
            "vit_b16_weights", "vit_b16_tensor")
# The ends of the names of modules whose weights are split. Attention of models with one projection for queries, keys and
# values is not split, because DTensor cannot view a part of three tensors as heads.
COLUMNS, ROWS = (".q", ".k", ".v", ".gate", ".up", ".mlp.0"), (".o", ".down", ".mlp.2")
OUTPUT = {"tensor": Replicate(), "sequence": Shard(1)}
# The modules that read a sharded sequence as a whole, by their normalizations.
BEFORE_COLUMNS = (".norm1", ".norm2")


def is_shard(placement):
    """Returns true if each device has a part of the tensor, which views of several dims as one may scatter over it."""
    return isinstance(placement, (Shard, _StridedShard))


def count_sent(size, source, target):
    """Returns the bytes that all devices send to redistribute a tensor. What DTensor does not do in one step goes
    through a replicated tensor."""
    if source == target or source.is_replicate():
        return 0
    if is_shard(source) and is_shard(target):
        return size * (DEVICES - 1) // DEVICES  # all to all
    if source.is_partial() and not is_shard(target):
        return 2 * size * (DEVICES - 1)  # all reduce
    return size * (DEVICES - 1)  # all gather, or reduce and scatter


def list_placements(shape):
    """Returns the placements that a tensor may have."""
    return [Replicate(), *(Shard(dim) for dim, size in enumerate(shape) if size >= DEVICES), Partial()]


class Recorder(TorchDispatchMode):
    """Adds the ops on distributed tensors to `capture`."""

    def __init__(self, capture):
        super().__init__()
        self.capture, self.names, self.known, self.kept = capture, {}, {}, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        operands = [each for each in tensors if isinstance(each, DTensor)]
        if not operands:
            return func(*args, **kwargs)
        schema = DTensor._op_dispatcher.unwrap_to_op_info(func, args, kwargs).schema
        chosen, _ = self.propagate(schema)
        names = [self.names[id(each)] for each in operands]
        distributed = [i for i, each in enumerate(tensors) if isinstance(each, DTensor)]
        result = func(*args, **kwargs)
        results = [each for each in tree_leaves(result) if isinstance(each, DTensor)]
        made = [each.placements[0] for each in results]
        configurations = list(self.list_configurations(schema, distributed))
        chosen = (*(chosen[i] for i in distributed), *made)
        if any(map(is_shard, chosen)):
            configurations = [each for each in configurations if any(map(is_shard, each))]
        configurations.append(chosen)
        for i, each in enumerate(results):
            self.add_tensor(each, dict.fromkeys(row[len(names) + i] for row in configurations))
        self.capture.add_op(func.overloadpacket.__name__, names, [self.names[id(each)] for each in results],
                            [tuple(map(str, row)) for row in configurations], tuple(map(str, configurations[-1])))
        return result

    def propagate(self, schema):
        """Returns the placements with which DTensor runs an op: those of operands, and those of results."""
        sharding = DTensor._op_dispatcher.sharding_propagator.propagate_op_sharding_non_cached(schema)
        read = (sharding.redistribute_schema or schema).args_spec
        made = [each.placements[0] for each in tree_leaves(sharding.output_spec) if each is not None]
        return [each.placements[0] for each in read], made

    def list_configurations(self, schema, distributed):
        """Returns the combinations of placements that need no redistribution. Other tensors are replicated."""
        key = str(schema)
        if key not in self.known:
            specs = schema.args_spec
            every = [list(dict.fromkeys([*list_placements(spec.shape), *spec.placements])) if i in distributed
                     else spec.placements for i, spec in enumerate(specs)]
            self.known[key] = []
            for given in itertools.product(*every):
                left = iter(given)
                args = tree_map_only(DTensorSpec, lambda spec: DTensorSpec(
                    spec.mesh, (next(left),), spec.tensor_meta), schema.args_schema)
                try:
                    read, made = self.propagate(OpSchema(schema.op, args, schema.kwargs_schema,
                                                         schema_info=schema.schema_info))
                except (RuntimeError, ValueError, NotImplementedError, AssertionError):
                    continue
                if read == list(given):
                    self.known[key].append((*(given[i] for i in distributed), *made))
        return self.known[key]

    def add_tensor(self, tensor, placements):
        """Adds a tensor under a name of its own; an op in place makes a new one."""
        name, size = f"{len(self.kept)}", tensor.numel() * tensor.element_size()
        every = list(dict.fromkeys([*list_placements(tensor.shape), *placements]))
        self.kept.append(tensor)  # so that no other tensor gets its id
        self.names[id(tensor)] = name
        self.capture.add_tensor(name, {str(each): size for each in every}, prices={
            (str(x), str(y)): count_sent(size, x, y) for x in every for y in every})

    def add_given(self, name, tensor):
        """Adds a parameter or an input, which keeps its placement."""
        self.add_tensor(tensor, tensor.placements)
        self.capture.add_pinned(name, [], [self.names[id(tensor)]], [str(tensor.placements[0])])

    def redistribute(self, tensor, placement):
        """Returns the tensor as the plan wants it, which is the same tensor of the problem."""
        result = tensor.redistribute(placements=[placement])
        self.kept.append(result)
        self.names[id(result)] = self.names[id(tensor)]
        return result


def distribute(model, plan, mesh, recorder):
    """Gives the parameters and buffers of a model the placements of a plan, and adds its redistributions."""
    def place(name, module, mesh):
        for key, value in list(module.named_parameters(recurse=False)):
            placement = Replicate()
            if name.endswith(COLUMNS):
                placement = Shard(0)
            elif name.endswith(ROWS) and key == "weight":
                placement = Shard(1)
            value = torch.nn.Parameter(distribute_tensor(value.data, mesh, [placement]), requires_grad=False)
            module.register_parameter(key, value)
            recorder.add_given(f"{name}.{key}", value)
        for key, value in list(module.named_buffers(recurse=False)):
            module.register_buffer(key, distribute_tensor(value, mesh, [Replicate()]))
            recorder.add_given(f"{name}.{key}", getattr(module, key))

    distribute_module(model, mesh, place)
    for name, module in model.named_modules():
        if plan in OUTPUT and name.endswith(ROWS):
            module.register_forward_hook(lambda _, args, result: recorder.redistribute(result, OUTPUT[plan]))
        if plan == "sequence" and name.endswith(BEFORE_COLUMNS):
            module.register_forward_hook(lambda _, args, result: recorder.redistribute(result, Replicate()))


def capture(name, models):
    sys.path.insert(0, str(models))
    import torch_models

    model_name, _, plan = name.rpartition("_")
    mesh = init_device_mesh("cpu", (DEVICES,))
    recorder = Recorder(Capture(f"dtensor {metadata.version('torch')}", name))
    with torch.device("meta"), torch.no_grad(), implicit_replication():
        model = torch_models.MODELS[model_name].model(layers=LAYERS).eval()
        distribute(model, plan, mesh, recorder)
        given = Shard(1) if plan == "sequence" else Replicate()
        inputs = [distribute_tensor(each, mesh, [given])
                  for each in torch_models.draw_inputs(model_name, small=False, batch=BATCH)]
        for i, each in enumerate(inputs):
            recorder.add_given(f"input {i}", each)
        with recorder:
            results = [each for each in tree_leaves(model(*inputs)) if isinstance(each, DTensor)]
    for each in results:
        recorder.capture.add_pinned("result", [recorder.names[id(each)]], [], [str(given)])
    return recorder.capture


if __name__ == "__main__":
    dist.init_process_group("fake", rank=0, world_size=DEVICES, store=FakeStore())
    run_capture(NETWORKS, capture)
