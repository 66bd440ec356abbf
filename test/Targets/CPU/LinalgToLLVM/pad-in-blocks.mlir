// RUN: layout-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(layout-cpu-pad-in-blocks))" | FileCheck %s
// RUN: layout-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(layout-cpu-pad-in-blocks{parallel-loops=true}))" | FileCheck %s --check-prefix=THREADS

// Two channels at a time, with the division that alone uses the sums.
// CHECK-LABEL: func.func @mean(
// CHECK: scf.for %[[C:.*]] = %{{.*}} to %{{.*}} step %[[STEP:.*]] iter_args
// CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[%[[C]], 0, 0] [2, 32, 32]
// CHECK: tensor.pad %[[PART]] low[0, 1, 1] high[0, 0, 0]
// CHECK: tensor<2x32x32xf32> to tensor<2x33x33xf32>
// CHECK: linalg.fill
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: tensor.insert_slice
// CHECK: scf.yield
// CHECK-NOT: layout.parallel
// CHECK: return
// THREADS-LABEL: func.func @mean(
// THREADS: } {layout.parallel}
#image = affine_map<(c, h, w, i, j) -> (c, 2 * h + i, 2 * w + j)>
#window = affine_map<(c, h, w, i, j) -> (i, j)>
#result = affine_map<(c, h, w, i, j) -> (c, h, w)>
#each = affine_map<(c, h, w) -> (c, h, w)>
module attributes {layout.target = #layout.cpu<lanes = 8, l2_bytes = 65536>} {
func.func @mean(%x: tensor<16x32x32xf32>, %e: tensor<16x16x16xf32>) -> tensor<16x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %nine = arith.constant 9.0 : f32
  %k = tensor.empty() : tensor<3x3xf32>
  %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<16x32x32xf32> to tensor<16x34x34xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16x16xf32>) -> tensor<16x16x16xf32>
  %s = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %k : tensor<16x34x34xf32>, tensor<3x3xf32>) outs(%f : tensor<16x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<16x16x16xf32>
  %m = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<16x16x16xf32>) outs(%e : tensor<16x16x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.divf %a, %nine : f32
    linalg.yield %t : f32
  } -> tensor<16x16x16xf32>
  return %m : tensor<16x16x16xf32>
}
}

// -----

// No blocks: a producer that writes to the padded image, a padded outermost dim, a dynamic size, an image that fits into
// L2, and channels that are summed.
// CHECK-NOT: scf.for
#image = affine_map<(c, h, i) -> (c, h + i)>
#window = affine_map<(c, h, i) -> (i)>
#result = affine_map<(c, h, i) -> (c, h)>
#each = affine_map<(c, h) -> (c, h)>
#rows = affine_map<(h, k, c) -> (c, h + k)>
#taps = affine_map<(h, k, c) -> (k)>
#sums = affine_map<(h, k, c) -> (h)>
module attributes {layout.target = #layout.cpu<lanes = 8, l2_bytes = 65536>} {
func.func @none(%x: tensor<16x1024xf32>, %y: tensor<?x1024xf32>, %z: tensor<16x256xf32>, %e: tensor<16x1024xf32>,
    %d: tensor<?x1024xf32>, %g: tensor<16x256xf32>, %h: tensor<18x1024xf32>, %v: tensor<1024xf32>)
    -> (tensor<16x1024xf32>, tensor<18x1024xf32>, tensor<?x1024xf32>, tensor<16x256xf32>, tensor<1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %k = tensor.empty() : tensor<3xf32>
  %x1 = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x1024xf32>) outs(%e : tensor<16x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  } -> tensor<16x1024xf32>
  %p1 = tensor.pad %x1 low[0, 1] high[0, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } : tensor<16x1024xf32> to tensor<16x1026xf32>
  %r1 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p1, %k : tensor<16x1026xf32>, tensor<3xf32>) outs(%e : tensor<16x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %t = arith.maximumf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<16x1024xf32>
  %p2 = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } : tensor<16x1024xf32> to tensor<18x1026xf32>
  %r2 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p2, %k : tensor<18x1026xf32>, tensor<3xf32>) outs(%h : tensor<18x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %t = arith.maximumf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<18x1024xf32>
  %p3 = tensor.pad %y low[0, 1] high[0, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } : tensor<?x1024xf32> to tensor<?x1026xf32>
  %r3 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p3, %k : tensor<?x1026xf32>, tensor<3xf32>) outs(%d : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %t = arith.maximumf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<?x1024xf32>
  %p4 = tensor.pad %z low[0, 1] high[0, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } : tensor<16x256xf32> to tensor<16x258xf32>
  %r4 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p4, %k : tensor<16x258xf32>, tensor<3xf32>) outs(%g : tensor<16x256xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %t = arith.maximumf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<16x256xf32>
  %p5 = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } : tensor<16x1024xf32> to tensor<16x1026xf32>
  %r5 = linalg.generic {indexing_maps = [#rows, #taps, #sums], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%p5, %k : tensor<16x1026xf32>, tensor<3xf32>) outs(%v : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<1024xf32>
  return %r1, %r2, %r3, %r4, %r5 : tensor<16x1024xf32>, tensor<18x1024xf32>, tensor<?x1024xf32>, tensor<16x256xf32>, tensor<1024xf32>
}
}

// -----

// Complex numbers and single elements are padded as a whole, however small L2 is.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: scf.for
// CHECK: return
#image = affine_map<(c, i) -> (c + i)>
#window = affine_map<(c, i) -> (i)>
#result = affine_map<(c, i) -> (c)>
module attributes {layout.target = #layout.cpu<lanes = 8, l2_bytes = 1>} {
func.func @whole(%x: tensor<1x1xcomplex<f32>>, %y: tensor<0xf32>, %k: tensor<1xf32>, %e: tensor<1xf32>) -> (tensor<3x3xcomplex<f32>>, tensor<1xf32>) {
  %none = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 0] high[1, 2] {
  ^bb0(%a: index, %b: index):
    tensor.yield %none : complex<f32>
  } : tensor<1x1xcomplex<f32>> to tensor<3x3xcomplex<f32>>
  %q = tensor.pad %y low[0] high[1] {
  ^bb0(%a: index):
    tensor.yield %zero : f32
  } : tensor<0xf32> to tensor<1xf32>
  %r = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%q, %k : tensor<1xf32>, tensor<1xf32>) outs(%e : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<1xf32>
  return %p, %r : tensor<3x3xcomplex<f32>>, tensor<1xf32>
}
}
