// RUN: layout-opt %s --mlir-print-local-scope --normalize-memrefs --canonicalize --cse --expand-strided-metadata --fold-memref-alias-ops | FileCheck %s
// Check that upstream passes do not change memrefs of local memory.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>

// CHECK: func.func @f(%[[T:.*]]: memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2
// CHECK: memref.load %[[T]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<2x3x4x5xf32, #layout.npu_scatter<
// CHECK: linalg.add ins(%[[T]], %[[T]] : memref<2x3x4x5xf32, #layout.npu_scatter<
func.func @f(%t: !t, %i: index) -> f32 {
  %x = memref.load %t[%i, %i, %i, %i] : !t
  linalg.add ins(%t, %t : !t, !t) outs(%t : !t)
  return %x : f32
}
