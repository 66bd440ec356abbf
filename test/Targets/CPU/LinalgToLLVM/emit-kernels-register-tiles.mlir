// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, vector_bits = 512, vector_registers = 32>}},func.func(layout-cpu-emit-kernels,canonicalize,cse))" | FileCheck %s

// 14 pixels and 2 vectors of output channels: 28 accumulators, the weights, and
// one pixel at a time, followed by the two products that read it.
// CHECK-LABEL: func.func @pixels_by_channels
// CHECK: scf.for {{.*}} -> (vector<16xf32>{{(, vector<16xf32>){27} *}})
// CHECK: %[[PIXEL:.*]] = vector.broadcast
// CHECK-NOT: vector.broadcast
// CHECK: arith.mulf %[[PIXEL]]
// CHECK-NOT: vector.broadcast
// CHECK: arith.mulf %[[PIXEL]]
// CHECK: vector.broadcast
#in = affine_map<(o1, h, w, i1, i0, o0) -> (i1, h, w, i0)>
#weight = affine_map<(o1, h, w, i1, i0, o0) -> (o1, i1, i0, o0)>
#out = affine_map<(o1, h, w, i1, i0, o0) -> (o1, h, w, o0)>
func.func @pixels_by_channels(%x: tensor<4x14x14x16xf32>, %k: tensor<4x4x16x16xf32>,
                              %acc: tensor<4x14x14x16xf32>) -> tensor<4x14x14x16xf32> {
  %r = linalg.generic {indexing_maps = [#in, #weight, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %k : tensor<4x14x14x16xf32>, tensor<4x4x16x16xf32>) outs(%acc : tensor<4x14x14x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x14x14x16xf32>
  return %r : tensor<4x14x14x16xf32>
}

// -----

// A pixel that the next step reads for its neighbor stays in a register: of 28
// pixels in a row, 14 are accumulated at a time.
// CHECK-LABEL: func.func @windows_of_neighbors
// CHECK: scf.for {{.*}} -> (vector<16xf32>{{(, vector<16xf32>){13} *}})
#in = affine_map<(c1, h, w, kh, kw, c0) -> (c1, h + kh, w + kw, c0)>
#weight = affine_map<(c1, h, w, kh, kw, c0) -> (c1, kh, kw, c0)>
#out = affine_map<(c1, h, w, kh, kw, c0) -> (c1, h, w, c0)>
func.func @windows_of_neighbors(%x: tensor<2x30x30x16xf32>, %k: tensor<2x3x3x16xf32>,
                                %acc: tensor<2x28x28x16xf32>) -> tensor<2x28x28x16xf32> {
  %r = linalg.generic {indexing_maps = [#in, #weight, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %k : tensor<2x30x30x16xf32>, tensor<2x3x3x16xf32>) outs(%acc : tensor<2x28x28x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x28x28x16xf32>
  return %r : tensor<2x28x28x16xf32>
}

// -----

// Rows of 56 pixels are not aligned to lines: 6 output channels share the vectors of one row, two loads each.
// CHECK-LABEL: func.func @rows_that_are_not_aligned
// CHECK: scf.for {{.*}} -> (vector<{{16|8}}xf32>{{(, vector<(16|8)xf32>){23} *}})
// CHECK-COUNT-4: vector.transfer_read
// CHECK-NOT: vector.transfer_read
// CHECK: scf.yield
#in = affine_map<(o, h, w, i, kh) -> (i, h + kh, w)>
#weight = affine_map<(o, h, w, i, kh) -> (o, i, kh)>
#out = affine_map<(o, h, w, i, kh) -> (o, h, w)>
func.func @rows_that_are_not_aligned(%x: tensor<256x57x56xf32>, %k: tensor<64x256x2xf32>,
                                     %acc: tensor<64x56x56xf32>) -> tensor<64x56x56xf32> {
  %r = linalg.generic {indexing_maps = [#in, #weight, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %k : tensor<256x57x56xf32>, tensor<64x256x2xf32>) outs(%acc : tensor<64x56x56xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x56x56xf32>
  return %r : tensor<64x56x56xf32>
}

// -----

// 196 pixels are 12 vectors and a quarter, which no tile divides: the output
// channels are not tiled as well, though 5 of them would share more vectors.
// CHECK-LABEL: func.func @one_dim_is_cut
// CHECK: scf.for {{.*}} -> (vector<16xf32>{{(, vector<16xf32>){23} *}})
#image = affine_map<(o, p, i) -> (i, p)>
#matrix = affine_map<(o, p, i) -> (o, i)>
#result = affine_map<(o, p, i) -> (o, p)>
func.func @one_dim_is_cut(%x: tensor<256x196xf32>, %k: tensor<1024x256xf32>,
                          %acc: tensor<1024x196xf32>) -> tensor<1024x196xf32> {
  %r = linalg.generic {indexing_maps = [#image, #matrix, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %k : tensor<256x196xf32>, tensor<1024x256xf32>) outs(%acc : tensor<1024x196xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<1024x196xf32>
  return %r : tensor<1024x196xf32>
}

// -----

// The columns of the right operand that one tile reads stay in L2 while all
// rows of the left operand are read, so the loop over columns is outside.
// CHECK-LABEL: func.func @panel_that_stays
// CHECK: scf.for %{{.*}} = %c0 to %c768
// CHECK: scf.for %{{.*}} = %c0 to %c128
// CHECK: scf.for %{{.*}} = %c0 to %c1000
func.func @panel_that_stays(%x: tensor<128x1000xf32>, %y: tensor<1000x768xf32>,
                            %acc: tensor<128x768xf32>) -> tensor<128x768xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<128x1000xf32>, tensor<1000x768xf32>)
      outs(%acc : tensor<128x768xf32>) -> tensor<128x768xf32>
  return %r : tensor<128x768xf32>
}

// -----

// Rows that are 4096 bytes apart share the sets of L1, which holds few of them:
// 6 rows and not 12 are multiplied with 2 vectors.
// CHECK-LABEL: func.func @rows_that_collide
// CHECK: scf.for {{.*}} -> (vector<16xf32>{{(, vector<16xf32>){11} *}})
func.func @rows_that_collide(%x: tensor<48x1024xf32>, %y: tensor<1024x32xf32>,
                             %acc: tensor<48x32xf32>) -> tensor<48x32xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<48x1024xf32>, tensor<1024x32xf32>)
      outs(%acc : tensor<48x32xf32>) -> tensor<48x32xf32>
  return %r : tensor<48x32xf32>
}

// -----

// The LLC reads 3 blocks of weights per row of 7 pixels as fast as they are multiplied.
// CHECK-LABEL: func.func @weights_of_the_last_cache
// CHECK: scf.for {{.*}} -> (vector<16xf32>{{(, vector<16xf32>){20} *}})
#in = affine_map<(o1, h, w, o0, i, kh, kw) -> (i, h + kh, w + kw)>
#weight = affine_map<(o1, h, w, o0, i, kh, kw) -> (o1, i, kh, kw, o0)>
#out = affine_map<(o1, h, w, o0, i, kh, kw) -> (o1, h, w, o0)>
func.func @weights_of_the_last_cache(%x: tensor<512x9x9xf32>, %k: tensor<32x512x3x3x16xf32>,
                                     %acc: tensor<32x7x7x16xf32>) -> tensor<32x7x7x16xf32> {
  %r = linalg.generic {indexing_maps = [#in, #weight, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<512x9x9xf32>, tensor<32x512x3x3x16xf32>) outs(%acc : tensor<32x7x7x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<32x7x7x16xf32>
  return %r : tensor<32x7x7x16xf32>
}
