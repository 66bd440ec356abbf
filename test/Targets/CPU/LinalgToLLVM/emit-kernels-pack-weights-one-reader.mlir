// Check that constant weights with one reader are packed into blocks of a whole tile, and of one vector otherwise.
//
// RUN: layout-opt %s -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, line_bytes = 16, vector_bits = 128, vector_registers = 6, l2_bytes = 32>}},func.func(layout-cpu-emit-kernels))" -o %t.kernels.mlir
// RUN: FileCheck %s < %t.kernels.mlir
// RUN: layout-opt %t.kernels.mlir -layout-linalg-to-llvm=emit-kernels=false -o %t.packed.mlir
// RUN: layout-opt %s -layout-linalg-to-llvm=emit-kernels=false -o %t.plain.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.array([[3, 5]], dtype='f4'))"
// RUN: layout-run %t.plain.mlir %t.packed.mlir --input=%t.x.npy --max-rel=0
// RUN: layout-run %t.plain.mlir %t.packed.mlir --function=twice --input=%t.x.npy --max-rel=0

// CHECK-LABEL: func.func @main
// CHECK: dense_resource<packed_weights{{.*}}> : tensor<48xf32>
// CHECK: return

// CHECK-LABEL: func.func @twice
// CHECK: dense_resource<packed_weights{{.*}}> : tensor<40xf32>
// CHECK: dense_resource<packed_weights{{.*}}> : tensor<40xf32>
// CHECK: return

// Columns 1 to 12 of both rows, then 13 to 17.
// CHECK: packed_weights{{.*}}: "0x400000000000803F{{.*}}00003041000040410000304100004041000050410000604100007041
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x17xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0],
                             [11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0]]> : tensor<2x17xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x17xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x17xf32>) -> tensor<1x17xf32>
  %r = linalg.matmul ins(%x, %w : tensor<1x2xf32>, tensor<2x17xf32>) outs(%f : tensor<1x17xf32>) -> tensor<1x17xf32>
  return %r : tensor<1x17xf32>
}

func.func @twice(%x: tensor<1x2xf32>) -> (tensor<1x17xf32>, tensor<1x17xf32>) {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0],
                             [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0]]> : tensor<2x17xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1x17xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x17xf32>) -> tensor<1x17xf32>
  %g = linalg.fill ins(%one : f32) outs(%e : tensor<1x17xf32>) -> tensor<1x17xf32>
  %r = linalg.matmul ins(%x, %w : tensor<1x2xf32>, tensor<2x17xf32>) outs(%f : tensor<1x17xf32>) -> tensor<1x17xf32>
  %s = linalg.matmul ins(%x, %w : tensor<1x2xf32>, tensor<2x17xf32>) outs(%g : tensor<1x17xf32>) -> tensor<1x17xf32>
  return %r, %s : tensor<1x17xf32>, tensor<1x17xf32>
}
