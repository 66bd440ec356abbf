// RUN: layout-opt %s --npu-assign-addresses --convert-npu-to-emitc=checks -o %t.mlir
// RUN: layout-translate --mlir-to-cpp %t.mlir -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %host_cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror -I %layout_src_root/include -I %layout_src_root/include/layout/Targets/NPU/Simulator/okk %t.cpp %S/Inputs/run-compute.cpp %layout_obj_root/lib/libLayoutNpuSimulator.a -o %t.run
// RUN: %t.run | FileCheck %s --check-prefix=RESULT
// Check elementwise ops on local tensors with different layouts while the next
// tensor is loaded: y = (x + x) * b and z = -x.

#npu = #npu.target<"BM1684">
!sys = memref<2x70x3x4xf32, #npu.memory<system>>
!row = memref<1x70x1x1xf32, #npu.memory<system>>
!aligned = memref<2x70x3x4xf32, #layout.npu_scatter<aligned, start = 3, target = #npu>, #npu.memory<local>>
!compact = memref<2x70x3x4xf32, #layout.npu_scatter<compact, start = 3, target = #npu>, #npu.memory<local>>

// Cores 3 to 63 and 0 to 8: two rows.
// CHECK: okk_sim_expect({2, 70, 3, 4, 4}, {{v[0-9]+}}, {{v[0-9]+}});
// CHECK-NEXT: dim4 [[SHAPE:v[0-9]+]] = {2, 70, 1, 12};
// CHECK-NEXT: dim4* [[SHAPE_AT:v[0-9]+]] = &[[SHAPE]];
// CHECK-NEXT: dim4 [[ALIGNED:v[0-9]+]] = {64, 32, 12, 1};
// CHECK-NEXT: dim4* [[ALIGNED_AT:v[0-9]+]] = &[[ALIGNED]];
// CHECK: okk_gdma_32bit_cpy_S2L([[X:[0-9]+]]u, {{v[0-9]+}}, [[SHAPE_AT]], [[ALIGNED_AT]],
// CHECK: okk_sim_expect({2, 70, 3, 4, 4}, {{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}});
// CHECK-NEXT: dim4 [[COMPACT:v[0-9]+]] = {24, 12, 12, 1};
// CHECK-NEXT: dim4* [[COMPACT_AT:v[0-9]+]] = &[[COMPACT]];
// CHECK-NEXT: okk_bdc_add([[SUM:[0-9]+]]u, [[X]]u, [[X]]u, [[SHAPE_AT]], [[COMPACT_AT]], [[ALIGNED_AT]], [[ALIGNED_AT]]);
// CHECK-NEXT: okk_sim_expect_end();
// CHECK: okk_parallel_start();
// CHECK: okk_bdc_neg(
// CHECK: okk_gdma_32bit_cpy_S2L(
// CHECK: okk_parallel_end();
// CHECK: okk_bdc_mul([[SUM]]u, [[SUM]]u,
// RESULT: 0 errors, 0 wrong
func.func @program(%x: !sys, %b: !row, %y: !sys, %z: !sys) {
  %t = npu.alloc : !aligned
  npu.copy %x to %t : !sys to !aligned
  %sum = npu.alloc : !compact
  linalg.add ins(%t, %t : !aligned, !aligned) outs(%sum : !compact)
  %neg = npu.alloc : !aligned
  %scale = npu.alloc : !compact
  npu.parallel {
    linalg.negf ins(%t : !aligned) outs(%neg : !aligned)
    npu.copy %b to %scale broadcast : !row to !compact
  }
  linalg.mul ins(%sum, %scale : !compact, !compact) outs(%sum : !compact)
  npu.copy %sum to %y : !compact to !sys
  npu.copy %neg to %z : !aligned to !sys
  return
}
