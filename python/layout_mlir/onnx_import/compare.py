"""Compares the results of an imported model with those of ONNX Runtime.

Each import path rejects a model whose results differ (`Check`). The error names the result and the first node whose
value differs. To find the node, all values between nodes become results of the model and of a second program.

Inputs are random (draws.py); if a model takes indices, shapes or dynamic sizes, draws are tried until ONNX Runtime
accepts one, and preferably until its results are numbers. Operators that it does not implement are computed by the reference
evaluator of the onnx package.

Rounding may change a result by more than a tolerance relative to its largest value, for example if terms cancel or an
exponential follows. The model is therefore run again with inputs changed by one unit in the last place, or by that of
float16 if it computes in 16 bits, with the operands of quantizations changed by up to eight, as sums of many terms are,
and without the runtime's optimizations, which round differently. A multiple of the largest change of a result is allowed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import itertools
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import import check_valid
from layout_mlir.isolated import Crashed, Isolated, isolated
from layout_mlir.onnx_import.draws import LARGER_SIZES, LARGEST_SIZES, NotCompared, draw_inputs
from layout_mlir.onnx_import.errors import ImportFailed
from layout_mlir.onnx_import.prepare import VIEWS
from layout_mlir.onnx_import.reference import (
    as_defined, flatten, is_refused, load_reference, run_reference, with_results)
from layout_mlir.onnx_import.shapes import has_dynamic_sizes, is_known
from layout_mlir.onnx_import.windows import TOO_LARGE

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

# The tolerance by bytes of an element, relative to the element and to the mean magnitude of its tensor.
_TOLERANCE = {2: 2e-2, 4: 1e-3, 8: 1e-6}
# Safety factors: two runs do not show every rounding. A step of a quantization is large, and all values show it.
_SCATTER, _CHANGED_SCATTER = 8, 4
_ROUNDED = 1 + 2.0 ** -10  # a step, and the rounding of its ends
_DRAWS_OF_DECISIONS = 4  # the runs that look for elements that rounding decides
# Operators with operands that are changed by a share of them: those that quantize floats, because another rounding of an
# operand changes what they quantize, and Fourier transforms, of which ONNX Runtime computes four digits. The bias of an
# LSTM changes its states, which are quantized at every step.
_QUANTIZED, _TRANSFORMED = 2.0 ** -20, 2.0 ** -13
_CHANGED = {"QuantizeLinear": ([0], _QUANTIZED), "DynamicQuantizeLinear": ([0], _QUANTIZED),
            "DynamicQuantizeMatMul": ([0], _QUANTIZED), "DynamicQuantizeLSTM": ([0, 3], _QUANTIZED),
            "DFT": ([0], _TRANSFORMED), "STFT": ([0], _TRANSFORMED)}
_HALF = 2.0 ** -11  # the relative rounding error of float16
_SECONDS = 600  # the time limit of a run


class Differs(RuntimeError):
    """Raised if the results differ; the message says how."""


class Refuses(Differs):
    """Raised if the program ends with an error on inputs that the runtime accepts."""

    def __init__(self, oracle: Oracle, error: Exception) -> None:
        super().__init__(f"it fails on inputs on which {oracle.runtime} runs: {error}")
        self.oracle = oracle

    @property
    def is_of_window(self) -> bool:
        """Returns true if a window does not fit into its padded input. ONNX Runtime truncates the quotient of the number
        of its positions, which is negative then, and leaves one position in which it cuts the window off."""
        return TOO_LARGE in str(self)

    def require_valid_inputs(self, model: ModelProto) -> None:
        """Raises NotCompared if the inputs may not be valid for the model. The reference evaluator accepts indices and
        divisors that ONNX forbids, since NumPy does. ONNX Runtime accepts any axis of an empty tensor."""
        if self.is_of_window:
            raise NotCompared(f"no sizes were drawn at which all windows fit: {self}") from self
        if self.oracle.runtime != _ONNX_RUNTIME:
            raise NotCompared(f"drawn inputs may not be valid for the model: {self}") from self
        if is_refused(model, self.oracle.inputs, str(self)):
            raise NotCompared(f"by ONNX, drawn inputs are not valid for the model: {self}") from self


# -------------------------------------------------------------------- the oracle

def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


_ONNX_RUNTIME = "ONNX Runtime"


class _Runtime(NamedTuple):
    """A function from inputs to outputs, and whose it is."""
    name: str
    run: Callable[[Sequence[NDArray[Any]]], list[Any]]


def _runtime(model: ModelProto, threads: int, optimized: bool = True) -> _Runtime:
    """Returns a function from inputs to outputs, by ONNX Runtime or else the reference evaluator."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    # Computes 8-bit products exactly: by default, sums of two saturate at 16 bits on processors without VNNI.
    options.add_session_config_entry("session.x64quantprecision", "1")
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(as_defined(model).SerializeToString(), options)
    except Exception as error:  # an operator or a type is not implemented
        try:
            return _Runtime("the reference evaluator", load_reference(model))
        except Exception as other:
            raise NotCompared(f"ONNX Runtime: {_first_line(error)}; the reference evaluator: "
                              f"{_first_line(other)}") from other
    names = [value.name for value in model.graph.input]
    return _Runtime(_ONNX_RUNTIME, lambda inputs: flatten(session.run(None, dict(zip(names, inputs)))))


