// Check slices that drop dims, on storage: the same file is lowered and run with and without its encodings, on inputs
// with rows, with one and with none.
//
// DEFINE: %{save} = %python -c "import sys, numpy as np; n = int(sys.argv[1]); r = np.random.default_rng(n); np.save(sys.argv[2], r.random((n, 17, 5, 6), 'f4')); np.save(sys.argv[3], np.int64(sys.argv[4]))"
// RUN: sed 's/, #[a-z0-9]*>/>/g' %s > %t.plain.mlir
// RUN: layout-opt %t.plain.mlir --canonicalize --layout-linalg-to-llvm -o %t.0.mlir
// RUN: layout-opt %s --convert-layout-to-linalg | FileCheck %s
// RUN: layout-opt %s --convert-layout-to-linalg --layout-linalg-to-llvm -o %t.1.mlir
// RUN: %{save} 3 %t.x.npy %t.i.npy 2
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.x.npy --input=%t.i.npy --max-rel=0
// RUN: %{save} 1 %t.x.npy %t.i.npy 0
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.x.npy --input=%t.i.npy --max-rel=0
// RUN: %{save} 0 %t.x.npy %t.i.npy 0
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.x.npy --input=%t.i.npy --max-rel=0

#nchwc = #layout.blocked<"NCHW" to "NCHW16c">
#chwc = #layout.blocked<"NCW" to "NCW16c">
#cwc = #layout.map<(c, h, w) -> buffer(c floordiv 16, h, w, c mod 16)>
#zcwc = #layout.padded<#layout.map<(c, h, w) -> buffer(c floordiv 16, h, w, c mod 16)>, zero>
#znchwc = #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>
#line = #layout.map<(c, h) -> buffer([c] align 16, h)>
#cn = #layout.map<(n, c) -> buffer(c floordiv 16, n, c mod 16)>
#c1 = #layout.map<(c) -> buffer([c] align 16)>

// Static and dynamic indices of an outer and of an inner dim, next to dims of dynamic size.
func.func @main(%p: tensor<?x17x5x6xf32>, %at: tensor<i64>)
    -> (tensor<?x17x6xf32>, tensor<?x17x5xf32>, tensor<?x5x6xf32>, tensor<?x17x5x6xf32>, tensor<?x17x5x6xf32>, tensor<17x5x6xf32>, tensor<4x17x5x6xf32>, tensor<17xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %p, %c0 : tensor<?x17x5x6xf32>
  %at0 = tensor.extract %at[] : tensor<i64>
  %o = arith.index_cast %at0 : i64 to index
  %x = layout.convert %p : tensor<?x17x5x6xf32> to tensor<?x17x5x6xf32, #nchwc>

  // A view of whole axes of the storage.
  // CHECK: tensor.extract_slice %{{.*}}[0, 0, %{{.*}}, 0, 0] [%{{.*}}, 2, 1, 6, 16] [1, 1, 1, 1, 1] : tensor<?x2x5x6x16xf32> to tensor<?x2x6x16xf32>
  %a = tensor.extract_slice %x[0, 0, %o, 0] [%n, 17, 1, 6] [1, 1, 1, 1] : tensor<?x17x5x6xf32, #nchwc> to tensor<?x17x6xf32, #chwc>
  %ra = layout.convert %a : tensor<?x17x6xf32, #chwc> to tensor<?x17x6xf32>
  // CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 2, 0] [%{{.*}}, 2, 5, 1, 16]
  %b = tensor.extract_slice %x[0, 0, 0, 2] [%n, 17, 5, 1] [1, 1, 1, 1] : tensor<?x17x5x6xf32, #nchwc> to tensor<?x17x5xf32, #chwc>
  %rb = layout.convert %b : tensor<?x17x5xf32, #chwc> to tensor<?x17x5xf32>

  // One channel is inside a tile, so its elements are gathered.
  %c = tensor.extract_slice %x[0, 16, 0, 0] [%n, 1, 5, 6] [1, 1, 1, 1] : tensor<?x17x5x6xf32, #nchwc> to tensor<?x5x6xf32>

  // Inserted at another position, and over a channel.
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 4, 0, 0] [%{{.*}}, 2, 1, 6, 16] [1, 1, 1, 1, 1] : tensor<?x2x6x16xf32> into tensor<?x2x5x6x16xf32>
  %d = tensor.insert_slice %a into %x[0, 0, 4, 0] [%n, 17, 1, 6] [1, 1, 1, 1] : tensor<?x17x6xf32, #chwc> into tensor<?x17x5x6xf32, #nchwc>
  %rd = layout.convert %d : tensor<?x17x5x6xf32, #nchwc> to tensor<?x17x5x6xf32>
  %e = tensor.insert_slice %c into %x[0, 3, 0, 0] [%n, 1, 5, 6] [1, 1, 1, 1] : tensor<?x5x6xf32> into tensor<?x17x5x6xf32, #nchwc>
  %re = layout.convert %e : tensor<?x17x5x6xf32, #nchwc> to tensor<?x17x5x6xf32>

  // A stack of images, with zero padding only in the slice, and in both.
  %v = arith.constant 3.0 : f32
  %z4 = tensor.empty() : tensor<4x17x5x6xf32, #nchwc>
  %s4 = linalg.fill ins(%v : f32) outs(%z4 : tensor<4x17x5x6xf32, #nchwc>) -> tensor<4x17x5x6xf32, #nchwc>
  %g = tensor.extract_slice %s4[%o, 0, 0, 0] [1, 17, 5, 6] [1, 1, 1, 1] : tensor<4x17x5x6xf32, #nchwc> to tensor<17x5x6xf32, #zcwc>
  %g2 = math.exp %g : tensor<17x5x6xf32, #zcwc>
  %rg = layout.convert %g2 : tensor<17x5x6xf32, #zcwc> to tensor<17x5x6xf32>
  %h4 = layout.convert %s4 : tensor<4x17x5x6xf32, #nchwc> to tensor<4x17x5x6xf32, #znchwc>
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0, 0, 0, 0] [1, 2, 5, 6, 16] [1, 1, 1, 1, 1] : tensor<2x5x6x16xf32> into tensor<4x2x5x6x16xf32>
  %h = tensor.insert_slice %g2 into %h4[%o, 0, 0, 0] [1, 17, 5, 6] [1, 1, 1, 1] : tensor<17x5x6xf32, #zcwc> into tensor<4x17x5x6xf32, #znchwc>
  %rh = layout.convert %h : tensor<4x17x5x6xf32, #znchwc> to tensor<4x17x5x6xf32>

  // The result has another layout: a row of whole tiles.
  %q = tensor.extract_slice %s4[%o, 0, 1, 0] [2, 17, 1, 1] [1, 1, 1, 1] : tensor<4x17x5x6xf32, #nchwc> to tensor<2x17xf32, #cn>
  %q1 = tensor.extract_slice %q[1, 0] [1, 17] [1, 1] : tensor<2x17xf32, #cn> to tensor<17xf32, #c1>
  %rq = layout.convert %q1 : tensor<17xf32, #c1> to tensor<17xf32>
  return %ra, %rb, %c, %rd, %re, %rg, %rh, %rq : tensor<?x17x6xf32>, tensor<?x17x5xf32>, tensor<?x5x6xf32>, tensor<?x17x5x6xf32>, tensor<?x17x5x6xf32>, tensor<17x5x6xf32>, tensor<4x17x5x6xf32>, tensor<17xf32>
}
