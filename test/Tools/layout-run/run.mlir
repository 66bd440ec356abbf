// Check a function with a dynamic extent, two inputs and two results, one of
// which is an input: results are written, times and JSON are reported.

// RUN: %python -c "import numpy as np; r = np.random.default_rng(0); np.save(r'%t.a.npy', r.random((5, 3), 'f4')); np.save(r'%t.b.npy', r.random((3, 4), 'f4'))"
// RUN: mlir-opt-22 %s %lower -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.a.npy --input=%t.b.npy --output=%t.c.npy --output=%t.d.npy --repeat=3 --warmup=2 --json=%t.json | FileCheck %s
// RUN: %python -c "import numpy as np; a, b, c, d = (np.load(r'%t.' + x + '.npy') for x in 'abcd'); assert np.allclose(a @ b, c, rtol=1e-6) and (a == d).all()"
// RUN: %python -c "import json; r = json.load(open(r'%t.json')); assert len(r['runs_seconds']) == 3 and r['run_min_seconds'] <= r['run_median_seconds'] and r['compile_seconds'] > 0 and r['function'] == 'main'"

// Bytecode is read, too, with each optimization level.
// RUN: mlir-opt-22 %s %lower --emit-bytecode -o %t.mlirbc
// RUN: layout-run %t.mlirbc --opt-level=0 --input=%t.a.npy --input=%t.b.npy --output=%t.e.npy --output=%t.d.npy --keep-freed-memory=false 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: %python -c "import numpy as np; c, e = (np.load(r'%t.' + x + '.npy') for x in 'ce'); assert np.allclose(c, e, rtol=1e-6)"

// Compiled code is cached on request, for each level.
// RUN: rm -rf %t.code
// RUN: layout-run %t.mlir --cache=%t.code --input=%t.a.npy --input=%t.b.npy 2>&1 | FileCheck %s --check-prefix=NEW
// RUN: layout-run %t.mlir --cache=%t.code --input=%t.a.npy --input=%t.b.npy --output=%t.e.npy --output=%t.d.npy 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: layout-run %t.mlir --cache=%t.code --opt-level=1 --input=%t.a.npy --input=%t.b.npy 2>&1 | FileCheck %s --check-prefix=NEW
// RUN: layout-run %t.mlir --cache= --input=%t.a.npy --input=%t.b.npy 2>&1 | FileCheck %s --check-prefix=NEW
// RUN: %python -c "import numpy as np; c, e = (np.load(r'%t.' + x + '.npy') for x in 'ce'); assert (c == e).all()"
// NEW: .mlir: compile {{[0-9.]+}} s, run
// KEPT: .mlir: compile {{[0-9.]+}} s (kept code), run

// CHECK: {{.*}}.mlir: compile {{[0-9.]+}} s, run min {{.*}} ms, median {{.*}} ms over 3 runs{{$}}
// ONCE: over 1 runs

func.func @main(%a: tensor<?x3xf32>, %b: tensor<3x4xf32>) -> (tensor<?x4xf32>, tensor<?x3xf32>)
    attributes {llvm.emit_c_interface,
                layout.signature = (tensor<?x3xf32>, tensor<3x4xf32>) -> (tensor<?x4xf32>, tensor<?x3xf32>)} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?x3xf32>
  %empty = tensor.empty(%n) : tensor<?x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %product = linalg.matmul ins(%a, %b : tensor<?x3xf32>, tensor<3x4xf32>)
                           outs(%fill : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %product, %a : tensor<?x4xf32>, tensor<?x3xf32>
}
