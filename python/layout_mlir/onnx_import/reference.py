"""What the reference evaluator of the onnx package computes, and refuses, and models as ONNX defines them.

ONNX Runtime accepts some inputs that are not valid by the definition of an operator. For example, it multiplies a tensor
of shape [9, 2, 0] by one of shape [5, 0, 4], because the result has no elements. A program ends with an error on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.isolated import isolated

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_SECONDS = 600  # the time limit of a run
_NODE = re.compile(r"node '(.*?)': ")


def flatten(results: Iterable[Any]) -> list[Any]:
    """Returns the results of a runtime, with each tensor of a sequence as a separate result."""
    return [each for result in results for each in (flatten(result) if isinstance(result, list) else [result])]


def with_results(model: ModelProto, names: Iterable[str]) -> ModelProto:
    """Returns a copy of the model whose results are the values of these names."""
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.output[:]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return copy


def _is_dilated_pooling(node: NodeProto) -> bool:
    """Returns true for a dilated pooling with auto_pad SAME_UPPER or SAME_LOWER."""
    return node.op_type in ("AveragePool", "LpPool", "MaxPool") and any(
        each.name == "dilations" and max(each.ints, default=1) > 1 for each in node.attribute) and any(
        each.name == "auto_pad" and each.s.startswith(b"SAME") for each in node.attribute)


def _state_pads(node: NodeProto, sizes: Sequence[int | None]) -> None:
    """Replaces auto_pad of a dilated pooling over spatial dims of these sizes by the pads that it stands for, if the
    sizes are known."""
    from onnx import helper

    values = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    dilations, kernel = values["dilations"], values["kernel_shape"]
    if None in sizes or len(sizes) != len(kernel):
        return
    strides = values.get("strides", [1] * len(kernel))
    totals = [max((-(-size // step) - 1) * step + (count - 1) * dilation + 1 - size, 0)
              for size, step, count, dilation in zip(sizes, strides, kernel, dilations) if size is not None]
    small, large = [total // 2 for total in totals], [total - total // 2 for total in totals]
    kept = [each for each in node.attribute if each.name not in ("auto_pad", "pads")]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(
        "pads", small + large if values["auto_pad"] == b"SAME_UPPER" else large + small)])


def as_defined(model: ModelProto) -> ModelProto:
    """Returns the model, or a copy if it has nodes that a runtime computes otherwise than ONNX defines them:

      - OneHot compares indices that are floats with places, and ONNX converts them to int64 before. The reference
        evaluator also rounds a depth up that is a float.
      - OptionalHasElement finds an element in an empty Optional of the reference evaluator.
      - Dilated poolings with auto_pad have other sizes than ceil(size / stride).
    """
    from onnx import helper, shape_inference

    pools = any(map(_is_dilated_pooling, model.graph.node))
    if not pools and all(node.op_type not in ("OneHot", "OptionalHasElement") for node in model.graph.node):
        return model
    empty = {node.output[0] for node in model.graph.node if node.op_type == "Optional" and not any(node.input)}
    graph = shape_inference.infer_shapes(model).graph if pools else model.graph
    sizes = {value.name: [dim.dim_value if dim.HasField("dim_value") else None
                          for dim in value.type.tensor_type.shape.dim[2:]]
             for value in [*graph.input, *graph.value_info]}
    copy: ModelProto = type(model).FromString(model.SerializeToString())
    del copy.graph.node[:]
    for original in model.graph.node:
        node = type(original).FromString(original.SerializeToString())
        if node.op_type == "OneHot":
            for operand, name in enumerate(["indices", "depth"]):
                node.input[operand] = f"{node.output[0]}_{name}"
                copy.graph.node.append(helper.make_node("Cast", [original.input[operand]], [node.input[operand]], to=7))
        elif node.op_type == "OptionalHasElement" and empty.intersection(node.input):
            node.input[0] = ""  # an operand that is left out
        elif _is_dilated_pooling(node):
            _state_pads(node, sizes.get(node.input[0], [None]))
        copy.graph.node.append(node)
    return copy


def load_evaluator(model: ModelProto) -> Callable[[Sequence[Any]], list[Any]]:
    """Returns a function from inputs to outputs, by the reference evaluator."""
    from onnx import helper
    from onnx.reference import ReferenceEvaluator  # loads all operators

    names, evaluator = [value.name for value in model.graph.input], ReferenceEvaluator(as_defined(model))

    def run(inputs: Sequence[Any]) -> list[Any]:
        results: Any = evaluator.run(None, dict(zip(names, inputs)))
        # NumPy computes some operators in f64, e.g. Adam on scalars of int64.
        for number, (value, result) in enumerate(zip(model.graph.output, results)):
            element = value.type.tensor_type.elem_type
            if element and isinstance(result, np.ndarray) and result.dtype == np.float64:
                results[number] = result.astype(helper.tensor_dtype_to_np_dtype(element))
            elif isinstance(result, np.ndarray) and result.dtype.kind == "U":  # texts, which the runtime has as objects
                results[number] = result.astype(object)
        return list(results)

    return run


def load_reference(model: ModelProto) -> Callable[[Sequence[NDArray[Any]]], list[Any]]:
    """Returns a function from inputs to results, with each tensor of a sequence as a separate result."""
    run = load_evaluator(model)
    return lambda inputs: flatten(run(inputs))


def run_reference(model: ModelProto, inputs: Sequence[NDArray[Any]]) -> list[Any]:
    """Returns the results of the reference evaluator; called in an isolated process."""
    return load_reference(model)(inputs)


def _is_node_refused(model: ModelProto, node: NodeProto, inputs: Sequence[NDArray[Any]]) -> bool:
    """Returns true if the reference evaluator raises an error for a node of the model, on the operands that ONNX Runtime
    computes; called in an isolated process."""
    import onnxruntime
    from onnx import ValueInfoProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator

    given = dict(zip([value.name for value in model.graph.input], inputs))
    values = {**{tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}, **given}
    computed = [name for name in dict.fromkeys(node.input) if name and name not in values]
    if computed:
        session = onnxruntime.InferenceSession(with_results(model, computed).SerializeToString())
        values |= dict(zip(computed, session.run(None, given)))
    operands = {name: values[name] for name in node.input if name}
    graph = helper.make_graph([node], "node", [ValueInfoProto(name=name) for name in operands],
                              [ValueInfoProto(name=name) for name in node.output if name])
    evaluator = ReferenceEvaluator(helper.make_model(graph, opset_imports=model.opset_import))
    try:
        evaluator.run(None, operands)
    except NotImplementedError:
        return False
    except Exception:  # arbitrary errors of the operator
        return True
    return False


def is_refused(model: ModelProto, inputs: Sequence[NDArray[Any]], message: str) -> bool:
    """Returns true if the node that an error message of a program names is refused by the reference evaluator, too."""
    named = _NODE.search(message)
    node = next((node for node in model.graph.node if named and node.name == named[1]), None)
    try:
        return node is not None and isolated(_is_node_refused, model, node, inputs, seconds=_SECONDS)
    except Exception:  # values that ONNX Runtime or the evaluator does not support
        return False
