// Check that the value of padding is chosen by cost, like a layout.
//
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-assign='target={#layout.cpu<lanes = 16, mask_percent = 200, flops_per_byte = 8, scalar_percent = 1600, strided_percent = 200>}' --layout-verify | FileCheck %s
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-assign='target={#layout.cpu<lanes = 16>}' --layout-verify | FileCheck %s --check-prefix=FREE

// If masks are free, padding is unspecified.
// FREE-LABEL: func @conv
// FREE-NOT: layout.padded
// FREE: return

// 30 channels in tiles of 16: zero padding costs 49 positions of 2 channels of the activation, nothing of constants.
// CHECK: lower_bound = [[COST:[0-9]+]]
// CHECK-LABEL: func @conv
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK: %[[RELU:.*]] = linalg.generic
// CHECK: %[[ZERO:.*]] = layout.convert %[[RELU]] : tensor<1x30x7x7xf32, #layout.map<{{.*}}>> to tensor<1x30x7x7xf32, #layout.padded<{{.*}}, zero>>
// CHECK: linalg.conv_2d_nchw_fchw ins(%[[ZERO]], %{{.*}} : {{.*}}tensor<64x30x3x3xf32, #layout.padded<{{.*}}, zero>>)
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
func.func @conv(%x: tensor<1x64x9x9xf32>) -> tensor<1x64x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %w0 = arith.constant dense<0.5> : tensor<30x64x3x3xf32>
  %w1 = arith.constant dense<0.25> : tensor<64x30x3x3xf32>
  %b = arith.constant dense<0.125> : tensor<30xf32>
  %e0 = tensor.empty() : tensor<1x30x7x7xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x30x7x7xf32>) -> tensor<1x30x7x7xf32>
  %c0 = linalg.conv_2d_nchw_fchw ins(%x, %w0 : tensor<1x64x9x9xf32>, tensor<30x64x3x3xf32>) outs(%f0 : tensor<1x30x7x7xf32>) -> tensor<1x30x7x7xf32>
  %r = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c0, %b : tensor<1x30x7x7xf32>, tensor<30xf32>) outs(%e0 : tensor<1x30x7x7xf32>) {
  ^bb0(%a: f32, %bb: f32, %o: f32):
    %s = arith.addf %a, %bb : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x30x7x7xf32>
  %e1 = tensor.empty() : tensor<1x64x5x5xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x5x5xf32>) -> tensor<1x64x5x5xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%r, %w1 : tensor<1x30x7x7xf32>, tensor<64x30x3x3xf32>) outs(%f1 : tensor<1x64x5x5xf32>) -> tensor<1x64x5x5xf32>
  return %c1 : tensor<1x64x5x5xf32>
}

// -----

