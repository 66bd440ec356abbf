// RUN: layout-opt %s -layout-cpu-prepare-entry-points | FileCheck %s

// A public function over tensors gets a C interface and its signature, and its
// inputs are marked as not written.
// CHECK-LABEL: func.func @tensors(
// CHECK-SAME: tensor<?x3xf32> {bufferization.writable = false}
// CHECK-SAME: layout.read_only_inputs
// CHECK-SAME: layout.signature = (tensor<?x3xf32>) -> tensor<?x3xf32>
// CHECK-SAME: llvm.emit_c_interface
func.func @tensors(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}

// A function that may write to an argument is not marked.
// CHECK-LABEL: func.func @writable(
// CHECK-NOT: layout.read_only_inputs
// CHECK-SAME: layout.signature
func.func @writable(%x: tensor<4xf32> {bufferization.writable = true}, %y: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// Memory that is passed as a memref may be written.
// CHECK-LABEL: func.func @memory(
// CHECK-NOT: layout.read_only_inputs
// CHECK-SAME: llvm.emit_c_interface
func.func @memory(%x: memref<4xf32>) {
  return
}

// A scalar cannot be passed as an array: no signature, but still callable.
// CHECK-LABEL: func.func @scalar(
// CHECK-SAME: llvm.emit_c_interface
// CHECK-NOT: layout.signature
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}

// Existing attributes stay.
// CHECK-LABEL: func.func @packed(
// CHECK-SAME: layout.signature = (tensor<4xf32>) -> tensor<4xf32>
func.func @packed(%x: tensor<2x2xf32>) -> tensor<2x2xf32>
    attributes {layout.signature = (tensor<4xf32>) -> tensor<4xf32>} {
  return %x : tensor<2x2xf32>
}

// CHECK-LABEL: func.func private @helper(
// CHECK-NOT: llvm.emit_c_interface
func.func private @helper(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
