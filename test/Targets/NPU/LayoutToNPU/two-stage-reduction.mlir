// RUN: layout-opt %s --npu-tile-and-fuse='target={#layout.npu<chip=#npu.target<npus = 4, bytes_per_npu = 65536, eu_bytes = 32>>}' --split-input-file | FileCheck %s
// Check that a sum over the columns of a matrix becomes a sum within each core
// and a sum over cores.

// CHECK-LABEL: func.func @rows
// CHECK: %[[X:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2{{\]\]}} output_shape [5, 4, 8]
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<5x4x8xf32>) outs(%{{.*}} : tensor<5x4xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<5x4xf32>) outs(%arg1 : tensor<5xf32>)
func.func @rows(%x: tensor<5x32xf32>, %s: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<5x32xf32>) outs(%s : tensor<5xf32>) dimensions = [1]
  return %r : tensor<5xf32>
}

// -----

// Columns that the number of cores does not divide, few columns, maxima, and
// sums over other dims stay unchanged.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tensor.expand_shape
func.func @others(%x: tensor<5x34xf32>, %y: tensor<5x28xf32>, %z: tensor<32x5xf32>, %m: tensor<5x32xf32>, %s: tensor<5xf32>)
    -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %a = linalg.reduce {arith.addf} ins(%x : tensor<5x34xf32>) outs(%s : tensor<5xf32>) dimensions = [1]
  %b = linalg.reduce {arith.addf} ins(%y : tensor<5x28xf32>) outs(%s : tensor<5xf32>) dimensions = [1]
  %c = linalg.reduce {arith.addf} ins(%z : tensor<32x5xf32>) outs(%s : tensor<5xf32>) dimensions = [0]
  %d = linalg.reduce {arith.maximumf} ins(%m : tensor<5x32xf32>) outs(%s : tensor<5xf32>) dimensions = [1]
  return %a, %b, %c, %d : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}
