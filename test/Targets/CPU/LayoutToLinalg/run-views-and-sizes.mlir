// DEFINE: %{lower} = --convert-elementwise-to-linalg --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --convert-linalg-to-loops --expand-strided-metadata --lower-affine --convert-scf-to-cf --convert-math-to-llvm --convert-to-llvm --reconcile-unrealized-casts
// DEFINE: %{libs} = --shared-libs=%mlir_lib_dir/libmlir_runner_utils%shlibext,%mlir_lib_dir/libmlir_c_runner_utils%shlibext

// Check views, sizes of 0 and 1, and dynamic sizes: the same file runs with and
// without its encodings, as in run-padded-channels.mlir.
//
// RUN: sed 's/, #[a-z0-9]*>/>/g' %s > %t.plain.mlir
// RUN: layout-opt %t.plain.mlir --canonicalize -o %t.0.mlir
// RUN: mlir-opt-22 %t.0.mlir %{lower} | mlir-runner-22 -O0 -e main --entry-point-result=void %{libs} | sed 's/base@ = 0x[0-9a-f]*//;s/strides.*data/data/' > %t.plain.out
// RUN: layout-opt %s --convert-layout-to-linalg -o %t.1.mlir
// RUN: mlir-opt-22 %t.1.mlir %{lower} | mlir-runner-22 -O0 -e main --entry-point-result=void %{libs} | sed 's/base@ = 0x[0-9a-f]*//;s/strides.*data/data/' > %t.out
// RUN: diff %t.plain.out %t.out
// RUN: FileCheck-22 %s --input-file=%t.out
// CHECK-COUNT-11: Unranked Memref

#nchwc = #layout.blocked<"NCHW" to "NCHW16c">
#zero = #layout.padded<#layout.blocked<"NCHW" to "NCHW8c">, zero>
#wblock = #layout.blocked<"NCHW" to "NHWC4w">
#two = #layout.blocked<"NC" to "CN4n">
#id4 = affine_map<(n, c, h, w) -> (n, c, h, w)>

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}

