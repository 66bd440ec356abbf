// Check one kernel for images of all dynamic sizes, including one and zero, against the CPU.

// REQUIRES: opencl-device
// RUN: sed -E 's/, #(img|flt)>/>/g; s/layout.convert/tensor.cast/; /^#/d' %s | layout-opt --layout-linalg-to-llvm -o %t.cpu.mlir
// RUN: layout-opt %s --layout-cpu-prepare-entry-points --layout-prepare-decompose-aggregates --canonicalize --convert-layout-to-gpu --lower-affine --canonicalize --cse --layout-gpu-to-opencl -o %t.device.mlir
// RUN: %python -c "import numpy as np, sys; r = np.random.default_rng(3); t = sys.argv[1]; [np.save(t + n, r.standard_normal(s).astype('f4')) for n, s in (('.w.npy', (6, 5, 3, 3)), ('.a.npy', (2, 5, 7, 4)), ('.b.npy', (1, 5, 1, 1)), ('.c.npy', (3, 5, 0, 4)), ('.d.npy', (1, 5, 9, 11)), ('.e.npy', (1, 5, 1, 16385)))]" %t
// RUN: %python -c "import sys; t = sys.argv[1]; open(t + '.cases', 'w').writelines(f'{t}.{k}.npy {t}.w.npy\n' for k in 'abcd')" %t
// RUN: layout-run %t.cpu.mlir %t.device.mlir --cases=%t.cases --max-rel=1e-5

// More pixels in a row than the device supports.
// RUN: not layout-run %t.device.mlir --input=%t.e.npy --input=%t.w.npy 2>&1 | FileCheck %s
// CHECK: failed: image2d of 32770 x 1 {{.*}}pixels of {{.*}} is beyond the limit of {{.*}}; choose another image map, or a buffer

#img = #layout.rgba_image<in_out_channel, "NCHW">
#flt = #layout.rgba_image<conv2d_filter>
func.func @main(%x0: tensor<?x5x?x?xf32>, %w0: tensor<6x5x3x3xf32>) -> (tensor<?x6x?x?xf32>, tensor<?x10x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %x = layout.convert %x0 : tensor<?x5x?x?xf32> to tensor<?x5x?x?xf32, #img>
  %w = layout.convert %w0 : tensor<6x5x3x3xf32> to tensor<6x5x3x3xf32, #flt>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<?x5x?x?xf32, #img> to tensor<?x5x?x?xf32, #img>
  %n = tensor.dim %x, %c0 : tensor<?x5x?x?xf32, #img>
  %h = tensor.dim %x, %c2 : tensor<?x5x?x?xf32, #img>
  %v = tensor.dim %x, %c3 : tensor<?x5x?x?xf32, #img>
  %e = tensor.empty(%n, %h, %v) : tensor<?x6x?x?xf32, #img>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6x?x?xf32, #img>) -> tensor<?x6x?x?xf32, #img>
  %c = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<?x5x?x?xf32, #img>, tensor<6x5x3x3xf32, #flt>)
                                outs(%f : tensor<?x6x?x?xf32, #img>) -> tensor<?x6x?x?xf32, #img>
  %t = math.tanh %c : tensor<?x6x?x?xf32, #img>
  %y = layout.convert %t : tensor<?x6x?x?xf32, #img> to tensor<?x6x?x?xf32>
  %cc = tensor.concat dim(1) %x, %x : (tensor<?x5x?x?xf32, #img>, tensor<?x5x?x?xf32, #img>) -> tensor<?x10x?x?xf32, #img>
  %z = layout.convert %cc : tensor<?x10x?x?xf32, #img> to tensor<?x10x?x?xf32>
  return %y, %z : tensor<?x6x?x?xf32>, tensor<?x10x?x?xf32>
}
