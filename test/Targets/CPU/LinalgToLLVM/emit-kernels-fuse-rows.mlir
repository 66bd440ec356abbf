// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels),canonicalize,cse)" | FileCheck %s
// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, l2_bytes = 8388608>}},func.func(layout-cpu-emit-kernels),canonicalize,cse)" | FileCheck %s --check-prefix=LARGE

// The maximum, the exponentials, their sum and the division are computed for 8
// rows at a time. The loops over rows are for the threads.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: cpu.kernel
// CHECK: scf.for %[[HEAD:.*]] = %c0
// CHECK-NEXT: scf.for %[[ROW:.*]] = {{.*}} step %c8
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0[%[[HEAD]], %[[ROW]], 0] [1, 8, 512] [1, 1, 1]
// CHECK: %[[MAX:.*]] = cpu.kernel ins(%[[X]] : tensor<1x8x512xf32>)
// CHECK: arith.maximumf
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[%[[HEAD]], %[[ROW]], 0] [1, 8, 512] [1, 1, 1]
// CHECK: %[[EXP:.*]] = cpu.kernel ins(%{{.*}} : tensor<1x8x512xf32>, tensor<1x8xf32>) outs(%[[PART]] :
// CHECK: math.exp
// CHECK: %[[SUM:.*]] = cpu.kernel ins(%[[EXP]] : tensor<1x8x512xf32>)
// CHECK: arith.addf
// The quotients replace the exponentials, in the memory of the result.
// CHECK: %[[DIV:.*]] = cpu.kernel ins(%[[SUM]] : tensor<1x8xf32>) outs(%[[EXP]] : tensor<1x8x512xf32>)
// CHECK: arith.divf
// CHECK: tensor.insert_slice %[[DIV]] into %{{.*}}[%[[HEAD]], %[[ROW]], 0] [1, 8, 512] [1, 1, 1]
// CHECK: } {layout.parallel}
// CHECK: } {layout.parallel}
// CHECK-NOT: cpu.kernel
// If a cache holds all of it, no blocks are needed.
// LARGE-LABEL: func.func @softmax
// LARGE-NOT: tensor.extract_slice
#id = affine_map<(h, r, c) -> (h, r, c)>
#row = affine_map<(h, r, c) -> (h, r)>
func.func @softmax(%x: tensor<4x64x512xf32>) -> tensor<4x64x512xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x512xf32>
  %r = tensor.empty() : tensor<4x64xf32>
  %lows = linalg.fill ins(%low : f32) outs(%r : tensor<4x64xf32>) -> tensor<4x64xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x64x512xf32>) outs(%lows : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<4x64xf32>
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %max : tensor<4x64x512xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<4x64x512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%r : tensor<4x64xf32>) -> tensor<4x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exp : tensor<4x64x512xf32>) outs(%zeros : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<4x64x512xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<4x64x512xf32>
  return %y : tensor<4x64x512xf32>
}

// -----

// A mean that is read with a unit dim is fused, and linalg.index of the row is
// correct in a block, too.
// CHECK-LABEL: func.func @centered
// CHECK: scf.for %[[ROW:.*]] = %c0
// CHECK: cpu.kernel
// CHECK: cpu.kernel
// CHECK: arith.addi %{{.*}}, %[[ROW]]
#id2 = affine_map<(r, c) -> (r, c)>
#first = affine_map<(r, c) -> (r, 0)>
#row2 = affine_map<(r, c) -> (r)>
func.func @centered(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %r = tensor.empty() : tensor<512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%r : tensor<512xf32>) -> tensor<512xf32>
  %sum = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x512xf32>) outs(%zeros : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  %column = tensor.expand_shape %sum [[0, 1]] output_shape [512, 1] : tensor<512xf32> into tensor<512x1xf32>
  %y = linalg.generic {indexing_maps = [#id2, #first, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %column : tensor<512x512xf32>, tensor<512x1xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %d = arith.subf %a, %b : f32
    %q = arith.addf %d, %f : f32
    linalg.yield %q : f32
  } -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// -----

// Rows of a product share a matrix: the product stays whole.
// CHECK-LABEL: func.func @product
// CHECK-NOT: tensor.extract_slice
#a = affine_map<(r, c, k) -> (r, k)>
#b = affine_map<(r, c, k) -> (k, c)>
#y = affine_map<(r, c, k) -> (r, c)>
#id2 = affine_map<(r, c) -> (r, c)>
#row2 = affine_map<(r, c) -> (r)>
func.func @product(%x: tensor<1024x512xf32>, %w: tensor<512x512xf32>, %s: tensor<1024xf32>) -> tensor<1024x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1024x512xf32>, tensor<512x512xf32>) outs(%zeros : tensor<1024x512xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1024x512xf32>
  %q = linalg.generic {indexing_maps = [#id2, #row2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<1024x512xf32>, tensor<1024xf32>) outs(%e : tensor<1024x512xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    linalg.yield %m : f32
  } -> tensor<1024x512xf32>
  return %q : tensor<1024x512xf32>
}
