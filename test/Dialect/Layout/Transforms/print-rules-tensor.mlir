// Check the layout rules of tensor ops: new storage, reshapes as views, one
// layout for all tensors of an op that slices or pads, and shapes.
//
// RUN: layout-opt %s --layout-print-rules -o /dev/null | FileCheck %s --match-full-lines

// CHECK: func.func @sources
// CHECK-NEXT: %0 = tensor.empty any layout
// CHECK: %dim = tensor.dim any layout, reads no element
func.func @sources(%c: index) -> (tensor<4x5xf32>, index) {
  %0 = tensor.empty() : tensor<4x5xf32>
  %1 = tensor.dim %0, %c : tensor<4x5xf32>
  return %0, %1 : tensor<4x5xf32>, index
}

// CHECK: %collapsed = tensor.collapse_shape view (d0, d1, d2) -> (d0 * 4 + d1, d2)
// CHECK: %expanded = tensor.expand_shape view (d0, d1) -> (d0 floordiv 12, d0 floordiv 4 mod 3, d0 mod 4, d1)
// CHECK: %collapsed_0 = tensor.collapse_shape keeps its types: a dim after the first one of a group has a dynamic size
func.func @reshapes(%x: tensor<?x4x5xf32>, %y: tensor<24x5xf32>, %z: tensor<4x?x5xf32>)
    -> (tensor<?x5xf32>, tensor<2x3x4x5xf32>, tensor<?x5xf32>) {
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x5xf32> into tensor<?x5xf32>
  %1 = tensor.expand_shape %y [[0, 1, 2], [3]] output_shape [2, 3, 4, 5]
    : tensor<24x5xf32> into tensor<2x3x4x5xf32>
  %2 = tensor.collapse_shape %z [[0, 1], [2]] : tensor<4x?x5xf32> into tensor<?x5xf32>
  return %0, %1, %2 : tensor<?x5xf32>, tensor<2x3x4x5xf32>, tensor<?x5xf32>
}

// CHECK: %extracted_slice = tensor.extract_slice one layout [d0 dropped, d1, d2 in tiles that divide 8], reads what it writes
// CHECK: %inserted_slice = tensor.insert_slice one layout [d0 dropped, d1, d2 in tiles that divide 8], reads operand 0, writes a part
// CHECK: %concat = tensor.concat one layout [d0, d1, d2 in tiles that divide 32]
// CHECK: %cast = tensor.cast one layout [d0, d1, d2]
// CHECK: %padded = tensor.pad one layout [d0, d1 whole, d2 whole]
// CHECK: %cast_{{[0-9]}} = tensor.cast keeps its types: a tensor is unranked
func.func @parts(%x: tensor<4x6x32xf32>, %zero: f32, %n: index)
    -> (tensor<?x6x64xf32>, tensor<4x7x?xf32>, tensor<*xf32>) {
  %0 = tensor.extract_slice %x[2, 0, 8] [1, 6, 16] [1, 1, 1] : tensor<4x6x32xf32> to tensor<6x16xf32>
  %1 = tensor.insert_slice %0 into %x[3, 0, 8] [1, 6, 16] [1, 1, 1] : tensor<6x16xf32> into tensor<4x6x32xf32>
  %2 = tensor.concat dim(2) %1, %x : (tensor<4x6x32xf32>, tensor<4x6x32xf32>) -> tensor<4x6x64xf32>
  %3 = tensor.cast %2 : tensor<4x6x64xf32> to tensor<?x6x64xf32>
  %4 = tensor.pad %x low[0, 1, 0] high[0, 0, %n] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<4x6x32xf32> to tensor<4x7x?xf32>
  %5 = tensor.cast %x : tensor<4x6x32xf32> to tensor<*xf32>
  return %3, %4, %5 : tensor<?x6x64xf32>, tensor<4x7x?xf32>, tensor<*xf32>
}
