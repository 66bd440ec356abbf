// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-cpu-bufferize,func.func(layout-cpu-tile-transposes),canonicalize,cse)" | FileCheck %s
// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, vector_bits = 512, vector_registers = 32, two_source_permute_bytes = 4>}},layout-cpu-bufferize,func.func(layout-cpu-tile-transposes),canonicalize,cse)" | FileCheck %s --check-prefix=WIDE
// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, vector_bits = 64>}},layout-cpu-bufferize,func.func(layout-cpu-tile-transposes))" | FileCheck %s --check-prefix=LOOPS
// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, vector_bits = 192>}},layout-cpu-bufferize,func.func(layout-cpu-tile-transposes))" | FileCheck %s --check-prefix=LOOPS

// Registers of half a 128-bit lane, or of one and a half, are lowered to loops.
// LOOPS-NOT: vector.

// Tiles of 8 columns and 16 rows, as squares of 8 x 8; the last tile of 21 rows starts at 13.
// CHECK-LABEL: func.func @non_divisible
// CHECK: scf.for {{.*}} to %c32 step %c16
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c21 step %c8
// CHECK: arith.minsi %[[COLUMN]], %c13
// CHECK-COUNT-7: vector.load {{.*}} vector<8xf32>
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-10: vector.shuffle {{.*}} vector<8xi32>, vector<8xi32>
// CHECK-COUNT-8: vector.store {{.*}} vector<8xf32>
func.func @non_divisible(%x: tensor<32x21xf32>) -> tensor<21x32xf32> {
  %e = tensor.empty() : tensor<21x32xf32>
  %r = linalg.transpose ins(%x : tensor<32x21xf32>) outs(%e : tensor<21x32xf32>) permutation = [1, 0]
  return %r : tensor<21x32xf32>
}

// -----

// The fastest dim stays: rows of 16 are copied, three that are contiguous in the source and all four of a row of the
// result in one step.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for {{.*}} to %c96 step %c48
// CHECK-COUNT-24: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: vector
func.func @rows(%x: tensor<4x6x16xf32>) -> tensor<6x4x16xf32> {
  %e = tensor.empty() : tensor<6x4x16xf32>
  %r = linalg.transpose ins(%x : tensor<4x6x16xf32>) outs(%e : tensor<6x4x16xf32>) permutation = [1, 0, 2]
  return %r : tensor<6x4x16xf32>
}

// -----

// Three rows are interleaved into one contiguous segment of the result: their elements are permuted within lanes, and
// the results are blends of these.
// CHECK-LABEL: func.func @few_rows
// CHECK: scf.for {{.*}} to %c64 step %c8
// CHECK-COUNT-3: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-9: vector.shuffle {{.*}} vector<8xi32>, vector<8xi32>
// CHECK-COUNT-6: vector.store {{.*}} vector<4xf32>
// Shuffles of two registers: two for each result.
// WIDE-LABEL: func.func @few_rows
// WIDE-COUNT-3: vector.load {{.*}} vector<16xf32>
// WIDE-COUNT-6: vector.shuffle {{.*}} vector<16xi32>, vector<16xi32>
// WIDE-NOT: vector.shuffle
// WIDE-COUNT-3: vector.store {{.*}} vector<16xf32>
func.func @few_rows(%x: tensor<3x64xf32>) -> tensor<64x3xf32> {
  %e = tensor.empty() : tensor<64x3xf32>
  %r = linalg.transpose ins(%x : tensor<3x64xf32>) outs(%e : tensor<64x3xf32>) permutation = [1, 0]
  return %r : tensor<64x3xf32>
}

// -----

// There is no such shuffle for 2-byte elements here.
// WIDE-LABEL: func.func @few_halves
// WIDE-COUNT-3: vector.load {{.*}} vector<32xf16>
// WIDE-COUNT-12: vector.store {{.*}} vector<8xf16>
func.func @few_halves(%x: tensor<3x64xf16>) -> tensor<64x3xf16> {
  %e = tensor.empty() : tensor<64x3xf16>
  %r = linalg.transpose ins(%x : tensor<3x64xf16>) outs(%e : tensor<64x3xf16>) permutation = [1, 0]
  return %r : tensor<64x3xf16>
}

// -----

// Eleven rows are interleaved if half of 32 registers hold them; with 16 registers, squares are
// transposed.
// CHECK-LABEL: func.func @eleven_rows
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-4: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-8: vector.store {{.*}} vector<4xf32>
// WIDE-LABEL: func.func @eleven_rows
// WIDE-COUNT-11: vector.load {{.*}} vector<16xf32>
// WIDE-COUNT-44: vector.store {{.*}} vector<4xf32>
func.func @eleven_rows(%x: tensor<11x64xf32>) -> tensor<64x11xf32> {
  %e = tensor.empty() : tensor<64x11xf32>
  %r = linalg.transpose ins(%x : tensor<11x64xf32>) outs(%e : tensor<64x11xf32>) permutation = [1, 0]
  return %r : tensor<64x11xf32>
}

