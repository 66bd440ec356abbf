// Check dynamic batch, height and width: convolutions in images with several pixels of a row per work-item, of which
// the last ones may be past the end of the row. The results are those of the same program on plain tensors on the CPU.

// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl<assumed_size = 24, fewest_items = 1>} kernels-only' --remarks-filter=convert-layout-to-gpu --remark-format=emitRemark -o - 2>&1 | FileCheck %s
// CHECK: in loops) and {{.*}} buffer reads for each item of 8 pixels
// CHECK: gpu.alloc {{.*}} memref<?x?xvector<4xf32>, "image2d">

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.cpu.mlir
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl<assumed_size = 24, fewest_items = 1>}' -o %t.device.mlir
// RUN: %python -c "import numpy as np, sys; r = np.random.default_rng(3); t = sys.argv[1]; [np.save(t + n, 0.1 * r.standard_normal(s).astype('f4')) for n, s in (('.w.npy', (8, 3, 3, 3)), ('.v.npy', (8, 3, 3)), ('.a.npy', (2, 3, 37, 53)), ('.b.npy', (1, 3, 1, 1)), ('.c.npy', (3, 3, 8, 16)), ('.d.npy', (0, 3, 5, 6)), ('.e.npy', (1, 3, 2, 70)))]" %t
// RUN: %python -c "import sys; t = sys.argv[1]; open(t + '.cases', 'w').writelines(f'{t}.{k}.npy {t}.w.npy {t}.v.npy\n' for k in 'abcde')" %t
// RUN: layout-run %t.cpu.mlir %t.device.mlir --cases=%t.cases --max-rel=1e-5

func.func @main(%x: tensor<?x3x?x?xf32>, %w: tensor<8x3x3x3xf32>, %v: tensor<8x3x3xf32>) -> tensor<?x8x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x3x?x?xf32>
  %h = tensor.dim %x, %c2 : tensor<?x3x?x?xf32>
  %wd = tensor.dim %x, %c3 : tensor<?x3x?x?xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<?x3x?x?xf32> to tensor<?x3x?x?xf32>
  %hm = arith.subi %h, %c1 : index
  %hd = arith.divsi %hm, %c2 : index
  %ho = arith.addi %hd, %c1 : index
  %wm = arith.subi %wd, %c1 : index
  %wv = arith.divsi %wm, %c2 : index
  %wo = arith.addi %wv, %c1 : index
  %e = tensor.empty(%n, %ho, %wo) : tensor<?x8x?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>} ins(%p, %w : tensor<?x3x?x?xf32>, tensor<8x3x3x3xf32>) outs(%f : tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32>
  %e2 = tensor.empty(%n, %ho, %wo) : tensor<?x8x?x?xf32>
  %f2 = linalg.exp ins(%r : tensor<?x8x?x?xf32>) outs(%e2 : tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32>
  %p2 = tensor.pad %f2 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<?x8x?x?xf32> to tensor<?x8x?x?xf32>
  %e3 = tensor.empty(%n, %ho, %wo) : tensor<?x8x?x?xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32>
  %g = linalg.depthwise_conv_2d_nchw_chw ins(%p2, %v : tensor<?x8x?x?xf32>, tensor<8x3x3xf32>) outs(%f3 : tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32>
  return %g : tensor<?x8x?x?xf32>
}
