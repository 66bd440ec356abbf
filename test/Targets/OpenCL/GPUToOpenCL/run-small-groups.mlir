// Check that work-groups are smaller if the device has no large ones, for
// kernels that do not depend on their work-group, as all of layout-to-opencl.

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' -o %t.ll.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.arange(7 * 9 * 37 * 21, dtype='f4').reshape(7, 9, 37, 21) / 999)" %t.x.npy
// RUN: layout-run %t.ll.mlir --input=%t.x.npy --output=%t.full.npy
// RUN: env POCL_MAX_WORK_GROUP_SIZE=32 layout-run %t.ll.mlir --input=%t.x.npy --output=%t.32.npy
// RUN: env POCL_MAX_WORK_GROUP_SIZE=1 layout-run %t.ll.mlir --input=%t.x.npy --output=%t.1.npy
// RUN: %python -c "import numpy as np, sys; x = np.load(sys.argv[1]); [np.testing.assert_allclose(np.load(y), np.exp(x), rtol=1e-6) for y in sys.argv[2:]]" %t.x.npy %t.full.npy %t.32.npy %t.1.npy

#img = #layout.rgba_image<in_out_channel, "NCHW">
func.func @main(%x: tensor<7x9x37x21xf32>) -> tensor<7x9x37x21xf32> {
  %c = layout.convert %x : tensor<7x9x37x21xf32> to tensor<7x9x37x21xf32, #img>
  %e = tensor.empty() : tensor<7x9x37x21xf32, #img>
  %y = linalg.exp ins(%c : tensor<7x9x37x21xf32, #img>) outs(%e : tensor<7x9x37x21xf32, #img>) -> tensor<7x9x37x21xf32, #img>
  %r = layout.convert %y : tensor<7x9x37x21xf32, #img> to tensor<7x9x37x21xf32>
  return %r : tensor<7x9x37x21xf32>
}
