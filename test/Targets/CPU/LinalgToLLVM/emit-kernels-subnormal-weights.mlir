// Check that subnormal weights of a sum of products become 0 if they are small beside the largest weight, and that other
// constants keep them. The results of @main are exact sums without the subnormal weights.
//
// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels))" | FileCheck %s
// RUN: layout-opt %s -layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.array([1e30, 2, 3, 4], 'f4'))"
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np; y = np.load(r'%t.y.npy'); assert y.tolist() == [10.0, -6.0], y"
// RUN: layout-run %t.mlir --function=elementwise --input=%t.x.npy --output=%t.z.npy
// RUN: %python -c "import numpy as np; z = np.load(r'%t.z.npy'); assert z[0] == np.float32(1e-40) * np.float32(1e30) and z[0] > 0, z"

// CHECK-LABEL: func.func @main
// CHECK: dense_resource<flushed_weights> : tensor<2x4xf32>
// CHECK-NOT: flushed_weights
func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
  %w = arith.constant dense<[[1.0e-40, 2.0, 2.0, 0.0], [-1.0e-45, 1.0, 0.0, -2.0]]> : tensor<2x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.matvec ins(%w, %x : tensor<2x4xf32>, tensor<4xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// The largest weight is not much larger than the subnormal one.
// CHECK-LABEL: func.func @small
func.func @small(%x: tensor<4xf32>) -> tensor<2xf32> {
  %w = arith.constant dense<[[1.0e-40, 1.0e-32, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.matvec ins(%w, %x : tensor<2x4xf32>, tensor<4xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = arith.constant dense<[1.0e-40, 1.0, 1.0, 1.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.mul ins(%w, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// A constant that is added to sums keeps its numbers.
// CHECK-LABEL: func.func @added
func.func @added(%x: tensor<2x4xf32>) -> tensor<2xf32> {
  %w = arith.constant dense<[1.0e-40, 1.0, 1.0, 1.0]> : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<2x4xf32>, tensor<4xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.addf %a, %b : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @doubles
// CHECK: dense_resource<flushed_weights_1> : tensor<2x2xf64>
func.func @doubles(%x: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %w = arith.constant dense<[[1.0e-310, 1.0], [-1.0e-320, 1.0]]> : tensor<2x2xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x2xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<2x2xf64>) -> tensor<2x2xf64>
  %r = linalg.matmul ins(%x, %w : tensor<2x2xf64>, tensor<2x2xf64>) outs(%f : tensor<2x2xf64>) -> tensor<2x2xf64>
  return %r : tensor<2x2xf64>
}
