// RUN: layout-opt %s -split-input-file --convert-layout-to-npu | FileCheck %s
// Check that parts of a concatenation whose layout is that of their position
// are computed in place.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
#u = #layout.npu_scatter<aligned, start = 2, target = #npu>
!a = tensor<1x6x4x4xf32, #t>
!b = tensor<1x3x4x4xf32, #u>
!c = tensor<1x9x4x4xf32, #t>

// Channels 6 to 8 are in cores 2, 3 and 0, one row of 64 bytes later. No copy:
// one load, the second part by the op that computes it, and the result.
// CHECK-DAG: #[[NPU_ALIGNED2:.*]] = #layout.npu_scatter<aligned, start = 2, offset = 64
// CHECK-DAG: #[[NPU_ALIGNED1:.*]] = #layout.npu_scatter<aligned, start = 0, target
// CHECK-LABEL: func.func @both
// CHECK: %[[C:.*]] = npu.alloc : memref<1x9x4x4xf32
// CHECK: %[[B:.*]] = npu.subview %[[C]] [0, 6, 0, 0] [1, 3, 4, 4] [1, 1, 1, 1] : {{.*}} to memref<1x3x4x4xf32, #[[NPU_ALIGNED2]],
// CHECK: linalg.negf {{.*}} outs(%[[B]] :
// CHECK: %[[A:.*]] = npu.subview %[[C]] [0, 0, 0, 0] [1, 6, 4, 4] [1, 1, 1, 1] : {{.*}} to memref<1x6x4x4xf32, #[[NPU_ALIGNED1]],
// CHECK: npu.copy %{{.*}} to %[[A]]
// CHECK-NEXT: npu.copy %[[C]] to
// CHECK-NOT: npu.copy
func.func @both(%x: tensor<1x6x4x4xf32>, %y: tensor<1x3x4x4xf32>) -> tensor<1x9x4x4xf32> {
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

// A tensor has one address: as the second part it starts at another core, and
// is not part of the second concatenation either.
// CHECK-LABEL: func.func @twice
// CHECK: %[[C:.*]] = npu.alloc : memref<1x4x4x4xf32
// CHECK: %[[A:.*]] = npu.subview %[[C]] [0, 0, 0, 0]
// CHECK: linalg.negf {{.*}} outs(%[[A]] :
// CHECK: %[[B:.*]] = npu.subview %[[C]] [0, 2, 0, 0]
// CHECK: npu.copy %[[A]] to %[[B]]
// CHECK: %[[D:.*]] = npu.alloc : memref<1x4x4x4xf32
// CHECK: %[[D0:.*]] = npu.subview %[[D]] [0, 0, 0, 0]
// CHECK: npu.copy %[[A]] to %[[D0]]
// CHECK: %[[D1:.*]] = npu.subview %[[D]] [0, 2, 0, 0]
// CHECK: npu.copy %[[A]] to %[[D1]]
func.func @twice(%x: tensor<1x2x4x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  %xl = layout.convert %x : tensor<1x2x4x4xf32> to !b
  %e = tensor.empty() : !b
  %a = linalg.negf ins(%xl : !b) outs(%e : !b) -> !b
  %c = tensor.concat dim(1) %a, %a : (!b, !b) -> !c
  %d = tensor.concat dim(1) %a, %a : (!b, !b) -> !c
  %r = layout.convert %c : !c to tensor<1x4x4x4xf32>
  %s = layout.convert %d : !c to tensor<1x4x4x4xf32>
  return %r, %s : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
#u = #layout.npu_scatter<aligned, start = 2, target = #npu>
!b = tensor<1x2x4x4xf32, #t>
!v = tensor<1x2x4x4xf32, #u>
!c = tensor<1x4x4x4xf32, #t>

// The concatenation is accumulated into before a part of it is read: into a
// copy.
// CHECK-LABEL: func.func @read_later
// CHECK: %[[C:.*]] = npu.alloc : memref<1x4x4x4xf32
// CHECK: %[[A:.*]] = npu.subview %[[C]] [0, 0, 0, 0]
// CHECK: linalg.negf {{.*}} outs(%[[A]] :
// CHECK: %[[SUM:.*]] = npu.alloc : memref<1x4x4x4xf32
// CHECK: npu.copy %[[C]] to %[[SUM]]
// CHECK: linalg.generic {{.*}} outs(%[[SUM]] :
// CHECK: linalg.negf ins(%[[A]] :
func.func @read_later(%x: tensor<1x2x4x4xf32>, %y: tensor<1x2x4x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x2x4x4xf32>) {
  %xl = layout.convert %x : tensor<1x2x4x4xf32> to !b
  %yl = layout.convert %y : tensor<1x2x4x4xf32> to !v
  %e = tensor.empty() : !b
  %a = linalg.negf ins(%xl : !b) outs(%e : !b) -> !b
  %c = tensor.concat dim(1) %a, %yl : (!b, !v) -> !c
  %t = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%c : !c) {
    ^bb0(%o: f32):
      %p = arith.addf %o, %o : f32
      linalg.yield %p : f32
  } -> !c
  %f = tensor.empty() : !b
  %z = linalg.negf ins(%a : !b) outs(%f : !b) -> !b
  %r = layout.convert %t : !c to tensor<1x4x4x4xf32>
  %s = layout.convert %z : !b to tensor<1x2x4x4xf32>
  return %r, %s : tensor<1x4x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// Two batches of the whole are further apart than those of a separate part: the
// layout with the strides of the whole is that of the position.
#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
#p = #layout.npu_scatter<strided [48, 16, 4, 1], start = 2, target = #npu>
!a = tensor<2x6x4x4xf32, #t>
!b = tensor<2x3x4x4xf32, #p>
!c = tensor<2x9x4x4xf32, #t>
// CHECK-LABEL: func.func @batches
// CHECK: %[[C:.*]] = npu.alloc : memref<2x9x4x4xf32
// CHECK: %[[B:.*]] = npu.subview %[[C]] [0, 6, 0, 0]
// CHECK: npu.copy %{{.*}} to %[[B]]
// CHECK: %[[A:.*]] = npu.alloc : memref<2x6x4x4xf32
// CHECK: npu.copy %{{.*}} to %[[A]]
// CHECK: %[[C0:.*]] = npu.subview %[[C]] [0, 0, 0, 0]
// CHECK: npu.copy %[[A]] to %[[C0]]
// CHECK: npu.copy %[[C]] to
// CHECK-NOT: npu.copy
func.func @batches(%x: tensor<2x6x4x4xf32>, %y: tensor<2x3x4x4xf32>) -> tensor<2x9x4x4xf32> {
  %a = layout.convert %x : tensor<2x6x4x4xf32> to !a
  %b = layout.convert %y : tensor<2x3x4x4xf32> to !b
  %c = tensor.concat dim(1) %a, %b : (!a, !b) -> !c
  %r = layout.convert %c : !c to tensor<2x9x4x4xf32>
  return %r : tensor<2x9x4x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
#u = #layout.npu_scatter<aligned, start = 2, target = #npu>
!b = tensor<1x2x4x4xf32, #t>
!v = tensor<1x2x4x4xf32, #u>
!c = tensor<1x4x4x4xf32, #t>
!d = tensor<1x6x4x4xf32, #t>

// A concatenation is part of another one; the whole is not accumulated into
// before a nested part is read.
// CHECK-LABEL: func.func @nested
// CHECK: %[[D:.*]] = npu.alloc : memref<1x6x4x4xf32
// CHECK: %[[C:.*]] = npu.subview %[[D]] [0, 0, 0, 0] [1, 4, 4, 4]
// CHECK: %[[A:.*]] = npu.subview %[[C]] [0, 0, 0, 0] [1, 2, 4, 4]
// CHECK: linalg.negf {{.*}} outs(%[[A]] :
// CHECK: %[[B:.*]] = npu.subview %[[C]] [0, 2, 0, 0] [1, 2, 4, 4]
// CHECK: npu.copy %{{.*}} to %[[B]]
// CHECK: %[[L:.*]] = npu.subview %[[D]] [0, 4, 0, 0] [1, 2, 4, 4]
// CHECK: npu.copy %{{.*}} to %[[L]]
// CHECK: %[[SUM:.*]] = npu.alloc : memref<1x6x4x4xf32
// CHECK: npu.copy %[[D]] to %[[SUM]]
// CHECK: linalg.generic {{.*}} outs(%[[SUM]] :
// CHECK: linalg.negf ins(%[[A]] :
func.func @nested(%x: tensor<1x2x4x4xf32>, %y: tensor<1x2x4x4xf32>) -> (tensor<1x6x4x4xf32>, tensor<1x2x4x4xf32>) {
  %xl = layout.convert %x : tensor<1x2x4x4xf32> to !b
  %e = tensor.empty() : !b
  %a = linalg.negf ins(%xl : !b) outs(%e : !b) -> !b
  %yl = layout.convert %y : tensor<1x2x4x4xf32> to !v
  %c = tensor.concat dim(1) %a, %yl : (!b, !v) -> !c
  %zl = layout.convert %y : tensor<1x2x4x4xf32> to !b
  %d = tensor.concat dim(1) %c, %zl : (!c, !b) -> !d
  %t = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%d : !d) {
    ^bb0(%o: f32):
      %p = arith.addf %o, %o : f32
      linalg.yield %p : f32
  } -> !d
  %f = tensor.empty() : !b
  %z = linalg.negf ins(%a : !b) outs(%f : !b) -> !b
  %r = layout.convert %t : !d to tensor<1x6x4x4xf32>
  %s = layout.convert %z : !b to tensor<1x2x4x4xf32>
  return %r, %s : tensor<1x6x4x4xf32>, tensor<1x2x4x4xf32>
}
