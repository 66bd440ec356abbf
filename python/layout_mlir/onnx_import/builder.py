"""Writes linalg on tensors as text, one op at a time.

    b = Builder()
    y = b.elementwise(lambda s, x, z: s.add(x, z), x, z)      numpy's broadcasting
    y = b.reduce(lambda s, acc, x: s.add(acc, x), x, [1], 0)
    y = b.reshape(b.transpose(x, [0, 2, 1]), [n, 12, -1])

All methods take and return Tensors. Sizes are ints or polynomials of sizes (sizes.py), so that dynamic sizes are
tracked through reshapes, slices and concatenations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from layout_mlir import loops
from layout_mlir.onnx_import.elements import ALL, I64, Element
from layout_mlir.onnx_import.scalars import Body, Scalars
from layout_mlir.onnx_import.sizes import Size, Symbol, divide, is_static, product
from layout_mlir.onnx_import.values import Forbidden, Scalar, Tensor, type_of
from layout_mlir.onnx_import.writer import Writer


class Builder(Writer):
    """Writes ops on tensors into the text of one function."""

    def __init__(self) -> None:
        super().__init__()
        # The constant tensors that were transposed, and the results, by array, element type and order of dims.
        self.transposed: dict[tuple[Any, ...], tuple[Tensor, Tensor]] = {}
        # The loop indices of the body that is written, by name, with their extents; and pairs of an extent and the size
        # of a dim that such an index accesses.
        self._extents: dict[str, Size] = {}
        self._needed: list[tuple[Size, Size]] = []

    # --------------------------------------------------------------- destinations

    def empty(self, shape: Sequence[Size], element: Element) -> Tensor:
        self.check_sizes(shape)
        sizes = ", ".join(self.size(size) for size in shape if not is_static(size))
        return Tensor(element, tuple(shape), self.emit(f"tensor.empty({sizes}) : {type_of(shape, element)}"))

    def fill(self, shape: Sequence[Size], element: Element, value: float | bool | Scalar) -> Tensor:
        """Returns a tensor whose elements are all `value`."""
        scalar = value.name if isinstance(value, Scalar) else self.scalar_constant(value, element)
        into = self.empty(shape, element)
        return Tensor(element, into.shape, self.emit(
            f"linalg.fill ins({scalar} : {element}) outs({into.name} : {into.type}) -> {into.type}"))

    def cast_shape(self, tensor: Tensor, shape: Sequence[Size]) -> Tensor:
        """Casts static sizes of a tensor to dynamic ones or the reverse. The sizes must be equal at run time: match_shape
        checks it."""
        if any(is_static(own) and is_static(size) and own != size for own, size in zip(tensor.shape, shape, strict=True)):
            raise Forbidden(f"a value of sizes {list(tensor.shape)} is not one of sizes {list(shape)}")
        type_ = type_of(shape, tensor.element)
        name = self.use(tensor)
        if type_ != tensor.type:
            name = self.emit(f"tensor.cast {name} : {tensor.type} to {type_}")
        return Tensor(tensor.element, tuple(shape), name, integers=tensor.integers)

    def match_shape(self, tensor: Tensor, shape: Sequence[Size], message: str) -> Tensor:
        """Gives a tensor the sizes of `shape`, with assertions that they are equal unless this is known. Raises Forbidden
        with the message and the sizes if they are not."""
        for own, size in zip(tensor.shape, shape, strict=True):
            self.match_sizes(own, size, message)
        return self.cast_shape(tensor, shape) if tuple(shape) != tensor.shape else tensor

    def match_sizes(self, a: Size, b: Size, message: str) -> None:
        """Writes an assertion that sizes are equal, unless this is known. Raises Forbidden if they are not."""
        if is_static(a) and is_static(b) and a != b:
            raise Forbidden(f"{message}: {a} and {b}")
        self.check_equal(a, b, message)

    def _match_loops(self, operands: Sequence[tuple[Tensor, str]]) -> None:
        """Writes assertions that operands have equal sizes along each loop. `operands` are pairs of a tensor and the
        results of its indexing map, in which an identifier stands for a loop."""
        sizes: dict[str, Size] = {}
        for tensor, results in operands:
            for own, loop in zip(tensor.shape, results.split(", ")):
                if loop.isidentifier():
                    self.match_sizes(own, sizes.setdefault(loop, own), "sizes that must be equal differ")

    # -------------------------------------------------------------------- generic

    def generic(self, body: Body, inputs: Sequence[tuple[Tensor, str]], outputs: Sequence[tuple[Tensor, str]],
                iterators: Sequence[str]) -> list[Tensor]:
        """Writes a linalg.generic.

        `inputs` and `outputs` are pairs of a tensor and the results of its indexing map in d0, d1, .., for example "d0,
        d2"; `iterators` are "parallel" or "reduction". `body(s, *elements)` receives a Scalars and the elements of
        inputs and outputs, and returns a Scalar for each output.
        """
        self._match_loops([*inputs, *outputs])
        dims = ", ".join(f"d{number}" for number in range(len(iterators)))
        maps = ", ".join(self.map(f"({dims}) -> ({results})") for _, results in [*inputs, *outputs])
        operands = {"ins": inputs, "outs": outputs}
        heads = [f"{word}({', '.join(self.use(x) for x, _ in pairs)} : {', '.join(x.type for x, _ in pairs)})"
                 for word, pairs in operands.items() if pairs]
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        elements = [Scalar(self.new_name(), tensor.element) for tensor, _ in [*inputs, *outputs]]
        self._extents, self._needed = {}, []
        with self.region() as lines:
            given = body(self.scalars, *elements)
            results = given if isinstance(given, tuple) else (given,)
            self.emit_many(f"linalg.yield {', '.join(x.name for x in results)} : "
                           f"{', '.join(x.type for x in results)}", 0)
        for extent, size in self._needed:
            self.check_at_most(extent, size, "a tensor has fewer elements along a dim than are read")
        arguments = ", ".join(f"{x.name}: {x.type} loc({self.location})" for x in elements)
        types = [tensor.type for tensor, _ in outputs]
        made = f"({', '.join(types)})" if len(types) > 1 else types[0]
        text = "\n".join([f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
                          f"{' '.join(heads)} {{", f"^bb0({arguments}):", *lines, f"}} -> {made}"])
        return [Tensor(tensor.element, tensor.shape, name)
                for name, (tensor, _) in zip(self.emit_many(text, len(outputs)), outputs)]

    # ---------------------------------------------------------------- broadcasting

    def broadcast_shape(self, shapes: Sequence[Sequence[Size]]) -> list[Size]:
        """Returns the shape of numpy's broadcasting. If two dynamic sizes may differ, the result size is selected at
        run time."""
        rank = max(map(len, shapes), default=0)
        result: list[Size] = []
        for dim in range(rank):
            sizes = [shape[dim - rank + len(shape)] for shape in shapes if dim - rank + len(shape) >= 0]
            result.append(self._broadcast_size(list(dict.fromkeys(size for size in sizes if size != 1))))
        return result

    def _broadcast_size(self, sizes: list[Size]) -> Size:
        if not sizes:
            return 1
        static = [size for size in sizes if is_static(size)]
        if len(set(static)) > 1:
            raise Forbidden(f"sizes {static[0]} and {static[1]} do not broadcast")
        if static:
            return static[0]
        sizes = [size for size in sizes if not any(self._is_capped(size, other) for other in sizes)]
        result = sizes[0]
        for size in sizes[1:]:
            result = self.choose("eq", result, 1, size, result)
        return result

    def _is_capped(self, size: Size, other: Size) -> bool:
        """Returns true if `size` is the minimum of `other` and a number above 1, for example the size of a position
        table that is sliced to a sequence length. Sizes that broadcast are then equal."""
        parts = self.minima.get(size, ()) if isinstance(size, Symbol) else ()
        return other in parts and any(isinstance(part, int) and part > 1 for part in parts if part != other)

    def _matched(self, tensor: Tensor, shape: Sequence[Size]) -> Tensor:
        """Makes each size of a tensor equal to that of `shape` or a static 1. A dynamic size that may be 1 is expanded
        at run time."""
        offset = len(shape) - tensor.rank
        for dim, size in enumerate(tensor.shape):
            target = shape[offset + dim]
            if size == 1 or size == target:
                continue
            if is_static(size) or self._is_capped(size, target):
                self.check_equal(size, target, "sizes do not broadcast")
                tensor = self.cast_shape(tensor, [*tensor.shape[:dim], target, *tensor.shape[dim + 1:]])
            else:
                tensor = self._repeat_if_one(tensor, dim, target)
        return tensor

    def _repeat_if_one(self, tensor: Tensor, dim: int, size: Size) -> Tensor:
        shape = [size if number == dim else each for number, each in enumerate(tensor.shape)]
        own, one = tensor.shape[dim], [1 if number == dim else each for number, each in enumerate(tensor.shape)]
        is_one = self.emit(f"arith.cmpi eq, {self.size(own)}, {self.scalar_constant(1, None)} : index")
        is_same = self.emit(f"arith.cmpi eq, {self.size(own)}, {self.size(size)} : index")
        self.check(self.emit(f"arith.ori {is_one}, {is_same} : i1"), "sizes do not broadcast")
        with self.region() as then:
            # Not a cast: the size may become known later, and this branch be dead.
            wide = self.broadcast_to(self.slice(tensor, [0] * tensor.rank, one), shape)
            self.emit_many(f"scf.yield {wide.name} : {wide.type}", 0)
        with self.region() as other:
            same = self.cast_shape(tensor, shape)
            self.emit_many(f"scf.yield {same.name} : {same.type}", 0)
        differs = self.emit(f"arith.cmpi ne, {self.size(own)}, {self.size(size)} : index")
        name = self.emit("\n".join([f"scf.if {differs} -> ({type_of(shape, tensor.element)}) {{", *then, "} else {",
                                    *other, "}"]))
        return Tensor(tensor.element, tuple(shape), name)

    def _map_in(self, tensor: Tensor, shape: Sequence[Size]) -> str:
        """Returns the indexing map of an operand in loops over `shape`, with 0 for dims of size 1 that are
        broadcast."""
        offset = len(shape) - tensor.rank
        return ", ".join("0" if size == 1 and shape[offset + dim] != 1 else f"d{offset + dim}"
                         for dim, size in enumerate(tensor.shape))

    def elementwise(self, body: Body, *tensors: Tensor, element: Element | None = None,
                    shape: Sequence[Size] | None = None) -> Tensor:
        """Applies `body(s, *elements)` to tensors with numpy's broadcasting. The result has the element type of the
        first tensor, unless `element` is given. Constants with one element become scalars in the body."""
        result, = self.elementwise_many(body, tensors, [element or tensors[0].element], shape)
        return result

    def elementwise_many(self, body: Body, tensors: Sequence[Tensor], elements: Sequence[Element],
                         shape: Sequence[Size] | None = None) -> list[Tensor]:
        """Applies a body with one result for each of `elements`, as elementwise does for one."""
        shape = list(shape) if shape is not None else self.broadcast_shape([x.shape for x in tensors])
        scalars = {number: value for number, x in enumerate(tensors)
                   if (value := x.constant_scalar()) is not None and x.element.kind != "c"}
        given = [self._matched(x, shape) for number, x in enumerate(tensors) if number not in scalars]

        def inner(s: Scalars, *values: Scalar) -> Scalar | tuple[Scalar, ...]:
            rest = iter(values)
            return body(s, *[s.constant(scalars[number], x.element) if number in scalars else next(rest)
                             for number, x in enumerate(tensors)])

        identity = ", ".join(f"d{number}" for number in range(len(shape)))
        return self.generic(inner, [(x, self._map_in(x, shape)) for x in given],
                            [(self.empty(shape, each), identity) for each in elements], ["parallel"] * len(shape))

    def broadcast_to(self, tensor: Tensor, shape: Sequence[Size]) -> Tensor:
        """Broadcasts a tensor to a shape, with numpy's rules."""
        if tuple(shape) == tensor.shape:
            return tensor
        if tensor.constant_scalar() is not None and tensor.element.kind != "c":
            return self.fill(shape, tensor.element, tensor.constant_scalar())
        return self.elementwise(lambda s, x: x, tensor, shape=shape)

    def cast(self, tensor: Tensor, element: Element) -> Tensor:
        """Converts elements as ONNX's Cast."""
        if tensor.element == element:
            return tensor
        if tensor.integers is not None and element == I64:
            return Tensor(element, tensor.shape, integers=tensor.integers)
        return self.elementwise(lambda s, x: s.cast(x, element), tensor, element=element)

    # ------------------------------------------------------------------ reduction

    def reduce(self, body: Body, tensor: Tensor, axes: Sequence[int], initial: float | bool | Scalar,
               keepdims: bool = False, element: Element | None = None) -> Tensor:
        """Reduces over `axes`, which may be negative: `body(s, accumulator, x)` combines elements, starting with
        `initial`."""
        axes = sorted({axis % tensor.rank for axis in axes}) if tensor.rank else []
        kept = [dim for dim in range(tensor.rank) if dim not in axes]
        into = self.fill([tensor.shape[dim] for dim in kept], element or tensor.element, initial)
        everything = ", ".join(f"d{dim}" for dim in range(tensor.rank))
        result, = self.generic(lambda s, x, acc: body(s, acc, x), [(tensor, everything)],
                               [(into, ", ".join(f"d{dim}" for dim in kept))],
                               ["reduction" if dim in axes else "parallel" for dim in range(tensor.rank)])
        if keepdims:
            result = self.reshape(result, [1 if dim in axes else size for dim, size in enumerate(tensor.shape)])
        return result

    def reduce_sum(self, tensor: Tensor, axes: Sequence[int], keepdims: bool = False) -> Tensor:
        return self.reduce(lambda s, acc, x: s.add(acc, x), tensor, axes, 0, keepdims)

    def reduce_max(self, tensor: Tensor, axes: Sequence[int], keepdims: bool = False) -> Tensor:
        return self.reduce(lambda s, acc, x: s.max(acc, x), tensor, axes, tensor.element.lowest, keepdims)

    # ---------------------------------------------------------------------- shapes

    def reshape(self, tensor: Tensor, shape: Sequence[Size]) -> Tensor:
        """Reshapes a tensor in row-major order; at most one size is -1, which is inferred. The number of elements must
        be the same at run time."""
        sizes = list(shape)
        if -1 in sizes:
            rest = product([size for size in sizes if size != -1])
            sizes[sizes.index(-1)] = self._infer_size(tensor.count, rest)
        if tuple(sizes) == tensor.shape:
            return tensor
        if tensor.count == 0 and tensor.array is None:
            return self.empty(sizes, tensor.element)
        if tensor.array is not None and all(map(is_static, sizes)):
            return Tensor(tensor.element, tuple(sizes), array=tensor.array.reshape(sizes))  # type: ignore[arg-type]
        if tensor.integers is not None and len(sizes) <= 1:
            return Tensor(tensor.element, tuple(sizes), integers=tensor.integers)
        groups = find_groups(tensor.shape, sizes)
        if groups is None:
            return self._reshape_freely(tensor, sizes)
        middle = [product([tensor.shape[dim] for dim in old]) for old, _ in groups]
        return self._expand(self._collapse(tensor, [old for old, _ in groups], middle), [new for _, new in groups],
                            sizes)

    def _infer_size(self, count: Size, rest: Size) -> Size:
        """Returns count / rest, or 0 if there are no elements."""
        exact = divide(count, rest)
        return exact if exact is not None else self.floor_divide(count, self.maximum(rest, 1))

    def _collapse(self, tensor: Tensor, groups: Sequence[Sequence[int]], shape: Sequence[Size]) -> Tensor:
        if len(shape) == tensor.rank:
            return tensor
        text = json.dumps([list(group) for group in groups] if tensor.rank else [])
        type_ = type_of(shape, tensor.element)
        return Tensor(tensor.element, tuple(shape), self.emit(
            f"tensor.collapse_shape {self.use(tensor)} {text} : {tensor.type} into {type_}"))

    def _expand(self, tensor: Tensor, groups: Sequence[Sequence[int]], shape: Sequence[Size]) -> Tensor:
        if len(shape) == tensor.rank:
            return self.cast_shape(tensor, shape) if tensor.type != type_of(shape, tensor.element) else Tensor(
                tensor.element, tuple(shape), self.use(tensor))
        self.check_sizes(shape)
        text = json.dumps([list(group) for group in groups] if tensor.rank else [])
        type_ = type_of(shape, tensor.element)
        sizes = self.write_sizes(shape)
        tensor = self._with_static_groups(tensor, groups, shape)
        return Tensor(tensor.element, tuple(shape), self.emit(
            f"tensor.expand_shape {self.use(tensor)} {text} output_shape [{sizes}] : {tensor.type} into {type_}"))

    def _with_static_groups(self, tensor: Tensor, groups: Sequence[Sequence[int]], shape: Sequence[Size]) -> Tensor:
        """Casts a tensor as tensor.expand_shape requires: a group is dynamic if and only if one of its parts is."""
        sizes = []
        for group, size in zip(groups, tensor.shape):
            parts = [shape[dim] for dim in group]
            whole = product(parts)
            sizes.append(whole if all(map(is_static, parts)) else size if not is_static(size) else
                         self.opaque(size))
        return self.cast_shape(tensor, sizes) if tensor.rank else tensor

    def opaque(self, size: Size) -> Symbol:
        """Returns a symbol for a size, so that types state it as dynamic."""
        return Symbol(self.size(size))

    def _reshape_freely(self, tensor: Tensor, sizes: Sequence[Size]) -> Tensor:
        """Reshapes through rank 1, with a run-time check of the number of elements."""
        count = product(sizes)
        flat = self._collapse(tensor, [list(range(tensor.rank))], [tensor.count]) if tensor.rank != 1 else tensor
        if tensor.rank == 0:
            flat = self._expand(tensor, [], [1])
        self.check_equal(tensor.count, count, "the new shape has another number of elements")
        if not sizes:
            return self._collapse(self.cast_shape(flat, [1]), [], [])
        return self._expand(Tensor(flat.element, flat.shape, flat.name), [list(range(len(sizes)))], sizes)

    def flatten(self, tensor: Tensor, axis: int) -> Tensor:
        """Returns a matrix: the dims before `axis` become rows, the others columns."""
        return self.reshape(tensor, [product(tensor.shape[:axis]), product(tensor.shape[axis:])])

    def unsqueeze(self, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        """Inserts dims of size 1 at the given dims of the result."""
        rank = tensor.rank + len(axes)
        places = {axis % rank for axis in axes}
        rest = iter(tensor.shape)
        return self.reshape(tensor, [1 if dim in places else next(rest) for dim in range(rank)])

    def transpose(self, tensor: Tensor, order: Sequence[int]) -> Tensor:
        """Transposes a tensor: dim `number` of the result is dim `order[number]` of the tensor."""
        if list(order) == list(range(tensor.rank)):
            return tensor
        if tensor.array is not None:
            # An unrolled loop transposes the same weights in each step. The entry keeps the array, and so its id.
            key = id(tensor.array), tensor.element.mlir, tuple(order)
            if key not in self.transposed:
                self.transposed[key] = tensor, self.constant(tensor.array.transpose(order), tensor.element)
            return self.transposed[key][1]
        into = self.empty([tensor.shape[dim] for dim in order], tensor.element)
        return Tensor(tensor.element, into.shape, self.emit(
            f"linalg.transpose ins({self.use(tensor)} : {tensor.type}) outs({into.name} : {into.type}) permutation = "
            f"[{', '.join(map(str, order))}]"))

    def slice(self, tensor: Tensor, offsets: Sequence[Size], sizes: Sequence[Size],
              strides: Sequence[int] | None = None) -> Tensor:
        """Returns the elements at offsets + i * strides for i < sizes; strides are positive."""
        strides = strides or [1] * tensor.rank
        if tuple(sizes) == tensor.shape and all(stride == 1 for stride in strides):
            return tensor
        if 0 in sizes or 0 in tensor.shape:  # an offset is valid only if there is an element
            return self.empty(sizes, tensor.element)
        places = [range(offset, offset + size * stride, stride) for offset, size, stride in zip(offsets, sizes, strides)
                  if isinstance(offset, int) and isinstance(size, int)]
        if len(places) == tensor.rank:
            if tensor.array is not None:
                return self.constant(tensor.array[np.ix_(*places)], tensor.element)
            if tensor.integers is not None and tensor.rank == 1:
                return self.integers([tensor.integers[place] for place in places[0]], tensor.element)

        self.check_sizes(sizes)
        type_ = type_of(sizes, tensor.element)
        return Tensor(tensor.element, tuple(sizes), self.emit(
            f"tensor.extract_slice {self.use(tensor)}[{self.write_sizes(offsets)}] [{self.write_sizes(sizes)}] "
            f"[{self.write_sizes(strides)}] : {tensor.type} to {type_}"))

    def insert(self, tensor: Tensor, into: Tensor, offsets: Sequence[Size],
               strides: Sequence[int] | None = None) -> Tensor:
        """Returns `into` with a tensor inserted at offsets."""
        if 0 in tensor.shape or 0 in into.shape:
            return into
        return Tensor(into.element, into.shape, self.emit(
            f"tensor.insert_slice {self.use(tensor)} into {self.use(into)}[{self.write_sizes(offsets)}] "
            f"[{self.write_sizes(tensor.shape)}] [{self.write_sizes(strides or [1] * into.rank)}] : "
            f"{tensor.type} into {into.type}"))

    def pad(self, tensor: Tensor, low: Sequence[Size], high: Sequence[Size], value: float | bool | Scalar) -> Tensor:
        """Pads a tensor with `value`; amounts are at least 0."""
        if all(amount == 0 for amount in [*low, *high]):
            return tensor
        self.check_sizes([*low, *high])
        shape = [a + size + c for a, size, c in zip(low, tensor.shape, high)]
        scalar = value.name if isinstance(value, Scalar) else self.scalar_constant(value, tensor.element)
        arguments = ", ".join(f"{self.new_name()}: index loc({self.location})" for _ in shape)
        text = "\n".join([f"tensor.pad {self.use(tensor)} low[{self.write_sizes(low)}] "
                          f"high[{self.write_sizes(high)}] {{",
                          f"^bb0({arguments}):", f"tensor.yield {scalar} : {tensor.element} loc({self.location})",
                          f"}} : {tensor.type} to {type_of(shape, tensor.element)}"])
        return Tensor(tensor.element, tuple(shape), self.emit(text))

    def concat(self, tensors: Sequence[Tensor], axis: int) -> Tensor:
        """Concatenates tensors along an axis; other sizes are those of the first tensor."""
        if len(tensors) == 1:
            return tensors[0]
        axis %= tensors[0].rank
        known = [tensor.known_integers() for tensor in tensors]
        if tensors[0].rank == 1 and all(each is not None for each in known):
            return self.integers([size for each in known if each is not None for size in each], tensors[0].element)
        shape = list(tensors[0].shape)
        for dim in range(len(shape)):
            static = [tensor.shape[dim] for tensor in tensors if is_static(tensor.shape[dim])]
            if dim != axis and static:
                shape[dim] = static[0]
        tensors = [self.match_shape(tensor, [tensor.shape[dim] if dim == axis else size for dim, size in enumerate(shape)],
                                    "inputs of a concatenation differ in a size") for tensor in tensors]
        shape[axis] = 0
        for tensor in tensors:
            shape[axis] = tensor.shape[axis] + shape[axis]
        types = ", ".join(tensor.type for tensor in tensors)
        return Tensor(tensors[0].element, tuple(shape), self.emit(
            f"tensor.concat dim({axis}) {', '.join(self.use(tensor) for tensor in tensors)} : ({types}) -> "
            f"{type_of(shape, tensors[0].element)}"))

    # -------------------------------------------------------------------- elements

    def index(self, s: Scalars, dim: int) -> Scalar:
        """Returns a loop index in the body of a linalg.generic."""
        return s.op(f"linalg.index {dim} : index", None)

    def extract(self, s: Scalars, tensor: Tensor, places: Sequence[Scalar]) -> Scalar:
        """Extracts an element in the body of a linalg.generic. An index out of range is an error of the program: for loop
        indices of `make`, before the op."""
        self._needed += [(self._extents[place.name], size) for place, size in zip(places, tensor.shape)
                         if place.name in self._extents]
        return s.op(f"tensor.extract {self.use(tensor)}[{', '.join(place.name for place in places)}] : {tensor.type}",
                    tensor.element)

    def wrapped_index(self, s: Scalars, index: Scalar, size: Size) -> Scalar:
        """Converts an element of an integer tensor to index; a negative one counts from the end."""
        place = s.index_of(index)
        if index.element is not None and index.element.is_unsigned:
            return place
        from_end = s.add(place, Scalar(self.size(size), None))
        return s.select(s.less(place, 0), from_end, place)

    def make(self, body: Callable[..., Scalar], shape: Sequence[Size], element: Element,
             inputs: Sequence[tuple[Tensor, str]] = ()) -> Tensor:
        """Computes each element from its index: `body(s, *indices, *elements)` receives the elements of `inputs`, with
        their maps in d0, d1, .., and may `extract` from any tensor."""
        def inner(s: Scalars, *values: Scalar) -> Scalar:
            places = [self.index(s, dim) for dim in range(len(shape))]
            self._extents.update((place.name, size) for place, size in zip(places, shape))
            return body(s, *places, *values[:-1])

        # Constants that the body reads dominate it.
        identity = ", ".join(f"d{dim}" for dim in range(len(shape)))
        result, = self.generic(inner, inputs, [(self.empty(shape, element), identity)], ["parallel"] * len(shape))
        return result

    def loops(self, function: Callable[..., Any], *tensors: Tensor | None, **known: Any) -> list[Tensor]:
        """Writes a Python function over tensors as loops (loops.py); returns its results. None stands for an omitted
        tensor; `known` holds the other parameters."""
        arguments = [None if tensor is None else loops.Value(self.use(tensor), _loop_type(tensor)) for tensor in tensors]
        lines, values = loops.translate(function, arguments, self.new_name, f" loc({self.location})", **known)
        self.lines += lines
        return [self.tensor_of(value.name, _element_of(value.type), value.type.sizes) for value in values]

    # --------------------------------------------------------------------- products

    def matmul(self, a: Tensor, b: Tensor, element: Element | None = None) -> Tensor:
        """Multiplies matrices or batches of matrices with equal leading sizes, by linalg.matmul or linalg.batch_matmul,
        or by linalg.generic if only one has unsigned elements. `element` is the element type of the sums."""
        element = element or a.element
        *batch, m, k = a.shape
        rows = b.shape[-2]
        if is_static(k - rows) and k != rows:
            raise Forbidden(f"rows of {k} elements do not multiply columns of {rows}")
        # A static size of either one is known for both.
        known = k if is_static(k) else rows
        a = self.match_shape(a, [*batch, m, known], "rows do not multiply columns of another size")
        b = self.match_shape(b, [*b.shape[:-2], known, b.shape[-1]], "rows do not multiply columns of another size")
        shape = [*batch, m, b.shape[-1]]
        if a.rank > 3:
            lead = product(batch)
            flat = self.matmul(self.reshape(a, [lead, *a.shape[-2:]]), self.reshape(b, [lead, *b.shape[-2:]]), element)
            return self.reshape(flat, shape)
        into = self.fill(shape, element, 0)
        if a.element.is_unsigned != b.element.is_unsigned:
            batches = "d0, " * (a.rank - 2)
            row, column, summed = (f"d{a.rank - 2 + number}" for number in range(3))
            result, = self.generic(
                lambda s, x, y, total: s.add(total, s.mul(s.cast(x, element), s.cast(y, element))),
                [(a, f"{batches}{row}, {summed}"), (b, f"{batches}{summed}, {column}")],
                [(into, f"{batches}{row}, {column}")], ["parallel"] * a.rank + ["reduction"])
            return result
        return self.named("linalg.batch_matmul" if a.rank == 3 else "linalg.matmul", [a, b], into)

    def named(self, name: str, inputs: Sequence[Tensor], into: Tensor, attributes: str = "") -> Tensor:
        """Writes a named linalg op that accumulates into `into`."""
        self._match_loops(list(zip([*inputs, into], _LOOPS[name])))
        text = (f"{name} {attributes} ins({', '.join(self.use(x) for x in inputs)} : "
                f"{', '.join(x.type for x in inputs)}) outs({into.name} : {into.type}) -> {into.type}")
        return Tensor(into.element, into.shape, self.emit(text))


# The first results of the indexing maps of named ops: loops that several operands share.
_CONVOLUTION, _DEPTHWISE, _POOLING = ("n, c", "f, c", "n, f"), ("n, c", "c", "n, c"), ("n, c", "", "n, c")
_LOOPS = {
    "linalg.matmul": ("m, k", "k, n", "m, n"),
    "linalg.batch_matmul": ("b, m, k", "b, k, n", "b, m, n"),
    "linalg.conv_1d_ncw_fcw": _CONVOLUTION,
    "linalg.conv_2d_nchw_fchw": _CONVOLUTION,
    "linalg.conv_2d_ngchw_gfchw": ("n, g, c", "g, f, c", "n, g, f"),
    "linalg.conv_3d_ncdhw_fcdhw": _CONVOLUTION,
    "linalg.depthwise_conv_1d_ncw_cw": _DEPTHWISE,
    "linalg.depthwise_conv_2d_nchw_chw": _DEPTHWISE,
    "linalg.depthwise_conv_3d_ncdhw_cdhw": _DEPTHWISE,
    **dict.fromkeys(("linalg.pooling_ncw_max", "linalg.pooling_ncw_sum", "linalg.pooling_nchw_max",
                     "linalg.pooling_nchw_sum", "linalg.pooling_ndhwc_max"), _POOLING),
}


def _loop_type(tensor: Tensor) -> loops.Type:
    return loops.Type(tensor.element.mlir, tuple(size if is_static(size) else None for size in tensor.shape),
                      tensor.element.is_unsigned)


def _element_of(type_: loops.Type) -> Element:
    return next(element for element in ALL
                if element.mlir == type_.element and element.is_unsigned == type_.unsigned)


def find_groups(old: Sequence[Size], new: Sequence[Size]) -> list[tuple[list[int], list[int]]] | None:
    """Returns the shortest groups of consecutive dims of two shapes with provably equal products, as lists of dim
    numbers of `old` and of `new`, or None if there are no such groups."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        left, right = [i], [j]
        a, b = old[i], new[j]
        while a != b:
            if (is_static(a) and is_static(b) and a < b) or (not is_static(b) and divide(b, a) not in (None, 0)):
                if i + 1 == len(old):
                    return None
                i += 1
                left.append(i)
                a = old[i] * a
            else:
                if j + 1 == len(new):
                    return None
                j += 1
                right.append(j)
                b = new[j] * b
        groups.append((left, right))
        i, j = i + 1, j + 1
    # Remaining dims have size 1 and belong to the last group.
    rest_old, rest_new = list(range(i, len(old))), list(range(j, len(new)))
    if any(old[dim] != 1 for dim in rest_old) or any(new[dim] != 1 for dim in rest_new):
        return None
    if groups:
        groups[-1][0].extend(rest_old)
        groups[-1][1].extend(rest_new)
        return groups
    return [] if not old or not new else None

