// REQUIRES: asan
// Check that a process with AddressSanitizer ends at an access of compiled code outside of a tensor, and that the same
// code runs if the access is inside.

// RUN: mlir-opt-22 %s %lower -o %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(8, dtype='f4'))"
// RUN: %python -c "import numpy as np; np.save(r'%t.in.npy', np.array(7)); np.save(r'%t.out.npy', np.array(8))"
// RUN: env LD_PRELOAD=%asan ASAN_OPTIONS=detect_leaks=0 layout-run %t.mlir --input=%t.x.npy --input=%t.in.npy --output=%t.y.npy --cache=
// RUN: %python -c "import numpy as np; y = np.load(r'%t.y.npy'); assert y == 7, y"
// RUN: not env LD_PRELOAD=%asan ASAN_OPTIONS=detect_leaks=0 layout-run %t.mlir --input=%t.x.npy --input=%t.out.npy --output=%t.y.npy --cache= 2>&1 | FileCheck %s
// RUN: not env LD_PRELOAD=%asan ASAN_OPTIONS=detect_leaks=0 layout-run %t.mlir --input=%t.x.npy --input=%t.out.npy --output=%t.y.npy --cache= --opt-level=0 2>&1 | FileCheck %s
// CHECK: ERROR: AddressSanitizer: heap-buffer-overflow
// CHECK: READ of size 4

func.func @main(%x: tensor<8xf32>, %i: tensor<i64>) -> tensor<f32>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<8xf32>, tensor<i64>) -> tensor<f32>} {
  %value = tensor.extract %i[] : tensor<i64>
  %index = arith.index_cast %value : i64 to index
  %element = tensor.extract %x[%index] : tensor<8xf32>
  %y = tensor.from_elements %element : tensor<f32>
  return %y : tensor<f32>
}
