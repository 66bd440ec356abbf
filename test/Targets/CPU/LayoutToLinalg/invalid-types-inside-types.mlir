// RUN: layout-opt %s --convert-layout-to-linalg --split-input-file --verify-diagnostics

// Check that a tensor with a layout that no pattern reaches is an error.

// expected-error@+1 {{'func.func' cannot be lowered with a value of type 'tensor<5x7xf32, #layout.blocked<"AB" to "BA">>'}}
func.func private @in_tuple(tuple<tensor<5x7xf32, #layout.blocked<"AB" to "BA">>>)

// -----

// expected-error@+1 {{'func.func' cannot be lowered with a value of type 'tensor<5x7xf32, #layout.blocked<"AB" to "BA">>'}}
func.func private @callback((tensor<5x7xf32, #layout.blocked<"AB" to "BA">>) -> i32)

// -----

// expected-error@+1 {{'ml_program.global' cannot be lowered with a value of type 'tensor<4x4xf32, #layout.blocked<"AB" to "BA">>'}}
ml_program.global private mutable @global(dense<1.0> : tensor<4x4xf32, #layout.blocked<"AB" to "BA">>) : tensor<4x4xf32, #layout.blocked<"AB" to "BA">>
