// RUN: layout-opt %s | FileCheck %s
// Check that proofs about products of many sizes take little time.

// CHECK: buffer(d17, d16, d15, d14, d13, d12, d11, d10, d9, d8, d7, d6, d5, d4, d3, d2, d1, d0)
func.func private @reversed(tensor<2x2x2x2x2x2x2x2x2x?x2x2x2x2x2x2x2x2xf32,
  #layout.map<(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r) -> buffer(r, q, p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a)>>)
