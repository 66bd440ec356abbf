// Check the memory of tensors on cores: parts are in the memory of the whole if both fit, and views of other elements
// become copies.
//
// RUN: layout-opt %s -split-input-file --convert-layout-to-npu | FileCheck %s

#npu = #npu.target<npus = 4, bytes_per_npu = 448, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
#u = #layout.npu_scatter<aligned, start = 2, target = #npu>
!a = tensor<1x6x4x4xf32, #t>
!b = tensor<1x3x4x4xf32, #u>
!c = tensor<1x9x4x4xf32, #t>

// The whole needs 192 bytes per core. The op that computes the second part reads 128 and has an init of 128; its result
// is in the whole.
// CHECK-LABEL: func.func @room
// CHECK: %[[C:.*]] = npu.alloc : memref<1x9x4x4xf32
// CHECK: %[[B:.*]] = npu.subview %[[C]] [0, 6, 0, 0]
// CHECK: linalg.negf {{.*}} outs(%[[B]] :
func.func @room(%x: tensor<1x6x4x4xf32>, %y: tensor<1x3x4x4xf32>) -> tensor<1x9x4x4xf32> {
  %a = layout.convert %x : tensor<1x6x4x4xf32> to !a
  %yl = layout.convert %y : tensor<1x3x4x4xf32> to !b
  %e = tensor.empty() : !b
  %b = linalg.negf ins(%yl : !b) outs(%e : !b) -> !b
  %c = tensor.concat dim(1) %a, %b : (!a, !b) -> !c
  %r = layout.convert %c : !c to tensor<1x9x4x4xf32>
  return %r : tensor<1x9x4x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 416, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
#u = #layout.npu_scatter<aligned, start = 2, target = #npu>
!a = tensor<1x6x4x4xf32, #t>
!b = tensor<1x3x4x4xf32, #u>
!c = tensor<1x9x4x4xf32, #t>

// With 32 bytes less, it does not fit, and the parts are copied.
// CHECK-LABEL: func.func @no_room
// CHECK: linalg.negf {{.*}} outs(%[[B:[0-9]*]] :
// CHECK: %[[C:.*]] = npu.alloc : memref<1x9x4x4xf32
// CHECK: %[[PLACE:.*]] = npu.subview %[[C]] [0, 6, 0, 0]
// CHECK: npu.copy %[[B]] to %[[PLACE]]
func.func @no_room(%x: tensor<1x6x4x4xf32>, %y: tensor<1x3x4x4xf32>) -> tensor<1x9x4x4xf32> {
  %a = layout.convert %x : tensor<1x6x4x4xf32> to !a
  %yl = layout.convert %y : tensor<1x3x4x4xf32> to !b
  %e = tensor.empty() : !b
  %b = linalg.negf ins(%yl : !b) outs(%e : !b) -> !b
  %c = tensor.concat dim(1) %a, %b : (!a, !b) -> !c
  %r = layout.convert %c : !c to tensor<1x9x4x4xf32>
  return %r : tensor<1x9x4x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
#u = #layout.npu_scatter<aligned, start = 2, target = #npu>
!b = tensor<1x2x4x4xf32, #t>
!v = tensor<1x2x4x4xf32, #u>
!c = tensor<1x4x4x4xf32, #t>
!e = tensor<1x8x4x4xf32, #t>

// Channels 4 to 7 of the whole are in its second row, at byte 64, and so are both halves that are concatenated there.
// CHECK-DAG: #[[NPU_ALIGNED1:.*]] = #layout.npu_scatter<aligned, start = 0, offset = 64,
// CHECK-DAG: #[[NPU_ALIGNED2:.*]] = #layout.npu_scatter<aligned, start = 2, offset = 64,
// CHECK-DAG: #[[NPU_ALIGNED:.*]] = #layout.npu_scatter<aligned, start = 0, target
// CHECK-LABEL: func.func @parts_of_parts
// CHECK: %[[E:.*]] = npu.alloc : memref<1x8x4x4xf32
// CHECK: %[[C:.*]] = npu.subview %[[E]] [0, 4, 0, 0] {{.*}} to memref<1x4x4x4xf32, #[[NPU_ALIGNED1]],
// CHECK: npu.subview %[[C]] [0, 2, 0, 0] {{.*}} to memref<1x2x4x4xf32, #[[NPU_ALIGNED2]],
// CHECK: npu.subview %[[C]] [0, 0, 0, 0] {{.*}} to memref<1x2x4x4xf32, #[[NPU_ALIGNED1]],
// CHECK: npu.subview %[[E]] [0, 0, 0, 0] {{.*}} to memref<1x4x4x4xf32, #[[NPU_ALIGNED]],
func.func @parts_of_parts(%x: tensor<1x2x4x4xf32>, %y: tensor<1x4x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %d = layout.convert %y : tensor<1x4x4x4xf32> to !c
  %a = layout.convert %x : tensor<1x2x4x4xf32> to !b
  %b = layout.convert %x : tensor<1x2x4x4xf32> to !v
  %c = tensor.concat dim(1) %a, %b : (!b, !v) -> !c
  %e = tensor.concat dim(1) %d, %c : (!c, !c) -> !e
  %r = layout.convert %e : !e to tensor<1x8x4x4xf32>
  return %r : tensor<1x8x4x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
#u = #layout.npu_scatter<compact, start = 0, target = #npu>

// Compact tensors start at any word, aligned ones at an execution unit.
// CHECK-DAG: #[[NPU_COMPACT:.*]] = #layout.npu_scatter<compact
// CHECK-DAG: #[[NPU_ALIGNED:.*]] = #layout.npu_scatter<aligned
// CHECK-LABEL: func.func @view
// CHECK: %[[A:.*]] = npu.alloc {alignment = 32 : i64} : memref<1x4x2x4xf32, #[[NPU_COMPACT]],
// CHECK: npu.view %[[A]] {{.*}} to memref<1x4x2x4xf32, #[[NPU_ALIGNED]],
func.func @view(%x: tensor<1x4x2x4xf32>) -> tensor<1x4x2x4xf32> {
  %a = layout.convert %x : tensor<1x4x2x4xf32> to tensor<1x4x2x4xf32, #u>
  %b = layout.convert %a : tensor<1x4x2x4xf32, #u> to tensor<1x4x2x4xf32, #t>
  %r = layout.convert %b : tensor<1x4x2x4xf32, #t> to tensor<1x4x2x4xf32>
  return %r : tensor<1x4x2x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>

// Columns of a part are not contiguous, so a view of them is a view of a copy.
// CHECK-LABEL: func.func @reshaped_part
// CHECK-SAME: %[[SCRATCH:arg[0-9]*]]: memref<1x8x6x3xf32, #npu.memory<system>> {npu.scratch}
// CHECK: %[[PART:.*]] = memref.subview
// CHECK-NEXT: npu.copy %[[PART]] to %[[SCRATCH]]
// CHECK-NEXT: memref.collapse_shape %[[SCRATCH]]
func.func @reshaped_part(%x: tensor<1x8x6x4xf32>) -> tensor<8x18xf32> {
  %p = tensor.extract_slice %x[0, 0, 0, 0] [1, 8, 6, 3] [1, 1, 1, 1] : tensor<1x8x6x4xf32> to tensor<1x8x6x3xf32>
  %r = tensor.collapse_shape %p [[0, 1], [2, 3]] : tensor<1x8x6x3xf32> into tensor<8x18xf32>
  return %r : tensor<8x18xf32>
}

// Rows of a part are contiguous: they are read in place.
// CHECK-LABEL: func.func @reshaped_rows
// CHECK-NOT: npu.scratch
// CHECK: %[[ROWS:.*]] = memref.subview
// CHECK-NEXT: %[[VIEW:.*]] = memref.collapse_shape %[[ROWS]] {{.*}} into memref<8x12xf32, strided<[24, 1], offset: 4>
// CHECK-NEXT: npu.copy %[[VIEW]]
func.func @reshaped_rows(%x: tensor<1x8x6x4xf32>) -> tensor<8x12xf32> {
  %p = tensor.extract_slice %x[0, 0, 1, 0] [1, 8, 3, 4] [1, 1, 1, 1] : tensor<1x8x6x4xf32> to tensor<1x8x3x4xf32>
  %r = tensor.collapse_shape %p [[0, 1], [2, 3]] : tensor<1x8x3x4xf32> into tensor<8x12xf32>
  return %r : tensor<8x12xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>

// The copy in system memory is another tensor: overwriting a part of it leaves the one in cores unchanged.
// CHECK-LABEL: func.func @overwritten_where_it_was_stored
// CHECK: %[[A:.*]] = npu.alloc
// CHECK: npu.copy %[[A]] to %[[S:arg[0-9]*]]
// CHECK: %[[PART:.*]] = memref.subview %[[S]]
// CHECK: npu.copy %{{.*}} to %[[PART]]
// CHECK: linalg.negf ins(%[[A]] :
func.func @overwritten_where_it_was_stored(%x: tensor<1x8x4x4xf32>, %p: tensor<1x8x1x4xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) {
  %a = layout.convert %x : tensor<1x8x4x4xf32> to tensor<1x8x4x4xf32, #t>
  %s = layout.convert %a : tensor<1x8x4x4xf32, #t> to tensor<1x8x4x4xf32>
  %i = tensor.insert_slice %p into %s[0, 0, 1, 0] [1, 8, 1, 4] [1, 1, 1, 1] : tensor<1x8x1x4xf32> into tensor<1x8x4x4xf32>
  %e = tensor.empty() : tensor<1x8x4x4xf32, #t>
  %b = linalg.negf ins(%a : tensor<1x8x4x4xf32, #t>) outs(%e : tensor<1x8x4x4xf32, #t>) -> tensor<1x8x4x4xf32, #t>
  %r = layout.convert %b : tensor<1x8x4x4xf32, #t> to tensor<1x8x4x4xf32>
  return %i, %r : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>

// No element of a window is read: it is filled with zeros, not loaded.
// CHECK-LABEL: func.func @window
// CHECK-SAME: %[[W:[^:]*]]: memref<2x2xf32, #npu.memory<system>>
// CHECK-NOT: npu.copy %[[W]]
// CHECK: %[[L:.*]] = npu.alloc : memref<2x2xf32
// CHECK: npu.fill {{.*}}%[[L]]
// CHECK: linalg.pooling_nchw_sum {{.*}}ins(%{{.*}}, %[[L]] :
func.func @window(%w: tensor<2x2xf32>, %x: tensor<1x4x4x4xf32>) -> tensor<1x4x3x3xf32> {
  %z = arith.constant 0.0 : f32
  %a = layout.convert %x : tensor<1x4x4x4xf32> to tensor<1x4x4x4xf32, #t>
  %e = tensor.empty() : tensor<1x4x3x3xf32, #t>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x3x3xf32, #t>) -> tensor<1x4x3x3xf32, #t>
  %p = linalg.pooling_nchw_sum ins(%a, %w : tensor<1x4x4x4xf32, #t>, tensor<2x2xf32>)
    outs(%f : tensor<1x4x3x3xf32, #t>) -> tensor<1x4x3x3xf32, #t>
  %r = layout.convert %p : tensor<1x4x3x3xf32, #t> to tensor<1x4x3x3xf32>
  return %r : tensor<1x4x3x3xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32, dma_alignment = 4>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>

// The engine transfers whole words only, and batches, rows and columns exceed its loops in addition to the channels.
// Rows become columns on the cores.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
// CHECK-LABEL: func.func @transpose
// CHECK: %[[A:.*]] = npu.alloc {{.*}}memref<5x4x3x2xf16
// CHECK: %[[B:.*]] = npu.alloc {{.*}}memref<5x4x2x3xf16
// CHECK: linalg.generic {indexing_maps = [#[[MAP]], {{.*}}], {{.*}} ins(%[[A]] : {{.*}} outs(%[[B]] :
func.func @transpose(%x: tensor<5x4x3x2xf16>) -> tensor<5x4x2x3xf16> {
  %a = layout.convert %x : tensor<5x4x3x2xf16> to tensor<5x4x3x2xf16, #t>
  %e = tensor.empty() : tensor<5x4x2x3xf16, #t>
  %b = linalg.transpose ins(%a : tensor<5x4x3x2xf16, #t>) outs(%e : tensor<5x4x2x3xf16, #t>) permutation = [0, 1, 3, 2]
  %r = layout.convert %b : tensor<5x4x2x3xf16, #t> to tensor<5x4x2x3xf16>
  return %r : tensor<5x4x2x3xf16>
}
