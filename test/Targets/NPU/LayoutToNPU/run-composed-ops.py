# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# What is composed of several functions or commands, on three chips against numpy:
# reductions to one number.
# CHECK: BM1684: [[N:[0-9]+]] results, 0 kernels
# CHECK: BM1684X: [[N]] results, 0 kernels
# CHECK: BM1688: [[N]] results, 0 kernels
import numpy as np

from npu_cases import case, draw, run_all, tensor

# Reductions to one number, of more elements than an op may have commands.
for shape in ((1000,), (300, 5), (2, 3, 7, 11, 2), (1,), (0, 3)):
    for kind, start, of in (("addf", 0.0, np.sum), ("maximumf", -np.inf, np.max), ("minimumf", np.inf, np.min)):
        x, dims = draw(*shape), list(range(len(shape)))
        number = {0.0: "0.0", np.inf: "0x7F800000", -np.inf: "0xFF800000"}[start]
        case(f"""  %z = arith.constant {number} : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce ins(%x0 : {tensor(shape)}) outs(%f : tensor<f32>) dimensions = {dims}
    (%a: f32, %b: f32) {{
      %m = arith.{kind} %a, %b : f32
      linalg.yield %m : f32
    }}""", [x], of(x, initial=np.float32(start)), 1e-4)

run_all()
