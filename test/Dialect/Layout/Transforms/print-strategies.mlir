// Check the table with the costs of the optimum, of the unchanged program and
// of rules. The IR is not changed.
//
// RUN: layout-opt %s --layout-print-strategies=output=%t.txt | FileCheck %s --check-prefix=IR --implicit-check-not=layout.
// RUN: layout-opt %s --layout-solve | FileCheck %s --check-prefix=SOLVED
// RUN: cat %t.txt | FileCheck %s --check-prefix=TEXT
// RUN: layout-opt %s --layout-print-strategies=format=json -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: not layout-opt %s --layout-print-strategies=output=%t/no/such/file 2>&1 | FileCheck %s --check-prefix=BAD
//
// IR: module attributes {layout.target = #layout.cpu<lanes = 16>}
// IR: linalg.conv_2d_nchw_fchw
// SOLVED: layout.assignment = {conversion_cost = 477863 : i64, cost = 27431437 : i64, lower_bound = 27431437 : i64}
// TEXT:      strategy                        cost      of conversions   conversions     bytes moved
// TEXT-NEXT: optimum                     27431437              477863             1          401408
// TEXT-NEXT: as-typed                    39705861                   0             0               0
// TEXT-NEXT: forward                     27431437              477863             1          401408
// TEXT-NEXT: priority                    28055585             1102011             2          925696
// TEXT-NEXT: rank                        27431437              477863             1          401408
// TEXT-NEXT: majority                    27431437              477863             1          401408
// TEXT-NEXT: bidirectional               27431437              477863             1          401408
// TEXT-NEXT: greedy                      28055585             1102011             2          925696
// TEXT-NEXT: no assignment costs less than 27431437
// JSON:      "name": "optimum",
// JSON-NEXT: "cost": 27431437,
// JSON-NEXT: "conversion_cost": 477863,
// JSON-NEXT: "conversions": 1,
// JSON-NEXT: "bytes_moved": 401408
// JSON: "lower_bound": 27431437
// BAD: error: the option 'output': cannot write
module attributes {layout.target = #layout.cpu<lanes = 16>} {
  func.func @main(%x: tensor<1x64x32x32xf32>) -> tensor<1x64x28x28xf32> {
    %w = arith.constant dense<0.5> : tensor<64x64x3x3xf32>
    %wide = tensor.empty() : tensor<1x64x30x30xf32>
    %out = tensor.empty() : tensor<1x64x28x28xf32>
    %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>)
      outs(%wide : tensor<1x64x30x30xf32>) -> tensor<1x64x30x30xf32>
    %tanh = math.tanh %y : tensor<1x64x30x30xf32>
    %z = linalg.conv_2d_nchw_fchw ins(%tanh, %w : tensor<1x64x30x30xf32>, tensor<64x64x3x3xf32>)
      outs(%out : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
    return %z : tensor<1x64x28x28xf32>
  }
}
