// Check that every replica of an element is written, and that the first one is read.
//
// RUN: %python %S/Inputs/stores.py %s

#outer = #layout.map<(i, j) replicate(r : 2) -> buffer(r, i, j)>
#inner = #layout.map<(i, j) replicate(r : 3) -> buffer(i, r, j)>
#padded = #layout.padded<#layout.map<(i) replicate(r : 2) -> buffer([i, r] align 8)>, 9.0 : f32>
#columns = #layout.map<(i, j) -> buffer(j, i)>

// STORES: written(2x2xf32) = 1 2 3 4 1 2 3 4
func.func @written(%x: tensor<2x2xf32>) -> tensor<2x2x2xf32> {
  %0 = layout.convert %x : tensor<2x2xf32> to tensor<2x2xf32, #outer>
  %1 = layout.storage_view %0 : tensor<2x2xf32, #outer> to tensor<2x2x2xf32>
  return %1 : tensor<2x2x2xf32>
}

// STORES: padded(3xf32) = 1 1 2 2 3 3 9 9
func.func @padded(%x: tensor<3xf32>) -> tensor<3xf32, #padded> {
  %0 = layout.convert %x : tensor<3xf32> to tensor<3xf32, #padded>
  return %0 : tensor<3xf32, #padded>
}

// STORES: read(3x5xf32) = input
func.func @read(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #inner>
  %1 = layout.convert %0 : tensor<3x5xf32, #inner> to tensor<3x5xf32, #columns>
  %2 = layout.convert %1 : tensor<3x5xf32, #columns> to tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

// STORES: read_twice(3x5xf32) = input
func.func @read_twice(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %0 = layout.convert %x : tensor<?x5xf32> to tensor<?x5xf32, #inner>
  %1 = layout.convert %0 : tensor<?x5xf32, #inner> to tensor<?x5xf32, #outer>
  %2 = layout.convert %1 : tensor<?x5xf32, #outer> to tensor<?x5xf32>
  return %2 : tensor<?x5xf32>
}
