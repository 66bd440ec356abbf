// RUN: layout-opt %s --layout-canonicalize | FileCheck %s
// RUN: layout-opt %s --layout-canonicalize | layout-opt --layout-canonicalize --verify-roundtrip | FileCheck %s
// Check that canonical types have the stored dims of the notation, so that ops
// that expose the storage stay valid.

// CHECK: #[[OIHW4O4I:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0 floordiv 4, d1 floordiv 4, d2, d3, d0 mod 4, d1 mod 4) stored(d0 floordiv 4, d1 floordiv 4, d2, d3, [d0 mod 4, d1 mod 4])>
// CHECK-LABEL: @fused
// CHECK: layout.storage_view %{{.*}} : tensor<64x28x7x7xf32, #[[OIHW4O4I]]> to tensor<16x7x7x7x16xf32>
func.func @fused(%x: tensor<64x28x7x7xf32, #layout.blocked<"OIHW" to "OIHW[4o4i]">>) -> tensor<16x7x7x7x16xf32> {
  %1 = layout.storage_view %x : tensor<64x28x7x7xf32, #layout.blocked<"OIHW" to "OIHW[4o4i]">> to tensor<16x7x7x7x16xf32>
  return %1 : tensor<16x7x7x7x16xf32>
}

// A clipped part is a dim of extent 1.
// CHECK-LABEL: @clipped
// CHECK: layout.storage_view %{{.*}} to tensor<1x10x4xf32>
func.func @clipped(%x: tensor<10x4xf32, #layout.packed_dims<[1, 0, 1 : 8]>>) -> tensor<1x10x4xf32> {
  %1 = layout.storage_view %x : tensor<10x4xf32, #layout.packed_dims<[1, 0, 1 : 8]>> to tensor<1x10x4xf32>
  return %1 : tensor<1x10x4xf32>
}

// Row-major storage is the plain tensor.
// CHECK-LABEL: @identity
// CHECK: layout.storage_view %{{.*}} : tensor<7xf32> to tensor<7xf32>
func.func @identity(%x: tensor<7xf32>) -> tensor<7xf32> {
  %0 = layout.convert %x : tensor<7xf32> to tensor<7xf32, #layout.blocked<"A" to "A">>
  %s = layout.storage_view %0 : tensor<7xf32, #layout.blocked<"A" to "A">> to tensor<7xf32>
  return %s : tensor<7xf32>
}

// Outside of linear memory the dims are the coordinates.
// CHECK-LABEL: @image
// CHECK: layout.storage_view %{{.*}} to tensor<6x10x4xf32>
func.func @image(%x: tensor<2x5x3x6xf32, #layout.rgba_image<in_out_channel>>) -> tensor<6x10x4xf32> {
  %1 = layout.storage_view %x : tensor<2x5x3x6xf32, #layout.rgba_image<in_out_channel>> to tensor<6x10x4xf32>
  return %1 : tensor<6x10x4xf32>
}

// CHECK-LABEL: @sparse_constant
// CHECK: arith.constant sparse
func.func @sparse_constant() -> tensor<4x2xf32, #layout.blocked<"AB" to "BA">> {
  %c = arith.constant sparse<[[0, 1]], [1.0]> : tensor<4x2xf32, #layout.blocked<"AB" to "BA">>
  return %c : tensor<4x2xf32, #layout.blocked<"AB" to "BA">>
}
