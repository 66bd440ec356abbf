// RUN: layout-opt %s --npu-assign-addresses --convert-npu-to-emitc -o %t.mlir
// RUN: layout-translate --mlir-to-cpp %t.mlir | FileCheck %s
// RUN: layout-opt %s --npu-assign-addresses --convert-npu-to-emitc=checks -o %t.mlir
// RUN: layout-translate --mlir-to-cpp %t.mlir | FileCheck %s --check-prefix=CHECKED
// Check elementwise functions, selected by the body of an op: operands in any layouts that step together, scalars as
// constants, and a command for each index of a sum.

#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 128>
!x = memref<2x5x3x4xf32, #layout.npu_scatter<aligned, start = 3, target = #npu>, #npu.memory<local>>
!y = memref<2x5x3x4xf32, #layout.npu_scatter<compact, start = 3, target = #npu>, #npu.memory<local>>
!b = memref<5xf32, #layout.npu_scatter<compact, start = 3, axes = "C", target = #npu>, #npu.memory<local>>
!s = memref<2x5x3xf32, #layout.npu_scatter<compact, start = 3, axes = "NCH", target = #npu>, #npu.memory<local>>
!m = memref<6x5xf32, #layout.npu_scatter<matrix 1, start = 3, target = #npu>, #npu.memory<local>>
#all = affine_map<(a, b) -> (a, b)>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#channel = affine_map<(a, b, c, d) -> (b)>
#rows = affine_map<(a, b, c, d) -> (a, b, c)>

// A bias is broadcast by strides of 0.
// CHECK-LABEL: void npu_bias(
// CHECK: okk_bdc_add([[Y:[0-9]+]]u, {{[0-9]+}}u, {{[0-9]+}}u, {{v[0-9]+}}, [[YS:v[0-9]+]], {{v[0-9]+}}, [[BS:v[0-9]+]]);
// CHECK: okk_bdc_relu([[Y]]u, [[Y]]u, {{v[0-9]+}}, [[YS]], [[YS]]);
// CHECKED: okk_sim_expect({2, 5, 3, 4, 4}, {{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}});
// CHECKED: okk_bdc_add(
// CHECKED-NEXT: okk_sim_expect_end();
func.func @bias() {
  %x = npu.alloc : !x
  %b = npu.alloc : !b
  %y = npu.alloc : !y
  npu.fill 1.0 : f32 to %x on dma : !x
  npu.fill 2.0 : f32 to %b on dma : !b
  linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : !x, !b) outs(%y : !y) {
    ^bb0(%i: f32, %c: f32, %o: f32):
      %r = arith.addf %i, %c : f32
      linalg.yield %r : f32
  }
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%y : !y) {
    ^bb0(%o: f32):
      %r = arith.maximumf %o, %zero : f32
      linalg.yield %r : f32
  }
  return
}

// exp needs aligned tensors and scratch memory, the second result. It clamps its argument there, so that it can be in
// place.
// CHECK-LABEL: void npu_exponent(
// CHECK: -1.270000000e+02f
// CHECK: okk_bdc_greater_select([[WORK:[0-9]+]]u, {{.*}});
// CHECK: 8.800000000e+01f
// CHECK: okk_bdc_greater_select([[WORK]]u, {{.*}});
// CHECK: okk_bdc_exp([[X:[0-9]+]]u, [[WORK]]u, [[WORK]]u, {{v[0-9]+}});
func.func @exponent() {
  %least = arith.constant -127.0 : f32
  %most = arith.constant 88.0 : f32
  %x = npu.alloc : !x
  %work = npu.alloc : !x
  npu.fill 1.0 : f32 to %x on dma : !x
  npu.fill 1.0 : f32 to %work on dma : !x
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%x, %work : !x, !x) {
    ^bb0(%o: f32, %w: f32):
      %m = arith.maximumf %o, %least : f32
      %n = arith.minimumf %m, %most : f32
      %r = math.exp %n : f32
      linalg.yield %r, %r : f32, f32
  }
  return
}

// Rows of a matrix with one column per channel are batches.
// CHECK-LABEL: void npu_matrix(
// CHECK: dim4 [[ROWS:v[0-9]+]] = {6, 5, 1, 1};
// CHECK-NEXT: dim4* [[ROWS_AT:v[0-9]+]] = &[[ROWS]];
// CHECK: okk_bdc_exp({{[0-9]+}}u, {{[0-9]+}}u, {{[0-9]+}}u, [[ROWS_AT]]);
func.func @matrix() {
  %x = npu.alloc : !m
  %y = npu.alloc : !m
  %work = npu.alloc : !m
  npu.fill 1.0 : f32 to %x on dma : !m
  npu.fill 1.0 : f32 to %work on dma : !m
  linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : !m) outs(%y, %work : !m, !m) {
    ^bb0(%o: f32, %p: f32, %w: f32):
      %r = math.exp %o : f32
      linalg.yield %r, %r : f32, f32
  }
  return
}

// A number if one operand is larger, otherwise 0.
// CHECK-LABEL: void npu_selected(
// CHECK: [[TWO:v[0-9]+]].u32 = 1073741824u;
// CHECK: okk_bdc_greater_C_select_value({{[0-9]+}}u, {{[0-9]+}}u, 1.000000000e+00f, {{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}});
func.func @selected() {
  %x = npu.alloc : !x
  %y = npu.alloc : !y
  npu.fill 1.0 : f32 to %x on dma : !x
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : !x) outs(%y : !y) {
    ^bb0(%i: f32, %o: f32):
      %p = arith.cmpf ogt, %i, %one : f32
      %r = arith.select %p, %two, %zero : f32
      linalg.yield %r : f32
  }
  return
}

// Compact sums: a command for each of the four columns.
// CHECK-LABEL: void npu_sums(
// CHECK-COUNT-4: okk_bdc_add([[S:[0-9]+]]u,
// CHECK-NOT: okk_bdc
func.func @sums() {
  %y = npu.alloc : !y
  %s = npu.alloc : !s
  npu.fill 1.0 : f32 to %y on dma : !y
  npu.fill 0.0 : f32 to %s on dma : !s
  linalg.reduce {arith.addf} ins(%y : !y) outs(%s : !s) dimensions = [3]
  return
}
