"""Writes nodes whose import computes something else, or in more steps, as nodes that are imported right.

    DepthToSpace, SpaceToDepth of mode CRD     Reshape, Transpose, Reshape
    QLinearMatMul of a rank other than 2       DequantizeLinear, MatMul, QuantizeLinear
    RNN, GRU, LSTM backwards                   the same forwards, on what Gather turns around
    ConvTranspose in groups, with uneven pads  Pad to insert zeros, Conv
    Resize, cubic or with a filter             weighted sums of Gathers (onnx_resize.py)
    Pad by what is there, Pad that crops       a Gather along each axis; Slice, Pad
    ConvInteger that pads                      Pad, ConvInteger
    BatchNormalization by constants            in the filters of its Conv, else Mul, Add

These are the definitions that the ONNX specification gives. A node whose shape is
not known keeps its form, and the comparison after the import catches it.

A Resize is refused where ONNX and ONNX Runtime differ, so that the comparison
cannot tell whether it is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir import onnx_resize

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto


class Refused(ValueError):
    """The model is not imported; the message names the node."""


def _static_shapes(graph: GraphProto) -> dict[str, list[int]]:
    """{name: shape} of tensors without dynamic dims."""
    shapes = {}
    for value in [*graph.value_info, *graph.input, *graph.output]:
        tensor = value.type.tensor_type
        if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
            shapes[value.name] = [d.dim_value for d in tensor.shape.dim]
    shapes.update((tensor.name, list(tensor.dims)) for tensor in graph.initializer)
    return shapes


def _dtypes(graph: GraphProto) -> dict[str, np.dtype[Any]]:
    """{name: dtype} of tensors that nodes make or the graph is given."""
    from onnx import helper

    return {value.name: helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            for value in [*graph.value_info, *graph.input, *graph.output] if value.type.tensor_type.elem_type}


def _count_uses(graph: GraphProto) -> Counter[str]:
    """How often nodes, the graphs in them and results take each tensor."""
    uses = Counter([value.name for value in graph.output])
    for node in graph.node:
        uses.update(node.input)
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                uses.update(_count_uses(inner))
    return uses


class _Rewriter:
    """Collects the nodes that a graph gets instead of its own."""

    def __init__(self, graph: GraphProto, weights: Mapping[str, TensorProto]) -> None:
        self.graph, self.shapes, self.dtypes = graph, _static_shapes(graph), _dtypes(graph)
        self.ranks = {value.name: len(value.type.tensor_type.shape.dim)
                      for value in [*graph.value_info, *graph.input, *graph.output]
                      if value.type.tensor_type.HasField("shape")}
        self.uses = _count_uses(graph)
        self.constants = {each.name: each for each in [*graph.initializer, *weights.values()]}
        self.nodes: list[NodeProto] = []

    def add(self, like: NodeProto, op: str, operands: Sequence[str], result: str | None = None,
            **attributes: Any) -> str:
        from onnx import helper

        name = f"{like.name or like.output[0]}/{op}{len(self.nodes)}"
        result = result or name
        self.nodes.append(helper.make_node(op, operands, [result], name, **attributes))
        return result

    def reshape(self, like: NodeProto, value: str, shape: Sequence[int], result: str | None = None) -> str:
        return self.add(like, "Reshape", [value, self.constant(like, np.array(shape, np.int64))], result)

    def constant(self, like: NodeProto, array: NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"{like.output[0]}/constant{len(self.graph.initializer)}"
        self.constants[name] = numpy_helper.from_array(array, name)
        self.graph.initializer.append(self.constants[name])
        return name

    def known(self, name: str) -> NDArray[Any] | None:
        """The array of a constant, or None."""
        from onnx import numpy_helper

        return numpy_helper.to_array(self.constants[name]) if name in self.constants else None

    def blocks_by_columns(self, node: NodeProto) -> bool:
        """Channels to blocks of pixels and back, where the channels of a block are next to each
        other."""
        attributes = {attribute.name: attribute for attribute in node.attribute}
        shape = self.shapes.get(node.input[0])
        if not shape or "mode" not in attributes or attributes["mode"].s != b"CRD":
            return False
        (n, c, h, w), b = shape, attributes["blocksize"].i
        if node.op_type == "DepthToSpace":
            digits, order = [n, c // b**2, b, b, h, w], [0, 1, 4, 2, 5, 3]
            result = [n, c // b**2, h * b, w * b]
        else:
            digits, order = [n, c, h // b, b, w // b, b], [0, 1, 3, 5, 2, 4]
            result = [n, c * b**2, h // b, w // b]
        x = self.reshape(node, node.input[0], digits)
        x = self.add(node, "Transpose", [x], perm=order)
        self.reshape(node, x, result, node.output[0])
        return True

    def quantized_matmul(self, node: NodeProto) -> bool:
        ranks = [len(self.shapes.get(node.input[i], [0, 0])) for i in (0, 3)]
        scalars = all(np.prod(self.shapes.get(node.input[i], [2])) == 1 for i in (1, 2, 4, 5, 6, 7))
        if ranks == [2, 2] or not scalars:
            return False
        a = self.add(node, "DequantizeLinear", node.input[0:3])
        b = self.add(node, "DequantizeLinear", node.input[3:6])
        y = self.add(node, "MatMul", [a, b])
        self.add(node, "QuantizeLinear", [y, *node.input[6:8]], node.output[0])
        return True

    def check_resize(self, node: NodeProto) -> None:
        """With corners aligned, ONNX takes size * scale for the new size, and ONNX Runtime, as the
        import, its whole part."""
        from onnx import helper

        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        aligned = attributes.get("coordinate_transformation_mode") == b"align_corners"
        if not aligned or len(node.input) < 3 or not node.input[2]:
            return
        shape, scales = self.shapes.get(node.input[0]), self.known(node.input[2])
        axes = attributes.get("axes", range(len(shape or ())))
        if scales is None or shape is None or any(shape[axis] * float(scale) % 1 for axis, scale in zip(axes, scales)):
            raise Refused(f"node '{node.name or node.output[0]}' (Resize) aligns the corners of sizes "
                           "that its scales are not known to make whole, for which ONNX and ONNX "
                           "Runtime differ; give the sizes instead of the scales")

    def resize(self, node: NodeProto) -> bool:
        self.check_resize(node)
        shape = self.shapes.get(node.input[0])
        x = node.input[0]
        dtype = self.dtypes.get(x)
        if not shape or not dtype or not (taps := onnx_resize.find_taps(node, shape, self.known)):
            return False
        for axis, places, weights in taps:
            parts = [self.add(node, "Gather", [x, self.constant(node, each)], axis=axis) for each in places]
            if weights is None:
                x = parts[0]
                continue
            column = [-1] + [1] * (len(shape) - axis - 1)
            parts = [self.add(node, "Mul", [part, self.constant(node, each.astype(dtype).reshape(column))])
                     for part, each in zip(parts, weights)]
            x = self.add(node, "Sum", parts)
        self.add(node, "Identity", [x], node.output[0])
        return True

    def crop_and_pad(self, like: NodeProto, x: str, shape: Sequence[int], pads: Sequence[int] | NDArray[Any],
                     value: Sequence[str] = (), result: str | None = None) -> str:
        """Constant padding of which the import takes what is not negative."""
        count = len(shape)
        ends = np.array(shape) + np.minimum(pads[count:], 0)
        bounds = [np.maximum(np.negative(pads[:count]), 0), ends, np.arange(count)]
        x = self.add(like, "Slice", [x, *(self.constant(like, np.asarray(each, np.int64)) for each in bounds)])
        return self.add(like, "Pad", [x, self.constant(like, np.maximum(pads, 0).astype(np.int64)), *value], result)

    def pad(self, node: NodeProto) -> bool:
        """Along each axis, the places that np.pad gives."""
        mode: Any = next((each.s.decode() for each in node.attribute if each.name == "mode"), "constant")
        shape, pads = self.shapes.get(node.input[0]), self.known(node.input[1])
        if shape is None or pads is None or mode not in ("constant", "edge", "reflect", "wrap"):
            return False
        if mode == "constant":
            if min(pads, default=0) >= 0 or len(node.input) > 3:
                return False
            self.crop_and_pad(node, node.input[0], shape, pads, node.input[2:], node.output[0])
            return True
        axes = self.known(node.input[3]) if len(node.input) > 3 and node.input[3] else np.arange(len(shape))
        if axes is None:
            return False
        x = node.input[0]
        for axis, before, after in zip(axes, *pads.reshape(2, -1)):
            places = np.pad(np.arange(shape[axis]), (max(before, 0), max(after, 0)), mode)
            places = places[max(-before, 0):len(places) - max(-after, 0)].astype(np.int64)
            if before or after:
                x = self.add(node, "Gather", [x, self.constant(node, places)], axis=int(axis))
        self.add(node, "Identity", [x], node.output[0])
        return True

    def pad_integers(self, node: NodeProto) -> bool:
        """The import pads no quantized image; what it is padded with is its zero."""
        from onnx import helper

        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        pads = attributes.pop("pads", [])
        if not any(pads) or attributes.get("auto_pad", b"NOTSET") != b"NOTSET":
            return False
        count, (x, w, *zeros) = len(pads) // 2, node.input
        sizes = self.constant(node, np.array([0, 0, *pads[:count], 0, 0, *pads[count:]], np.int64))
        x = self.add(node, "Pad", [x, sizes, *zeros[:1]])
        self.add(node, "ConvInteger", [x, w, *zeros], node.output[0], **attributes)
        return True

    def turn_around(self, node: NodeProto, x: str) -> str:
        """The first dim backwards."""
        last = np.arange(self.shapes[node.input[0]][0])[::-1].astype(np.int64)
        return self.add(node, "Gather", [x, self.constant(node, last)], axis=0)

    def run_forwards(self, node: NodeProto) -> bool:
        """A recurrent cell that runs backwards, or both ways, as cells that run forwards."""
        from onnx import helper

        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        direction = attributes.pop("direction", b"forward")
        has_lengths = len(node.input) > 4 and node.input[4]
        # The import takes an LSTM both ways.
        if direction == b"forward" or (node.op_type == "LSTM" and direction == b"bidirectional") or has_lengths \
                or attributes.get("layout") or node.input[0] not in self.shapes:
            return False
        ways = [False, True] if direction == b"bidirectional" else [True]
        activations, outputs = attributes.pop("activations", []), []
        for way, backwards in enumerate(ways):
            inputs = [x if number in (0, 4) or not x else
                      self.add(node, "Gather", [x, self.constant(node, np.array([way]))], axis=0)
                      for number, x in enumerate(node.input)]
            if backwards:
                inputs[0] = self.turn_around(node, inputs[0])
            outputs.append([f"{node.name}/{way}/{name}" if name else "" for name in node.output])
            each = len(activations) // len(ways)
            own = {"activations": activations[way * each:way * each + each]} if each else {}
            self.nodes.append(helper.make_node(node.op_type, inputs, outputs[-1], f"{node.name}/{way}",
                                               **attributes, **own))
            if backwards and outputs[-1][0]:
                outputs[-1][0] = self.turn_around(node, outputs[-1][0])
        for number, name in enumerate(node.output):
            if name:
                self.add(node, "Concat", [each[number] for each in outputs], name, axis=0 if number else 1)
        return True

    def insert_zeros(self, node: NodeProto) -> bool:
        """A transposed convolution in groups, or with a border that differs from side to side: a convolution
        of the image with zeros between its pixels, by the filters turned around."""
        from onnx import helper

        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        shape, w, result = self.shapes.get(node.input[0]), self.known(node.input[1]), self.shapes.get(node.output[0])
        groups = attributes.get("group", 1)
        if w is None or shape is None or result is None or attributes.get("auto_pad", b"NOTSET") != b"NOTSET":
            return False
        count = len(shape) - 2
        strides, dilations = (attributes.get(name, [1] * count) for name in ("strides", "dilations"))
        pads = attributes.get("pads", [0] * 2 * count)
        if groups == 1 and pads[:count] == pads[count:]:
            return False
        apart = [shape[0], shape[1], *(size for n in shape[2:] for size in (n, 1))]
        x = self.reshape(node, node.input[0], apart)
        ends = [0] * len(apart)
        ends[3::2] = [s - 1 for s in strides]
        x = self.add(node, "Pad", [x, self.constant(node, np.array([0] * len(apart) + ends, np.int64))])
        wide = [*shape[:2], *(n * s for n, s in zip(shape[2:], strides))]
        x = self.reshape(node, x, wide)
        reach = [d * (k - 1) for d, k in zip(dilations, w.shape[2:])]
        before = [r - p for r, p in zip(reach, pads[:count])]
        after = [m + r - b - n * s for m, r, b, n, s in zip(result[2:], reach, before, shape[2:], strides)]
        x = self.crop_and_pad(node, x, wide, [0, 0, *before, 0, 0, *after])
        w = w.reshape(groups, shape[1] // groups, *w.shape[1:]).swapaxes(1, 2)
        w = np.flip(w.reshape(-1, *w.shape[2:]), tuple(range(2, 2 + count)))
        self.add(node, "Conv", [x, self.constant(node, np.ascontiguousarray(w)), *node.input[2:]], node.output[0],
                 group=groups, dilations=dilations)
        return True

    def normalize(self, node: NodeProto) -> bool:
        """By a convolution that nothing else uses, or else by a multiplication and an addition."""
        attributes = {attribute.name: attribute for attribute in node.attribute}
        constants = [self.known(name) for name in node.input[1:5]]
        if len([name for name in node.output if name]) != 1 or (
                "training_mode" in attributes and attributes["training_mode"].i):
            return False
        if any(array is None or array.dtype not in (np.float32, np.float64) for array in constants):
            return False
        scale, bias, mean, variance = (np.asarray(array, np.float64) for array in constants)
        factor = scale / np.sqrt(variance + (attributes["epsilon"].f if "epsilon" in attributes else 1e-5))
        dtype, shift = np.asarray(constants[0]).dtype, bias - mean * factor
        conv = next((each for each in self.nodes if each.op_type == "Conv" and each.output[0] == node.input[0]), None)
        known = [self.known(name) for name in conv.input[1:]] if conv and self.uses[node.input[0]] == 1 else [None]
        if conv and all(array is not None and array.dtype == dtype for array in known):
            weights, *sums = (np.asarray(array, np.float64) for array in known)
            columns = factor.reshape(-1, *[1] * (weights.ndim - 1))
            shift += sums[0] * factor if sums else 0
            del conv.input[1:]
            conv.input.extend(self.constant(node, array.astype(dtype)) for array in (weights * columns, shift))
            conv.output[0] = node.output[0]
            return True
        # Mul takes one type, where a norm may be of halves by parameters of another one.
        if node.input[0] not in self.ranks or self.dtypes.get(node.input[0]) != dtype:
            return False
        ones = [1] * (self.ranks[node.input[0]] - 2)
        by, plus = (self.constant(node, array.reshape(-1, *ones).astype(dtype)) for array in (factor, shift))
        self.add(node, "Add", [self.add(node, "Mul", [node.input[0], by]), plus], node.output[0])
        return True

    def run(self) -> None:
        rules = {"DepthToSpace": self.blocks_by_columns, "SpaceToDepth": self.blocks_by_columns,
                 "QLinearMatMul": self.quantized_matmul, "Resize": self.resize, "RNN": self.run_forwards,
                 "GRU": self.run_forwards, "LSTM": self.run_forwards, "ConvTranspose": self.insert_zeros,
                 "Pad": self.pad, "ConvInteger": self.pad_integers, "BatchNormalization": self.normalize}
        for node in self.graph.node:
            if node.op_type not in rules or not rules[node.op_type](node):
                self.nodes.append(node)
        del self.graph.node[:]
        self.graph.node.extend(self.nodes)


def rewrite(model: ModelProto, weights: Mapping[str, TensorProto]) -> None:
    """Puts other nodes in place of those named at the top; the shapes are inferred. The weights are
    constants that the model has as inputs."""
    _Rewriter(model.graph, weights).run()