def _fits(value: ValueInfoProto, output: Any) -> bool:
    """Returns true if an output has the shape that the model states. Otherwise an axis, a size or a shape among the
    inputs is probably not valid for the model."""
    tensor = value.type.tensor_type
    if not isinstance(output, np.ndarray) or not tensor.HasField("shape"):
        return True
    dims = tensor.shape.dim
    return len(dims) == output.ndim and all(
        not dim.HasField("dim_value") or dim.dim_value == size
        for dim, size in zip(dims, output.shape))


def _largest_change(a: Any, b: Any) -> float:
    """Returns the largest change of a finite float element; 0 for integers, whose rounding errors are not bounded."""
    if not isinstance(a, np.ndarray) or a.dtype.kind not in "fc" or a.shape != np.shape(b):
        return 0.0
    with np.errstate(invalid="ignore"):
        change = np.abs(a.astype(np.complex128) - b)
    return float(change[np.isfinite(change)].max(initial=0))


def _change_operands(model: ModelProto) -> ModelProto:
    """Returns a copy of the model in which each operand x of _CHANGED outside of control flow is x + share * x *
    sin(4096 x), for float32 operands.

    A value between two integers is then rounded to either, as it is if another runtime rounds the operand otherwise. A
    change of the inputs does not show this, because the first quantization removes it."""
    import onnx
    from onnx import helper

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.node[:]
    for number, original in enumerate(model.graph.node):
        node = onnx.NodeProto()
        node.CopyFrom(original)
        operands, share = _CHANGED.get(node.op_type, ([], 0.0))
        for operand in operands:
            x, prefix = node.input[operand], f"change_operands_{number}_{operand}_"
            copy.graph.node.extend(helper.make_node("Constant", [], [prefix + name], value_float=value)
                                   for name, value in (("frequency", 4096.0), ("unit", share)))
            node.input[operand] = prefix + "sum"
            copy.graph.node.extend([
                helper.make_node("Mul", [x, prefix + "frequency"], [prefix + "angle"]),
                helper.make_node("Sin", [prefix + "angle"], [prefix + "sine"]),
                helper.make_node("Mul", [prefix + "sine", prefix + "unit"], [prefix + "share"]),
                helper.make_node("Mul", [x, prefix + "share"], [prefix + "change"]),
                helper.make_node("Add", [x, prefix + "change"], [prefix + "sum"])])
        copy.graph.node.append(node)
    return copy


def _computes_in_halves(model: ModelProto) -> bool:
    """Returns true if the model converts or holds floats of 16 bits, whose rounding results of 32 bits show, too."""
    from layout_mlir.onnx_import.graph import walk

    halves = (10, 16)
    return any(tensor.data_type in halves for tensor in model.graph.initializer) or any(
        node.op_type == "Cast" and each.name == "to" and each.i in halves
        for node in walk(model.graph) for each in node.attribute)