// -----

// Positions that are sums of dims: 32 channels in two tiles of 16.
// CHECK-LABEL: func.func @sums
// CHECK: scf.for {{.*}} to %c2 step %c1
// CHECK-COUNT-8: vector.load {{.*}} vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: nontemporal
// CHECK-NOT: linalg
func.func @sums(%x: tensor<32x8xf32>) -> tensor<2x8x16xf32> {
  %e = tensor.empty() : tensor<2x8x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c1, w, c0) -> (c1 * 16 + c0, w)>, affine_map<(c1, w, c0) -> (c1, w, c0)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<32x8xf32>) outs(%e : tensor<2x8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x8x16xf32>
  return %r : tensor<2x8x16xf32>
}

// -----

// The fastest dim is equal on both sides: vectors are copied, of both contiguous segments of a row of the
// source.
// CHECK-LABEL: func.func @runs
// CHECK: scf.for {{.*}} to %c8 step %c4
// CHECK-COUNT-16: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: vector
// CHECK-NOT: linalg
func.func @runs(%x: tensor<8x32xf32>) -> tensor<2x8x16xf32> {
  %e = tensor.empty() : tensor<2x8x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c1, w, c0) -> (w, c1 * 16 + c0)>, affine_map<(c1, w, c0) -> (c1, w, c0)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<8x32xf32>) outs(%e : tensor<2x8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x8x16xf32>
  return %r : tensor<2x8x16xf32>
}

// -----

