// RUN: layout-opt %s -layout-linalg-to-llvm=math=libm > %t.ll.mlir
// RUN: FileCheck %s --input-file=%t.ll.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.linspace(-4, 4, 61, dtype=np.float32))"
// RUN: layout-run %t.ll.mlir --input=%t.x.npy --output=%t.erf.npy --output=%t.cbrt.npy
// RUN: %python -c "import math, numpy as np; x = np.load(r'%t.x.npy'); \
// RUN:   np.testing.assert_allclose(np.load(r'%t.erf.npy'), [math.erf(v) for v in x], rtol=1e-6); \
// RUN:   np.testing.assert_allclose(np.load(r'%t.cbrt.npy'), np.exp(np.cbrt(x.astype(float))), rtol=1e-6)"

// Functions without a vector form in LLVM are called per element, for whole vectors and for the remainder of 61; no op
// that extracts the elements is left.
// CHECK-NOT: {{vector\.|math\.|unrealized_conversion_cast}}
// CHECK: llvm.call @erff(
// CHECK-NOT: {{vector\.|math\.|unrealized_conversion_cast}}
// CHECK: llvm.call @cbrtf(
// CHECK: llvm.intr.exp({{.*}}) : (vector<8xf32>)
// CHECK-NOT: {{vector\.|math\.|unrealized_conversion_cast}}
func.func @main(%x: tensor<61xf32>) -> (tensor<61xf32>, tensor<61xf32>) {
  %e = tensor.empty() : tensor<61xf32>
  %0 = linalg.erf ins(%x : tensor<61xf32>) outs(%e : tensor<61xf32>) -> tensor<61xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<61xf32>) outs(%e : tensor<61xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.cbrt %a : f32
    %p = math.exp %t : f32
    linalg.yield %p : f32
  } -> tensor<61xf32>
  return %0, %1 : tensor<61xf32>, tensor<61xf32>
}
