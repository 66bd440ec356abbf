// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s
// Check that each of several aligned dims of dynamic sizes stays inside its own
// group, and hence the offset inside the product of their extents (L2, L8).

// CHECK: @two(tensor<?x?xf32, #layout.blocked<"AB" to "B5bA2a">>)
func.func private @two(tensor<?x?xf32, #layout.blocked<"AB" to "B5bA2a">>)

func.func private @four(tensor<?x?x?x?xf32, #layout.map<(a, b, c, d) -> buffer([a] align 3, [b] align 4, [d, c] align 5)>>)

func.func private @part_dynamic(tensor<?x17x?xf32, #layout.blocked<"ABC" to "C7cB4bA3a">>)
