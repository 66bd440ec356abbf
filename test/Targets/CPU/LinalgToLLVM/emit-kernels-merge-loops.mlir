// Check that parallel loops that are contiguous in every tensor become one
// loop.
//
// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels),canonicalize,cse)" | FileCheck %s
// RUN: layout-opt %s -layout-linalg-to-llvm=emit-kernels=false -o %t.plain.mlir
// RUN: layout-opt %s -layout-linalg-to-llvm -o %t.merged.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(300, dtype='f4').reshape(1, 6, 5, 10) % 7); np.save(r'%t.k.npy', np.arange(24, dtype='f4').reshape(4, 6, 1, 1) % 5)"
// RUN: %python -c "import numpy as np; np.save(r'%t.u.npy', np.arange(66, dtype='f4').reshape(2, 3, 11) % 7); np.save(r'%t.c.npy', np.arange(33, dtype='f4').reshape(3, 11, 1, 1) % 5)"
// RUN: layout-run %t.plain.mlir %t.merged.mlir --function=pixels --input=%t.x.npy --input=%t.k.npy --max-rel=0
// RUN: layout-run %t.plain.mlir %t.merged.mlir --function=part_of_another --input=%t.x.npy --input=%t.k.npy --max-rel=0
// RUN: layout-run %t.plain.mlir %t.merged.mlir --function=slice --input=%t.x.npy --max-rel=0
// RUN: layout-run %t.plain.mlir %t.merged.mlir --function=columns --input=%t.x.npy --max-rel=0

// The pixels of a 1x1 convolution, with its init from a tensor and its
// epilogue.
// CHECK-LABEL: func.func @pixels
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : tensor<1x6x5x10xf32> into tensor<1x6x50xf32>
// CHECK: cpu.kernel
// CHECK: scf.for %{{.*}} = %c0 to %c48 step
// CHECK-NOT: scf.for %{{.*}} = %c0 to %c5 step
// CHECK-NOT: cpu.kernel
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, 4, 5, 10]
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
func.func @pixels(%x: tensor<1x6x5x10xf32>, %k: tensor<4x6x1x1xf32>) -> tensor<1x4x5x10xf32> {
  %bias = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x5x10xf32>
  %b = linalg.generic {indexing_maps = [#channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%bias : tensor<4xf32>) outs(%e : tensor<1x4x5x10xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x4x5x10xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x6x5x10xf32>, tensor<4x6x1x1xf32>) outs(%b : tensor<1x4x5x10xf32>) -> tensor<1x4x5x10xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x4x5x10xf32>) outs(%e : tensor<1x4x5x10xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x4x5x10xf32>
  return %r : tensor<1x4x5x10xf32>
}

// A part of a larger tensor that is written is not collapsed.
// CHECK-LABEL: func.func @part_of_another
// CHECK: vector.transfer_write {{.*}}, memref<1x4x5x10xf32>
func.func @part_of_another(%x: tensor<1x6x5x10xf32>, %k: tensor<4x6x1x1xf32>) -> tensor<1x4x7x12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x5x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x5x10xf32>) -> tensor<1x4x5x10xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x6x5x10xf32>, tensor<4x6x1x1xf32>) outs(%f : tensor<1x4x5x10xf32>) -> tensor<1x4x5x10xf32>
  %b = tensor.empty() : tensor<1x4x7x12xf32>
  %g = linalg.fill ins(%zero : f32) outs(%b : tensor<1x4x7x12xf32>) -> tensor<1x4x7x12xf32>
  %r = tensor.insert_slice %c into %g[0, 0, 1, 1] [1, 4, 5, 10] [1, 1, 1, 1] : tensor<1x4x5x10xf32> into tensor<1x4x7x12xf32>
  return %r : tensor<1x4x7x12xf32>
}

// A part of a larger tensor that is read is not collapsed either.
// CHECK-LABEL: func.func @slice
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @slice(%x: tensor<1x6x5x10xf32>) -> tensor<1x6x3x8xf32> {
  %s = tensor.extract_slice %x[0, 0, 1, 1] [1, 6, 3, 8] [1, 1, 1, 1] : tensor<1x6x5x10xf32> to tensor<1x6x3x8xf32>
  %e = tensor.empty() : tensor<1x6x3x8xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<1x6x3x8xf32>) outs(%e : tensor<1x6x3x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<1x6x3x8xf32>
  return %r : tensor<1x6x3x8xf32>
}

// Rows and channels are one loop; an op with a value per column, or with
// linalg.index of the column, keeps the loop over columns.
// CHECK-LABEL: func.func @columns
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]] : tensor<1x6x5x10xf32> into tensor<1x30x10xf32>
// CHECK-NOT: tensor.collapse_shape %{{.*}} into tensor<300xf32>
// CHECK: return
func.func @columns(%x: tensor<1x6x5x10xf32>) -> (tensor<1x6x5x10xf32>, tensor<1x6x5x10xf32>) {
  %scale = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]> : tensor<10xf32>
  %e = tensor.empty() : tensor<1x6x5x10xf32>
  %r = linalg.generic {indexing_maps = [#all, affine_map<(n, c, h, w) -> (w)>, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %scale : tensor<1x6x5x10xf32>, tensor<10xf32>) outs(%e : tensor<1x6x5x10xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x6x5x10xf32>
  %d = tensor.empty() : tensor<1x6x5x10xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x6x5x10xf32>) outs(%d : tensor<1x6x5x10xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 3 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %m = arith.addf %a, %f : f32
    linalg.yield %m : f32
  } -> tensor<1x6x5x10xf32>
  return %r, %s : tensor<1x6x5x10xf32>, tensor<1x6x5x10xf32>
}

