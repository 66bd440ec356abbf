// Check that a read at indices that do not depend on the lanes is one scalar
// for all lanes, as in broadcasts of dynamic sizes.
//
// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels),canonicalize,cse)" | FileCheck %s
// RUN: layout-opt %s -layout-linalg-to-llvm=emit-kernels=false -o %t.plain.mlir
// RUN: layout-opt %s -layout-linalg-to-llvm -o %t.kernels.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(7 * 19, dtype='f4').reshape(7, 19)); np.save(r'%t.y.npy', np.arange(7, dtype='f4').reshape(7, 1) % 3)"
// RUN: layout-run %t.plain.mlir %t.kernels.mlir --function=rows --input=%t.x.npy --input=%t.y.npy --max-rel=0

#map = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @rows
// CHECK: %[[ONE:.*]] = memref.load %{{.*}} : memref<?x1xf32>
// CHECK: %[[ALL:.*]] = vector.broadcast %[[ONE]] : f32 to vector<8xf32>
// CHECK: arith.subf %{{.*}}, %[[ALL]] : vector<8xf32>
func.func @rows(%x: tensor<?x19xf32>, %y: tensor<?x1xf32>) -> tensor<?x19xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c0 : tensor<?x19xf32>
  %e = tensor.empty(%d) : tensor<?x19xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x19xf32>) outs(%e : tensor<?x19xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %is = arith.cmpi eq, %d, %c1 : index
    %at = arith.select %is, %c0, %i : index
    %b = tensor.extract %y[%at, %c0] : tensor<?x1xf32>
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x19xf32>
  return %r : tensor<?x19xf32>
}
