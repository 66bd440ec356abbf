"""Compares the import of ONNX nodes with ONNX Runtime, or with the reference of the onnx package.

    nodes = Nodes(opset=21)
    nodes.add("Add", x, y)                   both are inputs of the program, of static sizes
    nodes.add("Add", x, Constant(y), dynamic=True)
    nodes.check()                            compiles all nodes as one program
"""

import dataclasses
import typing
import warnings

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, NotImplemented

import layout_mlir
from layout_mlir import onnx_import
from layout_mlir.onnx_import import compare as onnx_compare

Array = NDArray[typing.Any]
# The relative tolerance by element type; integers must be equal.
TOLERANCE = {"float16": 2**-9, "bfloat16": 2**-6, "float32": 2e-5, "float64": 1e-9}


class Constant(typing.NamedTuple):
    """An operand that is an initializer of the model."""
    array: Array


@dataclasses.dataclass
class Case:
    node: onnx.NodeProto
    given: dict[str, Array | Constant]
    dynamic: bool
    expected: list[Array] | None
    atol: float
    steps: int

    @property
    def inputs(self) -> dict[str, Array]:
        return {name: x for name, x in self.given.items() if not isinstance(x, Constant)}

    @property
    def initializers(self) -> list[onnx.TensorProto]:
        return [numpy_helper.from_array(x.array, name) for name, x in self.given.items() if isinstance(x, Constant)]

    @property
    def arguments(self) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype),
                                              [None] * x.ndim if self.dynamic else x.shape)
                for name, x in self.inputs.items()]

    @property
    def results(self) -> list[onnx.ValueInfoProto]:
        return [helper.make_empty_tensor_value_info(name) for name in self.node.output if name]

    def __str__(self) -> str:
        attributes = {each.name: helper.get_attribute_value(each) for each in self.node.attribute}
        operands = [f"{x.array.dtype}{list(x.array.shape)} constant" if isinstance(x, Constant) else
                    f"{x.dtype}{list(x.shape)}" for x in self.given.values()]
        return f"{self.node.op_type} {attributes} of {operands}{' dynamic' if self.dynamic else ''}"


class Nodes:
    """Nodes of one opset."""

    def __init__(self, opset: int) -> None:
        self.imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        self.cases: list[Case] = []

    def add(self, op: str, *given: Array | np.generic | Constant | None, outputs: int = 1, dynamic: bool = False,
            domain: str = "", expected: list[Array] | None = None, atol: float = 1e-6, steps: int = 0,
            **attributes: object) -> None:
        """Adds a node. None is an omitted operand. `expected` has the results if neither ONNX Runtime nor the reference
        computes them; integers may differ by `steps`."""
        number = len(self.cases)
        given = tuple(np.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in given)
        names = ["" if x is None else f"x{number}_{place}" for place, x in enumerate(given)]
        node = helper.make_node(op, names, [f"y{number}_{place}" for place in range(outputs)], domain=domain,
                                **attributes)
        operands = {name: x for name, x in zip(names, given) if x is not None}
        self.cases.append(Case(node, operands, dynamic, expected, atol, steps))

    def check(self) -> None:
        """Raises AssertionError with all nodes whose results differ."""
        results = iter(self._run())
        wrong = []
        for case in self.cases:
            for expected in self._expect(case):
                reason = differ(next(results), expected, case)
                if reason:
                    wrong.append(f"{case}: {reason}")
        assert not wrong, "\n".join(wrong)
        assert not list(results), "the program has results that no node has"

    def _model(self, cases: list[Case]) -> onnx.ModelProto:
        graph = helper.make_graph([case.node for case in cases], "nodes", [x for case in cases for x in case.arguments],
                                  [y for case in cases for y in case.results],
                                  [w for case in cases for w in case.initializers])
        return helper.make_model(graph, opset_imports=self.imports, ir_version=10)

    def _run(self) -> list[Array]:
        text, arrays = onnx_import.lower_to_text(onnx_import.prepare_checked(self._model(self.cases)))
        program = layout_mlir.compile((text, arrays) if arrays else text)
        results = program(*[x for case in self.cases for x in case.inputs.values()])
        return list(results) if isinstance(results, (tuple, list)) else [results]

    def _expect(self, case: Case) -> list[Array]:
        if case.expected is not None:
            return case.expected
        return run_oracle(self._model([case]), case.inputs)


def run_oracle(model: onnx.ModelProto, inputs: dict[str, Array]) -> list[Array]:
    """Returns the results of ONNX Runtime, or those of the onnx package's reference for operators, element types and
    forms that ONNX Runtime does not support. Raises InvalidArgument if inputs do not match."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        expected = session.run(None, inputs)
    except (Fail, InvalidGraph, NotImplemented, RuntimeError):  # the last one for bf16 arrays
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = ReferenceEvaluator(model).run(None, inputs)
    return list(map(np.asarray, expected))


def differ(result: Array, expected: Array, case: Case) -> str | None:
    """Returns how results differ, or None."""
    result = onnx_compare.with_dtype(np.asarray(result), expected.dtype)
    if (result.dtype, result.shape) != (expected.dtype, expected.shape):
        return f"{result.dtype}{list(result.shape)} instead of {expected.dtype}{list(expected.shape)}"
    name = expected.dtype.name
    if expected.dtype.kind in "iub":
        near = np.asarray(np.abs(result.astype(object) - expected.astype(object)) <= case.steps, bool)
    else:
        a, b = (x.astype(np.float64) for x in (result, expected))
        near = np.asarray(np.isclose(a, b, rtol=TOLERANCE.get(name, 0), atol=case.atol, equal_nan=True))
    if np.all(near):
        return None
    at = tuple(int(i) for i in np.argwhere(~near)[0])
    return f"{np.count_nonzero(~near)} differ, the first at {list(at)}: {result[at]} instead of {expected[at]}"
