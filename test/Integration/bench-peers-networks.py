# Check that the networks of ./dev bench --peers are valid models with finite, nonuniform results.
# REQUIRES: onnx
# RUN: %python %s | FileCheck %s

import numpy as np
import onnx
import onnxruntime
from bench import onnx_networks

for name in (*onnx_networks.BUILT, "squeezenet"):
    model = onnx_networks.make(name, small=True)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    feeds = {value.name: array for value, array in zip(model.graph.input, onnx_networks.draw_inputs(model))}
    results = session.run(None, feeds)
    shapes = [[dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in model.graph.output]
    print(name, [list(each.shape) for each in results] == shapes,
          all(np.isfinite(each).all() and np.ptp(each) > 1e-3 for each in results),
          *onnx_networks.count(model))

# CHECK: mobilenet_v2 True True 5337472 1231896
# CHECK-NEXT: efficientnet_b0 True True 6316976 1694116
# CHECK-NEXT: unet True True 7065600 78488
# CHECK-NEXT: vit_b16 True True 1617396 124776
# CHECK-NEXT: bert_base True True 609114 195416
# CHECK-NEXT: llama_decode True True 50904 117380
# CHECK-NEXT: squeezenet True True 698303872 {{[0-9]+}}
