// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-cpu-bufferize,func.func(layout-cpu-tile-transposes),canonicalize,cse)" | FileCheck %s
// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, l1_bytes = 256, llc_bytes = 8192>}},layout-cpu-bufferize,func.func(layout-cpu-tile-transposes))" | FileCheck %s --check-prefix=SMALL
// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, vector_bits = 512, vector_registers = 32, llc_bytes = 8192>}},layout-cpu-bufferize,func.func(layout-cpu-tile-transposes,canonicalize,cse))" | FileCheck %s --check-prefix=WIDE
// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, l1_bytes = 49152>}},layout-cpu-bufferize,func.func(layout-cpu-tile-transposes,canonicalize,cse))" | FileCheck %s --check-prefix=LARGE
// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, l2_bytes = 8388608>}},layout-cpu-bufferize,func.func(layout-cpu-tile-transposes,canonicalize,cse))" | FileCheck %s --check-prefix=SECOND

// Columns of the result are 2048 bytes apart and share two sets of L1: both
// Conflicting rows that are too few to be staged are all read for two tiles of columns.
// CHECK-LABEL: func.func @colliding
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c512 step %c32
// CHECK: scf.for {{.*}} to %c64 step %c16
// CHECK: scf.for %{{.*}} = %[[BLOCK]] to {{.*}} step %c16
// CHECK-COUNT-16: vector.load {{.*}} vector<8xf32>
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[LINE:.*]]] : memref<262144xf32>, vector<8xf32>
// CHECK: %[[REST:.*]] = arith.addi %[[LINE]], %c8
// CHECK-NEXT: vector.bitcast
// CHECK-NEXT: vector.store %{{.*}}, %{{.*}}[%[[REST]]] : memref<262144xf32>, vector<8xf32>
func.func @colliding(%x: tensor<64x8x512xf32>) -> tensor<512x8x64xf32> {
  %e = tensor.empty() : tensor<512x8x64xf32>
  %r = linalg.transpose ins(%x : tensor<64x8x512xf32>) outs(%e : tensor<512x8x64xf32>) permutation = [2, 1, 0]
  return %r : tensor<512x8x64xf32>
}

// -----

// Seven tiles of 8 columns cover 56, four of 16 would cover 64. Columns of the result evict each
// other from L1: four lines of each are written at once, and a whole row is read before the next
// rows.
// CHECK-LABEL: func.func @non_divisible
// CHECK: scf.for {{.*}} to %c512 step %c64
// CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} to {{.*}} step %c8
// CHECK: arith.minsi %[[COLUMN]], %c41
// CHECK-COUNT-16: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-16: vector.store {{.*}} vector<8xf32>
// CHECK: vector.load
func.func @non_divisible(%x: tensor<512x49xf32>) -> tensor<49x512xf32> {
  %e = tensor.empty() : tensor<49x512xf32>
  %r = linalg.transpose ins(%x : tensor<512x49xf32>) outs(%e : tensor<49x512xf32>) permutation = [1, 0]
  return %r : tensor<49x512xf32>
}

// -----

// Short rows of the source are read as a whole.
// CHECK-LABEL: func.func @short_rows
// CHECK: scf.for {{.*}} to %c784 step %c16
// CHECK: scf.for {{.*}} step %c16
func.func @short_rows(%x: tensor<784x61xf32>) -> tensor<61x784xf32> {
  %e = tensor.empty() : tensor<61x784xf32>
  %r = linalg.transpose ins(%x : tensor<784x61xf32>) outs(%e : tensor<61x784xf32>) permutation = [1, 0]
  return %r : tensor<61x784xf32>
}

// -----

// Two digits are columns, and one tile has all 144: no position is computed at run
// time.
// CHECK-LABEL: func.func @all_columns
// CHECK-NOT: arith.remui
// CHECK-NOT: scf.for {{.*}} step %c144
// CHECK: vector.store
func.func @all_columns(%x: tensor<2x16x16x9xf32>) -> tensor<2x9x16x16xf32> {
  %e = tensor.empty() : tensor<2x9x16x16xf32>
  %r = linalg.transpose ins(%x : tensor<2x16x16x9xf32>) outs(%e : tensor<2x9x16x16xf32>) permutation = [0, 3, 2, 1]
  return %r : tensor<2x9x16x16xf32>
}

