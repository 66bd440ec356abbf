// Check that a decode reads bytes as operands and each code by one shift and one
// mask, that a product with one vector decodes in its own loops, and that no
// bundle is left.
//
// RUN: layout-opt %s --layout-prepare-lower-bundles --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[CODE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 36 + d1 * 18 + d3 + 2)>
// CHECK-DAG: #[[LOW:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 36 + d1 * 18)>
// CHECK-DAG: #[[HIGH:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 36 + d1 * 18 + 1)>
// CHECK-DAG: #[[BYTES:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 * 68 + d2 * 34 + d3 + 2)>

// CHECK-NOT: layout.
// CHECK-LABEL: func @decode(
// CHECK-SAME: %[[BLOCK:.*]]: tensor<72xi8>
// CHECK: linalg.generic {indexing_maps = [#[[CODE]], #[[LOW]], #[[HIGH]], #{{.*}}]
// CHECK-SAME: ins(%[[BLOCK]], %[[BLOCK]], %[[BLOCK]] : {{.*}}) outs(%{{.*}} : tensor<2x2x2x16xf32>)
// CHECK: ^bb0(%[[BYTE:.*]]: i8, %{{.*}}: i8, %{{.*}}: i8
// CHECK: %[[WORD:.*]] = arith.extui %[[BYTE]] : i8 to i32
// CHECK: %[[LOW:.*]] = arith.shrui %[[WORD]], %{{.*}} : i32
// CHECK: %[[CODE:.*]] = arith.andi %[[LOW]], %c15_i32 : i32
// CHECK: %[[VALUE:.*]] = arith.subi %[[CODE]], %c8_i32 : i32
// CHECK: %[[NUMBER:.*]] = arith.sitofp %[[VALUE]] : i32 to f32
// CHECK: %[[HALF:.*]] = arith.bitcast %{{.*}} : i16 to f16
// CHECK: %[[SCALE:.*]] = arith.extf %[[HALF]] : f16 to f32
// CHECK: %[[RESULT:.*]] = arith.mulf %[[SCALE]], %[[NUMBER]] : f32
// CHECK: linalg.yield %[[RESULT]] : f32
// CHECK-NOT: layout.
func.func @decode(%block: tensor<72xi8>) -> tensor<2x64xf32> {
  %0 = layout.assemble %block : tensor<72xi8> to tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
  %1 = layout.convert %0 : tensor<2x64xf32, #layout.bundle<"gguf.q4_0">> to tensor<2x64xf32>
  return %1 : tensor<2x64xf32>
}

// CHECK-LABEL: func @product(
// CHECK-SAME: %[[STREAM:.*]]: tensor<136xi8>, %[[X:.*]]: tensor<1x64xf32>
// CHECK: %[[VECTOR:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<1x2x32xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[BYTES]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
// CHECK-SAME: ins(%[[VECTOR]], %[[STREAM]], %[[STREAM]], %[[STREAM]] :
// CHECK: %[[SCALED:.*]] = arith.mulf
// CHECK: %[[TERM:.*]] = arith.mulf %{{.*}}, %[[SCALED]]
// CHECK: arith.addf %{{.*}}, %[[TERM]]
func.func @product(%block: tensor<136xi8>, %x: tensor<1x64xf32>, %y: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = layout.assemble %block : tensor<136xi8> to tensor<2x64xf32, #layout.bundle<"gguf.q8_0">>
  %w = layout.convert %0 : tensor<2x64xf32, #layout.bundle<"gguf.q8_0">> to tensor<2x64xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %w : tensor<1x64xf32>, tensor<2x64xf32>) outs(%y : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// A weight that several rows use is decoded once.

// CHECK-LABEL: func @rows(
// CHECK: %[[W:.*]] = tensor.collapse_shape %{{.*}} into tensor<2x64xf32>
// CHECK: linalg.matmul {{.*}} ins(%{{.*}}, %[[W]] :
func.func @rows(%block: tensor<136xi8>, %x: tensor<3x64xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = layout.assemble %block : tensor<136xi8> to tensor<2x64xf32, #layout.bundle<"gguf.q8_0">>
  %w = layout.convert %0 : tensor<2x64xf32, #layout.bundle<"gguf.q8_0">> to tensor<2x64xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %w : tensor<3x64xf32>, tensor<2x64xf32>) outs(%y : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// Rows that end within a block are decoded by index.

// CHECK-LABEL: func @ragged(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x40xf32>)
// CHECK: tensor.extract
func.func @ragged(%block: tensor<136xi8>) -> tensor<2x40xf32> {
  %0 = layout.assemble %block : tensor<136xi8> to tensor<2x40xf32, #layout.bundle<"gguf.q8_0">>
  %1 = layout.convert %0 : tensor<2x40xf32, #layout.bundle<"gguf.q8_0">> to tensor<2x40xf32>
  return %1 : tensor<2x40xf32>
}

// Codes in halves of a byte are read along bytes; the vector is stored in this order once.

// CHECK-LABEL: func @nibbles(
// CHECK: %[[X:.*]] = tensor.expand_shape %{{.*}} into tensor<{{.*}}x2xf32>
// CHECK: %[[ORDERED:.*]] = linalg.transpose ins(%[[X]] : tensor<[[N:.*]]x2xf32>) outs(%{{.*}} : tensor<{{.*}}2x{{.*}}xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", {{.*}}"reduction"]}
// CHECK-SAME: ins(%{{.*}}, %[[ORDERED]] :
func.func @nibbles(%values: tensor<128xi8>, %scales: tensor<16xi8>, %x: tensor<64xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = layout.assemble %values, %scales : tensor<128xi8>, tensor<16xi8> to tensor<4x64xf32, #layout.bundle<scale(r, k),
    value : ui4 excess 8 [r, k] in values (r, k, b) -> bits(r, k, b),
    scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>>
  %w = layout.convert %0 : tensor<4x64xf32, #layout.bundle<scale(r, k),
    value : ui4 excess 8 [r, k] in values (r, k, b) -> bits(r, k, b),
    scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>> to tensor<4x64xf32>
  %r = linalg.matvec ins(%w, %x : tensor<4x64xf32>, tensor<64xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
