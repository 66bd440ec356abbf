// RUN: layout-opt %s --convert-npu-to-emitc -o %t.mlir
// RUN: layout-translate --mlir-to-cpp %t.mlir | FileCheck %s
// RUN: layout-opt %s --convert-npu-to-emitc=checks -o %t.checked.mlir
// RUN: layout-translate --mlir-to-cpp %t.checked.mlir | FileCheck %s --check-prefix=CHECKED
// Check the C++ of the ops.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!sys = memref<2x3x4x5xf32, #npu.memory<system>>
!aligned = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
!compact = memref<2x3x4x5xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
!bytes = memref<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
!nothing = memref<0x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
!words = memref<2x5x4x5xi32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// CHECK: #include "okk.h"
// CHECKED: #include "sim_checks.h"

// One transfer each way: H and W are one row of 20 on both sides.
// CHECK: void npu_aligned(system_addr_t [[X:v[0-9]+]], system_addr_t [[Y:v[0-9]+]]) {
// CHECK-NEXT: dim4 [[SHAPE:v[0-9]+]] = {2, 3, 1, 20};
// CHECK-NEXT: dim4* [[SHAPE_AT:v[0-9]+]] = &[[SHAPE]];
// CHECK-NEXT: dim4 [[LOCAL:v[0-9]+]] = {64, 32, 20, 1};
// CHECK-NEXT: dim4* [[LOCAL_AT:v[0-9]+]] = &[[LOCAL]];
// CHECK-NEXT: dim4 [[SYSTEM:v[0-9]+]] = {60, 20, 20, 1};
// CHECK-NEXT: dim4* [[SYSTEM_AT:v[0-9]+]] = &[[SYSTEM]];
// CHECK-NEXT: okk_gdma_32bit_cpy_S2L(2176u, [[X]], [[SHAPE_AT]], [[LOCAL_AT]], [[SYSTEM_AT]]);
// CHECK-NEXT: okk_gdma_32bit_cpy_L2S([[Y]], 2176u, [[SHAPE_AT]], [[SYSTEM_AT]], [[LOCAL_AT]]);
// CHECK-NEXT: return;
// The tensor has 2 x 3 rows of 20, whose bytes have the numbers of the row-major tensor in system memory.
// CHECKED: void npu_aligned(
// CHECKED-NEXT: okk_sim_declare_tensor(2176u, 512u, 128u);
// CHECKED-NEXT: dim4 [[ROWS:v[0-9]+]] = {2, 3, 1, 20};
// CHECKED-NEXT: dim4* [[ROWS_AT:v[0-9]+]] = &[[ROWS]];
// CHECKED-NEXT: dim4 [[STEPS:v[0-9]+]] = {64, 32, 20, 1};
// CHECKED-NEXT: dim4* [[STEPS_AT:v[0-9]+]] = &[[STEPS]];
// CHECKED-NEXT: dim4 [[NUMBERS:v[0-9]+]] = {240, 80, 80, 4};
// CHECKED-NEXT: dim4* [[NUMBERS_AT:v[0-9]+]] = &[[NUMBERS]];
// CHECKED-NEXT: okk_sim_number_elements(2176u, 4, [[ROWS_AT]], [[STEPS_AT]], 0, [[NUMBERS_AT]]);
// CHECKED-NEXT: OkkSimSide [[TO:v[0-9]+]] = okk_sim_local(2176u, 0, {240, 80, 20, 4, 1});
// CHECKED-NEXT: OkkSimSide [[FROM:v[0-9]+]] = okk_sim_system({{v[0-9]+}}, {240, 80, 20, 4, 1});
// CHECKED-NEXT: okk_sim_expect({2, 3, 4, 5, 4}, [[TO]], [[FROM]]);
// CHECKED: okk_gdma_32bit_cpy_S2L(
// CHECKED-NEXT: okk_sim_expect_end();
// CHECKED: okk_gdma_32bit_cpy_L2S(
// CHECKED-NEXT: okk_sim_expect_end();
// CHECKED-NEXT: okk_sim_release_tensor(2176u);
func.func @aligned(%x: !sys, %y: !sys) {
  %t = npu.alloc {address = 2176} : !aligned
  npu.copy %x to %t : !sys to !aligned
  npu.copy %t to %y : !aligned to !sys
  npu.dealloc %t : !aligned
  return
}

// A tensor without elements owns no byte, and another one may have its address.
// CHECKED: void npu_nothing(
// CHECKED-NEXT: okk_sim_declare_tensor(2176u, 512u, 128u);
// CHECKED-NOT: okk_sim_declare_tensor
// CHECKED: okk_sim_release_tensor(2176u);
// CHECKED-NOT: okk_sim_release_tensor
// CHECKED: void npu_move(
func.func @nothing() {
  %n = npu.alloc {address = 2176} : !nothing
  %t = npu.alloc {address = 2176} : !aligned
  npu.dealloc %t : !aligned
  npu.dealloc %n : !nothing
  return
}

