// Check concatenations at channels that split a pixel, slices, insertions, a resize, reshapes and softmax. The results
// are those of the same program on plain tensors on the CPU.

// REQUIRES: opencl-device
// RUN: sed -E 's/, #(img|flt)>/>/g; s/layout.convert/tensor.cast/; /^#/d' %s | layout-opt --layout-linalg-to-llvm -o %t.cpu.mlir
// RUN: layout-opt %s --layout-cpu-prepare-entry-points --layout-prepare-decompose-aggregates --canonicalize --convert-layout-to-gpu --lower-affine --canonicalize --cse --layout-gpu-to-opencl -o %t.device.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1] + '.x.npy', np.random.default_rng(3).standard_normal((2, 6, 8, 5)).astype('f4'))" %t
// RUN: layout-run %t.cpu.mlir %t.device.mlir --input=%t.x.npy --max-rel=1e-6

#img = #layout.rgba_image<in_out_channel, "NCHW">
func.func @main(%x0: tensor<2x6x8x5xf32>) -> (tensor<2x14x8x5xf32>, tensor<2x6x4x5xf32>, tensor<2x6x16x10xf32>, tensor<2x6x8x5xf32>, tensor<2x6x40xf32>, tensor<2x6x8x5xf32>) {
  %x = layout.convert %x0 : tensor<2x6x8x5xf32> to tensor<2x6x8x5xf32, #img>
  %one = arith.constant dense<1.0> : tensor<2x8x8x5xf32, #img>
  %cc = tensor.concat dim(1) %x, %one : (tensor<2x6x8x5xf32, #img>, tensor<2x8x8x5xf32, #img>) -> tensor<2x14x8x5xf32, #img>
  %cr = layout.convert %cc : tensor<2x14x8x5xf32, #img> to tensor<2x14x8x5xf32>
  %sl = tensor.extract_slice %x[0, 0, 1, 0] [2, 6, 4, 5] [1, 1, 2, 1] : tensor<2x6x8x5xf32, #img> to tensor<2x6x4x5xf32, #img>
  %sr = layout.convert %sl : tensor<2x6x4x5xf32, #img> to tensor<2x6x4x5xf32>
  %re = tensor.empty() : tensor<2x6x16x10xf32, #img>
  %rs = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h floordiv 2, w floordiv 2)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<2x6x8x5xf32, #img>) outs(%re : tensor<2x6x16x10xf32, #img>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x6x16x10xf32, #img>
  %rr = layout.convert %rs : tensor<2x6x16x10xf32, #img> to tensor<2x6x16x10xf32>
  %ins = tensor.insert_slice %sl into %x[0, 0, 2, 0] [2, 6, 4, 5] [1, 1, 1, 1] : tensor<2x6x4x5xf32, #img> into tensor<2x6x8x5xf32, #img>
  %ir = layout.convert %ins : tensor<2x6x8x5xf32, #img> to tensor<2x6x8x5xf32>
  %col = tensor.collapse_shape %x0 [[0], [1], [2, 3]] : tensor<2x6x8x5xf32> into tensor<2x6x40xf32>
  %em = tensor.empty() : tensor<2x6x8x5xf32>
  %sm = linalg.softmax dimension(1) ins(%x0 : tensor<2x6x8x5xf32>) outs(%em : tensor<2x6x8x5xf32>) -> tensor<2x6x8x5xf32>
  return %cr, %sr, %rr, %ir, %col, %sm : tensor<2x14x8x5xf32>, tensor<2x6x4x5xf32>, tensor<2x6x16x10xf32>, tensor<2x6x8x5xf32>, tensor<2x6x40xf32>, tensor<2x6x8x5xf32>
}
