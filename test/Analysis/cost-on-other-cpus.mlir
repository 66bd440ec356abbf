// Check that prices follow the caches, registers and vectors of the target: 2 x 64 x 1032 operations of a reduction
// along the lanes, and for each of 64 results more to combine the lanes. Reads are 2 x 33024 bytes, and results are read
// and written.
//
// By default 3072 operations more, at 150 %, because rows exceed L1.
// RUN: layout-opt %s -layout-print-cost='target={#layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 100>}' -o %t | FileCheck %s --check-prefix=DEFAULT
// DEFAULT: ops: 1, cost 269312
//
// L1 of 48 KiB holds the rows.
// RUN: layout-opt %s -layout-print-cost='target={#layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 100, l1_bytes = 49152>}' -o %t | FileCheck %s --check-prefix=LARGE
// LARGE: ops: 1, cost 201728
//
// With 64 registers, a tile has more rows, which exceed it again.
// RUN: layout-opt %s -layout-print-cost='target={#layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 100, l1_bytes = 49152, vector_registers = 64>}' -o %t | FileCheck %s --check-prefix=DEFAULT
//
// Vectors of 16 elements end half empty, and 64 x 64 operations combine their lanes.
// RUN: layout-opt %s -layout-set-target='target={#layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 100>} cpu=x86-64-v4' -layout-print-cost -o %t | FileCheck %s --check-prefix=WIDE
// WIDE: ops: 1, cost 278528
//
// Units of 256 bits compute such vectors in two halves, of which the last one is not empty.
// RUN: layout-opt %s -layout-set-target='target={#layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 100, datapath_bits = 256>} cpu=x86-64-v4' -layout-print-cost -o %t | FileCheck %s --check-prefix=DEFAULT
//
// Without vectors, there is nothing to combine.
// RUN: layout-opt %s -layout-print-cost='target={#layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 100, l1_bytes = 49152, vector_bits = 0>}' -o %t | FileCheck %s --check-prefix=SCALAR
// SCALAR: ops: 1, cost 198656

func.func @rows(%x: tensor<8x1032xf32>, %y: tensor<8x1032xf32>, %e: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<8x1032xf32>, tensor<8x1032xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %z: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
