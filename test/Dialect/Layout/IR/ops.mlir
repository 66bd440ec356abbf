// Check that layout ops parse, print and fold.
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s
// RUN: layout-opt %s --mlir-print-local-scope --canonicalize | FileCheck %s --check-prefix=FOLD

#blocked = #layout.blocked<"NCHW" to "NCHW16c">
#nhwc = #layout.blocked<"NCHW" to "NHWC">

// CHECK-LABEL: @convert
// CHECK: layout.convert %{{.*}} : tensor<1x17x7x7xf32> to tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>
func.func @convert(%x: tensor<1x17x7x7xf32>) -> tensor<1x17x7x7xf32, #blocked> {
  %0 = layout.convert %x : tensor<1x17x7x7xf32> to tensor<1x17x7x7xf32, #blocked>
  return %0 : tensor<1x17x7x7xf32, #blocked>
}

// CHECK-LABEL: @storage_view
// CHECK: layout.storage_view %{{.*}} : tensor<?x17x7x7xf32, {{.*}}> to tensor<?x2x7x7x16xf32>
func.func @storage_view(%x: tensor<?x17x7x7xf32, #blocked>) -> tensor<?x2x7x7x16xf32> {
  %0 = layout.storage_view %x : tensor<?x17x7x7xf32, #blocked> to tensor<?x2x7x7x16xf32>
  return %0 : tensor<?x2x7x7x16xf32>
}

// FOLD-LABEL: @there_and_back
// FOLD-SAME: (%[[X:.*]]: tensor<1x17x7x7xf32>)
// FOLD-NEXT: return %[[X]]
func.func @there_and_back(%x: tensor<1x17x7x7xf32>) -> tensor<1x17x7x7xf32> {
  %0 = layout.convert %x : tensor<1x17x7x7xf32> to tensor<1x17x7x7xf32, #blocked>
  %1 = layout.convert %0 : tensor<1x17x7x7xf32, #blocked> to tensor<1x17x7x7xf32, #nhwc>
  %2 = layout.convert %1 : tensor<1x17x7x7xf32, #nhwc> to tensor<1x17x7x7xf32>
  return %2 : tensor<1x17x7x7xf32>
}

// FOLD-LABEL: @chain
// FOLD-NEXT: layout.convert %{{.*}} : tensor<1x17x7x7xf32> to tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NHWC">>
// FOLD-NEXT: return
func.func @chain(%x: tensor<1x17x7x7xf32>) -> tensor<1x17x7x7xf32, #nhwc> {
  %0 = layout.convert %x : tensor<1x17x7x7xf32> to tensor<1x17x7x7xf32, #blocked>
  %1 = layout.convert %0 : tensor<1x17x7x7xf32, #blocked> to tensor<1x17x7x7xf32, #nhwc>
  return %1 : tensor<1x17x7x7xf32, #nhwc>
}

// A constant keeps its logical elements and changes its type.
// FOLD-LABEL: @constant
// FOLD-NEXT: arith.constant dense<{{\[\[}}1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8, #layout.map<(d0, d1) -> buffer(d1, d0)>>
// FOLD-NEXT: arith.constant dense<7> : tensor<2x3xi8, #layout.map<(d0, d1) -> buffer(d1, d0)>>
// FOLD-NEXT: return
func.func @constant() -> (tensor<2x3xi8, #layout.map<(a, b) -> buffer(b, a)>>, tensor<2x3xi8, #layout.map<(a, b) -> buffer(b, a)>>) {
  %c = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %s = arith.constant dense<7> : tensor<2x3xi8>
  %0 = layout.convert %c : tensor<2x3xi8> to tensor<2x3xi8, #layout.map<(a, b) -> buffer(b, a)>>
  %1 = layout.convert %s : tensor<2x3xi8> to tensor<2x3xi8, #layout.map<(a, b) -> buffer(b, a)>>
  return %0, %1 : tensor<2x3xi8, #layout.map<(a, b) -> buffer(b, a)>>, tensor<2x3xi8, #layout.map<(a, b) -> buffer(b, a)>>
}

// FOLD-LABEL: @views_cancel
// FOLD-SAME: (%[[X:.*]]: tensor<1x2x7x7x16xf32>)
// FOLD-NEXT: return %[[X]]
func.func @views_cancel(%x: tensor<1x2x7x7x16xf32>) -> tensor<1x2x7x7x16xf32> {
  %0 = layout.storage_view %x : tensor<1x2x7x7x16xf32> to tensor<1x17x7x7xf32, #blocked>
  %1 = layout.storage_view %0 : tensor<1x17x7x7xf32, #blocked> to tensor<1x2x7x7x16xf32>
  return %1 : tensor<1x2x7x7x16xf32>
}
