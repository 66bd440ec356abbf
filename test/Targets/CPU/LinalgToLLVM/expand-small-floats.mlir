// Check floats of 4 to 8 bits against the definition of their formats, including numbers that are rounded.

// RUN: %python %S/Inputs/small_floats.py make %t
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits.npy --input=%t.f32.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f8E4M3FN %t.wide.npy %t.narrow.npy f32

// RUN: sed s/f8E4M3FN/f8E5M2/g %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits.npy --input=%t.f32.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f8E5M2 %t.wide.npy %t.narrow.npy f32

// RUN: sed s/f8E4M3FN/f8E4M3FNUZ/g %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits.npy --input=%t.f32.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f8E4M3FNUZ %t.wide.npy %t.narrow.npy f32

// RUN: sed 's/f8E4M3FN/f8E5M2FNUZ/g; s/f32/f64/g' %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits.npy --input=%t.f64.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f8E5M2FNUZ %t.wide.npy %t.narrow.npy f64

// RUN: sed 's/f8E4M3FN/f8E4M3/g' %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits.npy --input=%t.f32.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f8E4M3 %t.wide.npy %t.narrow.npy f32

// RUN: sed 's/f8E4M3FN/f8E3M4/g' %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits.npy --input=%t.f32.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f8E3M4 %t.wide.npy %t.narrow.npy f32

// RUN: sed 's/f8E4M3FN/f6E2M3FN/g' %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits6.npy --input=%t.f32.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f6E2M3FN %t.wide.npy %t.narrow.npy f32

// RUN: sed 's/f8E4M3FN/f6E3M2FN/g; s/f32/f64/g' %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits6.npy --input=%t.f64.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f6E3M2FN %t.wide.npy %t.narrow.npy f64

// RUN: sed 's/f8E4M3FN/f4E2M1FN/g' %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits4.npy --input=%t.f32.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f4E2M1FN %t.wide.npy %t.narrow.npy f32

// RUN: sed 's/f8E4M3FN/f8E8M0FNU/g' %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits.npy --input=%t.f32.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f8E8M0FNU %t.wide.npy %t.narrow.npy f32

// RUN: sed 's/f8E4M3FN/f8E8M0FNU/g; s/f32/f64/g' %s | layout-opt --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.bits.npy --input=%t.f64.npy --output=%t.wide.npy --output=%t.narrow.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check %t f8E8M0FNU %t.wide.npy %t.narrow.npy f64

// f64 to f16 and bf16 is rounded once and calls no function.
// RUN: layout-opt %S/Inputs/halves.mlir --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.f64.npy --output=%t.f16.npy --output=%t.bf16.npy --opt-level=1
// RUN: %python %S/Inputs/small_floats.py check-halves %t %t.f16.npy %t.bf16.npy

// No small float is left for later passes.
// RUN: layout-opt %s --layout-cpu-expand-small-floats | FileCheck %s
// CHECK-LABEL: func.func @main
// CHECK-NOT: arith.extf {{.*}} : f8
// CHECK-NOT: arith.truncf

// Other operations are computed in f32; named ops with them become generic.
// CHECK-LABEL: func.func @product
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: linalg.yield {{.*}} : f8E4M3FN
// CHECK-LABEL: func.func @root
// CHECK: math.sqrt {{.*}} : f32

#id = affine_map<(i) -> (i)>
func.func @main(%bits: tensor<?xf8E4M3FN>, %x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %bits, %c0 : tensor<?xf8E4M3FN>
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%bits : tensor<?xf8E4M3FN>) outs(%e : tensor<?xf32>) {
  ^bb0(%in: f8E4M3FN, %out: f32):
    %0 = arith.extf %in : f8E4M3FN to f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %f = tensor.empty(%m) : tensor<?xf8E4M3FN>
  %narrow = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%f : tensor<?xf8E4M3FN>) {
  ^bb0(%in: f32, %out: f8E4M3FN):
    %0 = arith.truncf %in : f32 to f8E4M3FN
    linalg.yield %0 : f8E4M3FN
  } -> tensor<?xf8E4M3FN>
  return %wide, %narrow : tensor<?xf32>, tensor<?xf8E4M3FN>
}

func.func @product(%x: tensor<2x3xf8E4M3FN>, %y: tensor<3x2xf8E4M3FN>) -> tensor<2x2xf8E4M3FN> {
  %zero = arith.constant 0.0 : f8E4M3FN
  %e = tensor.empty() : tensor<2x2xf8E4M3FN>
  %i = linalg.fill ins(%zero : f8E4M3FN) outs(%e : tensor<2x2xf8E4M3FN>) -> tensor<2x2xf8E4M3FN>
  %z = linalg.matmul ins(%x, %y : tensor<2x3xf8E4M3FN>, tensor<3x2xf8E4M3FN>)
                     outs(%i : tensor<2x2xf8E4M3FN>) -> tensor<2x2xf8E4M3FN>
  return %z : tensor<2x2xf8E4M3FN>
}

func.func @root(%x: f8E4M3FN) -> f8E4M3FN {
  %y = math.sqrt %x : f8E4M3FN
  return %y : f8E4M3FN
}
