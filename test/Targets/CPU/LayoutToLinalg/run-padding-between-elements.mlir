// Check that padding with a stated value is also stored between elements, where no slice of the storage contains only
// padding.
//
// RUN: %python %S/Inputs/stores.py %s

#parts = #layout.padded<#layout.relations<(a, b), split b -> (bo, bm : 2, bi : 2), store (bi, a, bo, bm)>, 9.0 : f32>
#strided = #layout.padded<#layout.map<(a) -> buffer(offset = a * 2)>, 9.0 : f32>
// Only positions (i, i mod 2) hold elements.
#diagonal = #layout.padded<#layout.map<(a) -> buffer(a, a mod 2)>, 9.0 : f32>

// STORES: parts(2x6xf32) = 1 3 5 9 7 9 11 9 2 4 6 9 8 10 12 9
// STORES: strided(3xf32) = 1 9 2 9 3
// STORES: diagonal(3xf32) = 1 9 9 2 3 9
func.func @parts(%x: tensor<2x6xf32>) -> tensor<2x2x2x2xf32> {
  %0 = layout.convert %x : tensor<2x6xf32> to tensor<2x6xf32, #parts>
  %1 = layout.storage_view %0 : tensor<2x6xf32, #parts> to tensor<2x2x2x2xf32>
  return %1 : tensor<2x2x2x2xf32>
}

func.func @strided(%x: tensor<3xf32>) -> tensor<5xf32> {
  %0 = layout.convert %x : tensor<3xf32> to tensor<3xf32, #strided>
  %1 = layout.storage_view %0 : tensor<3xf32, #strided> to tensor<5xf32>
  return %1 : tensor<5xf32>
}

func.func @diagonal(%x: tensor<3xf32>) -> tensor<3xf32, #diagonal> {
  %0 = layout.convert %x : tensor<3xf32> to tensor<3xf32, #diagonal>
  return %0 : tensor<3xf32, #diagonal>
}
