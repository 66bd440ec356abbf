// A remainder or floor division by zero is undefined, but arith.remsi, arith.remui and arith.floordivsi are always
// speculatable, unlike arith.divsi. loop-invariant-code-motion moves the remainder here out of a loop that has no
// iteration if %n is 0, and the processor traps.
//
// lib/Dialect/Layout/IR/Speculation.cpp has a predicate that also checks the divisor.

// RUN: mlir-opt-22 %s --loop-invariant-code-motion | FileCheck %s --check-prefix=IF-MENDED-REMOVE-Speculation

// IF-MENDED-REMOVE-Speculation: arith.remsi
// IF-MENDED-REMOVE-Speculation: arith.remui
// IF-MENDED-REMOVE-Speculation: arith.floordivsi
// IF-MENDED-REMOVE-Speculation: scf.for
// IF-MENDED-REMOVE-Speculation: arith.divsi
func.func @divide(%x: index, %n: index, %sums: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.remsi %x, %n : index
    %1 = arith.remui %x, %n : index
    %2 = arith.floordivsi %x, %n : index
    %3 = arith.divsi %x, %n : index
    memref.store %0, %sums[%c0] : memref<4xindex>
    memref.store %1, %sums[%c1] : memref<4xindex>
    memref.store %2, %sums[%c2] : memref<4xindex>
    memref.store %3, %sums[%c3] : memref<4xindex>
  }
  return
}
