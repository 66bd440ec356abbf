"""Writes nodes whose import computes something else as nodes that are imported right.

    DepthToSpace, mode CRD    Reshape, Transpose, Reshape
    QLinearMatMul             of a rank other than 2: DequantizeLinear, MatMul, QuantizeLinear

Both are the definitions that the ONNX specification gives. A node whose shape is
not known keeps its form, and the comparison after the import catches it.

`replace_by_function` does the same for an operator that the import does not know,
with the function that its ONNX schema has.
"""

import numpy as np


def _static_shapes(graph):
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

    def __init__(self, graph):
        self.graph, self.shapes = graph, _static_shapes(graph)
        self.nodes = []

    def add(self, like, op, operands, result=None, **attributes):
        from onnx import helper

        name = f"{like.name or like.output[0]}/{op}{len(self.nodes)}"
        result = result or name
        self.nodes.append(helper.make_node(op, operands, [result], name, **attributes))
        return result

    def reshape(self, like, value, shape, result=None):
        from onnx import numpy_helper

        name = f"{like.output[0]}/shape{len(self.nodes)}"
        self.graph.initializer.append(numpy_helper.from_array(np.array(shape, np.int64), name))
        return self.add(like, "Reshape", [value, name], result)

    def depth_to_space(self, node):
        attributes = {attribute.name: attribute for attribute in node.attribute}
        shape = self.shapes.get(node.input[0])
        if not shape or "mode" not in attributes or attributes["mode"].s != b"CRD":
            return False
        (n, c, h, w), block = shape, attributes["blocksize"].i
        depth = c // block**2
        x = self.reshape(node, node.input[0], [n, depth, block, block, h, w])
        x = self.add(node, "Transpose", [x], perm=[0, 1, 4, 2, 5, 3])
        self.reshape(node, x, [n, depth, h * block, w * block], node.output[0])
        return True

    def quantized_matmul(self, node):
        ranks = [len(self.shapes.get(node.input[i], [0, 0])) for i in (0, 3)]
        scalars = all(np.prod(self.shapes.get(node.input[i], [2])) == 1 for i in (1, 2, 4, 5, 6, 7))
        if ranks == [2, 2] or not scalars:
            return False
        a = self.add(node, "DequantizeLinear", node.input[0:3])
        b = self.add(node, "DequantizeLinear", node.input[3:6])
        y = self.add(node, "MatMul", [a, b])
        self.add(node, "QuantizeLinear", [y, *node.input[6:8]], node.output[0])
        return True

    def run(self):
        rules = {"DepthToSpace": self.depth_to_space, "QLinearMatMul": self.quantized_matmul}
        for node in self.graph.node:
            if node.op_type not in rules or not rules[node.op_type](node):
                self.nodes.append(node)
        del self.graph.node[:]
        self.graph.node.extend(self.nodes)


def rewrite(graph):
    """Rewrites the nodes of a graph whose shapes are inferred."""
    _Rewriter(graph).run()


def _opset(model):
    return next(each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))


def has_function(model, operator):
    """Whether ONNX defines the operator by others."""
    from onnx import defs

    try:
        schema = defs.get_schema(operator, _opset(model))
    except defs.SchemaError:
        return False
    return schema.has_function or schema.has_context_dependent_function


def replace_by_function(model, operator):
    """The model with the operator's function in place of its nodes."""
    from onnx import inliner, shape_inference

    model = inliner.inline_selected_functions(model, [("", operator)], inline_schema_functions=True)
    return shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
