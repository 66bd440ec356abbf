// RUN: layout-opt %s --layout-set-target=cpu=x86-64-v4 --split-input-file --mlir-print-local-scope | FileCheck %s
// RUN: layout-opt %s --layout-set-target="cpu=aarch64 target={#layout.cpu<lanes = 8>}" --split-input-file | FileCheck %s --check-prefix=OPTION
// RUN: layout-opt %s --layout-set-target=cpu=apple-m1 --split-input-file | FileCheck %s --check-prefix=APPLE
// RUN: layout-opt %s --layout-set-target --split-input-file | FileCheck %s --check-prefix=DEFAULT
// RUN: layout-opt %s --layout-set-target="cpu=x86-64-v4 lowering" --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=CHECK
// RUN: not layout-opt %s --layout-set-target="target=none" 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not layout-opt %s --layout-set-target="cpu=abacus" 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not layout-opt %s --layout-linalg-to-llvm="target={#layout.opencl}" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: layout-opt %s --layout-to-cpu="cpu=x86-64-v4" --dump-pass-pipeline --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPELINE

// Check that missing parameters of the target are those of the processor that
// code is generated for.

// CHECK: module attributes {layout.target = #layout.cpu<lanes = 16, vector_bits = 512, vector_registers = 32, two_source_permute_bytes = 2>}
// OPTION: module attributes {layout.target = #layout.cpu<lanes = 8, vector_bits = 128, vector_registers = 32, l2_bytes = 524288, llc_bytes = 2097152, l1_set_stride = 8192, cores = 4>}
// APPLE: module attributes {layout.target = #layout.cpu<lanes = 16, line_bytes = 128, vector_bits = 128, vector_registers = 32, l1_bytes = 131072, l2_bytes = 3145728, llc_bytes = 12582912, l1_set_stride = 16384, cores = 4>}
// DEFAULT: module attributes {layout.target = #layout.cpu<lanes = 16>}
// ERROR: error: the option 'target' is "none": it must be an attribute such as #layout.cpu<lanes = 16>
// CPU: error: the option 'cpu' is "abacus": it must be one of x86-64-v3, x86-64-v4, aarch64, neoverse-n1, neoverse-v1, apple-m1, host
// KIND: error: the option 'target' is #layout.opencl: code is generated for a #layout.cpu
// PIPELINE: layout-set-target{cpu=x86-64-v4 lowering=false target=}
// PIPELINE: layout-set-target{cpu=x86-64-v4 lowering=true target=}
// PIPELINE: layout-remove-target
module attributes {layout.target = #layout.cpu<lanes = 16>} {}

// -----

// Parameters that the target states stay, even if they equal the defaults.

// CHECK: module attributes {layout.target = #layout.cpu<lanes = 16, line_bytes = 64, vector_bits = 256, vector_registers = 32, two_source_permute_bytes = 0, l2_bytes = 2097152>}
// APPLE: module attributes {layout.target = #layout.cpu<lanes = 16, line_bytes = 64, vector_bits = 256,
module attributes {layout.target = #layout.cpu<lanes = 16, line_bytes = 64, vector_bits = 256, two_source_permute_bytes = 0, l2_bytes = 2097152>} {}

// -----

// A device of the system states the target.

// CHECK: layout.target = #layout.cpu<lanes = 4, vector_bits = 0, vector_registers = 32, two_source_permute_bytes = 2>}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"layout.target" = #layout.cpu<lanes = 4, vector_bits = 0>>>} {}
