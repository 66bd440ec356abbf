// Check the lowering of concatenations of tensors with layouts.
// RUN: layout-opt %s --convert-layout-to-linalg --canonicalize --cse | FileCheck %s

#nc16 = #layout.blocked<"NCHW" to "NCHW16c">

// A concatenation of whole tiles inserts slices of storage.
// CHECK-LABEL: @tiles
// CHECK-SAME: %[[X:.*]]: tensor<?x2x3x3x16xf32>, %[[Y:.*]]: tensor<?x1x3x3x16xf32>
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x3x3x3x16xf32>
// CHECK: %[[A:.*]] = tensor.insert_slice %[[X]] into %[[E]][0, 0, 0, 0, 0] [%{{.*}}, 2, 3, 3, 16]
// CHECK: %[[B:.*]] = tensor.insert_slice %[[Y]] into %[[A]][0, 2, 0, 0, 0] [%{{.*}}, 1, 3, 3, 16]
// CHECK: return %[[B]] : tensor<?x3x3x3x16xf32>
func.func @tiles(%x: tensor<?x32x3x3xf32, #nc16>, %y: tensor<?x16x3x3xf32, #nc16>) -> tensor<?x48x3x3xf32, #nc16> {
  %0 = tensor.concat dim(1) %x, %y : (tensor<?x32x3x3xf32, #nc16>, tensor<?x16x3x3xf32, #nc16>) -> tensor<?x48x3x3xf32, #nc16>
  return %0 : tensor<?x48x3x3xf32, #nc16>
}

// With a dynamic size and padded channels, no layout is left either.
// CHECK-LABEL: @parts
// CHECK-NOT: layout.
func.func @parts(%x: tensor<1x17x?x3xf32, #nc16>, %y: tensor<1x17x?x3xf32, #nc16>) -> tensor<1x17x?x3xf32> {
  %0 = tensor.concat dim(2) %x, %y : (tensor<1x17x?x3xf32, #nc16>, tensor<1x17x?x3xf32, #nc16>) -> tensor<1x17x?x3xf32, #nc16>
  %1 = layout.convert %0 : tensor<1x17x?x3xf32, #nc16> to tensor<1x17x?x3xf32>
  return %1 : tensor<1x17x?x3xf32>
}

// One operand's type states that there are no elements, the other types do not.
// CHECK-LABEL: @nothing
// CHECK-NOT: tensor.insert_slice
// CHECK: return %{{.*}} : tensor<?x0xf32>
#columns = #layout.map<(i, j) -> buffer(j, i)>
func.func @nothing(%x: tensor<?x1xf32, #columns>, %y: tensor<0x?xf32, #columns>) -> tensor<0x?xf32, #columns> {
  %0 = tensor.concat dim(1) %x, %y, %x : (tensor<?x1xf32, #columns>, tensor<0x?xf32, #columns>, tensor<?x1xf32, #columns>) -> tensor<0x?xf32, #columns>
  return %0 : tensor<0x?xf32, #columns>
}
