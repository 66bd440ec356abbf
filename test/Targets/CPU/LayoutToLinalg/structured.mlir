// Check that structured ops become loops over stored digits, with masks on padding.
// RUN: layout-opt %s --convert-layout-to-linalg | FileCheck-22 %s

#nc16 = #layout.blocked<"NCHW" to "NCHW16c">
#w16 = #layout.blocked<"OIHW" to "OIHW16i16o">
#z16 = #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>
#zw16 = #layout.padded<#layout.blocked<"OIHW" to "OIHW16i16o">, zero>
#c16 = #layout.blocked<"CW" to "CW16c">
#one = #layout.padded<#layout.blocked<"CW" to "CW16c">, 1.0 : f32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(n, c, h, w) -> (n, c, h, w)>

// The loops are the digits: outer ones first, then reductions, the lane last.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d4, d2 + d5, d3 + d6, d7)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d1, d4, d5, d6, d7, d8)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1, d2, d3, d8)>

// CHECK-LABEL: @whole
// CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[W]], #[[OUT]]]
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction", "parallel"]
// CHECK-NOT: arith.select
// CHECK: return
func.func @whole(%x: tensor<1x32x7x7xf32, #nc16>, %w: tensor<32x32x3x3xf32, #w16>, %f: tensor<1x32x5x5xf32, #nc16>) -> tensor<1x32x5x5xf32, #nc16> {
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x32x7x7xf32, #nc16>, tensor<32x32x3x3xf32, #w16>) outs(%f : tensor<1x32x5x5xf32, #nc16>) -> tensor<1x32x5x5xf32, #nc16>
  return %0 : tensor<1x32x5x5xf32, #nc16>
}

// The sum over 17 of 32 channels must not read padding; 19 of 32 outputs may
// compute on it.
// CHECK-LABEL: @non_divisible
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = arith.addi %{{.*}} : index
// CHECK: %[[C17:.*]] = arith.constant 17
// CHECK: %[[V:.*]] = arith.cmpi slt, %[[I]], %[[C17]]
// CHECK: arith.select %[[V]]
// CHECK-NOT: arith.select
// CHECK: return
func.func @non_divisible(%x: tensor<1x17x7x7xf32, #nc16>, %w: tensor<19x17x3x3xf32, #w16>, %f: tensor<1x19x5x5xf32, #nc16>) -> tensor<1x19x5x5xf32, #nc16> {
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x17x7x7xf32, #nc16>, tensor<19x17x3x3xf32, #w16>) outs(%f : tensor<1x19x5x5xf32, #nc16>) -> tensor<1x19x5x5xf32, #nc16>
  return %0 : tensor<1x19x5x5xf32, #nc16>
}

// 0 * 0 added changes nothing, so zero padding in both types avoids the mask.
// CHECK-LABEL: @non_divisible_zero
// CHECK: linalg.generic
// CHECK-NOT: arith.select
// CHECK: return
func.func @non_divisible_zero(%x: tensor<1x17x7x7xf32, #z16>, %w: tensor<19x17x3x3xf32, #zw16>, %f: tensor<1x19x5x5xf32, #nc16>) -> tensor<1x19x5x5xf32, #nc16> {
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x17x7x7xf32, #z16>, tensor<19x17x3x3xf32, #zw16>) outs(%f : tensor<1x19x5x5xf32, #nc16>) -> tensor<1x19x5x5xf32, #nc16>
  return %0 : tensor<1x19x5x5xf32, #nc16>
}

// Zero on one side only: 0 * NaN is NaN.
// CHECK-LABEL: @non_divisible_half_zero
// CHECK: arith.select
func.func @non_divisible_half_zero(%x: tensor<1x17x7x7xf32, #nc16>, %w: tensor<19x17x3x3xf32, #zw16>, %f: tensor<1x19x5x5xf32, #nc16>) -> tensor<1x19x5x5xf32, #nc16> {
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x17x7x7xf32, #nc16>, tensor<19x17x3x3xf32, #zw16>) outs(%f : tensor<1x19x5x5xf32, #nc16>) -> tensor<1x19x5x5xf32, #nc16>
  return %0 : tensor<1x19x5x5xf32, #nc16>
}

