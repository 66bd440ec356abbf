// RUN: layout-opt %s --convert-layout-to-linalg --canonicalize | FileCheck-22 %s

#nc16 = #layout.blocked<"NCHW" to "NCHW16c">
#nc8 = #layout.blocked<"NCHW" to "NCHW8c">
#nhwc = #layout.blocked<"NCHW" to "NHWC">
#zero = #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>
#holes = #layout.map<(i, j) -> buffer(offset = i * 8 + j * 2)>

// Sizes that divide: a view and one transposition.
// CHECK-LABEL: @pack_whole
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<1x2x7x7x16xf32>
// CHECK-NEXT: %[[X:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3], [4]] output_shape [1, 2, 16, 7, 7]
// CHECK-NEXT: %[[T:.*]] = linalg.transpose ins(%[[X]] {{.*}}) outs(%[[E]] {{.*}}) permutation = [0, 1, 3, 4, 2]
// CHECK-NEXT: return %[[T]]
func.func @pack_whole(%x: tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32, #nc16> {
  %0 = layout.convert %x : tensor<1x32x7x7xf32> to tensor<1x32x7x7xf32, #nc16>
  return %0 : tensor<1x32x7x7xf32, #nc16>
}

// CHECK-LABEL: @pack_ragged
// CHECK: tensor.pad %{{.*}} low[0, 0, 0, 0] high[0, 15, 0, 0]
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
// CHECK-NOT: select
// CHECK: return
func.func @pack_ragged(%x: tensor<1x17x7x7xf32>) -> tensor<1x17x7x7xf32, #zero> {
  %0 = layout.convert %x : tensor<1x17x7x7xf32> to tensor<1x17x7x7xf32, #zero>
  return %0 : tensor<1x17x7x7xf32, #zero>
}

// CHECK-LABEL: @unpack
// CHECK: linalg.transpose {{.*}} permutation = [0, 1, 4, 2, 3]
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 17, 7, 7] [1, 1, 1, 1]
func.func @unpack(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x17x7x7xf32> {
  %0 = layout.convert %x : tensor<1x17x7x7xf32, #nc16> to tensor<1x17x7x7xf32>
  return %0 : tensor<1x17x7x7xf32>
}

// Blocked to blocked is one transposition, not a way through the plain tensor.
// CHECK-LABEL: @reblock
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, 2, 7, 7, 2, 8]
// CHECK: linalg.transpose {{.*}} permutation = [0, 1, 4, 2, 3, 5]
// CHECK: tensor.collapse_shape {{.*}} into tensor<1x4x7x7x8xf32>
// CHECK-NEXT: return
func.func @reblock(%x: tensor<1x32x7x7xf32, #nc16>) -> tensor<1x32x7x7xf32, #nc8> {
  %0 = layout.convert %x : tensor<1x32x7x7xf32, #nc16> to tensor<1x32x7x7xf32, #nc8>
  return %0 : tensor<1x32x7x7xf32, #nc8>
}

// H = W = 1: NCHW and NHWC are the same storage; so is a conversion that only
// forgets what padding holds.
// CHECK-LABEL: @same_storage
// CHECK-NEXT: %[[V:.*]] = tensor.{{collapse|expand}}_shape
// CHECK-NOT: linalg
// CHECK: return
func.func @same_storage(%x: tensor<4x17x1x1xf32>, %y: tensor<1x17x7x7xf32, #zero>) -> (tensor<4x17x1x1xf32, #nhwc>, tensor<1x17x7x7xf32, #nc16>) {
  %0 = layout.convert %x : tensor<4x17x1x1xf32> to tensor<4x17x1x1xf32, #nhwc>
  %1 = layout.convert %y : tensor<1x17x7x7xf32, #zero> to tensor<1x17x7x7xf32, #nc16>
  return %0, %1 : tensor<4x17x1x1xf32, #nhwc>, tensor<1x17x7x7xf32, #nc16>
}

// Only the padding changes.
// CHECK-LABEL: @state_padding
// CHECK: linalg.generic
// CHECK: arith.cmpi slt
// CHECK: arith.select
func.func @state_padding(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x17x7x7xf32, #zero> {
  %0 = layout.convert %x : tensor<1x17x7x7xf32, #nc16> to tensor<1x17x7x7xf32, #zero>
  return %0 : tensor<1x17x7x7xf32, #zero>
}

// CHECK-LABEL: @views
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x7x7x16xf32>) -> tensor<1x2x7x7x16xf32>
// CHECK-NEXT: return %[[X]]
func.func @views(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x17x7x7xf32, #nc16> {
  %0 = layout.storage_view %x : tensor<1x17x7x7xf32, #nc16> to tensor<1x2x7x7x16xf32>
  %1 = layout.storage_view %0 : tensor<1x2x7x7x16xf32> to tensor<1x17x7x7xf32, #nc16>
  return %1 : tensor<1x17x7x7xf32, #nc16>
}

// Strides with holes stay expressions.
// CHECK-LABEL: @strided
// CHECK: linalg.generic
// CHECK: -> tensor<29xf32>
func.func @strided(%x: tensor<4x3xf32>) -> tensor<4x3xf32, #holes> {
  %0 = layout.convert %x : tensor<4x3xf32> to tensor<4x3xf32, #holes>
  return %0 : tensor<4x3xf32, #holes>
}

// The size of c is not in storage: it travels along.
// CHECK-LABEL: @carried_size
// CHECK-SAME: (%[[X:.*]]: tensor<1x?x7x7xf32>) -> (tensor<1x?x7x7x16xf32>, index)
// CHECK: %[[C:.*]] = tensor.dim %[[X]], %c1
// CHECK: return %{{.*}}, %[[C]]
func.func @carried_size(%x: tensor<1x?x7x7xf32>) -> tensor<1x?x7x7xf32, #nc16> {
  %0 = layout.convert %x : tensor<1x?x7x7xf32> to tensor<1x?x7x7xf32, #nc16>
  return %0 : tensor<1x?x7x7xf32, #nc16>
}
