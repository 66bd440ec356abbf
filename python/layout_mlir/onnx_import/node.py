"""Nodes as operators receive them, and the table of operators.

    @operator("Relu")
    def relu(b: Builder, node: Node, x: Tensor) -> Tensor:
        return b.elementwise(lambda s, x: s.max(x, 0), x)

An operator receives a Tensor for each input, or None for an omitted one, and returns the outputs. It reads attributes
by `node.attribute`, and rejects unsupported forms by `node.refuse(reason)`. `node.opset` is the version of the operator
set, which the operator tests if versions differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from layout_mlir.onnx_import.values import Tensor, Value

if TYPE_CHECKING:
    from onnx import NodeProto

    from layout_mlir.onnx_import.graph import Importer

# The parameters of an operator are its inputs, so signatures differ.
Operator = Callable[..., Any]
_Operator = TypeVar("_Operator", bound=Operator)

_OPERATORS: dict[tuple[str, str], Operator] = {}


class ImportFailure(Exception):
    """Raised if a model is not imported; the message names the node and the reason."""


class NoForm(Exception):
    """Raised by an operator to be imported by its ONNX function instead."""


def operator(*names: str, domain: str = "") -> Callable[[_Operator], _Operator]:
    """Registers a function that imports operators of a domain."""
    def register(function: _Operator) -> _Operator:
        for name in names:
            assert (domain, name) not in _OPERATORS, name
            _OPERATORS[domain, name] = function
        return function

    return register


def find_operator(domain: str, name: str) -> Operator | None:
    from layout_mlir.onnx_import import operators

    key = "" if domain == "ai.onnx" else domain, name
    if key not in _OPERATORS:
        operators.load(name, lambda: key in _OPERATORS)
    return _OPERATORS.get(key)


def name_node(node: NodeProto) -> str:
    """Returns the name and the operator of a node, for messages."""
    name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    return f"node '{node.name or next(iter(node.output), '')}' ({name})"


def describe(node: NodeProto, reason: object) -> str:
    """Returns the error message for a node, with a workaround."""
    if node.domain and not f"{node.domain}.".startswith("ai.onnx."):
        advice = (f"the domain '{node.domain}' is not an ONNX domain: export the model without runtime-specific "
                  "operators, for example before it is optimized for a runtime")
    else:
        advice = ("export the model in another opset or with other operators, or cut it before or after the node "
                  "(onnx.utils.extract_model)")
    return f"{name_node(node)} is not imported: {reason}\n({advice})"


class Node:
    """A node of a graph with the values of its inputs."""

    def __init__(self, proto: NodeProto, importer: Importer, inputs: Sequence[Value | None]) -> None:
        from onnx import helper

        self.proto, self.importer, self.inputs = proto, importer, list(inputs)
        self.op = proto.op_type
        self.opset = importer.opset(proto.domain)
        self._attributes = {each.name: helper.get_attribute_value(each) for each in proto.attribute}

    @property
    def output_count(self) -> int:
        """The number of outputs, including omitted ones before the last."""
        return len(self.proto.output)

    def has_output(self, number: int) -> bool:
        return number < len(self.proto.output) and bool(self.proto.output[number])

    def has(self, name: str) -> bool:
        """Returns true if the attribute is given."""
        return name in self._attributes

    def attribute(self, name: str, default: Any = None) -> Any:
        """Returns an attribute: an int, float, str, list, TensorProto or GraphProto."""
        value = self._attributes.get(name, default)
        if isinstance(value, bytes):
            return value.decode()
        if isinstance(value, (list, tuple)):
            return [each.decode() for each in value] if value and isinstance(value[0], bytes) else list(value)
        return value

    def input(self, number: int) -> Tensor | None:
        """Returns an input, or None if it is omitted; rejects an input that is not a tensor."""
        value = self.inputs[number] if number < len(self.inputs) else None
        if value is not None and not isinstance(value, Tensor):
            self.refuse(f"input {number} is not a tensor")
        return value

    def integers(self, name: str, number: int | None = None, default: Sequence[int] | None = None) -> list[int] | None:
        """Returns static integers from an attribute, or in newer opsets from input `number`, or `default` if neither is
        given. Rejects an input with dynamic elements."""
        if self.has(name):
            value = self.attribute(name)
            return [int(each) for each in value] if isinstance(value, list) else [int(value)]
        given = self.input(number) if number is not None else None
        if given is None:
            return list(default) if default is not None else None
        if given.array is not None:
            return [int(each) for each in given.array.reshape(-1)]
        known = given.known_integers()
        if known is None or not all(isinstance(each, int) for each in known):
            self.refuse(f"its input '{name}' is not a constant")
        return [int(each) for each in known if isinstance(each, int)]

    def axis(self, default: int, rank: int, name: str = "axis") -> int:
        """Returns the attribute `axis` as a nonnegative number; rejects one out of range."""
        axis = int(self.attribute(name, default))
        if not -rank <= axis < max(rank, 1):
            self.refuse(f"{name} {axis} is out of range for rank {rank}")
        return axis % rank if rank else 0

    def refuse(self, reason: object) -> NoReturn:
        raise ImportFailure(describe(self.proto, reason))
