// Check bf16 in vectors of any length, computed in f32 and rounded to nearest even.
//
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not='xbf16>, !llvm.ptr'
// CHECK: layout.signature = (tensor<3x9xbf16>, tensor<9xbf16>, tensor<9xf64>)
// RUN: %python -c "import numpy as np, sys; x = np.random.default_rng(5).standard_normal((4, 9)).astype('f4'); b = (x.view('u4') >> 16).astype('u2'); b[0, 0] = 0x7fc0; np.save(sys.argv[1], b[:3]); np.save(sys.argv[2], b[3]); np.save(sys.argv[3], np.array([1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-40, -1 - 2.0**-8 - 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-40, 1e300, -1e-300, np.nan, -np.inf, 3.5]))" %t.x.npy %t.y.npy %t.w.npy
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --input=%t.w.npy --output=%t.p.npy --output=%t.m.npy --output=%t.e.npy --output=%t.n.npy
// RUN: %python %S/Inputs/bf16.py %t

#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<3x9xbf16>, %y: tensor<9xbf16>, %w: tensor<9xf64>) -> (tensor<3x11xbf16>, tensor<3x9xbf16>, tensor<3x9xbf16>, tensor<9xf64>) {
  %one = arith.constant 1.0 : bf16
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : bf16
  } : tensor<3x9xbf16> to tensor<3x11xbf16>
  %init = tensor.empty() : tensor<3x9xbf16>
  %m = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<3x9xbf16>, tensor<9xbf16>) outs(%init : tensor<3x9xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %r = arith.minnumf %a, %b : bf16
    linalg.yield %r : bf16
  } -> tensor<3x9xbf16>
  %e = linalg.exp ins(%x : tensor<3x9xbf16>) outs(%init : tensor<3x9xbf16>) -> tensor<3x9xbf16>
  %narrow = arith.truncf %w : tensor<9xf64> to tensor<9xbf16>
  %n = arith.extf %narrow : tensor<9xbf16> to tensor<9xf64>
  return %p, %m, %e, %n : tensor<3x11xbf16>, tensor<3x9xbf16>, tensor<3x9xbf16>, tensor<9xf64>
}
