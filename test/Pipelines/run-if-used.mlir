// RUN: layout-opt %s -pass-pipeline='builtin.module(func.func(layout-run-if-used{ops=math,arith.muli op-pipelines=func.func(canonicalize{max-iterations=3},cse),func.func(cse)}))' --dump-pass-pipeline 2>&1 | FileCheck %s

// CHECK: layout-run-if-used{op-pipelines={func.func(canonicalize{{.*}}max-iterations=3{{.*}},cse),func.func(cse)} ops={math,arith.muli}}

// CHECK-LABEL: @of_dialect(
// CHECK-NOT:     arith.addi
// CHECK:         math.exp
func.func @of_dialect(%a: i32, %b: f32) -> f32 {
  %0 = arith.addi %a, %a : i32
  %1 = math.exp %b : f32
  return %1 : f32
}

// CHECK-LABEL: @of_name(
// CHECK-NOT:     arith.addi
// CHECK:         scf.if
// CHECK-NEXT:      arith.muli
func.func @of_name(%a: i32, %b: i32, %c: i1) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = scf.if %c -> i32 {
    %2 = arith.muli %a, %b : i32
    scf.yield %2 : i32
  } else {
    scf.yield %a : i32
  }
  return %1 : i32
}

// CHECK-LABEL: @neither(
// CHECK-NEXT:    arith.addi
func.func @neither(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %a : i32
}
