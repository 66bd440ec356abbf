// Check that a repack is a loop nest over bytes: lanes of both halves of blocks
// with their masks, slices of blocks without a fill, and padding of rows that
// end within a block.
//
// RUN: layout-opt %s --layout-prepare-lower-bundles --canonicalize --cse | FileCheck %s
// RUN: layout-opt %s --layout-prepare-lower-bundles=in-blocks --canonicalize --cse | FileCheck %s --check-prefix=BLOCKS

#dense = #layout.bundle<scale(r, k),
  value : ui4 excess 8 [r, k] in values (r, k, b) -> bits(r, k, b),
  scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>
#blocks = #layout.bundle<"gguf.q4_0">

// CHECK-DAG: #[[EVEN:.*]] = affine_map<(d0, d1) -> (d0 * 36 + (d1 mod 8) * 2 + (d1 floordiv 16) * 18 + 2)>
// CHECK-DAG: #[[ODD:.*]] = affine_map<(d0, d1) -> (d0 * 36 + (d1 mod 8) * 2 + (d1 floordiv 16) * 18 + 3)>
// CHECK-DAG: #[[LOW:.*]] = affine_map<(d0, d1) -> (d0 * 16 + d1 floordiv 2)>
// CHECK-DAG: #[[HIGH:.*]] = affine_map<(d0, d1) -> (d0 * 16 + d1 floordiv 2 + 8)>

// CHECK-LABEL: func @to_dense(
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic {indexing_maps = [#[[EVEN]], {{.*}}, #[[ODD]]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<16x2xi8>)
func.func @to_dense(%block: tensor<288xi8>) -> (tensor<256xi8>, tensor<32xi8>) {
  %0 = layout.assemble %block : tensor<288xi8> to tensor<4x128xf32, #blocks>
  %1 = layout.convert %0 : tensor<4x128xf32, #blocks> to tensor<4x128xf32, #dense>
  %2:2 = layout.streams %1 : tensor<4x128xf32, #dense> to tensor<256xi8>, tensor<32xi8>
  return %2#0, %2#1 : tensor<256xi8>, tensor<32xi8>
}

// CHECK-LABEL: func @to_blocks(
// CHECK-NOT: linalg.fill
// CHECK: %[[WHOLE:.*]] = tensor.expand_shape %{{.*}} : tensor<288xi8> into tensor<16x18xi8>
// CHECK: tensor.extract_slice %[[WHOLE]][0, 2] [16, 16] [1, 1]
// CHECK: linalg.generic {indexing_maps = [#[[LOW]], {{.*}}, #[[HIGH]]
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [16, 2] [1, 1]
func.func @to_blocks(%values: tensor<256xi8>, %scales: tensor<32xi8>) -> tensor<288xi8> {
  %0 = layout.assemble %values, %scales : tensor<256xi8>, tensor<32xi8> to tensor<4x128xf32, #dense>
  %1 = layout.convert %0 : tensor<4x128xf32, #dense> to tensor<4x128xf32, #blocks>
  %2 = layout.streams %1 : tensor<4x128xf32, #blocks> to tensor<288xi8>
  return %2 : tensor<288xi8>
}

// The last block of a row of 40 has 8 codes, in the low halves of its bytes: the
// others keep what the fill has written.
// CHECK-LABEL: func @to_partial_blocks(
// CHECK: linalg.fill
// CHECK: ^bb0({{.*}}, %[[OLD:.*]]: i8):
// CHECK: arith.andi %[[OLD]], %c-16_i8
func.func @to_partial_blocks(%values: tensor<40xi8>, %scales: tensor<8xi8>) -> tensor<72xi8> {
  %0 = layout.assemble %values, %scales : tensor<40xi8>, tensor<8xi8> to tensor<2x40xf32, #dense>
  %1 = layout.convert %0 : tensor<2x40xf32, #dense> to tensor<2x40xf32, #blocks>
  %2 = layout.streams %1 : tensor<2x40xf32, #blocks> to tensor<72xi8>
  return %2 : tensor<72xi8>
}

// 147,456 bytes read and written, in 8 blocks of 512 groups each.
// BLOCKS-LABEL: func @in_blocks(
// BLOCKS: scf.forall (%[[I:.*]]) in (8) shared_outs(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<2048x32xi8>, tensor<4096x2xi8>)
// BLOCKS: linalg.generic {{.*}} outs(%{{.*}} : tensor<256x32xi8>)
// BLOCKS: linalg.generic {{.*}} outs(%{{.*}} : tensor<512x2xi8>)
// BLOCKS-NEXT: ^bb0
// BLOCKS-NEXT: linalg.yield
// BLOCKS-NEXT: } -> tensor<512x2xi8>
// BLOCKS-NEXT: scf.forall.in_parallel
// CHECK-LABEL: func @in_blocks(
// CHECK-NOT: scf.forall
func.func @in_blocks(%block: tensor<73728xi8>) -> (tensor<65536xi8>, tensor<8192xi8>) {
  %0 = layout.assemble %block : tensor<73728xi8> to tensor<32x4096xf32, #blocks>
  %1 = layout.convert %0 : tensor<32x4096xf32, #blocks> to tensor<32x4096xf32, #dense>
  %2:2 = layout.streams %1 : tensor<32x4096xf32, #dense> to tensor<65536xi8>, tensor<8192xi8>
  return %2#0, %2#1 : tensor<65536xi8>, tensor<8192xi8>
}
