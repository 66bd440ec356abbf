// Check that a read at indices that increase with the lanes is a contiguous
// vector, or else one element per lane.
//
// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels),canonicalize,cse)" | FileCheck %s
// RUN: layout-opt %s -layout-linalg-to-llvm=emit-kernels=false -o %t.plain.mlir
// RUN: layout-opt %s -layout-linalg-to-llvm -o %t.kernels.mlir
// RUN: %python -c "import numpy as np; r = np.random.default_rng(3); np.save(r'%t.x.npy', r.random((7, 19), 'f4')); np.save(r'%t.z.npy', r.random((3, 30), 'f4')); np.save(r'%t.i.npy', r.integers(0, 30, 19))"
// RUN: layout-run %t.plain.mlir %t.kernels.mlir --function=shifted --input=%t.x.npy --input=%t.z.npy --max-rel=0
// RUN: layout-run %t.plain.mlir %t.kernels.mlir --function=mirrored --input=%t.x.npy --input=%t.z.npy --max-rel=0
// RUN: layout-run %t.plain.mlir %t.kernels.mlir --function=by_table --input=%t.z.npy --input=%t.i.npy --max-rel=0
// RUN: layout-run %t.plain.mlir %t.kernels.mlir --function=of_sums --input=%t.x.npy --input=%t.z.npy --max-rel=1e-6

#map = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @shifted
// CHECK: vector.transfer_read %{{.*}} : memref<3x30xf32>, vector<8xf32>
// CHECK: arith.subf %{{.*}} : vector<8xf32>
func.func @shifted(%x: tensor<?x19xf32>, %z: tensor<3x30xf32>) -> tensor<?x19xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %d = tensor.dim %x, %c0 : tensor<?x19xf32>
  %e = tensor.empty(%d) : tensor<?x19xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x19xf32>) outs(%e : tensor<?x19xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    %j = arith.index_cast %n : i64 to index
    %at = arith.addi %j, %c3 : index
    %b = tensor.extract %z[%c2, %at] : tensor<3x30xf32>
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x19xf32>
  return %r : tensor<?x19xf32>
}

// CHECK-LABEL: func.func @mirrored
// CHECK-COUNT-8: memref.load %{{.*}} : memref<3x30xf32>
// CHECK: %[[ROW:.*]] = vector.from_elements {{.*}} : vector<8xf32>
// CHECK: arith.subf %{{.*}}, %[[ROW]] : vector<8xf32>
func.func @mirrored(%x: tensor<?x19xf32>, %z: tensor<3x30xf32>) -> tensor<?x19xf32> {
  %c0 = arith.constant 0 : index
  %c18 = arith.constant 18 : index
  %d = tensor.dim %x, %c0 : tensor<?x19xf32>
  %e = tensor.empty(%d) : tensor<?x19xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x19xf32>) outs(%e : tensor<?x19xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %at = arith.subi %c18, %i : index
    %b = tensor.extract %z[%c0, %at] : tensor<3x30xf32>
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x19xf32>
  return %r : tensor<?x19xf32>
}

// The indices of the lanes are loaded one by one, as addresses.
// CHECK-LABEL: func.func @by_table
// CHECK: memref.load %{{.*}} : memref<19xi64>
// CHECK: memref.load %{{.*}} : memref<3x30xf32>
// CHECK: vector.from_elements {{.*}} : vector<8xf32>
func.func @by_table(%z: tensor<3x30xf32>, %t: tensor<19xi64>) -> tensor<3x19xf32> {
  %e = tensor.empty() : tensor<3x19xf32>
  %r = linalg.generic {indexing_maps = [#column, #map], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<19xi64>) outs(%e : tensor<3x19xf32>) {
  ^bb0(%n: i64, %o: f32):
    %i = linalg.index 0 : index
    %at = arith.index_cast %n : i64 to index
    %b = tensor.extract %z[%i, %at] : tensor<3x30xf32>
    %s = arith.addf %b, %b : f32
    linalg.yield %s : f32
  } -> tensor<3x19xf32>
  return %r : tensor<3x19xf32>
}

// Indices computed from a sum, which is in a register, do not depend on lanes.
// CHECK-LABEL: func.func @of_sums
// CHECK-NOT: vector.from_elements
// CHECK: return
func.func @of_sums(%x: tensor<?x19xf32>, %z: tensor<3x30xf32>) -> tensor<19xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<19xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x19xf32>) outs(%f : tensor<19xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<19xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%s : tensor<19xf32>) outs(%e : tensor<19xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.fptosi %a : f32 to i64
    %at = arith.index_cast %n : i64 to index
    %b = tensor.extract %z[%c0, %at] : tensor<3x30xf32>
    linalg.yield %b : f32
  } -> tensor<19xf32>
  return %r : tensor<19xf32>
}
