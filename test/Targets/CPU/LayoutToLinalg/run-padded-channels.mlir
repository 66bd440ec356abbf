// DEFINE: %{lower} = --convert-elementwise-to-linalg --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --convert-linalg-to-loops --expand-strided-metadata --lower-affine --convert-scf-to-cf --convert-math-to-llvm --convert-to-llvm --reconcile-unrealized-casts
// DEFINE: %{libs} = --shared-libs=%mlir_lib_dir/libmlir_runner_utils%shlibext,%mlir_lib_dir/libmlir_c_runner_utils%shlibext

// Check that padding, which exp(x) / 0 and the like set to inf and NaN, does not change results.
//
// RUN: sed 's/, #[a-z0-9]*>/>/g' %s > %t.plain.mlir
// RUN: layout-opt %t.plain.mlir --canonicalize -o %t.0.mlir
// RUN: mlir-opt-22 %t.0.mlir %{lower} | mlir-runner-22 -O0 -e main --entry-point-result=void %{libs} | sed 's/base@ = 0x[0-9a-f]*//;s/strides.*data/data/' > %t.plain.out
// RUN: layout-opt %s --convert-layout-to-linalg -o %t.1.mlir
// RUN: mlir-opt-22 %t.1.mlir %{lower} | mlir-runner-22 -O0 -e main --entry-point-result=void %{libs} | sed 's/base@ = 0x[0-9a-f]*//;s/strides.*data/data/' > %t.out
// RUN: diff %t.plain.out %t.out
// RUN: FileCheck-22 %s --input-file=%t.out
// CHECK-COUNT-8: Unranked Memref

#nchwc = #layout.blocked<"NCHW" to "NCHW16c">
#nhwc = #layout.blocked<"NCHW" to "NHWC">
#zero = #layout.padded<#layout.blocked<"NCHW" to "NCHW8c">, zero>
#weights = #layout.blocked<"OIHW" to "OIHW16i16o">
#zweights = #layout.padded<#layout.blocked<"OIHW" to "OIHW8i16o">, zero>
#bias = #layout.map<(c) -> buffer([c] align 16)>
#dw = #layout.blocked<"CHW" to "CHW16c">
#mk = #layout.blocked<"MK" to "MK8k">
#kn = #layout.blocked<"KN" to "NK16n">
#mn = #layout.blocked<"MN" to "MN16n4m">
#id4 = affine_map<(n, c, h, w) -> (n, c, h, w)>
#chw = affine_map<(n, c, h, w) -> (c)>
#nhw = affine_map<(n, c, h, w) -> (n, h, w)>

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}

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

