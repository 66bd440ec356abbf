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

// Check that integer convolutions compute the results of plain loops.
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}

// Small whole numbers, so that every order of summation gives the same result.
func.func private @ramp5(%e: tensor<?x?x?x?x?xi8>) -> tensor<?x?x?x?x?xi8> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      outs(%e : tensor<?x?x?x?x?xi8>) {
  ^bb0(%o: i8):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %i3 = linalg.index 3 : index
    %i4 = linalg.index 4 : index
    %v = affine.apply affine_map<(d0, d1, d2, d3, d4) -> ((d0 + d1 * 3 + d2 * 5 + d3 * 2 + d4) mod 7 - 3)>(%i0, %i1, %i2, %i3, %i4)
    %n = arith.index_cast %v : index to i8
    linalg.yield %n : i8
  } -> tensor<?x?x?x?x?xi8>
  return %r : tensor<?x?x?x?x?xi8>
}

func.func private @ramp6(%e: tensor<?x?x?x?x?x?xi8>) -> tensor<?x?x?x?x?x?xi8> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      outs(%e : tensor<?x?x?x?x?x?xi8>) {
  ^bb0(%o: i8):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %i3 = linalg.index 3 : index
    %i4 = linalg.index 4 : index
    %i5 = linalg.index 5 : index
    %v = affine.apply affine_map<(d0, d1, d2, d3, d4, d5) -> ((d0 * 2 + d1 + d2 * 3 + d3 + d4 * 5 + d5 * 4) mod 5 - 2)>(%i0, %i1, %i2, %i3, %i4, %i5)
    %n = arith.index_cast %v : index to i8
    linalg.yield %n : i8
  } -> tensor<?x?x?x?x?x?xi8>
  return %r : tensor<?x?x?x?x?x?xi8>
}

// 8-bit operands, 32-bit sums.
func.func @conv0(%x: tensor<2x2x3x7x4xi8>, %w: tensor<1x2x2x2x4x16xi8>) -> tensor<2x1x2x6x16xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x1x2x6x16xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2x1x2x6x16xi32>) -> tensor<2x1x2x6x16xi32>
  %r = linalg.generic {indexing_maps = [
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, i1, oh + kh, ow + kw, i0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (o1, i1, kh, kw, i0, o0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, o1, oh, ow, o0)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x2x3x7x4xi8>, tensor<1x2x2x2x4x16xi8>) outs(%f : tensor<2x1x2x6x16xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %xa = arith.extsi %a : i8 to i32
    %xb = arith.extsi %b : i8 to i32
    %m = arith.muli %xa, %xb : i32
    %s = arith.addi %c, %m : i32
    linalg.yield %s : i32
  } -> tensor<2x1x2x6x16xi32>
  return %r : tensor<2x1x2x6x16xi32>
}

// A masked convolution.
func.func @conv1(%x: tensor<1x2x2x3x4xi8>, %w: tensor<1x2x1x1x4x8xi8>) -> tensor<1x1x2x3x8xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x1x2x3x8xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x1x2x3x8xi32>) -> tensor<1x1x2x3x8xi32>
  %r = linalg.generic {indexing_maps = [
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, i1, oh + kh, ow + kw, i0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (o1, i1, kh, kw, i0, o0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, o1, oh, ow, o0)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x2x2x3x4xi8>, tensor<1x2x1x1x4x8xi8>) outs(%f : tensor<1x1x2x3x8xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %ci = arith.constant 4 : index
    %co = arith.constant 8 : index
    %channels_in = arith.constant 6 : index
    %channels_out = arith.constant 5 : index
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
    %xa = arith.extsi %a : i8 to i32
    %xb = arith.extsi %b : i8 to i32
    %m = arith.muli %xa, %xb : i32
    %s = arith.addi %c, %m : i32
    %t = arith.select %valid, %s, %c : i32
    linalg.yield %t : i32
  } -> tensor<1x1x2x3x8xi32>
  return %r : tensor<1x1x2x3x8xi32>
}

func.func @main() {
  %x0_e = tensor.empty() : tensor<2x2x3x7x4xi8>
  %x0_d = tensor.cast %x0_e : tensor<2x2x3x7x4xi8> to tensor<?x?x?x?x?xi8>
  %x0_f = func.call @ramp5(%x0_d) : (tensor<?x?x?x?x?xi8>) -> tensor<?x?x?x?x?xi8>
  %x0 = tensor.cast %x0_f : tensor<?x?x?x?x?xi8> to tensor<2x2x3x7x4xi8>
  %w0_e = tensor.empty() : tensor<1x2x2x2x4x16xi8>
  %w0_d = tensor.cast %w0_e : tensor<1x2x2x2x4x16xi8> to tensor<?x?x?x?x?x?xi8>
  %w0_f = func.call @ramp6(%w0_d) : (tensor<?x?x?x?x?x?xi8>) -> tensor<?x?x?x?x?x?xi8>
  %w0 = tensor.cast %w0_f : tensor<?x?x?x?x?x?xi8> to tensor<1x2x2x2x4x16xi8>
  %r0 = call @conv0(%x0, %w0) : (tensor<2x2x3x7x4xi8>, tensor<1x2x2x2x4x16xi8>) -> tensor<2x1x2x6x16xi32>
  %r0_u = tensor.cast %r0 : tensor<2x1x2x6x16xi32> to tensor<*xi32>
  call @printMemrefI32(%r0_u) : (tensor<*xi32>) -> ()
  %x1_e = tensor.empty() : tensor<1x2x2x3x4xi8>
  %x1_d = tensor.cast %x1_e : tensor<1x2x2x3x4xi8> to tensor<?x?x?x?x?xi8>
  %x1_f = func.call @ramp5(%x1_d) : (tensor<?x?x?x?x?xi8>) -> tensor<?x?x?x?x?xi8>
  %x1 = tensor.cast %x1_f : tensor<?x?x?x?x?xi8> to tensor<1x2x2x3x4xi8>
  %w1_e = tensor.empty() : tensor<1x2x1x1x4x8xi8>
  %w1_d = tensor.cast %w1_e : tensor<1x2x1x1x4x8xi8> to tensor<?x?x?x?x?x?xi8>
  %w1_f = func.call @ramp6(%w1_d) : (tensor<?x?x?x?x?x?xi8>) -> tensor<?x?x?x?x?x?xi8>
  %w1 = tensor.cast %w1_f : tensor<?x?x?x?x?x?xi8> to tensor<1x2x1x1x4x8xi8>
  %r1 = call @conv1(%x1, %w1) : (tensor<1x2x2x3x4xi8>, tensor<1x2x1x1x4x8xi8>) -> tensor<1x1x2x3x8xi32>
  %r1_u = tensor.cast %r1 : tensor<1x1x2x3x8xi32> to tensor<*xi32>
  call @printMemrefI32(%r1_u) : (tensor<*xi32>) -> ()
  return
}

// The first and the last row, computed from the definition.
// CHECK: sizes = [2, 1, 2, 6, 16]
// CHECK-NEXT: {{\[\[\[\[\[}}-24, -24, 16, 16, 16, -24, -24, 16, 16, 16, -24, -24, 16, 16, 16, -24]
// CHECK: [3, 12, 26, -5, -36, 3, 12, 26, -5, -36, 3, 12, 26, -5, -36, 3{{\]\]\]\]\]}}
// CHECK: sizes = [1, 1, 2, 3, 8]
// CHECK-NEXT: {{\[\[\[\[\[}}11, -14, -4, 1, 6, 0, 0, 0]
// CHECK: [-9, -6, 12, 5, -2, 0, 0, 0{{\]\]\]\]\]}}
