// Check that a mesh layout prints as it was written and canonicalizes to #layout.map.
// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s -emit-bytecode | layout-opt --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s --layout-canonicalize | FileCheck %s
// RUN: layout-opt %s | FileCheck %s --check-prefix=ALIAS

// ALIAS-DAG: #mesh = #layout.mesh<
// ALIAS-DAG: #mesh_partial = #layout.partial<

// AS-WRITTEN: @rows(tensor<10x4xf32, #layout.mesh<[x = 4], {{\[}}[x], []]>>)
// CHECK-DAG: #[[ROWS:.*]] = #layout.map<(d0, d1) -> mesh(x = d0 floordiv 3 extent 4, offset = [d0 mod 3, d1])>
// CHECK-DAG: @rows(tensor<10x4xf32, #[[ROWS]]>)
func.func private @rows(tensor<10x4xf32, #layout.mesh<[x = 4], [[x], []]>>)

// The last device stores no row; its coordinate has the same extent.
// CHECK-DAG: @more_devices_than_rows(tensor<9x?xf32, #[[ROWS]]>)
func.func private @more_devices_than_rows(tensor<9x?xf32, #layout.mesh<[x = 4], [[x], []]>>)

// Two axes split one dim, the first one major.
// CHECK-DAG: #[[BOTH:.*]] = #layout.map<(d0) -> mesh(x = d0 floordiv 8 extent 2, y = d0 floordiv 2 mod 4, offset = d0 mod 2)>
// CHECK-DAG: @both(tensor<10xf32, #[[BOTH]]>)
func.func private @both(tensor<10xf32, #layout.mesh<[x = 2, y = 4], [[x, y]]>>)

// CHECK-DAG: #[[SWAPPED:.*]] = #layout.map<(d0) -> mesh(x = d0 floordiv 2 mod 2, y = d0 floordiv 4 extent 4, offset = d0 mod 2)>
// CHECK-DAG: @swapped(tensor<10xf32, #[[SWAPPED]]>)
func.func private @swapped(tensor<10xf32, #layout.mesh<[x = 2, y = 4], [[y, x]]>>)

// Axes that split no dim have replicas, except axes of extent 1.
// CHECK-DAG: #[[REPLICAS:.*]] = #layout.map<(d0, d1) replicate(r0 : 2) -> mesh(x = r0, y = d0 floordiv 3 extent 2, z = 0, offset = [d0 mod 3, d1])>
// CHECK-DAG: @replicas(tensor<6x?xi8, #[[REPLICAS]]>)
func.func private @replicas(tensor<6x?xi8, #layout.mesh<[x = 2, y = 2, z = 1], [[y], []]>>)

// A halo: replicas, which coincide if fewer devices store an index.
// AS-WRITTEN: @halo(tensor<8xf32, #layout.mesh<[x = 3], {{\[}}[x]], halos = {{\[}}[1, 0]]>>)
// CHECK-DAG: #[[HALO:.*]] = #layout.map<(d0) replicate(r0 : 2) -> mesh(x = (d0 + (r0) * -1 + 1) floordiv 3 extent 3, offset = r0 + (d0 + (r0) * -1 + 1) mod 3)>
// CHECK-DAG: @halo(tensor<8xf32, #[[HALO]]>)
func.func private @halo(tensor<8xf32, #layout.mesh<[x = 3], [[x]], halos = [[1, 0]]>>)

// Halos of both dims of a tiled tensor, one of them wider than a block; a halo of
// 0 is omitted.
// AS-WRITTEN: @halos(tensor<9x20xf32, #layout.mesh<[x = 3, y = 4], {{\[}}[x], [y]], halos = {{\[}}[5, 1], [2, 2]], local = #layout.blocked<"AB" to "AB4b">>>)
func.func private @halos(tensor<9x20xf32, #layout.mesh<[x = 3, y = 4], [[x], [y]], halos = [[5, 1], [2, 2]], local = #layout.blocked<"AB" to "AB4b">>>)
// AS-WRITTEN: @no_halo(tensor<8xf32, #layout.mesh<[x = 3], {{\[}}[x]]>>)
func.func private @no_halo(tensor<8xf32, #layout.mesh<[x = 3], [[x]], halos = [[0, 0]]>>)

// Proven by the factors of the box: few rows and few columns.
// AS-WRITTEN: @image(
func.func private @image(tensor<8x64x224x224xf32, #layout.mesh<[y = 4, x = 4], [[], [], [y], [x]], halos = [[0, 0], [0, 0], [3, 3], [1, 2]]>>)

// CHECK-DAG: #[[ONE_DEVICE:.*]] = #layout.map<(d0) -> mesh(x = 0, offset = d0)>
// CHECK-DAG: @one_device(tensor<6xf32, #[[ONE_DEVICE]]>)
func.func private @one_device(tensor<6xf32, #layout.mesh<[x = 1], [[x]]>>)

// CHECK-DAG: #[[SCALAR:.*]] = #layout.map<() replicate(r0 : 3) -> mesh(x = r0, offset = 0)>
// CHECK-DAG: @scalar(tensor<f32, #[[SCALAR]]>)
func.func private @scalar(tensor<f32, #layout.mesh<[x = 3], []>>)

// CHECK-DAG: #[[EMPTY:.*]] = #layout.map<(d0, d1) -> mesh(x = d0 extent 4, offset = d1)>
// CHECK-DAG: @empty(tensor<0x4xf32, #[[EMPTY]]>)
func.func private @empty(tensor<0x4xf32, #layout.mesh<[x = 4], [[x], []]>>)

// The layout in the memory of a device is one of the local tensor.
// AS-WRITTEN: @local(tensor<1x40x2x2xf32, #layout.mesh<[x = 2], {{\[}}[], [x], [], []], local = #layout.blocked<"NCHW" to "NCHW16c">>>)
// CHECK-DAG: #[[LOCAL:.*]] = #layout.map<(d0, d1, d2, d3) -> mesh(x = d1 floordiv 20 extent 2, offset = [d0, (d1 mod 20) floordiv 16, d2, d3, (d1 mod 20) mod 16])>
// CHECK-DAG: @local(tensor<1x40x2x2xf32, #[[LOCAL]]>)
func.func private @local(tensor<1x40x2x2xf32, #layout.mesh<[x = 2], [[], [x], [], []], local = #layout.blocked<"NCHW" to "NCHW16c">>>)

// AS-WRITTEN: @padded(tensor<10xf32, #layout.padded<#layout.mesh<[x = 4], {{\[}}[x]]>, zero>>)
func.func private @padded(tensor<10xf32, #layout.padded<#layout.mesh<[x = 4], [[x]]>, zero>>)

// The canonical form keeps that replicas are partial sums.
// AS-WRITTEN: @partial(tensor<6x6xf32, #layout.partial<#layout.mesh<[x = 2, y = 4], {{\[}}[x], []]>, sum, [y]>>)
// CHECK-DAG: #[[ROWS_OF_PARTS:.*]] = #layout.map<(d0, d1) replicate(r0 : 4) -> mesh(x = d0 floordiv 3 extent 2, y = r0, offset = [d0 mod 3, d1])>
// CHECK-DAG: #[[PARTIAL:.*]] = #layout.partial<#[[ROWS_OF_PARTS]], sum, [y]>
// CHECK-DAG: @partial(tensor<6x6xf32, #[[PARTIAL]]>)
func.func private @partial(tensor<6x6xf32, #layout.partial<#layout.mesh<[x = 2, y = 4], [[x], []]>, sum, [y]>>)

// The storage is one array for all devices; plain storage may contain partial sums.
// AS-WRITTEN: @storage
func.func @storage(%s: tensor<2x4x18xf32>) -> tensor<2x4x3x6xf32> {
  %p = layout.storage_view %s : tensor<2x4x18xf32> to tensor<6x6xf32, #layout.partial<#layout.mesh<[x = 2, y = 4], [[x], []]>, sum, [y]>>
  %c = layout.convert %p : tensor<6x6xf32, #layout.partial<#layout.mesh<[x = 2, y = 4], [[x], []]>, sum, [y]>> to tensor<6x6xf32, #layout.mesh<[x = 2, y = 4], [[x], []]>>
  %r = layout.storage_view %c : tensor<6x6xf32, #layout.mesh<[x = 2, y = 4], [[x], []]>> to tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}
