// RUN: layout-opt %s -split-input-file -verify-diagnostics | FileCheck %s
// The figures of a chip.

// CHECK: test.bm1684 = #layout.npu_target<npus = 64, bytes_per_npu = 524288, eu_bytes = 128, banks = 8>
// CHECK-SAME: test.other = #layout.npu_target<npus = 4, bytes_per_npu = 1000, eu_bytes = 1>
module attributes {
  test.bm1684 = #layout.npu_target<banks = 8, eu_bytes = 128, npus = 64, bytes_per_npu = 524288>,
  test.other = #layout.npu_target<npus = 4, bytes_per_npu = 1000, eu_bytes = 1>} {}

// -----

// expected-error @below {{target figure 'npus' is 0: it is at least 1}}
module attributes {test.t = #layout.npu_target<npus = 0, bytes_per_npu = 1024, eu_bytes = 128>} {}

// -----

// expected-error @below {{target figure 'bytes_per_npu' is -1: it is at least 1}}
module attributes {test.t = #layout.npu_target<npus = 4, bytes_per_npu = -1, eu_bytes = 128>} {}

// -----

// expected-error @below {{target figure 'eu_bytes' is 0: it is at least 1}}
module attributes {test.t = #layout.npu_target<npus = 4, bytes_per_npu = 1024, eu_bytes = 0>} {}

// -----

// expected-error @below {{target figure 'banks' is 0: it is at least 1}}
module attributes {test.t = #layout.npu_target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 0>} {}

// -----

// expected-error @below {{target figure 'eu_bytes' is 96: it is a power of two}}
module attributes {test.t = #layout.npu_target<npus = 4, bytes_per_npu = 1024, eu_bytes = 96>} {}

// -----

// expected-error @below {{4611686018427387904 units of 2 bytes have addresses that do not fit 64 bits}}
module attributes {test.t = #layout.npu_target<npus = 4611686018427387904, bytes_per_npu = 2, eu_bytes = 2>} {}

// -----

// expected-error @below {{target figure 'banks' is 3: it divides the 1024 bytes of a unit evenly}}
module attributes {test.t = #layout.npu_target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 3>} {}

// -----

// expected-error @below {{struct is missing required parameter: eu_bytes}}
module attributes {test.t = #layout.npu_target<npus = 4, bytes_per_npu = 1024>} {}
