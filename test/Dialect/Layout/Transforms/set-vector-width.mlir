// REQUIRES: target-opencl
// RUN: layout-opt %s --layout-set-vector-width=vector-bits=512 --split-input-file | FileCheck %s
// RUN: layout-opt %s --layout-set-vector-width="vector-bits=128 target={#layout.cpu<lanes = 8>}" --split-input-file | FileCheck %s --check-prefix=OPTION
// RUN: not layout-opt %s --layout-set-vector-width="target=none" 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not layout-opt %s --layout-to-cpu="vector-bits=2097152" --split-input-file 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: layout-opt %s --layout-to-cpu="cpu=x86-64-v4" --dump-pass-pipeline --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=V4
// RUN: layout-opt %s --layout-to-cpu="cpu=x86-64-v4 vector-bits=0" --dump-pass-pipeline --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCALAR

// Check that missing vector parameters of the target are those of the processor
// that code is generated for.

// CHECK: module attributes {layout.target = #layout.cpu<lanes = 16, vector_bits = 512>}
// OPTION: module attributes {layout.target = #layout.cpu<lanes = 8, vector_bits = 128>}
// ERROR: error: the option 'target' is "none": it must be an attribute such as #layout.cpu<lanes = 16>
// RANGE: error: the option 'vector-bits': target parameter 'vector_bits' is 2097152: it must be between 0 and 1048576
// V4: layout-set-vector-width{target= vector-bits=512}
// SCALAR: layout-set-vector-width{target= vector-bits=0}
module attributes {layout.target = #layout.cpu<lanes = 16>} {}

// -----

// Parameters that the target states stay.

// CHECK: module attributes {layout.target = #layout.cpu<lanes = 16, vector_bits = 256>}
module attributes {layout.target = #layout.cpu<lanes = 16, vector_bits = 256>} {}

// -----

// Other targets and modules without a target stay.

// CHECK: module attributes {layout.target = #layout.opencl}
module attributes {layout.target = #layout.opencl} {}

// -----

// CHECK: module {
module {}
