// Check that a slice is computed in place if it is inserted where it was extracted, and that it is copied if it is
// inserted at another offset, with another stride, or into another tensor.

// RUN: layout-opt %s --layout-cpu-bufferize --cse --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @same(
// CHECK-NOT: memref.alloc
// CHECK: %[[PART:.*]] = memref.subview {{.*}}[8] [8] [1]
// CHECK: linalg.exp {{.*}} outs(%[[PART]]
// CHECK-NOT: memref.copy
// CHECK: return
func.func @same(%a: memref<32xf32>) -> tensor<32xf32> {
  %t = bufferization.to_tensor %a restrict writable : memref<32xf32> to tensor<32xf32>
  %s = tensor.extract_slice %t[8] [8] [1] : tensor<32xf32> to tensor<8xf32>
  %e = linalg.exp ins(%s : tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %r = tensor.insert_slice %e into %t[8] [8] [1] : tensor<8xf32> into tensor<32xf32>
  return %r : tensor<32xf32>
}

// CHECK-LABEL: func.func @other_offset(
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: linalg.exp {{.*}} outs(%[[COPY]]
// CHECK: %[[PART:.*]] = memref.subview {{.*}}[16] [8] [1]
// CHECK: memref.copy %[[COPY]], %[[PART]]
func.func @other_offset(%a: memref<32xf32>) -> tensor<32xf32> {
  %t = bufferization.to_tensor %a restrict writable : memref<32xf32> to tensor<32xf32>
  %s = tensor.extract_slice %t[8] [8] [1] : tensor<32xf32> to tensor<8xf32>
  %e = linalg.exp ins(%s : tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %r = tensor.insert_slice %e into %t[16] [8] [1] : tensor<8xf32> into tensor<32xf32>
  return %r : tensor<32xf32>
}

// CHECK-LABEL: func.func @other_stride(
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: linalg.exp {{.*}} outs(%[[COPY]]
// CHECK: memref.copy %[[COPY]]
func.func @other_stride(%a: memref<32xf32>) -> tensor<32xf32> {
  %t = bufferization.to_tensor %a restrict writable : memref<32xf32> to tensor<32xf32>
  %s = tensor.extract_slice %t[8] [8] [1] : tensor<32xf32> to tensor<8xf32>
  %e = linalg.exp ins(%s : tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %r = tensor.insert_slice %e into %t[8] [8] [2] : tensor<8xf32> into tensor<32xf32>
  return %r : tensor<32xf32>
}

// CHECK-LABEL: func.func @other_tensor(
// CHECK-SAME: %[[A:.*]]: memref<32xf32>, %[[B:.*]]: memref<32xf32>)
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: linalg.exp {{.*}} outs(%[[COPY]]
// CHECK: %[[PART:.*]] = memref.subview %[[B]][8] [8] [1]
// CHECK: memref.copy %[[COPY]], %[[PART]]
func.func @other_tensor(%a: memref<32xf32>, %b: memref<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %t = bufferization.to_tensor %a restrict writable : memref<32xf32> to tensor<32xf32>
  %u = bufferization.to_tensor %b restrict writable : memref<32xf32> to tensor<32xf32>
  %s = tensor.extract_slice %t[8] [8] [1] : tensor<32xf32> to tensor<8xf32>
  %e = linalg.exp ins(%s : tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %r = tensor.insert_slice %e into %u[8] [8] [1] : tensor<8xf32> into tensor<32xf32>
  return %t, %r : tensor<32xf32>, tensor<32xf32>
}
