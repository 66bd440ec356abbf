// Check conversions to swizzled storage and back.
//
// RUN: %python %S/Inputs/stores.py %s

#rows = #layout.map<(a, b) -> buffer(a, xor(b, a : 4))>
#cute = #layout.import<cute, "S<2,0,2> o (4,4):(4,1)">
// Bits of both dims in one bit of the offset.
#triton = #layout.import<triton, "offset=[[1,1],[0,1],[2,0]] : [4,2]">
// The xor of a value with itself is zero; i floordiv 4 is not derived from it.
#self = #layout.map<(i) -> buffer(xor(i, i : 4), i floordiv 4)>

// Row 1 is stored as 1 0 3 2, row 2 as 2 3 0 1.
// STORES: rows(4x4xf32) = 1 2 3 4 6 5 8 7 11 12 9 10 16 15 14 13
func.func @rows(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = layout.convert %x : tensor<4x4xf32> to tensor<4x4xf32, #rows>
  %1 = layout.storage_view %0 : tensor<4x4xf32, #rows> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Plain storage, read as swizzled storage.
// STORES: rows_back(4x4xf32) = 1 2 3 4 6 5 8 7 11 12 9 10 16 15 14 13
func.func @rows_back(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = layout.storage_view %x : tensor<4x4xf32> to tensor<4x4xf32, #rows>
  %1 = layout.convert %0 : tensor<4x4xf32, #rows> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// STORES: dynamic(5x4xf32) = 1 2 3 4 6 5 8 7 11 12 9 10 16 15 14 13 17 18 19 20
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = layout.convert %x : tensor<?x4xf32> to tensor<?x4xf32, #rows>
  %1 = layout.storage_view %0 : tensor<?x4xf32, #rows> to tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// STORES: dynamic_back(5x4xf32) = input
func.func @dynamic_back(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = layout.convert %x : tensor<?x4xf32> to tensor<?x4xf32, #rows>
  %1 = layout.convert %0 : tensor<?x4xf32, #rows> to tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// STORES: cute(4x4xf32) = input
func.func @cute(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = layout.convert %x : tensor<4x4xf32> to tensor<4x4xf32, #cute>
  %1 = layout.convert %0 : tensor<4x4xf32, #cute> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Offset 1 is index (1, 1), 2 is (0, 1), 3 is (1, 0), 4 is (2, 0).
// STORES: triton(4x2xf32) = 1 4 2 3 5 8 6 7
func.func @triton(%x: tensor<4x2xf32>) -> tensor<8xf32> {
  %0 = layout.convert %x : tensor<4x2xf32> to tensor<4x2xf32, #triton>
  %1 = layout.storage_view %0 : tensor<4x2xf32, #triton> to tensor<8xf32>
  return %1 : tensor<8xf32>
}

// STORES: self(1xf32) = input
func.func @self(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = layout.convert %x : tensor<1xf32> to tensor<1xf32, #self>
  %1 = layout.convert %0 : tensor<1xf32, #self> to tensor<1xf32>
  return %1 : tensor<1xf32>
}
