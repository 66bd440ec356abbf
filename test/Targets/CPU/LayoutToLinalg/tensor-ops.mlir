// Check the lowering of pads, slices and reshapes of tensors with layouts.
// RUN: layout-opt %s --convert-layout-to-linalg --canonicalize | FileCheck-22 %s

#nc16 = #layout.blocked<"NCHW" to "NCHW16c">
#z16 = #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>
#nc = #layout.blocked<"NC" to "NC16c">
#c16 = #layout.blocked<"NCHW" to "NCHW16c">
#chw = #layout.map<(i, j, k) -> buffer(k, i, j)>

// CHECK-LABEL: @pad_whole_axes
// CHECK: tensor.pad %{{.*}} low[0, 0, 1, 2, 0] high[0, 0, 3, 4, 0]
// CHECK: tensor<1x2x7x7x16xf32> to tensor<1x2x11x13x16xf32>
func.func @pad_whole_axes(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x17x11x13xf32, #nc16> {
  %c = arith.constant 0xFF800000 : f32
  %0 = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 3, 4] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %c : f32
  } : tensor<1x17x7x7xf32, #nc16> to tensor<1x17x11x13xf32, #nc16>
  return %0 : tensor<1x17x11x13xf32, #nc16>
}

// The border of the blocked dim extends into former padding, and must not
// overwrite the zeros that the type states.
// CHECK-LABEL: @pad_channels
// CHECK: linalg.generic
// CHECK: scf.if
func.func @pad_channels(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x20x7x7xf32, #z16> {
  %c = arith.constant 1.0 : f32
  %0 = tensor.pad %x low[0, 1, 0, 0] high[0, 2, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %c : f32
  } : tensor<1x17x7x7xf32, #nc16> to tensor<1x20x7x7xf32, #z16>
  return %0 : tensor<1x20x7x7xf32, #z16>
}

// CHECK-LABEL: @slices
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 1, 2, 0] [1, 2, 3, 4, 16] [1, 1, 2, 1, 1]
// CHECK: tensor.insert_slice %{{.*}}[0, 0, 0, 3, 0] [1, 2, 3, 4, 16] [1, 1, 1, 1, 1]
func.func @slices(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x17x7x7xf32, #nc16> {
  %0 = tensor.extract_slice %x[0, 0, 1, 2] [1, 17, 3, 4] [1, 1, 2, 1] : tensor<1x17x7x7xf32, #nc16> to tensor<1x17x3x4xf32, #nc16>
  %1 = tensor.insert_slice %0 into %x[0, 0, 0, 3] [1, 17, 3, 4] [1, 1, 1, 1] : tensor<1x17x3x4xf32, #nc16> into tensor<1x17x7x7xf32, #nc16>
  return %1 : tensor<1x17x7x7xf32, #nc16>
}

// A view of the same storage moves nothing: the channels of a pooled image.
// CHECK-LABEL: @flatten
// CHECK: tensor.{{collapse|expand}}_shape
// CHECK-NOT: linalg
// CHECK: return
func.func @flatten(%x: tensor<4x17x1x1xf32, #nc16>) -> tensor<4x17xf32, #nc> {
  %0 = tensor.collapse_shape %x [[0], [1, 2, 3]] : tensor<4x17x1x1xf32, #nc16> into tensor<4x17xf32, #nc>
  return %0 : tensor<4x17xf32, #nc>
}

// If storage must change, it changes once.
// CHECK-LABEL: @flatten_to_plain
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @flatten_to_plain(%x: tensor<1x32x2x2xf32, #nc16>) -> tensor<1x128xf32> {
  %0 = tensor.collapse_shape %x [[0], [1, 2, 3]] : tensor<1x32x2x2xf32, #nc16> into tensor<1x128xf32>
  return %0 : tensor<1x128xf32>
}

// CHECK-LABEL: @expand
// CHECK: linalg.transpose
func.func @expand(%x: tensor<6x5xf32>) -> tensor<2x3x5xf32, #chw> {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, 5] : tensor<6x5xf32> into tensor<2x3x5xf32, #chw>
  return %0 : tensor<2x3x5xf32, #chw>
}

// CHECK-LABEL: @sizes
// CHECK-SAME: (%[[X:.*]]: tensor<?x2x?x7x16xf32>)
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG: %[[H:.*]] = tensor.dim %[[X]], %c2
// CHECK: return %[[N]], %c17{{.*}}, %[[H]]
func.func @sizes(%x: tensor<?x17x?x7xf32, #nc16>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.dim %x, %c0 : tensor<?x17x?x7xf32, #nc16>
  %1 = tensor.dim %x, %c1 : tensor<?x17x?x7xf32, #nc16>
  %2 = tensor.dim %x, %c2 : tensor<?x17x?x7xf32, #nc16>
  return %0, %1, %2 : index, index, index
}

// CHECK-LABEL: @element
// CHECK-SAME: %[[C:[a-z0-9]+]]: index)
// CHECK: %[[O:.*]] = affine.apply {{.*}}%[[C]]
// CHECK: %[[I:.*]] = affine.apply {{.*}}%[[C]]
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[O]], %{{.*}}, %{{.*}}, %[[I]]]
func.func @element(%x: tensor<1x17x7x7xf32, #nc16>, %c: index) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %x[%c0, %c, %c0, %c0] : tensor<1x17x7x7xf32, #nc16>
  return %0 : f32
}

// CHECK-LABEL: @cast
// CHECK: tensor.cast %{{.*}} : tensor<1x2x7x7x16xf32> to tensor<?x2x7x7x16xf32>
func.func @cast(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<?x17x7x7xf32, #nc16> {
  %0 = tensor.cast %x : tensor<1x17x7x7xf32, #nc16> to tensor<?x17x7x7xf32, #nc16>
  return %0 : tensor<?x17x7x7xf32, #nc16>
}
