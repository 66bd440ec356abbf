// Check images through loops, private functions and reductions. The results are
// those of the same program on plain tensors on the CPU.

// REQUIRES: opencl-device
// RUN: sed -E 's/, #(img|flt)>/>/g; s/layout.convert/tensor.cast/; /^#/d' %s | layout-opt --layout-linalg-to-llvm -o %t.cpu.mlir
// RUN: layout-opt %s --layout-cpu-prepare-entry-points --layout-prepare-decompose-aggregates --canonicalize --convert-layout-to-gpu --lower-affine --canonicalize --cse --layout-gpu-to-opencl -o %t.device.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1] + '.x.npy', np.random.default_rng(3).standard_normal((2, 5, 4, 3)).astype('f4'))" %t
// RUN: layout-run %t.cpu.mlir %t.device.mlir --input=%t.x.npy --max-rel=1e-6

#img = #layout.rgba_image<in_out_channel, "NCHW">
func.func private @half(%x: tensor<2x5x4x3xf32, #img>) -> tensor<2x5x4x3xf32, #img> {
  %h = arith.constant dense<0.5> : tensor<2x5x4x3xf32, #img>
  %r = arith.mulf %x, %h : tensor<2x5x4x3xf32, #img>
  return %r : tensor<2x5x4x3xf32, #img>
}
func.func @main(%x0: tensor<2x5x4x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = layout.convert %x0 : tensor<2x5x4x3xf32> to tensor<2x5x4x3xf32, #img>
  %one = arith.constant dense<1.0> : tensor<2x5x4x3xf32, #img>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x) -> (tensor<2x5x4x3xf32, #img>) {
    %a = arith.addf %t, %one : tensor<2x5x4x3xf32, #img>
    %b = func.call @half(%a) : (tensor<2x5x4x3xf32, #img>) -> tensor<2x5x4x3xf32, #img>
    scf.yield %b : tensor<2x5x4x3xf32, #img>
  }
  %y = layout.convert %r : tensor<2x5x4x3xf32, #img> to tensor<2x5x4x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %s = linalg.reduce ins(%r : tensor<2x5x4x3xf32, #img>) outs(%f : tensor<2x5xf32>) dimensions = [2, 3]
    (%in: f32, %acc: f32) { %z = arith.addf %in, %acc : f32 linalg.yield %z : f32 }
  return %y, %s : tensor<2x5x4x3xf32>, tensor<2x5xf32>
}
