// RUN: layout-opt %s --layout-prepare-decompose-transposed-conv --split-input-file | FileCheck %s

// If the kernel is as large as the stride, each result has one tap.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: tensor<1x4x5xf32>, %[[W:.*]]: tensor<3x4x2xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK-NOT: linalg.fill
// CHECK: %[[Y:.*]] = tensor.empty() : tensor<1x3x10xf32>
// CHECK: %[[W1:.*]] = tensor.extract_slice %[[W]][0, 0, 1] [3, 4, 1] [1, 1, 2]
// CHECK: %[[Y0:.*]] = linalg.conv_1d_ncw_fcw {{.*}}ins(%[[X]], %[[W1]] : tensor<1x4x5xf32>, tensor<3x4x1xf32>)
// CHECK: %[[P0:.*]] = tensor.insert_slice %[[Y0]] into %[[Y]][0, 0, 0] [1, 3, 5] [1, 1, 2]
// CHECK: %[[I1:.*]] = linalg.broadcast ins(%[[B]] : tensor<3xf32>) outs(%{{.*}} : tensor<1x3x5xf32>)
// CHECK: %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0, 0] [3, 4, 1] [1, 1, 2]
// CHECK: %[[Y1:.*]] = linalg.conv_1d_ncw_fcw {{.*}}ins(%[[X]], %[[W0]] {{.*}} outs(%[[I1]] :
// CHECK: %[[P1:.*]] = tensor.insert_slice %[[Y1]] into %[[P0]][0, 0, 1] [1, 3, 5] [1, 1, 2]
// CHECK: return %[[P1]]
func.func @product(%x: tensor<1x4x5xf32>, %w: tensor<3x4x2xf32>, %b: tensor<3xf32>) -> tensor<1x3x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x11xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x11xf32>) -> tensor<1x4x11xf32>
  %v = tensor.insert_slice %x into %f[0, 0, 1] [1, 4, 5] [1, 1, 2] : tensor<1x4x5xf32> into tensor<1x4x11xf32>
  %o = tensor.empty() : tensor<1x3x10xf32>
  %i = linalg.broadcast ins(%b : tensor<3xf32>) outs(%o : tensor<1x3x10xf32>) dimensions = [0, 2]
  %r = linalg.conv_1d_ncw_fcw ins(%v, %w : tensor<1x4x11xf32>, tensor<3x4x2xf32>) outs(%i : tensor<1x3x10xf32>) -> tensor<1x3x10xf32>
  return %r : tensor<1x3x10xf32>
}

// -----

// Results without a tap are the initial value of the sum.
// CHECK-LABEL: func.func @holes(
// CHECK-SAME: %{{.*}}, %{{.*}}, %[[INIT:.*]]: tensor<1x3x4xf32>)
// CHECK: %[[START:.*]] = tensor.extract_slice %[[INIT]][0, 0, 0] [1, 3, 2] [1, 1, 2]
// CHECK: %[[Y:.*]] = linalg.conv_1d_ncw_fcw {{.*}} outs(%[[START]]
// CHECK: %[[R:.*]] = tensor.insert_slice %[[Y]] into %[[INIT]][0, 0, 0] [1, 3, 2] [1, 1, 2]
// CHECK-NOT: linalg.conv
// CHECK: return %[[R]]
func.func @holes(%x: tensor<1x4x2xf32>, %w: tensor<3x4x1xf32>, %i: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %v = tensor.insert_slice %x into %f[0, 0, 0] [1, 4, 2] [1, 1, 2] : tensor<1x4x2xf32> into tensor<1x4x4xf32>
  %r = linalg.conv_1d_ncw_fcw ins(%v, %w : tensor<1x4x4xf32>, tensor<3x4x1xf32>) outs(%i : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  return %r : tensor<1x3x4xf32>
}

// -----

// Not rewritten: the values between the pixels are not zero; too many
// convolutions would result.
// CHECK-LABEL: func.func @stay(
// CHECK: tensor.insert_slice
// CHECK: linalg.conv_1d_ncw_fcw {{.*}}tensor<1x4x9xf32>
// CHECK: tensor.insert_slice
// CHECK: linalg.conv_1d_ncw_fcw {{.*}}tensor<1x4x131xf32>
// CHECK-NOT: linalg.conv
func.func @stay(%x: tensor<1x4x5xf32>, %w: tensor<3x4x2xf32>, %i: tensor<1x3x8xf32>, %x2: tensor<1x4x2xf32>,
                %i2: tensor<1x3x130xf32>) -> (tensor<1x3x8xf32>, tensor<1x3x130xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1x4x9xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<1x4x9xf32>) -> tensor<1x4x9xf32>
  %v = tensor.insert_slice %x into %f[0, 0, 0] [1, 4, 5] [1, 1, 2] : tensor<1x4x5xf32> into tensor<1x4x9xf32>
  %r = linalg.conv_1d_ncw_fcw ins(%v, %w : tensor<1x4x9xf32>, tensor<3x4x2xf32>) outs(%i : tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  %zero = arith.constant dense<0.0> : tensor<1x4x131xf32>
  %v2 = tensor.insert_slice %x2 into %zero[0, 0, 0] [1, 4, 2] [1, 1, 65] : tensor<1x4x2xf32> into tensor<1x4x131xf32>
  %r2 = linalg.conv_1d_ncw_fcw ins(%v2, %w : tensor<1x4x131xf32>, tensor<3x4x2xf32>) outs(%i2 : tensor<1x3x130xf32>) -> tensor<1x3x130xf32>
  return %r, %r2 : tensor<1x3x8xf32>, tensor<1x3x130xf32>
}
