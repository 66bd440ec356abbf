// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// RUN: layout-opt %s --layout-canonicalize | layout-opt --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// Check that an NPU scatter prints as it was written and canonicalizes to
// #layout.map.

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>

// A scatter without a chip is an attribute, but not the layout of a tensor.
// AS-WRITTEN: test.a0 = #layout.npu_scatter<aligned, start = 2>
// AS-WRITTEN-SAME: test.a1 = #layout.npu_scatter<compact, start = 0>
// AS-WRITTEN-SAME: test.a2 = #layout.npu_scatter<matrix 15, start = 0>
// AS-WRITTEN-SAME: test.a3 = #layout.npu_scatter<strided [120, 56, 16, 2], start = 1>
// AS-WRITTEN-SAME: test.a4 = #layout.npu_scatter<continuous>
// AS-WRITTEN-SAME: test.a5 = #layout.npu_scatter<compact, start = 3, pack = ic2, offset = 8>
module attributes {
  test.a0 = #layout.npu_scatter<aligned, start = 2>,
  test.a1 = #layout.npu_scatter<compact, start = 0>,
  test.a2 = #layout.npu_scatter<matrix 15, start = 0>,
  test.a3 = #layout.npu_scatter<strided [120, 56, 16, 2], start = 1>,
  test.a4 = #layout.npu_scatter<continuous>,
  test.a5 = #layout.npu_scatter<compact, offset = 8, pack = ic2, start = 3>} {

// AS-WRITTEN: @aligned(tensor<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>>>)
// CHECK: @aligned({{.*}} npu(npu = (d1 + 2) mod 4, offset = [d0, (d1 + 2) floordiv 4, [d2, d3] align 32])
func.func private @aligned(tensor<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #chip>>)

// CHECK: @compact({{.*}} npu(npu = d1 mod 4, offset = [d0, d1 floordiv 4, d2, d3])
func.func private @compact(tensor<2x3x4x5xf32, #layout.npu_scatter<compact, start = 0, target = #chip>>)

// CHECK: @offset({{.*}} npu(npu = d1 mod 4, offset = d0 * 
func.func private @offset(tensor<2x3x4x5xf32, #layout.npu_scatter<compact, start = 0, offset = 16, target = #chip>>)

// CHECK: @matrix({{.*}} npu(npu = d1 floordiv 15 mod 4, offset = [d0, d1 floordiv 60, [d1 mod 15] align 32])
func.func private @matrix(tensor<2x40xf32, #layout.npu_scatter<matrix 15, start = 0, target = #chip>>)

// CHECK: @strided({{.*}} npu(npu = d1 mod 4, offset = d0 * 120 + (d1 floordiv 4) * 56 + d2 * 16 + d3 * 2 extent 120 * size(d0))
func.func private @strided(tensor<2x5x3x4xf32, #layout.npu_scatter<strided [120, 56, 16, 2], start = 0, target = #chip>>)

// CHECK: @packed({{.*}} npu(npu = d1 mod 4, offset = [d0 floordiv 4, d1 floordiv 4, [d2, d3] align 32, d0 mod 4])
func.func private @packed(tensor<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #chip>>)

// CHECK: @weights({{.*}} npu(npu = d1 mod 4, offset = [d0 floordiv 2, d1 floordiv 4, d2, d3, d0 mod 2])
func.func private @weights(tensor<3x5x3x3xf32, #layout.npu_scatter<compact, start = 0, pack = ic2, target = #chip>>)

// CHECK: @unknown_sizes({{.*}} npu(npu = (d1 + 3) mod 4, offset = [d0, (d1 + 3) floordiv 4, [d2, d3] align 64])
func.func private @unknown_sizes(tensor<?x?x?x?xf16, #layout.npu_scatter<aligned, start = 3, target = #chip>>)

// System memory is not local memory: row-major.
// CHECK: @continuous(tensor<2x3x4x5xf32>)
func.func private @continuous(tensor<2x3x4x5xf32, #layout.npu_scatter<continuous>>)

// Rows of an aligned channel are its padding.
// CHECK: @padded({{.*}}#layout.padded<#layout.map<{{.*}}>, zero>
func.func private @padded(tensor<2x3x4x5xf32, #layout.padded<#layout.npu_scatter<aligned, start = 2, target = #chip>, zero>>)

// Axes of dims: weights (O, I, KH, KW) stored as (I, O, KH, KW), a bias, and a
// matrix whose rows are two dims.
// CHECK: @axes_weights({{.*}} npu(npu = d0 mod 4, offset = [d1 floordiv 2, d0 floordiv 4, d2, d3, d1 mod 2])
func.func private @axes_weights(tensor<5x3x3x3xf32, #layout.npu_scatter<compact, start = 0, pack = ic2, axes = "CNHW", target = #chip>>)

// CHECK: @axes_bias({{.*}} npu(npu = (d0 + 3) mod 4, offset = [((d0 + 3) floordiv 4) * 32] align 32)
func.func private @axes_bias(tensor<5xf32, #layout.npu_scatter<aligned, start = 3, axes = "C", target = #chip>>)

// CHECK: @axes_rows({{.*}} npu(npu = d2 floordiv 10 mod 4, offset = [d0, d1, d2 floordiv 40, [d2 mod 10] align 32])
func.func private @axes_rows(tensor<2x3x40xf32, #layout.npu_scatter<matrix 10, start = 0, axes = "NNM", target = #chip>>)

// The default order of the family is not printed.
// AS-WRITTEN: @axes_own({{.*}}<aligned, start = 2, target
func.func private @axes_own(tensor<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, axes = "NCHW", target = #chip>>)
}
