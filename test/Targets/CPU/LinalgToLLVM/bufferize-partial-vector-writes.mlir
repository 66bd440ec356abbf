// Check that a vector written at the start of a larger tensor does not count as a full overwrite: the previous contents
// are copied. A vector as large as the tensor does.
//
// RUN: layout-opt %s -layout-cpu-bufferize -canonicalize | FileCheck %s
// RUN: layout-opt %s -layout-linalg-to-llvm=emit-kernels=false -o %t.plain.mlir
// RUN: layout-opt %s -layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(6, dtype='f4')); np.save(r'%t.w.npy', np.arange(864, dtype='f4').reshape(1, 9, 6, 16) % 7); np.save(r'%t.b.npy', np.arange(144, dtype='f4').reshape(1, 9, 16) % 5)"
// RUN: layout-run %t.plain.mlir %t.mlir --function=sums --input=%t.x.npy --input=%t.w.npy --input=%t.b.npy --max-rel=0

// CHECK-LABEL: func.func @part
// CHECK: memref.copy %arg1, %[[R:.*]] :
// CHECK: vector.transfer_write %arg0, %[[R]][%c0, %c0, %c0]
func.func @part(%v: vector<8xf32>, %t: tensor<1x9x16xf32> {bufferization.writable = false}) -> tensor<1x9x16xf32> {
  %c0 = arith.constant 0 : index
  %r = vector.transfer_write %v, %t[%c0, %c0, %c0] {in_bounds = [true]} : vector<8xf32>, tensor<1x9x16xf32>
  return %r : tensor<1x9x16xf32>
}

// CHECK-LABEL: func.func @whole
// CHECK-NOT: memref.copy
// CHECK: return
func.func @whole(%v: vector<8xf32>, %t: tensor<1x1x8xf32> {bufferization.writable = false}) -> tensor<1x1x8xf32> {
  %c0 = arith.constant 0 : index
  %r = vector.transfer_write %v, %t[%c0, %c0, %c0] {in_bounds = [true]} : vector<8xf32>, tensor<1x1x8xf32>
  return %r : tensor<1x1x8xf32>
}

// Nine rows are two tiles, neither of them in a loop; their init is a tensor that the function must not overwrite.
func.func @sums(%x: tensor<6xf32>, %w: tensor<1x9x6x16xf32>, %b: tensor<1x9x16xf32>) -> tensor<1x9x16xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(n, o, i, l) -> (i)>, affine_map<(n, o, i, l) -> (n, o, i, l)>, affine_map<(n, o, i, l) -> (n, o, l)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<6xf32>, tensor<1x9x6x16xf32>) outs(%b : tensor<1x9x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x9x16xf32>
  return %r : tensor<1x9x16xf32>
}
