"""Runs an ONNX model partly compiled and partly by ONNX Runtime, behind the interface of onnxruntime.InferenceSession.

    session = onnx_session("model.onnx")
    session.run(None, {"image": array})
    session.parts                            # the runner of each part, its nodes, and the reason

Parts of nodes that the importer takes are compiled (onnx_import/partition.py); the other nodes run in sessions of ONNX
Runtime. Values pass between parts as numpy arrays without copies. The rules, in order, by which an imported part stays
with ONNX Runtime:

  border    a value at its border has a type that ONNX Runtime does not exchange with numpy, e.g. a sequence or bf16
  small     ONNX Runtime computes it in less time than two calls of an empty session take, which is what a part costs
  wrong     its results differ from those of ONNX Runtime, or it is not compiled
  slow      ONNX Runtime computes it in less time

The model runs as a whole by ONNX Runtime if its parts together take longer. Times are the least of alternating runs on
inputs that are given or drawn. A part that ONNX Runtime refuses too runs by the reference evaluator of the onnx package.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from numpy.typing import NDArray

from layout_mlir import LayoutError, onnx_import
from layout_mlir.isolated import Crashed, Isolated
from layout_mlir.onnx_import import compare, reference
from layout_mlir.onnx_import.draws import NotCompared, draw_inputs
from layout_mlir.onnx_import.errors import ImportFailed, explain_missing
from layout_mlir.onnx_import.node import ImportFailure
from layout_mlir.onnx_import.partition import Graph, Piece, Survey
from layout_mlir.onnx_import.shapes import Shape, inputs_of, set_shapes
from layout_mlir.onnx_import.values import Tensor
from layout_mlir.runners import (EXCHANGED, STRING, Exposed, Feed, Imported, Run, Runtime, compile_module,
                                 import_module, milliseconds, run_empty, time_alternately)

if TYPE_CHECKING:
    from onnx import ModelProto, TypeProto

_Source = Union[str, "os.PathLike[str]", bytes, "ModelProto"]


@dataclasses.dataclass(frozen=True)
class NodeArg:
    """An input or output, as onnxruntime.NodeArg: `type` is e.g. tensor(float), dynamic sizes are names or None."""
    name: str
    type: str
    shape: list[int | str | None]


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a session: the runner, "layout", "onnxruntime" or "reference", the names of the nodes, and the reason.
    Nodes with constant results are in no part."""
    runner: str
    nodes: tuple[str, ...]
    reason: str


@dataclasses.dataclass
class _Step:
    """A part with the function that runs it, and the values that are not used after it."""
    run: Run
    inputs: Sequence[str]
    outputs: Sequence[str]
    last: Sequence[str] = ()


