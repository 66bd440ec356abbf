// RUN: layout-opt %s --layout-set-target=cpu=x86-64-v4 --split-input-file | FileCheck %s
// RUN: layout-opt %s --layout-set-target="cpu=neoverse-n1 lowering" --split-input-file | FileCheck %s --check-prefix=LOWERING

// Check that other targets, and modules without a target, stay, unless the
// program is lowered for a CPU.

// CHECK: module attributes {layout.target = #layout.opencl}
// LOWERING: module attributes {layout.target = #layout.cpu<lanes = 16, vector_bits = 128, vector_registers = 32, l1_bytes = 65536, l1_set_stride = 16384, cores = 64>}
module attributes {layout.target = #layout.opencl} {}

// -----

// CHECK: module {
// LOWERING: module attributes {layout.target = #layout.cpu<lanes = 16, vector_bits = 128,
module {}

// -----

// Each device of a mesh is a CPU.

// CHECK: module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 8, cores = 2>>}
// LOWERING: module attributes {layout.target = #layout.cpu<lanes = 8, vector_bits = 128, vector_registers = 32, l1_bytes = 65536, l1_set_stride = 16384, cores = 2>}
module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 8, cores = 2>>} {}
