// Check that layouts of types in the input are kept, also those of arguments.
// RUN: layout-opt %s -layout-solve -layout-materialize | FileCheck %s

#c8 = #layout.map<(n, c, h, w) -> buffer(n, c floordiv 8, h, w, c mod 8)>
// CHECK-DAG: #[[NCHW8C:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 8, d2, d3, d1 mod 8)>
// CHECK-DAG: #[[BA:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-LABEL: func @constrained
// CHECK-SAME: %[[X:.*]]: tensor<1x64x8x8xf32, #[[NCHW8C]]>)
// CHECK-NEXT: %[[R:.*]] = math.absf %[[X]] : tensor<1x64x8x8xf32, #[[NCHW8C]]>
// CHECK-NEXT: return %[[R]]
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @constrained(%x: tensor<1x64x8x8xf32, #c8>) -> tensor<1x64x8x8xf32, #c8> {
  %r = math.absf %x : tensor<1x64x8x8xf32, #c8>
  return %r : tensor<1x64x8x8xf32, #c8>
}

// A transposition keeps the order of its operand in storage, and the
// elementwise op follows.
// CHECK-LABEL: func @transposed
// CHECK: linalg.transpose
// CHECK-SAME: tensor<48x32xf32, #[[BA]]>
// CHECK-NOT: layout.convert
// CHECK: math.absf
// CHECK-NOT: layout.convert
// CHECK: linalg.transpose
// CHECK-NOT: layout.convert
// CHECK: return
func.func @transposed(%x: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %e = tensor.empty() : tensor<48x32xf32>
  %t = linalg.transpose ins(%x : tensor<32x48xf32>) outs(%e : tensor<48x32xf32>) permutation = [1, 0]
  %a = math.absf %t : tensor<48x32xf32>
  %e2 = tensor.empty() : tensor<32x48xf32>
  %u = linalg.transpose ins(%a : tensor<48x32xf32>) outs(%e2 : tensor<32x48xf32>) permutation = [1, 0]
  return %u : tensor<32x48xf32>
}
}
