// RUN: layout-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// Figures that are not written have their defaults, and are not printed.
// CHECK: layout.target = #layout.target<kind = "cpu", lanes = 16>
module attributes {layout.target = #layout.target<kind = "cpu", lanes = 16, line_bytes = 64>} {}

// -----

// CHECK: layout.target = #layout.target<kind = "cpu", lanes = 8, strided_percent = 300, assumed_size = 4>
module attributes {layout.target = #layout.target<kind = "cpu", lanes = 8, assumed_size = 4, strided_percent = 300>} {}

// -----

// expected-error @below {{unknown kind of target "tpu": the kinds are "cpu"}}
module attributes {layout.target = #layout.target<kind = "tpu", lanes = 16>} {}

// -----

// expected-error @below {{target figure 'lanes' is 0: it lies between 1 and 1048576}}
module attributes {layout.target = #layout.target<kind = "cpu", lanes = 0>} {}
