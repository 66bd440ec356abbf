// Check softmax and packing on storage: the same file is lowered and run with
// and without its encodings, for a batch of 3, 1 and 0.
//
// DEFINE: %{lower} = --canonicalize --layout-linalg-to-llvm
// RUN: sed 's/, #[a-z0-9]*>/>/g' %s > %t.plain.mlir
// RUN: layout-opt %t.plain.mlir %{lower} -o %t.0.mlir
// RUN: layout-opt %s --layout-verify --convert-layout-to-linalg | FileCheck %s
// RUN: layout-opt %s --convert-layout-to-linalg %{lower} -o %t.1.mlir
// RUN: %python -c "import numpy as np; r = np.random.default_rng(0); [np.save(r'%t.' + str(n) + '.npy', r.random((n, 17, 5, 6), 'f4')) for n in (0, 1, 3)]; np.save(r'%t.y.npy', r.random((3, 32, 5, 6), 'f4'))"
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.3.npy --input=%t.y.npy --max-rel=1e-6
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.1.npy --input=%t.y.npy --max-rel=1e-6
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.0.npy --input=%t.y.npy --max-rel=1e-6

#nchwc = #layout.blocked<"NCHW" to "NCHW16c">
#zero = #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>
#w4 = #layout.blocked<"NCHW" to "NHWC4w">
#swap = #layout.map<(n, k, h, w, c) -> buffer(n, h, w, k, c)>
#nhwc = #layout.map<(n, c, h, w) -> buffer(n, h, w, c)>

// CHECK-LABEL: func @main
func.func @main(%x: tensor<?x17x5x6xf32>, %y: tensor<3x32x5x6xf32>) -> (tensor<?x17x5x6xf32>, tensor<?x17x5x6xf32>, tensor<?x17x5x6xf32>, tensor<?x17x5x6xf32>, tensor<3x2x5x6x16xf32>, tensor<3x2x5x6x16xf32>, tensor<3x32x5x6xf32>, tensor<3x32x5x6xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x17x5x6xf32>
  %b = layout.convert %x : tensor<?x17x5x6xf32> to tensor<?x17x5x6xf32, #nchwc>
  // Along an axis of storage; over the channels, which are not an axis; into
  // zeros.
  %e = tensor.empty(%n) : tensor<?x17x5x6xf32, #nchwc>
  // CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction", "parallel"]{{.*}} ins(%{{.*}} : tensor<?x2x5x6x16xf32>)
  // CHECK: arith.maxnumf
  %s0 = linalg.softmax dimension(3) ins(%b : tensor<?x17x5x6xf32, #nchwc>) outs(%e : tensor<?x17x5x6xf32, #nchwc>) -> tensor<?x17x5x6xf32, #nchwc>
  // CHECK: linalg.generic {{.*}}["parallel", "reduction", "parallel", "parallel"]{{.*}} ins(%{{.*}} : tensor<?x17x5x6xf32>)
  // CHECK: arith.maxnumf
  %s1 = linalg.softmax dimension(1) ins(%b : tensor<?x17x5x6xf32, #nchwc>) outs(%e : tensor<?x17x5x6xf32, #nchwc>) -> tensor<?x17x5x6xf32, #nchwc>
  %ez = tensor.empty(%n) : tensor<?x17x5x6xf32, #zero>
  %s2 = linalg.softmax dimension(2) ins(%b : tensor<?x17x5x6xf32, #nchwc>) outs(%ez : tensor<?x17x5x6xf32, #zero>) -> tensor<?x17x5x6xf32, #zero>
  %ew = tensor.empty(%n) : tensor<?x17x5x6xf32, #w4>
  %s3 = linalg.softmax dimension(2) ins(%b : tensor<?x17x5x6xf32, #nchwc>) outs(%ew : tensor<?x17x5x6xf32, #w4>) -> tensor<?x17x5x6xf32, #w4>
  %r0 = layout.convert %s0 : tensor<?x17x5x6xf32, #nchwc> to tensor<?x17x5x6xf32>
  %r1 = layout.convert %s1 : tensor<?x17x5x6xf32, #nchwc> to tensor<?x17x5x6xf32>
  %r2 = layout.convert %s2 : tensor<?x17x5x6xf32, #zero> to tensor<?x17x5x6xf32>
  %r3 = layout.convert %s3 : tensor<?x17x5x6xf32, #w4> to tensor<?x17x5x6xf32>

  // Packing as a view of blocks, of channels that are last, and back.
  %yb = layout.convert %y : tensor<3x32x5x6xf32> to tensor<3x32x5x6xf32, #nchwc>
  %yl = layout.convert %y : tensor<3x32x5x6xf32> to tensor<3x32x5x6xf32, #nhwc>
  %ep = tensor.empty() : tensor<3x2x5x6x16xf32>
  %es = tensor.empty() : tensor<3x2x5x6x16xf32, #swap>
  // CHECK-NOT: linalg.pack
  %p0 = linalg.pack %yb inner_dims_pos = [1] inner_tiles = [16] into %ep : tensor<3x32x5x6xf32, #nchwc> -> tensor<3x2x5x6x16xf32>
  %p1 = linalg.pack %yl inner_dims_pos = [1] inner_tiles = [16] into %es : tensor<3x32x5x6xf32, #nhwc> -> tensor<3x2x5x6x16xf32, #swap>
  %q1 = layout.convert %p1 : tensor<3x2x5x6x16xf32, #swap> to tensor<3x2x5x6x16xf32>
  %eb = tensor.empty() : tensor<3x32x5x6xf32, #nchwc>
  %u0 = linalg.unpack %p0 inner_dims_pos = [1] inner_tiles = [16] into %eb : tensor<3x2x5x6x16xf32> -> tensor<3x32x5x6xf32, #nchwc>
  %t0 = layout.convert %u0 : tensor<3x32x5x6xf32, #nchwc> to tensor<3x32x5x6xf32>
  %el = tensor.empty() : tensor<3x32x5x6xf32, #nhwc>
  %u1 = linalg.unpack %p1 inner_dims_pos = [1] inner_tiles = [16] into %el : tensor<3x2x5x6x16xf32, #swap> -> tensor<3x32x5x6xf32, #nhwc>
  %t1 = layout.convert %u1 : tensor<3x32x5x6xf32, #nhwc> to tensor<3x32x5x6xf32>
  return %r0, %r1, %r2, %r3, %p0, %q1, %t0, %t1 : tensor<?x17x5x6xf32>, tensor<?x17x5x6xf32>, tensor<?x17x5x6xf32>, tensor<?x17x5x6xf32>, tensor<3x2x5x6x16xf32>, tensor<3x2x5x6x16xf32>, tensor<3x32x5x6xf32>, tensor<3x32x5x6xf32>
}