class OnnxSession:
    """A session that onnx_session creates. `parts` lists its parts in the order of execution."""

    def __init__(self, parts: Sequence[Part], steps: Sequence[_Step], inputs: list[NodeArg], outputs: list[NodeArg],
                 optional: Collection[str], constants: Mapping[str, NDArray[Any]], fallback: Runtime | None) -> None:
        self.parts, self._steps, self._fallback = tuple(parts), steps, fallback
        self._inputs, self._outputs, self._constants = inputs, outputs, constants
        self._names = {value.name for value in inputs}
        self._required = self._names - set(optional)
        self._results = [value.name for value in outputs]
        # The only step, if its results are those of the session.
        self._only = steps[0] if len(steps) == 1 and list(steps[0].outputs) == self._results else None

    def get_inputs(self) -> list[NodeArg]:
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        return list(self._outputs)

    def get_providers(self) -> list[str]:
        """Returns the names of the runners as execution providers."""
        names = {"layout": "LayoutExecutionProvider", "onnxruntime": "CPUExecutionProvider",
                 "reference": "ReferenceEvaluator"}
        return [names[runner] for runner in names if any(part.runner == runner for part in self.parts)]

    def run(self, output_names: Sequence[str] | None, input_feed: Feed, run_options: object = None) -> list[Any]:
        """Returns the outputs of the given names, or all outputs if `output_names` is None or empty."""
        if not self._steps and self._fallback:
            results: list[Any] = self._fallback.session.run(output_names, input_feed, run_options)
            return results
        is_plain = output_names is None and run_options is None and input_feed.keys() == self._names
        if not is_plain:
            self._check(output_names, input_feed, run_options)
        wanted = output_names or self._results
        try:
            if is_plain and self._only:
                return list(self._only.run([input_feed[name] for name in self._only.inputs]))
            return self._run_steps(wanted, input_feed)
        except LayoutError:
            if self._fallback is None:
                raise
            results = self._fallback.session.run(wanted, input_feed)
            return results

    def _check(self, output_names: Sequence[str] | None, feed: Feed, run_options: object) -> None:
        """Raises ValueError for an unknown name, a missing input, or options."""
        if run_options is not None:
            raise ValueError("run_options are not supported: pass them to an onnxruntime.InferenceSession")
        if not feed.keys() >= self._required:
            raise ValueError(f"Required inputs ({sorted(self._required - feed.keys())}) are missing from input "
                             f"feed ({list(feed)}).")
        for name in feed:
            if name not in self._names:
                raise ValueError(f"Invalid input name: {name}")
        for name in output_names or ():
            if name not in self._results:
                raise ValueError(f"Invalid output name: {name}")

    def _run_steps(self, wanted: Sequence[str], feed: Feed) -> list[Any]:
        values = {**self._constants, **feed}
        for step in self._steps:
            values.update(zip(step.outputs, step.run([values.get(name) for name in step.inputs])))
            for name in step.last:
                values.pop(name, None)
        return [values[name] for name in wanted]


