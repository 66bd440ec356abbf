// The blocks of output channels are the outer loop, so that their weights, of 8 MiB in all, are read once: the pixels
// that a stride of 2 meets, of 200 KiB, stay in the second cache, which the image, of 784 KiB, would not.
//
// RUN: layout-opt %s -layout-linalg-to-llvm="cpu=x86-64-v3 outline-kernels=false" --mlir-print-ir-after=layout-emit-kernels -o %t 2>&1 | FileCheck %s
// CHECK-NOT: scf.for
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c128{{.*}} step
// CHECK-NOT: scf.for
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c6{{.*}} step

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
