// Check constants whose storage on the device differs from the program: i1, in
// bytes of a pixel with stated padding, and an empty one.

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-cpu-prepare-entry-points --convert-layout-to-gpu --lower-affine --canonicalize --cse --layout-gpu-to-opencl -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; np.save(t + '.x.npy', np.arange(10, dtype='f4').reshape(1, 5, 2, 1)); np.save(t + '.y.npy', -np.arange(10, dtype='f4').reshape(1, 5, 2, 1))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.r.npy --output=%t.u.npy --output=%t.c.npy
// RUN: %python -c "import numpy as np, sys; [print(np.load(sys.argv[1] + n).ravel().tolist()) for n in ('.r.npy', '.u.npy', '.c.npy')]" %t | FileCheck %s

// CHECK: [0.0, -1.0, 2.0, 3.0, -4.0, -5.0, 6.0, 7.0, 8.0, -9.0]
// Pixels [c / 4][w][n][h], four lanes each: three of the last ones are padding.
// CHECK: [1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1]
// CHECK: [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]

#img = #layout.padded<#layout.rgba_image<in_out_channel, "NCHW">, true>
func.func @main(%x: tensor<1x5x2x1xf32>, %y: tensor<1x5x2x1xf32>) -> (tensor<1x5x2x1xf32>, tensor<2x1x1x2x4xi8>, tensor<1x5x2x1xf32>) {
  %m = arith.constant dense<[[[[true], [false]], [[true], [true]], [[false], [false]], [[true], [true]], [[true], [false]]]]> : tensor<1x5x2x1xi1, #img>
  %s = layout.convert %m : tensor<1x5x2x1xi1, #img> to tensor<1x5x2x1xi1>
  %r = arith.select %s, %x, %y : tensor<1x5x2x1xi1>, tensor<1x5x2x1xf32>
  %v = layout.storage_view %m : tensor<1x5x2x1xi1, #img> to tensor<2x1x1x2x4xi1>
  %u = arith.extui %v : tensor<2x1x1x2x4xi1> to tensor<2x1x1x2x4xi8>
  %none = arith.constant dense<> : tensor<1x0x2x1xf32>
  %c = tensor.concat dim(1) %none, %x : (tensor<1x0x2x1xf32>, tensor<1x5x2x1xf32>) -> tensor<1x5x2x1xf32>
  return %r, %u, %c : tensor<1x5x2x1xf32>, tensor<2x1x1x2x4xi8>, tensor<1x5x2x1xf32>
}
