// What attributes or types state is priced as what is chosen is: a program that was decided, and is decided again with
// all of its layouts stated, costs the same.

// RUN: layout-opt %s --split-input-file -layout-solve='target={#layout.cpu<lanes = 4>}' -o %t.mlir
// RUN: layout-opt %t.mlir --split-input-file -layout-solve='target={#layout.cpu<lanes = 4>}' -o %t.again.mlir
// RUN: cat %t.mlir %t.again.mlir | FileCheck %s

// CHECK: cost = [[COST:[1-9][0-9]*]] : i64, lower_bound = [[COST]] : i64}
// CHECK: layout.operand_layouts
// 64 x 64 numbers are read and written, 4 bytes each, and one operation on each costs an eighth of a byte.
// CHECK: cost = 33280 : i64, lower_bound = 33280 : i64}
// What an encoding of another project stands for has no price.
// CHECK: cost = 0 : i64, lower_bound = 0 : i64}
// CHECK: cost = [[COST]] : i64, lower_bound = [[COST]] : i64}
// CHECK: cost = 33280 : i64, lower_bound = 33280 : i64}
// CHECK: cost = 0 : i64, lower_bound = 0 : i64}

func.func @main(%x: tensor<1x30x7x7xf32>) -> tensor<1x12x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<12x30x3x3xf32>
  %e = tensor.empty() : tensor<1x12x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x12x5x5xf32>) -> tensor<1x12x5x5xf32>
  %p = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x30x7x7xf32>, tensor<12x30x3x3xf32>)
                                outs(%f : tensor<1x12x5x5xf32>) -> tensor<1x12x5x5xf32>
  %y = math.exp %p : tensor<1x12x5x5xf32>
  return %y : tensor<1x12x5x5xf32>
}

// -----

#columns = #layout.map<(i, j) -> buffer(j, i)>
func.func @typed(%x: tensor<64x64xf32, #columns>) -> tensor<64x64xf32, #columns> {
  %y = arith.negf %x : tensor<64x64xf32, #columns>
  return %y : tensor<64x64xf32, #columns>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
func.func @of_others(%x: tensor<8x8xf32, "other">, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<8x8xf32, "other">, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
