// Check that a convolution with padding, bias and activation is one kernel with one work-item per pixel.

// RUN: layout-opt %s --convert-layout-to-gpu --lower-affine --canonicalize --cse --remarks-filter=convert-layout-to-gpu --remark-format=emitRemark 2>&1 | FileCheck %s

#img = #layout.rgba_image<in_out_channel, "NCHW">
#flt = #layout.rgba_image<conv2d_filter>
#arg = #layout.rgba_image<argument>

// CHECK: kernel layout_convert_0: 0 image reads and 4 buffer reads for each of 128 pixels
// CHECK: kernel layout_convert_1: 0 image reads and 4 buffer reads for each of 108 pixels
// CHECK: kernel arith_maximumf_0: 91 image reads (90 in loops) and 0 buffer reads for each of 128 pixels
// CHECK: kernel layout_convert_{{[0-9]}}: 1 image reads and 0 buffer reads for each of 448 elements

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<1x6x8x8xf32>, %[[W:.*]]: memref<7x6x3x3xf32>, %{{.*}}: memref<7xf32>) -> memref<1x7x8x8xf32>
// CHECK: %[[XB:.*]] = gpu.alloc () : memref<384xf32, "buffer">
// CHECK: gpu.memcpy %[[XB]], %{{.*}} : memref<384xf32, "buffer">, memref<384xf32>
// CHECK: %[[XI:.*]] = gpu.alloc () : memref<8x16xvector<4xf32>, "image2d">
// CHECK: gpu.launch_func @kernels::@layout_convert_0 {{.*}} args(%[[XB]] {{.*}}, %[[XI]] {{.*}})
// CHECK: gpu.dealloc %[[XB]]
// CHECK: gpu.launch_func @kernels::@arith_maximumf_0
// CHECK: gpu.launch_func @kernels::@layout_convert_3
// CHECK-NOT: gpu.launch_func
// CHECK: return %{{.*}} : memref<1x7x8x8xf32>

// CHECK: gpu.func @arith_maximumf_0(%[[IN:.*]]: memref<8x16xvector<4xf32>, "image2d">, %[[FILTER:.*]]: memref<18x6xvector<4xf32>, "image2d">, %[[BIAS:.*]]: memref<1x2xvector<4xf32>, "image2d">, %[[OUT:.*]]: memref<8x16xvector<4xf32>, "image2d">) kernel
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[COLUMN:.*]] = arith.select %{{.*}}, %{{.*}}, %c-1 : index
// CHECK: %[[PIXEL:.*]] = memref.load %[[IN]][%{{.*}}, %[[COLUMN]]]
// CHECK: vector.extract %[[PIXEL]][0]
// CHECK: memref.load %[[FILTER]]
// CHECK: vector.extract %[[PIXEL]][1]
// CHECK: memref.load %[[FILTER]]
// CHECK: vector.extract %[[PIXEL]][2]
// CHECK: memref.load %[[FILTER]]
// CHECK: vector.extract %[[PIXEL]][3]
// CHECK: memref.load %[[FILTER]]
// CHECK: %[[B:.*]] = memref.load %[[BIAS]]
// CHECK: arith.addf %{{.*}}, %[[B]] : vector<4xf32>
// CHECK: arith.maximumf
// CHECK: memref.store %{{.*}}, %[[OUT]]
// CHECK-NOT: layout.
func.func @main(%x0: tensor<1x6x8x8xf32>, %w0: tensor<7x6x3x3xf32>, %b0: tensor<7xf32>) -> tensor<1x7x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %x = layout.convert %x0 : tensor<1x6x8x8xf32> to tensor<1x6x8x8xf32, #img>
  %w = layout.convert %w0 : tensor<7x6x3x3xf32> to tensor<7x6x3x3xf32, #flt>
  %b = layout.convert %b0 : tensor<7xf32> to tensor<7xf32, #arg>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x6x8x8xf32, #img> to tensor<1x6x10x10xf32, #img>
  %e = tensor.empty() : tensor<1x7x8x8xf32, #img>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x7x8x8xf32, #img>) -> tensor<1x7x8x8xf32, #img>
  %c = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x6x10x10xf32, #img>, tensor<7x6x3x3xf32, #flt>)
                                outs(%f : tensor<1x7x8x8xf32, #img>) -> tensor<1x7x8x8xf32, #img>
  %bb = linalg.broadcast ins(%b : tensor<7xf32, #arg>) outs(%e : tensor<1x7x8x8xf32, #img>) dimensions = [0, 2, 3]
  %s = arith.addf %c, %bb : tensor<1x7x8x8xf32, #img>
  %z = arith.constant dense<0.0> : tensor<1x7x8x8xf32, #img>
  %r = arith.maximumf %s, %z : tensor<1x7x8x8xf32, #img>
  %y = layout.convert %r : tensor<1x7x8x8xf32, #img> to tensor<1x7x8x8xf32>
  return %y : tensor<1x7x8x8xf32>
}