def _step(x: Any, up: NDArray[np.bool_], share: float = 0.0) -> Any:
    """Returns floats that are one unit in the last place, or a share of themselves, larger where `up` is true, and smaller
    elsewhere; other values unchanged."""
    if not isinstance(x, np.ndarray) or x.dtype not in (np.float16, np.float32, np.float64):
        return x
    if share:
        return np.asarray(x * np.where(up, 1 + share, 1 - share), dtype=x.dtype)
    return np.asarray(np.nextafter(x, np.where(up, np.inf, -np.inf), dtype=x.dtype))


def _run_variants(model: ModelProto, run: Callable[[Sequence[NDArray[Any]]], list[Any]], threads: int,
                  inputs: list[NDArray[Any]], outputs: list[Any]) -> Iterable[tuple[int, list[Any]]]:
    """Yields a safety factor and the outputs of each way of rounding otherwise: with inputs one unit in the last place
    away, without optimizations, and with other operands of quantizations and transforms. `run` runs the model."""
    alternating = [np.arange(np.size(x)).reshape(np.shape(x)) % 2 == 1 for x in inputs]
    share = _HALF if _computes_in_halves(model) else 0.0
    near = [_step(x, up, share) for x, up in zip(inputs, alternating)]
    variants: list[tuple[int, Callable[[], Run], list[NDArray[Any]]]] = [
        (_SCATTER, lambda: run, near), (_SCATTER, lambda: _runtime(model, threads, optimized=False).run, inputs)]
    if any(node.op_type in _CHANGED for node in model.graph.node):
        variants.append((_CHANGED_SCATTER, lambda: _runtime(_change_operands(model), threads).run, inputs))
    random = np.random.default_rng(0)
    for _ in range(_DRAWS_OF_DECISIONS if any(map(_is_decision, outputs)) else 0):
        stepped = [_step(x, random.integers(0, 2, np.shape(x)) == 1) for x in inputs]
        variants.append((_SCATTER, lambda: run, stepped))
    for factor, make, given in variants:
        try:
            yield factor, make()(given)
        except Exception:  # the model may only accept certain values, e.g. a scale of 1, or quantize another type
            continue


def _is_decision(output: Any) -> bool:
    """Returns true if the elements of an output are chosen by comparisons, as an index of a maximum is."""
    return isinstance(output, np.ndarray) and output.dtype.kind in "iub" and output.dtype not in (np.int8, np.uint8)


def _find_steps(model: ModelProto) -> list[float]:
    """Returns for each result an absolute difference that a few runs need not show, or 0: the largest step between
    dequantized numbers, because another rounding of values that the model quantizes before may move any result by a
    step; and the last place of 1 for a Sigmoid, of which ONNX Runtime computes 0 for operands below -18."""
    from onnx import numpy_helper

    quantizes = sum(node.op_type == "QuantizeLinear" for node in model.graph.node) > 1
    made = {output: node for node in model.graph.node for output in node.output}
    constants = {each.name: each for each in model.graph.initializer}

    def find_step(name: str) -> float:
        while name in made and made[name].op_type in VIEWS | {"Flatten", "Transpose"}:
            name = made[name].input[0]
        if name in made and made[name].op_type == "Sigmoid":
            return 2.0 ** -23
        if not quantizes or name not in made or made[name].op_type != "DequantizeLinear" or made[name].input[1] not in constants:
            return 0.0
        scales = numpy_helper.to_array(constants[made[name].input[1]])
        return float(np.abs(scales).max(initial=0)) * _ROUNDED

    return [find_step(value.name) for value in model.graph.output]


