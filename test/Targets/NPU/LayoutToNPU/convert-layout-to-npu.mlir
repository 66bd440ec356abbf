// RUN: layout-opt %s -split-input-file --convert-layout-to-npu | FileCheck %s
// Check that tensors become memory: loads precede the first op that needs them, accumulators are filled, a tensor is
// live until its last use, and results and constants are in system memory.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#rows = #layout.npu_scatter<aligned, start = 0, axes = "CW", target = #npu>
#columns = #layout.npu_scatter<matrix 2, start = 0, target = #npu>

// CHECK-DAG: #[[NPU_ALIGNED:.*]] = #layout.npu_scatter<aligned, start = 0, axes = "CW"
// CHECK-DAG: #[[NPU_MATRIX:.*]] = #layout.npu_scatter<matrix 2, start = 0
// CHECK: memref.global "private" constant @[[W:.*]] : memref<5x7xf32, #npu.memory<system>> = dense<1.000000e+00>
// CHECK: func.func @matmul(%[[X:.*]]: memref<3x5xf32, #npu.memory<system>>, %[[R:.*]]: memref<3x7xf32, #npu.memory<system>> {npu.result})
func.func @matmul(%x: tensor<3x5xf32>) -> tensor<3x7xf32> {
  %w = arith.constant dense<1.0> : tensor<5x7xf32>
  %zero = arith.constant 0.0 : f32
  %wl = layout.convert %w : tensor<5x7xf32> to tensor<5x7xf32, #columns>
  %xl = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #rows>
  %e = tensor.empty() : tensor<3x7xf32, #columns>
  // CHECK: %[[XL:.*]] = npu.alloc : memref<3x5xf32, #[[NPU_ALIGNED]],
  // CHECK: npu.copy %[[X]] to %[[XL]]
  // CHECK: %[[XM:.*]] = npu.alloc : memref<3x5xf32, #[[NPU_MATRIX]],
  // CHECK: npu.copy %[[XL]] to %[[XM]]
  // CHECK: %[[C:.*]] = memref.get_global @[[W]]
  // CHECK: %[[WL:.*]] = npu.alloc
  // CHECK: npu.copy %[[C]] to %[[WL]]
  // CHECK: %[[F:.*]] = npu.alloc
  // CHECK: npu.fill 0.000000e+00 : f32 to %[[F]] on dma
  // CHECK: linalg.matmul ins(%[[XM]], %[[WL]] : {{.*}}) outs(%[[F]] :
  // CHECK-DAG: npu.dealloc %[[XM]]
  // CHECK-DAG: npu.dealloc %[[WL]]
  // CHECK: npu.copy %[[F]] to %[[R]]
  // CHECK: npu.dealloc %[[F]]
  // CHECK: return
  %xm = layout.convert %xl : tensor<3x5xf32, #rows> to tensor<3x5xf32, #columns>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x7xf32, #columns>) -> tensor<3x7xf32, #columns>
  %m = linalg.matmul ins(%xm, %wl : tensor<3x5xf32, #columns>, tensor<5x7xf32, #columns>)
                     outs(%f : tensor<3x7xf32, #columns>) -> tensor<3x7xf32, #columns>
  %r = layout.convert %m : tensor<3x7xf32, #columns> to tensor<3x7xf32>
  return %r : tensor<3x7xf32>
}

// -----

// An operand without channels is broadcast into all cores, once into each: channels 0 and 4 are in one core.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 1, target = #npu>
#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
#row = affine_map<(n, c, h, w) -> (w)>

// CHECK-DAG: #[[NPU_ALIGNED1:.*]] = #layout.npu_scatter<aligned, start = 1, axes = "CW"
// CHECK-DAG: #[[MAP1:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 mod 4, d3)>
// CHECK: func.func @broadcast(%{{.*}}, %[[B:.*]]: memref<5xf32, #npu.memory<system>>
// CHECK: %[[E:.*]] = memref.expand_shape %[[B]] {{\[}}[0, 1]] output_shape [1, 5]
// CHECK: %[[ROW:.*]] = npu.alloc : memref<4x5xf32, #[[NPU_ALIGNED1]],
// CHECK: npu.copy %[[E]] to %[[ROW]] broadcast
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[MAP1]], {{.*}}]
func.func @broadcast(%x: tensor<1x6x4x5xf32>, %b: tensor<5xf32>) -> tensor<1x6x4x5xf32> {
  %xl = layout.convert %x : tensor<1x6x4x5xf32> to tensor<1x6x4x5xf32, #t>
  %e = tensor.empty() : tensor<1x6x4x5xf32, #t>
  %y = linalg.generic {indexing_maps = [#map, #row, #map],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%xl, %b : tensor<1x6x4x5xf32, #t>, tensor<5xf32>) outs(%e : tensor<1x6x4x5xf32, #t>) {
    ^bb0(%a: f32, %s: f32, %o: f32):
      %p = arith.mulf %a, %s : f32
      linalg.yield %p : f32
  } -> tensor<1x6x4x5xf32, #t>
  %r = layout.convert %y : tensor<1x6x4x5xf32, #t> to tensor<1x6x4x5xf32>
  return %r : tensor<1x6x4x5xf32>
}

// -----

// Slices: a pad is a fill and a transfer into the middle, a slice of channels starts at another core, and a part of a
// concatenation is computed in place if its layout is that of its position.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>

// CHECK: #[[NPU_STRIDED1:.*]] = #layout.npu_scatter<strided [{{.*}}], start = 3,
// CHECK: func.func @parts
// CHECK: %[[C:.*]] = npu.alloc : memref<1x9x4x4xf32
// CHECK: %[[P:.*]] = npu.subview %[[C]] [0, 0, 0, 0] [1, 6, 4, 4]
// CHECK: %[[IN:.*]] = npu.subview %[[P]] [0, 0, 1, 1] [1, 6, 2, 2] [1, 1, 1, 1]
// CHECK: npu.fill 0.000000e+00 : f32 to %[[P]] on dma
// CHECK: npu.copy %{{.*}} to %[[IN]]
// CHECK: %[[S:.*]] = npu.subview %[[P]] [0, 3, 0, 0] [1, 3, 4, 4] [1, 1, 1, 1] : {{.*}} to memref<1x3x4x4xf32, #[[NPU_STRIDED1]],
// CHECK: %[[Q:.*]] = npu.alloc : memref<1x3x4x4xf32
// CHECK: npu.copy %[[S]] to %[[Q]]
// CHECK: %[[C1:.*]] = npu.subview %[[C]] [0, 6, 0, 0] [1, 3, 4, 4]
// CHECK: npu.copy %[[Q]] to %[[C1]]
// CHECK: npu.copy %[[C]] to %{{.*}}
func.func @parts(%x: tensor<1x6x2x2xf32>) -> tensor<1x9x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %zero : f32
  } : tensor<1x6x2x2xf32> to tensor<1x6x4x4xf32, #t>
  %s = tensor.extract_slice %p[0, 3, 0, 0] [1, 3, 4, 4] [1, 1, 1, 1]
      : tensor<1x6x4x4xf32, #t> to tensor<1x3x4x4xf32, #t>
  %c = tensor.concat dim(1) %p, %s : (tensor<1x6x4x4xf32, #t>, tensor<1x3x4x4xf32, #t>) -> tensor<1x9x4x4xf32, #t>
  %r = layout.convert %c : tensor<1x9x4x4xf32, #t> to tensor<1x9x4x4xf32>
  return %r : tensor<1x9x4x4xf32>
}

