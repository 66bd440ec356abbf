// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels),canonicalize,cse)" | FileCheck %s

// A blocked convolution: 16 lanes are two vectors, the accumulators start from the filled value and stay in registers
// inside of the reductions, and the following bias and relu are applied before the only store.
// CHECK-LABEL: func.func @conv_bias_relu
// CHECK-DAG: %[[START:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-NOT: linalg
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>
// CHECK: memref.load
// CHECK: vector.transfer_read {{.*}}vector<8xf32>
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<8xf32>
// CHECK: arith.addf {{.*}} fastmath<contract> : vector<8xf32>
// CHECK-NOT: vector.transfer_write
// CHECK: arith.maximumf
// CHECK: vector.transfer_write
// CHECK-NOT: linalg
#in = affine_map<(o1, h, w, o0, i1, kh, kw, i0) -> (i1, h + kh, w + kw, i0)>
#weight = affine_map<(o1, h, w, o0, i1, kh, kw, i0) -> (o1, i1, kh, kw, i0, o0)>
#out = affine_map<(o1, h, w, o0, i1, kh, kw, i0) -> (o1, h, w, o0)>
#id = affine_map<(o1, h, w, o0) -> (o1, h, w, o0)>
#channel = affine_map<(o1, h, w, o0) -> (o1, o0)>
func.func @conv_bias_relu(%x: tensor<2x10x10x16xf32>, %k: tensor<2x2x3x3x16x16xf32>,
                          %bias: tensor<2x16xf32>) -> tensor<2x8x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
  %c = linalg.generic {indexing_maps = [#in, #weight, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<2x10x10x16xf32>, tensor<2x2x3x3x16x16xf32>)
      outs(%f : tensor<2x8x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x8x8x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #channel, #id],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %bias : tensor<2x8x8x16xf32>, tensor<2x16xf32>)
      outs(%e : tensor<2x8x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<2x8x8x16xf32>
  return %r : tensor<2x8x8x16xf32>
}

// -----

// A mask over the reduced channel shortens its loop; a mask over the result's channel is applied once, after the loop.
// CHECK-LABEL: func.func @masked
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: scf.for {{.*}} to %[[END]]
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
func.func @masked(%x: tensor<5x2x8xf32>, %k: tensor<2x2x8x8xf32>,
                  %acc: tensor<5x2x8xf32>) -> tensor<5x2x8xf32> {
  %c8 = arith.constant 8 : index
  %c13 = arith.constant 13 : index
  %c11 = arith.constant 11 : index
  %r = linalg.generic {indexing_maps = [
      affine_map<(m, o1, o0, i1, i0) -> (m, i1, i0)>,
      affine_map<(m, o1, o0, i1, i0) -> (o1, i1, i0, o0)>,
      affine_map<(m, o1, o0, i1, i0) -> (m, o1, o0)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %k : tensor<5x2x8xf32>, tensor<2x2x8x8xf32>)
      outs(%acc : tensor<5x2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %o1 = linalg.index 1 : index
    %o0 = linalg.index 2 : index
    %i1 = linalg.index 3 : index
    %i0 = linalg.index 4 : index
    %ib = arith.muli %i1, %c8 : index
    %i = arith.addi %ib, %i0 : index
    %ob = arith.muli %o1, %c8 : index
    %o = arith.addi %ob, %o0 : index
    %iv = arith.cmpi slt, %i, %c13 : index
    %ov = arith.cmpi slt, %o, %c11 : index
    %v = arith.andi %iv, %ov : i1
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    %y = arith.select %v, %t, %s : f32
    linalg.yield %y : f32
  } -> tensor<5x2x8xf32>
  return %r : tensor<5x2x8xf32>
}

// -----

// No parallel dim is contiguous, but the reduced dim is: every lane of a vector sums a part, the parts are combined,
// and the remaining elements follow one by one.
// CHECK-LABEL: func.func @row_sums
// CHECK: scf.for {{.*}} = %c0{{.*}} to %c40{{.*}} step %c8{{.*}} -> (vector<8xf32>
// CHECK: vector.reduction <add>, {{.*}} fastmath<reassoc> : vector<8xf32> into f32
// CHECK: scf.for {{.*}} = %c40{{.*}} to %c45{{.*}} step %c1{{.*}} -> (f32
// CHECK: memref.store
// CHECK-NOT: linalg
func.func @row_sums(%x: tensor<6x45xf32>, %acc: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<6x45xf32>)
      outs(%acc : tensor<6xf32>) dimensions = [1]
  return %r : tensor<6xf32>
}

// -----

// Differences cannot be reduced by parts: scalar code, still blocked, no vector.
// CHECK-LABEL: func.func @row_differences
// CHECK-NOT: vector
// CHECK: scf.for {{.*}} -> (f32, f32
// CHECK: memref.store
// CHECK-NOT: linalg
func.func @row_differences(%x: tensor<6x40xf32>, %acc: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x40xf32>) outs(%acc : tensor<6xf32>) {
    ^bb0(%a: f32, %s: f32):
      %d = arith.subf %s, %a : f32
      linalg.yield %d : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// An op whose result is indexed by more than the parallel dims is not a kernel.
// CHECK-LABEL: func.func @diagonal
// CHECK: linalg.generic
func.func @diagonal(%x: tensor<4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// The result is overwritten completely, so it may reuse the memory of its init, which is not read, unless the init has
// other uses and would be copied.
// CHECK-LABEL: func.func @init_that_others_read
// CHECK: %[[FRESH:.*]] = tensor.empty() : tensor<8xf32>
// CHECK: cpu.kernel ins(%{{.*}}) outs(%[[FRESH]] :
func.func @init_that_others_read(%x: tensor<8xf32>, %y: tensor<2x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %init = tensor.extract_slice %y[1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>) -> tensor<8xf32>
  return %r, %init : tensor<8xf32>, tensor<8xf32>
}

// -----

// Each row of a large matrix is on its own pages: rows are read one at a time, as wide as the registers allow. Rows of
// a small matrix cause no page misses.
// CHECK-LABEL: func.func @large_matrix_by_vector
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK: %{{.*}}:14 = scf.for
// CHECK-LABEL: func.func @small_matrix_by_vector
// CHECK-NOT: %{{.*}}:14 = scf.for
func.func @large_matrix_by_vector(%x: tensor<1x4096xf32>, %w: tensor<4096x4096xf32>, %init: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<1x4096xf32>, tensor<4096x4096xf32>) outs(%init : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}
func.func @small_matrix_by_vector(%x: tensor<1x64xf32>, %w: tensor<64x512xf32>, %init: tensor<1x512xf32>) -> tensor<1x512xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<1x64xf32>, tensor<64x512xf32>) outs(%init : tensor<1x512xf32>) -> tensor<1x512xf32>
  return %r : tensor<1x512xf32>
}

// -----

// A bias that initializes the sums is read directly: no tensor of it is written and overwritten.
// CHECK-LABEL: func.func @start_from_bias
// CHECK-COUNT-1: cpu.kernel
// CHECK-NOT: cpu.kernel
func.func @start_from_bias(%x: tensor<9x16xf32>, %w: tensor<16x32xf32>, %bias: tensor<32xf32>) -> tensor<9x32xf32> {
  %e = tensor.empty() : tensor<9x32xf32>
  %b = linalg.broadcast ins(%bias : tensor<32xf32>) outs(%e : tensor<9x32xf32>) dimensions = [0]
  %r = linalg.matmul ins(%x, %w : tensor<9x16xf32>, tensor<16x32xf32>) outs(%b : tensor<9x32xf32>) -> tensor<9x32xf32>
  return %r : tensor<9x32xf32>
}

// -----

// The init of the sums is computed with them, also if its sizes are used, e.g. by slices or pads of a dynamic extent.
// CHECK-LABEL: func.func @sizes_of_starts
// CHECK-COUNT-1: cpu.kernel
// CHECK-NOT: cpu.kernel
func.func @sizes_of_starts(%x: tensor<?x64xf32>, %w: tensor<64x32xf32>, %bias: tensor<32xf32>) -> (tensor<?x32xf32>, index) {
  %first = arith.constant 0 : index
  %rows = tensor.dim %x, %first : tensor<?x64xf32>
  %empty = tensor.empty(%rows) : tensor<?x32xf32>
  %start = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                           iterator_types = ["parallel", "parallel"]}
      ins(%bias : tensor<32xf32>) outs(%empty : tensor<?x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x32xf32>
  %size = tensor.dim %start, %first : tensor<?x32xf32>
  %sum = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x32xf32>) outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %sum, %size : tensor<?x32xf32>, index
}

// -----

// A slice of dynamic sizes that covers the whole tensor is folded, so that rows are merged.
// CHECK-LABEL: func.func @whole_slice
// CHECK-NOT: tensor.extract_slice
// CHECK-COUNT-2: cpu.kernel {{.*}}outs(%{{.*}} : tensor<?x8xf32>)
func.func @whole_slice(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>, %rows: index, %columns: index) -> tensor<?x?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows, %columns) : tensor<?x?x8xf32>
  %squares = linalg.mul ins(%x, %x : tensor<?x?x8xf32>, tensor<?x?x8xf32>) outs(%empty : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %slice = tensor.extract_slice %squares[0, 0, 0] [%rows, %columns, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(h, w, o, i) -> (h, w, i)>, affine_map<(h, w, o, i) -> (i, o)>,
                                        affine_map<(h, w, o, i) -> (h, w, o)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%slice, %w : tensor<?x?x8xf32>, tensor<8x8xf32>) outs(%start : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}

// -----

// The type of one operand leaves open what that of the result states: an extent of one.
// CHECK-LABEL: func.func @partly_static
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c3
// CHECK: scf.for %[[K:.*]] = %c0 to %c2
// CHECK: memref.load %{{.*}}[%[[K]], %c0]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[ROW]]]
func.func @partly_static(%x: tensor<2x?xf32>, %w: tensor<3x2xf32>) -> tensor<3x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x1xf32>) -> tensor<3x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2x?xf32>, tensor<3x2xf32>) outs(%f : tensor<3x1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}
