# REQUIRES: onnx, target-npu
# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check that ONNX models with a dynamic batch become one NPU program for all batch sizes, compared with ONNX Runtime.
import pathlib
import re
import sys

import numpy as np
import onnx
import onnx.parser
import onnxruntime

from layout_mlir.tools import ToolError, run_tool
from vendor_model import Program

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(2)
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

ATTENTION = HEAD + """attention (float[N,6,16] x) => (float[N,6,16] y)
    <int64[4] heads = {-1, 6, 4, 4}, int64[3] rows = {-1, 6, 16}> {
  q0 = MatMul(x, wq)
  k0 = MatMul(x, wk)
  q1 = Reshape(q0, heads)
  k1 = Reshape(k0, heads)
  q = Transpose<perm = [0, 2, 1, 3]>(q1)
  k = Transpose<perm = [0, 2, 3, 1]>(k1)
  s = MatMul(q, k)
  p = Softmax<axis = -1>(s)
  o = MatMul(p, q)
  o1 = Transpose<perm = [0, 2, 1, 3]>(o)
  o2 = Reshape(o1, rows)
  y = LayerNormalization<axis = -1>(o2, g, b)
}"""
SHAPED = HEAD + """shaped (float[N,3,6,6] x) => (float[N,10] y)
    <int64 zero = {0}, int64[1] first = {0}, int64[1] rest = {-1}> {
  c = Conv(x, wc)
  r = Relu(c)
  shape = Shape(r)
  n = Gather<axis = 0>(shape, zero)
  n1 = Unsqueeze(n, first)
  flat = Concat<axis = 0>(n1, rest)
  f = Reshape(r, flat)
  y = Gemm(f, wf)
}"""
INNER = HEAD + """inner (float[1,T,16] x) => (float[1,T,16] y) {
  y = MatMul(x, wq)
}"""
WEIGHTS = {"wq": (16, 16), "wk": (16, 16), "g": (16,), "b": (16,), "wc": (4, 3, 3, 3), "wf": (64, 10)}


def compile_for(text, chip):
    model = onnx.parser.parse_model(text)
    for name, shape in WEIGHTS.items():
        if any(name in node.input for node in model.graph.node):
            values = (random.standard_normal(shape) * 0.3).astype(np.float32)
            model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    path = folder / "model.onnx"
    onnx.save(model, path)
    run_tool(sys.executable, "-m", "layout_mlir.onnx_import", path, "-o", folder / "model.mlir")
    run_tool("layout-opt", folder / "model.mlir", "--layout-to-npu=target={#layout.npu<chip = "
             f'#npu.target<"{chip}">>}}', "-o", folder / "lowered.mlir")
    return onnxruntime.InferenceSession(path), Program(folder / "lowered.mlir", folder=folder / chip)


for text, shape in ((ATTENTION, (6, 16)), (SHAPED, (3, 6, 6))):
    for chip in ("BM1684", "BM1688"):
        session, program = compile_for(text, chip)
        for batch in (1, 4):
            x = random.standard_normal((batch, *shape)).astype(np.float32)
            wanted, = session.run(None, {"x": x})
            np.testing.assert_allclose(program.run(x).outputs[0], wanted, rtol=1e-4, atol=1e-5)
try:
    compile_for(INNER, "BM1684")
except ToolError as error:
    assert re.search(r"argument 0 is of type 'tensor<1x\?x16xf32>', whose dim 1 is dynamic", str(error)), error
else:
    sys.exit("a dynamic size further inside is accepted")
