// RUN: layout-opt %s -layout-linalg-to-llvm=parallel-loops=false \
// RUN:   | mlir-runner-22 -O3 -e main --entry-point-result=void \
// RUN:     --shared-libs=%mlir_lib_dir/libmlir_runner_utils%shlibext,%mlir_lib_dir/libmlir_c_runner_utils%shlibext \
// RUN:   | sed 's/base@ = [^ ]* //' > %t.fast
// RUN: mlir-opt-22 %s -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   -convert-linalg-to-loops -expand-strided-metadata -lower-affine -convert-scf-to-cf \
// RUN:   -convert-math-to-libm -test-lower-to-llvm \
// RUN:   | mlir-runner-22 -e main --entry-point-result=void \
// RUN:     --shared-libs=%mlir_lib_dir/libmlir_runner_utils%shlibext,%mlir_lib_dir/libmlir_c_runner_utils%shlibext \
// RUN:   | sed 's/base@ = [^ ]* //' > %t.plain
// RUN: diff %t.plain %t.fast
// RUN: FileCheck %s < %t.fast

// Check that masked bodies leave masked-out elements unchanged.
func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}

// Small whole numbers, so that every order of summation gives the same result.
func.func private @ramp5(%e: tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      outs(%e : tensor<?x?x?x?x?xf32>) {
  ^bb0(%o: f32):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %i3 = linalg.index 3 : index
    %i4 = linalg.index 4 : index
    %v = affine.apply affine_map<(d0, d1, d2, d3, d4) -> ((d0 + d1 * 3 + d2 * 5 + d3 * 2 + d4) mod 7 - 3)>(%i0, %i1, %i2, %i3, %i4)
    %n = arith.index_cast %v : index to i32
    %x = arith.sitofp %n : i32 to f32
    linalg.yield %x : f32
  } -> tensor<?x?x?x?x?xf32>
  return %r : tensor<?x?x?x?x?xf32>
}

func.func private @ramp6(%e: tensor<?x?x?x?x?x?xf32>) -> tensor<?x?x?x?x?x?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      outs(%e : tensor<?x?x?x?x?x?xf32>) {
  ^bb0(%o: f32):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %i3 = linalg.index 3 : index
    %i4 = linalg.index 4 : index
    %i5 = linalg.index 5 : index
    %v = affine.apply affine_map<(d0, d1, d2, d3, d4, d5) -> ((d0 * 2 + d1 + d2 * 3 + d3 + d4 * 5 + d5 * 4) mod 5 - 2)>(%i0, %i1, %i2, %i3, %i4, %i5)
    %n = arith.index_cast %v : index to i32
    %x = arith.sitofp %n : i32 to f32
    linalg.yield %x : f32
  } -> tensor<?x?x?x?x?x?xf32>
  return %r : tensor<?x?x?x?x?x?xf32>
}

// 5 of 8 input and 13 of 16 output channels exist; the others are skipped.
func.func @conv0(%x: tensor<2x2x3x5x4xf32>, %w: tensor<2x2x2x2x4x8xf32>) -> tensor<2x2x2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x2x4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x2x4x8xf32>) -> tensor<2x2x2x4x8xf32>
  %r = linalg.generic {indexing_maps = [
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, i1, oh + kh, ow + kw, i0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (o1, i1, kh, kw, i0, o0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, o1, oh, ow, o0)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x2x3x5x4xf32>, tensor<2x2x2x2x4x8xf32>) outs(%f : tensor<2x2x2x4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %ci = arith.constant 4 : index
    %co = arith.constant 8 : index
    %channels_in = arith.constant 5 : index
    %channels_out = arith.constant 13 : index
    %o1 = linalg.index 1 : index
    %o0 = linalg.index 4 : index
    %i1 = linalg.index 5 : index
    %i0 = linalg.index 8 : index
    %ib = arith.muli %i1, %ci : index
    %i = arith.addi %ib, %i0 : index
    %ob = arith.muli %o1, %co : index
    %o = arith.addi %ob, %o0 : index
    %iv = arith.cmpi slt, %i, %channels_in : index
    %ov = arith.cmpi ult, %o, %channels_out : index
    %valid = arith.andi %iv, %ov : i1
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    %t = arith.select %valid, %s, %c : f32
    linalg.yield %t : f32
  } -> tensor<2x2x2x4x8xf32>
  return %r : tensor<2x2x2x4x8xf32>
}

func.func @main() {
  %x0_e = tensor.empty() : tensor<2x2x3x5x4xf32>
  %x0_d = tensor.cast %x0_e : tensor<2x2x3x5x4xf32> to tensor<?x?x?x?x?xf32>
  %x0_f = func.call @ramp5(%x0_d) : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %x0 = tensor.cast %x0_f : tensor<?x?x?x?x?xf32> to tensor<2x2x3x5x4xf32>
  %w0_e = tensor.empty() : tensor<2x2x2x2x4x8xf32>
  %w0_d = tensor.cast %w0_e : tensor<2x2x2x2x4x8xf32> to tensor<?x?x?x?x?x?xf32>
  %w0_f = func.call @ramp6(%w0_d) : (tensor<?x?x?x?x?x?xf32>) -> tensor<?x?x?x?x?x?xf32>
  %w0 = tensor.cast %w0_f : tensor<?x?x?x?x?x?xf32> to tensor<2x2x2x2x4x8xf32>
  %r0 = call @conv0(%x0, %w0) : (tensor<2x2x3x5x4xf32>, tensor<2x2x2x2x4x8xf32>) -> tensor<2x2x2x4x8xf32>
  %r0_u = tensor.cast %r0 : tensor<2x2x2x4x8xf32> to tensor<*xf32>
  call @printMemrefF32(%r0_u) : (tensor<*xf32>) -> ()
  return
}

// The first and the last row, computed from the definition.
// CHECK: sizes = [2, 2, 2, 4, 8]
// CHECK-NEXT: {{\[\[\[\[\[}}-6, -26, -6, 14, 24, -6, -26, -6]
// CHECK: [-23, 8, 24, 15, -24, 0, 0, 0{{\]\]\]\]\]}}
