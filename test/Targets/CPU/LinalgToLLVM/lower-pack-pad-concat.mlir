// Check that packs, pads and concatenations become fills and copies.
// RUN: layout-opt %s -split-input-file -layout-cpu-lower-pack-pad-concat | FileCheck %s

// CHECK-LABEL: func.func @pack
// CHECK-NOT: linalg.pack
// CHECK: linalg.fill
// CHECK: tensor.extract_slice
// CHECK: linalg.copy
// CHECK: tensor.insert_slice
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
func.func @pack(%x: tensor<2x13x7xf32>) -> tensor<2x2x7x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x7x8xf32>
  %r = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [1] inner_tiles = [8]
      into %e : tensor<2x13x7xf32> -> tensor<2x2x7x8xf32>
  return %r : tensor<2x2x7x8xf32>
}

// -----

// CHECK-LABEL: func.func @unpack
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice
// CHECK-NOT: linalg.unpack
func.func @unpack(%x: tensor<2x2x7x8xf32>) -> tensor<2x13x7xf32> {
  %e = tensor.empty() : tensor<2x13x7xf32>
  %r = linalg.unpack %x inner_dims_pos = [1] inner_tiles = [8]
      into %e : tensor<2x2x7x8xf32> -> tensor<2x13x7xf32>
  return %r : tensor<2x13x7xf32>
}

// -----

// The interior of a padded tensor is the destination of the copy.
// CHECK-LABEL: func.func @pad
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: %[[INTERIOR:.*]] = tensor.extract_slice %[[FILLED]][0, 1] [%{{.*}}, 5] [1, 1]
// CHECK: %[[COPY:.*]] = linalg.copy {{.*}} outs(%[[INTERIOR]]
// CHECK: tensor.insert_slice %[[COPY]] into %[[FILLED]][0, 1] [%{{.*}}, 5] [1, 1]
func.func @pad(%x: tensor<?x5xf32>) -> tensor<?x7xf32> {
  %one = arith.constant 1.0 : f32
  %r = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<?x5xf32> to tensor<?x7xf32>
  return %r : tensor<?x7xf32>
}

// -----

// If padding is a small part of the result, only that is filled, side by side.
// CHECK-LABEL: func.func @thin
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<3x21x34xf32>
// CHECK: tensor.extract_slice %[[EMPTY]][0, 0, 0] [3, 1, 34] [1, 1, 1]
// CHECK: linalg.fill
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0] [3, 20, 1] [1, 1, 1]
// CHECK: linalg.fill
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 32] [3, 20, 2] [1, 1, 1]
// CHECK: %[[LAST:.*]] = linalg.fill
// CHECK: %[[AROUND:.*]] = tensor.insert_slice %[[LAST]]
// CHECK: %[[INTERIOR:.*]] = tensor.extract_slice %[[AROUND]][0, 1, 1] [3, 20, 31] [1, 1, 1]
// CHECK: linalg.copy {{.*}} outs(%[[INTERIOR]]
// CHECK-NOT: linalg.fill
func.func @thin(%x: tensor<3x20x31xf32>) -> tensor<3x21x34xf32> {
  %one = arith.constant 1.0 : f32
  %r = tensor.pad %x low[0, 1, 1] high[0, 0, 2] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %one : f32
  } : tensor<3x20x31xf32> to tensor<3x21x34xf32>
  return %r : tensor<3x21x34xf32>
}

// -----

// CHECK-LABEL: func.func @thick
// CHECK-COUNT-1: linalg.fill
// CHECK-NOT: linalg.fill
func.func @thick(%x: tensor<3x7x7xf32>) -> tensor<3x9x9xf32> {
  %one = arith.constant 1.0 : f32
  %r = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %one : f32
  } : tensor<3x7x7xf32> to tensor<3x9x9xf32>
  return %r : tensor<3x9x9xf32>
}

// -----

// Dynamic sizes are assumed to be large. An elementwise producer of the interior writes it in place; uses of its sizes
// become those of its init.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<8x?xf32>, %[[E:.*]]: tensor<8x?xf32>
// CHECK: %[[EMPTY:.*]] = tensor.empty
// CHECK: tensor.extract_slice %[[EMPTY]][0, 0] [8, 2] [1, 1]
// CHECK: linalg.fill
// CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}] [8, 1] [1, 1]
// CHECK: linalg.fill
// CHECK: %[[AROUND:.*]] = tensor.insert_slice
// CHECK: %[[INTERIOR:.*]] = tensor.extract_slice %[[AROUND]][0, 2] [8, %[[SIZE:.*]]] [1, 1]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] {{.*}} outs(%[[INTERIOR]]
// CHECK: tensor.insert_slice %[[Y]] into %[[AROUND]][0, 2] [8, %[[SIZE]]] [1, 1]
// CHECK-NOT: tensor.dim %[[Y]]
func.func @dynamic(%x: tensor<8x?xf32>, %e: tensor<8x?xf32>) -> (tensor<8x?xf32>, index) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x?xf32>) outs(%e : tensor<8x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %negative = arith.negf %in : f32
    linalg.yield %negative : f32
  } -> tensor<8x?xf32>
  %r = tensor.pad %y low[0, 2] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x?xf32> to tensor<8x?xf32>
  %size = tensor.dim %y, %one : tensor<8x?xf32>
  return %r, %size : tensor<8x?xf32>, index
}

// -----

// CHECK-LABEL: func.func @concat
// CHECK-COUNT-2: tensor.insert_slice
// CHECK-NOT: tensor.concat
func.func @concat(%x: tensor<3x2xf32>, %y: tensor<3x4xf32>) -> tensor<3x6xf32> {
  %r = tensor.concat dim(1) %x, %y : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}

// -----

// The stride along a dim with one index has no effect, but hides which dim is dropped once the slice is a view of
// memory.
// CHECK-LABEL: func @one_index
// CHECK: tensor.extract_slice %{{.*}}[1, 0, 2, 0] [1, 4, 1, 2] [1, 1, 1, 2] : tensor<2x4x4x3xf32> to tensor<4x1x2xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[1, 0, 2, 0] [1, 4, 1, 2] [1, 1, 1, 2] : tensor<4x1x2xf32> into tensor<2x4x4x3xf32>
func.func @one_index(%a: tensor<2x4x4x3xf32>, %b: tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32> {
  %s = tensor.extract_slice %a[1, 0, 2, 0] [1, 4, 1, 2] [3, 1, 2, 2] : tensor<2x4x4x3xf32> to tensor<4x1x2xf32>
  %r = tensor.insert_slice %s into %b[1, 0, 2, 0] [1, 4, 1, 2] [1, 1, 5, 2] : tensor<4x1x2xf32> into tensor<2x4x4x3xf32>
  return %r : tensor<2x4x4x3xf32>
}
