# RUN: %python %s %t plain cpu
# Check ops on tensors whose types state layouts that the op does not support: the assignment converts around them, with
# the results of the lowering without an assignment.

import re

import numpy as np

from target_programs import check, draw, tensor

BLOCKS = ['#layout.blocked<"AB" to "AB16a">', '#layout.blocked<"AB" to "AB8a4b">',
          "#layout.map<(i, j) -> buffer(offset = i * 16 + j + 1)>"]
x, y = draw(32, 12), draw(5, 12, seed=1)


class Ops:
    """Ops that compute %q from %p, which is x in the layout `layout`, in one program."""

    def __init__(self, layout):
        self.layout, self.body, self.results, self.wanted = layout, "", [], []

    def add(self, ops, wanted, result=None):
        """Adds ops; `result` is the layout of %q."""
        plain = tensor(wanted.shape)
        if result:
            ops += f"\n  %r = layout.convert %q : {tensor(wanted.shape, layout=result)} to {plain}"
        made = len(self.results)
        # Names of values are unique per op.
        self.body += re.sub(r"%(?!p\b|y\b|x\b|z\b)([a-z0-9]+)", rf"%\1_{made}", ops) + "\n"
        self.results.append((f"%{'r' if result else 'q'}_{made}", plain))
        self.wanted.append(wanted)

    def check(self):
        names, types = (", ".join(each) for each in zip(*self.results, strict=True))
        check(f"""func.func @main(%x: {tensor(x.shape)}, %y: {tensor(y.shape)}) -> ({types}) {{
  %z = arith.constant 0.5 : f32
  %p = layout.convert %x : {tensor(x.shape)} to {tensor(x.shape, layout=self.layout)}
{self.body}  return {names} : {types}
}}""", [x, y], self.wanted)


def pad(layout, low, high, result):
    to = tensor((32 + low + high, 12), layout=result)
    return f"""  %q = tensor.pad %p low[{low}, 0] high[{high}, 0] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  }} : {tensor(x.shape, layout=layout)} to {to}"""


for L in BLOCKS:
    program = Ops(L)
    X = tensor((32, 12), layout=L)
    for low, high in ((16, 0), (1, 2), (-3, 1)):
        wanted = np.pad(x[max(0, -low):], ((max(0, low), high), (0, 0)), constant_values=0.5)
        for result in (L, None):
            program.add(pad(L, low, high, result), wanted, result)
    program.add(f"  %q = tensor.extract_slice %p[0, 0] [4, 12] [8, 1] : {X} to {tensor((4, 12), layout=L)}",
                x[::8], result=L)
    program.add(f"  %q = tensor.extract_slice %p[3, 2] [7, 5] [1, 1] : {X} to {tensor((7, 5))}", x[3:10, 2:7])
    inserted = x.copy()
    inserted[4:9] = y
    program.add(f"  %q = tensor.insert_slice %y into %p[4, 0] [5, 12] [1, 1] : {tensor(y.shape)} into {X}",
                inserted, result=L)
    program.add(f"  %q = tensor.concat dim(0) %p, %y : ({X}, {tensor(y.shape)}) -> {tensor((37, 12))}",
                np.concatenate([x, y]))
    program.add(f"  %q = tensor.concat dim(0) %y, %p : ({tensor(y.shape)}, {X}) -> {tensor((37, 12), layout=L)}",
                np.concatenate([y, x]), result=L)
    program.add(f"  %q = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 8, 12] : {X} into {tensor((4, 8, 12))}",
                x.reshape(4, 8, 12))
    program.add(f"  %q = tensor.collapse_shape %p [[0, 1]] : {X} into {tensor((384,))}", x.reshape(384))
    program.add(f"""  %e = tensor.empty() : {X}
  %q = linalg.softmax dimension(0) ins(%p : {X}) outs(%e : {X}) -> {X}""",
                (lambda e: e / e.sum(0))(np.exp(x - x.max(0))), result=L)
    program.add(f"""  %e = tensor.empty() : {tensor(x.shape)}
  %q = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (31 - i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%p : {X}) outs(%e : {tensor(x.shape)}) {{
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }} -> {tensor(x.shape)}""", x[::-1])
    program.add(f"""  %e = tensor.empty() : {tensor((12,))}
  %q = linalg.generic {{indexing_maps = [affine_map<(j) -> (19, j)>, affine_map<(j) -> (j)>],
      iterator_types = ["parallel"]}} ins(%p : {X}) outs(%e : {tensor((12,))}) {{
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }} -> {tensor((12,))}""", x[19])
    # Operands that state different layouts.
    program.add(f"""  %t = layout.convert %x : {tensor(x.shape)} to {tensor(x.shape, layout=BLOCKS[0])}
  %e = tensor.empty() : {tensor(x.shape)}
  %q = linalg.add ins(%p, %t : {X}, {tensor(x.shape, layout=BLOCKS[0])}) outs(%e : {tensor(x.shape)})
      -> {tensor(x.shape)}""", 2 * x)
    program.add(f"""  %e = tensor.empty() : {tensor((12,))}
  %q = linalg.generic {{indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}}
      outs(%e : {tensor((12,))}) {{
  ^bb0(%o: f32):
    %j = linalg.index 0 : index
    %c = arith.constant 19 : index
    %a = tensor.extract %p[%c, %j] : {X}
    linalg.yield %a : f32
  }} -> {tensor((12,))}""", x[19])
    program.check()
