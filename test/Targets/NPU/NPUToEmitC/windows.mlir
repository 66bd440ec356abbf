// RUN: layout-opt %s --npu-assign-addresses --convert-npu-to-emitc -o %t.mlir
// RUN: layout-translate --mlir-to-cpp %t.mlir | FileCheck %s
// Check that windows within each channel are one command on aligned tensors if the init is neutral. Reductions of whole
// dims are windows, too.

#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 128>
!x = memref<2x5x7x6xf32, #layout.npu_scatter<aligned, start = 3, target = #npu>, #npu.memory<local>>
!w = memref<5x3x2xf32, #layout.npu_scatter<compact, start = 3, axes = "CHW", target = #npu>, #npu.memory<local>>
!y = memref<2x5x3x5xf32, #layout.npu_scatter<aligned, start = 3, target = #npu>, #npu.memory<local>>
!k = memref<3x2xf32, #layout.npu_scatter<compact, start = 0, axes = "HW", target = #npu>, #npu.memory<local>>
!s = memref<2x5x7xf32, #layout.npu_scatter<aligned, start = 3, axes = "NCH", target = #npu>, #npu.memory<local>>

// CHECK-LABEL: void npu_depthwise(
// CHECK: dim4 [[IN:v[0-9]+]] = {2, 5, 7, 6};
// CHECK-NEXT: dim4* [[IN_AT:v[0-9]+]] = &[[IN]];
// CHECK-NEXT: dim2 [[STRIDE:v[0-9]+]] = {2, 1};
// CHECK-NEXT: dim2* [[STRIDE_AT:v[0-9]+]] = &[[STRIDE]];
// CHECK-NEXT: dim2 [[DILATION:v[0-9]+]] = {1, 1};
// CHECK-NEXT: dim2* [[DILATION_AT:v[0-9]+]] = &[[DILATION]];
// CHECK-NEXT: okk_bdc_depthwise2d({{[0-9]+}}u, {{[0-9]+}}u, {{[0-9]+}}u, 0u, [[IN_AT]], 3, 2, false, nullptr, [[STRIDE_AT]], [[DILATION_AT]]);
func.func @depthwise() {
  %x = npu.alloc : !x
  %w = npu.alloc : !w
  %y = npu.alloc : !y
  npu.fill 1.0 : f32 to %x on dma : !x
  npu.fill 1.0 : f32 to %w on dma : !w
  npu.fill 0.0 : f32 to %y on dma : !y
  linalg.depthwise_conv_2d_nchw_chw {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : !x, !w) outs(%y : !y)
  return
}

// CHECK-LABEL: void npu_maximum(
// CHECK: okk_bdc_max_pool2d({{[0-9]+}}u, {{[0-9]+}}u, {{v[0-9]+}}, 3, 2, nullptr, {{v[0-9]+}});
func.func @maximum() {
  %x = npu.alloc : !x
  %k = npu.alloc : !k
  %y = npu.alloc : !y
  npu.fill 1.0 : f32 to %x on dma : !x
  npu.fill 0xFF800000 : f32 to %y on dma : !y
  linalg.pooling_nchw_max {strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %k : !x, !k) outs(%y : !y)
  return
}

// The init is not minus infinity: an additional maximum with each of the six elements.
// CHECK-LABEL: void npu_clipped(
// CHECK-NOT: okk_bdc_max_pool2d
// CHECK-COUNT-6: okk_bdc_max(
// CHECK-NOT: okk_bdc
func.func @clipped() {
  %x = npu.alloc : !x
  %k = npu.alloc : !k
  %y = npu.alloc : !y
  npu.fill 1.0 : f32 to %x on dma : !x
  npu.fill 0.0 : f32 to %y on dma : !y
  linalg.pooling_nchw_max {strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %k : !x, !k) outs(%y : !y)
  return
}

// The average over all of W, times the 6 elements.
// CHECK-LABEL: void npu_sums(
// CHECK: okk_bdc_avg_pool2d([[S:[0-9]+]]u, {{[0-9]+}}u, {{v[0-9]+}}, 1, 6, nullptr, {{v[0-9]+}});
// CHECK: dim4 [[OUT:v[0-9]+]] = {2, 5, 7, 1};
// CHECK-NEXT: dim4* [[OUT_AT:v[0-9]+]] = &[[OUT]];
// CHECK-NEXT: okk_bdc_mul_C([[S]]u, [[S]]u, 6.000000000e+00f, [[OUT_AT]], nullptr, nullptr);
func.func @sums() {
  %x = npu.alloc : !x
  %s = npu.alloc : !s
  npu.fill 1.0 : f32 to %x on dma : !x
  npu.fill 0.0 : f32 to %s on dma : !s
  linalg.reduce {arith.addf} ins(%x : !x) outs(%s : !s) dimensions = [3]
  return
}
