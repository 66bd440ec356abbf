"""Writes nodes whose import computes something else as nodes that are imported right.

    DepthToSpace, SpaceToDepth of mode CRD     Reshape, Transpose, Reshape
    QLinearMatMul of a rank other than 2       DequantizeLinear, MatMul, QuantizeLinear
    GridSample, linear between zeros           the same on points near the image, zero for others
    Gelu by tanh                               the function of its schema

These are the definitions that the ONNX specification gives. A node whose shape is
not known keeps its form, and the comparison after the import catches it; but a
GridSample is refused then, for its import reads outside of the image.

A Resize is refused where ONNX and ONNX Runtime differ, so that the comparison
cannot tell whether it is right.

`replace_by_function` does the same for an operator that the import does not know,
with the function that its ONNX schema has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto


class Disputed(ValueError):
    """A node that no comparison shows to be right: ONNX Runtime and ONNX's definition differ about
    it, or its import depends on what memory holds."""


def _static_shapes(graph: GraphProto) -> dict[str, list[int]]:
    """{name: shape} of tensors without dynamic dims."""
    shapes = {}
    for value in [*graph.value_info, *graph.input, *graph.output]:
        tensor = value.type.tensor_type
        if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
            shapes[value.name] = [d.dim_value for d in tensor.shape.dim]
    shapes.update((tensor.name, list(tensor.dims)) for tensor in graph.initializer)
    return shapes


class _Rewriter:
    """Collects the nodes that a graph gets instead of its own."""

    def __init__(self, graph: GraphProto) -> None:
        self.graph, self.shapes = graph, _static_shapes(graph)
        self.nodes: list[NodeProto] = []

    def add(self, like: NodeProto, op: str, operands: Sequence[str], result: str | None = None,
            **attributes: Any) -> str:
        from onnx import helper

        name = f"{like.name or like.output[0]}/{op}{len(self.nodes)}"
        result = result or name
        self.nodes.append(helper.make_node(op, operands, [result], name, **attributes))
        return result

    def reshape(self, like: NodeProto, value: str, shape: Sequence[int], result: str | None = None) -> str:
        from onnx import numpy_helper

        name = f"{like.output[0]}/shape{len(self.nodes)}"
        self.graph.initializer.append(numpy_helper.from_array(np.array(shape, np.int64), name))
        return self.add(like, "Reshape", [value, name], result)

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

    def check_resize(self, node: NodeProto) -> bool:
        """With corners aligned, ONNX takes size * scale for the new size, and ONNX Runtime, as the
        import, its whole part."""
        from onnx import numpy_helper

        attributes = {attribute.name: attribute.s for attribute in node.attribute}
        aligned = attributes.get("coordinate_transformation_mode") == b"align_corners"
        if not aligned or len(node.input) < 3 or not node.input[2]:
            return False
        known = [each for each in self.graph.initializer if each.name == node.input[2]]
        shape = self.shapes.get(node.input[0])
        scales = numpy_helper.to_array(known[0]) if known else None
        if scales is None or shape is None or np.any(np.multiply(shape, scales) % 1):
            raise Disputed(f"node '{node.name or node.output[0]}' (Resize) aligns the corners of sizes "
                           "that its scales are not known to make whole, for which ONNX and ONNX "
                           "Runtime differ; give the sizes instead of the scales")
        return False

    def constant(self, like: NodeProto, array: NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"{like.output[0]}/constant{len(self.graph.initializer)}"
        self.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def sample(self, node: NodeProto) -> bool:
        """The import weighs what lies next to a point, one step outside of the image at most. Points
        farther away, for which it would read other memory, take the place of the middle, and their
        results that of zeros."""
        attributes = {attribute.name: attribute for attribute in node.attribute}
        mode = attributes["mode"].s if "mode" in attributes else b"linear"
        padding = attributes["padding_mode"].s if "padding_mode" in attributes else b"zeros"
        aligned = "align_corners" in attributes and attributes["align_corners"].i
        shape = self.shapes.get(node.input[0])
        if mode not in (b"linear", b"bilinear") or padding != b"zeros" or (shape and len(shape) != 4):
            return False
        types = {value.name: value.type.tensor_type.elem_type
                 for value in [*self.graph.value_info, *self.graph.input, *self.graph.output]}
        if not shape or node.output[0] not in types or node.input[1] not in types:
            raise Disputed(f"node '{node.name or node.output[0]}' (GridSample) reads an image whose "
                           "shape is not known, and its import reads outside of the image for points "
                           "that are; give the model static shapes")
        from onnx import helper

        dtypes = [helper.tensor_dtype_to_np_dtype(types[name])
                  for name in (node.input[1], node.output[0])]
        # Where a coordinate reaches the pixel next to the first or the last one, less what rounding
        # may add.
        reach = [2 * size / max(size - 1, 1e-30) - 1 if aligned else 1 + 1 / size
                 for size in (shape[3], shape[2])]
        limit = self.constant(node, (np.array(reach) * (1 - 2**-20)).astype(dtypes[0]))
        near = self.add(node, "Less", [self.add(node, "Abs", [node.input[1]]), limit])
        zero = self.constant(node, np.zeros((), dtypes[0]))
        points = self.add(node, "Where", [near, node.input[1], zero])
        y = self.add(node, node.op_type, [node.input[0], points],
                     **{each.name: helper.get_attribute_value(each) for each in node.attribute})
        x_near, y_near = (self.add(node, "Gather", [near, self.constant(node, np.array(i, np.int64))],
                                   axis=3) for i in (0, 1))
        both = self.add(node, "Unsqueeze", [self.add(node, "And", [x_near, y_near]),
                                            self.constant(node, np.array([1], np.int64))])
        self.add(node, "Where", [both, y, self.constant(node, np.zeros((), dtypes[1]))],
                 node.output[0])
        return True

    def run(self) -> None:
        rules = {"DepthToSpace": self.blocks_by_columns, "SpaceToDepth": self.blocks_by_columns,
                 "QLinearMatMul": self.quantized_matmul, "Resize": self.check_resize,
                 "GridSample": self.sample}
        for node in self.graph.node:
            if node.op_type not in rules or not rules[node.op_type](node):
                self.nodes.append(node)
        del self.graph.node[:]
        self.graph.node.extend(self.nodes)


def rewrite(model: ModelProto) -> ModelProto:
    """The model, whose shapes are inferred, with other nodes for those named at the top."""
    # The import has another square root of 2 / pi from the fourth digit on.
    if any(node.op_type == "Gelu" and any(each.s == b"tanh" for each in node.attribute)
           for node in model.graph.node):
        model = replace_by_function(model, "Gelu")
    _Rewriter(model.graph).run()
    return model


def _opset(model: ModelProto) -> int:
    return next(int(each.version) for each in model.opset_import if each.domain in ("", "ai.onnx"))


def has_function(model: ModelProto, operator: str) -> bool:
    """Whether ONNX defines the operator by others."""
    from onnx import defs

    try:
        schema: Any = defs.get_schema(operator, _opset(model))
    except defs.SchemaError:
        return False
    return bool(schema.has_function or schema.has_context_dependent_function)


def replace_by_function(model: ModelProto, operator: str) -> ModelProto:
    """The model with the operator's function in place of its nodes."""
    from onnx import inliner, shape_inference

    model = inliner.inline_selected_functions(model, [("", operator)], inline_schema_functions=True)
    return shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
