# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random ONNX graphs, and evaluates them with ONNX Runtime and the reference evaluator."""

import dataclasses
import random
import warnings

import numpy as np

import nodes_control  # registers kinds
import nodes_learning
import nodes_runtime
import nodes_sums
from nodes import KINDS, MOST, Draw, Unfit

DOMAINS = {"ai.onnx.ml": 3, "com.microsoft": 1}  # versions of the operator sets
OPSETS = (11, 12, 13, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26)
SIZES = (1, 1, 2, 3, 4, 5, 7, 8)
ROUNDED = ("HannWindow", "HammingWindow", "BlackmanWindow")  # some of their results are exact by chance
TRIES = 60  # maximal number of rejected nodes


@dataclasses.dataclass
class Graph:
    """Inputs and results by name, nodes as (Node, names of outputs), and the dynamic dims of inputs."""
    seed: int
    opset: int
    inputs: dict
    dynamic_dims: dict
    nodes: list
    results: list


def _first_values(rng):
    values = {}
    for number in range(rng.randint(1, 2)):
        rank = rng.choice([0, 1, 2, 3, 3, 4, 4, 4, 5])
        shape = [rng.choice(SIZES) if rng.random() > 0.03 else 0 for _ in range(rank)]
        dtype = rng.choice(["float32"] * 6 + ["uint8", "int8"] * 2 + ["int64", "int32", "bool", "float16", "float64", "uint32"])
        values[f"in{number}"] = Draw(rng, {}, 0).array(shape, dtype)
    return values


def to_proto(node, outputs, constants):
    """Returns the NodeProto; arrays among the inputs become named constants."""
    from onnx import helper

    names = []
    for each in node.inputs:
        if isinstance(each, str):
            names.append(each)
        else:
            names.append(f"c{len(constants)}")
            constants[names[-1]] = np.asarray(each)
    return helper.make_node(node.op, names, outputs, domain=node.domain, name=f"{node.op}_{outputs[0]}", **node.attributes)


def to_model(graph):
    """Returns the ModelProto; outputs have no shape, because only the runtime determines it."""
    import onnx
    from onnx import helper, numpy_helper

    constants = {}
    nodes = [to_proto(node, outputs, constants) for node, outputs in graph.nodes]
    inputs = []
    for name, array in graph.inputs.items():
        dims = [f"{name}_{dim}" if dim in graph.dynamic_dims[name] else size for dim, size in enumerate(array.shape)]
        inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims))
    made = helper.make_graph(nodes, f"graph{graph.seed}", inputs, [onnx.ValueInfoProto(name=name) for name in graph.results],
                             [numpy_helper.from_array(array, name) for name, array in constants.items()])
    domains = sorted({node.domain for node, _ in graph.nodes} - {""})
    opsets = [helper.make_opsetid("", graph.opset), *(helper.make_opsetid(each, DOMAINS[each]) for each in domains)]
    return helper.make_model(made, opset_imports=opsets,
                             ir_version=max(9, helper.find_min_ir_version_for(opsets, ignore_unknown=True)))


def run_onnxruntime(graph):
    """Returns the results, or None if ONNX Runtime refuses the graph."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(to_model(graph).SerializeToString(), options)
        return session.run(None, graph.inputs)
    except Exception:  # its classes are not public
        return None


def run_reference(graph):
    """Returns the results of ONNX's reference evaluator, or None if it fails."""
    from onnx.reference import ReferenceEvaluator

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ReferenceEvaluator(to_model(graph)).run(None, graph.inputs)
    except Exception:
        return None


def _name_outputs(made, count):
    """Returns the nodes of a kind as (Node, names of outputs); `count` is the number of the graph's node."""
    chain = made if isinstance(made, list) else [made]
    named, last = [], len(chain) - 1
    for place, node in enumerate(chain):
        def name_of(value):
            if not (isinstance(value, str) and value.startswith("@")):
                return value
            number, _, output = value[1:].partition(":")
            return named[int(number)][1][int(output or 0)]

        stem = f"v{count}" if place == last else f"v{count}s{place}"
        named.append((dataclasses.replace(node, inputs=[name_of(each) for each in node.inputs]),
                      [f"{stem}_{number}" for number in range(node.outputs)]))
    return named