// Another start core and other strides are one transfer, too.
// CHECK: void npu_move(
// CHECK: = {2, 3, 1, 20};
// CHECK: = {20, 20, 20, 1};
// CHECK: = {64, 32, 20, 1};
// CHECK: okk_gdma_32bit_cpy_L2L(512u, 2048u,
func.func @move() {
  %t = npu.alloc {address = 2048} : !aligned
  %u = npu.alloc {address = 512} : !compact
  npu.copy %t to %u : !aligned to !compact
  return
}

// Four lanes of the first words, two of the last; W strides are 1, so W is
// contiguous.
// CHECK: void npu_pack(system_addr_t [[X:v[0-9]+]])
// CHECK: = {20, 5, 4, 1};
// CHECK: okk_gdma_8bit_cpy_S2L(0u, [[X]],
// CHECK-NEXT: system_addr_t [[REST:v[0-9]+]] = [[X]] + 400;
// CHECK: = {20, 5, 2, 1};
// CHECK: okk_gdma_8bit_cpy_S2L(256u, [[REST]],
// CHECK-NEXT: okk_parallel_start();
// CHECK-NEXT: x32 [[SEVEN:v[0-9]+]] = {};
// CHECK-NEXT: [[SEVEN]].u32 = 7u;
// CHECK-NEXT: x32 [[VALUE:v[0-9]+]] = [[SEVEN]];
// CHECK: okk_bdc_32bit_set_C(0u, [[VALUE]],
// CHECK-NEXT: okk_parallel_end();
// CHECK-NEXT: x8 [[ONE:v[0-9]+]] = {};
// CHECK-NEXT: [[ONE]].u8 = 255u;
// CHECK: okk_gdma_8bit_set_C_local(0u,
// A word contains a byte of each of four batches, 100 bytes apart.
// CHECKED: void npu_pack(
// CHECKED: okk_sim_local(0u, 0, {400, 20, 5, 1, 100, 1});
// CHECKED-NEXT: okk_sim_expect({2, 5, 4, 5, 4, 1},
// CHECKED: okk_bdc_32bit_set_C(0u,
func.func @pack(%x: memref<6x5x4x5xi8, #npu.memory<system>>) {
  %t = npu.alloc {address = 0} : !bytes
  npu.copy %x to %t : memref<6x5x4x5xi8, #npu.memory<system>> to !bytes
  %w = npu.view %t : !bytes to !words
  npu.parallel {
    npu.fill 7 : i32 to %w on compute : !words
  }
  npu.fill -1 : i8 to %t on dma : !bytes
  return
}

// A transposition from system memory only needs strides; within local memory, no
// C loop has a core step on both sides, so each pair of channels is a transfer.
// CHECK: void npu_transpose(
// CHECK-COUNT-1: okk_gdma_32bit_cpy_S2L
// CHECK-NOT: okk_gdma_32bit_cpy_S2L
// CHECK-COUNT-6: okk_gdma_32bit_cpy_L2L
// CHECK-NOT: okk_gdma_32bit_cpy_L2L
// CHECK: return
// CHECKED: void npu_transpose(
// CHECKED: okk_sim_system({{v[0-9]+}}, {80, 160, 20, 4, 1});
// CHECKED-NEXT: okk_sim_expect({2, 3, 4, 5, 4},
func.func @transpose(%x: memref<3x2x4x5xf32, #npu.memory<system>>) {
  %t = npu.alloc {address = 2048} : !aligned
  npu.copy %x to %t permutation = [1, 0, 2, 3] : memref<3x2x4x5xf32, #npu.memory<system>> to !aligned
  %u = npu.alloc {address = 512} : memref<3x2x4x5xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
  npu.copy %t to %u permutation = [1, 0, 2, 3] : !aligned to memref<3x2x4x5xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
  return
}

// Dim d of the destination is dim 1, 2, 0 and 3 of the source.
// CHECK: void npu_cycle(
// CHECK: = {4, 2, 3, 5};
// CHECK: = {15, 15, 5, 1};
// CHECK: = {10, 5, 40, 1};
// CHECK: okk_gdma_32bit_cpy_S2L
func.func @cycle(%x: memref<3x4x2x5xf32, #npu.memory<system>>) {
  %t = npu.alloc {address = 0} : memref<4x2x3x5xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
  npu.copy %x to %t permutation = [1, 2, 0, 3] : memref<3x4x2x5xf32, #npu.memory<system>> to memref<4x2x3x5xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
  return
}

// The engine's limits split loops: 3 channels in parts of 2.
// CHECK: void npu_limits(
// CHECK: = {2, 2, 1, 20};
// CHECK: okk_gdma_32bit_cpy_S2L(0u, v1,
// CHECK: = {2, 1, 1, 20};
// CHECK: okk_gdma_32bit_cpy_S2L(2048u,
func.func @limits(%x: !sys) {
  %t = npu.alloc {address = 0} : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, max_shape = [64, 2, 64, 64]>>, #npu.memory<local>>
  npu.copy %x to %t : !sys to memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, max_shape = [64, 2, 64, 64]>>, #npu.memory<local>>
  return
}