// relu(0) = 0: zero padding of the input is preserved, and nothing is written
// or converted before the sum.
// CHECK: conversion_cost = 0 : i64
// CHECK-LABEL: func @kept
// CHECK: %[[RELU:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x30x7x7xf32, #layout.padded<{{.*}}, zero>>) outs(%{{.*}} : tensor<1x30x7x7xf32, #layout.padded<{{.*}}, zero>>)
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw ins(%[[RELU]]
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#nchw16c = #layout.blocked<"NCHW" to "NCHW16c">
func.func @kept(%x: tensor<1x30x7x7xf32>) -> tensor<1x64x7x7xf32>
    attributes {layout.flexible_abi, layout.argument_layouts = [[#layout.padded<#nchw16c, zero>]]} {
  %zero = arith.constant 0.0 : f32
  %w1 = arith.constant dense<0.25> : tensor<64x30x1x1xf32>
  %e0 = tensor.empty() : tensor<1x30x7x7xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x30x7x7xf32>) outs(%e0 : tensor<1x30x7x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x30x7x7xf32>
  %e1 = tensor.empty() : tensor<1x64x7x7xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%r, %w1 : tensor<1x30x7x7xf32>, tensor<64x30x1x1xf32>) outs(%f1 : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  return {layout.operand_layouts = [#nchw16c]} %c1 : tensor<1x64x7x7xf32>
}

// -----

// The same program with an op that becomes linalg, which reads no init.
// CHECK: conversion_cost = 0 : i64
// CHECK-LABEL: func @elementwise
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x30x7x7xf32, #layout.padded<{{.*}}, zero>>, {{.*}}
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw ins(%[[SUM]]
#nchw16c = #layout.blocked<"NCHW" to "NCHW16c">
func.func @elementwise(%x: tensor<1x30x7x7xf32>, %y: tensor<1x30x7x7xf32>) -> tensor<1x64x7x7xf32>
    attributes {layout.flexible_abi, layout.argument_layouts = [[#layout.padded<#nchw16c, zero>, #layout.padded<#nchw16c, zero>]]} {
  %zero = arith.constant 0.0 : f32
  %w1 = arith.constant dense<0.25> : tensor<64x30x1x1xf32>
  %r = arith.addf %x, %y : tensor<1x30x7x7xf32>
  %e1 = tensor.empty() : tensor<1x64x7x7xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%r, %w1 : tensor<1x30x7x7xf32>, tensor<64x30x1x1xf32>) outs(%f1 : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  return {layout.operand_layouts = [#nchw16c]} %c1 : tensor<1x64x7x7xf32>
}

// -----

// exp(0) = 1: zeros are written after it.
// CHECK-LABEL: func @lost
// CHECK: %[[EXP:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: -> tensor<1x30x7x7xf32, #layout.map<
// CHECK: %[[ZERO:.*]] = layout.convert %[[EXP]]
// CHECK-SAME: #layout.padded<{{.*}}, zero>>
// CHECK: linalg.conv_2d_nchw_fchw ins(%[[ZERO]]
#nchw16c = #layout.blocked<"NCHW" to "NCHW16c">
func.func @lost(%x: tensor<1x30x7x7xf32>) -> tensor<1x64x7x7xf32>
    attributes {layout.flexible_abi, layout.argument_layouts = [[#layout.padded<#nchw16c, zero>]]} {
  %zero = arith.constant 0.0 : f32
  %w1 = arith.constant dense<0.25> : tensor<64x30x1x1xf32>
  %r = math.exp %x : tensor<1x30x7x7xf32>
  %e1 = tensor.empty() : tensor<1x64x7x7xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%r, %w1 : tensor<1x30x7x7xf32>, tensor<64x30x1x1xf32>) outs(%f1 : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  return {layout.operand_layouts = [#nchw16c]} %c1 : tensor<1x64x7x7xf32>
}

// -----

// The loop carries the state: zeros are written once, before the loop.
// CHECK-LABEL: func @loop
// CHECK: layout.convert %{{.*}} to tensor<1x30x7x7xf32, #layout.padded<{{.*}}, zero>>
// CHECK: scf.for
// CHECK-NOT: layout.convert
// CHECK: scf.yield %{{.*}} : tensor<1x30x7x7xf32, #layout.padded<{{.*}}, zero>>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#sum = affine_map<(n, c, h, w) -> (n, h, w)>
#nchw16c = #layout.blocked<"NCHW" to "NCHW16c">
func.func @loop(%x: tensor<1x30x7x7xf32>, %n: index) -> (tensor<1x30x7x7xf32>, tensor<1x64x7x7xf32>)
    attributes {layout.flexible_abi, layout.argument_layouts = [[#nchw16c, unit]]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %w1 = arith.constant dense<0.25> : tensor<64x30x1x1xf32>
  %e1 = tensor.empty() : tensor<1x64x7x7xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %a = %f1) -> (tensor<1x30x7x7xf32>, tensor<1x64x7x7xf32>) {
    %t = arith.addf %s, %s : tensor<1x30x7x7xf32>
    %y = linalg.conv_2d_nchw_fchw ins(%t, %w1 : tensor<1x30x7x7xf32>, tensor<64x30x1x1xf32>) outs(%a : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
    scf.yield %t, %y : tensor<1x30x7x7xf32>, tensor<1x64x7x7xf32>
  }
  return {layout.operand_layouts = [#nchw16c, #nchw16c]} %r#0, %r#1 : tensor<1x30x7x7xf32>, tensor<1x64x7x7xf32>
}

// -----

// The maximum of 30 rows: padding of minus infinity needs no mask.
// CHECK-LABEL: func @largest
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<30x64xf32, #layout.padded<{{.*}}, 0xFF800000 : f32>>)
#in = affine_map<(m, n) -> (m, n)>
#out = affine_map<(m, n) -> (n)>
#rows = #layout.blocked<"MN" to "MN16m">
func.func @largest(%x: tensor<30x64xf32>) -> tensor<64xf32>
    attributes {layout.flexible_abi, layout.argument_layouts = [[#layout.padded<#rows, 0xFF800000 : f32>]]} {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<30x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
