// Check reads at data-dependent indices, an op with two results, a loop and a branch whose conditions read tensors, and
// a device constant in all of them.

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.cpu.mlir
// RUN: layout-opt %s --layout-cpu-prepare-entry-points --convert-layout-to-gpu --lower-affine --canonicalize --cse --layout-gpu-to-opencl -o %t.device.mlir
// RUN: %python -c "import numpy as np, sys; r = np.random.default_rng(3); t = sys.argv[1]; np.save(t + '.t.npy', r.standard_normal((10, 6)).astype('f4')); np.save(t + '.i.npy', np.array([9, 0, 4], 'i4')); np.save(t + '.x.npy', r.standard_normal((3, 7)).astype('f4')); np.save(t + '.w.npy', np.full(4, 0.7, 'f4'))" %t
// RUN: layout-run %t.cpu.mlir %t.device.mlir --input=%t.t.npy --input=%t.i.npy --input=%t.x.npy --input=%t.w.npy --max-rel=1e-6

func.func @main(%t: tensor<10x6xf32>, %i: tensor<3xi32>, %x: tensor<3x7xf32>, %w: tensor<4xf32>)
    -> (tensor<3x6xf32>, tensor<3xf32>, tensor<3xi32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<3x6xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
     ins(%i : tensor<3xi32>) outs(%e : tensor<3x6xf32>) {
  ^bb0(%k: i32, %o: f32):
    %p = arith.index_cast %k : i32 to index
    %b = linalg.index 1 : index
    %v = tensor.extract %t[%p, %b] : tensor<10x6xf32>
    linalg.yield %v : f32
  } -> tensor<3x6xf32>

  %m = arith.constant dense<0xFF800000> : tensor<3xf32>
  %z = arith.constant dense<0> : tensor<3xi32>
  %a:2 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a)>],
                         iterator_types = ["parallel", "reduction"]}
     ins(%x : tensor<3x7xf32>) outs(%m, %z : tensor<3xf32>, tensor<3xi32>) {
  ^bb0(%v: f32, %o: f32, %k: i32):
    %b = linalg.index 1 : index
    %bi = arith.index_cast %b : index to i32
    %c = arith.cmpf ogt, %v, %o : f32
    %s = arith.select %c, %v, %o : f32
    %n = arith.select %c, %bi, %k : i32
    linalg.yield %s, %n : f32, i32
  } -> (tensor<3xf32>, tensor<3xi32>)

  %c0 = arith.constant 0 : index
  %h = arith.constant 100.0 : f32
  %steps = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r = scf.while (%y = %w) : (tensor<4xf32>) -> tensor<4xf32> {
    %f = tensor.extract %y[%c0] : tensor<4xf32>
    %c = arith.cmpf olt, %f, %h : f32
    scf.condition(%c) %y : tensor<4xf32>
  } do {
  ^bb0(%y: tensor<4xf32>):
    %u = arith.addf %y, %y : tensor<4xf32>
    %v = arith.addf %u, %steps : tensor<4xf32>
    scf.yield %v : tensor<4xf32>
  }
  return %g, %a#0, %a#1, %r : tensor<3x6xf32>, tensor<3xf32>, tensor<3xi32>, tensor<4xf32>
}
