// Check that constants are packed at compile time.
// RUN: layout-opt %s --convert-layout-to-linalg | FileCheck-22 %s

#c4 = #layout.blocked<"C" to "C4c">
#zero = #layout.padded<#layout.blocked<"C" to "C4c">, zero>
#nine = #layout.padded<#layout.blocked<"C" to "C4c">, 9 : i16>
#yes = #layout.padded<#layout.blocked<"C" to "C4c">, true>
#t = #layout.map<(i, j) -> buffer(j, i)>

// CHECK-LABEL: @packed
// CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<8xf32>
func.func @packed() -> tensor<5xf32, #c4> {
  %0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32, #c4>
  return %0 : tensor<5xf32, #c4>
}

// CHECK-LABEL: @stated_padding
// CHECK: arith.constant dense<[1, 2, 3, 4, 5, 9, 9, 9]> : tensor<8xi16>
// CHECK: arith.constant dense<[true, false, true, false, false, true, true, true]> : tensor<8xi1>
func.func @stated_padding() -> (tensor<5xi16, #nine>, tensor<5xi1, #yes>) {
  %0 = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi16, #nine>
  %1 = arith.constant dense<[true, false, true, false, false]> : tensor<5xi1, #yes>
  return %0, %1 : tensor<5xi16, #nine>, tensor<5xi1, #yes>
}

// A splat stays a splat if padding may hold its value.
// CHECK-LABEL: @splats
// CHECK: arith.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK: arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: arith.constant dense<[1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<8xf32>
// CHECK: arith.constant dense<1.000000e+00> : tensor<8xf32>
func.func @splats() -> (tensor<5xf32, #c4>, tensor<5xf32, #zero>, tensor<5xf32, #zero>, tensor<8xf32, #zero>) {
  %0 = arith.constant dense<1.0> : tensor<5xf32, #c4>
  %1 = arith.constant dense<0.0> : tensor<5xf32, #zero>
  %2 = arith.constant dense<1.0> : tensor<5xf32, #zero>
  %3 = arith.constant dense<1.0> : tensor<8xf32, #zero>
  return %0, %1, %2, %3 : tensor<5xf32, #c4>, tensor<5xf32, #zero>, tensor<5xf32, #zero>, tensor<8xf32, #zero>
}

// CHECK-LABEL: @other_elements
// CHECK: arith.constant dense<{{\[}}[true, false], [true, true], [false, false]]> : tensor<3x2xi1>
// CHECK: arith.constant dense<{{\[}}[1, 4], [2, 5], [3, -6]]> : tensor<3x2xi8>
// CHECK: arith.constant dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xindex>
// CHECK: arith.constant dense<{{\[}}[1, -4], [2, -3], [3, 0]]> : tensor<3x2xi4>
// CHECK: arith.constant dense<> : tensor<0x2xf32>
func.func @other_elements() -> (tensor<2x3xi1, #t>, tensor<2x3xi8, #t>, tensor<2x3xindex, #t>, tensor<2x3xi4, #t>, tensor<2x0xf32, #t>) {
  %0 = arith.constant dense<[[true, true, false], [false, true, false]]> : tensor<2x3xi1, #t>
  %1 = arith.constant dense<[[1, 2, 3], [4, 5, -6]]> : tensor<2x3xi8, #t>
  %2 = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xindex, #t>
  %3 = arith.constant dense<[[1, 2, 3], [-4, -3, 0]]> : tensor<2x3xi4, #t>
  %4 = arith.constant dense<> : tensor<2x0xf32, #t>
  return %0, %1, %2, %3, %4 : tensor<2x3xi1, #t>, tensor<2x3xi8, #t>, tensor<2x3xindex, #t>, tensor<2x3xi4, #t>, tensor<2x0xf32, #t>
}

// The resource of the logical elements stays unchanged: a second user may store
// them in another layout.
// CHECK-LABEL: @resources
// CHECK: arith.constant dense_resource<[[W:w_[0-9]+]]> : tensor<3x2xi32>
// CHECK: arith.constant dense_resource<w> : tensor<2x3xi32>
func.func @resources() -> (tensor<2x3xi32, #t>, tensor<2x3xi32>) {
  %0 = arith.constant dense_resource<w> : tensor<2x3xi32, #t>
  %1 = arith.constant dense_resource<w> : tensor<2x3xi32>
  return %0, %1 : tensor<2x3xi32, #t>, tensor<2x3xi32>
}
// CHECK: [[W]]: "0x40000000010000000400000002000000050000000300000006000000"

{-#
  dialect_resources: {
    builtin: { w: "0x04000000010000000200000003000000040000000500000006000000" }
  }
#-}
