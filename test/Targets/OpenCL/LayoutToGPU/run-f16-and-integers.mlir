// Check half precision and integers: channels of which a last pixel is partial, remainders of the smallest number, and
// divisions over zero padding. The results are those of the same program on plain tensors on the CPU.

// REQUIRES: opencl-device
// RUN: sed -E 's/, #(img|flt)>/>/g; s/layout.convert/tensor.cast/; /^#/d' %s | layout-opt --layout-linalg-to-llvm -o %t.cpu.mlir
// RUN: layout-opt %s --layout-cpu-prepare-entry-points --layout-prepare-decompose-aggregates --canonicalize --convert-layout-to-gpu --lower-affine --canonicalize --cse --layout-gpu-to-opencl -o %t.device.mlir
// RUN: %python -c "import numpy as np, sys; r = np.random.default_rng(3); t = sys.argv[1]; np.save(t + '.x.npy', r.standard_normal((3, 5, 6, 7)).astype('f2')); np.save(t + '.w.npy', (r.standard_normal((6, 5, 3, 3)) / 6).astype('f2')); np.save(t + '.q.npy', r.integers(-128, 128, (3, 5, 6, 7)).astype('i1')); np.save(t + '.i.npy', r.integers(-100, 100, (3, 5, 6, 7)).astype('i4'))" %t
// RUN: layout-run %t.cpu.mlir %t.device.mlir --input=%t.x.npy --input=%t.w.npy --input=%t.q.npy --input=%t.i.npy --max-rel=1e-2

#img = #layout.rgba_image<in_out_channel, "NCHW">
#flt = #layout.rgba_image<conv2d_filter>
func.func @main(%x0: tensor<3x5x6x7xf16>, %w0: tensor<6x5x3x3xf16>, %q0: tensor<3x5x6x7xi8>, %i0: tensor<3x5x6x7xi32>) -> (tensor<3x6x4x5xf16>, tensor<3x5x6x7xi8>, tensor<3x5x6x7xi32>, tensor<3x5x6x7xf32>) {
  %zero = arith.constant 0.0 : f16
  %x = layout.convert %x0 : tensor<3x5x6x7xf16> to tensor<3x5x6x7xf16, #img>
  %w = layout.convert %w0 : tensor<6x5x3x3xf16> to tensor<6x5x3x3xf16, #flt>
  %e = tensor.empty() : tensor<3x6x4x5xf16, #img>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<3x6x4x5xf16, #img>) -> tensor<3x6x4x5xf16, #img>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<3x5x6x7xf16, #img>, tensor<6x5x3x3xf16, #flt>)
                                outs(%f : tensor<3x6x4x5xf16, #img>) -> tensor<3x6x4x5xf16, #img>
  %s = math.tanh %c : tensor<3x6x4x5xf16, #img>
  %y = layout.convert %s : tensor<3x6x4x5xf16, #img> to tensor<3x6x4x5xf16>
  %q = layout.convert %q0 : tensor<3x5x6x7xi8> to tensor<3x5x6x7xi8, #img>
  %qq = arith.addi %q, %q : tensor<3x5x6x7xi8, #img>
  %k = arith.constant dense<7> : tensor<3x5x6x7xi8, #img>
  %qm = arith.remsi %qq, %k : tensor<3x5x6x7xi8, #img>
  %qy = layout.convert %qm : tensor<3x5x6x7xi8, #img> to tensor<3x5x6x7xi8>
  %i = layout.convert %i0 : tensor<3x5x6x7xi32> to tensor<3x5x6x7xi32, #img>
  %ext = arith.extsi %q : tensor<3x5x6x7xi8, #img> to tensor<3x5x6x7xi32, #img>
  %one = arith.constant dense<1> : tensor<3x5x6x7xi32, #img>
  %den = arith.maxsi %i, %one : tensor<3x5x6x7xi32, #img>
  %d = arith.divsi %ext, %den : tensor<3x5x6x7xi32, #img>
  %dy = layout.convert %d : tensor<3x5x6x7xi32, #img> to tensor<3x5x6x7xi32>
  %g = arith.cmpi sgt, %ext, %i : tensor<3x5x6x7xi32, #img>
  %fa = arith.sitofp %ext : tensor<3x5x6x7xi32, #img> to tensor<3x5x6x7xf32, #img>
  %fb = arith.sitofp %i : tensor<3x5x6x7xi32, #img> to tensor<3x5x6x7xf32, #img>
  %sel = arith.select %g, %fa, %fb : tensor<3x5x6x7xi1, #img>, tensor<3x5x6x7xf32, #img>
  %sy = layout.convert %sel : tensor<3x5x6x7xf32, #img> to tensor<3x5x6x7xf32>
  return %y, %qy, %dy, %sy : tensor<3x6x4x5xf16>, tensor<3x5x6x7xi8>, tensor<3x5x6x7xi32>, tensor<3x5x6x7xf32>
}
