"""Splits a model between the importer and ONNX Runtime.

`Survey` finds the nodes of the main graph that the importer refuses. A refused node gets placeholders for its results,
with the types that ONNX Runtime infers, so that the nodes after it are imported. `Graph` groups nodes into parts:

    a = Conv(x)   b = StringSplit(s)   c = Relu(a)   d = Unique(c)   e = Exp(d)

with b and d refused has the parts {a, c}, {b, d} and {e}. Each part is convex: no path leaves it and returns. There is
at most one part more than the path with the most parts has. A node whose results are constants is in no part; the parts
that use a result hold it as a weight.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from layout_mlir.onnx_import.elements import BY_CODE, name_of_code
from layout_mlir.onnx_import.graph import Importer, uses_of
from layout_mlir.onnx_import.node import ImportFailure
from layout_mlir.onnx_import.shapes import inputs_of
from layout_mlir.onnx_import.sizes import Size, is_static
from layout_mlir.onnx_import.values import Tensor

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto, TypeProto

# Returns the type of a value by its name, or None if it is unknown.
TypeOf = Callable[[str], "TypeProto | None"]
_KINDS = {"sequence_type": "a sequence", "optional_type": "an optional", "map_type": "a map",
          "sparse_tensor_type": "a sparse tensor"}


def describe_missing(type_: TypeProto | None) -> str | None:
    """Returns why a value of a type cannot be an input of an imported part, or None if it can."""
    kind = type_.WhichOneof("value") if type_ is not None else None
    if type_ is None or kind is None:
        return "a value of unknown type"
    if kind != "tensor_type":
        return _KINDS.get(kind, "not a tensor")
    if type_.tensor_type.elem_type not in BY_CODE:
        return f"a tensor of {name_of_code(type_.tensor_type.elem_type)}"
    return None if type_.tensor_type.HasField("shape") else "a tensor of unknown rank"


class Survey(Importer):
    """Imports each node of the main graph that it can. `refused` maps the numbers of the other nodes to the reasons."""

    def __init__(self, model: ModelProto, type_of: TypeOf) -> None:
        super().__init__(model)
        self.type_of = type_of
        self.refused: dict[int, str] = {}
        # Why values are not defined: each reason names the first such value of a chain.
        self._absent: dict[str, str] = {}
        self._count = 0
        for value in inputs_of(model.graph):
            self._place(value.name, value.type)
        for tensor in model.graph.initializer:
            self._place_weight(tensor.name, partial(self.constant_of, tensor))
        for sparse in model.graph.sparse_initializer:
            self._place_weight(sparse.values.name, partial(self.dense_of, sparse))
        for number, node in enumerate(model.graph.node):
            self._survey(number, node)

    def _survey(self, number: int, node: NodeProto) -> None:
        cause = next((self._absent[name] for name in sorted(uses_of(node)) if name in self._absent), None)
        try:
            if cause:
                raise ImportFailure(cause)
            self.import_node(node)
            if not self.has_all_branches:
                self.has_all_branches = True
                raise ImportFailure(f"node '{node.name}' ({node.op_type}) is not imported: it has a branch that is not")
        except ImportFailure as error:
            self.refused[number] = str(error).splitlines()[0]
            for name in filter(None, node.output):
                self._place(name, self.type_of(name), cause)

    def _place(self, name: str, type_: TypeProto | None, cause: str | None = None) -> None:
        """Defines a value that is computed elsewhere, after a refused node if there is a `cause`."""
        from onnx import helper

        reason = describe_missing(type_)
        if reason or type_ is None:
            self._absent[name] = cause or f"'{name}' is {reason}"
            return
        try:
            self.scopes[0][name] = self._argument(helper.make_value_info(name, type_), self._count)
            self._count += 1
        except ImportFailure as error:
            self._absent[name] = cause or str(error)

    def _place_weight(self, name: str, make: Callable[[], Tensor]) -> None:
        try:
            self.scopes[0][name] = make()
        except ImportFailure as error:
            self._absent[name] = str(error).splitlines()[0]

    def find_constant(self, name: str) -> Tensor | None:
        """Returns the value if its elements are known, else None."""
        value = self.scopes[0].get(name)
        if not isinstance(value, Tensor):
            return None
        if value.array is not None:
            return value
        known = value.known_integers()
        if known is None or not value.is_static or not all(map(is_static, known)):
            return None
        array = np.array(known, value.element.dtype).reshape([size for size in value.shape if isinstance(size, int)])
        return self.builder.constant(array, value.element)


@dataclasses.dataclass(frozen=True)
class Piece:
    """Nodes that one runner computes: `ours` if they are imported. `inputs` and `outputs` are values at its border."""
    ours: bool
    nodes: tuple[int, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Graph:
    """The main graph of a surveyed model, as nodes to be divided into pieces."""

    def __init__(self, model: ModelProto, survey: Survey) -> None:
        self.model, self.survey = model, survey
        graph = model.graph
        self.results = [value.name for value in graph.output]
        self.uses = [uses_of(node) for node in graph.node]
        self.producer = {name: number for number, node in enumerate(graph.node) for name in node.output if name}
        self.weights: dict[str, TensorProto] = {tensor.name: tensor for tensor in graph.initializer}
        self._size_names: dict[Size, str] = {}
        self.folded = {number for number, node in enumerate(graph.node)
                       if all(survey.find_constant(name) is not None and name not in self.results
                              for name in node.output if name)}

    def split(self, ours: Collection[int]) -> list[Piece]:
        """Returns the pieces in the order of execution; `ours` are the numbers of imported nodes."""
        orders = [self._group(ours, first) for first in (True, False)]
        groups = min(orders, key=len)
        return [self._make_piece(nodes[0] in ours, nodes) for nodes in groups]

    def _group(self, ours: Collection[int], ours_first: bool) -> list[list[int]]:
        """Returns the nodes by phase. The phases of imported nodes are even if they are first, else odd. A node has the
        least phase that is not before those of its operands."""
        phases: dict[int, int] = {}
        for number in range(len(self.uses)):
            if number in self.folded:
                continue
            before = [phases[self.producer[name]] for name in self.uses[number]
                      if name in self.producer and self.producer[name] in phases]
            phase = max(before, default=0)
            phases[number] = phase + ((phase % 2 == 0) != ((number in ours) == ours_first))
        return [[number for number in phases if phases[number] == phase] for phase in sorted(set(phases.values()))]

    def _make_piece(self, ours: bool, nodes: Sequence[int]) -> Piece:
        inside = set(nodes)
        made = [name for number in nodes for name in self.model.graph.node[number].output if name]
        used = {name: None for number in nodes for name in sorted(self.uses[number])}
        inputs = [name for name in used if self.producer.get(name) not in inside and name not in self.weights
                  and self.producer.get(name) not in self.folded]
        others = self._used_outside(inside)
        return Piece(ours, tuple(nodes), tuple(inputs),
                     tuple(name for name in made if name in others or name in self.results))

    def _used_outside(self, nodes: Collection[int]) -> set[str]:
        return {name for number, names in enumerate(self.uses) if number not in nodes and number not in self.folded
                for name in names}

    def is_outer(self, piece: Piece, name: str) -> bool:
        """Returns true if only the user of the model exchanges a value of the piece's border."""
        return name not in self.producer or name in piece.outputs and name not in self._used_outside(piece.nodes)

    def extract(self, piece: Piece) -> ModelProto:
        """Returns the model of a piece."""
        import onnx
        from onnx import helper

        source = self.model.graph
        if len(piece.nodes) == len(source.node):
            return self.model
        model = onnx.ModelProto(ir_version=self.model.ir_version)
        model.opset_import.extend(self.model.opset_import)
        graph = model.graph
        graph.name = source.name or "part"
        graph.node.extend(source.node[number] for number in piece.nodes)
        graph.input.extend(helper.make_value_info(name, self._type(name)) for name in piece.inputs)
        graph.output.extend(onnx.ValueInfoProto(name=name) for name in piece.outputs)
        used = {name: None for number in piece.nodes for name in sorted(self.uses[number])}
        graph.initializer.extend(self._weight(name) for name in used
                                 if name in self.weights or self.producer.get(name) in self.folded)
        graph.sparse_initializer.extend(each for each in source.sparse_initializer if each.values.name in used)
        return model

    def _type(self, name: str) -> TypeProto:
        """Returns the type of a value, with one name for equal dynamic sizes."""
        from onnx import helper

        value = self.survey.scopes[0].get(name)
        if not isinstance(value, Tensor):
            given = next((each.type for each in self.model.graph.input if each.name == name), None)
            type_ = given or self.survey.type_of(name)
            if type_ is None:
                raise ImportFailure(f"the type of the value '{name}' is unknown")
            return type_
        shape = [size if is_static(size) else self._size_names.setdefault(size, f"size{len(self._size_names)}")
                 for size in value.shape]
        return helper.make_tensor_type_proto(value.element.code, shape)

    def _weight(self, name: str) -> TensorProto:
        from onnx import numpy_helper

        if name in self.weights:
            return self.weights[name]
        constant = self.survey.find_constant(name)
        assert constant is not None and constant.array is not None
        tensor: TensorProto = numpy_helper.from_array(constant.array, name)
        return tensor
