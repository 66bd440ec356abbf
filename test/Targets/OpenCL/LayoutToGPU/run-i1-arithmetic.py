# Check sums, products, minima and maxima of i1, as elements and as pixels.

# REQUIRES: opencl-device
# RUN: env PYTHONPATH=%S/Inputs %python %s %t

import numpy as np

from on_device import check, run

a, b = np.array([0, 0, 1, 1, 1, 0], "?"), np.array([0, 1, 0, 1, 1, 1], "?")
OPS = {"addi": a ^ b, "subi": a ^ b, "muli": a & b, "minui": a & b, "maxui": a | b, "minsi": a | b, "maxsi": a & b}
for layout in "#layout.map<(a) -> buffer(a)>", "#layout.rgba_image<argument>":
    type = f"tensor<6xi1, {layout}>"
    ops = "".join(f"""
  %{op} = arith.{op} %a, %b : {type}
  %{op}_y = layout.convert %{op} : {type} to tensor<6xi1>""" for op in OPS)
    found = run(f"""
func.func @main(%a0: tensor<6xi1>, %b0: tensor<6xi1>) -> ({', '.join(['tensor<6xi1>'] * len(OPS))}) {{
  %a = layout.convert %a0 : tensor<6xi1> to {type}
  %b = layout.convert %b0 : tensor<6xi1> to {type}{ops}
  return {', '.join(f'%{op}_y' for op in OPS)} : {', '.join(['tensor<6xi1>'] * len(OPS))}
}}""", a, b, results=len(OPS))
    for wanted, values in zip(OPS.values(), found, strict=True):
        check(values, wanted)