def _is_as_defined(named, values, opset, outputs):
    """Returns true if the reference evaluator computes the outputs of nodes, too."""
    inputs = {name: values[name] for node, _ in named for name in node.used if name in values}
    wanted = run_reference(Graph(0, opset, inputs, {name: () for name in inputs}, named, named[-1][1]))
    return wanted is not None and all(a.shape == np.shape(b) and np.allclose(a, b, 1e-3, 1e-3, equal_nan=True)
                                      for a, b in zip(outputs, wanted))


def _compute(named, values, opset):
    """Returns the outputs of the last of a chain of nodes by ONNX Runtime, or None."""
    inputs = {name: values[name] for node, _ in named for name in node.used if name in values}
    return run_onnxruntime(Graph(0, opset, inputs, {name: () for name in inputs}, named, named[-1][1]))


def _is_fit(array):
    """Returns true if later nodes can use a value: it is small, and rounding does not affect it."""
    if not isinstance(array, np.ndarray) or array.dtype == object or array.size > MOST:
        return False
    return array.dtype.kind not in "f" or bool(np.isfinite(array).all() and (abs(array) < 1e4).all())


def _is_steady(named, values, opset, outputs, rounded):
    """Returns true if no output of a chain of nodes jumps if its operands are rounded otherwise. An operand of multiples
    of 1/1024 is exact unless it is among `rounded`, so comparisons of its elements mean something."""
    rng, near, snapped = np.random.default_rng(0), {}, {}
    for name in {name for node, _ in named for name in node.used if name in values}:
        x = values[name]
        if x.dtype.kind == "f" and x.size and (name in rounded or (x * 1024 != np.round(x * 1024)).any()):
            bound = 8 * np.finfo(x.dtype).eps * np.abs(x).max()
            near[name] = (x + rng.uniform(-bound, bound, x.shape)).astype(x.dtype)
            exact = np.round(x * 1024) / 1024
            snapped[name] = np.where(np.abs(exact - x) <= bound, exact, x).astype(x.dtype)
    again = [_compute(named, {**values, **each}, opset) for each in (near, snapped) if each]
    return all(each is not None and all(
        a.shape == b.shape and np.allclose(a, b, 0 if a.dtype.kind in "iu" else 1e-2, 1e-2, equal_nan=True)
        for a, b in zip(outputs, each)) for each in again)


def draw_graph(seed, wants=lambda node: True):
    """Returns a graph of 2 to 12 nodes, the first of which is wanted."""
    rng = random.Random(seed)
    opset = rng.choice(OPSETS)
    inputs = _first_values(rng)
    dynamic_dims = {name: [dim for dim in range(array.ndim) if rng.random() < 0.4] if rng.random() < 0.4 else []
                 for name, array in inputs.items()}
    values, nodes, wanted, rounded = dict(inputs), [], rng.randint(2, 12), set()
    # The reference evaluator does not run graphs with nodes of com.microsoft. The other nodes of such a graph are those
    # for which ONNX Runtime computes what ONNX defines.
    has_runtime_nodes = rng.random() < 0.3
    functions, weights = zip(*[each for each in KINDS
                               if has_runtime_nodes or each[0].__module__ != nodes_runtime.__name__])
    for _ in range(10 * TRIES):
        if len(nodes) >= wanted:
            break
        try:
            made = rng.choices(functions, weights)[0](Draw(rng, values, opset, any(dynamic_dims.values())))
        except (Unfit, IndexError, ValueError):
            continue
        named = _name_outputs(made, len(nodes))
        if not nodes and not wants(named[0][0]):
            continue
        outputs = _compute(named, values, opset)
        if outputs is None or not all(map(_is_fit, outputs)) or not _is_steady(named, values, opset, outputs, rounded):
            continue
        if has_runtime_nodes and not named[-1][0].domain and not _is_as_defined(named, values, opset, outputs):
            continue
        values.update(zip(named[-1][1], outputs))
        if any(node.op in ROUNDED or rounded & set(node.used) for node, _ in named):
            rounded |= set(named[-1][1])
        nodes += named
    used = {name for node, _ in nodes for name in node.used}
    results = [name for _, names in nodes for name in names
               if name in values and (name not in used or rng.random() < 0.15)]
    return Graph(seed, opset, inputs, dynamic_dims, nodes, results) if nodes else None


