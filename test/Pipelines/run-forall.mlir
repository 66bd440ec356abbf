// Check that parallel bodies insert images, and rows of images, into shared tensors, which are stored in the layout of
// the convolutions; conversions are outside. Results with and without layouts agree, for a batch of 3, 1 and 0.
//
// DEFINE: %{target} = '{#layout.cpu<lanes = 16, assumed_size = 8>}'
// RUN: layout-opt --mlir-print-local-scope %s --layout-assign=target=%{target} | FileCheck %s
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.0.mlir
// RUN: layout-opt %s --layout-to-cpu=target=%{target} -o %t.1.mlir
// RUN: %python -c "import numpy as np; r = np.random.default_rng(0); [np.save(r'%t.' + str(n) + '.npy', r.random((n, 20, 9, 7), 'f4')) for n in (0, 1, 3)]; np.save(r'%t.w.npy', r.random((32, 20, 3, 3), 'f4')); np.save(r'%t.v.npy', r.random((47, 32, 3, 3), 'f4'))"
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.3.npy --input=%t.w.npy --input=%t.v.npy --max-rel=1e-6
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.1.npy --input=%t.w.npy --input=%t.v.npy --max-rel=1e-6
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.0.npy --input=%t.w.npy --input=%t.v.npy --max-rel=1e-6

// CHECK: scf.forall {{.*}} -> (tensor<?x32x7x5xf32, #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>>)
// CHECK-NOT: layout.convert
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice {{.*}} : tensor<1x32x7x5xf32, #layout.map<{{.*}}>> into tensor<?x32x7x5xf32, #layout.map
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NOT: layout.convert
// CHECK: scf.forall
// CHECK: tensor.parallel_insert_slice {{.*}} : tensor<47x3xf32, #layout.map<(d0, d1) -> buffer(d0 floordiv 16, d1, d0 mod 16)>> into tensor<?x47x5x3xf32, #layout.map
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: layout.convert
// CHECK-NEXT: return
func.func @main(%x: tensor<?x20x9x7xf32>, %w: tensor<32x20x3x3xf32>, %v: tensor<47x32x3x3xf32>) -> tensor<?x47x5x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x20x9x7xf32>
  %e = tensor.empty(%n) : tensor<?x32x7x5xf32>
  %e1 = tensor.empty() : tensor<1x32x7x5xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x32x7x5xf32>) -> tensor<1x32x7x5xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %e) -> (tensor<?x32x7x5xf32>) {
    %s = tensor.extract_slice %x[%i, 0, 0, 0] [1, 20, 9, 7] [1, 1, 1, 1]
      : tensor<?x20x9x7xf32> to tensor<1x20x9x7xf32>
    %y = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<1x20x9x7xf32>, tensor<32x20x3x3xf32>)
                                  outs(%f1 : tensor<1x32x7x5xf32>) -> tensor<1x32x7x5xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0, 0, 0] [1, 32, 7, 5] [1, 1, 1, 1]
        : tensor<1x32x7x5xf32> into tensor<?x32x7x5xf32>
    }
  }
  %e2 = tensor.empty(%n) : tensor<?x47x5x3xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x47x5x3xf32>) -> tensor<?x47x5x3xf32>
  %z = linalg.conv_2d_nchw_fchw ins(%r, %v : tensor<?x32x7x5xf32>, tensor<47x32x3x3xf32>)
                                outs(%f2 : tensor<?x47x5x3xf32>) -> tensor<?x47x5x3xf32>
  // Rows that drop their dim, at two dynamic indices.
  %row = arith.constant dense<[0.5, 1.5, 2.5]> : tensor<3xf32>
  %e3 = tensor.empty() : tensor<47x3xf32>
  %q = scf.forall (%i, %j) in (%n, 5) shared_outs(%o = %z) -> (tensor<?x47x5x3xf32>) {
    %s = tensor.extract_slice %z[%i, 0, %j, 0] [1, 47, 1, 3] [1, 1, 1, 1]
      : tensor<?x47x5x3xf32> to tensor<47x3xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(c, w) -> (c, w)>, affine_map<(c, w) -> (w)>, affine_map<(c, w) -> (c, w)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%s, %row : tensor<47x3xf32>, tensor<3xf32>) outs(%e3 : tensor<47x3xf32>) {
    ^bb0(%a: f32, %b: f32, %unused: f32):
      %p = math.exp2 %a : f32
      %sum = arith.addf %p, %b : f32
      linalg.yield %sum : f32
    } -> tensor<47x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0, %j, 0] [1, 47, 1, 3] [1, 1, 1, 1]
        : tensor<47x3xf32> into tensor<?x47x5x3xf32>
    }
  }
  return %q : tensor<?x47x5x3xf32>
}
