// RUN: layout-opt %s -layout-cpu-outline-kernels=kernel-ops=true | FileCheck %s
// RUN: layout-opt %s -layout-cpu-outline-kernels=kernel-ops=true -layout-cpu-bufferize | FileCheck %s --check-prefix=BUFFERS

// Equal kernel bodies become one function before bufferization. Loops outside of kernels
// stay.
// CHECK-LABEL: func.func @shared
// CHECK: cpu.kernel
// CHECK-NEXT: ^bb0(%[[TO:.*]]: memref<4x8xf32>, %[[FROM:.*]]: memref<4x8xf32>)
// CHECK-NEXT: func.call @layout_kernel(%[[FROM]], %[[TO]]) {layout.borrows}
// CHECK-NEXT: }
// CHECK: cpu.kernel
// CHECK: func.call @layout_kernel(
// CHECK: cpu.kernel
// CHECK: func.call @layout_kernel(
// CHECK: scf.for
// CHECK-NOT: @layout_kernel_
// CHECK: func.func private @layout_kernel(%{{.*}}: memref<4x8xf32>, %{{.*}}: memref<4x8xf32>)

// With buffers there is one function per set of strides, which declares that it overwrites its result.
// BUFFERS-LABEL: func.func @shared
// BUFFERS: %[[WHOLE:.*]] = memref.alloc() {{.*}} : memref<4x8xf32>
// BUFFERS-NOT: memref.copy
// BUFFERS: call @layout_kernel(%arg0, %[[WHOLE]]) {layout.borrows} : (memref<4x8xf32>, memref<4x8xf32>) -> ()
// BUFFERS-NOT: memref.copy
// BUFFERS: %[[PART:.*]] = memref.subview
// BUFFERS-NOT: unrealized_conversion_cast
// BUFFERS: call @layout_kernel_0(%[[WHOLE]], %[[PART]]) {layout.borrows} : (memref<4x8xf32>, memref<4x8xf32, strided<[10, 1], offset: 11>>) -> ()
// BUFFERS: call @layout_kernel(%arg1, %{{.*}}) {layout.borrows}
// BUFFERS: func.func private @layout_kernel(%{{.*}}: memref<4x8xf32>, %{{.*}}: memref<4x8xf32>)
// BUFFERS-SAME: llvm.bareptr
// BUFFERS: func.func private @layout_kernel_0(%[[IN:.*]]: memref<4x8xf32>, %[[OUT:.*]]: memref<4x8xf32, strided<[10, 1], offset: 11>>)
// BUFFERS-SAME: llvm.bareptr
// BUFFERS: vector.transfer_read %[[IN]]
// BUFFERS: vector.transfer_write %{{.*}}, %[[OUT]]
func.func @shared(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %wide: tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<4x8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %first = cpu.kernel ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%to: memref<4x8xf32>, %from: memref<4x8xf32>):
    scf.for %i = %c0 to %c4 step %c1 {
      %v = vector.transfer_read %from[%i, %c0], %zero {in_bounds = [true]} : memref<4x8xf32>, vector<8xf32>
      vector.transfer_write %v, %to[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<4x8xf32>
    }
  } -> tensor<4x8xf32>
  %part = tensor.extract_slice %wide[1, 1] [4, 8] [1, 1] : tensor<6x10xf32> to tensor<4x8xf32>
  %second = cpu.kernel ins(%first : tensor<4x8xf32>) outs(%part : tensor<4x8xf32>) {
  ^bb0(%to: memref<4x8xf32>, %from: memref<4x8xf32>):
    scf.for %i = %c0 to %c4 step %c1 {
      %v = vector.transfer_read %from[%i, %c0], %zero {in_bounds = [true]} : memref<4x8xf32>, vector<8xf32>
      vector.transfer_write %v, %to[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<4x8xf32>
    }
  } -> tensor<4x8xf32>
  %all = tensor.insert_slice %second into %wide[1, 1] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<6x10xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %third = cpu.kernel ins(%b : tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%to: memref<4x8xf32>, %from: memref<4x8xf32>):
    scf.for %i = %c0 to %c4 step %c1 {
      %v = vector.transfer_read %from[%i, %c0], %zero {in_bounds = [true]} : memref<4x8xf32>, vector<8xf32>
      vector.transfer_write %v, %to[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<4x8xf32>
    }
  } -> tensor<4x8xf32>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> f32 {
    %x = tensor.extract %third[%i, %c0] : tensor<4x8xf32>
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  }
  return %all, %third, %sum : tensor<6x10xf32>, tensor<4x8xf32>, f32
}
