// Check that text, generic text and bytecode parse back to the same module, with
// layouts as written and in canonical form.
//
// RUN: layout-opt %S/version-0.1.mlir -o %t.mlir
// RUN: layout-opt %t.mlir | diff %t.mlir -
// RUN: layout-opt %t.mlir --mlir-print-op-generic | layout-opt | diff %t.mlir -
// RUN: layout-opt %t.mlir --emit-bytecode | layout-opt | diff %t.mlir -
// RUN: layout-opt %t.mlir --layout-canonicalize -o %t.canonical.mlir
// RUN: layout-opt %t.canonical.mlir | diff %t.canonical.mlir -
// RUN: layout-opt %t.canonical.mlir --mlir-print-op-generic | layout-opt | diff %t.canonical.mlir -
// RUN: layout-opt %t.canonical.mlir --emit-bytecode | layout-opt | diff %t.canonical.mlir -
//
// If the bytecode were not read again, the comparison would pass trivially:
// RUN: layout-opt %t.mlir --emit-bytecode -o %t.mlirbc && not grep -q func.func %t.mlirbc
