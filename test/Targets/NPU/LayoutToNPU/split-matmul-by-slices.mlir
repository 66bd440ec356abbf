// RUN: layout-opt %s --npu-legalize-linalg --canonicalize --split-input-file | FileCheck %s
// Check that a product of which slices are used becomes one product per slice.

// CHECK-LABEL: func.func @parts
// CHECK-DAG: tensor.extract_slice %{{.*}}[0, 8] [6, 4] [1, 1] : tensor<6x12xf32> to tensor<6x4xf32>
// CHECK-COUNT-2: linalg.matmul {{.*}} -> tensor<5x4xf32>
// CHECK-NOT: linalg.matmul
// CHECK-NOT: tensor<5x12xf32>
func.func @parts(%x: tensor<5x6xf32>) -> (tensor<2x5x2xf32>, tensor<2x5x2xf32>) {
  %w = arith.constant dense_resource<w> : tensor<6x12xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x12xf32>) -> tensor<5x12xf32>
  %p = linalg.matmul ins(%x, %w : tensor<5x6xf32>, tensor<6x12xf32>) outs(%f : tensor<5x12xf32>) -> tensor<5x12xf32>
  %s = tensor.expand_shape %p [[0], [1, 2, 3]] output_shape [5, 3, 2, 2] : tensor<5x12xf32> into tensor<5x3x2x2xf32>
  %i = tensor.empty() : tensor<3x2x5x2xf32>
  %t = linalg.transpose ins(%s : tensor<5x3x2x2xf32>) outs(%i : tensor<3x2x5x2xf32>) permutation = [1, 2, 0, 3]
  %a = tensor.extract_slice %t[0, 0, 0, 0] [1, 2, 5, 2] [1, 1, 1, 1] : tensor<3x2x5x2xf32> to tensor<2x5x2xf32>
  %b = tensor.extract_slice %t[2, 0, 0, 0] [1, 2, 5, 2] [1, 1, 1, 1] : tensor<3x2x5x2xf32> to tensor<2x5x2xf32>
  return %a, %b : tensor<2x5x2xf32>, tensor<2x5x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"
    }
  }
#-}

// -----

// Overlapping slices, products that are needed as a whole, and slices along a
// dim of a non-constant operand stay unchanged.
// CHECK-LABEL: func.func @whole
// CHECK-COUNT-3: linalg.matmul
// CHECK-NOT: linalg.matmul
func.func @whole(%x: tensor<5x6xf32>, %y: tensor<6x8xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x8xf32>, tensor<5x2xf32>, tensor<5x3xf32>) {
  %w = arith.constant dense<2.0> : tensor<6x8xf32>
  %v = arith.constant dense<3.0> : tensor<6x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x8xf32>) -> tensor<5x8xf32>
  %p = linalg.matmul ins(%x, %w : tensor<5x6xf32>, tensor<6x8xf32>) outs(%f : tensor<5x8xf32>) -> tensor<5x8xf32>
  %a = tensor.extract_slice %p[0, 0] [5, 5] [1, 1] : tensor<5x8xf32> to tensor<5x5xf32>
  %b = tensor.extract_slice %p[0, 3] [5, 5] [1, 1] : tensor<5x8xf32> to tensor<5x5xf32>
  %q = linalg.matmul ins(%x, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%f : tensor<5x8xf32>) -> tensor<5x8xf32>
  %c = tensor.extract_slice %q[0, 3] [5, 2] [1, 1] : tensor<5x8xf32> to tensor<5x2xf32>
  %r = linalg.matmul ins(%x, %y : tensor<5x6xf32>, tensor<6x8xf32>) outs(%f : tensor<5x8xf32>) -> tensor<5x8xf32>
  %d = tensor.extract_slice %r[0, 3] [5, 3] [1, 1] : tensor<5x8xf32> to tensor<5x3xf32>
  return %a, %b, %q, %c, %d : tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x8xf32>, tensor<5x2xf32>, tensor<5x3xf32>
}
