// RUN: layout-opt %s --layout-cpu-expand-math | FileCheck %s --check-prefixes=CHECK,FACTORS
// RUN: layout-opt %s --layout-set-target='target={#layout.cpu<lanes = 16, vector_bits = 512>}' --layout-cpu-expand-math | FileCheck %s --check-prefixes=CHECK,LDEXP

// One polynomial for vectors and scalars, without reassociation.
// CHECK-LABEL: func.func @vector_and_number(
// CHECK-COUNT-8: math.fma {{.*}} : vector<4x8xf32>
// CHECK: return
// CHECK-LABEL: func.func @number(
// CHECK-NOT: fastmath
// CHECK-COUNT-8: math.fma {{.*}} : f32
// CHECK-NOT: math.exp
// CHECK: return
func.func @vector_and_number(%x: vector<4x8xf32>) -> vector<4x8xf32> {
  %0 = math.exp %x : vector<4x8xf32>
  return %0 : vector<4x8xf32>
}
func.func @number(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// A multiplication by a power of two, if there is an instruction for it.
// CHECK-LABEL: func.func @scaled(
// LDEXP: %[[RESULT:.*]] = llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// LDEXP-NEXT: return %[[RESULT]]
// FACTORS-NOT: llvm.ldexp
// FACTORS: return
func.func @scaled(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func @through_f32(
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: math.absf %[[WIDE]] : vector<8xf32>
// CHECK: %[[RESULT:.*]] = math.copysign %{{.*}}, %[[WIDE]]
// CHECK: arith.truncf %[[RESULT]] : vector<8xf32> to vector<8xf16>
func.func @through_f32(%x: vector<8xf16>) -> vector<8xf16> {
  %0 = math.tanh %x : vector<8xf16>
  return %0 : vector<8xf16>
}

// CHECK-LABEL: func.func @square_and_cube(
// CHECK-SAME: %[[X:.*]]: vector<8xf32>
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT: %[[AGAIN:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT: %[[CUBE:.*]] = arith.mulf %[[AGAIN]], %[[X]]
// CHECK-NEXT: return %[[SQUARE]], %[[CUBE]]
func.func @square_and_cube(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %two = arith.constant dense<2.0> : vector<8xf32>
  %three = arith.constant dense<3.0> : vector<8xf32>
  %0 = math.powf %x, %two : vector<8xf32>
  %1 = math.powf %x, %three : vector<8xf32>
  return %0, %1 : vector<8xf32>, vector<8xf32>
}

// CHECK-LABEL: func.func @others_stay(
// CHECK: math.exp %{{.*}} : f64
// CHECK: math.sin %{{.*}} : f32
// CHECK: math.exp %{{.*}} : tensor<8xf32>
func.func @others_stay(%x: f64, %y: f32, %z: tensor<8xf32>) -> (f64, f32, tensor<8xf32>) {
  %0 = math.exp %x : f64
  %1 = math.sin %y : f32
  %2 = math.exp %z : tensor<8xf32>
  return %0, %1, %2 : f64, f32, tensor<8xf32>
}
