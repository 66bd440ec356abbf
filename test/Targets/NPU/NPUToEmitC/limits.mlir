// RUN: layout-opt %s --npu-assign-addresses --convert-npu-to-emitc -o %t.mlir
// RUN: layout-translate --mlir-to-cpp %t.mlir | FileCheck %s
// Check that shapes and strides stay within the registers of the chip by default.

#chip = #npu.target<"BM1684">
#chipx = #npu.target<"BM1684", max_compute_stride = 262143>

// 70000 = 2 * 35000, by a loop that is free.
// CHECK-LABEL: void npu_system_copy(
// CHECK: dim4 {{v[0-9]+}} = {2, 1, 1, 35000};
// CHECK: okk_gdma_32bit_cpy_S2S(
// CHECK-NOT: okk_gdma_
// CHECK: return
func.func @system_copy(%x: memref<70000xf32, #npu.memory<system>>, %y: memref<70000xf32, #npu.memory<system>>) {
  npu.copy %x to %y : memref<70000xf32, #npu.memory<system>> to memref<70000xf32, #npu.memory<system>>
  return
}

// 65537 is prime: two fills.
// CHECK-LABEL: void npu_fill(
// CHECK: dim4 {{v[0-9]+}} = {1, 64, 1, 65535};
// CHECK: okk_gdma_32bit_set_C_local(0u,
// CHECK: dim4 {{v[0-9]+}} = {1, 64, 1, 2};
// CHECK: okk_gdma_32bit_set_C_local(262140u,
// CHECK-NOT: okk_gdma_
// CHECK: return
!long = memref<1x64x1x65537xf32, #layout.npu_scatter<compact, start = 0, target = #chip>, #npu.memory<local>>
func.func @fill() {
  %x = npu.alloc {address = 0} : !long
  npu.fill 0.0 : f32 to %x on dma : !long
  return
}

// The stride of the only batch would be 128 * 12543 if the tensor were dense, which takes 21 bits.
// CHECK-LABEL: void npu_batch(
// CHECK: dim4 [[SHAPE:v[0-9]+]] = {1, 128, 1, 12543};
// CHECK: dim4 [[STRIDE:v[0-9]+]] = {524287, 12543, 12543, 1};
// CHECK: okk_bdc_neg(
// CHECK: return
!batch = memref<1x128x111x113xf32, #layout.npu_scatter<compact, start = 0, target = #chip>, #npu.memory<local>>
func.func @batch() {
  %x = npu.alloc {address = 0} : !batch
  %y = npu.alloc {address = 131072} : !batch
  npu.fill 0.0 : f32 to %x on dma : !batch
  linalg.negf ins(%x : !batch) outs(%y : !batch)
  return
}

// CHECK-LABEL: void npu_narrow_batch(
// CHECK: dim4 [[STRIDE:v[0-9]+]] = {262143, 12543, 12543, 1};
// CHECK: okk_bdc_neg(
// CHECK: return
!batchx = memref<1x128x111x113xf32, #layout.npu_scatter<compact, start = 0, target = #chipx>, #npu.memory<local>>
func.func @narrow_batch() {
  %x = npu.alloc {address = 0} : !batchx
  %y = npu.alloc {address = 131072} : !batchx
  npu.fill 0.0 : f32 to %x on dma : !batchx
  linalg.negf ins(%x : !batchx) outs(%y : !batchx)
  return
}
