// RUN: layout-opt %s --allow-unregistered-dialect --layout-canonicalize | FileCheck %s
// RUN: layout-opt %s --allow-unregistered-dialect --layout-canonicalize --layout-canonicalize | FileCheck %s

// Values, function types and constants get #layout.map; equal layouts become
// one attribute.
// CHECK-DAG: #[[BA:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-DAG: #[[NCHW16C:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:.*]]: tensor<2x17x3x5xf32, #[[NCHW16C]]>
// CHECK-SAME: -> tensor<2x17x3x5xf32, #[[NCHW16C]]>
func.func @f(%x: tensor<2x17x3x5xf32, #layout.blocked<"NCHW" to "NCHW16c">>)
    -> tensor<2x17x3x5xf32, #layout.blocked<"ABXY" to "ABXY16b">> {
  // CHECK-NEXT: %[[Y:.*]] = layout.convert %[[X]] : tensor<2x17x3x5xf32, #[[NCHW16C]]> to tensor<2x17x3x5xf32, #[[NCHW16C]]>
  %y = layout.convert %x : tensor<2x17x3x5xf32, #layout.blocked<"NCHW" to "NCHW16c">>
                        to tensor<2x17x3x5xf32, #layout.blocked<"ABXY" to "ABXY16b">>
  // CHECK-NEXT: return %[[Y]]
  return %y : tensor<2x17x3x5xf32, #layout.blocked<"ABXY" to "ABXY16b">>
}

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: arith.constant dense<{{\[\[}}1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32, #[[BA]]>
  %0 = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32, #layout.blocked<"AB" to "BA">>
  // CHECK-NEXT: arith.constant dense<9> : tensor<3x2xi32, #[[BA]]>
  %1 = arith.constant dense<9> : tensor<3x2xi32, #layout.blocked<"AB" to "BA">>
  // CHECK-NEXT: arith.constant dense_resource<blob> : tensor<2x2xi8, #[[BA]]>
  %2 = arith.constant dense_resource<blob> : tensor<2x2xi8, #layout.blocked<"AB" to "BA">>
  // CHECK-NEXT: arith.constant dense<0> : tensor<3x2xi32>
  %3 = arith.constant dense<0> : tensor<3x2xi32, #layout.blocked<"AB" to "AB">>
  return
}

// Layouts nested in attributes are canonicalized, too.
// CHECK: "test.op"() {{.*}}#[[BA]]
"test.op"() {type = tensor<3x2xi32, #layout.blocked<"AB" to "BA">>} : () -> ()

// Encodings of other dialects stay.
// CHECK: @foreign(tensor<4xf32, "csr">)
func.func private @foreign(tensor<4xf32, "csr">)

{-#
  dialect_resources: { builtin: { blob: "0x0100000001020304" } }
#-}
