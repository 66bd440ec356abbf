// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-cpu-parallelize-loops))" | FileCheck %s
// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, cores = 32>}},func.func(layout-cpu-parallelize-loops))" | FileCheck %s --check-prefix=MANY

// Perfectly nested marked loops become one iteration space until there are
// enough iterations: the third loop stays sequential.
// CHECK-LABEL: func.func @nest
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) = (%c0, %c0) to (%c16, %c64) step (%c1, %c4)
// CHECK-NEXT: scf.for %[[K:.*]] = %c0 to %c16 step %c1 {
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]], %[[K]]]
// CHECK-NOT: layout.parallel
// With 32 cores, only three loops give each core 32 iterations.
// MANY-LABEL: func.func @nest
// MANY: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) = (%c0, %c0, %c0) to (%c16, %c64, %c16)
func.func @nest(%m: memref<16x64x16xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c64 step %c4 {
      scf.for %k = %c0 to %c16 step %c1 {
        memref.store %v, %m[%i, %j, %k] : memref<16x64x16xf32>
      } {layout.parallel}
    } {layout.parallel}
  } {layout.parallel}
  return
}

// -----

// A dynamic number of iterations may be 1.
// CHECK-LABEL: func.func @unknown
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%arg1, %c512)
func.func @unknown(%m: memref<?x512xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c512 step %c1 {
      memref.store %v, %m[%i, %j] : memref<?x512xf32>
    } {layout.parallel}
  } {layout.parallel}
  return
}

// -----

// A dynamic number of short iterations stays in one loop, which needs no
// division per iteration, if the outer loops suffice.
// CHECK-LABEL: func.func @short
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%c4, %arg1)
// CHECK-NEXT: scf.for
// CHECK: scf.parallel (%{{.*}}) = (%c0) to (%c64)
// CHECK-NEXT: scf.for
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%c4, %arg1)
// CHECK-NEXT: memref.store
// MANY-LABEL: func.func @short
// MANY: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%c4, %arg1)
// MANY: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%c64, %arg1)
func.func @short(%m: memref<64x?x?xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %n step %c1 {
        memref.store %v, %m[%i, %j, %k] : memref<64x?x?xf32>
      } {layout.parallel}
    } {layout.parallel}
  } {layout.parallel}
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %v, %m[%i, %j, %c0] : memref<64x?x?xf32>
    } {layout.parallel}
  } {layout.parallel}
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %v, %m[%i, %j, %c0] : memref<64x?x?xf32>
    } {layout.parallel}
  } {layout.parallel}
  return
}

// -----

// A bound computed in an outer loop, and code next to a loop, end the nest.
// CHECK-LABEL: func.func @non_divisible
// CHECK: scf.parallel (%[[I:.*]]) = (%c0) to (%c16) step (%c1)
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %[[I]] step %c1 {
// CHECK: scf.parallel (%[[J:.*]]) = (%c0) to (%c16) step (%c1)
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[J]], %c0]
// CHECK-NEXT: scf.for
func.func @non_divisible(%m: memref<16x16xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      memref.store %v, %m[%i, %j] : memref<16x16xf32>
    } {layout.parallel}
  } {layout.parallel}
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %v, %m[%i, %c0] : memref<16x16xf32>
    scf.for %j = %c1 to %c16 step %c1 {
      memref.store %v, %m[%i, %j] : memref<16x16xf32>
    } {layout.parallel}
  } {layout.parallel}
  return
}

// -----

// A loop without a mark stays, and so does one with iter_args; their inner
// loops are parallelized.
// CHECK-LABEL: func.func @sequential
// CHECK: scf.for
// CHECK-NEXT: scf.parallel
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: scf.parallel
// CHECK-NOT: layout.parallel
func.func @sequential(%m: memref<16x16xf32>, %v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      memref.store %v, %m[%i, %j] : memref<16x16xf32>
    } {layout.parallel}
  }
  %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%s = %v) -> f32 {
    %t = arith.addf %s, %v : f32
    scf.yield %t : f32
  } {layout.parallel}
  return %r : f32
}

// -----

// A reduction loop of the program stays sequential: the order of the threads
// would affect the rounding of floats.
// CHECK-LABEL: func.func @reduce
// CHECK: %[[OUTER:.*]] = scf.for %[[I:.*]] = %c0 to %c16 step %c1 iter_args(%[[A:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[INNER:.*]] = scf.for %[[J:.*]] = %c0 to %c16 step %c1 iter_args(%[[B:.*]] = %[[A]]) -> (f32)
// CHECK: %[[V:.*]] = memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: %[[S:.*]] = arith.addf %[[B]], %[[V]]
// CHECK: scf.yield %[[S]]
// CHECK: scf.yield %[[INNER]]
// CHECK: return %[[OUTER]]
func.func @reduce(%m: memref<16x16xf32>, %v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %r = scf.parallel (%i, %j) = (%c0, %c0) to (%c16, %c16) step (%c1, %c1) init (%v) -> f32 {
    %e = memref.load %m[%i, %j] : memref<16x16xf32>
    scf.reduce(%e : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}
