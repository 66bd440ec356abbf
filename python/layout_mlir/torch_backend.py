"""The backend "layout" of torch.compile: runs inference graphs of PyTorch as programs for this CPU.

  torch.compile(model, backend="layout")

AOTAutograd makes a functional graph of ATen operations, torch_graphs.py lowers it to linalg, and `compile` of this
package chooses layouts and generates code. Weights are constants of the programs, which are compiled again if weights
change. Operations that are not lowered, and graphs that record gradients, stay with PyTorch; a warning of the logger of
this module names them.
"""

from __future__ import annotations

import logging
import math
import operator
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any

import torch
from torch import fx
from torch._decomp import get_decompositions
from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func
from torch._guards import TracingContext
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

from layout_mlir import LayoutError, compile, torch_graphs

log = logging.getLogger(__name__)

# The limit of the seconds in which halves of failing parts are tried, to find the operations that are the reason.
_SEARCH_SECONDS = 60


# ------------------------------------------------------------------------ compiled parts

def _restore_order(fake: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """Returns a function that gives a contiguous tensor the order of dims in memory that `fake` has."""
    if fake.is_contiguous():
        return lambda tensor: tensor
    order = sorted(range(fake.dim()), key=lambda dim: int(fake.stride(dim)), reverse=True)
    inverse = sorted(range(fake.dim()), key=order.__getitem__)
    return lambda tensor: tensor.permute(order).contiguous().permute(inverse)


class _Part(torch.nn.Module):
    """A graph as a program. `weights` are the values of its placeholders that are weights, else None."""

    def __init__(self, graph: fx.Graph, weights: Sequence[torch.Tensor | None]) -> None:
        super().__init__()
        self.graph = graph
        returned: Any = graph.output_node().args[0]
        self.is_single = isinstance(returned, fx.Node)
        fakes = [node.meta["val"] for node in ([returned] if self.is_single else returned)]
        self.results = [(fake.dtype, _restore_order(fake)) for fake in fakes]
        self.build(weights)

    def build(self, weights: Sequence[torch.Tensor | None]) -> None:
        """Compiles the program for the current number of threads."""
        with unset_fake_temporarily():
            lowered = torch_graphs.lower(self.graph, weights)
            self.inputs = lowered.inputs
            self.program = compile((lowered.text, lowered.weights), threads=torch.get_num_threads(),
                                   shares_arrays=True)

    def forward(self, *values: Any) -> Any:
        arrays = self.program(*[torch_graphs.to_array(values[number]) for number in self.inputs])
        results = [order(torch_graphs.to_tensor(array, dtype)) for array, (dtype, order) in
                   zip(arrays if isinstance(arrays, tuple) else (arrays,), self.results)]
        return results[0] if self.is_single else tuple(results)

    def check(self, values: Sequence[Any]) -> tuple[Any, str, float]:
        """Returns PyTorch's results for the values, the reason why those of the program are not close to them, or an
        empty string, and the seconds that the program took."""
        expected = fx.GraphModule(torch.nn.Module(), self.graph)(*values)
        start = time.perf_counter()
        try:
            found = self(*values)
        except LayoutError as error:
            return expected, str(error), 0
        seconds = time.perf_counter() - start
        pairs = [(expected, found)] if self.is_single else zip(expected, found)
        return expected, next(filter(None, (_compare(*pair) for pair in pairs)), ""), seconds


def _compare(expected: torch.Tensor, found: torch.Tensor) -> str:
    """Returns how `found` differs from `expected` by more than rounding, or an empty string."""
    if expected.shape != found.shape:
        return f"its result has the shape {tuple(found.shape)}, not {tuple(expected.shape)}"
    if not expected.dtype.is_floating_point:
        return "" if expected.equal(found) else "its results differ from PyTorch's"
    finite = expected[expected.isfinite()].double()
    tolerance = (2e-2 if expected.dtype.itemsize < 4 else 1e-3) * (finite.abs().max().item() if len(finite) else 1)
    if torch.allclose(expected.double(), found.double(), 0, tolerance, equal_nan=True):
        return ""
    return f"its results differ from PyTorch's by {(expected.double() - found.double()).abs().max().item():.2g}"


# -------------------------------------------------------------------------- partitioning

class _Support(OperatorSupportBase):
    """Accepts the operations on tensors of this CPU, except those in `refused`, a reason by node name."""

    def __init__(self, refused: dict[str, str]) -> None:
        self.refused = refused

    def is_node_supported(self, submodules: Any, node: fx.Node) -> bool:
        if node.target is operator.getitem:
            return self.is_node_supported(submodules, node.args[0])
        return is_tensor_operation(node) and node.name not in self.refused


def is_tensor_operation(node: fx.Node) -> bool:
    """Returns true for an operation whose results are tensors, in contrast to sizes."""
    values = node.meta.get("val")
    return isinstance(node.target, torch._ops.OpOverload) and all(
        isinstance(each, torch.Tensor) for each in (values if isinstance(values, (tuple, list)) else [values]))


def _get_operations(graph: fx.Graph) -> list[fx.Node]:
    return [node for node in graph.nodes if is_tensor_operation(node)]


def _refuse_at_once(node: fx.Node) -> str:
    """Returns a reason why an operation stays with PyTorch that needs no attempt to lower it, or an empty string."""
    if torch.Tag.nondeterministic_seeded in node.target.tags:
        return "its results depend on PyTorch's random number generator"
    values = [operand.meta.get("val") for operand in (*node.all_input_nodes, node)]
    for value in values:
        if isinstance(value, torch.Tensor) and (value.device.type != "cpu" or value.layout != torch.strided):
            return f"it has a tensor on {value.device} of layout {value.layout}"
    return torch_graphs.explain_view(node)


def _describe(node: fx.Node) -> str:
    """Returns the operation with the types of its operands, on which alone it depends whether it is lowered."""
    def describe(value: Any) -> Any:
        fake = value.meta.get("val") if isinstance(value, fx.Node) else value
        return (fake.dtype, tuple(map(str, fake.shape))) if isinstance(fake, torch.Tensor) else str(fake)
    return f"{node.target} {fx.map_arg((node.args, node.kwargs), lambda each: str(describe(each)))}"


class _Recorder(fx.Interpreter):
    """Runs a graph with PyTorch and keeps all values."""

    def __init__(self, graph: fx.Graph) -> None:
        super().__init__(fx.GraphModule(torch.nn.Module(), graph), garbage_collect_values=False)

    def record(self, values: Sequence[Any]) -> dict[str, Any]:
        """Returns all values by the names of their nodes."""
        self.run(*values)
        return {node.name: value for node, value in self.env.items()}


class _CheckedRun(fx.Interpreter):
    """Runs a graph of programs and PyTorch's operations with the results of PyTorch, and compares those of the programs
    with them."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.seconds: dict[str, float] = {}
        self.failures: list[tuple[_Part, Sequence[Any], str]] = []

    def run_node(self, node: fx.Node) -> Any:
        if node.op != "call_module":
            start = time.perf_counter()
            result = super().run_node(node)
            self.seconds[node.name] = time.perf_counter() - start
            return result
        part, (values, _) = self.fetch_attr(node.target), self.fetch_args_kwargs_from_env(node)
        result, reason, self.seconds[node.name] = part.check(values)
        if reason:
            self.failures.append((part, values, reason))
        return result


class _Graph:
    """An inference graph, with its supported operations as programs. `weights` has the values of the placeholders that
    are weights, else None."""

    def __init__(self, module: fx.GraphModule, weights: list[torch.Tensor | None]) -> None:
        self.weights = weights
        self.original = module
        self.refused = {node.name: reason for node in _get_operations(module.graph)
                        if (reason := _refuse_at_once(node))}
        # The reasons of operations that fail alone, by their description, and the seconds of the search for them.
        self.failed: dict[str, str] = {}
        self.seconds = 0.0
        while not self.partition():
            pass
        self.state = self.get_state()
        self.is_first = True

    def partition(self) -> bool:
        """Makes programs of all supported operations. If one cannot be made, adds operations to `refused` and returns
        false."""
        graph = fx.Graph()
        graph.output(graph.graph_copy(self.original.graph, {}))
        module = fx.GraphModule(self.original, graph)
        partitioner = CapabilityBasedPartitioner(module, _Support(self.refused), allows_single_node_partition=True)
        fused = partitioner.fuse_partitions(partitioner.propose_partitions(), prefix="layout_part_")
        numbers = {node: number for number, node in enumerate(fused.graph.find_nodes(op="placeholder"))}
        # The programs, and for each placeholder of one the number of a weight of this graph, or None.
        self.parts: list[tuple[_Part, list[int | None]]] = []
        for call in fused.graph.find_nodes(op="call_module"):
            graph = fused.get_submodule(call.target).graph
            used = [numbers.get(each) for each in call.args]
            try:
                part = _Part(graph, self.get_weights(used))
            except (torch_graphs.NotLowered, LayoutError) as error:
                self.refuse(_get_operations(graph), str(error))
                return False
            fused.set_submodule(call.target, part)
            self.parts.append((part, used))
        self.module = fused
        return True

    def refuse(self, operations: Sequence[fx.Node], reason: str, known: dict[str, Any] | None = None) -> None:
        """Adds to `refused` the operations that are the reason why a part fails: those of its halves that fail, too, or
        else all. With the values of `known` a part fails also if its results differ from PyTorch's."""
        middle, is_found = len(operations) // 2, False
        for half in (operations[:middle], operations[middle:]) if middle and self.seconds < _SEARCH_SECONDS else ():
            again = {node.name: self.failed[text] for node in half if (text := _describe(node)) in self.failed}
            self.refused.update(again)
            rest = [node for node in half if node.name not in again]
            why = self.try_part(rest, known) if rest else ""
            if why:
                self.refuse(rest, why, known)
            is_found = is_found or bool(again or why)
        if not is_found:
            self.refused.update((node.name, reason) for node in operations)
            if len(operations) == 1:
                self.failed[_describe(operations[0])] = reason

    def try_part(self, operations: Sequence[fx.Node], known: dict[str, Any] | None) -> str:
        """Returns the reason why operations do not compile or, on the values of `known`, have other results than
        PyTorch's. Returns an empty string if there is none."""
        start = time.monotonic()
        try:
            graph = torch_graphs.isolate(operations)
            operands = graph.find_nodes(op="placeholder")
            part = _Part(graph, [None] * len(operands))
            return part.check([known[each.name] for each in operands])[1] if known else ""
        except (torch_graphs.NotLowered, LayoutError) as error:
            return str(error)
        finally:
            self.seconds += time.monotonic() - start

    def get_weights(self, numbers: Sequence[int | None]) -> list[torch.Tensor | None]:
        return [None if number is None else self.weights[number] for number in numbers]

    def get_state(self) -> Any:
        """Returns what programs depend on: the number of threads, and the memory and version of each weight."""
        return torch.get_num_threads(), [
            (each.data_ptr(), each._version) for each in self.weights if each is not None]

    def __call__(self, *values: Any) -> Any:
        self.weights = [weight if weight is None else value for weight, value in zip(self.weights, values)]
        state = self.get_state()
        if state != self.state:
            log.info("compiling again: the weights or the number of threads changed")
            for part, used in self.parts:
                part.build(self.get_weights(used))
            self.state = state
        if self.is_first:
            self.is_first = False
            return self.run_first(values)
        return self.module(*values)

    def run_first(self, values: Sequence[Any]) -> Any:
        """Runs the graph, and compares the results of each program with those of PyTorch. Operations whose results
        differ stay with PyTorch. Reports what does, with its share of the time."""
        run = _CheckedRun(self.module)
        results = run.run(*values)
        while run.failures:
            for part, operands, reason in run.failures:
                self.refuse(_get_operations(part.graph), reason, _Recorder(part.graph).record(operands))
            while not self.partition():
                pass
            run = _CheckedRun(self.module)
            with torch.random.fork_rng(devices=[]):
                run.run(*values)
        self.report(run.seconds)
        return results

    def report(self, seconds: dict[str, float]) -> None:
        """Logs a warning for each kind of operation that stays with PyTorch. `seconds` are the times by node."""
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for node in self.original.graph.nodes:
            if node.name in self.refused:
                groups[str(node.target), self.refused[node.name]].append(node.name)
        count = len(_get_operations(self.original.graph))
        for (target, reason), names in groups.items():
            share = sum(seconds[name] for name in names) / sum(seconds.values())
            log.warning("%s stays with PyTorch (%d of %d operations, %.1f %% of the time of the first run): %s", target,
                        len(names), count, 100 * share, reason)


# ----------------------------------------------------------------------------- the backend

def _decompose_var_mean(x: torch.Tensor, dim: list[int] | None = None, *, correction: float | None = None,
                        keepdim: bool = False) -> Any:
    """Decomposes `aten.var_mean`, which torch-mlir would compute in f64."""
    if x.dtype not in (torch.float32, torch.float64):
        return NotImplemented
    dims = sorted({each % x.dim() for each in dim}) if dim else list(range(x.dim()))
    mean = x.mean(dims, keepdim=True)
    count = math.prod(x.shape[each] for each in dims) - (1 if correction is None else correction)
    variance = ((x - mean) * (x - mean)).sum(dims, keepdim=keepdim) / count
    return variance, mean if keepdim else mean.squeeze(dims)


def _get_decompositions() -> dict[Any, Callable[..., Any]]:
    aten = torch.ops.aten
    return {**get_decomposition_table(), **get_decompositions([aten._softmax.default]),
            aten.var_mean.correction: _decompose_var_mean}


def _is_weight(value: Any) -> bool:
    """Returns true for a parameter or buffer of a module whose changes are counted."""
    is_static = isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")
    return isinstance(value, torch.Tensor) and is_static and not value.is_inference()


def _keep_training(module: fx.GraphModule, _: Sequence[Any]) -> Any:
    log.warning("a graph of %d operations stays with PyTorch, because it records gradients: call the model under "
                "torch.inference_mode() or torch.no_grad()", len(_get_operations(module.graph)))
    return make_boxed_func(module.forward)


def _keep_backward(module: fx.GraphModule, _: Sequence[Any]) -> Any:
    return make_boxed_func(module.forward)


def layout(module: fx.GraphModule, inputs: Sequence[Any]) -> Any:
    """Compiles a graph of TorchDynamo, as torch.compile calls a backend."""
    weights = [each if _is_weight(each) else None for each in inputs]

    def compile_inference(graph: fx.GraphModule, _: Sequence[Any]) -> Any:
        context = TracingContext.try_get()
        assert context and context.fw_metadata
        infos = context.fw_metadata.input_info
        assert len(infos) == len(weights) == len(graph.graph.find_nodes(op="placeholder"))
        fixed = [None if info.mutates_data else weight for info, weight in zip(infos, weights)]
        return make_boxed_func(_Graph(graph, fixed))

    return aot_module_simplified(module, inputs, fw_compiler=_keep_training, bw_compiler=_keep_backward,
                                 inference_compiler=compile_inference, decompositions=_get_decompositions())


# PyTorch registers the backend itself if it finds it by the entry point of an installed package.
if not entry_points(group="torch_dynamo_backends", name="layout"):
    torch._dynamo.register_backend(layout)
