// Check that a price list changes the decision if it makes the modeled choice expensive, and that ops that are not
// listed have their modeled price, scaled.
// RUN: split-file %s %t

// The written list has the prices that were used: if read again, the decision and the written list are the same,
// regardless of names and order.
// RUN: layout-opt %t/net.mlir --layout-assign=write-costs=%t/modeled.mlir -o %t/modeled.out
// RUN: layout-opt %t/net.mlir --layout-assign="costs=%t/modeled.mlir write-costs=%t/again.mlir" -o %t/again.out
// RUN: cmp %t/modeled.mlir %t/again.mlir && cmp %t/modeled.out %t/again.out
// RUN: FileCheck %s --check-prefix=LIST --input-file=%t/modeled.mlir
// LIST: module attributes {layout.target = #layout.cpu<lanes = 16>}
// LIST: func.func @conv_2d_nchw_fchw_{{.*}} attributes {layout.cost = {{[0-9]+}} : i64} {
// LIST: linalg.fill
// LIST: linalg.conv_2d_nchw_fchw
// LIST: func.func @convert_0({{.*}}) -> {{.*}} attributes {layout.cost = {{[0-9]+}} : i64} {
// LIST-NEXT: layout.convert

// The unlisted absolute value costs its modeled 4723 times the median of the ratios 900 / 75946, 5000 / 51097 and 5000
// / 51097.
// RUN: FileCheck %s --check-prefix=MODELED --input-file=%t/modeled.out
// MODELED: layout.convert
// RUN: layout-opt %t/net.mlir --layout-assign=costs=%t/plain.mlir | FileCheck %s --check-prefix=PLAIN
// PLAIN: conversion_cost = 0 : i64, cost = 1362 : i64, lower_bound = 1362 : i64
// PLAIN-NOT: layout.convert

// Among choices of equal cost, the one that keeps the types is taken.
// RUN: layout-opt %t/ties.mlir --layout-solve=write-costs=%t/ties.list -o /dev/null
// RUN: sed 's/layout.cost = [0-9]*/layout.cost = 7/' %t/ties.list > %t/equal.list
// RUN: layout-opt %t/ties.mlir --layout-solve=costs=%t/equal.list | FileCheck %s --check-prefix=TIES
// TIES: cost = 14 : i64
// TIES-NOT: layout.result_layouts

// Ops with layouts stated by types are in the list; an op inside and outside of a loop is listed
// once.
// RUN: layout-opt %t/stated.mlir --layout-solve=write-costs=%t/stated.list -o %t/stated.out
// RUN: FileCheck %s --check-prefix=STATED --input-file=%t/stated.list
// STATED-COUNT-1: math.absf %{{.*}} : tensor<8x8xf32, #{{.*}}>
// STATED-NOT: math.absf %{{.*}} : tensor<8x8xf32, #
// RUN: layout-opt %t/stated.mlir --layout-solve=costs=%t/stated.list | cmp - %t/stated.out

//--- net.mlir
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @main(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x6x6xf32> {
  %w = arith.constant dense<0.5> : tensor<16x16x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>)
      outs(%f : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  %r = math.absf %c : tensor<1x16x6x6xf32>
  return %r : tensor<1x16x6x6xf32>
}
}

//--- plain.mlir
func.func @any_name(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32>
    attributes {layout.cost = 900 : i64} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>)
      outs(%f : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  return %c : tensor<1x16x6x6xf32>
}

#blocks = #layout.map<(n, c, h, w) -> buffer(n, c floordiv 16, h, w, c mod 16)>
#filter = #layout.blocked<"OIHW" to "OIHW16o">
func.func @another_name(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x3x3xf32, #filter>) -> tensor<1x16x6x6xf32, #blocks>
    attributes {layout.cost = 5000 : i64} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x6x6xf32, #blocks>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6x6xf32, #blocks>) -> tensor<1x16x6x6xf32, #blocks>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32, #filter>)
      outs(%f : tensor<1x16x6x6xf32, #blocks>) -> tensor<1x16x6x6xf32, #blocks>
  return %c : tensor<1x16x6x6xf32, #blocks>
}
#both = #layout.blocked<"OIHW" to "OIHW16i16o">
func.func @one_more(%x: tensor<1x16x8x8xf32, #blocks>, %w: tensor<16x16x3x3xf32, #both>) -> tensor<1x16x6x6xf32, #blocks>
    attributes {layout.cost = 5000 : i64} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x6x6xf32, #blocks>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6x6xf32, #blocks>) -> tensor<1x16x6x6xf32, #blocks>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x8x8xf32, #blocks>, tensor<16x16x3x3xf32, #both>)
      outs(%f : tensor<1x16x6x6xf32, #blocks>) -> tensor<1x16x6x6xf32, #blocks>
  return %c : tensor<1x16x6x6xf32, #blocks>
}

//--- ties.mlir
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @main(%x: tensor<8x32xf32>, %y: tensor<32x32xf32>) -> tensor<8x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %c = linalg.matmul ins(%x, %y : tensor<8x32xf32>, tensor<32x32xf32>) outs(%f : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = math.absf %c : tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}
}

//--- stated.mlir
#columns = #layout.map<(i, j) -> buffer(j, i)>
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func private @use(tensor<8x8xf32, #columns>)
func.func @main(%x: tensor<8x8xf32, #columns>, %n: index) -> tensor<8x8xf32, #columns> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = math.absf %x : tensor<8x8xf32, #columns>
  scf.for %i = %c0 to %n step %c1 {
    %z = math.absf %y : tensor<8x8xf32, #columns>
    func.call @use(%z) : (tensor<8x8xf32, #columns>) -> ()
  }
  return %y : tensor<8x8xf32, #columns>
}
}
