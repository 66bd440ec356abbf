// Check that i1 elements use a byte each on a device and indices eight: both
// are converted on the way to the device and back.

// RUN: layout-opt %s --convert-layout-to-gpu | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[BITS:.*]]: memref<2x3xi1>, %[[AT:.*]]: memref<?xindex>) -> (memref<2x3xi1>, memref<?xindex>)
// CHECK: %[[LINE:.*]] = memref.collapse_shape %[[BITS]] {{.*}} into memref<6xi1>
// CHECK: %[[BYTES:.*]] = memref.alloc() : memref<6xi8>
// CHECK: scf.for
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: gpu.memcpy %{{.*}}, %[[BYTES]] : memref<6xi8, "buffer">, memref<6xi8>
// CHECK: memref.dealloc %[[BYTES]] : memref<6xi8>
// CHECK: arith.index_cast %{{.*}} : index to i64
// CHECK: gpu.memcpy %{{.*}} : memref<6xi8>, memref<6xi8, "buffer">
// CHECK: arith.trunci %{{.*}} : i8 to i1
// CHECK: arith.index_cast %{{.*}} : i64 to index

// CHECK: gpu.func @arith_xori_0(%{{.*}}: memref<6xi8, "buffer">, %{{.*}}: memref<6xi8, "buffer">)
func.func @main(%bits: tensor<2x3xi1>, %at: tensor<?xindex>) -> (tensor<2x3xi1>, tensor<?xindex>) {
  %true = arith.constant dense<true> : tensor<2x3xi1>
  %not = arith.xori %bits, %true : tensor<2x3xi1>
  %twice = arith.addi %at, %at : tensor<?xindex>
  return %not, %twice : tensor<2x3xi1>, tensor<?xindex>
}
