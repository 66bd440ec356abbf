# RUN: %python %s %t plain cpu
# RUN: env -u LAYOUT_NPU_CXXFLAGS CXX=%host_cxx %python %s %t npu
# Check that padding with negative amounts crops, as ONNX and StableHLO define: with static and dynamic sizes, with
# amounts known at run time only, without verification, and if one side removes more than exists.

import sys

import numpy as np

from target_programs import check, draw, tensor


def pad(x, low, high, value):
    """Implements the definition: element i of the result is element i - low of x, if it exists."""
    shape = [size + a + b for size, a, b in zip(x.shape, low, high, strict=True)]
    result = np.full(shape, value, x.dtype)
    for place in np.ndindex(*shape):
        source = tuple(i - a for i, a in zip(place, low, strict=True))
        if all(0 <= i < size for i, size in zip(source, x.shape, strict=True)):
            result[place] = x[source]
    return result


def program(source, result, low, high, arguments="", body="tensor.yield %z : f32"):
    return f"""func.func @main(%x: {source}{arguments}) -> {result} {{
  %z = arith.constant 9.0 : f32
  %p = tensor.pad %x low[{low}] high[{high}] {{
  ^bb0(%i: index, %j: index):
    {body}
  }} : {source} to {result}
  return %p : {result}
}}"""


CASES = [((6, 5), (-1, 0), (0, 0)), ((6, 5), (0, -2), (0, 2)), ((6, 5), (2, 1), (-3, -1)), ((6, 5), (-2, -1), (-3, -2)),
         ((2, 5), (-3, 0), (4, 0)), ((2, 5), (5, 0), (-4, 0))]
for shape, low, high in CASES:
    x = draw(*shape)
    wanted = pad(x, low, high, 9)
    amounts = [", ".join(map(str, each)) for each in (low, high)]
    check(program(tensor(shape), tensor(wanted.shape), *amounts), [x], [wanted])
    if "npu" not in sys.argv:
        dynamic = tensor(("?", shape[1]))
        check(program(dynamic, tensor(("?", wanted.shape[1])), *amounts), [x], [wanted])
        check(program(dynamic, tensor(wanted.shape), *amounts), [x], [wanted], options=["--verify-each=false"])

# Amounts whose sign is known at run time only: one program for all of them.
if "npu" not in sys.argv:
    text = program("tensor<?x5xf32>", "tensor<?x5xf32>", "%l, 0", "%h, 0", ", %lt: tensor<index>, %ht: tensor<index>")
    text = text.replace("  %z =", """  %l = tensor.extract %lt[] : tensor<index>
  %h = tensor.extract %ht[] : tensor<index>
  %z =""")
    for low, high in ((0, 0), (2, 1), (-1, 2), (3, -2), (-2, -2), (-6, 1), (1, -6)):
        x = draw(6, 5)
        check(text, [x, np.array(low), np.array(high)], [pad(x, (low, 0), (high, 0), 9)])

# The padding value depends on the index, which image kernels do not support.
x = draw(6, 5)
wanted = np.where(np.pad(np.ones((4, 5)), ((0, 2), (0, 1))), pad(x, (-2, 0), (2, 1), 0),
                  np.add.outer(np.arange(6) * 10, np.arange(6))).astype("f4")
if not {"npu", "opencl"} & set(sys.argv):
    check(program(tensor((6, 5)), tensor((6, 6)), "-2, 0", "2, 1", body="""%ten = arith.constant 10 : index
    %t = arith.muli %i, %ten : index
    %s = arith.addi %t, %j : index
    %n = arith.index_cast %s : index to i32
    %f = arith.sitofp %n : i32 to f32
    tensor.yield %f : f32"""), [x], [wanted])
