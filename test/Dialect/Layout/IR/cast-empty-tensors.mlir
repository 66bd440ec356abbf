// Check that an empty tensor keeps its layout when its sizes become static.

// RUN: layout-opt %s --mlir-print-local-scope --canonicalize | FileCheck %s

#cols = #layout.map<(a, b, c) -> buffer(b, a, c)>
// CHECK-LABEL: func.func @known
// CHECK-SAME: (%[[N:.*]]: index, %{{.*}}: index)
// CHECK-DAG: %[[A:.*]] = tensor.empty(%[[N]]) : tensor<2x?x5xf32, #[[MAP:layout.map<\(d0, d1, d2\) -> buffer\(d1, d0, d2\)>]]>
// CHECK-DAG: %[[B:.*]] = tensor.cast %{{.*}} : tensor<2x?x?xf32, #[[MAP]]> to tensor<?x?x?xf32, #[[MAP]]>
// CHECK: return %[[A]], %[[B]]
func.func @known(%n: index, %m: index) -> (tensor<2x?x5xf32, #cols>, tensor<?x?x?xf32, #cols>) {
  %e = tensor.empty(%n, %m) : tensor<2x?x?xf32, #cols>
  %a = tensor.cast %e : tensor<2x?x?xf32, #cols> to tensor<2x?x5xf32, #cols>
  %b = tensor.cast %e : tensor<2x?x?xf32, #cols> to tensor<?x?x?xf32, #cols>
  return %a, %b : tensor<2x?x5xf32, #cols>, tensor<?x?x?xf32, #cols>
}
