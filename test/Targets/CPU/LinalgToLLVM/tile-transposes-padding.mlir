// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels{parallel-loops=false}),layout-cpu-bufferize,cse,canonicalize,func.func(layout-cpu-tile-transposes{parallel-loops=false}),canonicalize,cse)" | FileCheck %s

// Three channels and their padding are one store of 8 elements for each pixel.
// CHECK-LABEL: func.func @padding_in_the_last_dim
// CHECK: %[[FILLER:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: %[[RESULT:.*]] = memref.alloc() {{.*}} : memref<64x8xf32>
// CHECK: memref.reinterpret_cast %[[RESULT]] to offset: [0], sizes: [512]
// CHECK-NOT: linalg.fill
// CHECK: scf.for {{.*}} to %c64 step %c16
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: %[[ZEROS:.*]] = vector.bitcast %[[FILLER]]
// CHECK: vector.shuffle %{{.*}}, %[[ZEROS]]
// CHECK-COUNT-2: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-8: vector.store {{.*}} vector<8xf32>
// CHECK: return %[[RESULT]]
func.func @padding_in_the_last_dim(%x: tensor<3x64xf32>) -> tensor<64x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x8xf32>
  %rest = tensor.extract_slice %e[0, 3] [64, 5] [1, 1] : tensor<64x8xf32> to tensor<64x5xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rest : tensor<64x5xf32>) -> tensor<64x5xf32>
  %padded = tensor.insert_slice %zeros into %e[0, 3] [64, 5] [1, 1] : tensor<64x5xf32> into tensor<64x8xf32>
  %f = tensor.empty() : tensor<64x3xf32>
  %copy = linalg.transpose ins(%x : tensor<3x64xf32>) outs(%f : tensor<64x3xf32>) permutation = [1, 0]
  %r = tensor.insert_slice %copy into %padded[0, 0] [64, 3] [1, 1] : tensor<64x3xf32> into tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}

// -----

// Padding before the channels is filled separately.
// CHECK-LABEL: func.func @padding_before
// CHECK: vector.transfer_write {{.*}} vector<5xf32>
// CHECK: vector.store
func.func @padding_before(%x: tensor<3x64xf32>) -> tensor<64x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x8xf32>
  %rest = tensor.extract_slice %e[0, 0] [64, 5] [1, 1] : tensor<64x8xf32> to tensor<64x5xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rest : tensor<64x5xf32>) -> tensor<64x5xf32>
  %padded = tensor.insert_slice %zeros into %e[0, 0] [64, 5] [1, 1] : tensor<64x5xf32> into tensor<64x8xf32>
  %f = tensor.empty() : tensor<64x3xf32>
  %copy = linalg.transpose ins(%x : tensor<3x64xf32>) outs(%f : tensor<64x3xf32>) permutation = [1, 0]
  %r = tensor.insert_slice %copy into %padded[0, 5] [64, 3] [1, 1] : tensor<64x3xf32> into tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}

// -----

// Seven elements do not form rows of a tile.
// CHECK-LABEL: func.func @odd_padding
// CHECK: vector.transfer_write {{.*}} vector<4xf32>
// CHECK: vector.store
func.func @odd_padding(%x: tensor<3x64xf32>) -> tensor<64x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x7xf32>
  %rest = tensor.extract_slice %e[0, 3] [64, 4] [1, 1] : tensor<64x7xf32> to tensor<64x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rest : tensor<64x4xf32>) -> tensor<64x4xf32>
  %padded = tensor.insert_slice %zeros into %e[0, 3] [64, 4] [1, 1] : tensor<64x4xf32> into tensor<64x7xf32>
  %f = tensor.empty() : tensor<64x3xf32>
  %copy = linalg.transpose ins(%x : tensor<3x64xf32>) outs(%f : tensor<64x3xf32>) permutation = [1, 0]
  %r = tensor.insert_slice %copy into %padded[0, 0] [64, 3] [1, 1] : tensor<64x3xf32> into tensor<64x7xf32>
  return %r : tensor<64x7xf32>
}

// -----

// Five elements of a row of 21 and their padding are one store, assembled from two overlapping loads.
// CHECK-LABEL: func.func @rest_of_rows
// CHECK-NOT: linalg.fill
// CHECK: scf.for %{{.*}} to %c1000{{.*}} step %c8
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: scf.for %{{.*}} to %c1000{{.*}} step %c8
// CHECK-COUNT-2: vector.load {{.*}} vector<4xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 7, 8, 8, 8]
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: return
func.func @rest_of_rows(%x: tensor<1000x21xf32>) -> tensor<3x1000x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x1000x8xf32>
  %blocks = tensor.extract_slice %x[0, 0] [1000, 16] [1, 1] : tensor<1000x21xf32> to tensor<1000x16xf32>
  %expanded = tensor.expand_shape %blocks [[0], [1, 2]] output_shape [1000, 2, 8] : tensor<1000x16xf32> into tensor<1000x2x8xf32>
  %f = tensor.extract_slice %e[0, 0, 0] [2, 1000, 8] [1, 1, 1] : tensor<3x1000x8xf32> to tensor<2x1000x8xf32>
  %whole = linalg.transpose ins(%expanded : tensor<1000x2x8xf32>) outs(%f : tensor<2x1000x8xf32>) permutation = [1, 0, 2]
  %some = tensor.insert_slice %whole into %e[0, 0, 0] [2, 1000, 8] [1, 1, 1] : tensor<2x1000x8xf32> into tensor<3x1000x8xf32>
  %behind = tensor.extract_slice %some[2, 0, 5] [1, 1000, 3] [1, 1, 1] : tensor<3x1000x8xf32> to tensor<1x1000x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%behind : tensor<1x1000x3xf32>) -> tensor<1x1000x3xf32>
  %padded = tensor.insert_slice %zeros into %some[2, 0, 5] [1, 1000, 3] [1, 1, 1] : tensor<1x1000x3xf32> into tensor<3x1000x8xf32>
  %rest = tensor.extract_slice %x[0, 16] [1000, 5] [1, 1] : tensor<1000x21xf32> to tensor<1000x5xf32>
  %block = tensor.expand_shape %rest [[0, 1], [2]] output_shape [1, 1000, 5] : tensor<1000x5xf32> into tensor<1x1000x5xf32>
  %r = tensor.insert_slice %block into %padded[2, 0, 0] [1, 1000, 5] [1, 1, 1] : tensor<1x1000x5xf32> into tensor<3x1000x8xf32>
  return %r : tensor<3x1000x8xf32>
}
