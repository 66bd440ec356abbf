// RUN: layout-opt %s -split-input-file --convert-layout-to-npu | FileCheck %s
// Check how a tensor moves between layouts in local memory: through a row-major tensor in system memory if that is
// cheaper than one transfer per element. The new tensor is allocated after the old one is stored.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#rows = #layout.npu_scatter<aligned, start = 0, axes = "CW", target = #npu>
#columns = #layout.npu_scatter<matrix 16, start = 0, target = #npu>
!rows = tensor<64x64xf32, #rows>
!columns = tensor<64x64xf32, #columns>

// CHECK-DAG: #[[NPU_ALIGNED:.*]] = #layout.npu_scatter<aligned
// CHECK-DAG: #[[NPU_MATRIX:.*]] = #layout.npu_scatter<matrix 16
// CHECK-LABEL: func.func @through_system
// CHECK-SAME: %[[BETWEEN:[a-z0-9]*]]: memref<64x64xf32, #npu.memory<system>> {npu.scratch}
// CHECK: %[[ROWS:.*]] = npu.alloc : memref<64x64xf32, #[[NPU_ALIGNED]],
// CHECK: npu.copy %[[ROWS]] to %[[BETWEEN]]
// CHECK-NEXT: npu.dealloc %[[ROWS]]
// CHECK-NEXT: %[[COLUMNS:.*]] = npu.alloc : memref<64x64xf32, #[[NPU_MATRIX]],
// CHECK-NEXT: npu.copy %[[BETWEEN]] to %[[COLUMNS]]
module attributes {layout.target = #layout.npu<chip = #npu, launch_cost = 1024>} {
func.func @through_system(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = layout.convert %x : tensor<64x64xf32> to !rows
  %b = layout.convert %a : !rows to !columns
  %r = layout.convert %b : !columns to tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#from = #layout.npu_scatter<aligned, start = 0, target = #npu>
#to = #layout.npu_scatter<compact, start = 1, target = #npu>
!from = tensor<1x4x8x8xf32, #from>
!to = tensor<1x4x8x8xf32, #to>

// CHECK-LABEL: func.func @direct
// CHECK-NOT: npu.scratch
// CHECK-COUNT-3: npu.copy
// CHECK-NOT: npu.copy
module attributes {layout.target = #layout.npu<chip = #npu, launch_cost = 1024>} {
func.func @direct(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %a = layout.convert %x : tensor<1x4x8x8xf32> to !from
  %b = layout.convert %a : !from to !to
  %r = layout.convert %b : !to to tensor<1x4x8x8xf32>
  return %r : tensor<1x4x8x8xf32>
}
}

// -----

// Without a target, only bytes count.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#rows = #layout.npu_scatter<aligned, start = 0, axes = "CW", target = #npu>
#columns = #layout.npu_scatter<matrix 16, start = 0, target = #npu>
!rows = tensor<64x64xf32, #rows>
!columns = tensor<64x64xf32, #columns>

// CHECK-LABEL: func.func @bytes_alone
// CHECK-NOT: npu.scratch
// CHECK: return
func.func @bytes_alone(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = layout.convert %x : tensor<64x64xf32> to !rows
  %b = layout.convert %a : !rows to !columns
  %r = layout.convert %b : !columns to tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
