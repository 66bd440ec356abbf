"""Imports the graph of an ONNX model as one function of linalg on tensors.

Nodes are imported in order. A node with constant inputs is evaluated by ONNX's reference evaluator. Other nodes are
imported by their entry in the operator table (node.py), or if there is none, by the function that defines the operator
in ONNX. Subgraphs see the values of outer graphs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import import functions
from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import BY_CODE, Element, name_of_code
from layout_mlir.onnx_import.node import NoForm, Node, ImportFailure, describe, find_operator, name_node
from layout_mlir.onnx_import.shapes import inputs_of, is_known
from layout_mlir.onnx_import.sizes import Size, Symbol, is_static
from layout_mlir.onnx_import.values import (Bytes, Forbidden, Optional_, Sequence_, Tensor, Value, depends_on_sizes,
                                            describe_type)

if TYPE_CHECKING:
    from onnx import (FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto, TypeProto,
                      ValueInfoProto)

# The limit for elements of results that are computed at import.
_MOST_FOLDED = 1 << 20
# Operators that are not folded: small inputs and a large result, random results, and errors in the reference (L1 norms
# without absolute values, LRN with the number of images as that of channels, and windows of poolings that are cut off).
_NOT_FOLDED = {"DequantizeLinear", "Expand", "Tile", "ConstantOfShape",
               "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial",
               "LpNormalization", "LRN", "AveragePool", "LpPool", "MaxPool"}
# Operators that compute each element from the elements that broadcast to it.
_BROADCASTING = {"Abs", "Add", "And", "Cast", "Div", "Equal", "Greater", "GreaterOrEqual", "Identity", "Less", "LessOrEqual",
                 "Max", "Min", "Mul", "Neg", "Not", "Or", "Sub", "Where", "Xor"}


def _is_unsorted(node: NodeProto) -> bool:
    """Returns true for a Unique in the order of the input: the reference sorts an only result, and takes others along
    axis 0."""
    return node.op_type == "Unique" and any(each.name == "sorted" and each.i == 0 for each in node.attribute)


def _check_rank(what: str, value: Value) -> None:
    """Raises ImportFailure if a value has a rank that depends on data."""
    if isinstance(value, Tensor) and value.may_be_scalar:
        raise ImportFailure(f"{what} has rank 0 or {value.rank} depending on data, as the branches of an If return it: "
                            "let both return the same rank, for example by a Reshape")


def check_bytes(what: str, element: Element, sizes: Sequence[Size]) -> None:
    """Raises ImportFailure if the static sizes of a tensor make it larger than an address space."""
    known = [size for size in sizes if isinstance(size, int)]
    if math.prod(known) * element.bits >= 1 << 66 or any(size >= 1 << 63 for size in known):
        raise ImportFailure(f"{what} is too large: {known} elements of {element} do not fit 64 bits of bytes; state "
                            "smaller sizes, or correct the constant that they are computed from")


# The limit for imports of one model with different assumptions.
_MOST_ASSUMPTIONS = 16


def import_graph(model: ModelProto, float_products: bool = False) -> tuple[Importer, str]:
    """Returns the importer of a model and the text of the module. With `float_products`, no tensor is known to be
    dequantized.

    Where the results of the branches of an If on sizes have different ranks, as those of an exported torch.squeeze, one
    branch is assumed. If a later node is not imported, the last assumption that can be is reversed, and the model is imported
    again."""
    assumptions: list[bool] = []
    reason: ImportFailure | None = None
    for _ in range(_MOST_ASSUMPTIONS):
        importer = Importer(model, assumptions, float_products)
        try:
            return importer, importer.run()
        except ImportFailure as error:
            reason = reason or importer.without_assumptions or error
        assumptions = importer.assumptions or []
        while assumptions and not assumptions[-1]:
            assumptions.pop()
        if not assumptions:
            break
        assumptions[-1] = False
    assert reason
    raise reason


class Importer:
    """Imports the nodes of one model through a Builder.

    `assumptions` are the conditions assumed for the first Ifs whose branches cannot both be imported, and become those
    of all such Ifs; with None, these Ifs are refused. `float_products` is that of import_graph."""

    def __init__(self, model: ModelProto, assumptions: list[bool] | None = None, float_products: bool = False) -> None:
        self.model, self.builder = model, Builder()
        self.opsets = {"" if each.domain == "ai.onnx" else each.domain: each.version for each in model.opset_import}
        self.scopes: list[dict[str, Value]] = [{}]
        self.sizes: dict[str, Symbol] = {}
        # False if an assertion replaces a branch that is not imported.
        self.has_all_branches = True
        self.assumptions = None if assumptions is None else list(assumptions)
        self._assumed = 0
        # The error of the first If for which a branch is assumed.
        self.without_assumptions: ImportFailure | None = None
        # Results of convolutions with a folded batch normalization.
        self.normalized: set[Tensor] = set()
        # What tensors were dequantized from.
        self.dequantized: dict[Tensor, Bytes] = {}
        self.float_products = float_products
        self._consumers: dict[str, list[NodeProto]] | None = None

    def opset(self, domain: str = "") -> int:
        version: int = self.opsets.get("" if domain == "ai.onnx" else domain, 1)
        return version

    # --------------------------------------------------------------- assumptions

    def assume(self, condition: Tensor, refusal: ImportFailure) -> bool:
        """Returns the assumed value of the condition of an If. Raises `refusal`, the error of importing the If without
        one, if the condition depends on data."""
        if self.assumptions is None or not depends_on_sizes(condition):
            raise refusal
        self.without_assumptions = self.without_assumptions or refusal
        self.has_all_branches = False
        self._assumed += 1
        if len(self.assumptions) < self._assumed:
            self.assumptions.append(True)
        return self.assumptions[self._assumed - 1]

    def count_assumptions(self) -> int:
        return self._assumed

    def may_assume_otherwise(self, since: int) -> bool:
        """Returns true if one of the assumptions after the first `since` ones was not tried reversed."""
        return self.assumptions is not None and any(self.assumptions[since:self._assumed])

    # -------------------------------------------------------------------- values

    def find(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise ImportFailure(f"the model is not valid: no node computes the value '{name}'")

    def find_known(self, name: str) -> Value | None:
        """Returns a value by name, or None if it is not imported yet."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def only_consumer(self, name: str) -> NodeProto | None:
        """Returns the only node of the main graph that uses a value, if the value is its first input, or None."""
        if self._consumers is None:
            self._consumers = {}
            for node in walk(self.model.graph):
                inner = [each for attribute in node.attribute for each in [attribute.g, *attribute.graphs]]
                for used in [*node.input, *(output.name for each in inner for output in each.output)]:
                    self._consumers.setdefault(used, []).append(node)
        consumers = self._consumers.get(name, [])
        is_result = any(output.name == name for output in self.model.graph.output)
        if len(self.scopes) > 1 or len(consumers) != 1 or list(consumers[0].input[:1]) != [name] or is_result:
            return None
        return consumers[0]

    def element_of(self, code: int, what: str) -> Element:
        if code not in BY_CODE:
            raise ImportFailure(f"{what} has elements of type {name_of_code(code)}, which no target supports: cut the model "
                                "after the nodes that read them (onnx.utils.extract_model)")
        return BY_CODE[code]

    def constant_of(self, proto: TensorProto) -> Tensor:
        """Returns the constant of an initializer."""
        from onnx import numpy_helper

        element = self.element_of(proto.data_type, f"the constant '{proto.name}'")
        try:
            return self.builder.constant(numpy_helper.to_array(proto), element)
        except ValueError as error:
            raise ImportFailure(f"the constant '{proto.name}' does not have the elements of a tensor of shape "
                                f"{list(proto.dims)}: {error}\n(the file is damaged: write it again)") from error

    def dense_of(self, sparse: SparseTensorProto) -> Tensor:
        """Returns a sparse constant as a dense one."""
        values, indices = self.constant_of(sparse.values), self.constant_of(sparse.indices)
        assert values.array is not None and indices.array is not None
        array: NDArray[Any] = np.zeros(list(sparse.dims), values.element.dtype)
        if indices.rank == 1:  # indices into the flattened tensor
            array.reshape(-1)[indices.array] = values.array
        else:
            array[tuple(indices.array.T)] = values.array
        return self.builder.constant(array, values.element)

    def _argument(self, value: ValueInfoProto, number: int) -> Tensor:
        tensor = value.type.tensor_type
        if not value.type.HasField("tensor_type"):
            raise ImportFailure(f"input '{value.name}' is a sequence or an optional: state the shapes of its tensors (shapes= or "
                          "--shape), so that each of them is an input")
        if not tensor.HasField("shape"):
            raise ImportFailure(f"input '{value.name}' has no rank: state it in the model, or state its shape")
        element = self.element_of(tensor.elem_type, f"input '{value.name}'")
        check_bytes(f"input '{value.name}'", element, [dim.dim_value for dim in tensor.shape.dim if is_known(dim)])
        name = f"%arg{number}"
        sizes: list[Size | None] = [dim.dim_value if is_known(dim) else None for dim in tensor.shape.dim]
        result = self.builder.tensor_of(name, element, sizes)
        shape = list(result.shape)
        for place, dim in enumerate(tensor.shape.dim):
            if sizes[place] is None and dim.dim_param:
                shape[place] = self._named_size(dim.dim_param, result.shape[place])
        return Tensor(element, tuple(shape), name)

    def _named_size(self, name: str, size: Size) -> Size:
        """Returns the one size that stands for all dynamic sizes called `name` in the inputs, and checks at run time
        that `size` is equal to it."""
        assert isinstance(size, Symbol)
        known = self.sizes.setdefault(name, size)
        self.builder.check_equal(known, size, f"inputs differ in the size '{name}'")
        return known

    # --------------------------------------------------------------------- graphs

    def run(self) -> str:
        """Returns the text of the module."""
        graph, b = self.model.graph, self.builder
        arguments = []
        for number, value in enumerate(inputs_of(graph)):
            tensor = self._argument(value, number)
            self.scopes[-1][value.name] = tensor
            arguments.append((tensor, value.name))
        results = []
        values = self.import_nodes(graph)
        for value, result in zip(graph.output, values):
            results += self._tensors_of(value.name, result)
        return b.finish("main", arguments, results, self._attributes([x for x, _ in arguments], results))

    def _tensors_of(self, name: str, result: Value) -> list[Tensor]:
        """Returns the tensors of a result, one for each element of a sequence or value of an optional."""
        if isinstance(result, Optional_):
            if result.value is None:
                raise ImportFailure(f"result '{name}' is an optional without a value")
            return self._tensors_of(name, result.value)
        _check_rank(f"result '{name}'", result)
        return result.items if isinstance(result, Sequence_) else [result]

    def _attributes(self, arguments: Sequence[Tensor], results: Sequence[Tensor]) -> str:
        """Returns the attribute with the signedness of unsigned arguments and results, or ""."""
        if not any(tensor.element.is_unsigned for tensor in [*arguments, *results]):
            return ""

        def write(tensors: Sequence[Tensor]) -> str:
            return ", ".join(tensor.type.replace(f"{tensor.element}>", f"{tensor.element.signed_mlir}>")
                             for tensor in tensors)

        return f" attributes {{layout.signature = ({write(arguments)}) -> ({write(results)})}}"

    def import_nodes(self, graph: GraphProto) -> list[Value]:
        """Imports the initializers and nodes of a graph into the current scope; returns its outputs."""
        scope = self.scopes[-1]
        for tensor in graph.initializer:
            scope[tensor.name] = self.constant_of(tensor)
        for sparse in graph.sparse_initializer:
            scope[sparse.values.name] = self.dense_of(sparse)
        for node in graph.node:
            self.import_node(node)
        return [self.find(output.name) for output in graph.output]

    def import_subgraph(self, graph: GraphProto, inputs: Sequence[Value], joins_ranks: bool = False) -> list[Value]:
        """Imports the graph of an attribute in a new scope, with `inputs` for its inputs, and writes into the current
        region. Raises ImportFailure if the rank of a result depends on data, unless `joins_ranks` is set."""
        self.scopes.append({value.name: given for value, given in zip(graph.input, inputs)})
        try:
            results = self.import_nodes(graph)
        finally:
            self.scopes.pop()
        for output, result in zip(graph.output, results):
            if not joins_ranks:
                _check_rank(f"result '{output.name}' of a body", result)
        return results

    # ---------------------------------------------------------------------- nodes

    def import_node(self, proto: NodeProto) -> None:
        inputs = [self.find(name) if name else None for name in proto.input]
        with self.builder.at_node(proto.name or next(filter(None, proto.output), "")):
            outputs = self._import(proto, inputs)
        self._set_ranks(proto, inputs, outputs)
        is_of_sizes = all(isinstance(value, Tensor) and depends_on_sizes(value) for value in inputs if value is not None)
        for name, value in zip(proto.output, outputs):
            if isinstance(value, Tensor):
                value.is_of_sizes |= is_of_sizes
                check_bytes(f"output '{name}' of {name_node(proto)}", value.element, value.shape)
            if name:
                self.scopes[-1][name] = value

    def _set_ranks(self, proto: NodeProto, inputs: Sequence[Value | None], outputs: Sequence[Value]) -> None:
        """Marks the outputs whose rank is only known at run time, as that of an input is. Raises ImportFailure if the
        node is none that broadcasts its inputs, for which the elements do not depend on this rank."""
        tensors = [value for value in inputs if isinstance(value, Tensor)]
        if not any(tensor.may_be_scalar for tensor in tensors) or proto.op_type == "If":
            return
        if proto.op_type not in _BROADCASTING:
            for tensor in tensors:
                _check_rank(f"{name_node(proto)} is not imported: an input", tensor)
        known = max((tensor.rank for tensor in tensors if not tensor.may_be_scalar), default=0)
        for output in outputs:
            if isinstance(output, Tensor):
                output.may_be_scalar = known < output.rank

    def _import(self, proto: NodeProto, inputs: Sequence[Value | None]) -> Sequence[Value]:
        folded = self._fold(proto, inputs)
        if folded is not None:
            return folded
        functions.check_types(proto, inputs, self.opset(proto.domain))
        function = find_operator(proto.domain, proto.op_type)
        if function is not None:
            node = Node(proto, self, inputs)
            try:
                result = function(self.builder, node, *inputs)
                return [result] if isinstance(result, (Tensor, Sequence_, Optional_)) else list(result)
            except NoForm as error:
                return self._import_function(proto, inputs, str(error))
            except Forbidden as error:
                raise ImportFailure(describe(proto, error)) from error
            except (ArithmeticError, AssertionError, AttributeError, IndexError, KeyError, TypeError,
                    ValueError) as error:
                # Ranks, sizes, element types or attributes that ONNX does not allow, but its checker does not find.
                given = ", ".join(map(describe_type, inputs))
                raise ImportFailure(describe(proto, f"its inputs ({given}) or attributes are not those that ONNX defines for "
                                              f"the operator ({type(error).__name__}: {error})")) from error
        schema = functions.find_schema(proto, self.opset(proto.domain))
        return self._import_function(proto, inputs, "the operator is unknown" if schema else "ONNX does not define it")

    def _import_function(self, proto: NodeProto, inputs: Sequence[Value | None], reason: str) -> Sequence[Value]:
        """Imports a node by the function that defines its operator in ONNX."""
        types = [self.type_proto(value) for value in inputs]
        nodes = functions.expand(proto, types, self.opsets)
        if nodes is None:
            raise ImportFailure(describe(proto, reason))
        self.scopes.append({name: value for name, value in zip(proto.input, inputs) if name and value is not None})
        opsets = self.opsets
        try:
            self.opsets = nodes.opsets
            for node in nodes.nodes:
                self.import_node(node)
            return [self.find(name) if name else Tensor(BY_CODE[1], (0,)) for name in proto.output]
        finally:
            self.opsets = opsets
            self.scopes.pop()

    def type_proto(self, value: Value | None) -> TypeProto:
        """Returns the ONNX type of a value, empty if the value is omitted."""
        from onnx import TypeProto, helper

        if isinstance(value, Tensor):
            shape: list[str | int | None] = [size if is_static(size) else None for size in value.shape]
            return helper.make_tensor_type_proto(value.element.code, shape)
        if isinstance(value, Sequence_) and value.items:
            return helper.make_sequence_type_proto(self.type_proto(value.items[0]))
        return TypeProto()

    # ------------------------------------------------------------------- constants

    def _fold(self, proto: NodeProto, inputs: Sequence[Value | None]) -> list[Value] | None:
        """Returns the outputs of a node on constants, or None if they are not folded."""
        arrays: list[NDArray[Any] | None] = []
        for value in inputs:
            if value is not None and not (isinstance(value, Tensor) and value.array is not None):
                return None
            arrays.append(value.array if isinstance(value, Tensor) else None)
        if (not inputs or proto.op_type in _NOT_FOLDED or _is_unsorted(proto) or proto.domain not in ("", "ai.onnx")
                or any(each.HasField("g") or each.graphs for each in proto.attribute)
                or sum(array.size for array in arrays if array is not None) > _MOST_FOLDED):
            return None
        results = functions.evaluate(proto, arrays, self.opsets)
        if results is None:
            return None
        given = iter(results)
        tensors: list[Value] = []
        for name in proto.output:
            array = next(given) if name else np.zeros(0, np.float32)
            if not isinstance(array, (np.ndarray, np.generic)) or array.size > _MOST_FOLDED:
                return None
            try:
                tensors.append(self.builder.constant(np.asarray(array)))
            except KeyError:  # strings
                return None
        return tensors


def subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    """Yields the graphs in the attributes of a node, but not those inside of them."""
    for attribute in node.attribute:
        yield from [attribute.g, *attribute.graphs]


def walk(graph: GraphProto | FunctionProto) -> Iterator[NodeProto]:
    """Yields the nodes of a graph or function and of its subgraphs."""
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from walk(inner)


def uses_of(node: NodeProto) -> set[str]:
    """Returns the values that a node uses, also in its subgraphs, but not those that are defined there."""
    names = set(node.input)
    for graph in subgraphs(node):
        used = {value.name for value in graph.output}.union(*map(uses_of, graph.node))
        defined = {value.name for value in [*graph.input, *graph.initializer]}
        names |= used - defined.union(*(inner.output for inner in graph.node))
    return names - {""}
