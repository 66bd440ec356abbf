// Check that a digit that is zero on the shape need not be stored: no loop iterates over it, and its padding does not
// overwrite elements.
//
// RUN: %python %S/Inputs/stores.py %s

// a floordiv 8 mod 2 is omitted.
#middle = #layout.map<(a) -> buffer(a floordiv 2 mod 4, a floordiv 16, a mod 2)>
#zero = #layout.padded<#middle, 9 : i32>
#fused = #layout.map<(d0, d1) -> buffer([d0, d0] floordiv 8, d1 mod 1, [d1] align 3)>
#shifted = #layout.map<(d0, d1) -> buffer(d1 floordiv 8, [pad(d0, 2, 2), d1 mod 8] align 32)>

// STORES: middle(4xi32) = 1 2 3 4 9 9 9 9
func.func @middle(%x: tensor<4xi32>) -> tensor<4x1x2xi32> {
  %0 = layout.convert %x : tensor<4xi32> to tensor<4xi32, #zero>
  %1 = layout.storage_view %0 : tensor<4xi32, #zero> to tensor<4x1x2xi32>
  return %1 : tensor<4x1x2xi32>
}

// STORES: middle_back(4xi32) = input
func.func @middle_back(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = layout.convert %x : tensor<4xi32> to tensor<4xi32, #middle>
  %1 = layout.convert %0 : tensor<4xi32, #middle> to tensor<4xi32>
  return %1 : tensor<4xi32>
}

// STORES: fused(1x2xf32) = input
func.func @fused(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = layout.convert %x : tensor<1x2xf32> to tensor<1x2xf32, #fused>
  %1 = layout.convert %0 : tensor<1x2xf32, #fused> to tensor<1x2xf32, #shifted>
  %2 = layout.convert %1 : tensor<1x2xf32, #shifted> to tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}
