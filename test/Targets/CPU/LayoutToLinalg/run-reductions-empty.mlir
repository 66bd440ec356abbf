// Check that a reduction over no elements gives its initial value, also if its
// body ignores that value.
//
// RUN: %python %S/Inputs/stores.py %s

#c4 = #layout.blocked<"C" to "C4c">
#r4 = #layout.blocked<"CW" to "CW4c">
#rows = affine_map<(i, j) -> (i, j)>
#sums = affine_map<(i, j) -> (i)>

// STORES: last(5x0xf32) = 7 8 9 10 11
// STORES: last(5x2xf32) = 2 4 6 8 10
func.func @last(%x: tensor<5x?xf32>) -> tensor<5xf32> {
  %y = arith.constant dense<[7.0, 8.0, 9.0, 10.0, 11.0]> : tensor<5xf32>
  %xl = layout.convert %x : tensor<5x?xf32> to tensor<5x?xf32, #r4>
  %yl = layout.convert %y : tensor<5xf32> to tensor<5xf32, #c4>
  %r = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "reduction"]}
      ins(%xl : tensor<5x?xf32, #r4>) outs(%yl : tensor<5xf32, #c4>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<5xf32, #c4>
  %p = layout.convert %r : tensor<5xf32, #c4> to tensor<5xf32>
  return %p : tensor<5xf32>
}

// STORES: last_of_rows(5x0xf32) = 7 8 9 10 11
// STORES: last_of_rows(5x2xf32) = 2 4 6 8 10
func.func @last_of_rows(%x: tensor<5x?xf32>) -> tensor<5xf32> {
  %y = arith.constant dense<[7.0, 8.0, 9.0, 10.0, 11.0]> : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x?xf32>) outs(%y : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
