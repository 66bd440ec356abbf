// Check that errors in a price list are located in it.
// RUN: split-file %s %t
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the option 'costs': cannot read '{{.*}}none.mlir': No such file or directory
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/syntax.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: syntax.mlir:1:{{[0-9]+}}: error:
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/global.mlir 2>&1 | FileCheck %s --check-prefix=GLOBAL
// GLOBAL: global.mlir:1:1: error: {{.*}}a price list must only have functions with one block
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/extern.mlir 2>&1 | FileCheck %s --check-prefix=EXTERN
// EXTERN: extern.mlir:1:1: error: {{.*}}a price list must only have functions with one block
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/unpriced.mlir 2>&1 | FileCheck %s --check-prefix=UNPRICED
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/negative.mlir 2>&1 | FileCheck %s --check-prefix=UNPRICED
// UNPRICED: error: {{.*}}'layout.cost' of function 'f' must be its price, an i64 of at least 0
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: two.mlir:3:{{[0-9]+}}: error: {{.*}}the price of function 'f' is that of one op, but this is a second one: move it to its own function
// TWO: two.mlir:2:{{[0-9]+}}: note: the first one is here
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: {{.*}}function 'f' has no op whose price depends on layouts
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: twice.mlir:5:1: error: {{.*}}this op already has a price in these layouts
// TWICE: twice.mlir:1:1: note: {{.*}}it is here
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/opaque.mlir 2>&1 | FileCheck %s --check-prefix=OPAQUE
// OPAQUE: error: {{.*}}a price of this op is never used: it keeps its types, as it has no LayoutOpInterface and is not elementwise
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/view.mlir 2>&1 | FileCheck %s --check-prefix=VIEW
// VIEW: error: {{.*}}a price of this op is never used: it is free, or costs as much as a conversion
// RUN: not layout-opt %t/net.mlir --layout-assign=costs=%t/alike.mlir 2>&1 | FileCheck %s --check-prefix=ALIKE
// ALIKE: error: {{.*}}a price of this conversion is never used: both sides have identical storage
// RUN: not layout-opt %t/net.mlir --layout-solve="costs=%t/good.mlir objective=bytes" 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: {{.*}}the options 'costs' and 'objective=bytes' exclude each other: external prices are not in bytes
// RUN: not layout-opt %t/net.mlir --layout-solve="costs=%t/good.mlir weight-cost=1" 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// WEIGHTS: error: {{.*}}the options 'costs' and 'weight-cost' exclude each other: external prices are not in bytes
// RUN: not layout-opt %t/net.mlir --layout-solve=write-costs=%t/none/x 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: {{.*}}the option 'write-costs': cannot write '{{.*}}x': No such file or directory
// RUN: layout-opt %t/net.mlir --layout-solve=costs=%t/good.mlir -o /dev/null

//--- net.mlir
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @main(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %r = math.absf %x : tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}
}
//--- syntax.mlir
func.func @f(
//--- global.mlir
ml_program.global private @g(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
//--- extern.mlir
func.func private @f(tensor<4xf32>)
//--- unpriced.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.absf %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
//--- negative.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.cost = -1 : i64} {
  %r = math.absf %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
//--- two.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.cost = 1 : i64} {
  %r = math.absf %x : tensor<4xf32>
  %s = math.absf %r : tensor<4xf32>
  return %s : tensor<4xf32>
}
//--- empty.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.cost = 1 : i64} {
  return %x : tensor<4xf32>
}
//--- twice.mlir
func.func @f(%x: tensor<4x1xf32>) -> tensor<4x1xf32> attributes {layout.cost = 1 : i64} {
  %r = math.absf %x : tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}
func.func @g(%x: tensor<4x1xf32, #layout.map<(i, j) -> buffer(j, i)>>) -> tensor<4x1xf32, #layout.map<(i, j) -> buffer(j, i)>> attributes {layout.cost = 1 : i64} {
  %r = math.absf %x : tensor<4x1xf32, #layout.map<(i, j) -> buffer(j, i)>>
  return %r : tensor<4x1xf32, #layout.map<(i, j) -> buffer(j, i)>>
}
//--- opaque.mlir
func.func @f(%x: f32) -> tensor<4xf32> attributes {layout.cost = 1 : i64} {
  %r = tensor.splat %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
//--- view.mlir
func.func @f(%x: tensor<4x2xf32>) -> tensor<8xf32> attributes {layout.cost = 1 : i64} {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<4x2xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
//--- alike.mlir
func.func @f(%x: tensor<4x1xf32>) -> tensor<4x1xf32, #layout.map<(i, j) -> buffer(j, i)>> attributes {layout.cost = 1 : i64} {
  %r = layout.convert %x : tensor<4x1xf32> to tensor<4x1xf32, #layout.map<(i, j) -> buffer(j, i)>>
  return %r : tensor<4x1xf32, #layout.map<(i, j) -> buffer(j, i)>>
}
//--- good.mlir
func.func @f(%x: tensor<8x32xf32>) -> tensor<8x32xf32> attributes {layout.cost = 5 : i64} {
  %r = math.absf %x : tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}
