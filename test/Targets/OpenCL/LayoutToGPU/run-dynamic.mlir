// Check dynamic sizes, including one and zero. The results are those of the
// same program on plain tensors on the CPU.

// REQUIRES: opencl-device
// RUN: sed -E 's/, #(img|flt)>/>/g; s/layout.convert/tensor.cast/; /^#/d' %s | layout-opt --layout-linalg-to-llvm -o %t.cpu.mlir
// RUN: layout-opt %s --layout-cpu-prepare-entry-points --layout-prepare-decompose-aggregates --canonicalize --convert-layout-to-gpu --lower-affine --canonicalize --cse --layout-gpu-to-opencl -o %t.device.mlir
// RUN: %python -c "import numpy as np, sys; r = np.random.default_rng(3); t = sys.argv[1]; [np.save(t + n, r.standard_normal(s).astype('f4')) for n, s in (('.w.npy', (6, 7)), ('.a.npy', (3, 6, 5)), ('.b.npy', (1, 6, 1)), ('.c.npy', (0, 6, 4)))]" %t
// RUN: layout-run %t.cpu.mlir %t.device.mlir --input=%t.a.npy --input=%t.w.npy --max-rel=1e-6
// RUN: layout-run %t.cpu.mlir %t.device.mlir --input=%t.b.npy --input=%t.w.npy --max-rel=1e-6
// RUN: layout-run %t.cpu.mlir %t.device.mlir --input=%t.c.npy --input=%t.w.npy --max-rel=1e-6

func.func @main(%x: tensor<?x6x?xf32>, %w: tensor<6x7xf32>) -> (tensor<?x6x?xf32>, tensor<?x7xf32>, tensor<?x8x?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x6x?xf32>
  %y = math.tanh %x : tensor<?x6x?xf32>
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  %s = linalg.reduce ins(%y : tensor<?x6x?xf32>) outs(%f : tensor<?x6xf32>) dimensions = [2]
    (%in: f32, %acc: f32) { %z = arith.addf %in, %acc : f32 linalg.yield %z : f32 }
  %e2 = tensor.empty(%n) : tensor<?x7xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x7xf32>) -> tensor<?x7xf32>
  %m = linalg.matmul ins(%s, %w : tensor<?x6xf32>, tensor<6x7xf32>) outs(%f2 : tensor<?x7xf32>) -> tensor<?x7xf32>
  %p = tensor.pad %y low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<?x6x?xf32> to tensor<?x8x?xf32>
  return %y, %m, %p : tensor<?x6x?xf32>, tensor<?x7xf32>, tensor<?x8x?xf32>
}