INDEXED = {"Gather": 1, "GatherElements": 1, "GatherND": 1, "ScatterElements": 1, "ScatterND": 1}


def make_hostile(seed):
    """Returns a graph whose first node reads or writes at indices from an input, and indices that are out of bounds, or
    None if none is drawn."""
    graph = draw_graph(seed, lambda node: node.op in INDEXED)
    if graph is None or graph.nodes[0][0].op not in INDEXED:
        return None
    node, names = graph.nodes[0]
    places = node.inputs[INDEXED[node.op]]
    if isinstance(places, str) or not places.size:
        return None
    rng = random.Random(seed)
    hostile = places.copy()
    far = [2**31 - 1, -2**31, 1000, -1000, 10**6] if places.dtype == np.int32 else [2**62, -2**62, 1000, -1000, 10**9]
    hostile.flat[rng.randrange(hostile.size)] = rng.choice(far)
    inputs = list(node.inputs)
    inputs[INDEXED[node.op]] = "places"
    first = dataclasses.replace(node, inputs=inputs)
    graph = dataclasses.replace(graph, inputs={**graph.inputs, "places": places},
                                dynamic_dims={**graph.dynamic_dims, "places": []}, nodes=[(first, names), *graph.nodes[1:]],
                                results=list(dict.fromkeys([*names, *graph.results])))
    return graph, hostile


def make_resized(seed):
    """Returns a graph with dynamic dims, and inputs of which one has another size along one of them, or None if no such
    graph is drawn."""
    graph = draw_graph(seed)
    dynamic = [(name, dim) for name, dims in graph.dynamic_dims.items() for dim in dims] if graph is not None else []
    if not dynamic:
        return None
    rng = random.Random(seed)
    name, dim = rng.choice(dynamic)
    array = graph.inputs[name]
    count = array.shape[dim]
    size = rng.choice([each for each in (0, 1, count - 1, count + 1, 2 * count, count + 7) if each not in (-1, count)])
    shape = [size if number == dim else each for number, each in enumerate(array.shape)]
    return graph, {**graph.inputs, name: Draw(rng, {}, 0).array(shape, array.dtype.name)}


def smaller(graph):
    """Yields simpler graphs: fewer results, nodes removed or replaced by inputs, no dynamic dims."""
    if any(graph.dynamic_dims.values()):
        yield dataclasses.replace(graph, dynamic_dims={name: () for name in graph.inputs})
    if len(graph.results) > 1:
        for name in graph.results:
            yield _clean(dataclasses.replace(graph, results=[name]))
    for number, (node, names) in enumerate(graph.nodes):
        cut = dataclasses.replace(graph, nodes=graph.nodes[:number] + graph.nodes[number + 1:])
        before = _clean(dataclasses.replace(graph, nodes=graph.nodes[:number + 1], results=names))
        arrays = run_onnxruntime(before)
        if arrays is None or not all(isinstance(each, np.ndarray) for each in arrays):
            continue
        cut.inputs = {**graph.inputs, **dict(zip(names, arrays))}
        cut.dynamic_dims = {**graph.dynamic_dims, **{name: () for name in names}}
        cut.results = [name for name in graph.results if name not in names]
        if cut.results:
            yield _clean(cut)


def _clean(graph):
    """Returns the graph without nodes and inputs that no result needs."""
    needed, nodes = set(graph.results), []
    for node, names in reversed(graph.nodes):
        if needed & set(names):
            nodes.insert(0, (node, names))
            needed |= set(node.used)
    inputs = {name: array for name, array in graph.inputs.items() if name in needed}
    return dataclasses.replace(graph, nodes=nodes, inputs=inputs,
                               dynamic_dims={name: graph.dynamic_dims[name] for name in inputs})
