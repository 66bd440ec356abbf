// RUN: layout-opt %s --npu-assign-addresses --convert-npu-to-emitc -o %t.mlir
// RUN: layout-translate --mlir-to-cpp %t.mlir | FileCheck %s
// Check that a matrix product is one command if all operands have the matrix layout, with the right one starting at the
// core of the result. Each channel has as many columns in the right operand as in the result.

#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 128>
!a = memref<4x7xf32, #layout.npu_scatter<matrix 3, start = 1, target = #npu>, #npu.memory<local>>
!b = memref<7x20xf32, #layout.npu_scatter<matrix 3, start = 2, target = #npu>, #npu.memory<local>>
!c = memref<4x20xf32, #layout.npu_scatter<matrix 3, start = 2, target = #npu>, #npu.memory<local>>

// CHECK-LABEL: void npu_product(
// CHECK: okk_bdc_matmul({{[0-9]+}}u, {{[0-9]+}}u, {{[0-9]+}}u, 0u, 4, 7, 20, 3, 3, false, true);
func.func @product() {
  %a = npu.alloc : !a
  %b = npu.alloc : !b
  %c = npu.alloc : !c
  npu.fill 1.0 : f32 to %a on dma : !a
  npu.fill 1.0 : f32 to %b on dma : !b
  npu.fill 0.0 : f32 to %c on dma : !c
  linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c)
  return
}

// okk_bdc_matmul writes all columns of the last channel. A part that ends inside of a channel keeps the columns of the
// other part there, with one command per summed index. A part that ends with the matrix is one command.
#one = #npu.target<npus = 1, bytes_per_npu = 16384, eu_bytes = 128>
!whole = memref<1x20xf32, #layout.npu_scatter<matrix 8, start = 0, target = #one>, #npu.memory<local>>
!part = memref<1x12xf32, #layout.npu_scatter<matrix 8, start = 0, target = #one>, #npu.memory<local>>
!end = memref<1x12xf32, #layout.npu_scatter<matrix 8, start = 0, offset = 128, target = #one>, #npu.memory<local>>
!left = memref<1x3xf32, #layout.npu_scatter<matrix 3, start = 0, target = #one>, #npu.memory<local>>
!right = memref<3x12xf32, #layout.npu_scatter<matrix 8, start = 0, target = #one>, #npu.memory<local>>
// CHECK-LABEL: void npu_parts(
// CHECK-NOT: okk_bdc_matmul
// CHECK-COUNT-3: okk_bdc_mac(
// CHECK: okk_bdc_matmul({{[0-9]+}}u, {{[0-9]+}}u, {{[0-9]+}}u, 0u, 1, 3, 12, 3, 8, false, true);
// CHECK-NOT: okk_bdc
func.func @parts() {
  %left = npu.alloc : !left
  %right = npu.alloc : !right
  %whole = npu.alloc : !whole
  %first = npu.subview %whole [0, 0] [1, 12] [1, 1] : !whole to !part
  %last = npu.subview %whole [0, 8] [1, 12] [1, 1] : !whole to !end
  npu.fill 1.0 : f32 to %left on dma : !left
  npu.fill 1.0 : f32 to %right on dma : !right
  npu.fill 0.0 : f32 to %whole on dma : !whole
  linalg.matmul ins(%left, %right : !left, !right) outs(%first : !part)
  linalg.matmul ins(%left, %right : !left, !right) outs(%last : !end)
  return
}
