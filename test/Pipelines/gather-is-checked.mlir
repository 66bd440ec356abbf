// RUN: layout-opt %s --layout-prepare --layout-cpu-check-indices | FileCheck %s
// RUN: layout-opt %s --layout-linalg-to-llvm | FileCheck %s --check-prefix=LLVM

// Check that the indices of a gather are checked: the preparation rewrites it
// to a linalg op that reads single elements.

// CHECK-LABEL: func.func @gather
// CHECK: cpu.assert_index {{.*}} dim 0
// CHECK-NOT: tensor.gather

// LLVM: index %lld is out of range for dim 0 of size %lld
func.func @gather(%x: tensor<5x4xf32>, %at: tensor<6x1xindex>) -> tensor<6x1x4xf32> {
  %r = tensor.gather %x[%at] gather_dims([0]) : (tensor<5x4xf32>, tensor<6x1xindex>) -> tensor<6x1x4xf32>
  return %r : tensor<6x1x4xf32>
}
