// RUN: layout-opt %s --convert-npu-to-emitc="checks strict-okkernel=false" -o %t.mlir
// RUN: layout-translate --mlir-to-cpp %t.mlir -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %host_cxx -std=c++17 -O2 -Wall -Wextra -Wpedantic -Werror -I %layout_src_root/include -I %layout_src_root/include/layout/Targets/NPU/Simulator/okk -c %t.cpp -o %t.o
// Check that ops without an OKKernel function become kernels, and that constants are one block.

#npu = #npu.target<npus = 4, bytes_per_npu = 8192, eu_bytes = 128>
!x = memref<1x3x6x6xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!w = memref<6x3x3x3xf32, #layout.npu_scatter<compact, start = 1, axes = "CNHW", target = #npu>, #npu.memory<local>>
!y = memref<1x6x4x4xf32, #layout.npu_scatter<aligned, start = 1, target = #npu>, #npu.memory<local>>
!window = memref<2x2xf32, #layout.npu_scatter<compact, start = 0, axes = "HW", target = #npu>, #npu.memory<local>>
!z = memref<1x6x2x2xi32, #layout.npu_scatter<aligned, start = 1, target = #npu>, #npu.memory<local>>

memref.global "private" constant @bias : memref<5xi8, #npu.memory<system>> = dense<[1, 2, 3, 4, 5]>
memref.global "private" constant @weights : memref<6x3x3x3xf32, #npu.memory<system>> = dense<0.5>

// The reduction is outside of the innermost loop, in the order of its loops.
// CHECK: #include "sim_compute.h"
// CHECK: static void layout_kernel_0(float [[X:v[0-9]+]][1][3][6][6], float [[W:v[0-9]+]][6][3][3][3], float [[Y:v[0-9]+]][1][6][4][4]) {
// CHECK: for (size_t [[N:[a-z0-9]+]] =
// CHECK: for (size_t [[F:[a-z0-9]+]] =
// CHECK: for (size_t [[OH:[a-z0-9]+]] =
// CHECK: for (size_t [[C:[a-z0-9]+]] =
// CHECK: for (size_t [[KH:[a-z0-9]+]] =
// CHECK: for (size_t [[KW:[a-z0-9]+]] =
// CHECK: for (size_t [[OW:[a-z0-9]+]] =
// CHECK: = [[W]]{{\[}}[[F]]][[[C]]][[[KH]]][[[KW]]];
// CHECK: [[Y]]{{\[}}[[N]]][[[F]]][[[OH]]][[[OW]]] =

// A window consists of sizes only.
// CHECK: static void layout_kernel_1(float {{v[0-9]+}}[1][6][4][4], int32_t {{v[0-9]+}}[1][6][2][2]) {
// CHECK-NOT: static

// The second constant is at a multiple of 64.
// CHECK: void npu_main(system_addr_t [[CONSTANTS:v[0-9]+]], system_addr_t {{v[0-9]+}}, system_addr_t {{v[0-9]+}}) {
// CHECK: = [[CONSTANTS]] + 64;
// CHECK: okk_gdma_32bit_cpy_S2L(

// The input is read from the cores with its channels; weights and results are in the cores of the 6 output channels.
// CHECK: okk_sim_compute_begin("linalg.conv_2d_nchw_fchw", 2592);
// CHECK-NEXT: okk_sim_operand(432, OKK_SIM_READ | OKK_SIM_BROADCAST);
// CHECK-NEXT: okk_sim_local(0u, 0, {432, 144, 24, 4, 1});
// CHECK-NEXT: okk_sim_expect({1, 3, 6, 6, 4},
// CHECK: okk_sim_box(0u, 0, 4,
// CHECK-NEXT: okk_sim_expect_end();
// CHECK-NEXT: okk_sim_operand(648, OKK_SIM_READ);
// CHECK-NEXT: okk_sim_own(108, 6);
// CHECK: okk_sim_operand(384, OKK_SIM_READ | OKK_SIM_WRITE | OKK_SIM_LANES);
// CHECK-NEXT: okk_sim_own(64, 6);
// CHECK: okk_sim_compute_run(layout_kernel_0);

// A pooling starts from its init, the second time in the same function.
// CHECK: okk_sim_compute_begin("linalg.pooling_nchw_max", 96);
// CHECK-NEXT: okk_sim_operand(384, OKK_SIM_READ);
// CHECK: okk_sim_operand(96, OKK_SIM_READ | OKK_SIM_WRITE | OKK_SIM_LANES);
// CHECK: okk_sim_compute_run(layout_kernel_1);
// CHECK: okk_sim_compute_run(layout_kernel_1);
func.func @main(%in: memref<1x3x6x6xf32, #npu.memory<system>>, %out: memref<1x6x2x2xi32, #npu.memory<system>>) {
  %weights = memref.get_global @weights : memref<6x3x3x3xf32, #npu.memory<system>>
  %x = npu.alloc {address = 0} : !x
  %w = npu.alloc {address = 8704} : !w
  %y = npu.alloc {address = 9216} : !y
  %z = npu.alloc {address = 10240} : !z
  %window = npu.alloc {address = 4096} : !window
  npu.copy %in to %x : memref<1x3x6x6xf32, #npu.memory<system>> to !x
  npu.copy %weights to %w : memref<6x3x3x3xf32, #npu.memory<system>> to !w
  npu.fill 0.0 : f32 to %y on compute : !y
  npu.fill -1000 : i32 to %z on compute : !z
  linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : !x, !w) outs(%y : !y)
  linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%y, %window : !y, !window) outs(%z : !z)
  linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%y, %window : !y, !window) outs(%z : !z)
  npu.copy %z to %out : !z to memref<1x6x2x2xi32, #npu.memory<system>>
  return
}