// -----

// Parts that are inserted into system memory are written to the result directly.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>

// CHECK: func.func @assemble(%[[X:.*]]: memref<2x6x4x4xf32, #npu.memory<system>>, %[[R:.*]]: memref<2x6x4x4xf32, #npu.memory<system>> {npu.result})
// CHECK: %[[S0:.*]] = memref.subview %[[X]][0, 0, 0, 0] [1, 6, 4, 4]
// CHECK: npu.copy %[[S0]] to %[[L0:.*]] :
// CHECK: %[[R0:.*]] = memref.subview %[[R]][0, 0, 0, 0] [1, 6, 4, 4]
// CHECK: npu.copy %{{.*}} to %[[R0]]
// CHECK: %[[R1:.*]] = memref.subview %[[R]][1, 0, 0, 0] [1, 6, 4, 4]
// CHECK: npu.copy %{{.*}} to %[[R1]]
// CHECK-NOT: npu.copy
// CHECK: return
func.func @assemble(%x: tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32> {
  %e = tensor.empty() : tensor<2x6x4x4xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0, 0] [1, 6, 4, 4] [1, 1, 1, 1] : tensor<2x6x4x4xf32> to tensor<1x6x4x4xf32>
  %l0 = layout.convert %x0 : tensor<1x6x4x4xf32> to tensor<1x6x4x4xf32, #t>
  %e0 = tensor.empty() : tensor<1x6x4x4xf32, #t>
  %y0 = linalg.negf ins(%l0 : tensor<1x6x4x4xf32, #t>) outs(%e0 : tensor<1x6x4x4xf32, #t>) -> tensor<1x6x4x4xf32, #t>
  %s0 = layout.convert %y0 : tensor<1x6x4x4xf32, #t> to tensor<1x6x4x4xf32>
  %r0 = tensor.insert_slice %s0 into %e[0, 0, 0, 0] [1, 6, 4, 4] [1, 1, 1, 1] : tensor<1x6x4x4xf32> into tensor<2x6x4x4xf32>
  %r1 = tensor.insert_slice %s0 into %r0[1, 0, 0, 0] [1, 6, 4, 4] [1, 1, 1, 1] : tensor<1x6x4x4xf32> into tensor<2x6x4x4xf32>
  return %r1 : tensor<2x6x4x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>

// An empty tensor is not copied, although it initializes two tensors.
// CHECK-LABEL: func.func @fresh
// CHECK: linalg.negf
// CHECK: linalg.add
// CHECK-COUNT-4: npu.copy
// CHECK-NOT: npu.copy
func.func @fresh(%x: tensor<1x4x4x4xf32>, %y: tensor<1x4x4x4xf32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>) {
  %e = tensor.empty() : tensor<2x4x4x4xf32, #t>
  %p = tensor.empty() : tensor<1x4x4x4xf32, #t>
  %xl = layout.convert %x : tensor<1x4x4x4xf32> to tensor<1x4x4x4xf32, #t>
  %yl = layout.convert %y : tensor<1x4x4x4xf32> to tensor<1x4x4x4xf32, #t>
  %a = linalg.negf ins(%xl : tensor<1x4x4x4xf32, #t>) outs(%p : tensor<1x4x4x4xf32, #t>) -> tensor<1x4x4x4xf32, #t>
  %b = linalg.add ins(%a, %yl : tensor<1x4x4x4xf32, #t>, tensor<1x4x4x4xf32, #t>) outs(%p : tensor<1x4x4x4xf32, #t>) -> tensor<1x4x4x4xf32, #t>
  %i = tensor.insert_slice %a into %e[0, 0, 0, 0] [1, 4, 4, 4] [1, 1, 1, 1] : tensor<1x4x4x4xf32, #t> into tensor<2x4x4x4xf32, #t>
  %j = tensor.insert_slice %b into %e[1, 0, 0, 0] [1, 4, 4, 4] [1, 1, 1, 1] : tensor<1x4x4x4xf32, #t> into tensor<2x4x4x4xf32, #t>
  %r = layout.convert %i : tensor<2x4x4x4xf32, #t> to tensor<2x4x4x4xf32>
  %s = layout.convert %j : tensor<2x4x4x4xf32, #t> to tensor<2x4x4x4xf32>
  return %r, %s : tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>
}

// -----

// A loop without iterations has no command: the result is the init.
// CHECK-LABEL: func.func @nothing
// CHECK-SAME: %[[R:[a-z0-9]*]]: memref<3xf32, #npu.memory<system>> {npu.result}
// CHECK: npu.fill 5.000000e+00 : f32 to %[[R]]
// CHECK-NOT: linalg
func.func @nothing(%x: tensor<3x0xf32>) -> tensor<3xf32> {
  %five = arith.constant 5.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%five : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.reduce ins(%x : tensor<3x0xf32>) outs(%f : tensor<3xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return %r : tensor<3xf32>
}