func.func private @show(%x: tensor<?x?x?x?xf32>) {
  %u = tensor.cast %x : tensor<?x?x?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

// Small integers, so that sums are exact in any order.
func.func private @fill4(%n: index, %c: index, %h: index, %w: index) -> tensor<?x?x?x?xf32> {
  %t = tensor.generate %n, %c, %h, %w {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %c11 = arith.constant 11 : index
    %0 = arith.muli %i, %c3 : index
    %1 = arith.muli %j, %c7 : index
    %2 = arith.muli %k, %c5 : index
    %3 = arith.addi %0, %1 : index
    %4 = arith.addi %2, %l : index
    %5 = arith.addi %3, %4 : index
    %6 = arith.remui %5, %c11 : index
    %7 = arith.index_cast %6 : index to i32
    %c4 = arith.constant 4 : i32
    %8 = arith.subi %7, %c4 : i32
    %9 = arith.sitofp %8 : i32 to f32
    tensor.yield %9 : f32
  } : tensor<?x?x?x?xf32>
  return %t : tensor<?x?x?x?xf32>
}

// All sizes are dynamic: those of c and the batch are passed along or derived
// from storage.
func.func private @dynamic(%x: tensor<?x?x?x?xf32>) {
  %0 = layout.convert %x : tensor<?x?x?x?xf32> to tensor<?x?x?x?xf32, #nchwc>
  %1 = arith.addf %0, %0 : tensor<?x?x?x?xf32, #nchwc>
  %2 = layout.convert %1 : tensor<?x?x?x?xf32, #nchwc> to tensor<?x?x?x?xf32, #zero>
  %3 = math.absf %2 : tensor<?x?x?x?xf32, #zero>
  %4 = layout.convert %3 : tensor<?x?x?x?xf32, #zero> to tensor<?x?x?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %1, %c0 : tensor<?x?x?x?xf32, #nchwc>
  %c = tensor.dim %1, %c1 : tensor<?x?x?x?xf32, #nchwc>
  // The printer always reads one element.
  %some = arith.cmpi sgt, %c, %c0 : index
  scf.if %some {
    func.call @show(%4) : (tensor<?x?x?x?xf32>) -> ()
  }
  %h = tensor.dim %2, %c2 : tensor<?x?x?x?xf32, #zero>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %h) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id4, affine_map<(n, c, h, w) -> (n, h)>], iterator_types = ["parallel", "reduction", "parallel", "reduction"]}
      ins(%1 : tensor<?x?x?x?xf32, #nchwc>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %u = tensor.cast %r : tensor<?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

// Borders, slices and reshapes of dims that are split into blocks.
func.func private @views(%x: tensor<3x17x5x6xf32, #nchwc>, %o: index) {
  %v = arith.constant 77.0 : f32
  %0 = tensor.pad %x low[0, 2, 1, 0] high[1, 3, 0, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %v : f32
  } : tensor<3x17x5x6xf32, #nchwc> to tensor<4x22x6x8xf32, #zero>
  %r0p = layout.convert %0 : tensor<4x22x6x8xf32, #zero> to tensor<4x22x6x8xf32>
  %r0d = tensor.cast %r0p : tensor<4x22x6x8xf32> to tensor<?x?x?x?xf32>
  call @show(%r0d) : (tensor<?x?x?x?xf32>) -> ()

  %1 = tensor.extract_slice %x[0, 3, %o, 0] [3, 7, 2, 3] [1, 2, 1, 2] : tensor<3x17x5x6xf32, #nchwc> to tensor<3x7x2x3xf32, #wblock>
  %r1p = layout.convert %1 : tensor<3x7x2x3xf32, #wblock> to tensor<3x7x2x3xf32>
  %r1d = tensor.cast %r1p : tensor<3x7x2x3xf32> to tensor<?x?x?x?xf32>
  call @show(%r1d) : (tensor<?x?x?x?xf32>) -> ()

  %2 = tensor.insert_slice %1 into %x[0, 3, %o, 0] [3, 7, 2, 3] [1, 2, 1, 2] : tensor<3x7x2x3xf32, #wblock> into tensor<3x17x5x6xf32, #nchwc>
  %r2p = layout.convert %2 : tensor<3x17x5x6xf32, #nchwc> to tensor<3x17x5x6xf32>
  %r2d = tensor.cast %r2p : tensor<3x17x5x6xf32> to tensor<?x?x?x?xf32>
  call @show(%r2d) : (tensor<?x?x?x?xf32>) -> ()

  %3 = tensor.collapse_shape %x [[0], [1, 2, 3]] : tensor<3x17x5x6xf32, #nchwc> into tensor<3x510xf32, #two>
  %4 = tensor.expand_shape %3 [[0], [1, 2, 3]] output_shape [3, 6, 5, 17] : tensor<3x510xf32, #two> into tensor<3x6x5x17xf32, #nchwc>
  %r4p = layout.convert %4 : tensor<3x6x5x17xf32, #nchwc> to tensor<3x6x5x17xf32>
  %r4d = tensor.cast %r4p : tensor<3x6x5x17xf32> to tensor<?x?x?x?xf32>
  call @show(%r4d) : (tensor<?x?x?x?xf32>) -> ()

  // Storage that keeps the sliced dims whole.
  %5 = tensor.extract_slice %x[1, 0, %o, 1] [2, 17, 3, 2] [1, 1, 1, 3] : tensor<3x17x5x6xf32, #nchwc> to tensor<2x17x3x2xf32, #nchwc>
  %6 = tensor.insert_slice %5 into %x[0, 0, 2, 2] [2, 17, 3, 2] [1, 1, 1, 1] : tensor<2x17x3x2xf32, #nchwc> into tensor<3x17x5x6xf32, #nchwc>
  %r6p = layout.convert %6 : tensor<3x17x5x6xf32, #nchwc> to tensor<3x17x5x6xf32>
  %r6d = tensor.cast %r6p : tensor<3x17x5x6xf32> to tensor<?x?x?x?xf32>
  call @show(%r6d) : (tensor<?x?x?x?xf32>) -> ()

  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %7 = tensor.extract %x[%c1, %c16, %o, %c1] : tensor<3x17x5x6xf32, #nchwc>
  %8 = tensor.from_elements %7 : tensor<1xf32>
  %9 = tensor.cast %8 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%9) : (tensor<*xf32>) -> ()
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c17 = arith.constant 17 : index
  %x0 = call @fill4(%c3, %c17, %c2, %c5) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  call @dynamic(%x0) : (tensor<?x?x?x?xf32>) -> ()
  %x1 = call @fill4(%c1, %c1, %c1, %c1) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  call @dynamic(%x1) : (tensor<?x?x?x?xf32>) -> ()
  %x2 = call @fill4(%c2, %c0, %c3, %c1) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  call @dynamic(%x2) : (tensor<?x?x?x?xf32>) -> ()
  %x3 = call @fill4(%c3, %c17, %c5, %c6) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  %x4 = tensor.cast %x3 : tensor<?x?x?x?xf32> to tensor<3x17x5x6xf32>
  %x5 = layout.convert %x4 : tensor<3x17x5x6xf32> to tensor<3x17x5x6xf32, #nchwc>
  call @views(%x5, %c2) : (tensor<3x17x5x6xf32, #nchwc>, index) -> ()
  return
}
