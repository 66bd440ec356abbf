// RUN: layout-opt %s -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, vector_bits = 128>}},func.func(layout-cpu-lower-vector-shapes))" | FileCheck %s
// RUN: layout-opt %s -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, vector_bits = 512>}},func.func(layout-cpu-lower-vector-shapes))" | FileCheck %s --check-prefixes=CHECK,MASKED
// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-lower-vector-shapes))" | FileCheck %s --check-prefix=LOADS

// With masks, vectors of 14 elements are loaded and stored as parts of 16.
// CHECK-LABEL: func.func @non_divisible
// MASKED: %[[MASK:.*]] = arith.constant dense<[true, {{(true, )*}}false, false]> : vector<16xi1>
// MASKED: vector.maskedload %{{.*}} : memref<4x14xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
// MASKED: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
// MASKED: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, -1, -1]
// MASKED: vector.maskedstore %{{.*}} : memref<4x14xf32>, vector<16xi1>, vector<16xf32>
// LOADS-LABEL: func.func @non_divisible
// LOADS: %[[LOADED:.*]] = vector.maskedload
// LOADS: %[[V:.*]] = vector.shuffle %[[LOADED]]
// LOADS: vector.store %[[V]], {{.*}} vector<14xf32>
func.func @non_divisible(%x: memref<4x14xf32>, %i: index) {
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i, %i], %p {in_bounds = [true]} : memref<4x14xf32>, vector<14xf32>
  vector.transfer_write %v, %x[%i, %i] {in_bounds = [true]} : vector<14xf32>, memref<4x14xf32>
  return
}

// Byte elements stay.
// CHECK-LABEL: func.func @non_divisible_bytes
// CHECK: vector.load {{.*}} vector<14xi8>
func.func @non_divisible_bytes(%x: memref<4x14xi8>, %i: index) -> vector<14xi8> {
  %p = arith.constant 0 : i8
  %v = vector.transfer_read %x[%i, %i], %p {in_bounds = [true]} : memref<4x14xi8>, vector<14xi8>
  return %v : vector<14xi8>
}

// An index is a 64-bit word.
// CHECK-LABEL: func.func @non_divisible_indices
// MASKED: vector.maskedload {{.*}} into vector<8xindex>
func.func @non_divisible_indices(%x: memref<4x7xindex>, %i: index) -> vector<7xindex> {
  %p = arith.constant 0 : index
  %v = vector.transfer_read %x[%i, %i], %p {in_bounds = [true]} : memref<4x7xindex>, vector<7xindex>
  return %v : vector<7xindex>
}

// CHECK-LABEL: func.func @contiguous
// CHECK: vector.load
// CHECK: vector.store
func.func @contiguous(%x: memref<4x8xf32>, %i: index) {
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i, %i], %p {in_bounds = [true]} : memref<4x8xf32>, vector<4xf32>
  vector.transfer_write %v, %x[%i, %i] {in_bounds = [true]} : vector<4xf32>, memref<4x8xf32>
  return
}

// Other strides are lowered per element.
// CHECK-LABEL: func.func @strided
// CHECK-NOT: vector.transfer_read
// CHECK: memref.load
func.func @strided(%x: memref<4x8xf32, strided<[16, 2]>>, %i: index) -> vector<4xf32> {
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i, %i], %p {in_bounds = [true]} : memref<4x8xf32, strided<[16, 2]>>, vector<4xf32>
  return %v : vector<4xf32>
}

// A 2-D vector needs no stack memory, which a loop would allocate in each iteration.
// CHECK-LABEL: func.func @matrix
// CHECK-NOT: memref.alloca
// CHECK-COUNT-2: vector.load {{.*}} vector<8xf32>
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @matrix(%x: memref<4x16xf32, strided<[32, 1]>>, %i: index) -> vector<2x8xf32> {
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i, %i], %p {in_bounds = [true, true]}
      : memref<4x16xf32, strided<[32, 1]>>, vector<2x8xf32>
  return %v : vector<2x8xf32>
}
