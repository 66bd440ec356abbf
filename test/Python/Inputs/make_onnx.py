"""usage: make_onnx.py small OUT.onnx | run MODEL.onnx INPUT.npy OUTPUT.npy | unknown OUT.onnx
                    | parse MODEL.txt OUT.onnx

small    writes a model with the operators of classic networks, in an old opset, with ConstantOfShape weights that are
         also listed as inputs
run      writes the results of ONNX Runtime for a seeded input
unknown  writes a model with an operator that has no lowering
parse    writes the model of a text in ONNX's syntax
"""

import sys

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper


def small(path):
    nodes, initializers, inputs = [], [], []

    def weight(name, shape):
        initializers.append(helper.make_tensor(name + "_shape", TensorProto.INT64,
                                               [len(shape)], shape))
        inputs.append(helper.make_tensor_value_info(name + "_shape", TensorProto.INT64,
                                                    [len(shape)]))
        nodes.append(helper.make_node("ConstantOfShape", [name + "_shape"], [name],
                                      value=helper.make_tensor("v", TensorProto.FLOAT, [1], [.02])))
        return name

    def node(op, operands, result, **attributes):
        nodes.append(helper.make_node(op, operands, [result], **attributes))
        return result

    def batch_norm(x, channels, result):
        parameters = [weight(f"{result}_{p}", [channels]) for p in "sbmv"]
        return node("BatchNormalization", [x, *parameters], result)

    x = node("Conv", ["x", weight("w1", [8, 3, 3, 3]), weight("b1", [8])], "conv1",
             strides=[2, 2], pads=[1, 1, 1, 1])
    x = node("Relu", [batch_norm(x, 8, "bn1")], "relu1")
    x = node("MaxPool", [x], "pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = node("Conv", [x, weight("w2", [8, 2, 3, 3])], "conv2", group=4, pads=[1, 1, 1, 1])
    x = node("Sum", [x, batch_norm(y, 8, "bn2")], "sum")
    y = node("Conv", [x, weight("w3", [5, 8, 1, 1])], "conv3")
    x = node("Concat", [x, y], "concat", axis=1)
    nodes.append(helper.make_node("Dropout", [x], ["drop", "mask"]))
    x = node("GlobalAveragePool", ["drop"], "mean")
    initializers.append(helper.make_tensor("flat", TensorProto.INT64, [2], [1, 13]))
    inputs.append(helper.make_tensor_value_info("flat", TensorProto.INT64, [2]))
    x = node("Reshape", [x, "flat"], "reshape")
    x = node("Gemm", [x, weight("w4", [10, 13]), weight("b4", [10])], "fc", transB=1)
    node("Softmax", [x], "y")
    inputs.insert(0, helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32]))
    graph = helper.make_graph(nodes, "small", inputs, [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=3),
              path)


def run(model, source, output):
    import onnxruntime

    session = onnxruntime.InferenceSession(model)
    given = session.get_inputs()[0]
    x = np.random.default_rng(0).standard_normal(given.shape).astype(np.float32)
    np.save(source, x)
    np.save(output, session.run(None, {given.name: x})[0])


def unknown(path):
    graph = helper.make_graph(
        [helper.make_node("StringNormalizer", ["x"], ["y"])], "unknown",
        [helper.make_tensor_value_info("x", TensorProto.STRING, [2])],
        [helper.make_tensor_value_info("y", TensorProto.STRING, [2])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def parse(text, path):
    with open(text) as file:
        onnx.save(onnx.parser.parse_model(file.read()), path)


if __name__ == "__main__":
    {"small": small, "run": run, "unknown": unknown, "parse": parse}[sys.argv[1]](*sys.argv[2:])