// -----

// 64 rows of bytes are two vectors, and the registers do not hold the lanes of
// both: the parts of a line are stored separately, so stores are not nontemporal.
// CHECK-LABEL: func.func @bytes
// CHECK: vector.load {{.*}} vector<16xi8>
// CHECK: vector.store
// CHECK-NOT: nontemporal
func.func @bytes(%x: tensor<8256x4128xi8>) -> tensor<4128x8256xi8> {
  %e = tensor.empty() : tensor<4128x8256xi8>
  %r = linalg.transpose ins(%x : tensor<8256x4128xi8>) outs(%e : tensor<4128x8256xi8>) permutation = [1, 0]
  return %r : tensor<4128x8256xi8>
}

// -----

// All lines of a column of the source share one set: blocks of 128 x 128 bytes are staged.
// SMALL-LABEL: func.func @staged
// SMALL-NOT: memref<16384xi8>
// CHECK-LABEL: func.func @staged
// CHECK: scf.for {{.*}} to %c4096 step %c128
// CHECK: scf.for {{.*}} to %c1024 step %c128
// CHECK: %[[STAGE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16384xi8>
// CHECK: scf.for
// CHECK: vector.store {{.*}}, %[[STAGE]]{{.*}} vector<32xi8>
// CHECK: }
// CHECK: scf.for {{.*}} to %c128 step %c16
// CHECK: scf.for {{.*}} to %c128 step %c64
// CHECK: vector.load %[[STAGE]]{{.*}} vector<16xi8>
// CHECK-NOT: memref.alloc
func.func @staged(%x: tensor<1024x4096xi8>) -> tensor<4096x1024xi8> {
  %e = tensor.empty() : tensor<4096x1024xi8>
  %r = linalg.transpose ins(%x : tensor<1024x4096xi8>) outs(%e : tensor<4096x1024xi8>) permutation = [1, 0]
  return %r : tensor<4096x1024xi8>
}

// -----

// A block of 2-byte elements has 128 rows of 64, half of L1; stores of whole lines are nontemporal.
// WIDE-LABEL: func.func @staged_halves
// WIDE-NOT: nontemporal
// WIDE: vector.load {{.*}}memref<8192xf16>
// WIDE: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true} : memref<262144xf16>, vector<32xf16>
// CHECK-LABEL: func.func @staged_halves
// CHECK: scf.for {{.*}} to %c512 step %c64
// CHECK: scf.for {{.*}} to %c512 step %c128
// CHECK: %[[STAGE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8192xf16>
// CHECK: vector.store {{.*}}, %[[STAGE]]{{.*}} vector<16xf16>
// CHECK: scf.for {{.*}} to %c64 step %c8
// CHECK: vector.load %[[STAGE]]{{.*}} vector<8xf16>
func.func @staged_halves(%x: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %e = tensor.empty() : tensor<512x512xf16>
  %r = linalg.transpose ins(%x : tensor<512x512xf16>) outs(%e : tensor<512x512xf16>) permutation = [1, 0]
  return %r : tensor<512x512xf16>
}

// -----

// The lines of 16 columns of the result would evict prefetched lines: blocks are transposed into the stage.
// CHECK-LABEL: func.func @staged_floats
// CHECK: scf.for {{.*}} to %c512 step %c32
// CHECK: scf.for {{.*}} to %c512 step %c128
// CHECK: %[[STAGE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4608xf32>
// CHECK: scf.for {{.*}} to %c128 step %c16
// CHECK: scf.for {{.*}} to %c32 step %c16
// CHECK: vector.load %{{.*}} memref<262144xf32>, vector<8xf32>
// CHECK: vector.store {{.*}}, %[[STAGE]]{{.*}} vector<8xf32>
// CHECK: scf.for {{.*}} to %c32 step %c1
// CHECK: scf.for {{.*}} to %c128 step %c64
// CHECK: %[[LINE:.*]] = vector.load %[[STAGE]]{{.*}} vector<8xf32>
// CHECK: vector.store %[[LINE]], {{.*}} memref<262144xf32>, vector<8xf32>
// L1 of 48 KiB holds 64 columns; if L2 holds source and result, the stage has
// columns of one line.
// LARGE-LABEL: func.func @staged_floats
// LARGE: scf.for {{.*}} to %c512 step %c64
// LARGE: memref<9216xf32>
// SECOND-LABEL: func.func @staged_floats
// SECOND: scf.for {{.*}} to %c512 step %c16
// SECOND: memref<2304xf32>
func.func @staged_floats(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %e = tensor.empty() : tensor<512x512xf32>
  %r = linalg.transpose ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) permutation = [1, 0]
  return %r : tensor<512x512xf32>
}