// The result is traversed in memory order, regardless of the order of terms of a position: 3 rows of 5
// first.
// CHECK-LABEL: func.func @order_of_terms
// CHECK: scf.for {{.*}} to %c3 step %c1
// CHECK: scf.for {{.*}} to %c5 step %c1
// CHECK: vector.shuffle
func.func @order_of_terms(%x: tensor<5x3x8x8xf32>) -> tensor<15x8x8xf32> {
  %e = tensor.empty() : tensor<15x8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (b, a, i, j)>, affine_map<(a, b, i, j) -> (b + a * 5, j, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<5x3x8x8xf32>) outs(%e : tensor<15x8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<15x8x8xf32>
  return %r : tensor<15x8x8xf32>
}

// -----

// Unit dims are skipped when the fastest dim is determined: it is the inputs of a 1x1 filter, not its
// columns.
// CHECK-LABEL: func.func @unit_dims
// CHECK: scf.for {{.*}} to %c32 step %c16
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.shuffle
// CHECK-NOT: memref.load
func.func @unit_dims(%x: tensor<16x32x1x1xf32>) -> tensor<32x1x1x16xf32> {
  %e = tensor.empty() : tensor<32x1x1x16xf32>
  %r = linalg.transpose ins(%x : tensor<16x32x1x1xf32>) outs(%e : tensor<32x1x1x16xf32>) permutation = [1, 2, 3, 0]
  return %r : tensor<32x1x1x16xf32>
}

// -----

// Nine columns do not fill a line; together with the adjacent dim in the input they do. The position of a column in the
// result is computed before the loop over the rest.
// CHECK-LABEL: func.func @short_columns
// CHECK: scf.for {{.*}} to %c288 step %c16
// CHECK: arith.remui
// CHECK: arith.divui
// CHECK: vector.store
func.func @short_columns(%x: tensor<2x16x32x9xf32>) -> tensor<2x9x32x16xf32> {
  %e = tensor.empty() : tensor<2x9x32x16xf32>
  %r = linalg.transpose ins(%x : tensor<2x16x32x9xf32>) outs(%e : tensor<2x9x32x16xf32>) permutation = [0, 3, 2, 1]
  return %r : tensor<2x9x32x16xf32>
}

// -----

// Rows of the source are far apart: 256 columns of a row are read before the next rows.
// CHECK-LABEL: func.func @far_rows
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c1024 step %c256
// CHECK: scf.for {{.*}} to %c64 step %c16
// CHECK: %[[END:.*]] = arith.addi %[[BLOCK]], %c256
// CHECK: scf.for {{.*}} = %[[BLOCK]] to %[[END]] step %c16
// WIDE-LABEL: func.func @far_rows
// WIDE-COUNT-4: vector.load {{.*}} vector<16xf32>
// WIDE: vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
func.func @far_rows(%x: tensor<64x1024xf32>) -> tensor<1024x64xf32> {
  %e = tensor.empty() : tensor<1024x64xf32>
  %r = linalg.transpose ins(%x : tensor<64x1024xf32>) outs(%e : tensor<1024x64xf32>) permutation = [1, 0]
  return %r : tensor<1024x64xf32>
}

// -----

// A partial block ends with the source.
// CHECK-LABEL: func.func @non_divisible_block
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c300 step %c256
// CHECK: scf.for {{.*}} to %c64 step %c16
// CHECK: %[[MOST:.*]] = arith.addi %[[BLOCK]], %c256
// CHECK: %[[END:.*]] = arith.minsi %[[MOST]], %c300
// CHECK: scf.for %[[COLUMN:.*]] = %[[BLOCK]] to %[[END]] step %c16
// CHECK: arith.minsi %[[COLUMN]], %c284
func.func @non_divisible_block(%x: tensor<64x300xf32>) -> tensor<300x64xf32> {
  %e = tensor.empty() : tensor<300x64xf32>
  %r = linalg.transpose ins(%x : tensor<64x300xf32>) outs(%e : tensor<300x64xf32>) permutation = [1, 0]
  return %r : tensor<300x64xf32>
}

// -----

// A result that exceeds the caches is written by nontemporal stores of whole lines, and four lines of a row are read
// before the next rows.
// CHECK-LABEL: func.func @large
// CHECK: scf.for {{.*}} to %c2048 step %c64
// CHECK: scf.for {{.*}} to %c4096 step %c16
// CHECK: vector.store {{.*}} {alignment = 32 : i64, nontemporal = true}
func.func @large(%x: tensor<4096x2048xf32>) -> tensor<2048x4096xf32> {
  %e = tensor.empty() : tensor<2048x4096xf32>
  %r = linalg.transpose ins(%x : tensor<4096x2048xf32>) outs(%e : tensor<2048x4096xf32>) permutation = [1, 0]
  return %r : tensor<2048x4096xf32>
}

// -----

// If the source is contiguous, four lines of a column are written at a time.
// CHECK-LABEL: func.func @large_from_one_run
// CHECK: scf.for {{.*}} to %c524288 step %c64
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[FIRST:[a-z0-9]*]]] {alignment = 32 : i64, nontemporal = true}
// CHECK: arith.addi %[[FIRST]], %c8
// CHECK-COUNT-15: vector.store
// CHECK-NOT: vector.store
// CHECK: arith.addi %[[FIRST]], %c16
func.func @large_from_one_run(%x: tensor<524288x16xf32>) -> tensor<16x524288xf32> {
  %e = tensor.empty() : tensor<16x524288xf32>
  %r = linalg.transpose ins(%x : tensor<524288x16xf32>) outs(%e : tensor<16x524288xf32>) permutation = [1, 0]
  return %r : tensor<16x524288xf32>
}

// -----

// Stores to lines that are shared with other columns are not nontemporal.
// CHECK-LABEL: func.func @large_of_other_lines
// CHECK-NOT: nontemporal
func.func @large_of_other_lines(%x: tensor<4099x2048xf32>) -> tensor<2048x4099xf32> {
  %e = tensor.empty() : tensor<2048x4099xf32>
  %r = linalg.transpose ins(%x : tensor<4099x2048xf32>) outs(%e : tensor<2048x4099xf32>) permutation = [1, 0]
  return %r : tensor<2048x4099xf32>
}

// -----

// Halves of rows, two to a register, whose lanes are exchanged in one round.
// WIDE-LABEL: func.func @halves_of_rows
// WIDE: scf.for {{.*}} to %c64 step %c32
// WIDE-COUNT-4: vector.load {{.*}} vector<16xf16>
// WIDE-NEXT: vector.bitcast
// WIDE-NEXT: %[[UPPER:.*]] = vector.shuffle {{.*}} vector<16xi16>, vector<16xi16>
// WIDE-NEXT: %[[LOWER:.*]] = vector.shuffle {{.*}} vector<16xi16>, vector<16xi16>
// WIDE-NEXT: vector.shuffle %[[UPPER]], %[[LOWER]] [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, {{.*}} vector<32xi16>
// WIDE-NEXT: vector.shuffle %[[UPPER]], %[[LOWER]] [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, {{.*}} vector<32xi16>
// WIDE-NOT: vector<8xf16>
// WIDE-COUNT-32: vector.store {{.*}} vector<32xf16>
// WIDE-NOT: vector.store
func.func @halves_of_rows(%x: tensor<32x64xf16>) -> tensor<64x32xf16> {
  %e = tensor.empty() : tensor<64x32xf16>
  %r = linalg.transpose ins(%x : tensor<32x64xf16>) outs(%e : tensor<64x32xf16>) permutation = [1, 0]
  return %r : tensor<64x32xf16>
}

