// Check the error for an alignment that is not a power of two.
// RUN: not layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-plan-memory{alignment=48}))" 2>&1 | FileCheck %s

// CHECK: error: layout-cpu-plan-memory: alignment is 48, which is not a power of two
func.func @f() {
  return
}