// CHECK-LABEL: @fills
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x3x16xf32>)
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x3x16xf32>)
// CHECK: linalg.generic
// CHECK: arith.select
func.func @fills() -> (tensor<17x3xf32, #c16>, tensor<17x3xf32, #one>, tensor<17x3xf32, #one>) {
  %1 = arith.constant 1.0 : f32
  %2 = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<17x3xf32, #c16>
  %p = tensor.empty() : tensor<17x3xf32, #one>
  %a = linalg.fill ins(%2 : f32) outs(%e : tensor<17x3xf32, #c16>) -> tensor<17x3xf32, #c16>
  %b = linalg.fill ins(%1 : f32) outs(%p : tensor<17x3xf32, #one>) -> tensor<17x3xf32, #one>
  %c = linalg.fill ins(%2 : f32) outs(%p : tensor<17x3xf32, #one>) -> tensor<17x3xf32, #one>
  return %a, %b, %c : tensor<17x3xf32, #c16>, tensor<17x3xf32, #one>, tensor<17x3xf32, #one>
}

// An empty tensor with stated padding has it (P3), unless it is overwritten
// completely.
// CHECK-LABEL: @empty
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x3x16xf32>)
// CHECK-NEXT: return
func.func @empty() -> tensor<17x3xf32, #one> {
  %0 = tensor.empty() : tensor<17x3xf32, #one>
  return %0 : tensor<17x3xf32, #one>
}

// exp does not produce the padding that the type states.
// CHECK-LABEL: @elementwise
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.select
// CHECK: linalg.yield
func.func @elementwise(%x: tensor<17x3xf32, #one>) -> tensor<17x3xf32, #one> {
  %0 = math.exp %x : tensor<17x3xf32, #one>
  return %0 : tensor<17x3xf32, #one>
}

// f(0, 0) = 0: an addition and a relu preserve zero padding (P2).
// CHECK-LABEL: @keeps_zero
// CHECK: arith.maximumf
// CHECK-NOT: arith.select
// CHECK: return
func.func @keeps_zero(%x: tensor<1x17x3x3xf32, #z16>, %y: tensor<1x17x3x3xf32, #z16>) -> tensor<1x17x3x3xf32, #z16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x17x3x3xf32, #z16>
  %0 = linalg.generic {indexing_maps = [#id4, #id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<1x17x3x3xf32, #z16>, tensor<1x17x3x3xf32, #z16>) outs(%e : tensor<1x17x3x3xf32, #z16>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.maximumf %s, %z : f32
    linalg.yield %r : f32
  } -> tensor<1x17x3x3xf32, #z16>
  return %0 : tensor<1x17x3x3xf32, #z16>
}

// One operand with unspecified padding suffices to require the mask.
// CHECK-LABEL: @keeps_zero_of_one
// CHECK: arith.select
// CHECK: return
func.func @keeps_zero_of_one(%x: tensor<1x17x3x3xf32, #z16>, %y: tensor<1x17x3x3xf32, #nc16>) -> tensor<1x17x3x3xf32, #z16> {
  %e = tensor.empty() : tensor<1x17x3x3xf32, #z16>
  %0 = linalg.generic {indexing_maps = [#id4, #id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<1x17x3x3xf32, #z16>, tensor<1x17x3x3xf32, #nc16>) outs(%e : tensor<1x17x3x3xf32, #z16>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x17x3x3xf32, #z16>
  return %0 : tensor<1x17x3x3xf32, #z16>
}

// CHECK-LABEL: @traps
// CHECK: scf.if
// CHECK: arith.divsi
func.func @traps(%x: tensor<17x3xi32, #c16>) -> tensor<17x3xi32, #c16> {
  %0 = arith.divsi %x, %x : tensor<17x3xi32, #c16>
  return %0 : tensor<17x3xi32, #c16>
}

// So do remainders, which upstream takes to be defined for 0; not by a constant.
// CHECK-LABEL: @remainders
// CHECK: scf.if
// CHECK: arith.remsi
// CHECK: linalg.generic
// CHECK-NOT: scf.if
// CHECK: arith.remsi
func.func @remainders(%x: tensor<17x3xi32, #c16>) -> tensor<17x3xi32, #c16> {
  %ten = arith.constant dense<10> : tensor<17x3xi32, #c16>
  %0 = arith.remsi %x, %x : tensor<17x3xi32, #c16>
  %1 = arith.remsi %0, %ten : tensor<17x3xi32, #c16>
  return %1 : tensor<17x3xi32, #c16>
}

// An index stored in padding may be out of bounds.
// CHECK-LABEL: @reads_at_an_index
// CHECK: scf.if
// CHECK: tensor.extract
func.func @reads_at_an_index(%table: tensor<9xf32>, %x: tensor<17x3xindex, #c16>, %e: tensor<17x3xf32, #c16>) -> tensor<17x3xf32, #c16> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<17x3xindex, #c16>) outs(%e : tensor<17x3xf32, #c16>) {
  ^bb0(%i: index, %o: f32):
    %v = tensor.extract %table[%i] : tensor<9xf32>
    linalg.yield %v : f32
  } -> tensor<17x3xf32, #c16>
  return %0 : tensor<17x3xf32, #c16>
}

// CHECK-LABEL: @indices
// CHECK: %[[D0:.*]] = linalg.index 0
// CHECK: %[[M:.*]] = arith.muli %[[D0]], %{{.*}}
// CHECK: %[[D1:.*]] = linalg.index 2
// CHECK: arith.addi %[[M]], %[[D1]]
func.func @indices(%x: tensor<17x3xindex, #c16>) -> tensor<17x3xindex, #c16> {
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : tensor<17x3xindex, #c16>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<17x3xindex, #c16>
  return %0 : tensor<17x3xindex, #c16>
}