def _allow_rounding(model: ModelProto, run: Callable[[Sequence[NDArray[Any]]], list[Any]], threads: int,
                    inputs: list[NDArray[Any]], outputs: list[Any]) -> tuple[list[float], list[Any]]:
    """Returns the absolute difference from the runtime that rounding allows for each result, and for each result the
    mask of the elements that rounding decides, or None."""
    others = list(_run_variants(model, run, threads, inputs, outputs))
    step = 1.0 if _is_quantized(model) else 0.0
    bounds = [step if isinstance(a, np.ndarray) and a.dtype in (np.int8, np.uint8)
              else max([each, *(factor * _largest_change(a, other[number]) for factor, other in others)])
              for number, (a, each) in enumerate(zip(outputs, itertools.chain(_find_steps(model), itertools.repeat(0.0))))]
    decided = [np.logical_or.reduce([a != other[number] for _, other in others
                                     if np.shape(other[number]) == a.shape] or [np.zeros(a.shape, bool)])
               if _is_decision(a) else None for number, a in enumerate(outputs)]
    return bounds, decided


def _find_unshaped(model: ModelProto, inputs: list[NDArray[Any]]) -> list[bool]:
    """Returns for each result whether it depends on what a loop without iterations stacks. Runtimes do not know the rank
    or all sizes of its elements."""
    from layout_mlir.onnx_import.graph import subgraphs, uses_of, walk

    stacked = [name for node in model.graph.node for name in (
        node.output[max(len(node.input) - 2, 0):] if node.op_type == "Loop" else
        node.output if any(each.op_type == "Loop" for body in subgraphs(node) for each in walk(body)) else []) if name]
    arrays = _runtime(with_results(model, stacked), 1, optimized=False).run(inputs) if stacked else []
    names = {name for name, array in zip(stacked, arrays) if np.shape(array)[:1] == (0,)}
    for node in model.graph.node if names else ():
        if not names.isdisjoint(uses_of(node)):
            names.update(node.output)
    return [value.name in names for value in model.graph.output]


@dataclasses.dataclass
class Oracle:
    """The outputs of the runtime for inputs, the absolute rounding error allowed for each output, the mask of the
    elements of each output that rounding decides, or None, the median seconds of a run, or None if it is not measured,
    the name of the runtime, and for each output whether it depends on a shape that the runtime does not know."""
    inputs: list[NDArray[Any]]
    outputs: list[Any]
    rounding: list[float]
    decided: list[Any]
    seconds: float | None = None
    runtime: str = _ONNX_RUNTIME
    unshaped: list[bool] = dataclasses.field(default_factory=list)

    def settle(self, results: Sequence[Any]) -> list[Any]:
        """Returns results in which the elements that rounding decides are those of `outputs`, as are results of other
        shapes, if these depend on a shape that the runtime does not know."""
        def settle_one(a: Any, b: Any, mask: Any, is_unshaped: bool) -> Any:
            b = with_dtype(b, a.dtype) if isinstance(a, np.ndarray) else b
            if is_unshaped and np.shape(a) != np.shape(b) and a.dtype == b.dtype:
                return a
            return b if mask is None or np.shape(b) != np.shape(a) else np.where(mask, a, b)

        unshaped = self.unshaped if len(self.unshaped) == len(results) else [False] * len(results)
        return [settle_one(*each) for each in zip(self.outputs, results, self.decided, unshaped)]


# The kinds of draws, from the best one: all numbers; some results are NaN, for example of a row that a mask removes;
# all results are empty; the shapes are not those that the model states, which may be the model's fault.
_DRAWS = ["numbers", "NaN", "empty", "misshapen"]


def _judge(model: ModelProto, outputs: Sequence[Any]) -> str:
    """Returns the entry of _DRAWS for a draw with these results."""
    if len(outputs) == len(model.graph.output) and not all(map(_fits, model.graph.output, outputs)):
        return "misshapen"
    if not any(np.size(output) for output in outputs):
        return "empty"
    return "NaN" if any(isinstance(output, np.ndarray) and output.dtype.kind in "fc" and np.isnan(output).any()
                        for output in outputs) else "numbers"


