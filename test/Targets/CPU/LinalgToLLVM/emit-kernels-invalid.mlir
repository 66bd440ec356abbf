// Check the error for too few vector registers.
// RUN: not layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels{vector-registers=3}))" 2>&1 | FileCheck %s

// CHECK: error: layout-cpu-emit-kernels: vector-registers is 3, but a tile needs at least 4 registers
func.func @f() {
  return
}
