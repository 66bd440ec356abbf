// Check that a slice with one index of a dim keeps the layout of the other dims.
//
// The preparation, which would fold the slice of equal filters, is left out.
// RUN: layout-opt %s --split-input-file --layout-solve='target={#layout.cpu<lanes = 16>}' --layout-materialize --layout-fold-converts | FileCheck %s

// CHECK-DAG: #[[ABCDE16C16B:.*]] = #layout.map<(d0, d1, d2, d3, d4) -> buffer(d0, d1 floordiv 16, d2 floordiv 16, d3, d4, d2 mod 16, d1 mod 16)>
// CHECK-DAG: #[[OIHW16I16O:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0 floordiv 16, d1 floordiv 16, d2, d3, d1 mod 16, d0 mod 16)>
// CHECK-LABEL: func @stacked_filters
// CHECK: arith.constant {{.*}} : tensor<5x31x31x3x3xf32, #[[ABCDE16C16B]]>
// CHECK: scf.for
// CHECK-NOT: layout.convert {{.*}}31x31x3x3
// CHECK: tensor.extract_slice {{.*}} to tensor<31x31x3x3xf32, #[[OIHW16I16O]]>
// CHECK-NOT: layout.convert {{.*}}31x31x3x3
// CHECK: scf.yield
func.func @stacked_filters(%x: tensor<2x31x9x7xf32>) -> tensor<2x31x9x7xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %all = arith.constant dense<0.01> : tensor<5x31x31x3x3xf32>
  %e = tensor.empty() : tensor<2x31x9x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x31x9x7xf32>) -> tensor<2x31x9x7xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> tensor<2x31x9x7xf32> {
    %w = tensor.extract_slice %all[%i, 0, 0, 0, 0] [1, 31, 31, 3, 3] [1, 1, 1, 1, 1]
      : tensor<5x31x31x3x3xf32> to tensor<31x31x3x3xf32>
    %p = tensor.pad %s low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%n: index, %c: index, %h: index, %v: index):
      tensor.yield %zero : f32
    } : tensor<2x31x9x7xf32> to tensor<2x31x11x9xf32>
    %y = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<2x31x11x9xf32>, tensor<31x31x3x3xf32>)
                                  outs(%f : tensor<2x31x9x7xf32>) -> tensor<2x31x9x7xf32>
    scf.yield %y : tensor<2x31x9x7xf32>
  }
  return %r : tensor<2x31x9x7xf32>
}

// -----

// The reverse: a value that is inserted into a stack keeps its layout, and the
// stack and its slices follow.
// CHECK-DAG: #[[NCHW16C:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK-DAG: #[[ABCDE16C:.*]] = #layout.map<(d0, d1, d2, d3, d4) -> buffer(d0, d1, d2 floordiv 16, d3, d4, d2 mod 16)>
// CHECK-LABEL: func @stacked_results
// CHECK: scf.for
// CHECK-NOT: layout.convert
// CHECK: tensor.insert_slice {{.*}}#[[NCHW16C]]> into tensor<5x2x32x7x5xf32, #[[ABCDE16C]]>
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NEXT: layout.convert
// CHECK-NEXT: return
func.func @stacked_results(%x: tensor<2x32x9x7xf32>, %k: index) -> tensor<2x32x5x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.01> : tensor<32x32x3x3xf32>
  %all = tensor.empty() : tensor<5x2x32x7x5xf32>
  %e = tensor.empty() : tensor<2x32x7x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32x7x5xf32>) -> tensor<2x32x7x5xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %all) -> tensor<5x2x32x7x5xf32> {
    %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x32x9x7xf32>, tensor<32x32x3x3xf32>)
                                  outs(%f : tensor<2x32x7x5xf32>) -> tensor<2x32x7x5xf32>
    %t = tensor.insert_slice %y into %s[%i, 0, 0, 0, 0] [1, 2, 32, 7, 5] [1, 1, 1, 1, 1]
      : tensor<2x32x7x5xf32> into tensor<5x2x32x7x5xf32>
    scf.yield %t : tensor<5x2x32x7x5xf32>
  }
  %one = tensor.extract_slice %r[%k, 0, 0, 0, 0] [1, 2, 32, 7, 5] [1, 1, 1, 1, 1]
    : tensor<5x2x32x7x5xf32> to tensor<2x32x7x5xf32>
  %e2 = tensor.empty() : tensor<2x32x5x3xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x32x5x3xf32>) -> tensor<2x32x5x3xf32>
  %z = linalg.conv_2d_nchw_fchw ins(%one, %w : tensor<2x32x7x5xf32>, tensor<32x32x3x3xf32>)
                                outs(%f2 : tensor<2x32x5x3xf32>) -> tensor<2x32x5x3xf32>
  return %z : tensor<2x32x5x3xf32>
}
