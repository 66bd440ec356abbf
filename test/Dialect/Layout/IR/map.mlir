// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s
// RUN: layout-opt %s --mlir-print-op-generic | layout-opt --mlir-print-local-scope | FileCheck %s
// Check that the canonical text of #layout.map parses back.

// CHECK-LABEL: @blocked
// CHECK-SAME: #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
func.func private @blocked(tensor<1x17x7x7xf32, #layout.map<(n, c, h, w) -> buffer(n, c floordiv 16, h, w, c mod 16)>>)

// CHECK-LABEL: @spellings_of_one_map
// CHECK-SAME: tensor<2x40x3xf32, #[[MAP:.*]]>, tensor<2x40x3xf32, #[[MAP]]>, tensor<2x40x3xf32, #[[MAP]]>
func.func private @spellings_of_one_map(
  tensor<2x40x3xf32, #layout.map<(a, b, c) -> buffer(c, b floordiv 8 floordiv 2, a, b floordiv 8 mod 2, b mod 8)>>,
  tensor<2x40x3xf32, #layout.map<(x, y, z) -> buffer(offset = [z, y floordiv 16, [x, (y mod 16)]])>>,
  tensor<2x40x3xf32, #layout.map<(n, c, h) -> buffer(offset = c mod 16 + (c floordiv 16) * 16 * size(n) + n * 16 + h * ceil(size(c), 16) * 16 * size(n) extent 16 * size(n) * size(h) * ceil(size(c), 16))>>)

// A padded extent is part of the map.
// CHECK-LABEL: @aligned
// CHECK-SAME: buffer(d0, [d1] align 16)
// CHECK-SAME: buffer(d0, d1)
func.func private @aligned(
  tensor<4x5xf32, #layout.map<(a, b) -> buffer(a, b floordiv 16, b mod 16)>>,
  tensor<4x5xf32, #layout.map<(a, b) -> buffer(offset = a * size(b) + b)>>) -> tensor<4x5xf32, #layout.map<(a, b) -> buffer(b, a)>>

// CHECK-LABEL: @strided
// CHECK-SAME: buffer(d0 * 40 + d1 * 2 + 3)
// CHECK-SAME: buffer(offset = d0 * 40 + d1 extent 400)
// CHECK-SAME: buffer(offset = d0 * -8 + d1 + 24 extent 32)
func.func private @strided(
  tensor<4x5xf32, #layout.map<(a, b) -> buffer(offset = a * 40 + b * 2 + 3)>>,
  tensor<4x5xf32, #layout.map<(a, b) -> buffer(offset = a * 40 + b extent 400)>>,
  tensor<4x5xf32, #layout.map<(a, b) -> buffer(offset = 24 + a * -8 + b extent 32)>>)

// CHECK-LABEL: @shifted
// CHECK-SAME: buffer(offset = d0 * (size(d1) + 3) + d1 + 1 extent size(d0) * size(d1) + 3 * size(d0))
func.func private @shifted(
  tensor<4x5xf32, #layout.map<(a, b) -> buffer(a, pad(b, 1, 2))>>)

// CHECK-LABEL: @fused
// CHECK-SAME: buffer(d0, [d2, d1] floordiv 4, d3, [d2, d1] mod 4)
func.func private @fused(
  tensor<4x5x3x2xf32, #layout.map<(a, b, c, d) -> buffer(a, [c, b] floordiv 4, d, [c, b] mod 4)>>)

// CHECK-LABEL: @other_spaces
// CHECK-SAME: image2d(x = [d3 floordiv 4, d2], y = [d0, d1], lane = d3 mod 4)
// CHECK-SAME: npu(npu = (d1 + 2) mod 4, offset = [d0, (d1 + 2) floordiv 4, [d2, d3] align 32])
// CHECK-SAME: npu(npu = d1 mod 4, offset = d0 * 120 + (d1 floordiv 4) * 56 + d2 * 16 + d3 * 2)
// CHECK-SAME: mesh(row = d0 mod 2, column = d0 floordiv 2, offset = d1)
func.func private @other_spaces(
  tensor<2x5x3x6xf32, #layout.map<(n, h, w, c) -> image2d(lane = c mod 4, x = [c floordiv 4, w], y = [n, h])>>,
  tensor<2x3x4x5xf32, #layout.map<(n, c, h, w) -> npu(npu = (c + 2) mod 4, offset = [n, (c + 2) floordiv 4, [h, w] align 32])>>,
  tensor<2x5x3x4xf32, #layout.map<(n, c, h, w) -> npu(npu = c mod 4, offset = n * 120 + (c floordiv 4) * 56 + h * 16 + w * 2)>>,
  tensor<4x8xf32, #layout.map<(i, j) -> mesh(row = i mod 2, column = i floordiv 2, offset = j)>>)

// CHECK-LABEL: @scalar_and_dynamic
// CHECK-SAME: tensor<f32, #layout.map<() -> buffer()>>
// CHECK-SAME: tensor<?x?xf32, #layout.map<(d0, d1) -> buffer(d1 floordiv 8, d0, d1 mod 8)>>
func.func private @scalar_and_dynamic(
  tensor<f32, #layout.map<() -> buffer()>>,
  tensor<?x?xf32, #layout.map<(a, b) -> buffer(b floordiv 8, a, b mod 8)>>)
