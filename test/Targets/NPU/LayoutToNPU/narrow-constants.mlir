// RUN: layout-opt %s -split-input-file --npu-narrow-constants --mlir-print-local-scope --mlir-elide-elementsattrs-if-larger=8 | FileCheck %s
// Check that f32 constants with int8 values are stored as i8 if their readers need a layout that one command converts
// to.

module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>, launch_cost = 64, flops_per_byte = 8>} {
// CHECK-LABEL: func.func @product
// CHECK: %[[B:.*]] = arith.constant {{.*}} : tensor<8x8xi8>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x8xf32>)
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<8x8xi8>)
// CHECK: arith.sitofp
// CHECK: linalg.matmul ins(%{{.*}}, %[[W]]
func.func @product(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %b = arith.constant dense<[[1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, -128.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 127.0],
                             [1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, -128.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 127.0],
                             [1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, -128.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 127.0],
                             [1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, -128.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 127.0]]> : tensor<8x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x8xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x8xf32>) outs(%e : tensor<3x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.negf %a : f32
      linalg.yield %m : f32
  } -> tensor<3x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x8xf32>) -> tensor<3x8xf32>
  %r = linalg.matmul ins(%n, %b : tensor<3x8xf32>, tensor<8x8xf32>) outs(%f : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}
}

// -----

// Not narrowed: values that are not int8 (0.5, -0, 128), constants that save less than the command, and results of the
// function.
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>, launch_cost = 64, flops_per_byte = 8>} {
// CHECK-LABEL: func.func @others
// CHECK-NOT: i8
// CHECK: return
func.func @others(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x5xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %half = arith.constant dense<[[0.5, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<4x4xf32>
  %minus = arith.constant dense<[[-0.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<4x4xf32>
  %large = arith.constant dense<[[128.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<4x4xf32>
  %small = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<2x5xf32>
  %kept = arith.constant dense<[[9.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %e2 = tensor.empty() : tensor<2x5xf32>
  %x2 = tensor.empty() : tensor<2x5xf32>
  %0 = linalg.add ins(%x, %half : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.add ins(%x, %minus : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.add ins(%x, %large : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = linalg.add ins(%x2, %small : tensor<2x5xf32>, tensor<2x5xf32>) outs(%e2 : tensor<2x5xf32>) -> tensor<2x5xf32>
  %4 = linalg.add ins(%x, %kept : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3, %4, %kept : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x5xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
}
