// RUN: layout-opt %s -split-input-file -verify-diagnostics --convert-layout-to-npu | FileCheck %s
// Check a DMA engine that requires word addresses: parts that start inside of a word are moved by the cores that store
// both sides.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32, dma_alignment = 4>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>

// The second part starts at byte 30.
// CHECK-LABEL: func.func @part
// CHECK: %[[A:.*]] = npu.subview %{{.*}} [0, 0, 0, 0] [1, 4, 3, 5]
// CHECK-NEXT: npu.copy %{{.*}} to %[[A]]
// CHECK: %[[B:.*]] = npu.subview %{{.*}} [0, 0, 3, 0] [1, 4, 3, 5]
// CHECK-NEXT: linalg.generic {{.*}} outs(%[[B]] :
// CHECK: linalg.yield
func.func @part(%x: tensor<1x4x3x5xf16>) -> tensor<1x4x6x5xf16> {
  %a = layout.convert %x : tensor<1x4x3x5xf16> to tensor<1x4x3x5xf16, #t>
  %r = tensor.concat dim(2) %a, %a : (tensor<1x4x3x5xf16, #t>, tensor<1x4x3x5xf16, #t>) -> tensor<1x4x6x5xf16, #t>
  %y = layout.convert %r : tensor<1x4x6x5xf16, #t> to tensor<1x4x6x5xf16>
  return %y : tensor<1x4x6x5xf16>
}

// -----

// A row that would need one command per byte.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32, dma_alignment = 4, max_shape = [4, 4, 1, 1]>
#t = #layout.npu_scatter<compact, start = 0, axes = "CW", target = #npu>
#map = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @fill
// CHECK: %[[T:.*]] = npu.alloc {{.*}}xi8
// CHECK: linalg.generic {indexing_maps = [#{{.*}}], {{.*}} outs(%[[T]] :
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i8
// CHECK-NEXT: linalg.yield %[[ONE]]
func.func @fill() -> tensor<4x3xi32> {
  %one = arith.constant 1 : i8
  %e = tensor.empty() : tensor<4x3xi8, #t>
  %f = linalg.fill ins(%one : i8) outs(%e : tensor<4x3xi8, #t>) -> tensor<4x3xi8, #t>
  %w = tensor.empty() : tensor<4x3xi32, #t>
  %g = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%f : tensor<4x3xi8, #t>) outs(%w : tensor<4x3xi32, #t>) {
    ^bb0(%a: i8, %o: i32):
      %b = arith.extsi %a : i8 to i32
      linalg.yield %b : i32
  } -> tensor<4x3xi32, #t>
  %y = layout.convert %g : tensor<4x3xi32, #t> to tensor<4x3xi32>
  return %y : tensor<4x3xi32>
}
