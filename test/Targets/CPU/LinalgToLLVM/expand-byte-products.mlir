// RUN: layout-opt %s --layout-cpu-expand-byte-products | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: layout-opt %s --layout-set-target="target={#layout.cpu<lanes = 16, vector_bits = 512, dot_product_bytes = 4>} cpu=x86-64-v4" --layout-cpu-expand-byte-products | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=x86-64-v3 | mlir-translate-22 --mlir-to-llvmir | opt-22 -O2 -mtriple=x86_64 -mcpu=haswell | llc-22 -mtriple=x86_64 -mcpu=haswell | FileCheck %s --check-prefix=AVX2
// RUN: layout-opt %s --layout-linalg-to-llvm="cpu=x86-64-v4 target={#layout.cpu<lanes = 16, dot_product_bytes = 4>}" | mlir-translate-22 --mlir-to-llvmir | opt-22 -O2 -mtriple=x86_64 -mcpu=znver4 | llc-22 -mtriple=x86_64 -mcpu=znver4 | FileCheck %s --check-prefix=ZNVER4

// The addition is part of the instruction, whose first factor is unsigned.
// CHECK-LABEL: func.func @mixed(
// CHECK-SAME: %[[X:.*]]: vector<8xi32>, %[[W:.*]]: vector<8xi32>, %[[SUM:.*]]: vector<8xi32>
// VNNI-DAG: %[[A:.*]] = vector.bitcast %[[X]] : vector<8xi32> to vector<32xi8>
// VNNI-DAG: %[[B:.*]] = vector.bitcast %[[W]] : vector<8xi32> to vector<32xi8>
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%[[SUM]], %[[B]], %[[A]])
// VNNI-NOT: arith.addi
// PAIRS-COUNT-2: arith.muli
// PAIRS-NOT: arith.muli
// CHECK: return
// AVX2-LABEL: mixed:
// AVX2-COUNT-2: vpmaddwd
// AVX2-NOT: vpmulld
// AVX2: retq
// ZNVER4-LABEL: mixed:
// ZNVER4: vpdpbusd
// ZNVER4-NOT: vpaddd
// ZNVER4: retq
func.func @mixed(%x: vector<8xi32>, %w: vector<8xi32>, %sum: vector<8xi32>) -> vector<8xi32> {
  %dot = cpu.dot_bytes %x, %w {rhs_unsigned} : vector<8xi32>
  %r = arith.addi %dot, %sum : vector<8xi32>
  return %r : vector<8xi32>
}

// Factors of equal signs are multiplied by pairs, without the saturation of vpmaddubsw.
// CHECK-LABEL: func.func @signed(
// CHECK: arith.shrsi
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
// AVX2-LABEL: signed:
// AVX2-COUNT-2: vpmaddwd
// AVX2: retq
// ZNVER4-LABEL: signed:
// ZNVER4-COUNT-2: vpdpwssd
// ZNVER4: retq
func.func @signed(%x: vector<8xi32>, %w: vector<8xi32>, %sum: vector<8xi32>) -> vector<8xi32> {
  %dot = cpu.dot_bytes %x, %w : vector<8xi32>
  %r = arith.addi %sum, %dot : vector<8xi32>
  return %r : vector<8xi32>
}

// Scalars, and vectors for which there is no register, are multiplied by pairs. A result with other uses is kept.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func @others(%x: i32, %w: i32, %v: vector<5xi32>) -> (i32, i32, vector<5xi32>) {
  %dot = cpu.dot_bytes %x, %w {lhs_unsigned} : i32
  %sum = arith.addi %dot, %x : i32
  %short = cpu.dot_bytes %v, %v {lhs_unsigned} : vector<5xi32>
  return %dot, %sum, %short : i32, i32, vector<5xi32>
}

// CHECK-LABEL: func.func @halves(
// CHECK-COUNT-2: vector.bitcast %{{.*}} : vector<8xi32> to vector<16xi16>
// CHECK: arith.muli
// CHECK-NOT: arith.muli
// CHECK: return
// AVX2-LABEL: halves:
// AVX2: vpmaddwd
// AVX2-NEXT: vpaddd
// AVX2-NEXT: retq
func.func @halves(%x: vector<8xi32>, %w: vector<8xi32>, %sum: vector<8xi32>) -> vector<8xi32> {
  %dot = cpu.dot_halves %x, %w : vector<8xi32>
  %r = arith.addi %sum, %dot : vector<8xi32>
  return %r : vector<8xi32>
}
