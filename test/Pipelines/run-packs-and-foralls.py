# RUN: %python %s %t plain cpu
# RUN: env CXX=%host_cxx %python %s %t npu
# Check linalg.pack and unpack that pad, crop, and reorder tiles, and scf.forall whose bodies insert slices into a
# tensor that is read afterwards, on all targets.

import sys

import numpy as np

from target_programs import check, draw


def padded(x, *shape, value=0):
    result = np.full(shape, value, x.dtype)
    result[tuple(slice(size) for size in x.shape)] = x
    return result


# A pack that pads both dims, and an unpack that crops the result of another op.
x, y = draw(21, 34), draw(3, 5, 8, 8)
check("""func.func @main(%x: tensor<21x34xf32>, %y: tensor<3x5x8x8xf32>) -> (tensor<3x5x8x8xf32>, tensor<21x34xf32>) {
  %v = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<3x5x8x8xf32>
  %p = linalg.pack %x padding_value(%v : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 8]
      into %e : tensor<21x34xf32> -> tensor<3x5x8x8xf32>
  %a = math.absf %p : tensor<3x5x8x8xf32>
  %n = arith.negf %y : tensor<3x5x8x8xf32>
  %f = tensor.empty() : tensor<21x34xf32>
  %u = linalg.unpack %n inner_dims_pos = [0, 1] inner_tiles = [8, 8]
      into %f : tensor<3x5x8x8xf32> -> tensor<21x34xf32>
  return %a, %u : tensor<3x5x8x8xf32>, tensor<21x34xf32>
}""", [x, y], [np.abs(padded(x, 24, 40, value=0.5).reshape(3, 8, 5, 8).transpose(0, 2, 1, 3)),
               -y.transpose(0, 2, 1, 3).reshape(24, 40)[:21, :34]])

# Permuted outer dims, one tile, and integers.
x = draw(10, 6, dtype="i4")
check("""func.func @main(%x: tensor<10x6xi32>) -> tensor<6x3x4xi32> {
  %v = arith.constant 7 : i32
  %e = tensor.empty() : tensor<6x3x4xi32>
  %p = linalg.pack %x padding_value(%v : i32) outer_dims_perm = [1, 0] inner_dims_pos = [0] inner_tiles = [4]
      into %e : tensor<10x6xi32> -> tensor<6x3x4xi32>
  return %p : tensor<6x3x4xi32>
}""", [x], [padded(x, 12, 6, value=7).reshape(3, 4, 6).transpose(2, 0, 1)])

# Bodies read the shared tensor, and its old value is read afterwards; two dims, steps, and an insertion that drops a
# dim.
x = draw(6, 8)
wanted = np.abs(x)
wanted[0:6:2] *= 2
check("""func.func @main(%x: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %a = math.absf %x : tensor<6x8xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (6, 8) step (2, 4) shared_outs(%o = %a) -> tensor<6x8xf32> {
    %s = tensor.extract_slice %o[%i, %j] [1, 4] [1, 1] : tensor<6x8xf32> to tensor<4xf32>
    %t = arith.addf %s, %s : tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, %j] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x8xf32>
    }
  }
  %n = arith.negf %a : tensor<6x8xf32>
  return %r, %n : tensor<6x8xf32>, tensor<6x8xf32>
}""", [x], [wanted, -np.abs(x)])

# Two shared tensors, and nested loops.
check("""func.func @main(%x: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<8x6xf32>) {
  %e = tensor.empty() : tensor<6x8xf32>
  %f = tensor.empty() : tensor<8x6xf32>
  %r:2 = scf.forall (%i) in (6) shared_outs(%o = %e, %p = %f) -> (tensor<6x8xf32>, tensor<8x6xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<1x8xf32>
    %t = scf.forall (%j) in (2) shared_outs(%q = %s) -> tensor<1x8xf32> {
      %c4 = arith.constant 4 : index
      %k = arith.muli %j, %c4 : index
      %u = tensor.extract_slice %q[0, %k] [1, 4] [1, 1] : tensor<1x8xf32> to tensor<1x4xf32>
      %v = arith.mulf %u, %u : tensor<1x4xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %v into %q[0, %k] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<1x8xf32>
      }
    }
    %w = tensor.collapse_shape %t [[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<6x8xf32>
      tensor.parallel_insert_slice %w into %p[0, %i] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x6xf32>
    }
  }
  return %r#0, %r#1 : tensor<6x8xf32>, tensor<8x6xf32>
}""", [x], [x * x, (x * x).T])

# The trip count is known at run time only.
if "npu" in sys.argv:
    sys.exit()
text = """func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %x) -> tensor<?x8xf32> {
    %s = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %t = arith.addf %s, %s : tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}"""
for size in (3, 1, 0):
    x = draw(size, 8)
    check(text, [x], [2 * x])
