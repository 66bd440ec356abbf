// RUN: layout-opt %s --layout-prepare-crop-pads --canonicalize --split-input-file | FileCheck %s
// Check that padding with negative amounts becomes a slice and nonnegative
// padding.
// RUN: layout-opt %s --layout-prepare-crop-pads --split-input-file -o %t.once.mlir
// RUN: layout-opt %t.once.mlir --layout-prepare-crop-pads --split-input-file | diff %t.once.mlir -

// CHECK-LABEL: func @one_side
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[1] [5] [1] : tensor<6xf32> to tensor<5xf32>
// CHECK: tensor.pad %[[S]] low[0] high[2]
// CHECK: tensor<5xf32> to tensor<7xf32>
func.func @one_side(%x: tensor<6xf32>, %z: f32) -> tensor<7xf32> {
  %p = tensor.pad %x low[-1] high[2] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<6xf32> to tensor<7xf32>
  return %p : tensor<7xf32>
}

// -----

// CHECK-LABEL: func @dynamic_size
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[0, 0] [%{{.*}}, 4] [1, 1] : tensor<?x6xf32> to tensor<?x4xf32>
// CHECK-NOT: tensor.pad
// CHECK: return %[[S]]
func.func @dynamic_size(%x: tensor<?x6xf32>, %z: f32) -> tensor<?x4xf32> {
  %p = tensor.pad %x low[0, 0] high[0, -2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x6xf32> to tensor<?x4xf32>
  return %p : tensor<?x4xf32>
}

// -----

// More elements are removed than exist.
// CHECK-LABEL: func @nothing_left
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3xf32>
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[E]]
// CHECK-NOT: tensor.pad
// CHECK: return
func.func @nothing_left(%x: tensor<2xf32>, %z: f32) -> tensor<3xf32> {
  %p = tensor.pad %x low[-3] high[4] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<2xf32> to tensor<3xf32>
  return %p : tensor<3xf32>
}

// -----

// The sign is known at run time only.
// CHECK: #[[CROP:.*]] = affine_map<()[s0] -> (-s0, 0)>
// CHECK-LABEL: func @amounts_of_the_run
// CHECK: affine.max #[[CROP]]()[%arg1]
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: tensor.pad %[[S]]
func.func @amounts_of_the_run(%x: tensor<?xf32>, %low: index, %high: index, %z: f32) -> tensor<?xf32> {
  %p = tensor.pad %x low[%low] high[%high] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %p : tensor<?xf32>
}

// -----

// Sizes, and values known to be nonnegative, only add elements.
// CHECK-LABEL: func @adds_only
// CHECK-NOT: tensor.extract_slice
// CHECK: return
func.func @adds_only(%x: tensor<?xf32>, %n: index, %z: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %m = affine.max affine_map<()[s0] -> (s0 - 8, 0)>()[%n]
  %o = arith.maxsi %n, %c0 : index
  %q = tensor.pad %x low[%d] high[%m] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<?xf32>
  %p = tensor.pad %q low[0] high[%o] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %p : tensor<?xf32>
}

// -----

// The slice of a source with a stated layout is row-major.
// CHECK-LABEL: func @stated
// CHECK: tensor.extract_slice %{{.*}}[1, 0] [31, 8] [1, 1] : tensor<32x8xf32, #{{.*}}> to tensor<31x8xf32>
func.func @stated(%x: tensor<32x8xf32, #layout.blocked<"AB" to "AB16a">>, %z: f32)
    -> tensor<31x8xf32, #layout.blocked<"AB" to "AB16a">> {
  %p = tensor.pad %x low[-1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<32x8xf32, #layout.blocked<"AB" to "AB16a">> to tensor<31x8xf32, #layout.blocked<"AB" to "AB16a">>
  return %p : tensor<31x8xf32, #layout.blocked<"AB" to "AB16a">>
}