// Trailing unit dims do not separate neighbors: a bias per channel and the result of a global pooling are vectors.
// RUN: layout-run %t.plain.mlir %t.merged.mlir --function=unit_dims --input=%t.u.npy --input=%t.c.npy --max-rel=0
// RUN: layout-run %t.plain.mlir %t.merged.mlir --function=unit_result --input=%t.c.npy --max-rel=0
// RUN: layout-run %t.plain.mlir %t.merged.mlir --function=unit_part --input=%t.c.npy --max-rel=0
// CHECK-LABEL: func.func @unit_dims
// CHECK: tensor.collapse_shape %{{.*}} : tensor<3x11x1x1xf32> into tensor<33xf32>
// CHECK: vector.transfer_read %{{.*}} vector<8xf32>
#bias = affine_map<(h, n, c) -> (n, c, 0, 0)>
#pixels = affine_map<(h, n, c) -> (h, n, c)>
func.func @unit_dims(%x: tensor<2x3x11xf32>, %b: tensor<3x11x1x1xf32>) -> tensor<2x3x11xf32> {
  %e = tensor.empty() : tensor<2x3x11xf32>
  %r = linalg.generic {indexing_maps = [#pixels, #bias, #pixels], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x3x11xf32>, tensor<3x11x1x1xf32>) outs(%e : tensor<2x3x11xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<2x3x11xf32>
  return %r : tensor<2x3x11xf32>
}

// CHECK-LABEL: func.func @unit_result
// CHECK: vector.transfer_write %{{.*}} vector<8xf32>, memref<33xf32>
// CHECK: tensor.expand_shape %{{.*}} output_shape [3, 11, 1, 1]
#units = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @unit_result(%x: tensor<3x11x1x1xf32>) -> tensor<3x11x1x1xf32> {
  %e = tensor.empty() : tensor<3x11x1x1xf32>
  %r = linalg.generic {indexing_maps = [#units, #units], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x11x1x1xf32>) outs(%e : tensor<3x11x1x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.sqrt %a : f32
    linalg.yield %s : f32
  } -> tensor<3x11x1x1xf32>
  return %r : tensor<3x11x1x1xf32>
}

// A value that is inserted into another tensor stays unchanged.
// CHECK-LABEL: func.func @unit_part
// CHECK: memref.store %{{.*}} memref<3x11x1x1xf32>
// CHECK: tensor.insert_slice %{{.*}} : tensor<3x11x1x1xf32> into tensor<3x12x1x1xf32>
func.func @unit_part(%x: tensor<3x11x1x1xf32>) -> tensor<3x12x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<3x12x1x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%w : tensor<3x12x1x1xf32>) -> tensor<3x12x1x1xf32>
  %e = tensor.empty() : tensor<3x11x1x1xf32>
  %r = linalg.generic {indexing_maps = [#units, #units], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x11x1x1xf32>) outs(%e : tensor<3x11x1x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<3x11x1x1xf32>
  %i = tensor.insert_slice %r into %f[0, 1, 0, 0] [3, 11, 1, 1] [1, 1, 1, 1] : tensor<3x11x1x1xf32> into tensor<3x12x1x1xf32>
  return %i : tensor<3x12x1x1xf32>
}

// Rows of a batch of sequences are one loop; a static size is kept. The
// remainder of whole tiles is in one or two smaller ones.
// CHECK-LABEL: func.func @dynamic_rows
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<?x?x16xf32> into tensor<?x16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %[[WHOLE:.*]] step %c14
// CHECK: %[[END:.*]] = arith.select %{{.*}}, %[[ROWS:.*]], %[[WHOLE]]
// CHECK: scf.for %[[ROW:.*]] = %[[WHOLE]] to %[[END]] step %c14
// CHECK: arith.minsi %[[ROW]]
// CHECK: %[[SMALL:.*]] = arith.select %{{.*}}, %[[ROWS]], %[[END]]
// CHECK: scf.for %[[ROW:.*]] = %[[END]] to %[[SMALL]] step %c7
// CHECK: arith.minsi %[[ROW]]
// CHECK: scf.for {{.*}} step %c5
// CHECK: %[[LAST:.*]] = arith.select %{{.*}}, %[[ROWS]], %{{.*}}
// CHECK: scf.for {{.*}} to %[[LAST]] step %c3
// CHECK: scf.for %{{.*}} = %[[LAST]] to %[[ROWS]] step %c1
// CHECK: tensor.reshape %{{.*}} -> tensor<?x?x8xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
// CHECK: return
#x = affine_map<(b, s, n, k) -> (b, s, k)>
#w = affine_map<(b, s, n, k) -> (k, n)>
#o = affine_map<(b, s, n, k) -> (b, s, n)>
#rows = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @dynamic_rows(%x: tensor<?x?x16xf32>, %w: tensor<16x8xf32>, %b: index, %s: index, %y: tensor<?x4x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%b, %s) : tensor<?x?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?x16xf32>, tensor<16x8xf32>) outs(%f : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %m = arith.mulf %a, %c : f32
    %d = arith.addf %o, %m : f32
    linalg.yield %d : f32
  } -> tensor<?x?x8xf32>
  %g = tensor.empty(%b) : tensor<?x4x8xf32>
  %t = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<?x4x8xf32>) outs(%g : tensor<?x4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<?x4x8xf32>
  return %r, %t : tensor<?x?x8xf32>, tensor<?x4x8xf32>
}