// -----

// The next eight rows evict the lines of these: four lines of each row are read
// before.
// CHECK-LABEL: func.func @next_rows_collide
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c512 step %c64
// CHECK: scf.for {{.*}} to %c49 step %c8
// CHECK: scf.for %{{.*}} = %[[BLOCK]] to {{.*}} step %c16
func.func @next_rows_collide(%x: tensor<49x512xf32>) -> tensor<512x49xf32> {
  %e = tensor.empty() : tensor<512x49xf32>
  %r = linalg.transpose ins(%x : tensor<49x512xf32>) outs(%e : tensor<512x49xf32>) permutation = [1, 0]
  return %r : tensor<512x49xf32>
}

// -----

// If no cache holds both, long segments of rows are read, two lines of each
// column at a time.
// CHECK-LABEL: func.func @long_rows_collide
// CHECK: scf.for %{{.*}} = %c0 to %c288 step %c32
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c16
// SECOND-LABEL: func.func @long_rows_collide
// SECOND: scf.for %{{.*}} = %c0 to %c1024 step %c64
// SECOND: scf.for %{{.*}} = %c0 to %c304 step %c16
func.func @long_rows_collide(%x: tensor<304x1024xf32>) -> tensor<1024x304xf32> {
  %e = tensor.empty() : tensor<1024x304xf32>
  %r = linalg.transpose ins(%x : tensor<304x1024xf32>) outs(%e : tensor<1024x304xf32>) permutation = [1, 0]
  return %r : tensor<1024x304xf32>
}

// -----

// The LLC holds source and result twice, L2 does not: four lines of each row
// are read together.
// CHECK-LABEL: func.func @lines_together
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c960 step %c64
// CHECK: scf.for {{.*}} = %c0 to %c992 step %c16
// CHECK: scf.for {{.*}} = %[[BLOCK]] to {{.*}} step %c16
func.func @lines_together(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %e = tensor.empty() : tensor<1000x1000xf32>
  %r = linalg.transpose ins(%x : tensor<1000x1000xf32>) outs(%e : tensor<1000x1000xf32>) permutation = [1, 0]
  return %r : tensor<1000x1000xf32>
}

// -----

// A matrix larger than half of the LLC is read line by line, and so is one that
// L2 holds.
// CHECK-LABEL: func.func @more_than_half
// CHECK-NOT: step %c64
// CHECK: scf.for {{.*}} = %c0 to %c1488 step %c16
// CHECK: scf.for {{.*}} = %c0 to %c1488 step %c16
// CHECK-NOT: step %c64
// CHECK: return
func.func @more_than_half(%x: tensor<1500x1500xf32>) -> tensor<1500x1500xf32> {
  %e = tensor.empty() : tensor<1500x1500xf32>
  %r = linalg.transpose ins(%x : tensor<1500x1500xf32>) outs(%e : tensor<1500x1500xf32>) permutation = [1, 0]
  return %r : tensor<1500x1500xf32>
}

// -----

// CHECK-LABEL: func.func @within_second
// CHECK-NOT: step %c64
// CHECK: scf.for {{.*}} = %c0 to %c288 step %c16
// CHECK: scf.for {{.*}} = %c0 to %c288 step %c16
// CHECK-NOT: step %c64
// CHECK: return
func.func @within_second(%x: tensor<300x300xf32>) -> tensor<300x300xf32> {
  %e = tensor.empty() : tensor<300x300xf32>
  %r = linalg.transpose ins(%x : tensor<300x300xf32>) outs(%e : tensor<300x300xf32>) permutation = [1, 0]
  return %r : tensor<300x300xf32>
}
