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
