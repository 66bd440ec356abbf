// Check that the spellings and the bytecode of version 0.1 keep their element positions (docs/compatibility.md).
//
// RUN: layout-opt %s --layout-canonicalize | FileCheck %s
// RUN: layout-opt %S/Inputs/version-0.1.mlirbc --layout-canonicalize | FileCheck %s

// CHECK-DAG: #[[MAP:.*]] = #layout.map<(d0, d1) -> buffer(d0, [d1] align 16)>
// CHECK-DAG: @map(tensor<6x40xf32, #[[MAP]]>)
func.func private @map(tensor<6x40xf32, #layout.map<(n, c) -> buffer(n, c floordiv 16, c mod 16)>>)

// CHECK-DAG: #[[STRIDES:.*]] = #layout.map<(d0, d1) -> buffer(offset = d0 * 40 + d1 extent 400)>
// CHECK-DAG: @strides(tensor<4x5xf32, #[[STRIDES]]>)
func.func private @strides(tensor<4x5xf32, #layout.map<(a, b) -> buffer(offset = a * 40 + b extent 400)>>)

// CHECK-DAG: #[[SWIZZLE:.*]] = #layout.map<(d0, d1) -> buffer(d0, xor(d0, d1 : 4))>
// CHECK-DAG: @swizzle(tensor<4x4xf32, #[[SWIZZLE]]>)
func.func private @swizzle(tensor<4x4xf32, #layout.map<(i, j) -> buffer(i, xor(j, i : 4))>>)

// CHECK-DAG: #[[REPLICAS:.*]] = #layout.map<(d0, d1) replicate(r0 : 4) -> mesh(device = r0, offset = [d0, d1])>
// CHECK-DAG: @replicas(tensor<3x5xf32, #[[REPLICAS]]>)
func.func private @replicas(tensor<3x5xf32, #layout.map<(i, j) replicate(r : 4) -> mesh(device = r, offset = [i, j])>>)

// CHECK-DAG: #[[BLOCKED:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK-DAG: @blocked(tensor<1x17x7x?xf32, #[[BLOCKED]]>)
func.func private @blocked(tensor<1x17x7x?xf32, #layout.blocked<"NCHW" to "NCHW16c">>)

// CHECK-DAG: #[[PACKED_DIMS:.*]] = #layout.map<(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)>
// CHECK-DAG: @packed_dims(tensor<6x8xf32, #[[PACKED_DIMS]]>)
func.func private @packed_dims(tensor<6x8xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)

// CHECK-DAG: #[[IMAGE:.*]] = #layout.map<(d0, d1, d2, d3) -> image2d(x = [d1 floordiv 4, d3], y = [d0, d2], lane = d1 mod 4)>
// CHECK-DAG: @image(tensor<2x6x5x3xf32, #[[IMAGE]]>)
func.func private @image(tensor<2x6x5x3xf32, #layout.rgba_image<in_out_channel, "NCHW">>)

// CHECK-DAG: #[[SCATTER:.*]] = #layout.map<(d0, d1, d2, d3) -> npu(npu = (d1 + 2) mod 4, offset = [d0, (d1 + 2) floordiv 4, [d2, d3] align 32])>
// CHECK-DAG: @scatter(tensor<2x3x4x5xf32, #[[SCATTER]]>)
func.func private @scatter(tensor<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2,
  target = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>>>)

// CHECK-DAG: #[[IMPORT:.*]] = #layout.map<(d0, d1) -> buffer(d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2)>
// CHECK-DAG: @import(tensor<3x5xf32, #[[IMPORT]]>)
func.func private @import(tensor<3x5xf32, #layout.import<xla, "{1,0:T(2,2)}">>)

// CHECK-DAG: #[[TILED:.*]] = #layout.map<(d0) -> buffer([d0] align 4) stored(d0 floordiv 4, d0 mod 4)>
// CHECK-DAG: #[[PADDED:.*]] = #layout.padded<#[[TILED]], zero>
// CHECK-DAG: @padded(tensor<3xf32, #[[PADDED]]>)
func.func private @padded(tensor<3xf32, #layout.padded<#layout.blocked<"C" to "C4c">, zero>>)

// CHECK-DAG: #[[RELATIONS:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16) stored(d0, d1 floordiv 16, [d2, d3], d1 mod 16)>
// CHECK-DAG: @relations(tensor<1x17x7x7xf32, #[[RELATIONS]]>)
func.func private @relations(tensor<1x17x7x7xf32,
  #layout.relations<(n, c, h, w), split c -> (co, ci : 16), fuse (h, w) -> hw, store (n, co, hw, ci)>>)

// CHECK: @ops
// CHECK: layout.convert %{{.*}} : tensor<4x6xf32> to tensor<4x6xf32, #[[TRANSPOSED:.*]]>
// CHECK: layout.storage_view %{{.*}} : tensor<4x6xf32, #[[TRANSPOSED]]> to tensor<6x4xf32>
func.func @ops(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %0 = layout.convert %x : tensor<4x6xf32> to tensor<4x6xf32, #layout.map<(a, b) -> buffer(b, a)>>
  %1 = layout.storage_view %0 : tensor<4x6xf32, #layout.map<(a, b) -> buffer(b, a)>> to tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}
