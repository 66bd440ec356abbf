// Check that parallel bodies that each write one column keep a storage of which a column is a slice.
//
// DEFINE: %{target} = '{#layout.cpu<lanes = 8, mask_percent = 1000, line_bytes = 1, strided_percent = 100>}'
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.0.mlir
// RUN: layout-opt %s --layout-to-cpu=target=%{target} -o %t.1.mlir
// RUN: %python -c "import numpy as np; r = np.random.default_rng(0); np.save(r'%t.x.npy', r.random((6, 6, 9), 'f4')); np.save(r'%t.y.npy', r.random((6, 6, 2), 'f4'))"
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.x.npy --input=%t.y.npy --max-rel=1e-6

func.func @main(%x: tensor<6x6x9xf32>, %y: tensor<6x6x2xf32>) -> tensor<6x9x2xf32> {
  %e = tensor.empty() : tensor<6x6x9xf32>
  %columns = scf.forall (%i) in (9) shared_outs(%o = %e) -> (tensor<6x6x9xf32>) {
    %c = tensor.extract_slice %x[0, 0, %i] [6, 6, 1] [1, 1, 1] : tensor<6x6x9xf32> to tensor<6x6x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, %i] [6, 6, 1] [1, 1, 1] : tensor<6x6x1xf32> into tensor<6x6x9xf32>
    }
  }
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<6x9x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%f : tensor<6x9x2xf32>) -> tensor<6x9x2xf32>
  %r = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, k, m)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%columns, %y : tensor<6x6x9xf32>, tensor<6x6x2xf32>) outs(%init : tensor<6x9x2xf32>) -> tensor<6x9x2xf32>
  return %r : tensor<6x9x2xf32>
}
