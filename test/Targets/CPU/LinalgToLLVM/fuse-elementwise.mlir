// RUN: layout-opt %s -split-input-file -layout-cpu-fuse-elementwise | FileCheck %s

// A chain with one user each becomes one op.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.addf
// CHECK: math.exp
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %s = linalg.add ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.exp ins(%s : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// A late fusion that adds operands does not prevent other fusions of the chain.
// CHECK-LABEL: func.func @normalized
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK-NOT: linalg.generic
#id = affine_map<(c, h, l) -> (c, h, l)>
#channel = affine_map<(c, h, l) -> (c, 0, l)>
func.func @normalized(%x: tensor<4x9x8xf32>, %mean: tensor<4x1x8xf32>, %scale: tensor<4x1x8xf32>,
                      %weight: tensor<4x1x8xf32>, %bias: tensor<4x1x8xf32>) -> tensor<4x9x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x9x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %mean : tensor<4x9x8xf32>, tensor<4x1x8xf32>) outs(%e : tensor<4x9x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x9x8xf32>
  %n = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %scale : tensor<4x9x8xf32>, tensor<4x1x8xf32>) outs(%e : tensor<4x9x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x9x8xf32>
  %w = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%n, %weight : tensor<4x9x8xf32>, tensor<4x1x8xf32>) outs(%e : tensor<4x9x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x9x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %bias : tensor<4x9x8xf32>, tensor<4x1x8xf32>) outs(%e : tensor<4x9x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x9x8xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<4x9x8xf32>) outs(%e : tensor<4x9x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x9x8xf32>
  return %m : tensor<4x9x8xf32>
}

// -----

// A producer with fewer iterations than its consumer would be recomputed for
// every row.
// CHECK-LABEL: func.func @per_row
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @per_row(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  %e1 = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %s = linalg.exp ins(%y : tensor<8xf32>) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.broadcast ins(%s : tensor<8xf32>) outs(%e : tensor<4x8xf32>) dimensions = [0]
  %r = linalg.mul ins(%x, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// A value with two users is computed once.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-3: linalg.generic
func.func @shared(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %s = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = linalg.abs ins(%s : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = linalg.sqrt ins(%s : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @transposed
// CHECK: linalg.transpose
// CHECK: linalg.generic
func.func @transposed(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %r = linalg.exp ins(%t : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// Ops before and after a grouped convolution are fused with its groups.
// CHECK-LABEL: func.func @groups
// CHECK: %[[BIAS:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
// CHECK: %[[START:.*]] = linalg.generic {{.*}} ins(%[[BIAS]] : tensor<2x3xf32>) outs(%{{.*}} : tensor<1x2x3x5x5xf32>)
// CHECK: %[[SUM:.*]] = linalg.conv_2d_ngchw_gfchw {{.*}} outs(%[[START]] : tensor<1x2x3x5x5xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<1x2x3x5x5xf32>)
// CHECK: tensor.collapse_shape
func.func @groups(%x: tensor<1x2x4x5x5xf32>, %w: tensor<2x3x4x1x1xf32>, %bias: tensor<6xf32>) -> tensor<1x6x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x6x5x5xf32>
  %b = linalg.broadcast ins(%bias : tensor<6xf32>) outs(%e : tensor<1x6x5x5xf32>) dimensions = [0, 2, 3]
  %start = tensor.expand_shape %b [[0], [1, 2], [3], [4]] output_shape [1, 2, 3, 5, 5] : tensor<1x6x5x5xf32> into tensor<1x2x3x5x5xf32>
  %c = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%x, %w : tensor<1x2x4x5x5xf32>, tensor<2x3x4x1x1xf32>) outs(%start : tensor<1x2x3x5x5xf32>) -> tensor<1x2x3x5x5xf32>
  %s = tensor.collapse_shape %c [[0], [1, 2], [3], [4]] : tensor<1x2x3x5x5xf32> into tensor<1x6x5x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<1x6x5x5xf32>) outs(%e : tensor<1x6x5x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %max = arith.maximumf %in, %zero : f32
    linalg.yield %max : f32
  } -> tensor<1x6x5x5xf32>
  return %r : tensor<1x6x5x5xf32>
}
