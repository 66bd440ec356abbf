# Check tensors of numbers that the host computes: sizes and extracted elements of every type, in buffers and images, of
# zero and of many elements, in a loop.

# REQUIRES: opencl-device
# RUN: env PYTHONPATH=%S/Inputs %python %s %t

import numpy as np

from on_device import check, run

random = np.random.default_rng(5)

# The sizes of an argument, read by an op, by a body at a computed index, and returned.
for shape in (2, 3, 5), (1, 0, 7), (0, 1, 1):
    sizes, twice, picked = run("""
func.func @main(%x: tensor<?x?x?xf32>) -> (tensor<3xindex>, tensor<1x3xi32>, tensor<3xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %c = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %sizes = tensor.from_elements %a, %b, %c : tensor<3xindex>
  %i = arith.index_cast %a : index to i32
  %j = arith.index_cast %b : index to i32
  %k = arith.index_cast %c : index to i32
  %row = tensor.from_elements %i, %j, %k : tensor<1x3xi32>
  %twice = arith.addi %row, %row : tensor<1x3xi32>
  %e = tensor.empty() : tensor<3xindex>
  %picked = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<3xindex>) {
  ^bb0(%old: index):
    %at = linalg.index 0 : index
    %from = arith.subi %c2, %at : index
    %v = tensor.extract %sizes[%from] : tensor<3xindex>
    linalg.yield %v : index
  } -> tensor<3xindex>
  return %sizes, %twice, %picked : tensor<3xindex>, tensor<1x3xi32>, tensor<3xindex>
}""", np.zeros(shape, "f4"), results=3)
    check(sizes, np.array(shape, "i8"))
    check(twice, 2 * np.array([shape], "i4"))
    check(picked, np.array(shape[::-1], "i8"))

# A number of each type, of rank 0; no elements; and 2 x 6 in an image.
for element, dtype in ("f16", "f2"), ("f64", "f8"), ("i8", "i1"), ("i16", "i2"), ("i64", "i8"):
    x = random.integers(-9, 9, 1).astype(dtype)
    check(run(f"""
func.func @main(%x: tensor<1x{element}>) -> tensor<{element}> {{
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0] : tensor<1x{element}>
  %y = tensor.from_elements %v : tensor<{element}>
  return %y : tensor<{element}>
}}""", x), x[0])
check(run("""
func.func @main() -> tensor<0x2xf32> {
  %y = tensor.from_elements : tensor<0x2xf32>
  return %y : tensor<0x2xf32>
}"""), np.zeros((0, 2), "f4"))

IMAGE = "#layout.map<(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)>"
x = random.standard_normal(12).astype("f4")
check(run(f"""
func.func @main(%x: tensor<12xf32>) -> tensor<2x6xf32> {{
  {" ".join(f"%c{i} = arith.constant {i} : index %v{i} = tensor.extract %x[%c{i}] : tensor<12xf32>" for i in range(12))}
  %t = tensor.from_elements {", ".join(f"%v{i}" for i in range(12))} : tensor<2x6xf32, {IMAGE}>
  %s = arith.addf %t, %t : tensor<2x6xf32, {IMAGE}>
  %y = layout.convert %s : tensor<2x6xf32, {IMAGE}> to tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}}""", x), 2 * x.reshape(2, 6))

# One in each iteration of a host loop.
check(run("""
func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> (tensor<2xi64>) {
    %n = arith.index_cast %i : index to i64
    %m = arith.muli %n, %n : i64
    %t = tensor.from_elements %n, %m : tensor<2xi64>
    %next = arith.addi %s, %t : tensor<2xi64>
    scf.yield %next : tensor<2xi64>
  }
  return %r : tensor<2xi64>
}""", np.array([100, -1], "i8")), [110, 29])