// -----

// Columns of 16 rows are half a register: two that are contiguous in the result are stored together, with one shuffle
// of two registers.
// WIDE-LABEL: func.func @joined_columns
// WIDE-COUNT-16: vector.load {{.*}} vector<16xf16>
// WIDE: %[[LINE:.*]] = vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 32, 33, {{.*}} vector<32xi16>
// WIDE-NEXT: %[[HALVES:.*]] = vector.bitcast %[[LINE]]
// WIDE-NEXT: vector.store %[[HALVES]]
// WIDE-COUNT-7: vector.store {{.*}} vector<32xf16>
// WIDE-COUNT-16: vector.load
// WIDE-COUNT-8: vector.store {{.*}} vector<32xf16>
// WIDE-NOT: vector.store
func.func @joined_columns(%x: tensor<16x64xf16>) -> tensor<64x16xf16> {
  %e = tensor.empty() : tensor<64x16xf16>
  %r = linalg.transpose ins(%x : tensor<16x64xf16>) outs(%e : tensor<64x16xf16>) permutation = [1, 0]
  return %r : tensor<64x16xf16>
}

// -----

// Nine columns and the adjacent dim are one tile of 144, so that positions in the result are static: columns 0, 9, 18
// and 27 are stored together.
// WIDE-LABEL: func.func @joined_filters
// WIDE-COUNT-16: vector.load {{.*}} vector<64xi8>
// WIDE: vector.shuffle %{{.*}} [0, 1, {{.*}}, 14, 15, 64, 65, {{.*}}, 78, 79] : vector<64xi8>
// WIDE: vector.shuffle %{{.*}} [16, 17, {{.*}}, 30, 31, 80, 81, {{.*}}, 94, 95] : vector<64xi8>
// WIDE-NEXT: %[[LINE:.*]] = vector.shuffle {{.*}} vector<32xi8>, vector<32xi8>
// WIDE-NEXT: vector.store %[[LINE]], {{.*}} vector<64xi8>
// WIDE-COUNT-35: vector.store {{.*}} vector<64xi8>
// WIDE-NOT: vector.store
// WIDE-NOT: arith.remui
func.func @joined_filters(%x: tensor<16x512x9xi8>) -> tensor<32x9x16x16xi8> {
  %s = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [16, 32, 16, 9] : tensor<16x512x9xi8> into tensor<16x32x16x9xi8>
  %e = tensor.empty() : tensor<32x9x16x16xi8>
  %r = linalg.transpose ins(%s : tensor<16x32x16x9xi8>) outs(%e : tensor<32x9x16x16xi8>) permutation = [1, 3, 2, 0]
  return %r : tensor<32x9x16x16xi8>
}

// -----

// Four rows of the source are contiguous and are read at once.
// WIDE-LABEL: func.func @rows_at_once
// WIDE: scf.for {{.*}} to %c128 step %c64
// WIDE-COUNT-16: vector.load {{.*}} vector<64xi8>
// WIDE-NOT: vector.load
// WIDE-COUNT-16: vector.store {{.*}} vector<64xi8>
func.func @rows_at_once(%x: tensor<128x16xi8>) -> tensor<16x128xi8> {
  %e = tensor.empty() : tensor<16x128xi8>
  %r = linalg.transpose ins(%x : tensor<128x16xi8>) outs(%e : tensor<16x128xi8>) permutation = [1, 0]
  return %r : tensor<16x128xi8>
}

// -----

// A tile has a part of 4608 columns, which may start anywhere: half registers are
// stored.
// WIDE-LABEL: func.func @parted_filters
// WIDE-NOT: vector.store {{.*}} vector<32xf16>
// WIDE: vector.store {{.*}} vector<16xf16>
// WIDE-NOT: vector.store {{.*}} vector<32xf16>
func.func @parted_filters(%x: tensor<16x512x9xf16>) -> tensor<9x512x16xf16> {
  %e = tensor.empty() : tensor<9x512x16xf16>
  %r = linalg.transpose ins(%x : tensor<16x512x9xf16>) outs(%e : tensor<9x512x16xf16>) permutation = [2, 1, 0]
  return %r : tensor<9x512x16xf16>
}

// -----

