// RUN: layout-opt %s -layout-cpu-lower-math | FileCheck %s
// RUN: layout-opt %s -layout-cpu-lower-math=expand=false \
// RUN:   | FileCheck %s --check-prefix=LIBM

// Functions with math ops are lowered to LLVM and libm.

// CHECK: func.func private @cbrtf(f32) -> f32

// CHECK-LABEL: func.func @functions
// CHECK: llvm.intr.sqrt(%arg0) : (vector<8xf32>) -> vector<8xf32>
// CHECK: call @cbrtf(%arg1) : (f32) -> f32
// CHECK-NOT: llvm.intr.exp
// CHECK: return
// LIBM-LABEL: func.func @functions
// LIBM: llvm.intr.exp(%arg1) : (f32) -> f32
func.func @functions(%x: vector<8xf32>, %y: f32) -> (vector<8xf32>, f32, f32) {
  %0 = math.sqrt %x : vector<8xf32>
  %1 = math.cbrt %y : f32
  %2 = math.exp %y : f32
  return %0, %1, %2 : vector<8xf32>, f32, f32
}

// CHECK-LABEL: func.func @complex
// CHECK-NOT: complex.abs
// CHECK: llvm.intr.sqrt
func.func @complex(%x: complex<f32>) -> f32 {
  %0 = complex.abs %x : complex<f32>
  return %0 : f32
}

// Arithmetic of bf16 is in f32.

// CHECK-LABEL: func.func @bf16
// CHECK: arith.addf {{.*}} : f32
func.func @bf16(%x: bf16) -> bf16 {
  %0 = arith.addf %x, %x : bf16
  return %0 : bf16
}

// Maxima are expanded in functions without such ops, too.

// CHECK-LABEL: func.func @maximum
// CHECK-NOT: arith.maximumf
// CHECK: return
// LIBM-LABEL: func.func @maximum
// LIBM: arith.maximumf
func.func @maximum(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %0 = arith.maximumf %x, %y : vector<8xf32>
  return %0 : vector<8xf32>
}

// The others keep their bodies and visibility.

// CHECK-LABEL: func.func private @private
// CHECK-NEXT: return
// CHECK-LABEL: func.func @public
// CHECK-NEXT: return
func.func private @private() {
  return
}
func.func @public() {
  return
}
