// Check public functions that call each other: inside of the module their
// tensors stay on the device, whichever of them the host calls.

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' -o %t.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1] + '.x.npy', np.arange(5, dtype='f4')); np.save(sys.argv[1] + '.n.npy', np.array(3, 'i8'))" %t
// RUN: layout-run %t.mlir --function=double --input=%t.x.npy --input=%t.n.npy --output=%t.double.npy
// RUN: layout-run %t.mlir --function=increase --input=%t.x.npy --input=%t.n.npy --output=%t.increase.npy
// RUN: %python -c "import numpy as np, sys; x = np.arange(5); t = sys.argv[1]; assert (np.load(t + '.double.npy') == (2 * x + 1) * 2).all(); assert (np.load(t + '.increase.npy') == 2 * (x + 1) + 1).all()" %t

func.func @double(%x: tensor<5xf32>, %n: tensor<i64>) -> tensor<5xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant dense<1> : tensor<i64>
  %left = tensor.extract %n[] : tensor<i64>
  %goes = arith.cmpi sgt, %left, %zero : i64
  %r = scf.if %goes -> tensor<5xf32> {
    %less = arith.subi %n, %one : tensor<i64>
    %y = arith.addf %x, %x : tensor<5xf32>
    %z = func.call @increase(%y, %less) : (tensor<5xf32>, tensor<i64>) -> tensor<5xf32>
    scf.yield %z : tensor<5xf32>
  } else {
    scf.yield %x : tensor<5xf32>
  }
  return %r : tensor<5xf32>
}

func.func @increase(%x: tensor<5xf32>, %n: tensor<i64>) -> tensor<5xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant dense<1> : tensor<i64>
  %ones = arith.constant dense<1.0> : tensor<5xf32>
  %left = tensor.extract %n[] : tensor<i64>
  %goes = arith.cmpi sgt, %left, %zero : i64
  %r = scf.if %goes -> tensor<5xf32> {
    %less = arith.subi %n, %one : tensor<i64>
    %y = arith.addf %x, %ones : tensor<5xf32>
    %z = func.call @double(%y, %less) : (tensor<5xf32>, tensor<i64>) -> tensor<5xf32>
    scf.yield %z : tensor<5xf32>
  } else {
    scf.yield %x : tensor<5xf32>
  }
  return %r : tensor<5xf32>
}