// Three columns are followed by a gap of one element: the next column is not joined with
// them.
// WIDE-LABEL: func.func @gap
// WIDE-NOT: vector.store {{.*}} vector<64xi8>
// WIDE: vector.store {{.*}} vector<16xi8>
// WIDE-NOT: vector.store {{.*}} vector<64xi8>
// WIDE: return
func.func @gap(%x: memref<16x3x9xi8>, %r: memref<9x3x16xi8, strided<[49, 16, 1]>>) {
  linalg.transpose ins(%x : memref<16x3x9xi8>) outs(%r : memref<9x3x16xi8, strided<[49, 16, 1]>>) permutation = [2, 1, 0]
  return
}

// -----

// A load of sixteen rows would have more rows than a lane has elements.
// WIDE-LABEL: func.func @four_columns
// WIDE-NOT: vector.load {{.*}} vector<64xi8>
// WIDE: vector.load {{.*}} vector<4xi8>
// WIDE-NOT: vector.load {{.*}} vector<64xi8>
// WIDE: return
func.func @four_columns(%x: tensor<64x2x2xi8>) -> tensor<2x2x64xi8> {
  %e = tensor.empty() : tensor<2x2x64xi8>
  %r = linalg.transpose ins(%x : tensor<64x2x2xi8>) outs(%e : tensor<2x2x64xi8>) permutation = [2, 1, 0]
  return %r : tensor<2x2x64xi8>
}

// -----

// Fourteen rows are one square of sixteen, stored with a mask, or squares of eight that overlap in two rows.
// CHECK-LABEL: func.func @fourteen_rows
// CHECK-NOT: vector.maskedstore
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: vector.maskedstore
// CHECK: return
// WIDE-LABEL: func.func @fourteen_rows
// WIDE: %[[MASK:.*]] = arith.constant dense<[true, {{(true, )+}}false, false]> : vector<16xi1>
// WIDE-COUNT-14: vector.load {{.*}} vector<16xf32>
// WIDE-NOT: vector.load
// WIDE-NOT: vector.store
// WIDE-COUNT-16: vector.maskedstore {{.*}}, %[[MASK]], {{.*}} vector<16xf32>
// WIDE-NOT: vector.maskedstore
// WIDE-NOT: vector.store
// WIDE: return
func.func @fourteen_rows(%x: tensor<14x100xf32>) -> tensor<100x14xf32> {
  %e = tensor.empty() : tensor<100x14xf32>
  %r = linalg.transpose ins(%x : tensor<14x100xf32>) outs(%e : tensor<100x14xf32>) permutation = [1, 0]
  return %r : tensor<100x14xf32>
}

// -----

// Six rows would fill less than half a register, or need 256-bit masks.
// CHECK-LABEL: func.func @six_rows
// CHECK-NOT: vector.maskedstore
// CHECK: return
// WIDE-LABEL: func.func @six_rows
// WIDE-NOT: vector.maskedstore
// WIDE: return
func.func @six_rows(%x: tensor<6x100xf32>) -> tensor<100x6xf32> {
  %e = tensor.empty() : tensor<100x6xf32>
  %r = linalg.transpose ins(%x : tensor<6x100xf32>) outs(%e : tensor<100x6xf32>) permutation = [1, 0]
  return %r : tensor<100x6xf32>
}

// -----

// Rows of bytes are tiled in powers of two, which is faster than masks.
// WIDE-LABEL: func.func @bytes_without_masks
// WIDE-NOT: vector.maskedstore
// WIDE: vector.store {{.*}} vector<32xi8>
// WIDE-NOT: vector.maskedstore
// WIDE: return
func.func @bytes_without_masks(%x: tensor<61x100xi8>) -> tensor<100x61xi8> {
  %e = tensor.empty() : tensor<100x61xi8>
  %r = linalg.transpose ins(%x : tensor<61x100xi8>) outs(%e : tensor<100x61xi8>) permutation = [1, 0]
  return %r : tensor<100x61xi8>
}

// -----

// Two loads of 32 columns read 50, 14 of them twice, as four loads of 16
// would.
// WIDE-LABEL: func.func @fifty_columns
// WIDE-COUNT-64: vector.load {{.*}} vector<32xi8>
// WIDE-COUNT-32: vector.store {{.*}} vector<64xi8>
// WIDE-COUNT-64: vector.load {{.*}} vector<32xi8>
// WIDE-COUNT-18: vector.store {{.*}} vector<64xi8>
// WIDE-NOT: vector.store
func.func @fifty_columns(%x: tensor<128x50xi8>) -> tensor<50x128xi8> {
  %e = tensor.empty() : tensor<50x128xi8>
  %r = linalg.transpose ins(%x : tensor<128x50xi8>) outs(%e : tensor<50x128xi8>) permutation = [1, 0]
  return %r : tensor<50x128xi8>
}
