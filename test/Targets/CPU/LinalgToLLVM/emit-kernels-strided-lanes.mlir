// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels),canonicalize,cse)" | FileCheck %s

// Adjacent results read every other element: two vector loads, the second of
// which ends with the last element, and a shuffle.
// CHECK-LABEL: func.func @pool
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[LOW:.*]] = vector.transfer_read {{.*}} {in_bounds = [true]} : memref<4x21x33xf32>, vector<8xf32>
// CHECK: %[[SEVEN:.*]] = arith.addi %{{.*}}, %c7
// CHECK: %[[HIGH:.*]] = vector.transfer_read %{{.*}}[{{.*}}, %[[SEVEN]]]
// CHECK: vector.shuffle %[[LOW]], %[[HIGH]] [0, 2, 4, 6, 9, 11, 13, 15]
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
#in = affine_map<(c, h, w, kh, kw) -> (c, 2 * h + kh, 2 * w + kw)>
#window = affine_map<(c, h, w, kh, kw) -> (kh, kw)>
#out = affine_map<(c, h, w, kh, kw) -> (c, h, w)>
func.func @pool(%x: tensor<4x21x33xf32>, %k: tensor<3x3xf32>, %r: tensor<4x10x16xf32>) -> tensor<4x10x16xf32> {
  %y = linalg.generic {indexing_maps = [#in, #window, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %k : tensor<4x21x33xf32>, tensor<3x3xf32>) outs(%r : tensor<4x10x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<4x10x16xf32>
  return %y : tensor<4x10x16xf32>
}

// -----

// Three elements apart: three loads.
// CHECK-LABEL: func.func @thirds
// CHECK: %[[A:.*]] = vector.transfer_read
// CHECK: %[[B:.*]] = vector.transfer_read
// CHECK: %[[AB:.*]] = vector.shuffle %[[A]], %[[B]] [0, 3, 6, 8, 11, 14, -1, -1]
// CHECK: %[[C:.*]] = vector.transfer_read
// CHECK: vector.shuffle %[[AB]], %[[C]] [0, 1, 2, 3, 4, 5, 12, 15]
#third = affine_map<(i) -> (3 * i)>
#all = affine_map<(i) -> (i)>
func.func @thirds(%x: tensor<22xf32>, %r: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.generic {indexing_maps = [#third, #all], iterator_types = ["parallel"]}
      ins(%x : tensor<22xf32>) outs(%r : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// A long contiguous reduction has its own lanes: no shuffles.
// CHECK-LABEL: func.func @long_windows
// CHECK-NOT: vector.shuffle
// CHECK: vector.reduction <add>
// CHECK-NOT: vector.shuffle
#frames = affine_map<(o, w, k) -> (2 * w + k)>
#filters = affine_map<(o, w, k) -> (o, k)>
#bins = affine_map<(o, w, k) -> (o, w)>
func.func @long_windows(%x: tensor<430xf32>, %k: tensor<6x400xf32>, %r: tensor<6x16xf32>) -> tensor<6x16xf32> {
  %y = linalg.generic {indexing_maps = [#frames, #filters, #bins],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %k : tensor<430xf32>, tensor<6x400xf32>) outs(%r : tensor<6x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<6x16xf32>
  return %y : tensor<6x16xf32>
}

// -----

// Two adjacent results read one element: a vector of half the lanes, and a
// shuffle. The last vector has the six lanes that are left.
// CHECK-LABEL: func.func @doubled
// CHECK: %[[HALF:.*]] = vector.transfer_read {{.*}} {in_bounds = [true]} : memref<2x11xf32>, vector<4xf32>
// CHECK: vector.shuffle %[[HALF]], %[[HALF]] [0, 0, 1, 1, 2, 2, 3, 3]
// CHECK: %[[REST:.*]] = vector.transfer_read %{{.*}}[%{{.*}}, %c8], %{{.*}} {in_bounds = [true]} : memref<2x11xf32>, vector<3xf32>
// CHECK: vector.shuffle %[[REST]], %[[REST]] [0, 0, 1, 1, 2, 2]
#halves = affine_map<(h, w) -> (h floordiv 2, w floordiv 2)>
#image = affine_map<(h, w) -> (h, w)>
func.func @doubled(%x: tensor<2x11xf32>, %r: tensor<4x22xf32>) -> tensor<4x22xf32> {
  %y = linalg.generic {indexing_maps = [#halves, #image], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x11xf32>) outs(%r : tensor<4x22xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x22xf32>
  return %y : tensor<4x22xf32>
}

// -----

// Tiles of a dynamic extent may begin at an odd lane: no vectors.
// CHECK-LABEL: func.func @dynamic_doubled
// CHECK-NOT: vector.transfer_read
#halves = affine_map<(w) -> (w floordiv 2)>
#row = affine_map<(w) -> (w)>
func.func @dynamic_doubled(%x: tensor<?xf32>, %r: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.generic {indexing_maps = [#halves, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%r : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
