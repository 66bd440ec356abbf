// RUN: layout-opt %s -split-input-file -layout-linalg-to-llvm="cpu=x86-64-v3 outline-kernels=false" --mlir-print-ir-after=layout-cpu-emit-kernels -o %t 2>&1 | FileCheck %s

// The strided pixels are packed, and the blocks of output channels are the outer loop: weights of 8 MiB are read once.
// CHECK-LABEL: func.func @strided
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x64x14x14x16xf32>) outs(%{{.*}} : tensor<1x64x7x7x16xf32>)
// CHECK-NOT: scf.for
// CHECK: scf.for %[[O:.*]] = %c0{{.*}} to %c128{{.*}} step %c2
// CHECK-NOT: scf.for
// CHECK: scf.for %[[PART:.*]] = %c0{{.*}} to %c64{{.*}} step %c8
// CHECK-NOT: scf.for
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c48{{.*}} step %c3
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[PART]], %c0
// CHECK: scf.if %[[FIRST]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} step %c1

#nchw16c = affine_map<(n, o, h, w, l, i, j) -> (n, i, h * 2, w * 2, j)>
#weights = affine_map<(n, o, h, w, l, i, j) -> (o, i, j, l)>
#result = affine_map<(n, o, h, w, l, i, j) -> (n, o, h, w, l)>
func.func @strided(%x: tensor<1x64x14x14x16xf32>, %w: tensor<128x64x16x16xf32>) -> tensor<1x128x7x7x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x128x7x7x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x128x7x7x16xf32>) -> tensor<1x128x7x7x16xf32>
  %r = linalg.generic {indexing_maps = [#nchw16c, #weights, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x64x14x14x16xf32>, tensor<128x64x16x16xf32>) outs(%f : tensor<1x128x7x7x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x128x7x7x16xf32>
  return %r : tensor<1x128x7x7x16xf32>
}

// -----

// An image that only 16 output channels read is not worth a copy, and its whole reduction fits L1.
// CHECK-LABEL: func.func @few_channels
// CHECK-NOT: linalg.generic
// CHECK-NOT: scf.if

#image = affine_map<(o, h, w, i) -> (i, h * 2, w * 2)>
#filter = affine_map<(o, h, w, i) -> (o, i)>
#few = affine_map<(o, h, w, i) -> (o, h, w)>
func.func @few_channels(%x: tensor<24x14x14xf32>, %w: tensor<16x24xf32>) -> tensor<16x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x7x7xf32>) -> tensor<16x7x7xf32>
  %r = linalg.generic {indexing_maps = [#image, #filter, #few], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<24x14x14xf32>, tensor<16x24xf32>) outs(%f : tensor<16x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<16x7x7xf32>
  return %r : tensor<16x7x7xf32>
}

// -----

// Weights of 16 channels and rows 12 apart exceed L1, those of 8 do not.
// CHECK-LABEL: func.func @dilated
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c128{{.*}} step %c8
// CHECK: scf.if

#dilated = affine_map<(o, h, w, l, i, y, x) -> (i, h + 12 * y, w + 12 * x)>
#taps = affine_map<(o, h, w, l, i, y, x) -> (o, i, y, x, l)>
#out = affine_map<(o, h, w, l, i, y, x) -> (o, h, w, l)>
func.func @dilated(%x: tensor<128x57x57xf32>, %w: tensor<8x128x3x3x16xf32>) -> tensor<8x33x33x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x33x33x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x33x33x16xf32>) -> tensor<8x33x33x16xf32>
  %r = linalg.generic {indexing_maps = [#dilated, #taps, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<128x57x57xf32>, tensor<8x128x3x3x16xf32>) outs(%f : tensor<8x33x33x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x33x33x16xf32>
  return %r : tensor<8x33x33x16xf32>
}
