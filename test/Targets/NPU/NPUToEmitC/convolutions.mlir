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

// A stride of 16 exceeds the four bits of a command: the even and the odd columns are two commands with the stride 8.
// The second one starts one column (4 bytes) and one pair of weights (8 bytes) later.
!xl = memref<1x3x2x40xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!wl = memref<6x3x1x5xf32, #layout.npu_scatter<compact, start = 0, pack = ic2, axes = "CNHW", target = #npu>, #npu.memory<local>>
!yl = memref<1x6x2x3xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
// CHECK-LABEL: void npu_long_stride(
// CHECK: dim4 [[EVEN:v[0-9]+]] = {1, 3, 2, 19};
// CHECK: dim4 [[EVERY2:v[0-9]+]] = {240, 80, 40, 2};
// CHECK: dim4 [[PAIRS:v[0-9]+]] = {10, 5, 5, 2};
// CHECK: dim2 [[STRIDE:v[0-9]+]] = {1, 8};
// CHECK: dim2 [[DILATION:v[0-9]+]] = {1, 1};
// CHECK: okk_bdc_conv2d([[Y:[0-9]+]]u, 0u, 512u, 0u, {{v[0-9]+}}, 6, 1, 3, {{v[0-9]+}}, {{v[0-9]+}}, false, true, nullptr, {{v[0-9]+}}, {{v[0-9]+}});
// CHECK: dim4 [[ODD:v[0-9]+]] = {1, 3, 2, 18};
// CHECK: okk_bdc_conv2d([[Y]]u, 4u, 520u, 0u, {{v[0-9]+}}, 6, 1, 2, {{v[0-9]+}}, {{v[0-9]+}}, false, true, nullptr, {{v[0-9]+}}, {{v[0-9]+}});
// CHECK-NOT: okk_bdc
func.func @long_stride() {
  %x = npu.alloc {address = 0} : !xl
  %w = npu.alloc {address = 512} : !wl
  %y = npu.alloc {address = 1024} : !yl
  %part = npu.subview %x [0, 0, 0, 0] [1, 3, 2, 37] [1, 1, 1, 1] : !xl
    to memref<1x3x2x37xf32, #layout.npu_scatter<strided [96, 96, 40, 1], start = 0, target = #npu>, #npu.memory<local>>
  npu.fill 1.0 : f32 to %x on dma : !xl
  npu.fill 1.0 : f32 to %w on dma : !wl
  npu.fill 0.0 : f32 to %y on dma : !yl
  linalg.conv_2d_nchw_fchw {strides = dense<[1, 16]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%part, %w : memref<1x3x2x37xf32, #layout.npu_scatter<strided [96, 96, 40, 1], start = 0, target = #npu>, #npu.memory<local>>, !wl) outs(%y : !yl)
  return
}

// A dilation of 17 exceeds the limit of 16: each column of the kernel is a command.
!xd = memref<1x3x1x37xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!wd = memref<6x3x1x3xf32, #layout.npu_scatter<compact, start = 0, pack = ic2, axes = "CNHW", target = #npu>, #npu.memory<local>>
!yd = memref<1x6x1x3xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
// CHECK-LABEL: void npu_long_dilation(
// CHECK: okk_bdc_conv2d({{[0-9]+}}u, 0u, 512u, 0u, {{v[0-9]+}}, 6, 1, 1,
// CHECK: okk_bdc_conv2d({{[0-9]+}}u, 68u, 520u, 0u, {{v[0-9]+}}, 6, 1, 1,
// CHECK: okk_bdc_conv2d({{[0-9]+}}u, 136u, 528u, 0u, {{v[0-9]+}}, 6, 1, 1,
// CHECK-NOT: okk_bdc
func.func @long_dilation() {
  %x = npu.alloc {address = 0} : !xd
  %w = npu.alloc {address = 512} : !wd
  %y = npu.alloc {address = 1024} : !yd
  npu.fill 1.0 : f32 to %x on dma : !xd
  npu.fill 1.0 : f32 to %w on dma : !wd
  npu.fill 0.0 : f32 to %y on dma : !yd
  linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<[1, 17]> : tensor<2xi64>}
      ins(%x, %w : !xd, !wd) outs(%y : !yd)
  return
}
