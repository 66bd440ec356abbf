// Check that constant weights that exceed L2 are packed into blocks of one
// vector, the last of which is padded: the products are those of the rows.
//
// RUN: layout-opt %s -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, line_bytes = 16, vector_bits = 128, l2_bytes = 32>}},func.func(layout-cpu-emit-kernels))" -o %t.kernels.mlir
// RUN: FileCheck %s < %t.kernels.mlir
// RUN: layout-opt %t.kernels.mlir -layout-linalg-to-llvm=emit-kernels=false -o %t.packed.mlir
// RUN: layout-opt %s -layout-linalg-to-llvm=emit-kernels=false -o %t.plain.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(60, dtype='f4').reshape(20, 3) % 17)"
// RUN: layout-run %t.plain.mlir %t.packed.mlir --input=%t.x.npy --max-rel=0

// Three kernels read one constant, one of them once.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = arith.constant dense_resource<packed_weights> : tensor<24xf32>
// CHECK: cpu.kernel ins(%{{.*}}, %[[W]] :
// CHECK: vector.transfer_read {{.*}} : memref<24xf32>, vector<4xf32>
// CHECK: memref.load {{.*}} : memref<24xf32>
// CHECK-COUNT-2: arith.constant dense_resource<packed_weights> : tensor<24xf32>

// One row of weights is contiguous, and rows of one block are packed already.
// CHECK-LABEL: func.func @not_packed
// CHECK-NOT: packed_weights
// CHECK: return

// Columns 1 to 4 of all three rows, then column 5 padded with zeros.
// CHECK: packed_weights: "0x40000000{{.*}}0000A040000000000000000000000000000020410000000000000000000000000000704100000000000000000000000
func.func @main(%x: tensor<20x3xf32>) -> (tensor<20x5xf32>, tensor<20x5xf32>, tensor<1x5xf32>) {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.0]]> : tensor<3x5xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<20x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x5xf32>) -> tensor<20x5xf32>
  %g = linalg.fill ins(%one : f32) outs(%e : tensor<20x5xf32>) -> tensor<20x5xf32>
  %r = linalg.matmul ins(%x, %w : tensor<20x3xf32>, tensor<3x5xf32>) outs(%f : tensor<20x5xf32>) -> tensor<20x5xf32>
  %s = linalg.matmul ins(%x, %w : tensor<20x3xf32>, tensor<3x5xf32>) outs(%g : tensor<20x5xf32>) -> tensor<20x5xf32>
  %z = tensor.extract_slice %x[19, 0] [1, 3] [1, 1] : tensor<20x3xf32> to tensor<1x3xf32>
  %c = tensor.empty() : tensor<1x5xf32>
  %h = linalg.fill ins(%zero : f32) outs(%c : tensor<1x5xf32>) -> tensor<1x5xf32>
  %t = linalg.matmul ins(%z, %w : tensor<1x3xf32>, tensor<3x5xf32>) outs(%h : tensor<1x5xf32>) -> tensor<1x5xf32>
  return %r, %s, %t : tensor<20x5xf32>, tensor<20x5xf32>, tensor<1x5xf32>
}

func.func @not_packed(%x: tensor<20x1xf32>, %y: tensor<20x3xf32>) -> (tensor<20x16xf32>, tensor<20x4xf32>) {
  %row = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]]> : tensor<1x16xf32>
  %block = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x16xf32>) -> tensor<20x16xf32>
  %r = linalg.matmul ins(%x, %row : tensor<20x1xf32>, tensor<1x16xf32>) outs(%f : tensor<20x16xf32>) -> tensor<20x16xf32>
  %d = tensor.empty() : tensor<20x4xf32>
  %g = linalg.fill ins(%zero : f32) outs(%d : tensor<20x4xf32>) -> tensor<20x4xf32>
  %s = linalg.matmul ins(%y, %block : tensor<20x3xf32>, tensor<3x4xf32>) outs(%g : tensor<20x4xf32>) -> tensor<20x4xf32>
  return %r, %s : tensor<20x16xf32>, tensor<20x4xf32>
}
