// Check that a TOSA network is lowered to linalg before layouts are assigned, and keeps its results.
//
// DEFINE: %{target} = '{#layout.cpu<lanes = 16>}'
// RUN: layout-opt %s --layout-assign=target=%{target} | FileCheck %s
// RUN: layout-opt %s --layout-prepare-lower-tosa --layout-linalg-to-llvm -o %t.0.mlir
// RUN: layout-opt %s --layout-to-cpu=target=%{target} -o %t.1.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.random.default_rng(0).random((2, 33, 14, 13), 'f4'))"
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.x.npy --max-rel=1e-5

// CHECK-NOT: tosa.
// CHECK: linalg.conv_2d_nhwc_
// CHECK-NOT: tosa.
func.func @main(%x: tensor<2x33x14x13xf32>) -> (tensor<2x47x12x11xf32>, tensor<2x47xf32>) {
  %t = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<2x33x14x13xf32>) -> tensor<2x14x13x33xf32>
  %w = "tosa.const"() <{values = dense<0.01> : tensor<47x3x3x33xf32>}> : () -> tensor<47x3x3x33xf32>
  %b = "tosa.const"() <{values = dense<0.5> : tensor<47xf32>}> : () -> tensor<47xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = tosa.conv2d %t, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x14x13x33xf32>, tensor<47x3x3x33xf32>, tensor<47xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x12x11x47xf32>
  %r = tosa.clamp %c {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x12x11x47xf32>) -> tensor<2x12x11x47xf32>
  %s = tosa.sigmoid %r : (tensor<2x12x11x47xf32>) -> tensor<2x12x11x47xf32>
  %q = tosa.add %s, %r : (tensor<2x12x11x47xf32>, tensor<2x12x11x47xf32>) -> tensor<2x12x11x47xf32>
  %u = tosa.transpose %q {perms = array<i32: 0, 3, 1, 2>} : (tensor<2x12x11x47xf32>) -> tensor<2x47x12x11xf32>
  %m = tosa.reduce_max %u {axis = 3 : i32} : (tensor<2x47x12x11xf32>) -> tensor<2x47x12x1xf32>
  %n = tosa.reduce_sum %m {axis = 2 : i32} : (tensor<2x47x12x1xf32>) -> tensor<2x47x1x1xf32>
  %shape = tosa.const_shape {values = dense<[2, 47]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %v = tosa.reshape %n, %shape : (tensor<2x47x1x1xf32>, !tosa.shape<2>) -> tensor<2x47xf32>
  return %u, %v : tensor<2x47x12x11xf32>, tensor<2x47xf32>
}
