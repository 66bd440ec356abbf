"""What the reference evaluator of the onnx package computes, and refuses.

ONNX Runtime accepts some inputs that are not valid by the definition of an operator. For example, it multiplies a tensor
of shape [9, 2, 0] by one of shape [5, 0, 4], because the result has no elements. A program ends with an error on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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


def run_reference(model: ModelProto, inputs: Sequence[NDArray[Any]]) -> list[Any]:
    """Returns the results of the reference evaluator; called in an isolated process."""
    from onnx.reference import ReferenceEvaluator

    return flatten(ReferenceEvaluator(model).run(None, dict(zip([value.name for value in model.graph.input], inputs))))


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
