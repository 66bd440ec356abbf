// Check the layout rules of elementwise ops of arith and math, also with
// scalars, and of constants.
//
// RUN: layout-opt %s --layout-print-rules -o /dev/null | FileCheck %s --match-full-lines

// CHECK:      func.func @f blocks (fixed, fixed, _)
// CHECK-NEXT:   %cst_0 = arith.constant any layout
// CHECK-NEXT:   %0 = arith.addf ([i, j], [i, j]) -> [i, j], loops i=4 j=?, tiles i, 1 op per point
// CHECK-NEXT:   %1 = arith.cmpf ([i, j], [i, j]) -> [i, j], loops i=4 j=?, tiles i, 1 op per point
// CHECK-NEXT:   %2 = arith.select (scalar, [i, j], [i, j]) -> [i, j], loops i=4 j=?, tiles i, 1 op per point
// CHECK-NEXT:   %3 = math.exp ([]) -> [], 1 op per point
// CHECK-NEXT:   func.return (fixed, fixed, fixed)
func.func @f(%x: tensor<4x?xf32>, %y: tensor<f32>, %b: i1) -> (tensor<4x?xf32>, tensor<4x?xi1>, tensor<f32>) {
  %scalar = arith.constant 1.0 : f32
  %0 = arith.constant dense<1.0> : tensor<4x2xf32>
  %1 = arith.addf %x, %x : tensor<4x?xf32>
  %2 = arith.cmpf olt, %1, %x : tensor<4x?xf32>
  %3 = arith.select %b, %x, %1 : tensor<4x?xf32>
  %4 = math.exp %y : tensor<f32>
  return %3, %2, %4 : tensor<4x?xf32>, tensor<4x?xi1>, tensor<f32>
}

// Neither elementwise nor an op with the interface.
// CHECK: func.func @opaque
// CHECK-NEXT: %splat = tensor.splat keeps its types: it has no LayoutOpInterface and is not elementwise
func.func @opaque(%s: f32) -> tensor<4xf32> {
  %0 = tensor.splat %s : tensor<4xf32>
  return %0 : tensor<4xf32>
}
