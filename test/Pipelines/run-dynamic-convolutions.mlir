// Check convolutions with dynamic height and width, including a 1x1 filter: they run in the layouts that the assignment
// chooses, and the results are those of a convolution written in numpy.

// RUN: rm -rf %t && mkdir -p %t
// RUN: layout-opt %s --layout-to-cpu="target={#layout.cpu<lanes = 16, assumed_size = 8>}" -o %t/laid-out.mlir
// RUN: %python %S/Inputs/dynamic_convolutions.py inputs %t
// RUN: layout-run %t/laid-out.mlir --opt-level=0 --function=three --input=%t/three.x.npy --output=%t/three.y.npy
// RUN: layout-run %t/laid-out.mlir --opt-level=0 --function=nhwc --input=%t/nhwc.x.npy --input=%t/nhwc.w.npy --output=%t/nhwc.y.npy
// RUN: layout-run %t/laid-out.mlir --opt-level=0 --function=stated --input=%t/stated.x.npy --output=%t/stated.y.npy
// RUN: layout-run %t/laid-out.mlir --opt-level=0 --function=stem --input=%t/stem.x.npy --input=%t/stem.w.npy --output=%t/stem.y.npy
// RUN: layout-run %t/laid-out.mlir --opt-level=0 --function=cut --input=%t/cut.x.npy --output=%t/cut.y.npy
// RUN: %python %S/Inputs/dynamic_convolutions.py check %t | FileCheck %s --check-prefix=SAME
// SAME: 5 of 5 as in numpy

// The 1x1 convolution runs on blocks.
// RUN: layout-opt --mlir-print-local-scope %s --layout-assign="target={#layout.cpu<lanes = 16, assumed_size = 8>}" | FileCheck %s
// CHECK-LABEL: func.func @three
// CHECK-COUNT-2: linalg.conv_2d_nchw_fchw
// CHECK: linalg.conv_2d_nchw_fchw ins({{.*}} : tensor<?x32x?x?xf32, #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>>, tensor<32x32x1x1xf32

#nchw16c = #layout.blocked<"NCHW" to "NCHW16c">

func.func @three(%x: tensor<?x3x?x?xf32>) -> tensor<?x32x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x3x?x?xf32>
  %h = tensor.dim %x, %c2 : tensor<?x3x?x?xf32>
  %v = tensor.dim %x, %c3 : tensor<?x3x?x?xf32>
  %h2 = arith.subi %h, %c2 : index
  %v2 = arith.subi %v, %c2 : index
  %h4 = arith.subi %h2, %c2 : index
  %v4 = arith.subi %v2, %c2 : index
  %w0 = arith.constant dense<0.5> : tensor<16x3x3x3xf32>
  %w1 = arith.constant dense<0.25> : tensor<32x16x3x3xf32>
  %w2 = arith.constant dense<0.125> : tensor<32x32x1x1xf32>
  %o1 = tensor.empty(%n, %h2, %v2) : tensor<?x16x?x?xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%o1 : tensor<?x16x?x?xf32>) -> tensor<?x16x?x?xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w0 : tensor<?x3x?x?xf32>, tensor<16x3x3x3xf32>) outs(%f1 : tensor<?x16x?x?xf32>) -> tensor<?x16x?x?xf32>
  %o2 = tensor.empty(%n, %h4, %v4) : tensor<?x32x?x?xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%o2 : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%a, %w1 : tensor<?x16x?x?xf32>, tensor<32x16x3x3xf32>) outs(%f2 : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%b, %w2 : tensor<?x32x?x?xf32>, tensor<32x32x1x1xf32>) outs(%f2 : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  return %r : tensor<?x32x?x?xf32>
}

// The image is in NHWC order.
func.func @nhwc(%x: tensor<?x?x?x16xf32>, %w: tensor<32x16x1x1xf32>) -> tensor<?x32x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x?x16xf32>
  %h = tensor.dim %x, %c1 : tensor<?x?x?x16xf32>
  %v = tensor.dim %x, %c2 : tensor<?x?x?x16xf32>
  %e = tensor.empty(%n, %h, %v) : tensor<?x16x?x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x?x?x16xf32>) outs(%e : tensor<?x16x?x?xf32>) permutation = [0, 3, 1, 2]
  %o = tensor.empty(%n, %h, %v) : tensor<?x32x?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%t, %w : tensor<?x16x?x?xf32>, tensor<32x16x1x1xf32>) outs(%f : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  return %r : tensor<?x32x?x?xf32>
}

// A layout that the program states.
func.func @stated(%x: tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?x32x?x?xf32>
  %h = tensor.dim %x, %c2 : tensor<?x32x?x?xf32>
  %v = tensor.dim %x, %c3 : tensor<?x32x?x?xf32>
  %z = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<32x32x1x1xf32>
  %o = tensor.empty(%n, %h, %v) : tensor<?x32x?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw {layout.operand_layouts = [#nchw16c, unit, unit]} ins(%x, %w : tensor<?x32x?x?xf32>, tensor<32x32x1x1xf32>) outs(%f : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  return %r : tensor<?x32x?x?xf32>
}

// The first layers of a detector: strides, padding, an activation, a 1x1 filter.
func.func @stem(%x: tensor<?x16x?x?xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<?x32x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %w1 = arith.constant dense<0.125> : tensor<32x32x1x1xf32>
  %bias = arith.constant dense<0.5> : tensor<32xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<?x16x?x?xf32> to tensor<?x16x?x?xf32>
  %n = tensor.dim %x, %c0 : tensor<?x16x?x?xf32>
  %hx = tensor.dim %x, %c2 : tensor<?x16x?x?xf32>
  %vx = tensor.dim %x, %c3 : tensor<?x16x?x?xf32>
  %h1 = arith.subi %hx, %c1 : index
  %v1 = arith.subi %vx, %c1 : index
  %h2 = arith.floordivsi %h1, %c2 : index
  %v2 = arith.floordivsi %v1, %c2 : index
  %h = arith.addi %h2, %c1 : index
  %v = arith.addi %v2, %c1 : index
  %e = tensor.empty(%n, %h, %v) : tensor<?x32x?x?xf32>
  %b = linalg.broadcast ins(%bias : tensor<32xf32>) outs(%e : tensor<?x32x?x?xf32>) dimensions = [0, 2, 3]
  %a = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%p, %w : tensor<?x16x?x?xf32>, tensor<32x16x3x3xf32>) outs(%b : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a : tensor<?x32x?x?xf32>) outs(%e : tensor<?x32x?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %in, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x32x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%s, %w1 : tensor<?x32x?x?xf32>, tensor<32x32x1x1xf32>) outs(%b : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  return %r : tensor<?x32x?x?xf32>
}

// The result has fewer rows than the image, whose last rows are not read.
func.func @cut(%x: tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?x32x?x?xf32>
  %h = tensor.dim %x, %c2 : tensor<?x32x?x?xf32>
  %v = tensor.dim %x, %c3 : tensor<?x32x?x?xf32>
  %less = arith.subi %h, %c2 : index
  %z = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<32x32x1x1xf32>
  %o = tensor.empty(%n, %less, %v) : tensor<?x32x?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw {layout.operand_layouts = [#nchw16c, unit, #nchw16c], layout.result_layouts = [#nchw16c]} ins(%x, %w : tensor<?x32x?x?xf32>, tensor<32x32x1x1xf32>) outs(%f : tensor<?x32x?x?xf32>) -> tensor<?x32x?x?xf32>
  return %r : tensor<?x32x?x?xf32>
}
