// Check that a scale of 1x64x1x1 has contiguous channels: trailing unit dims do not separate neighbors.
//
// RUN: layout-opt %s -layout-print-cost -o %t | FileCheck %s
// CHECK: ops: 1, cost 1646028
//
// The op is vectorized, too.
// RUN: layout-opt %s -convert-layout-to-linalg -layout-linalg-to-llvm | FileCheck %s --check-prefix=VECTORS
// VECTORS: llvm.fmul {{.*}} : vector<8xf32>

#nchw16c = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
#full = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (n, c, 0, 0)>
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @scale(%x: tensor<1x64x56x56xf32, #nchw16c>, %scale: tensor<1x64x1x1xf32>, %out: tensor<1x64x56x56xf32, #nchw16c>)
    -> tensor<1x64x56x56xf32, #nchw16c> {
  %r = linalg.generic {indexing_maps = [#full, #channel, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %scale : tensor<1x64x56x56xf32, #nchw16c>, tensor<1x64x1x1xf32>) outs(%out : tensor<1x64x56x56xf32, #nchw16c>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1x64x56x56xf32, #nchw16c>
  return %r : tensor<1x64x56x56xf32, #nchw16c>
}
}
