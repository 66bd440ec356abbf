// Check that storage of a tensor without elements has one position, and that
// nothing else is read: positions before the first one are clamped to it, too.

// RUN: layout-opt %s --convert-layout-to-gpu --lower-affine --canonicalize --cse --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @static
// CHECK: gpu.alloc () : memref<1xf32, "buffer">
// CHECK-NOT: gpu.memcpy {{.*}} : memref<1xf32, "buffer">
// CHECK: gpu.func @tensor_pad_0
// CHECK: %[[BELOW:.*]] = arith.minsi %{{.*}}, %c-1 : index
// CHECK: %[[INSIDE:.*]] = arith.maxsi %[[BELOW]], %c0 : index
// CHECK: memref.load %{{.*}}[%[[INSIDE]]] : memref<1xf32, "buffer">
func.func @static(%x: tensor<0x4xf32>) -> tensor<2x4xf32> {
  %z = arith.constant 1.5 : f32
  %p = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<0x4xf32> to tensor<2x4xf32>
  return %p : tensor<2x4xf32>
}

// -----

// Lanes of one pixel come from both tensors, so both are read, also outside of
// their images: no index is clamped.

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[ROOM:.*]] = arith.maxsi %{{.*}}, %c1 : index
// CHECK: gpu.alloc (%[[ROOM]]) : memref<?xf32, "buffer">
// CHECK: gpu.func @tensor_concat_0
// CHECK: %[[X:.*]] = gpu.global_id x
// CHECK-NOT: arith.m{{ax|in}}si
// CHECK: memref.load %{{.*}}[%c0, %[[X]]] : memref<1x?xvector<4xf32>, "image2d">
#img = #layout.rgba_image<argument>
func.func @dynamic(%x0: tensor<?xf32>, %y0: tensor<4xf32>) -> tensor<?xf32> {
  %x = layout.convert %x0 : tensor<?xf32> to tensor<?xf32, #img>
  %y = layout.convert %y0 : tensor<4xf32> to tensor<4xf32, #img>
  %c = tensor.concat dim(0) %x, %y : (tensor<?xf32, #img>, tensor<4xf32, #img>) -> tensor<?xf32, #img>
  %r = layout.convert %c : tensor<?xf32, #img> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// For storage with elements, it is the first position as well.

// CHECK-LABEL: func.func @in_front
// CHECK: gpu.func @tensor_pad_0
// CHECK: %[[INSIDE:.*]] = arith.maxsi %{{.*}}, %c0 : index
// CHECK: memref.load %{{.*}}[%[[INSIDE]]] : memref<6xf32, "buffer">
func.func @in_front(%x: tensor<6xf32>) -> tensor<8xf32> {
  %z = arith.constant 2.0 : f32
  %p = tensor.pad %x low[2] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<6xf32> to tensor<8xf32>
  return %p : tensor<8xf32>
}
