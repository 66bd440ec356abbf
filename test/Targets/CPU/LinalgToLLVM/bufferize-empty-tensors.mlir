// Check that an empty tensor that several ops write becomes one buffer per op, allocated before the op; in a loop it is
// one buffer for all iterations.

// RUN: layout-opt %s --layout-cpu-bufferize | FileCheck %s

// CHECK-LABEL: func.func @chain(
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: linalg.exp {{.*}} outs(%[[A]]
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: linalg.abs ins(%[[A]] {{.*}} outs(%[[B]]
// CHECK: %[[C:.*]] = memref.alloc
// CHECK: linalg.exp ins(%[[B]] {{.*}} outs(%[[C]]
// CHECK: return %[[C]]
func.func @chain(%a: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %0 = linalg.exp ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %1 = linalg.abs ins(%0 : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.exp ins(%1 : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %2 : tensor<64xf32>
}

// CHECK-LABEL: func.func @loop(
// CHECK: memref.alloc
// CHECK: scf.for
// CHECK-NOT: memref.alloc()
// CHECK: return
func.func @loop(%a: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = bufferization.to_tensor %a restrict writable : memref<64xf32> to tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = linalg.exp ins(%t : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %v = tensor.extract %0[%i] : tensor<64xf32>
    memref.store %v, %a[%c0] : memref<64xf32>
  }
  return
}

// A value that is inserted into another tensor is computed there: an empty tensor becomes a part of it, and so does a
// slice.
// CHECK-LABEL: func.func @parts(
// CHECK: memref.alloc() {{.*}} : memref<2x64xf32>
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @parts(%a: tensor<64xf32>) -> tensor<2x64xf32> {
  %e = tensor.empty() : tensor<2x64xf32>
  %first = tensor.extract_slice %e[0, 0] [1, 64] [1, 1] : tensor<2x64xf32> to tensor<64xf32>
  %0 = linalg.exp ins(%a : tensor<64xf32>) outs(%first : tensor<64xf32>) -> tensor<64xf32>
  %1 = tensor.insert_slice %0 into %e[0, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<2x64xf32>
  %s = tensor.empty() : tensor<64xf32>
  %2 = linalg.abs ins(%a : tensor<64xf32>) outs(%s : tensor<64xf32>) -> tensor<64xf32>
  %3 = tensor.insert_slice %2 into %1[1, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<2x64xf32>
  return %3 : tensor<2x64xf32>
}

// Two loop-carried tensors do not share the memory of one empty tensor, although common subexpression elimination
// merges their inits.

// CHECK-LABEL: func.func @carried
// CHECK: %[[A:.*]] = memref.alloc() {{.*}} : memref<9xi64>
// CHECK: %[[B:.*]] = memref.alloc() {{.*}} : memref<9xi64>
// CHECK: scf.for
func.func @carried(%x: tensor<9xi64>) -> (tensor<9xi64>, tensor<9xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<9xi64>
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %e, %b = %e) -> (tensor<9xi64>, tensor<9xi64>) {
    %v = tensor.extract %x[%i] : tensor<9xi64>
    %w = arith.addi %v, %v : i64
    %p = tensor.insert %v into %a[%i] : tensor<9xi64>
    %q = tensor.insert %w into %b[%i] : tensor<9xi64>
    scf.yield %p, %q : tensor<9xi64>, tensor<9xi64>
  }
  return %r#0, %r#1 : tensor<9xi64>, tensor<9xi64>
}
