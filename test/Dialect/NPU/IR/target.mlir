// RUN: layout-opt %s --mlir-print-local-scope -split-input-file -verify-diagnostics | FileCheck %s
// Check the parameters of a chip.

// A published chip prints by name, regardless of how it was written.
// CHECK: test.bm1684 = #npu.target<"BM1684">
// CHECK-SAME: test.bm1684x = #npu.target<"BM1684X">
// CHECK-SAME: test.bm1688 = #npu.target<"BM1688">
// CHECK-SAME: test.bm1690 = #npu.target<npus = 64, bytes_per_npu = 262144, eu_bytes = 64, banks = 16, dma_alignment = 4>
// CHECK-SAME: test.limits = #npu.target<npus = 64, bytes_per_npu = 524288, eu_bytes = 128, banks = 8, max_shape = [65535, 4095, 65535, 65535], max_stride = 1048575, memories = {l2 = 2097152 : i64}>
// CHECK-SAME: test.other = #npu.target<npus = 4, bytes_per_npu = 1000, eu_bytes = 1>
// CHECK-SAME: test.rebanked = #npu.target<npus = 64, bytes_per_npu = 524288, eu_bytes = 128, banks = 4, max_compute_stride = 524287, megahertz = 550>
// CHECK-SAME: test.slow = #npu.target<npus = 64, bytes_per_npu = 524288, eu_bytes = 128, banks = 8, megahertz = 1000, clock = {compute_start = 9 : i64, s2l_rate = 32000 : i64}>
// CHECK-SAME: test.strides = #npu.target<npus = 64, bytes_per_npu = 524288, eu_bytes = 128, banks = 8, max_compute_stride = 1000>
// CHECK-SAME: test.usual = #npu.target<"BM1688">
module attributes {
  test.bm1684 = #npu.target<banks = 8, eu_bytes = 128, npus = 64, bytes_per_npu = 524288>,
  test.bm1684x = #npu.target<"BM1684X">,
  test.bm1688 = #npu.target<npus = 32, bytes_per_npu = 131072, eu_bytes = 16, banks = 16>,
  test.bm1690 = #npu.target<"BM1690", dma_alignment = 4>,
  test.limits = #npu.target<"BM1684", max_shape = [65535, 4095, 65535, 65535], max_stride = 1048575, memories = {l2 = 2097152}>,
  test.other = #npu.target<npus = 4, bytes_per_npu = 1000, eu_bytes = 1>,
  test.rebanked = #npu.target<"BM1684", banks = 4>,
  test.slow = #npu.target<"BM1684", clock = {s2l_rate = 32000, compute_start = 9}, megahertz = 1000>,
  test.strides = #npu.target<"BM1684", max_compute_stride = 1000>,
  test.usual = #npu.target<"BM1688", max_compute_stride = 262143, megahertz = 900, clock = {}>} {}

// CHECK: test.system = #npu.memory<system>
// CHECK-SAME: test.user = #npu.memory<"own name">
module attributes {
  test.system = #npu.memory<"system">,
  test.user = #npu.memory<"own name">} {}

// -----

// expected-error @below {{target parameter 'npus' is 0: it must be at least 1}}
module attributes {test.t = #npu.target<npus = 0, bytes_per_npu = 1024, eu_bytes = 128>} {}

// -----

// expected-error @below {{target parameter 'bytes_per_npu' is -1: it must be at least 1}}
module attributes {test.t = #npu.target<npus = 4, bytes_per_npu = -1, eu_bytes = 128>} {}

// -----

// expected-error @below {{target parameter 'megahertz' is 0: it must be at least 1}}
module attributes {test.t = #npu.target<"BM1684", megahertz = 0>} {}

// -----

// expected-error @below {{target parameter 's2l_start' of the clock is -1 : i64: it must be a 64-bit number, 0 to 1048576}}
module attributes {test.t = #npu.target<"BM1684", clock = {s2l_start = -1}>} {}

// -----

// expected-error @below {{target parameter 's2l_rate' of the clock is 0 : i64: it must be a 64-bit number, 1 to 1048576}}
module attributes {test.t = #npu.target<"BM1684", clock = {s2l_rate = 0}>} {}

// -----

// expected-error @below {{target parameter 'exp' of the clock is 3 : i32: it must be a 64-bit number, 0 to 1048576}}
module attributes {test.t = #npu.target<"BM1684", clock = {exp = 3 : i32}>} {}

// -----

// expected-error @below {{target parameter 'clock' has 'dma_start': known parameters are s2l_start, s2l_rate,}}
module attributes {test.t = #npu.target<"BM1684", clock = {dma_start = 3}>} {}

// -----

// expected-error @below {{target parameter 'megahertz' must be at most 65536}}
module attributes {test.t = #npu.target<"BM1684", megahertz = 65537>} {}

// -----

// expected-error @below {{target parameter 'eu_bytes' is 0: it must be at least 1}}
module attributes {test.t = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 0>} {}

// -----

// expected-error @below {{target parameter 'banks' is 0: it must be at least 1}}
module attributes {test.t = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 0>} {}

// -----

// expected-error @below {{target parameter 'eu_bytes' is 96: it must be a power of two}}
module attributes {test.t = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 96>} {}

// -----

// expected-error @below {{4611686018427387904 cores of 2 bytes have addresses that do not fit 64 bits}}
module attributes {test.t = #npu.target<npus = 4611686018427387904, bytes_per_npu = 2, eu_bytes = 2>} {}

// -----

// expected-error @below {{4611686018427387904 cores that process 4 bytes each at once process a number of bytes that does not fit 64 bits: state fewer cores}}
module attributes {test.t = #npu.target<npus = 4611686018427387904, bytes_per_npu = 1, eu_bytes = 4>} {}

// -----

// expected-error @below {{target parameter 'banks' is 3: it must divide the 1024 bytes of a core evenly}}
module attributes {test.t = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 3>} {}

// -----

// expected-error @below {{target parameter 'eu_bytes' is missing: state it, or name a chip}}
module attributes {test.t = #npu.target<npus = 4, bytes_per_npu = 1024>} {}

// -----

// expected-error @below {{no published chip is named "BM1680": known chips are BM1684, BM1684X, BM1688, BM1690; write the parameters of any other chip}}
module attributes {test.t = #npu.target<"BM1680">} {}

// -----

// expected-error @below {{'npus' is repeated}}
module attributes {test.t = #npu.target<npus = 4, npus = 4, bytes_per_npu = 1024, eu_bytes = 128>} {}

// -----

// expected-error @below {{unknown parameter 'core': known parameters are npus, bytes_per_npu, eu_bytes, banks, dma_alignment, max_shape, max_stride, max_compute_stride, megahertz, clock, memories}}
module attributes {test.t = #npu.target<"BM1684", core = 4>} {}

// -----

// expected-error @below {{expected a number, found a truth value}}
module attributes {test.t = #npu.target<"BM1684", npus = true>} {}

// -----

// expected-error @below {{target parameter 'dma_alignment' is 12: it must be a power of two}}
module attributes {test.t = #npu.target<"BM1684", dma_alignment = 12>} {}

// -----

// expected-error @below {{target parameter 'max_stride' is 0: it must be at least 1}}
module attributes {test.t = #npu.target<"BM1684", max_stride = 0>} {}

// -----

// expected-error @below {{target parameter 'max_compute_stride' is 0: it must be at least 1}}
module attributes {test.t = #npu.target<"BM1684", max_compute_stride = 0>} {}

// -----

// expected-error @below {{target parameter 'max_shape' has 3 sizes: it must have four, of N, C, H and W}}
module attributes {test.t = #npu.target<"BM1684", max_shape = [1, 2, 3]>} {}

// -----

// expected-error @below {{target parameter 'max_shape' has the size 0: sizes must be at least 1}}
module attributes {test.t = #npu.target<"BM1684", max_shape = [1, 2, 0, 4]>} {}

// -----

// expected-error @below {{target memory 'l2' has "large" as its size in bytes: it must be a 64-bit number, at least 1}}
module attributes {test.t = #npu.target<"BM1684", memories = {l2 = "large"}>} {}

// -----

// expected-error @below {{target lists the memory 'local', which every target has: list only other memories}}
module attributes {test.t = #npu.target<"BM1684", memories = {local = 4}>} {}

// -----

// expected-error @below {{a memory must have a name: system, local, or one that the target lists}}
module attributes {test.m = #npu.memory<"">} {}