// 17 input channels, 19 output channels, undefined padding; bias over aligned
// storage.
func.func private @conv(%x: tensor<3x17x6x6xf32, #nchwc>, %w: tensor<19x17x3x3xf32, #weights>, %b: tensor<19xf32, #bias>) -> tensor<3x19x4x4xf32, #nchwc> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x19x4x4xf32, #nchwc>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x19x4x4xf32, #nchwc>) -> tensor<3x19x4x4xf32, #nchwc>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<3x17x6x6xf32, #nchwc>, tensor<19x17x3x3xf32, #weights>) outs(%f : tensor<3x19x4x4xf32, #nchwc>) -> tensor<3x19x4x4xf32, #nchwc>
  %r = linalg.generic {indexing_maps = [#id4, #chw, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %b : tensor<3x19x4x4xf32, #nchwc>, tensor<19xf32, #bias>) outs(%e : tensor<3x19x4x4xf32, #nchwc>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<3x19x4x4xf32, #nchwc>
  return %r : tensor<3x19x4x4xf32, #nchwc>
}

// Zero padding on both sides needs no mask; strides, mixed block sizes.
func.func private @zeroconv(%x: tensor<3x17x6x6xf32, #zero>, %w: tensor<19x17x3x3xf32, #zweights>) -> tensor<3x19x2x2xf32, #zero> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x19x2x2xf32, #zero>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x19x2x2xf32, #zero>) -> tensor<3x19x2x2xf32, #zero>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<3x17x6x6xf32, #zero>, tensor<19x17x3x3xf32, #zweights>) outs(%f : tensor<3x19x2x2xf32, #zero>) -> tensor<3x19x2x2xf32, #zero>
  return %c : tensor<3x19x2x2xf32, #zero>
}

// Padding of x / 0 and x * inf, then a sum over channels.
func.func private @reduce(%x: tensor<3x17x6x6xf32, #zero>) -> tensor<3x6x6xf32> {
  %y = layout.convert %x : tensor<3x17x6x6xf32, #zero> to tensor<3x17x6x6xf32, #nchwc>
  %one = arith.constant dense<1.0> : tensor<3x17x6x6xf32, #nchwc>
  %y1 = arith.addf %y, %one : tensor<3x17x6x6xf32, #nchwc>
  %ten = arith.constant dense<16.0> : tensor<3x17x6x6xf32, #nchwc>
  %y16 = arith.addf %y, %ten : tensor<3x17x6x6xf32, #nchwc>
  %0 = arith.mulf %y1, %y16 : tensor<3x17x6x6xf32, #nchwc>
  %n = math.absf %0 : tensor<3x17x6x6xf32, #nchwc>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x6x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x6x6xf32>) -> tensor<3x6x6xf32>
  %r = linalg.generic {indexing_maps = [#id4, #nhw], iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
      ins(%n : tensor<3x17x6x6xf32, #nchwc>) outs(%f : tensor<3x6x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %l = arith.mulf %k, %p : f32
    %s = arith.addf %l, %o : f32
    linalg.yield %s : f32
  } -> tensor<3x6x6xf32>
  return %r : tensor<3x6x6xf32>
}

// Max pooling of padded channels with a border, from one layout to another.
func.func private @pool(%x: tensor<3x17x6x6xf32, #nchwc>) -> tensor<3x17x3x3xf32, #nhwc> {
  %min = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %min : f32
  } : tensor<3x17x6x6xf32, #nchwc> to tensor<3x17x8x8xf32, #nchwc>
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<3x17x3x3xf32, #nhwc>
  %f = linalg.fill ins(%min : f32) outs(%e : tensor<3x17x3x3xf32, #nhwc>) -> tensor<3x17x3x3xf32, #nhwc>
  %r = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>} ins(%p, %window : tensor<3x17x8x8xf32, #nchwc>, tensor<3x3xf32>) outs(%f : tensor<3x17x3x3xf32, #nhwc>) -> tensor<3x17x3x3xf32, #nhwc>
  return %r : tensor<3x17x3x3xf32, #nhwc>
}

// Integer division and remainders would trap on padding that holds 0.
func.func private @divide(%x: tensor<3x17x6x6xf32, #zero>) -> tensor<3x17x6x6xi32, #nchwc> {
  %n = arith.constant 100 : i32
  %c = arith.constant 9 : i32
  %e = tensor.empty() : tensor<3x17x6x6xi32, #nchwc>
  %r = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x17x6x6xf32, #zero>) outs(%e : tensor<3x17x6x6xi32, #nchwc>) {
  ^bb0(%p: f32, %o: i32):
    %0 = arith.fptosi %p : f32 to i32
    %1 = arith.muli %0, %c : i32
    %2 = arith.divsi %n, %0 : i32
    %3 = arith.remsi %n, %0 : i32
    %4 = arith.muli %3, %c : i32
    %5 = arith.addi %2, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<3x17x6x6xi32, #nchwc>
  return %r : tensor<3x17x6x6xi32, #nchwc>
}

// Depthwise, an i8 product with an i32 accumulator, and a matmul.
func.func private @depthwise(%x: tensor<3x17x6x6xf32, #nchwc>, %w: tensor<17x3x3xf32, #dw>) -> tensor<3x17x4x4xf32, #zero> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x17x4x4xf32, #zero>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x17x4x4xf32, #zero>) -> tensor<3x17x4x4xf32, #zero>
  %r = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<3x17x6x6xf32, #nchwc>, tensor<17x3x3xf32, #dw>) outs(%f : tensor<3x17x4x4xf32, #zero>) -> tensor<3x17x4x4xf32, #zero>
  return %r : tensor<3x17x4x4xf32, #zero>
}

func.func private @quantized(%x: tensor<19x17xf32, #mk>, %y: tensor<17x19xf32, #kn>) -> tensor<19x19xi32, #mn> {
  %a = arith.fptosi %x : tensor<19x17xf32, #mk> to tensor<19x17xi8, #mk>
  %b = arith.fptosi %y : tensor<17x19xf32, #kn> to tensor<17x19xi8, #kn>
  %z = arith.constant dense<1> : tensor<19x19xi32, #mn>
  %r = linalg.matmul ins(%a, %b : tensor<19x17xi8, #mk>, tensor<17x19xi8, #kn>) outs(%z : tensor<19x19xi32, #mn>) -> tensor<19x19xi32, #mn>
  return %r : tensor<19x19xi32, #mn>
}

func.func private @show(%x: tensor<?x?x?x?xf32>) {
  %u = tensor.cast %x : tensor<?x?x?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

func.func @main() {
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c17 = arith.constant 17 : index
  %c19 = arith.constant 19 : index
  %c1 = arith.constant 1 : index
  %xd = call @fill4(%c3, %c17, %c6, %c6) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  %wd = call @fill4(%c19, %c17, %c3, %c3) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  %bd = call @fill4(%c1, %c1, %c1, %c19) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  %dd = call @fill4(%c1, %c17, %c3, %c3) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  %md = call @fill4(%c1, %c1, %c19, %c17) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  %nd = call @fill4(%c1, %c1, %c17, %c19) : (index, index, index, index) -> tensor<?x?x?x?xf32>
  %x = tensor.cast %xd : tensor<?x?x?x?xf32> to tensor<3x17x6x6xf32>
  %w = tensor.cast %wd : tensor<?x?x?x?xf32> to tensor<19x17x3x3xf32>
  %b1 = tensor.cast %bd : tensor<?x?x?x?xf32> to tensor<1x1x1x19xf32>
  %b = tensor.collapse_shape %b1 [[0, 1, 2, 3]] : tensor<1x1x1x19xf32> into tensor<19xf32>
  %d1 = tensor.cast %dd : tensor<?x?x?x?xf32> to tensor<1x17x3x3xf32>
  %d = tensor.collapse_shape %d1 [[0, 1], [2], [3]] : tensor<1x17x3x3xf32> into tensor<17x3x3xf32>
  %m1 = tensor.cast %md : tensor<?x?x?x?xf32> to tensor<1x1x19x17xf32>
  %m = tensor.collapse_shape %m1 [[0, 1, 2], [3]] : tensor<1x1x19x17xf32> into tensor<19x17xf32>
  %n1 = tensor.cast %nd : tensor<?x?x?x?xf32> to tensor<1x1x17x19xf32>
  %n = tensor.collapse_shape %n1 [[0, 1, 2], [3]] : tensor<1x1x17x19xf32> into tensor<17x19xf32>

  %xn = layout.convert %x : tensor<3x17x6x6xf32> to tensor<3x17x6x6xf32, #nchwc>
  %xz = layout.convert %xn : tensor<3x17x6x6xf32, #nchwc> to tensor<3x17x6x6xf32, #zero>
  %xh = layout.convert %xz : tensor<3x17x6x6xf32, #zero> to tensor<3x17x6x6xf32, #nhwc>
  %xp = layout.convert %xh : tensor<3x17x6x6xf32, #nhwc> to tensor<3x17x6x6xf32>
  %wn = layout.convert %w : tensor<19x17x3x3xf32> to tensor<19x17x3x3xf32, #weights>
  %wz = layout.convert %w : tensor<19x17x3x3xf32> to tensor<19x17x3x3xf32, #zweights>
  %bn = layout.convert %b : tensor<19xf32> to tensor<19xf32, #bias>
  %dn = layout.convert %d : tensor<17x3x3xf32> to tensor<17x3x3xf32, #dw>
  %mn = layout.convert %m : tensor<19x17xf32> to tensor<19x17xf32, #mk>
  %nn = layout.convert %n : tensor<17x19xf32> to tensor<17x19xf32, #kn>

  %0 = tensor.cast %xp : tensor<3x17x6x6xf32> to tensor<?x?x?x?xf32>
  call @show(%0) : (tensor<?x?x?x?xf32>) -> ()

  %r1n = call @conv(%xn, %wn, %bn) : (tensor<3x17x6x6xf32, #nchwc>, tensor<19x17x3x3xf32, #weights>, tensor<19xf32, #bias>) -> tensor<3x19x4x4xf32, #nchwc>
  %r1p = layout.convert %r1n : tensor<3x19x4x4xf32, #nchwc> to tensor<3x19x4x4xf32>
  %1 = tensor.cast %r1p : tensor<3x19x4x4xf32> to tensor<?x?x?x?xf32>
  call @show(%1) : (tensor<?x?x?x?xf32>) -> ()

  %r2n = call @zeroconv(%xz, %wz) : (tensor<3x17x6x6xf32, #zero>, tensor<19x17x3x3xf32, #zweights>) -> tensor<3x19x2x2xf32, #zero>
  %r2p = layout.convert %r2n : tensor<3x19x2x2xf32, #zero> to tensor<3x19x2x2xf32>
  %2 = tensor.cast %r2p : tensor<3x19x2x2xf32> to tensor<?x?x?x?xf32>
  call @show(%2) : (tensor<?x?x?x?xf32>) -> ()

  %r3n = call @reduce(%xz) : (tensor<3x17x6x6xf32, #zero>) -> tensor<3x6x6xf32>
  %r3u = tensor.cast %r3n : tensor<3x6x6xf32> to tensor<*xf32>
  call @printMemrefF32(%r3u) : (tensor<*xf32>) -> ()

  %r4n = call @pool(%xn) : (tensor<3x17x6x6xf32, #nchwc>) -> tensor<3x17x3x3xf32, #nhwc>
  %r4p = layout.convert %r4n : tensor<3x17x3x3xf32, #nhwc> to tensor<3x17x3x3xf32>
  %4 = tensor.cast %r4p : tensor<3x17x3x3xf32> to tensor<?x?x?x?xf32>
  call @show(%4) : (tensor<?x?x?x?xf32>) -> ()

  %ten = arith.constant dense<10.0> : tensor<3x17x6x6xf32, #nchwc>
  %xnz = arith.addf %xn, %ten : tensor<3x17x6x6xf32, #nchwc>
  %xnc = layout.convert %xnz : tensor<3x17x6x6xf32, #nchwc> to tensor<3x17x6x6xf32, #zero>
  %r5n = call @divide(%xnc) : (tensor<3x17x6x6xf32, #zero>) -> tensor<3x17x6x6xi32, #nchwc>
  %r5p = layout.convert %r5n : tensor<3x17x6x6xi32, #nchwc> to tensor<3x17x6x6xi32>
  %5 = tensor.cast %r5p : tensor<3x17x6x6xi32> to tensor<*xi32>
  call @printMemrefI32(%5) : (tensor<*xi32>) -> ()

  %r6n = call @depthwise(%xn, %dn) : (tensor<3x17x6x6xf32, #nchwc>, tensor<17x3x3xf32, #dw>) -> tensor<3x17x4x4xf32, #zero>
  %r6p = layout.convert %r6n : tensor<3x17x4x4xf32, #zero> to tensor<3x17x4x4xf32>
  %6 = tensor.cast %r6p : tensor<3x17x4x4xf32> to tensor<?x?x?x?xf32>
  call @show(%6) : (tensor<?x?x?x?xf32>) -> ()

  %r7n = call @quantized(%mn, %nn) : (tensor<19x17xf32, #mk>, tensor<17x19xf32, #kn>) -> tensor<19x19xi32, #mn>
  %r7p = layout.convert %r7n : tensor<19x19xi32, #mn> to tensor<19x19xi32>
  %7 = tensor.cast %r7p : tensor<19x19xi32> to tensor<*xi32>
  call @printMemrefI32(%7) : (tensor<*xi32>) -> ()
  return
}
