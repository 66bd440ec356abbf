// Check dims that are stored in reverse order, of static and of dynamic size.
//
// RUN: %python %S/Inputs/stores.py %s

#reversed = #layout.map<(a) -> buffer(offset = a * -1 + size(a) + -1)>
#reversed4 = #layout.map<(a) -> buffer(offset = a * -1 + 3)>

// STORES: dynamic(5xf32) = 5 4 3 2 1
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = layout.convert %x : tensor<?xf32> to tensor<?xf32, #reversed>
  %1 = layout.storage_view %0 : tensor<?xf32, #reversed> to tensor<?xf32>
  return %1 : tensor<?xf32>
}

// STORES: dynamic_back(5xf32) = input
func.func @dynamic_back(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = layout.convert %x : tensor<?xf32> to tensor<?xf32, #reversed>
  %1 = layout.convert %0 : tensor<?xf32, #reversed> to tensor<?xf32>
  return %1 : tensor<?xf32>
}

// STORES: static(4xf32) = 4 3 2 1
func.func @static(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = layout.convert %x : tensor<4xf32> to tensor<4xf32, #reversed4>
  %1 = layout.storage_view %0 : tensor<4xf32, #reversed4> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
