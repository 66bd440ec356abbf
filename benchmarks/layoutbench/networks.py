"""The networks of `./dev bench --peers`, which that part writes as ONNX files, in the order of its table."""

import numpy as np
import onnx

NETWORKS = ("squeezenet", "mobilenet_v2", "shufflenet", "inception_v1", "inception_v2", "densenet121", "resnet50",
            "unet", "efficientnet_b0", "vit_b16", "bert_base", "llama_decode")


def draw_inputs(model):
    """Yields the inputs of a model with random arrays; indices are 0 or 1."""
    random = np.random.default_rng(0)
    for value in model.graph.input:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        yield value.name, random.integers(0, 2, shape) if value.type.tensor_type.elem_type == onnx.TensorProto.INT64 \
            else random.standard_normal(shape, np.float32)
