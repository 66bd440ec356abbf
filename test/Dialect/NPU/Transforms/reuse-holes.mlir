// RUN: layout-opt %s --npu-assign-addresses=reuse-holes=true --split-input-file > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: layout-opt %t.mlir --npu-verify-memory=exact-bytes=true --split-input-file -o /dev/null
// RUN: not layout-opt %t.mlir --npu-verify-memory --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: layout-opt %s --npu-assign-addresses=reuse-holes=true --split-input-file --remarks-filter="npu" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: layout-opt %s --npu-assign-addresses --split-input-file --remarks-filter="npu" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// Check that tensors are placed in the holes of others on request.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!hole = memref<1x3x1x12xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
!unit3 = memref<1x1x4x5xf32, #layout.npu_scatter<aligned, start = 3, target = #npu>, #npu.memory<local>>

// 80 of 128 bytes are elements: 48 fit after them, and core 3 stores none.
// CHECK: func.func @in_the_holes() attributes {npu.reuses_holes}
// CHECK: npu.alloc {address = 0 : i64}
// CHECK: npu.alloc {address = 80 : i64}
// CHECK: npu.alloc {address = 3072 : i64}
// REMARK: Function=in_the_holes
// REMARK-SAME: LowerBound=256, PeakBytes=256
// WHOLE: Function=in_the_holes
// WHOLE-SAME: LowerBound=432, PeakBytes=432
// ROWS: error: 'npu.alloc' op overlaps a tensor that is still live: both own bytes 80 to 127 of every core, holes included; their elements do not overlap, which `exact-bytes` allows
func.func @in_the_holes() {
  %a = npu.alloc : !t
  %b = npu.alloc : !hole
  %c = npu.alloc : !unit3
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!large = memref<1x3x1x13xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>

// 52 bytes do not fit into a hole of 48, but after the last elements.
// CHECK-LABEL: func.func @larger_than_the_hole
// CHECK: npu.alloc {address = 0 : i64}
// CHECK: npu.alloc {address = 208 : i64}
// REMARK: Function=larger_than_the_hole
// REMARK-SAME: LowerBound=256, PeakBytes=260
func.func @larger_than_the_hole() {
  %a = npu.alloc : !t
  %b = npu.alloc : !large
  return
}

// -----

// Two batches of bytes in words of four: some bytes of the words are padding of
// the tensor and elements of a view of it, so nothing else is placed there.
#npu = #npu.target<npus = 2, bytes_per_npu = 1024, eu_bytes = 32>
!bytes = memref<2x2x1x4xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
!words = memref<1x2x1x4xi32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!other = memref<1x2x1x8xi8, #layout.npu_scatter<strided [8, 8, 8, 4], start = 0, target = #npu>, #npu.memory<local>>

// CHECK-LABEL: func.func @padding_of_words
// CHECK: npu.alloc {address = 0 : i64}
// CHECK: npu.alloc {address = 16 : i64}
// REMARK: Function=padding_of_words
// CHECK-LABEL: func.func @no_words
// CHECK: npu.alloc {address = 0 : i64}
// CHECK: npu.alloc {address = 2 : i64}
func.func @padding_of_words() {
  %a = npu.alloc : !bytes
  %v = npu.view %a : !bytes to !words
  npu.fill 0 : i32 to %v on compute : !words
  %b = npu.alloc : !other
  return
}
func.func @no_words() {
  %a = npu.alloc : !bytes
  %b = npu.alloc : !other
  return
}