def onnx_session(model: _Source, sess_options: Any = None, *, shapes: Mapping[str | int, Shape] | None = None,
                 inputs: Feed | None = None, measure: bool = True) -> OnnxSession:
    """Returns a session for a model: a path, the bytes of a file, or an onnx.ModelProto.

    `sess_options` are onnxruntime.SessionOptions; compiled parts use as many threads. `shapes` sets the shapes of
    inputs with dynamic sizes. `inputs` are those on which parts are compared and timed; by default they are random.
    Without `measure`, each part that the importer takes is compiled, whatever its time. Raises ImportFailed if the
    model cannot be read, and LayoutError if no runner takes a node.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise explain_missing(error, "onnx") from error
    if sess_options is None:
        sess_options = onnxruntime.SessionOptions()
        # Threads that wait actively after a run would disturb the next part.
        sess_options.add_session_config_entry("session.force_spinning_stop", "1")
    prepared = _read(model)
    set_shapes(prepared, shapes or {})
    try:
        prepared = onnx_import.prepare_checked(prepared)
    except ImportFailed as error:
        original = _read(model)
        try:
            return _run_whole(original, Runtime(original, sess_options), str(error))
        except Exception as other:  # one of the unrelated classes of onnxruntime
            raise LayoutError(f"no runner takes the model: {error};\n  ONNX Runtime: {other}") from other
    return _Planner(prepared, sess_options, inputs, measure).plan()


def _read(model: _Source) -> ModelProto:
    import onnx
    from google.protobuf.message import DecodeError

    if isinstance(model, bytes):
        try:
            return onnx.load_from_string(model)
        except DecodeError as error:
            raise ImportFailed(f"the bytes are not an ONNX model: {error}") from error
    if isinstance(model, onnx.ModelProto):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        return copy
    return onnx_import.read(model)


def _run_whole(model: ModelProto, runtime: Runtime, reason: str) -> OnnxSession:
    """Returns a session of one part, `runtime`."""
    nodes = tuple(node.name for node in model.graph.node)
    return _make_session(model, [Part("onnxruntime", nodes, reason)], [], runtime, runtime)


def _make_session(model: ModelProto, parts: Sequence[Part], steps: Sequence[_Step], whole: Runtime | None = None,
                  fallback: Runtime | None = None) -> OnnxSession:
    """Returns a session. `whole` is one for the whole model, with inferred types; `fallback` runs if a part fails, or
    if there are no steps."""
    from onnx import numpy_helper

    later = {value.name for value in model.graph.output}
    for step in reversed(steps):
        step.last = [name for name in {*step.inputs, *step.outputs} if name not in later]
        later.update(step.inputs)
    results = {value.name for value in model.graph.output}
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer
                 if tensor.name in results}
    optional = [value.name for value in inputs_of(model.graph) if value.type.HasField("optional_type")]
    if whole:
        inputs, outputs = ([NodeArg(value.name, value.type, value.shape) for value in values]
                           for values in (whole.session.get_inputs(), whole.session.get_outputs()))
    else:
        inputs, outputs = ([NodeArg(value.name, _type_text(value.type), _sizes(value.type)) for value in values]
                           for values in (inputs_of(model.graph), model.graph.output))
    return OnnxSession(parts, steps, inputs, outputs, optional, constants, fallback)


def _type_text(type_: TypeProto) -> str:
    """Returns the text of a type as ONNX Runtime writes it."""
    from onnx import TensorProto

    kind = type_.WhichOneof("value")
    if kind == "sequence_type":
        return f"seq({_type_text(type_.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({_type_text(type_.optional_type.elem_type)})"
    return f"tensor({TensorProto.DataType.Name(type_.tensor_type.elem_type).lower()})"


def _sizes(type_: TypeProto) -> list[int | str | None]:
    return [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
            for dim in type_.tensor_type.shape.dim]


# ---------------------------------------------------------------------- the plan

class _Planner:
    """Divides one prepared model."""

    def __init__(self, model: ModelProto, options: Any, inputs: Feed | None, measure: bool) -> None:
        self.model, self.options, self.measures = model, options, measure
        self.names = [value.name for value in model.graph.input]
        self.all = tuple(range(len(model.graph.node)))
        # The reason for each node that stays with ONNX Runtime.
        self.reasons: dict[int, str] = {}
        self.graph: Graph | None = None
        self.exposed: Exposed | None = None
        self._imported: dict[tuple[int, ...], Imported] = {}
        self._compiled: dict[tuple[int, ...], Run] = {}
        self._times: dict[tuple[int, ...], str] = {}
        self._large: set[tuple[int, ...]] = set()
        self._oracle: compare.Oracle | str | None = None
        self._given = None if inputs is None else [inputs[name] for name in self.names]
        draws = draw_inputs(model.graph, 0, first=1) if self._given is None else [self._given]
        self._process = Isolated(compare.run_oracle, model, draws)
        self.whole = self._try_whole()

    def plan(self) -> OnnxSession:
        ours = self._find_ours()
        if ours and self.measures and self.whole and isinstance(self.sample, str):
            return _run_whole(self.model, self.whole,
                              f"no time was measured: {self.sample}\n(pass inputs=, or measure=False)")
        while True:
            pieces = self._split(ours)
            refused = self._refuse([piece for piece in pieces if piece.ours])
            if not refused:
                break
            self.reasons.update(refused)
            ours -= refused.keys()
        return self._choose(pieces)

    def _try_whole(self) -> Runtime | None:
        """Returns a session for the whole model, or None if ONNX Runtime does not take it, or not by numpy arrays."""
        from onnx import TensorProto

        try:
            runtime = Runtime(self.model, self.options)
        except Exception:  # e.g. NotImplemented, one of the unrelated classes of onnxruntime
            return None
        for value in [*runtime.session.get_inputs(), *runtime.session.get_outputs()]:
            element = value.type.replace(")", "").split("(")[-1].split(",")[-1]
            if TensorProto.DataType.Value(element.upper()) not in {*EXCHANGED, STRING}:
                return None
        return runtime

    @property
    def oracle(self) -> compare.Oracle | str:
        """The results of ONNX Runtime for the whole model, or why there are none."""
        if self._oracle is None:
            try:
                self._oracle = self._process.wait()
            except (NotCompared, Crashed) as error:
                self._oracle = str(error)
        return self._oracle

    @property
    def sample(self) -> list[Any] | str:
        """The inputs on which parts are compared and timed, or why there are none."""
        if self._given is not None:
            return self._given
        return self.oracle if isinstance(self.oracle, str) else self.oracle.inputs

    def _find_ours(self) -> set[int]:
        """Returns the nodes that the importer takes."""
        try:
            self._imported[self.all] = import_module(self.model)
            return set(self.all)
        except ImportFailure:
            pass
        self.exposed = Exposed(self.model, self.options)
        survey = Survey(self.model, self.exposed.type_of)
        self.graph, self.reasons = Graph(self.model, survey), dict(survey.refused)
        return set(self.all) - self.reasons.keys() - self.graph.folded

    def _split(self, ours: Collection[int]) -> list[Piece]:
        if self.graph:
            return self.graph.split(ours)
        return [Piece(bool(ours), self.all, tuple(self.names), tuple(value.name for value in self.model.graph.output))]

    # ----------------------------------------------------------------- the rules

    def _refuse(self, pieces: Sequence[Piece]) -> dict[int, str]:
        """Returns the reasons for nodes that stay with ONNX Runtime, by the first rule that finds some."""
        timed = [self._find_small, self._find_wrong, self._find_slow] if self.measures else [self._find_wrong]
        for rule in [self._find_border, self._find_refused, *timed]:
            refused = {number: reason for piece in pieces for number, reason in rule(piece).items()}
            if refused:
                return refused
        return {}

    def _find_border(self, piece: Piece) -> dict[int, str]:
        if self.graph is None:
            return {}
        nodes, result = self.model.graph.node, {}
        for name in (*piece.inputs, *piece.outputs):
            value = self.graph.survey.scopes[0].get(name)
            if self.graph.is_outer(piece, name) or isinstance(value, Tensor) and value.element.code in EXCHANGED:
                continue
            kind = value.type if isinstance(value, Tensor) else "not a tensor"
            result.update({number: f"'{name}' at the border of the part is {kind}" for number in piece.nodes
                           if name in nodes[number].output or name in self.graph.uses[number]})
        return result

    def _find_refused(self, piece: Piece) -> dict[int, str]:
        """Imports a piece, which knows fewer constants than the whole model."""
        if piece.nodes in self._imported:
            return {}
        model = self._model(piece)
        try:
            self._imported[piece.nodes] = import_module(model)
            return {}
        except ImportFailure as error:
            refused = Survey(model, lambda name: None).refused
            return ({piece.nodes[number]: reason for number, reason in refused.items()}
                    or dict.fromkeys(piece.nodes, str(error).splitlines()[0]))

    def _find_small(self, piece: Piece) -> dict[int, str]:
        arrays = self._arrays(piece)
        if piece.nodes == self.all or piece.nodes in self._large or arrays is None:
            return {}
        runtime = self._runtime(piece)
        seconds, empty = time_alternately([lambda: runtime.run(arrays), self._run_empty])
        if seconds > 2 * empty:
            self._large.add(piece.nodes)
            return {}
        return dict.fromkeys(piece.nodes, f"the part is too small: ONNX Runtime takes {milliseconds(seconds)}, and a "
                                          f"part costs {milliseconds(2 * empty)}")

    def _find_wrong(self, piece: Piece) -> dict[int, str]:
        """Compiles a piece and compares its results."""
        if piece.nodes in self._compiled:
            return {}
        model, arrays = self._model(piece), self._arrays(piece)
        draws = draw_inputs(model.graph, 0) if arrays is None else [arrays]
        process = Isolated(compare.run_oracle, model, draws) if piece.nodes != self.all else None
        try:
            run = compile_module(self._imported[piece.nodes], self.options.intra_op_num_threads or None)
            oracle = process.wait() if process else self.oracle
            if isinstance(oracle, str):
                raise NotCompared(oracle)
            try:
                compare.compare_results(piece.outputs, oracle, lambda inputs: reference.flatten(run(inputs)),
                                        lambda: model)
            except compare.Refuses as error:
                error.require_valid_inputs(model)
                raise
        except (NotCompared, Crashed) as error:
            warnings.warn(f"a part was not compared with ONNX Runtime: {error}", stacklevel=2)
        except LayoutError as error:
            return dict.fromkeys(piece.nodes, f"the part is not compiled: {error}")
        except compare.Differs as error:
            return dict.fromkeys(piece.nodes, f"the part is wrong: {error}")
        self._compiled[piece.nodes] = run
        return {}

    def _find_slow(self, piece: Piece) -> dict[int, str]:
        arrays = self._arrays(piece)
        if arrays is None or self.whole is None or piece.nodes in self._times:
            return {}
        runtime, run = self._runtime(piece), self._compiled[piece.nodes]
        theirs, own = time_alternately([lambda: runtime.run(arrays), lambda: run(arrays)])
        text = f"{milliseconds(own)}, and {milliseconds(theirs)} by ONNX Runtime"
        if own > theirs:
            return dict.fromkeys(piece.nodes, f"the part is slower when compiled: {text}")
        self._times[piece.nodes] = text
        return {}

    @functools.cached_property
    def _run_empty(self) -> Callable[[], object]:
        return run_empty(self.options)

    # --------------------------------------------------------------------- pieces

    def _model(self, piece: Piece) -> ModelProto:
        return self.graph.extract(piece) if self.graph else self.model

    def _runtime(self, piece: Piece) -> Runtime:
        if piece.nodes == self.all and self.whole:
            return self.whole
        return Runtime(self._model(piece), self.options)

    def _arrays(self, piece: Piece) -> list[Any] | None:
        """Returns inputs of a piece, or None if ONNX Runtime does not compute them."""
        if isinstance(self.sample, str):
            return None
        feed = dict(zip(self.names, self.sample))
        values = self.exposed.values_of(piece.inputs, feed) if self.exposed else feed
        return [values[name] for name in piece.inputs] if values else None

    # --------------------------------------------------------------------- result

    def _choose(self, pieces: Sequence[Piece]) -> OnnxSession:
        """Returns the session of the pieces, or of the whole model if that is faster."""
        if self.whole and not any(piece.ours for piece in pieces):
            return _run_whole(self.model, self.whole, self._reason(self.all))
        steps, parts = [], []
        for piece in pieces:
            runner, reason, step = self._step(piece)
            steps.append(step)
            parts.append(Part(runner, tuple(self.model.graph.node[number].name for number in piece.nodes), reason))
        is_partial = not all(self._imported[piece.nodes].has_all_branches for piece in pieces if piece.ours)
        session = _make_session(self.model, parts, steps, self.whole, self.whole if is_partial else None)
        if not self.measures or not self.whole or len(pieces) == 1 or isinstance(self.sample, str):
            return session
        whole, arrays = self.whole, self.sample
        feed = dict(zip(self.names, arrays))
        theirs, own = time_alternately([lambda: whole.run(arrays), lambda: session.run(None, feed)])
        if own <= theirs:
            return session
        return _run_whole(self.model, whole, f"{len(pieces)} parts are slower than the whole model: "
                                             f"{milliseconds(own)}, and {milliseconds(theirs)} by ONNX Runtime")

    def _reason(self, nodes: tuple[int, ...]) -> str:
        reasons = dict.fromkeys(self.reasons[number] for number in nodes if number in self.reasons)
        return "\n".join(reasons) or self._times.get(nodes, "the importer takes these nodes")

    def _step(self, piece: Piece) -> tuple[str, str, _Step]:
        """Returns the runner of a piece, the reason for it, and the step."""
        reason = self._reason(piece.nodes)
        if piece.ours:
            return "layout", reason, _Step(self._compiled[piece.nodes], piece.inputs, piece.outputs)
        try:
            runtime = self._runtime(piece)
            return "onnxruntime", reason, _Step(runtime.run, runtime.inputs, runtime.outputs)
        except Exception as error:  # one of the unrelated classes of onnxruntime
            reason += f";\n  ONNX Runtime: {error}"
        try:
            return "reference", reason, _Step(reference.load_evaluator(self._model(piece)), piece.inputs, piece.outputs)
        except Exception as error:  # one of the unrelated classes of onnx
            raise LayoutError(f"no runner takes a part: {reason};\n  the reference evaluator: {error}") from error
