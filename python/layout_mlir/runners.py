"""The two runners of a session's parts: programs and sessions of ONNX Runtime, as functions of lists of arrays."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from layout_mlir import compile
from layout_mlir.onnx_import import compare, reference
from layout_mlir.onnx_import.errors import Lowered
from layout_mlir.onnx_import.graph import Importer
from layout_mlir.onnx_import.values import Optional_, Sequence_

if TYPE_CHECKING:
    from onnx import ModelProto, TypeProto

# Element types that ONNX Runtime exchanges with numpy: TensorProto.FLOAT to UINT64, except STRING.
EXCHANGED = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13}
STRING = 8
_ROUNDS, _SECONDS = 50, 0.5  # the limits of a comparison of times
Feed = Mapping[str, Any]
Run = Callable[[Sequence[Any]], Sequence[Any]]


class Runtime:
    """A session of ONNX Runtime for a model."""

    def __init__(self, model: ModelProto, options: Any) -> None:
        import onnxruntime

        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                    providers=["CPUExecutionProvider"])
        self.inputs = [value.name for value in self.session.get_inputs()]
        self.outputs = [value.name for value in self.session.get_outputs()]

    def run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        return self.session.run(self.outputs, dict(zip(self.inputs, arrays)))  # type: ignore[no-any-return]


@dataclasses.dataclass
class Imported:
    """An imported module, and for each of its outputs the length of a sequence, or None for a tensor."""
    lowered: Lowered
    lengths: list[int | None]
    has_all_branches: bool


def import_module(model: ModelProto) -> Imported:
    """Imports a model; raises ImportFailure if it refuses a node."""
    importer = Importer(model)
    text = importer.run()
    values = [importer.find(output.name) for output in model.graph.output]
    inner = [value.value if isinstance(value, Optional_) else value for value in values]
    return Imported((text, importer.builder.arrays),
                     [len(value.items) if isinstance(value, Sequence_) else None for value in inner],
                     importer.has_all_branches)


def compile_module(imported: Imported, threads: int | None) -> Run:
    """Compiles a module; returns a function of its inputs, in their order, that returns a sequence of its outputs."""
    program = compile(imported.lowered, threads=threads)
    lengths = imported.lengths  # the function must not keep the weights of `imported`
    has_sequences = any(length is not None for length in lengths)
    types = [each.dtype for each in program.inputs]

    def run(arrays: Sequence[Any]) -> Sequence[Any]:
        results = program(*[array if type(array) is np.ndarray and (array.dtype is dtype or array.dtype == dtype)
                            else compare.as_given(np.asarray(array, None if hasattr(array, "dtype") else dtype), dtype)
                            for array, dtype in zip(arrays, types)])
        arrays = results if isinstance(results, tuple) else (results,)
        return _group(arrays, lengths) if has_sequences else arrays

    return run


def _group(arrays: Sequence[Any], lengths: Sequence[int | None]) -> list[Any]:
    """Returns a list for each sequence, and the arrays of tensors."""
    rest = iter(arrays)
    return [next(rest) if length is None else list(itertools.islice(rest, length)) for length in lengths]


def run_empty(options: Any) -> Callable[[], object]:
    """Returns a call of a session that computes nothing."""
    from onnx import parser

    runtime = Runtime(parser.parse_model("<ir_version: 8, opset_import: [\"\": 17]> "
                                          "empty (float[1] x) => (float[1] y) { y = Identity (x) }"), options)
    one = np.zeros(1, np.float32)
    return lambda: runtime.run([one])


def time_alternately(runs: Sequence[Callable[[], object]]) -> list[float]:
    """Returns the least seconds of each function in alternating runs."""
    least, end = [float("inf")] * len(runs), time.perf_counter() + _SECONDS * len(runs)
    for round_ in range(_ROUNDS):
        for number, run in enumerate(runs):
            start = time.perf_counter()
            run()
            least[number] = min(least[number], time.perf_counter() - start)
        if round_ >= 2 and time.perf_counter() > end:
            break
    return least


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


class Exposed:
    """A session of ONNX Runtime whose results are all values of the main graph, for their types and elements."""

    def __init__(self, model: ModelProto, options: Any) -> None:
        import onnxruntime

        self.model, self.runtime = model, None
        self._inferred: dict[str, TypeProto] | None = None
        try:
            plain = onnxruntime.SessionOptions()
            plain.log_severity_level = 4
            plain.intra_op_num_threads = options.intra_op_num_threads
            plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            self.runtime = Runtime(reference.with_results(model, [
                name for node in model.graph.node for name in node.output if name]), plain)
        except Exception:  # e.g. NotImplemented, one of the unrelated classes of onnxruntime
            pass
        outputs = self.runtime.session.get_outputs() if self.runtime else []
        self._outputs = {value.name: value for value in outputs}

    def type_of(self, name: str) -> TypeProto | None:
        """Returns the type of a value. ONNX Runtime has an empty shape also for unknown ranks."""
        from onnx import TensorProto, helper

        known = self._outputs.get(name)
        if known is not None and known.type.startswith("tensor(") and known.shape:
            element = TensorProto.DataType.Value(known.type[len("tensor("):-1].upper())
            return helper.make_tensor_type_proto(element, known.shape)
        return self._infer().get(name)

    def _infer(self) -> dict[str, TypeProto]:
        """Returns the types that the onnx package infers."""
        if self._inferred is None:
            from onnx import shape_inference

            from layout_mlir.onnx_import.prepare import without_weights

            graph = shape_inference.infer_shapes(without_weights(self.model), data_prop=True).graph
            stated = {value.name: value.type for value in self.model.graph.output}
            self._inferred = stated | {value.name: value.type for value in graph.value_info}
        return self._inferred

    def values_of(self, names: Sequence[str], feed: Feed) -> dict[str, Any] | None:
        """Returns the values of names, computed from `feed`, or None if ONNX Runtime does not take the model."""
        if self.runtime is None:
            return None
        computed = [name for name in names if name in self._outputs]
        results = self.runtime.session.run(computed, feed) if computed else []
        return {**feed, **dict(zip(computed, results))}
