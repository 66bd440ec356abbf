// RUN: layout-opt %s --npu-legalize-linalg --canonicalize --cse --split-input-file | FileCheck %s
// Check that only the slice of a tensor that all users read is computed.

// Two ops read a row of a product through a reshape.
// CHECK-LABEL: func.func @row
// CHECK: tensor.extract_slice %{{.*}}[4, 0] [1, 5] [1, 1] : tensor<6x5xf32> to tensor<1x5xf32>
// CHECK: linalg.matmul {{.*}} -> tensor<1x8xf32>
// CHECK-NOT: tensor<6x8xf32>
// CHECK: return
func.func @row(%x: tensor<6x5xf32>, %w: tensor<5x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %p = linalg.matmul ins(%x, %w : tensor<6x5xf32>, tensor<5x8xf32>) outs(%f : tensor<6x8xf32>) -> tensor<6x8xf32>
  %n = linalg.negf ins(%p : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %m = linalg.max ins(%p, %n : tensor<6x8xf32>, tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %r = tensor.expand_shape %m [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into tensor<2x3x8xf32>
  %c = tensor.collapse_shape %r [[0, 1], [2]] : tensor<2x3x8xf32> into tensor<6x8xf32>
  %s = tensor.extract_slice %c[4, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// Windows of rows have halos.
// CHECK-LABEL: func.func @windows
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 2, 0] [1, 3, 4, 9] [1, 1, 1, 1]
// CHECK: linalg.conv_2d_nchw_fchw {{.*}} -> tensor<1x2x2x7xf32>
func.func @windows(%x: tensor<1x3x9x9xf32>, %w: tensor<2x3x3x3xf32>) -> tensor<1x2x2x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x7x7xf32>) -> tensor<1x2x7x7xf32>
  %p = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x9x9xf32>, tensor<2x3x3x3xf32>) outs(%f : tensor<1x2x7x7xf32>) -> tensor<1x2x7x7xf32>
  %s = tensor.extract_slice %p[0, 0, 2, 0] [1, 2, 2, 7] [1, 1, 1, 1] : tensor<1x2x7x7xf32> to tensor<1x2x2x7xf32>
  return %s : tensor<1x2x2x7xf32>
}

// -----

// Unchanged: a tensor that is needed as a whole, differing slices, and a row
// whose elements are not rows of the reshaped tensor.
// CHECK-LABEL: func.func @whole
// CHECK-COUNT-3: linalg.negf {{.*}} -> tensor<6x8xf32>
func.func @whole(%x: tensor<6x8xf32>, %y: tensor<6x8xf32>, %z: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>, tensor<24xf32>) {
  %e = tensor.empty() : tensor<6x8xf32>
  %a = linalg.negf ins(%x : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %b = linalg.negf ins(%y : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %c = linalg.negf ins(%z : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %0 = tensor.extract_slice %a[0, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<1x8xf32>
  %1 = tensor.extract_slice %b[0, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<1x8xf32>
  %2 = tensor.extract_slice %b[0, 0] [2, 8] [1, 1] : tensor<6x8xf32> to tensor<2x8xf32>
  %d = tensor.collapse_shape %c [[0, 1]] : tensor<6x8xf32> into tensor<48xf32>
  %3 = tensor.extract_slice %d[4] [24] [1] : tensor<48xf32> to tensor<24xf32>
  return %a, %0, %1, %2, %3 : tensor<6x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>, tensor<24xf32>
}
