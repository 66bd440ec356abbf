// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-emit-kernels{parallel-loops=false}),layout-bufferize,cse,canonicalize,func.func(layout-tile-transposes{parallel-loops=false}),canonicalize,cse)" | FileCheck %s

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

// Padding before the channels is filled by itself.
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

// Seven elements are no rows of a tile.
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
