// Check weights in globals, and a state that every call changes: results with
// and without layouts agree in each call.
//
// DEFINE: %{target} = '{#layout.cpu<lanes = 16>}'
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.0.mlir
// RUN: layout-opt %s --layout-to-cpu=target=%{target} -o %t.1.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.random.default_rng(0).random((2, 33, 6, 5), 'f4'))"
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.x.npy --repeat=3 --max-rel=1e-6

ml_program.global private @weights(dense<0.25> : tensor<47x33x3x3xf32>) : tensor<47x33x3x3xf32>
ml_program.global private mutable @state(dense<1.0> : tensor<2x47x4x3xf32>) : tensor<2x47x4x3xf32>
memref.global "private" constant @bias : memref<47xf32> = dense<3.0>

func.func @main(%x: tensor<2x33x6x5xf32>) -> tensor<2x47x4x3xf32> {
  %w = ml_program.global_load @weights : tensor<47x33x3x3xf32>
  %b0 = memref.get_global @bias : memref<47xf32>
  %b = bufferization.to_tensor %b0 restrict : memref<47xf32> to tensor<47xf32>
  %state = ml_program.global_load @state : tensor<2x47x4x3xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x33x6x5xf32>, tensor<47x33x3x3xf32>)
                                outs(%state : tensor<2x47x4x3xf32>) -> tensor<2x47x4x3xf32>
  %e = tensor.empty() : tensor<2x47x4x3xf32>
  %r = linalg.broadcast ins(%b : tensor<47xf32>) outs(%e : tensor<2x47x4x3xf32>) dimensions = [0, 2, 3]
  %y = arith.addf %c, %r : tensor<2x47x4x3xf32>
  %half = arith.constant dense<0.5> : tensor<2x47x4x3xf32>
  %next = arith.mulf %y, %half : tensor<2x47x4x3xf32>
  ml_program.global_store @state = %next : tensor<2x47x4x3xf32>
  return %y : tensor<2x47x4x3xf32>
}
