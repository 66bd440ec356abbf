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

// Check that convolutions with extents that no tile divides compute the results
// of plain loops.
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

// Batch of 3, 7 columns: no register block divides them.
func.func @conv0(%x: tensor<3x1x4x9x8xf32>, %w: tensor<2x1x3x3x8x8xf32>) -> tensor<3x2x2x7x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x2x2x7x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2x2x7x8xf32>) -> tensor<3x2x2x7x8xf32>
  %r = linalg.generic {indexing_maps = [
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, i1, oh + kh, ow + kw, i0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (o1, i1, kh, kw, i0, o0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, o1, oh, ow, o0)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<3x1x4x9x8xf32>, tensor<2x1x3x3x8x8xf32>) outs(%f : tensor<3x2x2x7x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x2x2x7x8xf32>
  return %r : tensor<3x2x2x7x8xf32>
}

// Stride 2 with dilation 2 and lanes of 4.
func.func @conv1(%x: tensor<1x2x9x15x3xf32>, %w: tensor<1x2x3x3x3x4xf32>) -> tensor<1x1x3x6x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1x3x6x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x3x6x4xf32>) -> tensor<1x1x3x6x4xf32>
  %r = linalg.generic {indexing_maps = [
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, i1, oh * 2 + kh * 2, ow * 2 + kw * 2, i0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (o1, i1, kh, kw, i0, o0)>,
      affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, o1, oh, ow, o0)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x2x9x15x3xf32>, tensor<1x2x3x3x3x4xf32>) outs(%f : tensor<1x1x3x6x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x1x3x6x4xf32>
  return %r : tensor<1x1x3x6x4xf32>
}

func.func @main() {
  %x0_e = tensor.empty() : tensor<3x1x4x9x8xf32>
  %x0_d = tensor.cast %x0_e : tensor<3x1x4x9x8xf32> to tensor<?x?x?x?x?xf32>
  %x0_f = func.call @ramp5(%x0_d) : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %x0 = tensor.cast %x0_f : tensor<?x?x?x?x?xf32> to tensor<3x1x4x9x8xf32>
  %w0_e = tensor.empty() : tensor<2x1x3x3x8x8xf32>
  %w0_d = tensor.cast %w0_e : tensor<2x1x3x3x8x8xf32> to tensor<?x?x?x?x?x?xf32>
  %w0_f = func.call @ramp6(%w0_d) : (tensor<?x?x?x?x?x?xf32>) -> tensor<?x?x?x?x?x?xf32>
  %w0 = tensor.cast %w0_f : tensor<?x?x?x?x?x?xf32> to tensor<2x1x3x3x8x8xf32>
  %r0 = call @conv0(%x0, %w0) : (tensor<3x1x4x9x8xf32>, tensor<2x1x3x3x8x8xf32>) -> tensor<3x2x2x7x8xf32>
  %r0_u = tensor.cast %r0 : tensor<3x2x2x7x8xf32> to tensor<*xf32>
  call @printMemrefF32(%r0_u) : (tensor<*xf32>) -> ()
  %x1_e = tensor.empty() : tensor<1x2x9x15x3xf32>
  %x1_d = tensor.cast %x1_e : tensor<1x2x9x15x3xf32> to tensor<?x?x?x?x?xf32>
  %x1_f = func.call @ramp5(%x1_d) : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %x1 = tensor.cast %x1_f : tensor<?x?x?x?x?xf32> to tensor<1x2x9x15x3xf32>
  %w1_e = tensor.empty() : tensor<1x2x3x3x3x4xf32>
  %w1_d = tensor.cast %w1_e : tensor<1x2x3x3x3x4xf32> to tensor<?x?x?x?x?x?xf32>
  %w1_f = func.call @ramp6(%w1_d) : (tensor<?x?x?x?x?x?xf32>) -> tensor<?x?x?x?x?x?xf32>
  %w1 = tensor.cast %w1_f : tensor<?x?x?x?x?x?xf32> to tensor<1x2x3x3x3x4xf32>
  %r1 = call @conv1(%x1, %w1) : (tensor<1x2x9x15x3xf32>, tensor<1x2x3x3x3x4xf32>) -> tensor<1x1x3x6x4xf32>
  %r1_u = tensor.cast %r1 : tensor<1x1x3x6x4xf32> to tensor<*xf32>
  call @printMemrefF32(%r1_u) : (tensor<*xf32>) -> ()
  return
}

// The first and the last row, computed from the definition.
// CHECK: sizes = [3, 2, 2, 7, 8]
// CHECK-NEXT: {{\[\[\[\[\[}}2, -12, -11, 10, 11, 2, -12, -11]
// CHECK: [-13, 0, 13, 11, -11, -13, 0, 13{{\]\]\]\]\]}}
// CHECK: sizes = [1, 1, 3, 6, 4]
// CHECK-NEXT: {{\[\[\[\[\[}}-16, 5, 16, -8]
// CHECK: [12, 2, 22, -28{{\]\]\]\]\]}}