def run_oracle(model: ModelProto, draws: Iterable[list[NDArray[Any]]], repeat: int = 0,
               threads: int = 1) -> Oracle:
    """Returns the Oracle of the first draw of the best kind that the model accepts; called in an isolated process. Runs
    are timed with `threads` threads."""
    runtime, run = _runtime(model, threads)
    # The draws that the model accepts, by how much their results show.
    accepted: dict[str, tuple[list[NDArray[Any]], list[Any]]] = {}
    reason = "no input was generated"
    for inputs in draws:
        try:
            outputs = run(inputs)
        except Exception as error:  # e.g. an index out of range, or sizes that do not fit
            reason = _first_line(error)
            continue
        kind = _judge(model, outputs)
        accepted.setdefault(kind, (inputs, outputs))
        if kind == _DRAWS[0]:
            break
    if not accepted:
        raise NotCompared(f"no inputs were found that {runtime} accepts: {reason}")
    chosen = accepted[min(accepted, key=_DRAWS.index)]
    again = run(chosen[0])
    for name, a, b in zip(_result_names([value.name for value in model.graph.output], chosen[1]), chosen[1], again):
        if not isinstance(a, np.ndarray) or a.dtype == object:
            raise NotCompared(f"result '{name}' is not a tensor of numbers")
        if describe_difference(a, b):
            raise NotCompared(f"result '{name}' differs between runs of the model")
    return Oracle(*chosen, *_allow_rounding(model, run, threads, *chosen),
                  _time(lambda: run(chosen[0]), repeat), runtime,
                  _find_unshaped(model, chosen[0]))


def _check_and_run(model: ModelProto, draws: Iterable[list[NDArray[Any]]]) -> Oracle:
    check_valid(model)
    return run_oracle(model, draws)


def _result_names(names: Sequence[str], outputs: Sequence[Any]) -> Sequence[str]:
    """Returns the names of the results, or numbers if a sequence has several results."""
    return names if len(names) == len(outputs) else [str(number) for number in range(len(outputs))]


def _time(function: Callable[[], object], repeat: int) -> float | None:
    """Returns the median duration of `repeat` runs in seconds, or None for no runs."""
    import statistics

    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times) if times else None


# ------------------------------------------------------------------ the program

Run = Callable[[Sequence[NDArray[Any]]], "list[NDArray[Any]]"]


def compile_lowered(lowered: tuple[str, dict[str, NDArray[Any]]]) -> Run:
    """Compiles an imported module; returns a function from inputs to results."""
    from layout_mlir import compile

    return as_function(compile(lowered))


