// Check that a reduction of a dynamic size returns its init if the size is 0,
// and that a tensor is selected by an i1 that the host passes to the kernel.

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' -o %t.mlir
// RUN: %python %S/Inputs/check_reductions.py %t

func.func @main(%x: tensor<1x?xi8>, %s: tensor<2xf32>) -> (tensor<i8>, tensor<2xf32>) {
  %least = arith.constant -128 : i8
  %e = tensor.empty() : tensor<i8>
  %f = linalg.fill ins(%least : i8) outs(%e : tensor<i8>) -> tensor<i8>
  %max = linalg.generic {
      indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<1x?xi8>) outs(%f : tensor<i8>) {
  ^bb0(%v: i8, %o: i8):
    %r = arith.maxsi %v, %o : i8
    linalg.yield %r : i8
  } -> tensor<i8>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %first = tensor.extract %s[%c0] : tensor<2xf32>
  %isPositive = arith.cmpf ogt, %first, %zero : f32
  %twice = arith.addf %s, %s : tensor<2xf32>
  %chosen = scf.if %isPositive -> (tensor<2xf32>) {
    scf.yield %twice : tensor<2xf32>
  } else {
    scf.yield %s : tensor<2xf32>
  }
  return %max, %chosen : tensor<i8>, tensor<2xf32>
}
