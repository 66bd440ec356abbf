// RUN: layout-opt %s --npu-assign-addresses --convert-npu-to-emitc -o %t.mlir
// RUN: layout-translate --mlir-to-cpp %t.mlir | FileCheck %s
// Check that a convolution is one command if its weights are in pairs of input
// channels and its result in the aligned layout; the input may have any layout.

#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 128>
!x = memref<2x5x9x8xf32, #layout.npu_scatter<compact, start = 1, target = #npu>, #npu.memory<local>>
!w = memref<6x5x3x2xf32, #layout.npu_scatter<compact, start = 3, pack = ic2, axes = "CNHW", target = #npu>, #npu.memory<local>>
!y = memref<2x6x4x6xf32, #layout.npu_scatter<aligned, start = 3, target = #npu>, #npu.memory<local>>

// Strides of weights count pairs.
// CHECK-LABEL: void npu_conv(
// CHECK: dim4 [[IN:v[0-9]+]] = {2, 5, 9, 8};
// CHECK-NEXT: dim4* [[IN_AT:v[0-9]+]] = &[[IN]];
// CHECK-NEXT: dim4 [[IN_STRIDE:v[0-9]+]] = {144, 72, 8, 1};
// CHECK-NEXT: dim4* [[IN_STRIDE_AT:v[0-9]+]] = &[[IN_STRIDE]];
// CHECK-NEXT: dim4 [[PAIRS:v[0-9]+]] = {18, 6, 2, 1};
// CHECK-NEXT: dim4* [[PAIRS_AT:v[0-9]+]] = &[[PAIRS]];
// CHECK-NEXT: dim2 [[STRIDE:v[0-9]+]] = {2, 1};
// CHECK-NEXT: dim2* [[STRIDE_AT:v[0-9]+]] = &[[STRIDE]];
// CHECK-NEXT: dim2 [[DILATION:v[0-9]+]] = {1, 2};
// CHECK-NEXT: dim2* [[DILATION_AT:v[0-9]+]] = &[[DILATION]];
// CHECK-NEXT: okk_bdc_conv2d({{[0-9]+}}u, {{[0-9]+}}u, {{[0-9]+}}u, 0u, [[IN_AT]], 6, 3, 2, [[IN_STRIDE_AT]], [[PAIRS_AT]], false, true, nullptr, [[STRIDE_AT]], [[DILATION_AT]]);
func.func @conv() {
  %x = npu.alloc : !x
  %w = npu.alloc : !w
  %y = npu.alloc : !y
  npu.fill 1.0 : f32 to %x on dma : !x
  npu.fill 1.0 : f32 to %w on dma : !w
  npu.fill 0.0 : f32 to %y on dma : !y
  linalg.conv_2d_nchw_fchw {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
      ins(%x, %w : !x, !w) outs(%y : !y)
  return
}