def as_function(program: Any) -> Run:
    """Wraps a Program as a function from inputs to a list of results."""
    def run(inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        results = program(*[as_given(each, type_.dtype) for each, type_ in zip(inputs, program.inputs)])
        return list(results) if isinstance(results, tuple) else [results]

    return run


def as_given(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Views an array as a dtype of the same size, because numpy lacks some types."""
    array = np.asarray(array, order="C")
    return array if array.dtype == dtype or array.dtype.itemsize != np.dtype(dtype).itemsize else array.view(dtype)


def with_dtype(result: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts an array read from a file to the expected dtype if the sizes are equal: files hold types that numpy
    lacks as unsigned integers."""
    if result.dtype == dtype or result.dtype.itemsize != dtype.itemsize:
        return result
    return np.frombuffer(result.tobytes(), dtype).reshape(result.shape)


def as_declared(model: ModelProto, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Returns inputs as the types that the model declares: files hold types that numpy lacks as bytes."""
    from onnx import helper

    dtypes = [helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type) for value in model.graph.input]
    return [with_dtype(array, dtype) if array.dtype.kind == "V" else array for array, dtype in zip(inputs, dtypes)]


def describe_difference(expected: NDArray[Any], got: NDArray[Any], rounding: float = 0.0) -> str | None:
    """Returns a text that says how two arrays differ, or None if they are equal within the tolerance of the type.
    `rounding` is an absolute difference to allow for any element."""
    got = with_dtype(got, expected.dtype)
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"{got.dtype}{list(got.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind in "iub":
        near = expected == got
        if rounding:
            near |= np.abs(expected.astype(int) - got.astype(int)) <= rounding
    else:
        tolerance = _TOLERANCE.get(expected.dtype.itemsize, _TOLERANCE[4])
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        expected, got = expected.astype(wide), got.astype(wide)
        finite = np.abs(expected[np.isfinite(expected)])
        near = np.isclose(got, expected, rtol=tolerance, equal_nan=True,
                          atol=max(tolerance * (finite.mean() if finite.size else 0), rounding))
    if np.all(near):
        return None
    at = tuple(int(i) for i in np.argwhere(~near)[0])
    return (f"{np.size(near) - np.count_nonzero(near)} of {np.size(near)} elements, the first at "
            f"{list(at)}: {got[at]} instead of {expected[at]}")


# ------------------------------------------------------------- the first node

def _expose_all(model: ModelProto) -> ModelProto:
    """Returns a copy of the model whose results are all tensors of top-level nodes, in order."""
    from layout_mlir.onnx_import.graph import import_graph
    from layout_mlir.onnx_import.values import Tensor

    importer, _ = import_graph(model)
    return with_results(model, [name for node in model.graph.node for name in node.output
                                if name and isinstance(value := importer.scopes[0][name], Tensor)
                                and not value.may_be_scalar])


def _first_node(model: ModelProto, inputs: list[NDArray[Any]]) -> str:
    """Returns the description of the first node whose value differs."""
    from layout_mlir import LayoutError
    from layout_mlir.onnx_import import lower_to_text

    exposed = _expose_all(model)
    names = [value.name for value in exposed.graph.output]
    try:
        oracle = isolated(run_oracle, exposed, [inputs])
        got = compile_lowered(lower_to_text(exposed))(inputs)
    except (ImportFailed, NotCompared, LayoutError, Crashed) as error:
        return f"the node was not found: with all values as results, {_first_line(error)}"
    for name, a, b, rounding in zip(names, oracle.outputs, oracle.settle(got), oracle.rounding):
        difference = describe_difference(a, b, rounding)
        if difference:
            node = next(node for node in model.graph.node if name in node.output)
            return (f"the first node that differs is '{node.name or name}' ({node.op_type}), "
                    f"in its output '{name}': {difference}")
    return "the node was not found: with all values as results, none differs"


def _is_quantized(model: ModelProto) -> bool:
    return any("Quantize" in node.op_type or "QLinear" in node.op_type for node in model.graph.node)


# -------------------------------------------------------------------------- all

def _is_defined_so(model: ModelProto, oracle: Oracle, got: Sequence[NDArray[Any]]) -> bool:
    """Returns true if each result equals that of ONNX Runtime, with or without its optimizations, or of ONNX's
    reference. They differ for empty tensors, NaN and some forms of operators, and the optimizer takes sizes from ONNX's
    shape inference, which are not those that ONNX Runtime computes."""
    def run_unoptimized(model: ModelProto, inputs: list[NDArray[Any]]) -> list[Any]:
        return _runtime(model, 1, optimized=False).run(inputs)

    expected = [oracle.outputs]
    for run in (run_reference, run_unoptimized):
        with contextlib.suppress(Exception):  # arbitrary errors of the reference's operators
            expected.append(isolated(run, model, oracle.inputs, seconds=_SECONDS))
    return all(any(isinstance(a, (np.ndarray, np.generic)) and not describe_difference(np.asarray(a), b, rounding)
                   for a in given)
               for b, rounding, *given in zip(oracle.settle(got), oracle.rounding, *expected))


def compare_results(names: Sequence[str], oracle: Oracle, run: Run, reload: Callable[[], ModelProto]) -> None:
    """Raises Differs if `run` does not compute the outputs of the oracle. `names` are the names of the outputs;
    `reload` returns the model."""
    from layout_mlir import LayoutError

    try:
        got = run(oracle.inputs)
    except LayoutError as error:
        raise Refuses(oracle, error) from error
    if len(got) != len(oracle.outputs):
        raise Differs(f"it has {len(got)} results, but {oracle.runtime} has {len(oracle.outputs)}")
    compared = [(name, a, b, describe_difference(a, b, rounding)) for name, a, b, rounding in zip(
        _result_names(names, oracle.outputs), oracle.outputs, oracle.settle(got), oracle.rounding)]
    different = [each for each in compared if each[3]]
    if not different or _is_defined_so(model := reload(), oracle, got):
        return
    name, _, _, difference = different[0]
    raise Differs(f"result '{name}' is not what {oracle.runtime} computes: {difference};\n  "
                  + _first_node(model, oracle.inputs))


class Check:
    """A comparison of one model, whose oracle runs in a child process from construction on. If the model is
    `unchecked`, the child checks first that it is valid.

        check = Check(model)
        ..                              # the program is compiled meanwhile
        check.finish(run, reload)       # raises ImportFailed if the results differ

    Without onnxruntime, or if it accepts none of the drawn inputs, a warning says that nothing was compared.
    """

    def __init__(self, model: ModelProto, inputs: list[NDArray[Any]] | None = None, seed: int = 0,
                 warns: bool = True, unchecked: bool = False) -> None:
        self.warns, self.names = warns, [value.name for value in model.graph.output]
        self.has_windows = any("Conv" in node.op_type or node.op_type.endswith("Pool") for node in model.graph.node)
        self.process: Isolated[Oracle] | None = None
        if importlib.util.find_spec("onnxruntime") is None:
            if unchecked:
                check_valid(model)
            self._skip("onnxruntime is not installed")
            return
        self.seed = seed if inputs is None and has_dynamic_sizes(model.graph) else None
        draws = draw_inputs(model.graph, seed) if inputs is None else [as_declared(model, inputs)]
        self.process = Isolated(_check_and_run if unchecked else run_oracle, model, draws, seconds=_SECONDS)

    def _skip(self, reason: object) -> None:
        if not self.warns:
            raise ImportFailed(f"the imported module could not be compared: {reason}\n(pass inputs with --input, or "
                               "--no-compare to write the module unchecked)")
        warnings.warn(f"the imported model was not compared with ONNX Runtime: {reason}", stacklevel=2)

    def finish(self, run: Run, reload: Callable[[], ModelProto]) -> None:
        """Raises ImportFailed if the results differ. `reload` returns the model, to find the node that differs."""
        if self.process is None:
            return
        try:
            try:
                oracle = self.process.wait()
            except NotCompared:
                if self.has_windows and self._agrees_elsewhere(run, reload, LARGEST_SIZES):
                    return
                raise
            except Crashed as error:
                return self._skip(f"ONNX Runtime: {error}")
            self._compare(oracle, run, reload)
        except NotCompared as error:
            self._skip(error)
        except Differs as error:
            raise ImportFailed(f"the imported module is wrong: {error}") from error

    def _compare(self, oracle: Oracle, run: Run, reload: Callable[[], ModelProto]) -> None:
        try:
            compare_results(self.names, oracle, run, reload)
        except Refuses as error:
            if self._agrees_elsewhere(run, reload, LARGER_SIZES + LARGEST_SIZES if error.is_of_window else LARGER_SIZES):
                return
            model = reload()
            error.require_valid_inputs(model)
            raise Differs(f"{error};\n  " + _first_node(model, oracle.inputs)) from error

    def _agrees_elsewhere(self, run: Run, reload: Callable[[], ModelProto], sizes: Sequence[int]) -> bool:
        """Returns true if the program has the results of the runtime for one of these values of the dynamic sizes: those
        drawn first may be smaller than a window. Raises Differs if its results are others."""
        for size, first in [] if self.seed is None else itertools.product(sizes, (1, None)):
            model = reload()
            draws = draw_inputs(model.graph, self.seed or 0, first, [size])
            try:
                oracle = isolated(run_oracle, model, draws, seconds=_SECONDS)
                compare_results(self.names, oracle, run, lambda: model)
                if any(map(np.size, oracle.outputs)):
                    return True
            except (NotCompared, Crashed, Refuses):
                continue
        return False
